#include "store/cache.h"

#include "base/file.h"
#include "base/limits.h"
#include "store/evict.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* Nobody writes into a cached file, its owner included: others may be reading it. */
#define CACHED_MODE 0400

struct dlsi_cache {
	const struct dlsi_alloc *alloc;
	char *folder;
	uint64_t limit;
};

int dlsi_cache_open(const struct dlsi_alloc *alloc, const char *folder, uint64_t limit, struct dlsi_cache **cache_out,
	struct dls_error *err)
{
	struct dlsi_cache *cache;
	int rc = dlsi_file_make_folder(alloc, folder, err);

	if (rc == 0)
		rc = dlsi_evict_left_overs(folder, err);
	if (rc)
		return rc;
	cache = dlsi_calloc(alloc, 1, sizeof *cache);
	if (!cache)
		return dlsi_fail_memory(err);
	cache->alloc = alloc;
	cache->limit = limit ? limit : DLSI_CACHE_BYTES;
	cache->folder = dlsi_strdup(alloc, folder);
	if (!cache->folder) {
		dlsi_cache_close(cache);
		return dlsi_fail_memory(err);
	}
	*cache_out = cache;
	return 0;
}

void dlsi_cache_close(struct dlsi_cache *cache)
{
	if (!cache)
		return;
	dlsi_free(cache->alloc, cache->folder);
	dlsi_free(cache->alloc, cache);
}

static char *path_of(const struct dlsi_cache *cache, const struct dlsi_hash *hash)
{
	char name[DLSI_HASH_TEXT_BYTES];

	dlsi_hex(hash->bytes, DLSI_HASH_BYTES, name);
	return dlsi_file_join(cache->alloc, cache->folder, name);
}

/* ---- reading */

static int open_file(const char *path, struct stat *status_out, struct dls_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK), rc = 0;

	if (fd < 0)
		return dlsi_fail_errno(err, errno == ENOENT ? DLS_ENOTFOUND : DLS_EIO, errno, "cannot open %s", path);
	if (fstat(fd, status_out))
		rc = dlsi_fail_errno(err, DLS_EIO, errno, "cannot examine %s", path);
	else if (!S_ISREG(status_out->st_mode))
		rc = dlsi_fail(err, DLS_EIO, "%s is not a regular file; remove it", path);
	if (rc)
		close(fd);
	return rc ? rc : fd;
}

/* Errors: DLS_EFORMAT (other bytes), DLS_EIO, DLS_ENOMEM. */
static int read_content(const struct dlsi_cache *cache, int fd, const char *path, const struct dlsi_hash *hash,
	size_t length, uint8_t **data_out, struct dls_error *err)
{
	uint8_t *data = dlsi_malloc(cache->alloc, length ? length : 1);
	struct dlsi_hash found;
	int rc;

	if (!data)
		return dlsi_fail_memory(err);
	rc = dlsi_file_read_open(fd, path, data, length, err);
	if (rc == 0) {
		found = dlsi_hash_of(data, length);
		if (!dlsi_hash_equal(&found, hash))
			rc = dlsi_fail(err, DLS_EFORMAT, "%s is damaged: its hash is another", path);
	}
	if (rc)
		dlsi_free(cache->alloc, data);
	else
		*data_out = data;
	return rc;
}

static int read_file(const struct dlsi_cache *cache, const char *path, const struct dlsi_hash *hash, uint64_t length,
	uint8_t **data_out, struct dls_error *err)
{
	struct stat status;
	int fd = open_file(path, &status, err), rc;

	if (fd < 0)
		return fd;
	if ((uint64_t)status.st_size != length)
		rc = dlsi_fail(err, DLS_EFORMAT, "%s has %" PRIu64 " bytes and not %" PRIu64, path,
			(uint64_t)status.st_size, length);
	else
		rc = read_content(cache, fd, path, hash, (size_t)length, data_out, err);
	if (rc == 0)
		futimens(fd, NULL); /* used now; that it may not be noted does no harm */
	if (rc == DLS_EFORMAT) {
		unlink(path);
		rc = dlsi_fail_in(err, DLS_ENOTFOUND, "a cached file was removed");
	}
	close(fd);
	return rc;
}

int dlsi_cache_read(struct dlsi_cache *cache, const struct dlsi_hash *hash, uint64_t length, uint8_t **data_out,
	struct dls_error *err)
{
	char *path = path_of(cache, hash);
	int rc = path ? read_file(cache, path, hash, length, data_out, err) : dlsi_fail_memory(err);

	dlsi_free(cache->alloc, path);
	return rc;
}

/* ---- adding */

static int check_disk(const char *folder, uint64_t length, struct dls_error *err)
{
	struct statvfs disk;
	uint64_t left;

	if (statvfs(folder, &disk))
		return dlsi_fail_errno(err, DLS_EIO, errno, "cannot examine the disk of %s", folder);
	left = (uint64_t)disk.f_bavail * disk.f_frsize;
	if (left < length)
		return dlsi_fail(err, DLS_EIO,
			"the disk of %s is full: %" PRIu64 " bytes are left and %" PRIu64 " needed", folder, left,
			length);
	return 0;
}

int dlsi_cache_add(struct dlsi_cache *cache, const struct dlsi_hash *hash, const uint8_t *data, uint64_t length,
	struct dls_error *err)
{
	int rc = dlsi_file_make_folder(cache->alloc, cache->folder, err); /* it may have been tidied away */
	char *path;

	if (rc == 0)
		rc = dlsi_evict_until_fits(cache->alloc, cache->folder, cache->limit, length, err);
	if (rc == 0)
		rc = check_disk(cache->folder, length, err);
	if (rc)
		return rc;
	path = path_of(cache, hash);
	rc = path ? dlsi_file_write(cache->alloc, path, CACHED_MODE, data, (size_t)length, err) : dlsi_fail_memory(err);
	dlsi_free(cache->alloc, path);
	return rc;
}
