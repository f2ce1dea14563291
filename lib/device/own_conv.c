/* Conv on our own kernels. */
#include "base/hash.h"
#include "device/onednn_lower.h"
#include "device/own.h"
#include "device/tune.h"
#include "device/tuning.h"
#include "kernel/direct.h"
#include "kernel/isa.h"
#include "kernel/parallel.h"
#include "kernel/winograd.h"

static const struct dlsi_conv_kernel *const kernels[] = {&dlsi_kernel_winograd, &dlsi_kernel_direct};

enum {
	KERNELS = sizeof kernels / sizeof *kernels,
	BATCH_ALIKE = 8, /* from here on a larger batch is only more of the same */
};

/* A convolution on one of them; as the context of a step, its arguments are source, target, scratch, then bias and
 * addend if there are any. */
struct own_conv {
	const struct dlsi_conv_kernel *kernel;
	struct dlsi_kernel_conv conv;
	const float *packed;
	int threads;
	bool biased, added;
};

/* As oneDNN likes best what comes and goes, so that nothing is laid out anew between its kernels and ours. */
static bool is_last(struct dlsi_program *program, const struct dlsi_node *node, const_dnnl_primitive_desc_t pd)
{
	return dlsi_own_is_last(program, node->inputs[0], dnnl_primitive_desc_query_md(pd, dnnl_query_src_md, 0)) &&
	       dlsi_own_is_last(program, node->outputs[0], dnnl_primitive_desc_query_md(pd, dnnl_query_dst_md, 0));
}

/* False where no kernel of ours applies. */
static bool describe(struct dlsi_program *program, const struct dlsi_node *node, const_dnnl_primitive_desc_t pd,
	struct own_conv *own)
{
	const struct dlsi_graph *graph = program->set->graph;
	const struct dlsi_value *source = dlsi_node_input(graph, node, 0), *weights = dlsi_node_input(graph, node, 1);
	const struct dlsi_value *bias = dlsi_node_input(graph, node, 2), *target = dlsi_node_output(graph, node);
	const struct dlsi_window *window = &node->conv.window;

	if (source->rank != 4 || !weights->data || (bias && !bias->data))
		return false;
	own->threads = dlsi_parallel_threads();
	own->biased = bias != NULL;
	own->added = dlsi_node_input(graph, node, DLSI_CONV_ADDEND) != NULL;
	own->conv = (struct dlsi_kernel_conv){
		.isa = program->set->isa,
		.block = dlsi_isa_block(program->set->isa),
		.channels_last = is_last(program, node, pd),
		.batch = source->batched ? source->dims[0] * program->batch : source->dims[0],
		.groups = node->conv.groups,
		.source_channels = source->dims[1],
		.target_channels = target->dims[1],
		.height = dlsi_own_axis(window, 0, source, target),
		.width = dlsi_own_axis(window, 1, source, target),
		.clamp = node->fused,
	};
	return true;
}

static void pack(const void *how, const float *weights, float *packed)
{
	const struct own_conv *own = how;

	own->kernel->pack(&own->conv, weights, packed, own->threads);
}

static int use_weights(
	struct dlsi_program *program, const struct dlsi_node *node, struct own_conv *own, struct dls_error *err)
{
	const struct dlsi_value *weights = dlsi_node_input(program->set->graph, node, 1);
	const struct dlsi_kernel_conv *conv = &own->conv;
	const int64_t about[] = {(int64_t)(intptr_t)own->kernel, conv->block, conv->groups, conv->source_channels,
		conv->target_channels, conv->height.kernel, conv->width.kernel};
	const struct dlsi_id form = dlsi_hash_key(about, sizeof about);
	const void *packed;
	int rc = dlsi_onednn_set_pack_own(program->set, weights->data, dlsi_value_bytes(weights), &form,
		own->kernel->weights_bytes(&own->conv), pack, own, &packed, err);

	if (rc == 0)
		own->packed = packed;
	return rc;
}

/* ---- measuring */

static void run_once(void *arg, void *const *buffers)
{
	const struct own_conv *own = arg;

	own->kernel->run(&own->conv, buffers[0], buffers[1], NULL, own->added ? buffers[2] : NULL, buffers[2],
		buffers[3], own->threads);
}

static struct dlsi_contestant contestant_of(struct own_conv *own)
{
	const struct dlsi_kernel_conv *conv = &own->conv;

	return (struct dlsi_contestant){.run = run_once,
		.arg = own,
		.bytes = {(size_t)(conv->batch * dlsi_kernel_conv_source(conv).item) * sizeof(float),
			own->kernel->weights_bytes(conv),
			(size_t)(conv->batch * dlsi_kernel_conv_target(conv).item) * sizeof(float),
			own->kernel->scratch_bytes(conv, own->threads)},
		.count = 4};
}

