/* Making room in a folder of cached files: which are there, which go. Files of the cache are named by 64 lower-case
 * hexadecimal digits, files being written by that and what dlsi_file_write adds; everything else is left alone. A
 * file's modification time says when it was used last. */
#ifndef DLSI_EVICT_H
#define DLSI_EVICT_H

#include "base/alloc.h"
#include "base/error.h"
#include <stdint.h>

/* Removes what processes that died have left half-written: whatever nobody has written to for an hour. Errors: DLS_EIO.
 */
int dlsi_evict_left_overs(const char *folder, struct dls_error *err);

/* Removes files until `length` more bytes fit `limit`, those that were used longest ago first. Errors: DLS_ELIMIT (more
 * than `limit`), DLS_EIO (they cannot be removed), DLS_ENOMEM. */
int dlsi_evict_until_fits(
	const struct dlsi_alloc *alloc, const char *folder, uint64_t limit, uint64_t length, struct dls_error *err);

#endif
