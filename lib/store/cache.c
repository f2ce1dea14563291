#include "store/cache.h"

#include "base/file.h"
#include "base/limits.h"
#include "base/list.h"
#include "base/map.h"
#include "base/random.h"
#include "store/evict.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* A file that this process has hashed and found good. */
struct verified {
	struct dlsi_list node; /* oldest first */
	struct dlsi_id key;    /* half its hash */
	dev_t device;
	ino_t inode;
};

struct dlsi_cache {
	const struct dlsi_alloc *alloc;
	char *folder;
	uint64_t limit;
	pthread_mutex_t lock; /* of what follows */
	struct dlsi_map by_key;
	struct dlsi_list verified;
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
	pthread_mutex_init(&cache->lock, NULL);
	dlsi_map_init(&cache->by_key, alloc, dlsi_random_u64());
	dlsi_list_init(&cache->verified);
	cache->folder = dlsi_strdup(alloc, folder);
	if (!cache->folder) {
		dlsi_cache_close(cache);
		return dlsi_fail_memory(err);
	}
	*cache_out = cache;
	return 0;
}

/* ---- what is known to be good */

static void forget(struct dlsi_cache *cache, struct verified *verified)
{
	dlsi_list_remove(&verified->node);
	dlsi_map_remove(&cache->by_key, &verified->key);
	dlsi_free(cache->alloc, verified);
}

void dlsi_cache_close(struct dlsi_cache *cache)
{
	if (!cache)
		return;
	dlsi_list_each (node, &cache->verified)
		forget(cache, dlsi_list_entry(node, struct verified, node));
	dlsi_map_fini(&cache->by_key);
	pthread_mutex_destroy(&cache->lock);
	dlsi_free(cache->alloc, cache->folder);
	dlsi_free(cache->alloc, cache);
}

static struct dlsi_id key_of(const struct dlsi_hash *hash)
{
	struct dlsi_id key;

	memcpy(key.bytes, hash->bytes, sizeof key.bytes);
	return key;
}

static bool is_verified(struct dlsi_cache *cache, const struct dlsi_hash *hash, const struct stat *status)
{
	struct dlsi_id key = key_of(hash);
	const struct verified *verified;
	bool same;

	pthread_mutex_lock(&cache->lock);
	verified = dlsi_map_get(&cache->by_key, &key);
	same = verified && verified->device == status->st_dev && verified->inode == status->st_ino;
	pthread_mutex_unlock(&cache->lock);
	return same;
}

/* Without memory it is not remembered, and hashed again the next time. */
static void note_verified(struct dlsi_cache *cache, const struct dlsi_hash *hash, const struct stat *status)
{
	struct verified *verified = dlsi_malloc(cache->alloc, sizeof *verified), *before;

	if (!verified)
		return;
	*verified = (struct verified){.key = key_of(hash), .device = status->st_dev, .inode = status->st_ino};
	pthread_mutex_lock(&cache->lock);
	before = dlsi_map_get(&cache->by_key, &verified->key);
	if (!before && cache->by_key.count == DLSI_FILES_VERIFIED)
		before = dlsi_list_entry(cache->verified.next, struct verified, node);
	if (before)
		forget(cache, before);
	if (dlsi_map_put(&cache->by_key, &verified->key, verified))
		dlsi_free(cache->alloc, verified);
	else
		dlsi_list_append(&cache->verified, &verified->node);
	pthread_mutex_unlock(&cache->lock);
}

/* ---- pinning */

static char *path_of(const struct dlsi_cache *cache, const struct dlsi_hash *hash)
{
	char name[DLSI_HASH_TEXT_BYTES];

	dlsi_hex(hash->bytes, DLSI_HASH_BYTES, name);
	return dlsi_file_join(cache->alloc, cache->folder, name);
}

/* Opens a file and takes the shared lock that keeps it from being evicted. */
static int open_locked(const char *path, int *fd_out, struct stat *status_out, struct dls_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK), rc = 0;

	if (fd < 0)
		return dlsi_fail_errno(err, errno == ENOENT ? DLS_ENOTFOUND : DLS_EIO, errno, "cannot open %s", path);
	while (flock(fd, LOCK_SH) && rc == 0)
		if (errno != EINTR)
			rc = dlsi_fail_errno(err, DLS_EIO, errno, "cannot lock %s", path);
	if (rc == 0 && fstat(fd, status_out))
		rc = dlsi_fail_errno(err, DLS_EIO, errno, "cannot examine %s", path);
	if (rc == 0 && !S_ISREG(status_out->st_mode))
		rc = dlsi_fail(err, DLS_EIO, "%s is not a regular file; remove it", path);
	if (rc == 0 && status_out->st_nlink == 0)
		rc = dlsi_fail(err, DLS_ENOTFOUND, "%s was evicted", path);
	if (rc)
		close(fd);
	else
		*fd_out = fd;
	return rc;
}

/* Whether an open file has this content, which is asked of its bytes once. Errors: DLS_EFORMAT (it is damaged),
 * DLS_EINVAL (it is good, but `length` is wrong), DLS_EIO. */
