/* Memory of large frames that were let go, kept for the next ones of the same size.
 *
 * The tensors of one model are alike, and pages that are fresh from the system cost as much as filling them. At most
 * DLSI_POOL_BUFFERS buffers of DLSI_POOL_BYTES together are kept, those that were let go last. Any thread. */
#ifndef DLSI_POOL_H
#define DLSI_POOL_H

#include "net/frame.h"

struct dlsi_pool;

/* NULL when memory is exhausted. */
struct dlsi_pool *dlsi_pool_create(const struct dlsi_alloc *alloc);

/* Drops the creator's reference; each frame holds one more. NULL is allowed. */
void dlsi_pool_unref(struct dlsi_pool *pool);

/* A frame of `length` bytes to be filled before others see it; NULL when memory is exhausted. */
struct dlsi_frame *dlsi_pool_frame(struct dlsi_pool *pool, size_t length, uint8_t **bytes_out);

#endif
