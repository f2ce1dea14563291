/* Files kept on a worker's disk by the hash of their content: models are fetched once, then opened from here.
 *
 * The folder may be used by several processes at once. A file is named by its hash in hexadecimal and appears whole or
 * not at all; other files in the folder are left alone. Each process hashes a file before it first uses it; a damaged
 * one is removed, as if it had never been there. Over the limit the files that nobody has used for longest go first,
 * never one that a process of this machine has pinned. Any thread. */
#ifndef DLSI_CACHE_H
#define DLSI_CACHE_H

#include "base/alloc.h"
#include "base/error.h"
#include "base/hash.h"
#include <stdint.h>

struct dlsi_cache;

/* Opens or makes the folder; `limit` is in bytes of files, 0: DLSI_CACHE_BYTES. Left-overs of processes that died while
 * writing are removed. Errors: DLS_EIO, DLS_ENOMEM. */
int dlsi_cache_open(const struct dlsi_alloc *alloc, const char *folder, uint64_t limit, struct dlsi_cache **cache_out,
	struct dls_error *err);

/* All pins of it must be gone. NULL is allowed. */
void dlsi_cache_close(struct dlsi_cache *cache);

/* A file that stays as long as it is pinned. */
struct dlsi_cache_pin {
	char *path; /* absolute if the folder was */
	int fd;     /* open for reading, at any offset; its shared lock is the pin */
};

/* Pins the file with this content. It may take as long as hashing it. Errors: DLS_ENOTFOUND (it is not there, or was
 * damaged and is now removed), DLS_EINVAL (what has this hash has another length), DLS_EIO, DLS_ENOMEM. */
int dlsi_cache_pin(struct dlsi_cache *cache, const struct dlsi_hash *hash, uint64_t length,
	struct dlsi_cache_pin *pin_out, struct dls_error *err);
void dlsi_cache_unpin(struct dlsi_cache *cache, struct dlsi_cache_pin *pin);

/* Where to write a file that is to be added: a path in the folder that does not exist yet, freed by the caller. Room
 * for `length` bytes is made first. Errors: DLS_ELIMIT (more than the whole cache may have, or all the rest is pinned),
 * DLS_EIO, DLS_ENOMEM. */
int dlsi_cache_begin(struct dlsi_cache *cache, uint64_t length, char **path_out, struct dls_error *err);

/* Adds what was written there, if its hash is right, and pins it. The file at `path` is gone afterwards in any case.
 * Errors: DLS_EFORMAT (another content), DLS_EINVAL (another length), DLS_EIO, DLS_ENOMEM. */
int dlsi_cache_commit(struct dlsi_cache *cache, const char *path, const struct dlsi_hash *hash, uint64_t length,
	struct dlsi_cache_pin *pin_out, struct dls_error *err);

#endif
