/* Running a program: its memory is bound to where its bytes are now, then its steps are executed, passage by passage.
 */
#include "base/clock.h"
#include "device/onednn_build.h"
#include "kernel/parallel.h"
#include <stdatomic.h>
#include <string.h>

/* Where the argument's bytes are in this run; NULL if the memory object has the right place already. */
static void *place_of(const struct dlsi_program *program, uint32_t number, bool moved, const struct dls_tensor *inputs,
	const struct dls_tensor *outputs)
{
	size_t offset;
	const struct dlsi_program_buffer *buffer = dlsi_program_root(program, number, &offset);

	switch (buffer->kind) {
	case DLSI_BUFFER_SHARED:
		return moved ? program->set->activations + buffer->offset + offset : NULL;
	case DLSI_BUFFER_INPUT:
		return (uint8_t *)(uintptr_t)inputs[buffer->port].data + offset;
	case DLSI_BUFFER_OUTPUT:
		return (uint8_t *)(uintptr_t)outputs[buffer->port].data + offset;
	case DLSI_BUFFER_FIXED:
		break;
	}
	return NULL;
}

static dnnl_status_t bind(
	struct dlsi_program *program, const struct dls_tensor *inputs, const struct dls_tensor *outputs)
{
	bool moved = program->bound_to != program->set->activations;
	dnnl_status_t status = dnnl_success;

	for (uint32_t i = 0; status == dnnl_success && i < program->argument_count; i++) {
		void *place = place_of(program, program->arguments[i].operand.buffer, moved, inputs, outputs);

		if (place) {
			program->places[i] = place;
			status = dnnl_memory_set_data_handle(program->exec[i].memory, place);
		}
	}
	if (status == dnnl_success)
		program->bound_to = program->set->activations;
	return status;
}

static void tell_dims(const struct dlsi_program *program, struct dls_tensor *outputs)
{
	const struct dlsi_graph *graph = program->set->graph;

	for (uint32_t i = 0; i < graph->output_count; i++)
		if (graph->values[graph->outputs[i]].bounded)
			memcpy(outputs[i].dims, program->found[graph->outputs[i]], sizeof outputs[i].dims);
}

/* Steps of a run, one after another: those between two that oneDNN runs on a team of its own. */
struct passage {
	struct dlsi_program *program;
	uint32_t first, end;
	int64_t *step_ns;
	dnnl_status_t status;
	int rc;
	struct dls_error *err;
};

static dnnl_status_t execute(const struct dlsi_program *program, const struct dlsi_program_step *step)
{
	return dnnl_primitive_execute(
		step->primitive, program->set->stream, (int)step->count, &program->exec[step->arguments]);
}

/* Steps that threads take at the same time. */
struct group {
	const struct dlsi_program *program;
	const struct dlsi_program_step *steps;
	atomic_int status;
};

static void execute_one(void *arg, int64_t index, int thread)
{
	struct group *group = arg;
	dnnl_status_t status;

	(void)thread;
	dlsi_parallel_set_threads(1);
	status = execute(group->program, &group->steps[index]);
	if (status != dnnl_success)
		atomic_store(&group->status, (int)status);
}

static dnnl_status_t execute_group(const struct dlsi_program *program, const struct dlsi_program_step *steps)
{
	struct group group = {.program = program, .steps = steps};

	atomic_init(&group.status, (int)dnnl_success);
	dlsi_parallel(program->team, steps->together, execute_one, &group);
	return (dnnl_status_t)atomic_load(&group.status);
}

static void run_step(struct passage *passage, const struct dlsi_program_step *step)
{
	struct dlsi_program *program = passage->program;

	dlsi_parallel_set_threads(step->threads);
	if (step->together > 1)
		passage->status = execute_group(program, step);
	else if (step->call)
		passage->rc = step->call(step->context, &program->places[step->arguments], passage->err);
	else
		passage->status = execute(program, step);
}

static bool is_good(const struct passage *passage)
{
	return passage->rc == 0 && passage->status == dnnl_success;
}

static void note_time(const struct passage *passage, uint32_t step, int64_t ns)
{
	passage->step_ns[step] = ns;
	for (uint32_t i = 1; i < passage->program->steps[step].together; i++)
		passage->step_ns[step + i] = 0;
}

static void run_passage(void *arg)
{
	struct passage *passage = arg;

	for (uint32_t i = passage->first; is_good(passage) && i < passage->end;
		i += passage->program->steps[i].together) {
		const int64_t begin_ns = passage->step_ns ? dlsi_clock_monotonic_ns() : 0;

		run_step(passage, &passage->program->steps[i]);
		if (passage->step_ns && is_good(passage))
			passage->status = dnnl_stream_wait(passage->program->set->stream);
		if (passage->step_ns)
			note_time(passage, i, dlsi_clock_monotonic_ns() - begin_ns);
	}
}

static void run_steps(struct passage *passage)
{
	const struct dlsi_program *program = passage->program;

	for (; is_good(passage) && passage->first < program->step_count; passage->first = passage->end) {
		const struct dlsi_program_step *step = &program->steps[passage->first];

		passage->end = step->passage_end;
		dlsi_parallel_hold(step->standby, run_passage, passage);
	}
}

int dlsi_program_run(struct dlsi_program *program, const struct dls_tensor *inputs, struct dls_tensor *outputs,
	int64_t *step_ns, struct dls_error *err)
{
	const int threads = dlsi_parallel_threads();
	struct passage passage = {.program = program, .step_ns = step_ns, .err = err};
	int rc = dlsi_onednn_set_reserve(program->set, program->activations_bytes, err);

	if (rc)
		return rc;
	passage.status = bind(program, inputs, outputs);
	run_steps(&passage);
	dlsi_parallel_set_threads(threads);
	if (passage.rc)
		return passage.rc;
	if (passage.status == dnnl_success)
		passage.status = dnnl_stream_wait(program->set->stream);
	if (passage.status != dnnl_success)
		return dlsi_onednn_fail(err, passage.status, "cannot run the model");
	tell_dims(program, outputs);
	return 0;
}
