#include "device/tune.h"

#include "base/clock.h"
#include "kernel/parallel.h"
#include <string.h>

enum {
	ALIGN = 64,
	ROUNDS_LEAST = 2, /* after one that takes what is done once */
	ROUNDS_MOST = 10,
	CACHE_LINE = 64,
};

#define ENOUGH_NS   (8 * DLSI_MILLISECOND_NS) /* for each: a large layer has few rounds, a small one some */
#define CROWD_BYTES (INT64_C(6) << 20)        /* more than second caches have */

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

struct lane {
	struct dlsi_contestant contestant;
	void *blocks[DLSI_TUNE_BUFFERS], *buffers[DLSI_TUNE_BUFFERS];
	int64_t best_ns;
	dnnl_primitive_t primitive;
	dnnl_exec_arg_t arguments[DLSI_TUNE_BUFFERS];
};

struct race {
	struct dlsi_onednn_set *set;
	struct dlsi_onednn_pool pool;
	struct lane lanes[DLSI_CONTESTANTS];
	uint32_t count;
	void *others; /* what else a model reads */
	size_t others_bytes;
};

/* How much else a run of the whole model reads between two runs of a layer, as far as that matters. */
static size_t crowd_bytes(const struct dlsi_graph *graph)
{
	const size_t bytes = dlsi_graph_constant_bytes(graph);

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

/* What a primitive's arguments are becomes the contestant's buffers. */
static dnnl_status_t make_primitive(struct race *race, struct lane *lane)
{
	struct dlsi_contestant *contestant = &lane->contestant;
	dnnl_status_t status = dlsi_onednn_primitive(&race->pool, contestant->pd, &lane->primitive);

	for (int i = 0; i < DLSI_TUNE_BUFFERS && status == dnnl_success; i++) {
		dlsi_md md = dnnl_primitive_desc_query_md(contestant->pd, roles[i].query, roles[i].number);
		dnnl_exec_arg_t *argument = &lane->arguments[contestant->count];

		if (!md || !dnnl_memory_desc_get_size(md))
			continue;
		contestant->bytes[contestant->count++] = dnnl_memory_desc_get_size(md);
		argument->arg = roles[i].index;
		status = dlsi_onednn_memory(&race->pool, md, race->set->engine, &argument->memory);
	}
	return status;
}

static int make_lane(
	struct race *race, struct lane *lane, const struct dlsi_contestant *contestant, struct dls_error *err)
{
	dnnl_status_t status = dnnl_success;

	lane->contestant = *contestant;
	lane->best_ns = INT64_MAX;
	if (contestant->pd)
		status = make_primitive(race, lane);
	for (size_t i = 0; status == dnnl_success && i < lane->contestant.count; i++) {
		lane->blocks[i] = take_zeros(race->set->alloc, lane->contestant.bytes[i] + ALIGN);
		if (!lane->blocks[i])
			return dlsi_fail_memory(err);
		lane->buffers[i] = (char *)lane->blocks[i] + (ALIGN - (uintptr_t)lane->blocks[i] % ALIGN) % ALIGN;
		if (contestant->pd)
			status = dnnl_memory_set_data_handle(lane->arguments[i].memory, lane->buffers[i]);
	}
	return status == dnnl_success ? 0 : dlsi_onednn_fail(err, status, "cannot measure a kernel");
}

static dnnl_status_t run(const struct race *race, const struct lane *lane)
{
	dnnl_status_t status;

	if (!lane->contestant.pd) {
		lane->contestant.run(lane->contestant.arg, lane->buffers);
		return dnnl_success;
	}
	status = dnnl_primitive_execute(
		lane->primitive, race->set->stream, (int)lane->contestant.count, lane->arguments);
	return status == dnnl_success ? dnnl_stream_wait(race->set->stream) : status;
}

/* A thread alone is not charged with what others do meanwhile; of a team only the clock on the wall knows. */
static int64_t now_ns(void)
{
	return dlsi_parallel_threads() == 1 ? dlsi_clock_thread_ns() : dlsi_clock_monotonic_ns();
}

static int go_round(struct race *race, struct dls_error *err)
{
	for (uint32_t i = 0; i < race->count; i++) {
		struct lane *lane = &race->lanes[i];
		dnnl_status_t status;
		int64_t begin, ns;

		crowd(race->others, race->others_bytes);
		begin = now_ns();
		status = run(race, lane);
		ns = now_ns() - begin;
		if (status != dnnl_success)
			return dlsi_onednn_fail(err, status, "cannot measure a kernel");
		lane->best_ns = ns < lane->best_ns ? ns : lane->best_ns;
	}
	return 0;
}

static int hold(struct race *race, struct dls_error *err)
{
	int rc = go_round(race, err);
	int64_t begin = dlsi_clock_monotonic_ns();

	for (uint32_t i = 0; i < race->count; i++)
		race->lanes[i].best_ns = INT64_MAX;
	for (int round = 0; rc == 0 && round < ROUNDS_MOST; round++) {
		rc = go_round(race, err);
		if (round + 1 >= ROUNDS_LEAST && dlsi_clock_monotonic_ns() - begin > race->count * ENOUGH_NS)
			break;
	}
	return rc;
}

int dlsi_tune_choose(struct dlsi_onednn_set *set, const struct dlsi_contestant *contestants, uint32_t count,
	uint32_t *winner_out, struct dls_error *err)
{
	struct race race = {.set = set, .count = count, .others_bytes = crowd_bytes(set->graph)};
	int rc = 0;

	*winner_out = 0;
	dlsi_onednn_pool_init(&race.pool, set->alloc);
	race.others = take_zeros(set->alloc, race.others_bytes + 1);
	if (!race.others)
		rc = dlsi_fail_memory(err);
	for (uint32_t i = 0; rc == 0 && i < count; i++)
		rc = make_lane(&race, &race.lanes[i], &contestants[i], err);
	if (rc == 0)
		rc = hold(&race, err);
	for (uint32_t i = 0; i < count; i++) {
		if (race.lanes[i].best_ns < race.lanes[*winner_out].best_ns)
			*winner_out = i;
		for (int k = 0; k < DLSI_TUNE_BUFFERS; k++)
			dlsi_free(set->alloc, race.lanes[i].blocks[k]);
	}
	dlsi_free(set->alloc, race.others);
	dlsi_onednn_pool_fini(&race.pool);
	return rc;
}
