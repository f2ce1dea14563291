/* oneDNN's objects that live and die together, and descriptions of memory. Not thread-safe. */
#ifndef DLSI_ONEDNN_POOL_H
#define DLSI_ONEDNN_POOL_H

#include "device/onednn_compat.h"
#include "graph/arena.h"
#include <stdbool.h>
#include <stdint.h>

struct dlsi_onednn_kept;

/* Keeps what is made with it and destroys it in reverse order. */
struct dlsi_onednn_pool {
	struct dlsi_arena arena;
	struct dlsi_onednn_kept *last;
	bool failed; /* a description found no memory; asked once, before the descriptions are relied on */
};

void dlsi_onednn_pool_init(struct dlsi_onednn_pool *pool, const struct dlsi_alloc *alloc);
void dlsi_onednn_pool_fini(struct dlsi_onednn_pool *pool);

/* Descriptions of float32 memory: row-major and dense; with strides (in elements); in a layout that a primitive is to
 * choose. Rank 0 becomes [1]. They live as long as the pool. NULL when memory is exhausted (`failed`). */
dlsi_md dlsi_md_plain(struct dlsi_onednn_pool *pool, uint32_t rank, const int64_t *dims);
dlsi_md dlsi_md_strided(struct dlsi_onednn_pool *pool, uint32_t rank, const int64_t *dims, const int64_t *strides);
dlsi_md dlsi_md_any(struct dlsi_onednn_pool *pool, uint32_t rank, const int64_t *dims);

/* Rank 3 to 5 in oneDNN's layout nChw8c or nChw16c (`block` 8 or 16), or the like. NULL as above. */
dlsi_md dlsi_md_blocked(struct dlsi_onednn_pool *pool, uint32_t rank, const int64_t *dims, int block);

/* Rank 3 and more with all channels of a pixel together. NULL as above. */
dlsi_md dlsi_md_last(struct dlsi_onednn_pool *pool, uint32_t rank, const int64_t *dims);

/* So many bytes of any type. NULL as above. */
dlsi_md dlsi_md_bytes(struct dlsi_onednn_pool *pool, int64_t count);

/* A description of the pool's own, equal to one that may go before it. NULL when memory is exhausted. */
dlsi_md dlsi_md_clone(struct dlsi_onednn_pool *pool, dlsi_md md);

/* The rows [first, end) of an image of rank 4 and these dimensions, where they lie in the whole. NULL where oneDNN
 * cannot describe them, and when memory is exhausted. */
dlsi_md dlsi_md_rows(struct dlsi_onednn_pool *pool, dlsi_md md, const int64_t *dims, int64_t first, int64_t end);

/* Hands a new primitive descriptor over to the pool, also when this fails. */
dnnl_status_t dlsi_onednn_keep(struct dlsi_onednn_pool *pool, dnnl_primitive_desc_t pd);

/* Make memory without a place yet, the primitive of a descriptor, a reorder's descriptor; all kept. */
dnnl_status_t dlsi_onednn_memory(
	struct dlsi_onednn_pool *pool, dlsi_md md, dnnl_engine_t engine, dnnl_memory_t *memory_out);
dnnl_status_t dlsi_onednn_primitive(
	struct dlsi_onednn_pool *pool, const_dnnl_primitive_desc_t pd, dnnl_primitive_t *primitive_out);
dnnl_status_t dlsi_onednn_reorder(struct dlsi_onednn_pool *pool, dlsi_md from, dlsi_md to, dnnl_engine_t engine,
	const_dnnl_primitive_desc_t *pd_out);

#endif
