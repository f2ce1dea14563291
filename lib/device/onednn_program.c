#include "device/onednn_program.h"

#include "device/onednn_build.h"
#include "graph/op.h"
#include "kernel/parallel.h"
#include <stdio.h>
#include <string.h>

enum { BAND_BYTES = 80 << 10 }; /* that a thread takes 8 us to lay out anew: less is not worth sharing */

uint32_t dlsi_program_dims(const struct dlsi_program *program, uint32_t value, int64_t dims_out[DLS_TENSOR_RANK])
{
	dlsi_value_dims(&program->set->graph->values[value], program->batch, dims_out);
	return program->set->graph->values[value].rank;
}

dlsi_md dlsi_program_plain(struct dlsi_program *program, uint32_t value)
{
	int64_t dims[DLS_TENSOR_RANK];
	uint32_t rank = dlsi_program_dims(program, value, dims);
	enum dls_dtype dtype = program->set->graph->values[value].dtype;
	int64_t bytes = (int64_t)dls_dtype_bytes(dtype);

	if (dtype == DLS_FLOAT32)
		return dlsi_md_plain(&program->pool, rank, dims);
	for (uint32_t i = 0; i < rank; i++)
		bytes *= dims[i];
	return dlsi_md_bytes(&program->pool, bytes);
}

static int fail_node(const struct dlsi_node *node, dnnl_status_t status, struct dls_error *err)
{
	char what[DLS_ERROR_TEXT_BYTES / 2] = "a change of layout";

	if (node)
		snprintf(what, sizeof what, "node '%s' (%s)", node->name, node->op->name);
	return dlsi_onednn_fail(err, status, what);
}

/* Makes room for one more element. */
static bool grow(const struct dlsi_alloc *alloc, void *array, uint32_t count, uint32_t *capacity, size_t size)
{
	uint32_t wanted = *capacity ? 2 * *capacity : 64;
	void **place = array, *grown;

	if (count < *capacity)
		return true;
	grown = wanted > *capacity ? dlsi_realloc(alloc, *place, wanted * size) : NULL;
	if (!grown)
		return false;
	*place = grown;
	*capacity = wanted;
	return true;
}

struct dlsi_program_buffer *dlsi_program_root(const struct dlsi_program *program, uint32_t buffer, size_t *offset_out)
{
	size_t offset = 0;

	for (; program->buffers[buffer].inside != DLSI_NOWHERE; buffer = program->buffers[buffer].inside)
		offset += program->buffers[buffer].inside_offset;
	if (offset_out)
		*offset_out = offset;
	return &program->buffers[buffer];
}

int dlsi_program_add_buffer(struct dlsi_program *program, const struct dlsi_program_buffer *like, dlsi_md md,
	struct dlsi_operand *operand_out, struct dls_error *err)
{
	struct dlsi_program_buffer *buffer;

	if (!md || !grow(program->set->alloc, &program->buffers, program->buffer_count, &program->buffer_capacity,
			   sizeof *program->buffers))
		return dlsi_fail_memory(err);
	buffer = &program->buffers[program->buffer_count];
	*buffer = *like;
	buffer->bytes = dnnl_memory_desc_get_size(md);
	buffer->inside = DLSI_NOWHERE;
	buffer->first_step = UINT32_MAX;
	buffer->last_step = 0;
	*operand_out = (struct dlsi_operand){.buffer = program->buffer_count++, .md = md};
	return 0;
}

static int add_argument(
	struct dlsi_program *program, int index, const struct dlsi_operand *operand, struct dls_error *err)
{
	struct dlsi_program_buffer *buffer = dlsi_program_root(program, operand->buffer, NULL);

	if (!grow(program->set->alloc, &program->arguments, program->argument_count, &program->argument_capacity,
		    sizeof *program->arguments))
		return dlsi_fail_memory(err);
	program->arguments[program->argument_count++] =
		(struct dlsi_program_argument){.index = index, .operand = *operand};
	if (program->step_count < buffer->first_step)
		buffer->first_step = program->step_count;
	buffer->last_step = program->step_count;
	return 0;
}

