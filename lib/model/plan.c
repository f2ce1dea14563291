#include "model/plan.h"

#include "base/limits.h"
#include "base/shape.h"
#include <inttypes.h>
#include <string.h>

#define DEFAULT_BATCH 32 /* of a folder that says nothing */

static int check_names(
	const struct dlsi_description *description, const struct dlsi_model_ports *ports, struct dls_error *err)
{
	const char *inputs[DLSI_ROW_FIELDS + 1] = {NULL}, *outputs[DLSI_ROW_FIELDS + 1] = {NULL};

	if (ports->input_count > DLSI_ROW_FIELDS || ports->output_count > DLSI_ROW_FIELDS)
		return dlsi_fail(err, DLS_ELIMIT, "the model has %zu inputs and %zu outputs; it may have %d each",
			ports->input_count, ports->output_count, DLSI_ROW_FIELDS);
	for (size_t i = 0; i < ports->input_count; i++)
		inputs[i] = ports->inputs[i].name;
	for (size_t i = 0; i < ports->output_count; i++)
		outputs[i] = ports->outputs[i].name;
	return dlsi_description_check(description, inputs, outputs, err);
}

static int plan_output(struct dlsi_output_plan *output, const struct dlsi_output_description *how,
	const struct dlsi_model_port *port, bool batchable, struct dls_error *err)
{
	*output = (struct dlsi_output_plan){
		.name = port->name, .how = how, .dtype = port->dtype, .bounded = port->bounded};
	output->rank = port->rank - batchable;
	memcpy(output->dims, port->dims + batchable, output->rank * sizeof *output->dims);
	if (dls_tensor_bytes(output->dtype, output->rank, output->dims, &output->bytes) || output->bytes > UINT32_MAX)
		return dlsi_fail(err, DLS_ELIMIT, "the output \"%s\" is %s, which is too large for a result",
			output->name, dlsi_shape_text(output->dtype, output->rank, output->dims).text);
	output->count = output->bytes / dls_dtype_bytes(output->dtype);
	if (how->kind != DLSI_OUTPUT_CLASSES)
		return 0;
	if (output->dtype != DLS_FLOAT32)
		return dlsi_fail(err, DLS_EINVAL,
			"the output \"%s\" is %s, and scores of classes are float32: describe it as kind tensor",
			output->name, dls_dtype_name(output->dtype));
	if (output->bounded)
		return dlsi_fail(err, DLS_EINVAL,
			"the output \"%s\" has as many numbers as an input makes it, and classes are always the same: "
			"describe it as kind tensor",
			output->name);
	if (how->top > output->count)
		return dlsi_fail(err, DLS_EINVAL,
			"model.json asks for the best %" PRIu32 " of the output \"%s\", which has %zu classes",
			how->top, output->name, output->count);
	return 0;
}

/* ---- of an unsized model, as far as can be told */

static void note_input(
	struct dlsi_prepare *input, const struct dlsi_input_description *how, const struct dlsi_model_port *port)
{
	*input = (struct dlsi_prepare){.name = port->name, .how = how, .dtype = port->dtype, .rank = port->rank};
	memcpy(input->dims, port->dims, sizeof port->dims);
}

static void note_output(
	struct dlsi_output_plan *output, const struct dlsi_output_description *how, const struct dlsi_model_port *port)
{
	*output = (struct dlsi_output_plan){.name = port->name, .how = how, .dtype = port->dtype, .rank = port->rank};
	memcpy(output->dims, port->dims, sizeof port->dims);
}

static int plan_ports(struct dlsi_model_plan *plan, const struct dlsi_description *description,
	const struct dlsi_model_ports *ports, struct dls_error *err)
{
	int rc = 0;

	for (; plan->input_count < ports->input_count && rc == 0; plan->input_count++) {
		const struct dlsi_model_port *port = &ports->inputs[plan->input_count];

		if (ports->unsized) {
			note_input(&plan->inputs[plan->input_count], dlsi_description_input(description, port->name),
				port);
			continue;
		}
		rc = dlsi_prepare_init(&plan->inputs[plan->input_count], port->name,
			dlsi_description_input(description, port->name), port->dtype, port->rank, port->dims, err);
	}
	for (; plan->output_count < ports->output_count && rc == 0; plan->output_count++) {
		const struct dlsi_model_port *port = &ports->outputs[plan->output_count];

		if (ports->unsized) {
			note_output(&plan->outputs[plan->output_count],
				dlsi_description_output(description, port->name), port);
			continue;
		}
		rc = plan_output(&plan->outputs[plan->output_count], dlsi_description_output(description, port->name),
			port, plan->batchable, err);
	}
	return rc;
}

int dlsi_model_plan_init(struct dlsi_model_plan *plan, const struct dlsi_alloc *alloc,
	const struct dlsi_description *description, const struct dlsi_model_ports *ports, struct dls_error *err)
{
	struct dlsi_model_plan made = {
		.alloc = alloc, .batchable = ports->batchable, .unsized = ports->unsized, .max_batch = 1};
	int rc = check_names(description, ports, err);

	if (rc)
		return rc;
	if (ports->batchable || ports->unsized)
		made.max_batch = description->max_batch ? description->max_batch : DEFAULT_BATCH;
	made.inputs = dlsi_calloc(alloc, ports->input_count, sizeof *made.inputs);
	made.outputs = dlsi_calloc(alloc, ports->output_count, sizeof *made.outputs);
	rc = made.inputs && made.outputs ? plan_ports(&made, description, ports, err) : dlsi_fail_memory(err);
	if (rc)
		dlsi_model_plan_fini(&made);
	else
		*plan = made;
	return rc;
}

void dlsi_model_plan_fini(struct dlsi_model_plan *plan)
{
	dlsi_free(plan->alloc, plan->inputs);
	dlsi_free(plan->alloc, plan->outputs);
	*plan = (struct dlsi_model_plan){.alloc = plan->alloc};
}
