#include "device/batch.h"

#include "kernel/parallel.h"

struct dlsi_batch dlsi_batch_of(struct dlsi_lanes *lanes, const struct dlsi_piece *piece, int64_t items)
{
	const int threads = dlsi_parallel_threads();
	const struct dlsi_cut cut = dlsi_piece_cut(piece, items, threads);

	return (struct dlsi_batch){
		.lanes = lanes, .items = items, .cut = cut, .width = cut.threads < threads ? threads : 1};
}

int64_t dlsi_batch_part(const struct dlsi_batch *batch)
{
	return (batch->items + batch->cut.count - 1) / batch->cut.count;
}

int dlsi_batch_prepare(const struct dlsi_batch *batch, struct dls_error *err)
{
	int rc = dlsi_lanes_share(batch->lanes, batch->width, err);

	for (int i = 0; rc == 0 && i < batch->width; i++) {
		struct dlsi_lane *lane = &batch->lanes->lanes[i];

		rc = dlsi_lane_use(lane, batch->items / batch->cut.count, batch->cut.threads, err);
		if (rc == 0)
			rc = dlsi_lane_use(lane, dlsi_batch_part(batch), batch->cut.threads, err);
	}
	return rc;
}

/* The rows [first, end) of each tensor of a batch. */
static void take_rows(const struct dls_tensor *whole, size_t tensors, int64_t batch, int64_t first, int64_t end,
	struct dls_tensor *out)
{
	for (size_t i = 0; i < tensors; i++) {
		const size_t row = whole[i].bytes / (size_t)batch;

		out[i] = whole[i];
		out[i].dims[0] = end - first;
		out[i].data = (const uint8_t *)whole[i].data + (size_t)first * row;
		out[i].bytes = (size_t)(end - first) * row;
	}
}

/* A lane's share of a run. */
struct share {
	struct dls_tensor *tensors; /* of the part: the inputs, then the outputs */
	int rc;
	struct dls_error err;
};

struct run {
	const struct dlsi_batch *batch;
	const struct dls_tensor *inputs, *outputs;
	size_t input_count, output_count;
	struct share *shares;
};

/* All programs are there: nothing is made here. */
static void run_part(void *arg, int64_t part, int lane_number)
{
	const struct run *run = arg;
	const struct dlsi_batch *batch = run->batch;
	struct share *share = &run->shares[lane_number];
	struct dlsi_lane *lane = &batch->lanes->lanes[lane_number];
	const int64_t first = part * batch->items / batch->cut.count;
	const int64_t end = (part + 1) * batch->items / batch->cut.count;

	if (share->rc)
		return;
	take_rows(run->inputs, run->input_count, batch->items, first, end, share->tensors);
	take_rows(run->outputs, run->output_count, batch->items, first, end, share->tensors + run->input_count);
	share->rc = dlsi_lane_use(lane, end - first, batch->cut.threads, &share->err);
	if (share->rc == 0)
		share->rc = dlsi_lane_run(lane, share->tensors, share->tensors + run->input_count, NULL, &share->err);
}

static int make_shares(struct run *run, struct dls_error *err)
{
	const struct dlsi_alloc *alloc = run->batch->lanes->alloc;
	const size_t count = run->input_count + run->output_count, lanes = (size_t)run->batch->width;
	struct dls_tensor *tensors = dlsi_calloc(alloc, lanes * count, sizeof *tensors);

	run->shares = dlsi_calloc(alloc, lanes, sizeof *run->shares);
	if (!tensors || !run->shares) {
		dlsi_free(alloc, tensors);
		return dlsi_fail_memory(err);
	}
	for (size_t i = 0; i < lanes; i++)
		run->shares[i].tensors = tensors + i * count;
	return 0;
}

static int run_parts(struct run *run, struct dls_error *err)
{
	const struct dlsi_batch *batch = run->batch;
	int rc = make_shares(run, err);

	if (rc == 0)
		dlsi_parallel(batch->width, batch->cut.count, run_part, run);
	for (int i = 0; rc == 0 && i < batch->width; i++) {
		rc = run->shares[i].rc;
		if (rc && err)
			*err = run->shares[i].err;
	}
	if (run->shares)
		dlsi_free(batch->lanes->alloc, run->shares[0].tensors);
	dlsi_free(batch->lanes->alloc, run->shares);
	return rc;
}

int dlsi_batch_run(const struct dlsi_batch *batch, const struct dls_tensor *inputs, size_t input_count,
	struct dls_tensor *outputs, size_t output_count, struct dls_error *err)
{
	struct run run = {.batch = batch,
		.inputs = inputs,
		.outputs = outputs,
		.input_count = input_count,
		.output_count = output_count};

	return batch->cut.count > 1 ? run_parts(&run, err)
				    : dlsi_lane_run(&batch->lanes->lanes[0], inputs, outputs, NULL, err);
}