/* Appends the step; with a scratchpad (NULL or empty: none) as its last argument. */
static int add_step(struct dlsi_program *program, struct dlsi_program_step step, const struct dlsi_argument *arguments,
	uint32_t count, dlsi_md scratch, struct dls_error *err)
{
	struct dlsi_operand operand;
	int rc = 0;

	step.node = program->node;
	step.threads = step.call ? program->sharers : dlsi_parallel_threads();
	step.together = 1;
	step.arguments = program->argument_count;
	if (!grow(program->set->alloc, &program->steps, program->step_count, &program->step_capacity,
		    sizeof *program->steps))
		return dlsi_fail_memory(err);
	for (uint32_t i = 0; rc == 0 && i < count; i++)
		rc = add_argument(program, arguments[i].index, &arguments[i].operand, err);
	if (rc == 0 && scratch && dnnl_memory_desc_get_size(scratch)) {
		rc = dlsi_program_scratch(program, scratch, &operand, err);
		if (rc == 0)
			rc = add_argument(program, DNNL_ARG_SCRATCHPAD, &operand, err);
	}
	if (rc)
		return rc;
	step.count = program->argument_count - step.arguments;
	program->steps[program->step_count++] = step;
	return 0;
}

int dlsi_program_step(struct dlsi_program *program, const struct dlsi_node *node, const_dnnl_primitive_desc_t pd,
	const struct dlsi_argument *arguments, uint32_t count, struct dls_error *err)
{
	dlsi_md scratch = dnnl_primitive_desc_query_md(pd, dnnl_query_scratchpad_md, 0);
	struct dlsi_program_step step = {0};
	dnnl_status_t status = dlsi_onednn_primitive(&program->pool, pd, &step.primitive);

	if (status == dnnl_success)
		status = dnnl_primitive_desc_query(pd, dnnl_query_impl_info_str, 0, &step.kernel);
	return status == dnnl_success ? add_step(program, step, arguments, count, scratch, err)
				      : fail_node(node, status, err);
}

int dlsi_program_call(struct dlsi_program *program, const char *kernel, dlsi_step_call *call, void *context,
	const struct dlsi_argument *arguments, uint32_t count, struct dls_error *err)
{
	struct dlsi_program_step step = {.kernel = kernel, .call = call, .context = context};

	return add_step(program, step, arguments, count, NULL, err);
}

int dlsi_program_keep(struct dlsi_program *program, const struct dlsi_node *node, dnnl_status_t status,
	dnnl_primitive_desc_t pd, dnnl_primitive_attr_t attributes, struct dls_error *err)
{
	if (attributes)
		dnnl_primitive_attr_destroy(attributes);
	if (status == dnnl_success)
		status = dlsi_onednn_keep(&program->pool, pd);
	if (program->pool.failed)
		status = dnnl_out_of_memory;
	return status == dnnl_success ? 0 : fail_node(node, status, err);
}

int dlsi_program_reorder(struct dlsi_program *program, const struct dlsi_operand *from, const struct dlsi_operand *to,
	struct dls_error *err)
{
	struct dlsi_argument arguments[] = {{DNNL_ARG_FROM, *from}, {DNNL_ARG_TO, *to}};
	const_dnnl_primitive_desc_t pd;
	dnnl_status_t status = dlsi_onednn_reorder(&program->pool, from->md, to->md, program->set->engine, &pd);

	if (status != dnnl_success)
		return fail_node(NULL, status, err);
	return dlsi_program_step(program, NULL, pd, arguments, 2, err);
}

void dlsi_program_together(struct dlsi_program *program, uint32_t first)
{
	const uint32_t last = program->step_count - 1;

	program->steps[first].together = program->step_count - first;
	for (uint32_t i = first + 1; i < program->step_count; i++)
		program->steps[i].kernel = NULL;
	for (uint32_t i = program->steps[first].arguments; i < program->argument_count; i++) {
		struct dlsi_program_buffer *buffer =
			dlsi_program_root(program, program->arguments[i].operand.buffer, NULL);

		buffer->first_step = buffer->first_step < first ? buffer->first_step : first;
		buffer->last_step = buffer->last_step > last ? buffer->last_step : last;
	}
}

