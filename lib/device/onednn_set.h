/* What the programs of one model share on the processor: weights in the layouts that kernels want, which other models
 * may share too, the memory that activations lie in, and oneDNN's stream. One thread at a time. */
#ifndef DLSI_ONEDNN_SET_H
#define DLSI_ONEDNN_SET_H

#include "base/error.h"
#include "device/onednn_weights.h"
#include "graph/graph.h"
#include "kernel/isa.h"

struct dlsi_tuning;

struct dlsi_onednn_set {
	const struct dlsi_alloc *alloc;
	const struct dlsi_graph *graph;
	dnnl_engine_t engine;
	enum dlsi_isa isa; /* that our own kernels may use */
	dnnl_stream_t stream;
	struct dlsi_onednn_weights *weights;
	struct dlsi_tuning *tuning; /* the device's */

	/* One program runs at a time, so they all use the same bytes; grown to what the largest needs. */
	void *activations_block;
	uint8_t *activations;
	size_t activations_bytes;
};

/* Fills *err from oneDNN's status and returns the library's code. `what` names what failed. */
int dlsi_onednn_fail(struct dls_error *err, dnnl_status_t status, const char *what);

int dlsi_onednn_set_init(struct dlsi_onednn_set *set, const struct dlsi_alloc *alloc, dnnl_engine_t engine,
	enum dlsi_isa isa, struct dlsi_tuning *tuning, const struct dlsi_graph *graph, struct dls_error *err);

/* The same on the graph and the weights of another, which may be in use. */
int dlsi_onednn_set_share(struct dlsi_onednn_set *set, const struct dlsi_onednn_set *other, struct dls_error *err);

/* Also after a failure. */
void dlsi_onednn_set_fini(struct dlsi_onednn_set *set);

/* Memory for kernels: a block of the allocator and its first byte that is aligned for them. NULL when memory is
 * exhausted. */
void *dlsi_onednn_block(const struct dlsi_alloc *alloc, size_t bytes);
void *dlsi_onednn_block_start(void *block);

/* Makes set->activations at least this large; what it held is lost, and it may move. Errors: DLS_ENOMEM. */
int dlsi_onednn_set_reserve(struct dlsi_onednn_set *set, size_t bytes, struct dls_error *err);

#endif
