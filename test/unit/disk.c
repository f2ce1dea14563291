#include "test/unit/disk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct unit_disk *disk_of(struct dlsi_files *files)
{
	return (struct unit_disk *)files;
}

struct unit_disk_file *unit_disk_find(struct unit_disk *disk, const char *name)
{
	for (unsigned i = 0; i < disk->count; i++)
		if (disk->at[i].exists && strcmp(disk->at[i].name, name) == 0)
			return &disk->at[i];
	return NULL;
}

struct unit_disk_file *unit_disk_last(struct unit_disk *disk, const char *begin)
{
	struct unit_disk_file *last = NULL;

	for (unsigned i = 0; i < disk->count; i++)
		if (disk->at[i].exists && strncmp(disk->at[i].name, begin, strlen(begin)) == 0 &&
			(!last || strcmp(disk->at[i].name, last->name) > 0))
			last = &disk->at[i];
	return last;
}

/* Counts a step; false once the power is gone. */
static bool has_power(struct unit_disk *disk)
{
	disk->steps++;
	return !disk->crash_at || disk->steps < disk->crash_at;
}

static int list(struct dlsi_files *files, void (*found)(void *arg, const char *name), void *arg)
{
	struct unit_disk *disk = disk_of(files);

	for (unsigned i = 0; i < disk->count; i++)
		if (disk->at[i].exists)
			found(arg, disk->at[i].name);
	return 0;
}

/* A place that no file has, one of a file that has gone for good first. */
static struct unit_disk_file *place_for(struct unit_disk *disk, const char *name)
{
	struct unit_disk_file *file = NULL;

	for (unsigned i = 0; !file && i < disk->count; i++)
		if (!disk->at[i].exists && !disk->at[i].named)
			file = &disk->at[i];
	if (!file && disk->count < UNIT_DISK_FILES)
		file = &disk->at[disk->count++];
	if (!file)
		return NULL;
	free(file->data);
	free(file->safe);
	*file = (struct unit_disk_file){.exists = true, .name_unsynced = true};
	strncpy(file->name, name, UNIT_DISK_NAME - 1);
	return file;
}

static int open_file(struct dlsi_files *files, const char *name, bool fresh)
{
	struct unit_disk *disk = disk_of(files);
	struct unit_disk_file *file = unit_disk_find(disk, name);

	if (fresh && file)
		return -EEXIST;
	if (fresh)
		file = has_power(disk) ? place_for(disk, name) : NULL;
	else if (!file)
		return -ENOENT;
	return file ? (int)(file - disk->at) : -EIO;
}

static void close_file(struct dlsi_files *files, int handle)
{
	(void)files;
	(void)handle;
}

static int64_t size(struct dlsi_files *files, int handle)
{
	return (int64_t)disk_of(files)->at[handle].length;
}

static int64_t read_file(struct dlsi_files *files, int handle, uint64_t offset, void *data, size_t length)
{
	const struct unit_disk_file *file = &disk_of(files)->at[handle];

	if (offset >= file->length)
		return 0;
	if (length > file->length - offset)
		length = file->length - offset;
	memcpy(data, file->data + offset, length);
	return (int64_t)length;
}

static void resize(struct unit_disk_file *file, size_t length)
{
	file->data = realloc(file->data, length + 1);
	if (length > file->length)
		memset(file->data + file->length, 0, length - file->length);
	file->length = length;
}

static int64_t write_file(struct dlsi_files *files, int handle, uint64_t offset, const void *data, size_t length)
{
	struct unit_disk *disk = disk_of(files);
	struct unit_disk_file *file = &disk->at[handle];
	uint64_t end;

	if (disk->short_writes && length > 1)
		length = 1 + dlsi_rng_below(&disk->rng, length);
	if (!has_power(disk)) {
		if (disk->steps > disk->crash_at)
			return -EIO;
		length = dlsi_rng_below(&disk->rng, length + 1);
	}
	end = offset + length;
	if (end > file->length && disk->room != UINT64_MAX) {
		if (end - file->length > disk->room)
			end = file->length + disk->room;
		length = end > offset ? end - offset : 0;
		disk->room -= end > file->length ? end - file->length : 0;
		if (!length)
			return -ENOSPC;
	}
	if (end > file->length)
		resize(file, end);
	memcpy(file->data + offset, data, length);
	return length ? (int64_t)length : -EIO;
}