/* Where the value is now; a constant is where the graph has it. */
static int locate(struct dlsi_program *program, const struct dlsi_node *node, uint32_t value, struct dls_error *err)
{
	const struct dlsi_value *constant = &program->set->graph->values[value];
	struct dlsi_program_buffer fixed = {.kind = DLSI_BUFFER_FIXED, .data = constant->data};

	if (program->values[value].md)
		return 0;
	if (!constant->data)
		return dlsi_node_fail(
			node, err, DLS_EUNSUPPORTED, "takes '%s', which nothing computes", constant->name);
	if (constant->dtype != DLS_FLOAT32 && (uintptr_t)constant->data % dls_dtype_bytes(constant->dtype)) {
		void *aligned = dlsi_arena_take(&program->pool.arena, dlsi_value_bytes(constant), 1);

		if (!aligned)
			return dlsi_fail_memory(err);
		fixed.data = memcpy(aligned, constant->data, dlsi_value_bytes(constant));
	}
	return dlsi_program_add_buffer(
		program, &fixed, dlsi_program_plain(program, value), &program->values[value], err);
}

/* One image in a band of rows for each thread that shares the node; DLS_EUNSUPPORTED where that cannot be. */
static int reorder_bands(struct dlsi_program *program, uint32_t value, const struct dlsi_operand *from,
	const struct dlsi_operand *to, struct dls_error *err)
{
	const int threads = dlsi_parallel_threads();
	const uint32_t begin = program->step_count;
	int64_t dims[DLS_TENSOR_RANK];
	int rc = 0;

	if (!program->banded || dlsi_program_dims(program, value, dims) != 4 || dims[0] != 1 ||
		dims[2] < program->sharers ||
		program->buffers[to->buffer].bytes < BAND_BYTES * (size_t)program->sharers)
		return DLS_EUNSUPPORTED;
	dlsi_parallel_set_threads(1);
	for (int i = 0; rc == 0 && i < program->sharers; i++) {
		const int64_t first = i * dims[2] / program->sharers, end = (i + 1) * dims[2] / program->sharers;
		const struct dlsi_operand source = {
			from->buffer, dlsi_md_rows(&program->pool, from->md, dims, first, end)};
		const struct dlsi_operand target = {to->buffer, dlsi_md_rows(&program->pool, to->md, dims, first, end)};

		rc = source.md && target.md ? dlsi_program_reorder(program, &source, &target, err) : DLS_EUNSUPPORTED;
	}
	dlsi_parallel_set_threads(threads);
	if (rc == 0)
		dlsi_program_together(program, begin);
	else
		program->step_count = begin; /* the whole does what the first bands did */
	return rc;
}

/* Constants are converted now and once, other values by a step; `value` is what it is if it is a whole one. */
static int convert(struct dlsi_program *program, uint32_t value, const struct dlsi_operand *from, dlsi_md md,
	struct dlsi_operand *operand_out, struct dls_error *err)
{
	struct dlsi_program_buffer buffer = program->buffers[from->buffer];
	int rc;

	if (buffer.kind == DLSI_BUFFER_FIXED) {
		rc = dlsi_onednn_set_pack(program->set, buffer.data, from->md, md, &buffer.data, err);
		return rc ? rc : dlsi_program_add_buffer(program, &buffer, md, operand_out, err);
	}
	if (dnnl_memory_desc_equal(from->md, md)) {
		*operand_out = *from;
		return 0;
	}
	rc = dlsi_program_scratch(program, md, operand_out, err);
	if (rc == 0)
		rc = value == DLSI_NO_VALUE ? DLS_EUNSUPPORTED : reorder_bands(program, value, from, operand_out, err);
	return rc == DLS_EUNSUPPORTED ? dlsi_program_reorder(program, from, operand_out, err) : rc;
}

int dlsi_program_use(struct dlsi_program *program, uint32_t value, dlsi_md md, struct dlsi_operand *operand_out,
	struct dls_error *err)
{
	int rc = locate(program, &program->set->graph->nodes[program->node], value, err);
	struct dlsi_program_buffer *buffer;

	if (rc == 0)
		rc = convert(
			program, value, &program->values[value], md ? md : program->values[value].md, operand_out, err);
	if (rc)
		return rc;
	buffer = dlsi_program_root(program, operand_out->buffer, NULL);
	/* Whoever takes it next probably wants it like this too; an output of the model is wanted dense. */
	if (buffer->kind == DLSI_BUFFER_SHARED && program->last_nodes[value] != DLSI_FOREVER) {
		program->values[value] = *operand_out;
		if (buffer->last_node < program->last_nodes[value])
			buffer->last_node = program->last_nodes[value];
	}
	return 0;
}

int dlsi_program_use_as(struct dlsi_program *program, uint32_t value, dlsi_md view, dlsi_md md,
	struct dlsi_operand *operand_out, struct dls_error *err)
{
	struct dlsi_operand dense;
	int rc = locate(program, &program->set->graph->nodes[program->node], value, err);

