#include "device/tuning.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/limits.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	KEY_CHARACTERS = 2 * DLSI_ID_BYTES,
	LINE_MOST = KEY_CHARACTERS + sizeof " 4294967295\n",
	CHOICE_MOST = 1000, /* no operator has so many kernels */
};

#define FILE_MOST (INT64_C(4) << 20)

/* The map keeps pointers; a choice is kept as one more than itself. */
static void *mark(uint32_t choice)
{
	return (void *)((uintptr_t)choice + 1);
}

void dlsi_tuning_init(struct dlsi_tuning *tuning, const struct dlsi_alloc *alloc)
{
	*tuning = (struct dlsi_tuning){.alloc = alloc};
	pthread_mutex_init(&tuning->mutex, NULL);
	dlsi_map_init(&tuning->choices, alloc, 0);
	dlsi_buffer_init(&tuning->unsaved, alloc);
}

void dlsi_tuning_fini(struct dlsi_tuning *tuning)
{
	dlsi_buffer_fini(&tuning->unsaved);
	dlsi_free(tuning->alloc, tuning->folder);
	dlsi_free(tuning->alloc, tuning->path);
	dlsi_map_fini(&tuning->choices);
	pthread_mutex_destroy(&tuning->mutex);
}

/* ---- the file */

static void note(struct dlsi_tuning *tuning, const struct dlsi_id *id, uint32_t choice)
{
	char key[DLSI_ID_TEXT_BYTES];

	dlsi_hex(id->bytes, DLSI_ID_BYTES, key);
	dlsi_buffer_printf(&tuning->unsaved, "%s %u\n", key, choice);
}

/* The line without its newline; false if it is none of ours. */
static bool read_line(const char *line, size_t length, struct dlsi_id *id_out, uint32_t *choice_out)
{
	char key[DLSI_ID_TEXT_BYTES] = "";
	uint32_t choice = 0;

	if (length < KEY_CHARACTERS + 2 || length > LINE_MOST || line[KEY_CHARACTERS] != ' ')
		return false;
	memcpy(key, line, KEY_CHARACTERS);
	for (size_t i = KEY_CHARACTERS + 1; i < length; i++) {
		if (line[i] < '0' || line[i] > '9' || choice > CHOICE_MOST)
			return false;
		choice = 10 * choice + (uint32_t)(line[i] - '0');
	}
	*choice_out = choice;
	return dlsi_unhex(key, DLSI_ID_BYTES, id_out->bytes);
}

static int take_over(struct dlsi_tuning *tuning, const char *text, size_t length, struct dls_error *err)
{
	const char *end = text + length;

	while (text < end && tuning->choices.count < DLSI_TUNINGS) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		struct dlsi_id id;
		uint32_t choice;

		if (!newline)
			break; /* half a line */
		if (read_line(text, (size_t)(newline - text), &id, &choice) && !dlsi_map_get(&tuning->choices, &id) &&
			dlsi_map_put(&tuning->choices, &id, mark(choice)))
			return dlsi_fail_memory(err);
		text = newline + 1;
	}
	return 0;
}

int dlsi_tuning_remember(struct dlsi_tuning *tuning, const char *folder, const char *about, struct dls_error *err)
{
	const struct dlsi_id id = dlsi_hash_key(about, strlen(about));
	char name[sizeof "kernels-" + DLSI_ID_TEXT_BYTES] = "kernels-";
	uint8_t *text;
	size_t length;
	int rc;

	dlsi_hex(id.bytes, DLSI_ID_BYTES, name + strlen(name));
	tuning->folder = dlsi_strdup(tuning->alloc, folder);
	tuning->path = dlsi_file_join(tuning->alloc, folder, name);
	if (!tuning->folder || !tuning->path)
		return dlsi_fail_memory(err);
	rc = dlsi_file_read(tuning->alloc, tuning->path, FILE_MOST, &text, &length, NULL);
	if (rc)
		return rc == DLS_ENOMEM ? dlsi_fail_memory(err) : 0;
	rc = take_over(tuning, (const char *)text, length, err);
	dlsi_free(tuning->alloc, text);
	return rc;
}

/* One write, so that lines of several processes do not mix. */
static void append(const char *path, const void *lines, size_t length)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	struct stat status;

	if (fd < 0)
		return;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size + (off_t)length <= FILE_MOST) {
		ssize_t written = write(fd, lines, length);

		(void)written; /* what is not there the next process measures again */
	}
	close(fd);
}

void dlsi_tuning_save(struct dlsi_tuning *tuning)
{
	pthread_mutex_lock(&tuning->mutex);
	if (tuning->unsaved.length && !tuning->unsaved.failed &&
		dlsi_file_make_folder(tuning->alloc, tuning->folder, NULL) == 0)
		append(tuning->path, tuning->unsaved.data, tuning->unsaved.length);
	dlsi_buffer_clear(&tuning->unsaved);
	pthread_mutex_unlock(&tuning->mutex);
}

/* ---- choices */

bool dlsi_tuning_find(struct dlsi_tuning *tuning, const struct dlsi_tuning_key *key, uint32_t *choice_out)
{
	const struct dlsi_id id = dlsi_hash_key(key, sizeof *key);
	void *kept;

	pthread_mutex_lock(&tuning->mutex);
	kept = dlsi_map_get(&tuning->choices, &id);
	pthread_mutex_unlock(&tuning->mutex);
	if (kept)
		*choice_out = (uint32_t)((uintptr_t)kept - 1);
	return kept != NULL;
}

int dlsi_tuning_settle(
	struct dlsi_tuning *tuning, const struct dlsi_tuning_key *key, uint32_t *choice, struct dls_error *err)
{
	const struct dlsi_id id = dlsi_hash_key(key, sizeof *key);
	int rc = 0;
	void *kept;

	pthread_mutex_lock(&tuning->mutex);
	kept = dlsi_map_get(&tuning->choices, &id);
	if (kept)
		*choice = (uint32_t)((uintptr_t)kept - 1);
	else if (tuning->choices.count < DLSI_TUNINGS)
		rc = dlsi_map_put(&tuning->choices, &id, mark(*choice));
	if (rc == 0 && !kept && tuning->path)
		note(tuning, &id, *choice);
	pthread_mutex_unlock(&tuning->mutex);
	return rc ? dlsi_fail_memory(err) : 0;
}
