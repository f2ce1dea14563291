#include "store/evict.h"

#include "base/buffer.h"
#include "base/clock.h"
#include "base/hash.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define LEFT_OVER_NS (3600 * DLSI_SECOND_NS)

struct cached {
	char name[DLSI_HASH_TEXT_BYTES];
	uint64_t bytes;
	int64_t used_ns;
};

static bool is_cached_name(const char *name)
{
	return strlen(name) == DLSI_HASH_TEXT_BYTES - 1 && strspn(name, "0123456789abcdef") == DLSI_HASH_TEXT_BYTES - 1;
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

	if (strncmp(name, DLSI_CACHE_NEW, strlen(DLSI_CACHE_NEW)) == 0 && used_ns(status) < *now_ns - LEFT_OVER_NS)
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

	(void)folder_fd;
	if (!is_cached_name(name))
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

/* True if the file is gone. Whoever pins it takes its lock first and then looks whether it still has a name. */
static bool remove_unused(int folder_fd, const char *name)
{
	int fd = openat(folder_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	bool removed = false;

	if (fd < 0)
		return errno == ENOENT;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		removed = unlinkat(folder_fd, name, 0) == 0 || errno == ENOENT;
	close(fd);
	return removed;
}

/* Removes from a sorted list until what is left of `total` fits; returns that. */
static uint64_t remove_oldest(int folder_fd, const struct cached *list, size_t count, uint64_t total, uint64_t most)
{
	for (size_t i = 0; i < count && total > most; i++)
		if (remove_unused(folder_fd, list[i].name))
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
			rc = dlsi_fail(err, DLS_ELIMIT,
				"no room for %" PRIu64
				" bytes in the cache %s: what is in use fills its limit of %" PRIu64,
				length, folder, limit);
		if (fd >= 0)
			close(fd);
	}
	dlsi_buffer_fini(&list);
	return rc;
}