/* A window's size and gaps in one number. */
static int64_t window_of(const struct dlsi_kernel_axis *axis)
{
	return axis->kernel + axis->gap * (INT64_C(1) << 32);
}

/* What decides how fast the kernels are. */
static struct dlsi_tuning_key key_of(const struct own_conv *own)
{
	const struct dlsi_kernel_conv *conv = &own->conv;

	return (struct dlsi_tuning_key){{conv->batch < BATCH_ALIKE ? conv->batch : BATCH_ALIKE, conv->groups,
		conv->source_channels, conv->target_channels, conv->height.source, conv->height.target,
		window_of(&conv->height), conv->height.stride, conv->height.pad, conv->width.source, conv->width.target,
		window_of(&conv->width), conv->width.stride, conv->width.pad, own->added + 2 * conv->channels_last,
		own->threads}};
}

/* The fastest kernel, as its place among them, or KERNELS for oneDNN's. */
static int choose(struct dlsi_program *program, struct own_conv *own, const_dnnl_primitive_desc_t pd,
	uint32_t *choice_out, struct dls_error *err)
{
	const struct dlsi_tuning_key key = key_of(own);
	struct dlsi_contestant contestants[KERNELS + 1] = {{0}};
	struct own_conv owns[KERNELS];
	uint32_t choices[KERNELS + 1], count = 0, winner;
	int rc;

	if (dlsi_tuning_find(program->set->tuning, &key, choice_out)) {
		if (*choice_out >= KERNELS || !kernels[*choice_out]->supported(&own->conv))
			*choice_out = KERNELS;
		return 0;
	}
	choices[count] = KERNELS;
	contestants[count].pd = pd;
	if (!dlsi_is_reference(pd))
		count++;
	for (uint32_t i = 0; i < KERNELS; i++) {
		if (!kernels[i]->supported(&own->conv))
			continue;
		owns[i] = *own;
		owns[i].kernel = kernels[i];
		choices[count] = i;
		contestants[count++] = contestant_of(&owns[i]);
	}
	rc = count > 1 ? dlsi_tune_choose(program->set, contestants, count, &winner, err) : 0;
	*choice_out = count > 1 ? choices[winner] : choices[0];
	return rc ? rc : dlsi_tuning_settle(program->set->tuning, &key, choice_out, err);
}

/* ---- lowering */

static int run(void *context, void *const *places, struct dls_error *err)
{
	const struct own_conv *own = context;
	const float *bias = own->biased ? places[3] : NULL, *addend = own->added ? places[3 + own->biased] : NULL;

	(void)err;
	own->kernel->run(&own->conv, places[0], own->packed, bias, addend, places[1], places[2], own->threads);
	return 0;
}

static int lower(
	struct dlsi_program *program, const struct dlsi_node *node, struct own_conv *own, struct dls_error *err)
{
	struct dlsi_argument arguments[5] = {{0}};
	const bool last = own->conv.channels_last;
	uint32_t count = 3;
	int rc = use_weights(program, node, own, err);

	if (rc == 0)
		rc = dlsi_program_use(program, node->inputs[0], dlsi_own_image(program, node->inputs[0], last),
			&arguments[0].operand, err);
	if (rc == 0 && own->biased)
		rc = dlsi_program_use(program, node->inputs[2], dlsi_program_plain(program, node->inputs[2]),
			&arguments[count++].operand, err);
	if (rc == 0 && own->added)
		rc = dlsi_program_use(program, node->inputs[DLSI_CONV_ADDEND],
			dlsi_own_image(program, node->outputs[0], last), &arguments[count++].operand, err);
	if (rc == 0)
		rc = dlsi_program_target(program, node->outputs[0], dlsi_own_image(program, node->outputs[0], last),
			&arguments[1].operand, err);
	if (rc == 0)
		rc = dlsi_program_scratch(program,
			dlsi_md_bytes(&program->pool, (int64_t)own->kernel->scratch_bytes(&own->conv, own->threads)),
			&arguments[2].operand, err);
	return rc ? rc : dlsi_program_call(program, own->kernel->name, run, own, arguments, count, err);
}

int dlsi_own_conv(struct dlsi_program *program, const struct dlsi_node *node, const_dnnl_primitive_desc_t pd,
	struct dls_error *err)
{
	struct own_conv *own = dlsi_arena_take(&program->pool.arena, 1, sizeof *own);
	uint32_t choice;
	int rc;

	if (!own)
		return dlsi_fail_memory(err);
	if (!describe(program, node, pd, own))
		return DLS_EUNSUPPORTED;
	rc = choose(program, own, pd, &choice, err);
	if (rc)
		return rc;
	if (choice == KERNELS)
		return DLS_EUNSUPPORTED;
	own->kernel = kernels[choice];
	own->threads = program->sharers;
	return lower(program, node, own, err);
}