static int cut(struct dlsi_files *files, int handle, uint64_t length)
{
	struct unit_disk *disk = disk_of(files);

	if (!has_power(disk))
		return -EIO;
	if (length < disk->at[handle].length && disk->room != UINT64_MAX)
		disk->room += disk->at[handle].length - length;
	resize(&disk->at[handle], length);
	return 0;
}

static void make_safe(struct unit_disk_file *file)
{
	file->safe = realloc(file->safe, file->length + 1);
	if (file->length)
		memcpy(file->safe, file->data, file->length);
	file->safe_length = file->length;
}

static int sync_file(struct dlsi_files *files, int handle)
{
	struct unit_disk *disk = disk_of(files);

	if (!has_power(disk) || disk->fails)
		return -EIO;
	make_safe(&disk->at[handle]);
	return 0;
}

static int remove_file(struct dlsi_files *files, const char *name)
{
	struct unit_disk *disk = disk_of(files);
	struct unit_disk_file *file = unit_disk_find(disk, name);

	if (!file)
		return -ENOENT;
	if (!has_power(disk))
		return -EIO;
	if (disk->room != UINT64_MAX)
		disk->room += file->length;
	file->exists = false;
	file->name_unsynced = true;
	return 0;
}

static int sync_names(struct dlsi_files *files)
{
	struct unit_disk *disk = disk_of(files);

	if (!has_power(disk) || disk->fails)
		return -EIO;
	for (unsigned i = 0; i < disk->count; i++) {
		disk->at[i].named = disk->at[i].exists;
		disk->at[i].name_unsynced = false;
	}
	return 0;
}

static const struct dlsi_files_ops ops = {
	list, open_file, close_file, size, read_file, write_file, cut, sync_file, remove_file, sync_names};

void unit_disk_init(struct unit_disk *disk, uint64_t seed)
{
	*disk = (struct unit_disk){.files = {&ops, "disk"}, .room = UINT64_MAX};
	dlsi_rng_init(&disk->rng, seed);
}

void unit_disk_fini(struct unit_disk *disk)
{
	for (unsigned i = 0; i < disk->count; i++) {
		free(disk->at[i].data);
		free(disk->at[i].safe);
	}
}

/* Each sector is as it was written last or as it was synced last. */
static void lose_sectors(struct unit_disk *disk, struct unit_disk_file *file)
{
	if (dlsi_rng_below(&disk->rng, 2))
		resize(file, file->safe_length);
	for (size_t at = 0; at < file->length; at += UNIT_DISK_SECTOR) {
		size_t end = at + UNIT_DISK_SECTOR < file->length ? at + UNIT_DISK_SECTOR : file->length;

		for (size_t i = at, lost = dlsi_rng_below(&disk->rng, 2); lost && i < end; i++)
			file->data[i] = i < file->safe_length ? file->safe[i] : 0;
	}
	if (file->length < file->safe_length) { /* a cut that was not synced */
		size_t length = file->length;

		resize(file, file->safe_length);
		memcpy(file->data + length, file->safe + length, file->safe_length - length);
	}
	make_safe(file);
}

/* A name that was removed and made again is there once. */
static void drop_doubles(struct unit_disk *disk)
{
	for (unsigned i = 0; i < disk->count; i++)
		if (disk->at[i].exists && unit_disk_find(disk, disk->at[i].name) != &disk->at[i])
			disk->at[i].exists = disk->at[i].named = false;
}

void unit_disk_crash(struct unit_disk *disk)
{
	for (unsigned i = 0; i < disk->count; i++) {
		struct unit_disk_file *file = &disk->at[i];

		if (file->name_unsynced && dlsi_rng_below(&disk->rng, 2))
			file->exists = file->named;
		file->named = file->exists;
		file->name_unsynced = false;
		lose_sectors(disk, file);
	}
	drop_doubles(disk);
	disk->crash_at = 0;
}