static int check_content(struct dlsi_cache *cache, int fd, const char *path, const struct stat *status,
	const struct dlsi_hash *hash, uint64_t length, struct dls_error *err)
{
	struct dlsi_hash found;
	uint64_t found_length;

	if ((uint64_t)status->st_size > DLSI_MODEL_FILE_BYTES) /* hashing it could take for ever */
		return dlsi_fail(err, DLS_EFORMAT, "%s is damaged: it is larger than any file of a model", path);
	if (!is_verified(cache, hash, status)) {
		int rc = dlsi_file_hash_open(fd, path, &found, &found_length, err);

		if (rc)
			return rc;
		if (!dlsi_hash_equal(&found, hash))
			return dlsi_fail(err, DLS_EFORMAT, "%s is damaged: its hash is another", path);
		note_verified(cache, hash, status);
	}
	if ((uint64_t)status->st_size != length)
		return dlsi_fail(err, DLS_EINVAL, "%s has %" PRIu64 " bytes and not %" PRIu64, path,
			(uint64_t)status->st_size, length);
	return 0;
}

/* Pins the file at `path`, which is taken over. A damaged one is removed and told as DLS_EFORMAT. */
static int pin_at(struct dlsi_cache *cache, char *path, const struct dlsi_hash *hash, uint64_t length,
	struct dlsi_cache_pin *pin_out, struct dls_error *err)
{
	struct stat status;
	int fd = -1, rc = open_locked(path, &fd, &status, err);

	if (rc == 0) {
		rc = check_content(cache, fd, path, &status, hash, length, err);
		if (rc == DLS_EFORMAT)
			unlink(path);
		if (rc)
			close(fd);
	}
	if (rc) {
		dlsi_free(cache->alloc, path);
		return rc;
	}
	futimens(fd, NULL); /* used now; that it may not be noted does no harm */
	*pin_out = (struct dlsi_cache_pin){path, fd};
	return 0;
}

int dlsi_cache_pin(struct dlsi_cache *cache, const struct dlsi_hash *hash, uint64_t length,
	struct dlsi_cache_pin *pin_out, struct dls_error *err)
{
	char *path = path_of(cache, hash);
	int rc = path ? pin_at(cache, path, hash, length, pin_out, err) : dlsi_fail_memory(err);

	return rc == DLS_EFORMAT ? dlsi_fail_in(err, DLS_ENOTFOUND, "a cached file was removed") : rc;
}

void dlsi_cache_unpin(struct dlsi_cache *cache, struct dlsi_cache_pin *pin)
{
	close(pin->fd);
	dlsi_free(cache->alloc, pin->path);
	*pin = (struct dlsi_cache_pin){.fd = -1};
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

int dlsi_cache_begin(struct dlsi_cache *cache, uint64_t length, char **path_out, struct dls_error *err)
{
	char name[sizeof DLSI_CACHE_NEW + 16], *path;
	int rc = dlsi_file_make_folder(cache->alloc, cache->folder, err); /* it may have been tidied away */

	if (rc == 0)
		rc = dlsi_evict_until_fits(cache->alloc, cache->folder, cache->limit, length, err);
	if (rc == 0)
		rc = check_disk(cache->folder, length, err);
	if (rc)
		return rc;
	snprintf(name, sizeof name, DLSI_CACHE_NEW "%016" PRIx64, dlsi_random_u64());
	path = dlsi_file_join(cache->alloc, cache->folder, name);
	if (!path)
		return dlsi_fail_memory(err);
	*path_out = path;
	return 0;
}

/* Gives the file its name, unless another process was faster, and pins what has the name then. */
static int name_and_pin(struct dlsi_cache *cache, const char *path, const struct dlsi_hash *hash, uint64_t length,
	struct dlsi_cache_pin *pin_out, struct dls_error *err)
{
	int rc = DLS_EFORMAT;

	/* A damaged file that had the name is removed by the first try. */
	for (int tries = 0; tries < 2 && (rc == DLS_EFORMAT || rc == DLS_ENOTFOUND); tries++) {
		char *final = path_of(cache, hash);

		if (!final)
			return dlsi_fail_memory(err);
		if (link(path, final) && errno != EEXIST) {
			rc = dlsi_fail_errno(err, DLS_EIO, errno, "cannot name %s %s", path, final);
			dlsi_free(cache->alloc, final);
		} else {
			rc = pin_at(cache, final, hash, length, pin_out, err);
		}
	}
	return rc;
}

int dlsi_cache_commit(struct dlsi_cache *cache, const char *path, const struct dlsi_hash *hash, uint64_t length,
	struct dlsi_cache_pin *pin_out, struct dls_error *err)
{
	struct stat status;
	int fd = -1, rc = open_locked(path, &fd, &status, err);

	if (rc == 0)
		rc = check_content(cache, fd, path, &status, hash, length, err);
	if (rc == 0 && fsync(fd))
		rc = dlsi_fail_errno(err, DLS_EIO, errno, "cannot write %s", path);
	if (rc == 0)
		rc = name_and_pin(cache, path, hash, length, pin_out, err);
	if (fd >= 0)
		close(fd);
	unlink(path);
	return rc;
}
