#include "device/tune.h"

#include "base/clock.h"
#include <string.h>

enum {
	ALIGN = 64,
	RUNS_MOST = 8, /* after one that takes what is done once */
	CACHE_LINE = 64,
};

#define ENOUGH_NS   (8 * DLSI_MILLISECOND_NS) /* a large layer is measured once, a small one a few times */
#define CROWD_BYTES (INT64_C(6) << 20)        /* more than second caches have */

/* How much else a run of the whole model reads between two runs of a layer, as far as that matters. */
static size_t crowd_bytes(const struct dlsi_graph *graph)
{
	size_t bytes = 0;

	for (uint32_t i = 0; i < graph->value_count && bytes < CROWD_BYTES; i++)
		if (graph->values[i].data)
			bytes += dlsi_value_bytes(&graph->values[i]);
	return bytes < CROWD_BYTES ? bytes : CROWD_BYTES;
}

/* Reads it, so that the layer's weights leave the caches as they do in a model. */
static void crowd(const volatile char *memory, size_t bytes)
{
	for (size_t i = 0; i < bytes; i += CACHE_LINE)
		(void)memory[i];
}

/* Memory with pages of its own: those that nobody has written are one and the same, which is always near. */
static void *take_zeros(const struct dlsi_alloc *alloc, size_t bytes)
{
	void *memory = dlsi_malloc(alloc, bytes);

	return memory ? memset(memory, 0, bytes) : NULL;
}

int dlsi_tune_measure(struct dlsi_onednn_set *set, dlsi_tune_run *run, void *arg, const size_t *bytes, size_t count,
	int64_t *ns_out, struct dls_error *err)
{
	const struct dlsi_alloc *alloc = set->alloc;
	const size_t others = crowd_bytes(set->graph);
	void *blocks[DLSI_TUNE_BUFFERS] = {NULL}, *buffers[DLSI_TUNE_BUFFERS] = {NULL};
	void *other = take_zeros(alloc, others + 1);
	int64_t begin = 0, best = INT64_MAX;
	int rc = other ? 0 : dlsi_fail_memory(err);

	for (size_t i = 0; rc == 0 && i < count; i++) {
		blocks[i] = take_zeros(alloc, bytes[i] + ALIGN);
		if (blocks[i])
			buffers[i] = (char *)blocks[i] + (ALIGN - (uintptr_t)blocks[i] % ALIGN) % ALIGN;
		else
			rc = dlsi_fail_memory(err);
	}
	if (rc == 0) {
		run(arg, buffers);
		begin = dlsi_clock_monotonic_ns();
	}
	for (int i = 0; rc == 0 && i < RUNS_MOST; i++) {
		int64_t start, end;

		crowd(other, others);
		start = dlsi_clock_monotonic_ns();
		run(arg, buffers);
		end = dlsi_clock_monotonic_ns();
		best = end - start < best ? end - start : best;
		if (end - begin > ENOUGH_NS)
			break;
	}
	for (size_t i = 0; i < count; i++)
		dlsi_free(alloc, blocks[i]);
	dlsi_free(alloc, other);
	*ns_out = best;
	return rc;
}

/* ---- primitives of oneDNN */

static const struct {
	dnnl_query_t query;
	int number, index;
} roles[DLSI_TUNE_BUFFERS] = {
	{dnnl_query_src_md, 0, DNNL_ARG_SRC},
	{dnnl_query_weights_md, 0, DNNL_ARG_WEIGHTS},
	{dnnl_query_weights_md, 1, DNNL_ARG_BIAS},
	{dnnl_query_dst_md, 0, DNNL_ARG_DST},
	{dnnl_query_scratchpad_md, 0, DNNL_ARG_SCRATCHPAD},
};

struct primitive {
	dnnl_primitive_t primitive;
	dnnl_stream_t stream;
	dnnl_exec_arg_t arguments[DLSI_TUNE_BUFFERS];
	int count;
	dnnl_status_t status;
};

static void execute(void *arg, void *const *buffers)
{
	struct primitive *primitive = arg;

	for (int i = 0; i < primitive->count && primitive->status == dnnl_success; i++)
		primitive->status = dnnl_memory_set_data_handle(primitive->arguments[i].memory, buffers[i]);
	if (primitive->status == dnnl_success)
		primitive->status = dnnl_primitive_execute(
			primitive->primitive, primitive->stream, primitive->count, primitive->arguments);
	if (primitive->status == dnnl_success)
		primitive->status = dnnl_stream_wait(primitive->stream);
}

int dlsi_tune_measure_primitive(
	struct dlsi_onednn_set *set, const_dnnl_primitive_desc_t pd, int64_t *ns_out, struct dls_error *err)
{
	struct primitive primitive = {.stream = set->stream};
	struct dlsi_onednn_pool pool;
	size_t bytes[DLSI_TUNE_BUFFERS];
	int rc = 0;

	dlsi_onednn_pool_init(&pool, set->alloc);
	primitive.status = dlsi_onednn_primitive(&pool, pd, &primitive.primitive);
	for (int i = 0; i < DLSI_TUNE_BUFFERS && primitive.status == dnnl_success; i++) {
		dlsi_md md = dnnl_primitive_desc_query_md(pd, roles[i].query, roles[i].number);
		dnnl_exec_arg_t *argument = &primitive.arguments[primitive.count];

		if (!md || !dnnl_memory_desc_get_size(md))
			continue;
		bytes[primitive.count++] = dnnl_memory_desc_get_size(md);
		argument->arg = roles[i].index;
		primitive.status = dlsi_onednn_memory(&pool, md, set->engine, &argument->memory);
	}
	if (primitive.status == dnnl_success)
		rc = dlsi_tune_measure(set, execute, &primitive, bytes, (size_t)primitive.count, ns_out, err);
	dlsi_onednn_pool_fini(&pool);
	return rc || primitive.status == dnnl_success
		       ? rc
		       : dlsi_onednn_fail(err, primitive.status, "cannot measure a kernel");
}
