/* Resize and Upsample of pictures on our own kernel, in blocks of channels where they lie so. */
#include "device/own.h"
#include "kernel/parallel.h"
#include "kernel/resample.h"
#include "op/list.h"
#include "op/resize.h"

/* As the context of a step, its arguments are source, target and scratch. */
struct own_resize {
	struct dlsi_kernel_resample resample;
	int threads;
};

static int run(void *context, void *const *places, struct dls_error *err)
{
	const struct own_resize *own = context;

	(void)err;
	dlsi_resample_run(&own->resample, places[0], places[1], places[2], own->threads);
	return 0;
}

/* One tap each, with the index that the element has itself or is nearest to. */
static int pick(const struct dlsi_resize *resize, uint32_t axis, int32_t *indices, float *weights)
{
	for (int64_t i = 0; i < resize->axes[axis].out; i++) {
		int64_t index = resize->axes[axis].same ? i : dlsi_resize_nearest(resize, axis, i);

		if (index < 0)
			return DLS_EUNSUPPORTED;
		indices[i] = (int32_t)index;
		weights[i] = 1;
	}
	return 0;
}

static int weigh(const struct dlsi_resize_taps *found, int64_t out, int32_t *indices, float *weights)
{
	for (int64_t i = 0; i < out * found->count; i++) {
		if (found->indices[i] < 0)
			return DLS_EUNSUPPORTED;
		indices[i] = (int32_t)found->indices[i];
		weights[i] = (float)found->weights[i];
	}
	return 0;
}

/* What the axis becomes, as the kernel takes it. DLS_EUNSUPPORTED where something is extrapolated. */
static int make_taps(struct dlsi_program *program, const struct dlsi_resize *resize, uint32_t axis,
	struct dlsi_kernel_taps *taps, struct dls_error *err)
{
	const struct dlsi_resize_axis *as = &resize->axes[axis];
	bool one = as->same || resize->mode == DLSI_RESIZE_NEAREST;
	struct dlsi_resize_taps found = {.count = 1};
	int32_t *indices;
	float *weights;
	int rc = one ? 0 : dlsi_resize_taps(resize, axis, program->set->alloc, &found, err);

	indices = dlsi_arena_take(&program->pool.arena, (size_t)(as->out * found.count), sizeof *indices);
	weights = dlsi_arena_take(&program->pool.arena, (size_t)(as->out * found.count), sizeof *weights);
	if (rc == 0 && (!indices || !weights))
		rc = dlsi_fail_memory(err);
	if (rc == 0)
		rc = one ? pick(resize, axis, indices, weights) : weigh(&found, as->out, indices, weights);
	dlsi_resize_taps_free(program->set->alloc, &found);
	*taps = (struct dlsi_kernel_taps){
		.source = as->in, .target = as->out, .count = found.count, .indices = indices, .weights = weights};
	return rc;
}

/* Whether the last two axes alone become others, and none is longer than an index can say. */
static bool is_picture(const struct dlsi_value *input, const struct dlsi_resize *resize)
{
	for (uint32_t i = 0; i < input->rank; i++)
		if (resize->axes[i].in < 1 || resize->axes[i].out < 1 || resize->axes[i].in > INT32_MAX ||
			(i + 2 < input->rank && !resize->axes[i].same))
			return false;
	return input->rank >= 2;
}

/* What the last two axes become. */
static int describe(
	struct dlsi_program *program, const struct dlsi_node *node, struct own_resize *own, struct dls_error *err)
{
	uint32_t rank = dlsi_node_output(program->set->graph, node)->rank;
	int rc = make_taps(program, node->resize, rank - 2, &own->resample.rows, err);

	own->threads = program->sharers;
	own->resample.isa = program->set->isa;
	return rc ? rc : make_taps(program, node->resize, rank - 1, &own->resample.columns, err);
}

/* Where the value lies in blocks of channels, or with all of them together, that layout; else the dense one.
 * *pixel_out: how many floats of a pixel lie together. */
static dlsi_md find_layout(struct dlsi_program *program, uint32_t value, dlsi_md md, int64_t *pixel_out)
{
	int64_t dims[DLS_TENSOR_RANK];
	uint32_t rank = dlsi_program_dims(program, value, dims);

	for (*pixel_out = 8; rank == 4 && *pixel_out <= 16; *pixel_out *= 2)
		if (dnnl_memory_desc_equal(md, dlsi_md_blocked(&program->pool, 4, dims, (int)*pixel_out)))
			return md;
	*pixel_out = rank == 4 && dlsi_own_is_last(program, value, md) ? dims[1] : 1;
	return *pixel_out > 1 ? md : dlsi_program_plain(program, value);
}

/* The same layout for the output. */
static dlsi_md keep_layout(struct dlsi_program *program, uint32_t value, int64_t pixel, bool last)
{
	int64_t dims[DLS_TENSOR_RANK];

	dlsi_program_dims(program, value, dims);
	if (last)
		return dlsi_own_image(program, value, true);
	return pixel > 1 ? dlsi_md_blocked(&program->pool, 4, dims, (int)pixel) : dlsi_program_plain(program, value);
}

int dlsi_own_resize(struct dlsi_program *program, const struct dlsi_node *node, struct dls_error *err)
{
	struct own_resize *own = dlsi_arena_take(&program->pool.arena, 1, sizeof *own);
	struct dlsi_kernel_resample *resample = own ? &own->resample : NULL;
	struct dlsi_argument arguments[3] = {{0}};
	struct dlsi_operand source;
	dlsi_md md;
	bool last;
	int rc;

	if (!own)
		return dlsi_fail_memory(err);
	if (!is_picture(dlsi_node_input(program->set->graph, node, 0), node->resize))
		return DLS_EUNSUPPORTED;
	rc = describe(program, node, own, err);
	if (rc == 0)
		rc = dlsi_program_use(program, node->inputs[0], NULL, &source, err);
	if (rc)
		return rc;
	md = find_layout(program, node->inputs[0], source.md, &resample->pixel);
	last = resample->pixel > 1 && dlsi_own_is_last(program, node->inputs[0], md);
	resample->planes = (int64_t)(dnnl_memory_desc_get_size(md) / sizeof(float)) /
			   (resample->pixel * resample->rows.source * resample->columns.source);
	rc = dlsi_program_use(program, node->inputs[0], md, &arguments[0].operand, err);
	if (rc == 0)
		rc = dlsi_program_target(program, node->outputs[0],
			keep_layout(program, node->outputs[0], resample->pixel, last), &arguments[1].operand, err);
	if (rc == 0)
		rc = dlsi_program_scratch(program,
			dlsi_md_bytes(&program->pool, (int64_t)dlsi_resample_scratch_bytes(resample, own->threads)),
			&arguments[2].operand, err);
	return rc ? rc : dlsi_program_call(program, "own:resize", run, own, arguments, 3, err);
}
