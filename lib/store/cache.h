/* Files kept on a worker's disk by the hash of their content: models are fetched once, then read from here.
 *
 * The folder may be used by several processes at once. A file is named by its hash in hexadecimal and appears whole or
 * not at all; other files in the folder are left alone. What is read is hashed each time; a damaged file is removed, as
 * if it had never been there. Over the limit the files that nobody has used for longest go first. Any thread. */
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

/* NULL is allowed. */
void dlsi_cache_close(struct dlsi_cache *cache);

/* Reads the file with this content and this length. *data_out is freed by the caller. Errors: DLS_ENOTFOUND (it is not
 * there, or was damaged or of another length and is now removed), DLS_EIO, DLS_ENOMEM. */
int dlsi_cache_read(struct dlsi_cache *cache, const struct dlsi_hash *hash, uint64_t length, uint8_t **data_out,
	struct dls_error *err);

/* Adds a file with this content, whose hash the caller has checked, after making room for it. One that is there is
 * replaced. Errors: DLS_ELIMIT (more than the whole cache may have), DLS_EIO, DLS_ENOMEM. */
int dlsi_cache_add(struct dlsi_cache *cache, const struct dlsi_hash *hash, const uint8_t *data, uint64_t length,
	struct dls_error *err);

#endif
