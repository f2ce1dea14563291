#include "store/evict.h"

#include "base/buffer.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LEFT_OVER_NS (3600 * DLSI_SECOND_NS)

struct cached {
	char name[DLSI_HASH_TEXT_BYTES];
	uint64_t bytes;
	int64_t used_ns;
};

/* What follows the hash at the beginning of a name: "" for a cached file; NULL if there is no hash. */
static const char *after_hash(const char *name)
{
	return strspn(name, "0123456789abcdef") == DLSI_HASH_TEXT_BYTES - 1 ? name + DLSI_HASH_TEXT_BYTES - 1 : NULL;
}

/* Whether dlsi_file_write was writing it. */
static bool is_new(const char *name)
{
	const char *rest = after_hash(name);

	return rest && *rest == '.' && strcmp(rest + strlen(rest) - strlen(DLSI_FILE_NEW), DLSI_FILE_NEW) == 0;
}

static int64_t used_ns(const struct stat *status)
{
	return (int64_t)status->st_mtim.tv_sec * DLSI_SECOND_NS + status->st_mtim.tv_nsec;
}

static int fail_open(const char *folder, struct dls_error *err)
{
	return dlsi_fail_errno(err, DLS_EIO, errno, "cannot list the cache folder %s", folder);
}

/* Calls visit for each regular file until one call fails. */
static int each_file(const char *folder,
	int (*visit)(void *arg, int folder_fd, const char *name, const struct stat *status), void *arg,
	struct dls_error *err)
{
	DIR *directory = opendir(folder);
	const struct dirent *entry;
	struct stat status;
	int rc = 0;

	if (!directory)
		return fail_open(folder, err);
	while (rc == 0 && (entry = readdir(directory)))
		if (fstatat(dirfd(directory), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
			S_ISREG(status.st_mode))
			rc = visit(arg, dirfd(directory), entry->d_name, &status);
	closedir(directory);
	return rc == DLS_ENOMEM ? dlsi_fail_memory(err) : rc;
}

static int remove_left_over(void *arg, int folder_fd, const char *name, const struct stat *status)
{
	const int64_t *now_ns = arg;

	if (is_new(name) && used_ns(status) < *now_ns - LEFT_OVER_NS)
		unlinkat(folder_fd, name, 0);
	return 0;
}

int dlsi_evict_left_overs(const char *folder, struct dls_error *err)
{
	int64_t now_ns = dlsi_clock_utc_ns();

	return each_file(folder, remove_left_over, &now_ns, err);
}

static int add_cached(void *arg, int folder_fd, const char *name, const struct stat *status)
{
	struct dlsi_buffer *list = arg;
	struct cached cached = {.bytes = (uint64_t)status->st_size, .used_ns = used_ns(status)};

	const char *rest = after_hash(name);

	(void)folder_fd;
	if (!rest || *rest)
		return 0;
	memcpy(cached.name, name, sizeof cached.name);
	dlsi_buffer_append(list, &cached, sizeof cached);
	return list->failed ? DLS_ENOMEM : 0;
}

static int compare(const void *left, const void *right)
{
	const struct cached *a = left, *b = right;

	if (a->used_ns != b->used_ns)
		return a->used_ns < b->used_ns ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* Removes from a sorted list until what is left of `total` fits; returns that. */
static uint64_t remove_oldest(int folder_fd, const struct cached *list, size_t count, uint64_t total, uint64_t most)
{
	for (size_t i = 0; i < count && total > most; i++)
		if (unlinkat(folder_fd, list[i].name, 0) == 0 || errno == ENOENT)
			total -= list[i].bytes;
	return total;
}

int dlsi_evict_until_fits(
	const struct dlsi_alloc *alloc, const char *folder, uint64_t limit, uint64_t length, struct dls_error *err)
{
	struct dlsi_buffer list;
	struct cached *cached;
	uint64_t total = 0;
	size_t count;
	int rc, fd;

	if (length > limit)
		return dlsi_fail(err, DLS_ELIMIT,
			"a file of %" PRIu64 " bytes does not fit the cache, whose limit is %" PRIu64, length, limit);
	dlsi_buffer_init(&list, alloc);
	rc = each_file(folder, add_cached, &list, err);
	cached = (struct cached *)(void *)list.data;
	count = list.length / sizeof *cached;
	for (size_t i = 0; i < count; i++)
		total += cached[i].bytes;
	if (rc == 0 && total > limit - length) {
		qsort(cached, count, sizeof *cached, compare);
		fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0)
			rc = fail_open(folder, err);
		else if (remove_oldest(fd, cached, count, total, limit - length) > limit - length)
			rc = dlsi_fail(err, DLS_EIO,
				"cannot make room for %" PRIu64 " bytes in the cache %s: its files cannot be removed",
				length, folder);
		if (fd >= 0)
			close(fd);
	}
	dlsi_buffer_fini(&list);
	return rc;
}