	if (rc == 0 && program->buffers[program->values[value].buffer].kind == DLSI_BUFFER_FIXED)
		dense = program->values[value];
	else if (rc == 0)
		rc = dlsi_program_use(program, value, dlsi_program_plain(program, value), &dense, err);
	if (rc)
		return rc;
	dense.md = view;
	return view && md ? convert(program, DLSI_NO_VALUE, &dense, md, operand_out, err) : dlsi_fail_memory(err);
}

int dlsi_program_view(struct dlsi_program *program, const struct dlsi_operand *whole, size_t offset, dlsi_md md,
	struct dlsi_operand *operand_out, struct dls_error *err)
{
	struct dlsi_program_buffer view = program->buffers[whole->buffer];
	int rc;

	view.data = view.data ? (const uint8_t *)view.data + offset : NULL;
	rc = dlsi_program_add_buffer(program, &view, md, operand_out, err);
	if (rc)
		return rc;
	program->buffers[operand_out->buffer].inside = whole->buffer;
	program->buffers[operand_out->buffer].inside_offset = offset;
	return 0;
}

int dlsi_program_target(struct dlsi_program *program, uint32_t value, dlsi_md md, struct dlsi_operand *operand_out,
	struct dls_error *err)
{
	struct dlsi_program_buffer buffer = {.kind = DLSI_BUFFER_SHARED, .last_node = program->last_nodes[value]};
	int rc = dlsi_program_add_buffer(program, &buffer, md, operand_out, err);

	if (rc == 0)
		program->values[value] = *operand_out;
	return rc;
}

int dlsi_program_target_over(struct dlsi_program *program, const struct dlsi_node *node, uint32_t addend, dlsi_md md,
	const struct dlsi_operand *source, struct dlsi_operand *operand_out, struct dls_error *err)
{
	const struct dlsi_program_buffer *buffer;
	struct dlsi_operand held;
	int rc = dlsi_program_use(program, addend, md, &held, err);

	if (rc)
		return rc;
	buffer = dlsi_program_root(program, held.buffer, NULL);
	if (buffer->kind == DLSI_BUFFER_SHARED && buffer->last_node <= program->node &&
		buffer != dlsi_program_root(program, source->buffer, NULL)) {
		*operand_out = held;
		return dlsi_program_share(program, node, &held, md, err);
	}
	rc = dlsi_program_target(program, node->outputs[0], md, operand_out, err);
	return rc ? rc : dlsi_program_reorder(program, &held, operand_out, err);
}

bool dlsi_program_nest(struct dlsi_program *program, const struct dlsi_operand *part, const struct dlsi_operand *whole,
	size_t offset, size_t bytes)
{
	struct dlsi_program_buffer *buffer = &program->buffers[part->buffer];
	struct dlsi_program_buffer *root = dlsi_program_root(program, whole->buffer, NULL);

	if (buffer->kind != DLSI_BUFFER_SHARED || buffer->inside != DLSI_NOWHERE || buffer == root ||
		buffer->bytes != bytes || offset % DLSI_NEST_BYTES)
		return false;
	buffer->inside = whole->buffer;
	buffer->inside_offset = offset;
	if (root->first_step > buffer->first_step)
		root->first_step = buffer->first_step;
	if (root->last_step < buffer->last_step)
		root->last_step = buffer->last_step;
	if (root->last_node < buffer->last_node)
		root->last_node = buffer->last_node;
	return true;
}

int dlsi_program_scratch(
	struct dlsi_program *program, dlsi_md md, struct dlsi_operand *operand_out, struct dls_error *err)
{
	struct dlsi_program_buffer buffer = {.kind = DLSI_BUFFER_SHARED, .last_node = program->node};

	return dlsi_program_add_buffer(program, &buffer, md, operand_out, err);
}

int dlsi_program_share(struct dlsi_program *program, const struct dlsi_node *node, const struct dlsi_operand *operand,
	dlsi_md md, struct dls_error *err)
{
	struct dlsi_program_buffer *buffer = dlsi_program_root(program, operand->buffer, NULL);
	uint32_t last = program->last_nodes[node->outputs[0]];

	if (!md)
		return dlsi_fail_memory(err);
	program->values[node->outputs[0]] = (struct dlsi_operand){.buffer = operand->buffer, .md = md};
	if (buffer->last_node < last)
		buffer->last_node = last;
	return 0;
}
