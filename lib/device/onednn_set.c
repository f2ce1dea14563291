#include "device/onednn_set.h"

enum { ALIGN = 64 };

int dlsi_onednn_fail(struct dls_error *err, dnnl_status_t status, const char *what)
{
	switch (status) {
	case dnnl_out_of_memory:
		return dlsi_fail_memory(err);
	case dnnl_unimplemented:
		return dlsi_fail(err, DLS_EUNSUPPORTED, "%s: oneDNN has no implementation for this form of it", what);
	default:
		return dlsi_fail(err, DLS_EIO, "%s: oneDNN failed with status %d", what, (int)status);
	}
}

void *dlsi_onednn_block(const struct dlsi_alloc *alloc, size_t bytes)
{
	return bytes < SIZE_MAX - ALIGN ? dlsi_malloc(alloc, bytes + ALIGN) : NULL;
}

void *dlsi_onednn_block_start(void *block)
{
	return (uint8_t *)block + (ALIGN - (uintptr_t)block % ALIGN) % ALIGN;
}

static int make_stream(struct dlsi_onednn_set *set, struct dls_error *err)
{
	dnnl_status_t status = dnnl_stream_create(&set->stream, set->engine, dnnl_stream_default_flags);

	return status == dnnl_success ? 0 : dlsi_onednn_fail(err, status, "cannot make a stream");
}

int dlsi_onednn_set_init(struct dlsi_onednn_set *set, const struct dlsi_alloc *alloc, dnnl_engine_t engine,
	enum dlsi_isa isa, struct dlsi_tuning *tuning, const struct dlsi_graph *graph, struct dls_error *err)
{
	*set = (struct dlsi_onednn_set){.alloc = alloc, .graph = graph, .engine = engine, .tuning = tuning, .isa = isa};
	set->weights = dlsi_onednn_weights_create(alloc);
	return set->weights ? make_stream(set, err) : dlsi_fail_memory(err);
}

int dlsi_onednn_set_share(struct dlsi_onednn_set *set, const struct dlsi_onednn_set *other, struct dls_error *err)
{
	*set = (struct dlsi_onednn_set){.alloc = other->alloc,
		.graph = other->graph,
		.engine = other->engine,
		.tuning = other->tuning,
		.isa = other->isa,
		.weights = dlsi_onednn_weights_ref(other->weights)};
	return make_stream(set, err);
}

void dlsi_onednn_set_fini(struct dlsi_onednn_set *set)
{
	dlsi_onednn_weights_unref(set->weights);
	dlsi_free(set->alloc, set->activations_block);
	if (set->stream)
		dnnl_stream_destroy(set->stream);
}

int dlsi_onednn_set_reserve(struct dlsi_onednn_set *set, size_t bytes, struct dls_error *err)
{
	if (bytes <= set->activations_bytes)
		return 0;
	dlsi_free(set->alloc, set->activations_block);
	set->activations = NULL;
	set->activations_bytes = 0;
	set->activations_block = dlsi_onednn_block(set->alloc, bytes);
	if (!set->activations_block)
		return dlsi_fail_memory(err);
	set->activations = dlsi_onednn_block_start(set->activations_block);
	set->activations_bytes = bytes;
	return 0;
}
