/* What the programs of one model share on the processor: weights in the layouts that kernels want, the memory that
 * activations lie in, and oneDNN's stream. One thread at a time. */
#ifndef DLSI_ONEDNN_SET_H
#define DLSI_ONEDNN_SET_H

#include "base/error.h"
#include "device/onednn_pool.h"
#include "graph/graph.h"
#include "kernel/isa.h"

struct dlsi_onednn_packed;
struct dlsi_tuning;

struct dlsi_onednn_set {
	const struct dlsi_alloc *alloc;
	const struct dlsi_graph *graph;
	dnnl_engine_t engine;
	enum dlsi_isa isa; /* that our own kernels may use */
	dnnl_stream_t stream;
	struct dlsi_onednn_pool pool;
	struct dlsi_onednn_packed *packed;
	size_t packed_bytes;        /* of them all */
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
void dlsi_onednn_set_fini(struct dlsi_onednn_set *set);

/* The constant at `data`, which is laid out as `from`, laid out as `to`: made the first time, shared from then on, and
 * the constant itself where it already is so. `data` may have any alignment and stays as long as the set. Errors:
 * DLS_ENOMEM, DLS_EUNSUPPORTED, DLS_EIO. */
int dlsi_onednn_set_pack(struct dlsi_onednn_set *set, const void *data, dlsi_md from, dlsi_md to,
	const void **packed_out, struct dls_error *err);

/* Makes `packed` out of the constant at `data`, which is aligned to its elements. */
typedef void dlsi_pack(const void *how, const float *data, float *packed);

/* The constant at `data`, of `from` bytes, in a form of our own: `bytes` that `pack` makes the first time. `form`, not
 * 0, tells the forms of one constant apart. Errors: DLS_ENOMEM. */
int dlsi_onednn_set_pack_own(struct dlsi_onednn_set *set, const void *data, size_t from, uint64_t form, size_t bytes,
	dlsi_pack *pack, const void *how, const void **packed_out, struct dls_error *err);

/* Makes set->activations at least this large; what it held is lost, and it may move. Errors: DLS_ENOMEM. */
int dlsi_onednn_set_reserve(struct dlsi_onednn_set *set, size_t bytes, struct dls_error *err);

#endif
