/* Fully connected layers on our own kernel. */
#include "base/hash.h"
#include "device/own.h"
#include "device/tune.h"
#include "device/tuning.h"
#include "kernel/full.h"
#include "kernel/isa.h"
#include "kernel/parallel.h"

/* As the context of a step, its arguments are source, target, scratch, and bias if there is one. */
struct own_full {
	struct dlsi_kernel_full full;
	const float *packed;
	int threads;
	bool biased, transposed;
};

static void pack(const void *how, const float *weights, float *packed)
{
	const struct own_full *own = how;
	const struct dlsi_kernel_full *full = &own->full;

	dlsi_full_pack(full, weights, own->transposed ? full->inputs : 1, own->transposed ? 1 : full->outputs, packed,
		own->threads);
}

static void run_once(void *arg, void *const *buffers)
{
	const struct own_full *own = arg;

	dlsi_full_run(&own->full, buffers[0], buffers[1], NULL, buffers[2], buffers[3], own->threads);
}

/* Whether ours is faster. */
static int choose(struct dlsi_program *program, struct own_full *own, const_dnnl_primitive_desc_t pd, bool *ours_out,
	struct dls_error *err)
{
	const struct dlsi_kernel_full *full = &own->full;
	const struct dlsi_tuning_key key = {{-1, full->rows, full->inputs, full->outputs, own->threads}};
	const struct dlsi_contestant contestants[] = {{.pd = pd},
		{.run = run_once,
			.arg = own,
			.bytes = {(size_t)(full->rows * full->inputs) * sizeof(float), dlsi_full_weights_bytes(full),
				(size_t)(full->rows * full->outputs) * sizeof(float),
				dlsi_full_scratch_bytes(full, own->threads)},
			.count = 4}};
	uint32_t choice;
	int rc;

	if (dlsi_tuning_find(program->set->tuning, &key, &choice)) {
		*ours_out = choice;
		return 0;
	}
	rc = dlsi_tune_choose(program->set, contestants, 2, &choice, err);
	if (rc)
		return rc;
	rc = dlsi_tuning_settle(program->set->tuning, &key, &choice, err);
	*ours_out = choice;
	return rc;
}

static int run(void *context, void *const *places, struct dls_error *err)
{
	const struct own_full *own = context;

	(void)err;
	dlsi_full_run(
		&own->full, places[0], own->packed, own->biased ? places[3] : NULL, places[1], places[2], own->threads);
	return 0;
}

static int lower(struct dlsi_program *program, const struct dlsi_node *node, struct own_full *own, uint32_t bias,
	struct dls_error *err)
{
	const struct dlsi_kernel_full *full = &own->full;
	const struct dlsi_value *weights = dlsi_node_input(program->set->graph, node, 1);
	const int64_t matrix[] = {full->rows, full->outputs};
	const int64_t about[] = {full->block, own->transposed, full->inputs, full->outputs};
	const struct dlsi_id form = dlsi_hash_key(about, sizeof about);
	struct dlsi_argument arguments[4] = {{0}};
	dlsi_md dense = dlsi_program_plain(program, node->inputs[0]);
	const void *packed;
	int rc = dlsi_onednn_set_pack_own(program->set, weights->data, dlsi_value_bytes(weights), &form,
		dlsi_full_weights_bytes(full), pack, own, &packed, err);

	if (rc == 0)
		rc = dlsi_program_use_as(program, node->inputs[0], dense, dense, &arguments[0].operand, err);
	if (rc == 0 && own->biased)
		rc = dlsi_program_use_as(program, bias, dlsi_md_plain(&program->pool, 1, &full->outputs),
			dlsi_md_plain(&program->pool, 1, &full->outputs), &arguments[3].operand, err);
	if (rc == 0)
		rc = dlsi_program_target(program, node->outputs[0], dlsi_md_plain(&program->pool, 2, matrix),
			&arguments[1].operand, err);
	if (rc == 0)
		rc = dlsi_program_scratch(program,
			dlsi_md_bytes(&program->pool, (int64_t)dlsi_full_scratch_bytes(full, own->threads)),
			&arguments[2].operand, err);
	if (rc)
		return rc;
	own->packed = packed;
	rc = dlsi_program_call(program, "own:full", run, own, arguments, 3 + own->biased, err);
	return rc ? rc
		  : dlsi_program_share(
			    program, node, &arguments[1].operand, dlsi_program_plain(program, node->outputs[0]), err);
}

int dlsi_own_full(struct dlsi_program *program, const struct dlsi_node *node, const struct dlsi_own_full *full,
	const_dnnl_primitive_desc_t pd, struct dls_error *err)
{
	struct own_full *own = dlsi_arena_take(&program->pool.arena, 1, sizeof *own);
	bool ours = false;
	int rc;

	if (!own)
		return dlsi_fail_memory(err);
	own->full = (struct dlsi_kernel_full){.isa = program->set->isa,
		.block = dlsi_isa_block(program->set->isa),
		.rows = full->rows,
		.inputs = full->inputs,
		.outputs = full->outputs,
		.clamp = node->fused};
	own->threads = dlsi_parallel_threads();
	own->biased = full->bias != DLSI_NO_VALUE;
	own->transposed = full->transposed;
	if (!dlsi_full_supported(&own->full))
		return DLS_EUNSUPPORTED;
	rc = choose(program, own, pd, &ours, err);
	if (rc)
		return rc;
	if (!ours)
		return DLS_EUNSUPPORTED;
	own->threads = program->sharers;
	return lower(program, node, own, full->bias, err);
}
