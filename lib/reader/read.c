#include "reader/read.h"

#include "base/limits.h"
#include "base/shape.h"
#include "graph/type.h"
#include "op/list.h"
#include "reader/attribute.h"
#include "reader/names.h"
#include "reader/protobuf.h"
#include "reader/scan.h"
#include "reader/tensor.h"
#include <stdio.h>
#include <string.h>

enum { IR_LOWEST = 3, IR_HIGHEST = 14, WHAT_BYTES = 256 };

struct read {
	struct dlsi_graph *graph;
	const Onnx__GraphProto *proto;
	const struct dlsi_onnx *onnx;
	struct dlsi_names names;
	struct dls_error *err;
};

static const char *text(const char *field)
{
	return field ? field : "";
}

/* Whether the operators of this domain are ONNX's own. */
static bool is_own(const char *domain)
{
	return *domain == '\0' || strcmp(domain, "ai.onnx") == 0;
}

static int check_versions(const Onnx__ModelProto *model, struct dlsi_graph *graph, struct dls_error *err)
{
	if (!model->graph)
		return dlsi_fail(err, DLS_EFORMAT, "not an ONNX model: there is no graph in it");
	if (model->ir_version < IR_LOWEST || model->ir_version > IR_HIGHEST)
		return dlsi_fail(err, DLS_EUNSUPPORTED,
			"its format version is %lld; versions %d to %d are supported, convert or export it anew",
			(long long)model->ir_version, IR_LOWEST, IR_HIGHEST);
	for (size_t i = 0; i < model->n_opset_import; i++)
		if (is_own(text(model->opset_import[i]->domain)))
			graph->opset = model->opset_import[i]->version;
	if (graph->opset < DLSI_OPSET_LOWEST || graph->opset > DLSI_OPSET_HIGHEST)
		return dlsi_fail(err, DLS_EUNSUPPORTED,
			"it uses operator set %lld; sets %d to %d are supported, convert or export it anew",
			(long long)graph->opset, DLSI_OPSET_LOWEST, DLSI_OPSET_HIGHEST);
	return 0;
}

/* ---- values */

static int define(struct read *read, const char *name, enum dlsi_definition_kind kind, uint32_t *value_out)
{
	char *copy = dlsi_arena_strdup(&read->graph->arena, name);
	uint32_t value = copy ? dlsi_graph_add_value(read->graph, copy) : DLSI_NO_VALUE;

	if (value == DLSI_NO_VALUE)
		return dlsi_fail_memory(read->err);
	dlsi_names_add(&read->names, copy, kind, value);
	*value_out = value;
	return 0;
}

static int read_constants(struct read *read)
{
	for (size_t i = 0; i < read->proto->n_initializer; i++) {
		const Onnx__TensorProto *tensor = read->proto->initializer[i];
		char what[WHAT_BYTES];
		uint32_t value;
		int rc = define(read, text(tensor->name), DLSI_DEFINED_CONSTANT, &value);

		if (rc)
			return rc;
		snprintf(what, sizeof what, "the constant '%s'", text(tensor->name));
		rc = dlsi_tensor_read(read->graph, tensor, read->onnx, what, value, read->err);
		if (rc)
			return rc;
	}
	return 0;
}

/* A size of 0 is what some exporters write for one that is open, and it may be 0 then too. */
static bool is_open(const Onnx__TensorShapeProto__Dimension *dimension)
{
	return dimension->value_case != ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE ||
	       dimension->dim_value < 1;
}

static const Onnx__TensorShapeProto *shape_of(const Onnx__ValueInfoProto *info)
{
	return info->type && info->type->tensor_type ? info->type->tensor_type->shape : NULL;
}

/* The type and shape that the file declares, -1 for what it leaves open. The rank is allowed. */
static void declare(const Onnx__ValueInfoProto *info, struct dlsi_value *value)
{
	const Onnx__TensorShapeProto *shape = shape_of(info);

	value->dtype = dlsi_onnx_dtype(info->type->tensor_type->elem_type);
	value->rank = (uint32_t)shape->n_dim;
	for (uint32_t i = 0; i < value->rank; i++) {
		value->open |= (uint8_t)(is_open(shape->dim[i]) << i);
		value->dims[i] = is_open(shape->dim[i]) ? -1 : shape->dim[i]->dim_value;
	}
}

/* Puts the shape that is given in the place of what is open. */
static int give_shape(const struct read *read, const struct dlsi_onnx_shape *given, struct dlsi_value *value)
{
	bool fits = given->rank == value->rank;

	for (uint32_t i = 0; fits && i < value->rank; i++)
		fits = given->dims[i] >= 0 && (value->dims[i] < 0 || value->dims[i] == given->dims[i]);
	if (!fits)
		return dlsi_fail(read->err, DLS_EINVAL, "the input '%s' is %s; the model takes %s", value->name,
			dlsi_shape_text(value->dtype, given->rank, given->dims).text,
			dlsi_shape_text(value->dtype, value->rank, value->dims).text);
	memcpy(value->dims, given->dims, value->rank * sizeof *value->dims);
	return 0;
}

/* The type and shape of an input, for one item. */
static int read_shape(const struct read *read, const Onnx__ValueInfoProto *info, struct dlsi_value *value)
{
	const Onnx__TensorShapeProto *shape = shape_of(info);
	const struct dlsi_onnx *onnx = read->onnx;
	size_t bytes;
	int rc = 0;

	if (!shape)
		return dlsi_fail(read->err, DLS_EUNSUPPORTED,
			"the input '%s' is no tensor with a shape, and only those are supported", value->name);
	if (!dlsi_onnx_dtype(info->type->tensor_type->elem_type))
		return dlsi_fail(read->err, DLS_EUNSUPPORTED, "the input '%s' has elements of %s, not supported",
			value->name, dlsi_onnx_dtype_name(info->type->tensor_type->elem_type));
	if (shape->n_dim > DLS_TENSOR_RANK)
		return dlsi_fail(read->err, DLS_EUNSUPPORTED,
			"the input '%s' has %zu dimensions; at most %d are supported", value->name, shape->n_dim,
			DLS_TENSOR_RANK);
	declare(info, value);
	if (onnx->shapes && read->graph->input_count < onnx->shape_count)
		rc = give_shape(read, &onnx->shapes[read->graph->input_count], value);
	else if (value->open & 1)
		value->dims[0] = 1;
	for (uint32_t i = 0; i < value->rank; i++)
		read->graph->unsized |= value->dims[i] < 0;
	if (rc || read->graph->unsized)
		return rc;
	if (dls_tensor_bytes(value->dtype, value->rank, value->dims, &bytes) || bytes > DLSI_VALUE_BYTES)
		return dlsi_fail(read->err, DLS_ELIMIT, "the input '%s' is %s, larger than any memory", value->name,
			dlsi_shape_text(value->dtype, value->rank, value->dims).text);
	return 0;
}

static int read_inputs(struct read *read)
{
	for (size_t i = 0; i < read->proto->n_input; i++) {
		uint32_t value;
		int rc = define(read, text(read->proto->input[i]->name), DLSI_DEFINED_INPUT, &value);

		if (rc)
			return rc;
	}
	return 0;
}

static int define_outputs(struct read *read)
{
	for (size_t i = 0; i < read->proto->n_node; i++) {
		const Onnx__NodeProto *node = read->proto->node[i];

		for (size_t k = 0; k < node->n_output; k++) {
			uint32_t value;
			int rc = *node->output[k] ? define(read, node->output[k], DLSI_DEFINED_OUTPUT, &value) : 0;

			if (rc)
				return rc;
		}
	}
	return 0;
}

/* The inputs that a run must bring: those without a default. */
static int list_inputs(struct read *read)
{
	struct dlsi_graph *graph = read->graph;

	graph->inputs = dlsi_arena_take(&graph->arena, read->proto->n_input, sizeof *graph->inputs);
	if (!graph->inputs)
		return dlsi_fail_memory(read->err);
	for (size_t i = 0; i < read->proto->n_input; i++) {
		const Onnx__ValueInfoProto *info = read->proto->input[i];
		const struct dlsi_definition *definition = dlsi_names_find(&read->names, text(info->name));
		int rc;

		if (definition->kind != DLSI_DEFINED_INPUT)
			continue;
		rc = read_shape(read, info, &graph->values[definition->value]);
		if (rc)
			return rc;
		graph->inputs[graph->input_count++] = definition->value;
	}
	return graph->input_count ? 0 : dlsi_fail(read->err, DLS_EFORMAT, "the model has no inputs");
}

/* Its shape is inferred; what the file says of it counts only until that can be done. */
static void note_output(const struct read *read, const Onnx__ValueInfoProto *info, struct dlsi_value *value)
{
	struct dlsi_value declared = {0};
	const Onnx__TensorShapeProto *shape = shape_of(info);

	if (!shape || shape->n_dim > DLS_TENSOR_RANK)
		return;
	declare(info, &declared);
	value->open |= declared.open;
	if (!read->graph->unsized || value->dtype)
		return;
	value->dtype = declared.dtype;
	value->rank = declared.rank;
	memcpy(value->dims, declared.dims, sizeof value->dims);
}

static int list_outputs(struct read *read)
{
	struct dlsi_graph *graph = read->graph;
	bool *listed = dlsi_arena_take(&graph->arena, graph->value_count, sizeof *listed);

	graph->outputs = dlsi_arena_take(&graph->arena, read->proto->n_output, sizeof *graph->outputs);
	if (!graph->outputs || !listed)
		return dlsi_fail_memory(read->err);
	for (size_t i = 0; i < read->proto->n_output; i++) {
		const Onnx__ValueInfoProto *info = read->proto->output[i];
		const struct dlsi_definition *definition = dlsi_names_find(&read->names, text(info->name));

		if (!definition)
			return dlsi_fail(read->err, DLS_EFORMAT, "nothing computes the output '%s'", text(info->name));
		if (listed[definition->value])
			return dlsi_fail(read->err, DLS_EFORMAT, "the output '%s' is listed twice", text(info->name));
		listed[definition->value] = true;
		note_output(read, info, &graph->values[definition->value]);
		graph->outputs[graph->output_count++] = definition->value;
	}
	return graph->output_count ? 0 : dlsi_fail(read->err, DLS_EFORMAT, "the model has no outputs");
}

/* ---- nodes */

/* Names to values; "" leaves one out, and trailing ones are dropped. */
static int read_operands(struct read *read, struct dlsi_node *node, char **names, size_t count, uint32_t **operands_out,
	uint32_t *count_out)
{
	uint32_t *operands = dlsi_arena_take(&read->graph->arena, count, sizeof *operands);

	if (!operands)
		return dlsi_fail_memory(read->err);
	for (size_t i = 0; i < count; i++) {
		const struct dlsi_definition *definition = dlsi_names_find(&read->names, names[i]);

		if (*names[i] && !definition)
			return dlsi_node_fail(
				node, read->err, DLS_EFORMAT, "takes '%s', which nothing computes", names[i]);
		operands[i] = *names[i] ? definition->value : DLSI_NO_VALUE;
	}
	while (count && operands[count - 1] == DLSI_NO_VALUE)
		count--;
	*operands_out = operands;
	*count_out = (uint32_t)count;
	return 0;
}

/* A first output that is left out becomes a value without a name, so that there always is one. */
static int complete_outputs(struct read *read, struct dlsi_node *node)
{
	if (!node->output_count || node->outputs[0] != DLSI_NO_VALUE)
		return 0;
	node->outputs[0] = dlsi_graph_add_value(read->graph, "");
	return node->outputs[0] == DLSI_NO_VALUE ? dlsi_fail_memory(read->err) : 0;
}

static int check_node(const struct dlsi_node *node, struct dls_error *err)
{
	for (uint32_t i = 0; i < node->attribute_count; i++) {
		const struct dlsi_op_attribute *known = node->op->attributes;

		while (known->name && strcmp(known->name, node->attributes[i].name) != 0)
			known++;
		if (!known->name)
			return dlsi_node_fail(node, err, DLS_EUNSUPPORTED,
				"has the attribute '%s', which is not supported", node->attributes[i].name);
		if (known->kind != node->attributes[i].kind)
			return dlsi_node_fail(node, err, DLS_EFORMAT,
				"has the attribute '%s' in another type than ONNX's", known->name);
	}
	for (uint32_t i = 0; i < node->op->inputs_least; i++)
		if (i >= node->input_count || node->inputs[i] == DLSI_NO_VALUE)
			return dlsi_node_fail(node, err, DLS_EFORMAT, "lacks its input %u", i);
	if (node->input_count > node->op->inputs_most)
		return dlsi_node_fail(node, err, DLS_EFORMAT, "has %u inputs; %u are the most", node->input_count,
			node->op->inputs_most);
	if (!node->output_count)
		return dlsi_node_fail(node, err, DLS_EFORMAT, "has no output");
	if (node->output_count > node->op->outputs_most)
		return dlsi_node_fail(node, err, DLS_EFORMAT, "has %u outputs; %u are the most", node->output_count,
			node->op->outputs_most);
	return 0;
}

/* What a node is called in errors: many exporters leave the name empty. */
static const char *title(const Onnx__NodeProto *proto)
{
	return *text(proto->name) || !proto->n_output ? text(proto->name) : proto->output[0];
}

static int read_node(struct read *read, const Onnx__NodeProto *proto)
{
	struct dlsi_node *node = &read->graph->nodes[read->graph->node_count];
	const char *type = text(proto->op_type), *domain = text(proto->domain);
	int rc;

	if (!is_own(domain))
		return dlsi_fail(read->err, DLS_EUNSUPPORTED,
			"node '%s' uses the operator %s of '%s'; only operators of ONNX itself are supported",
			title(proto), type, domain);
	*node = (struct dlsi_node){.op = dlsi_op_find(type)};
	node->fused = DLSI_CLAMP_NONE;
	if (!node->op)
		return dlsi_fail(read->err, DLS_EUNSUPPORTED, "node '%s' uses the operator %s, which is not supported",
			title(proto), type);
	node->version = dlsi_op_version(node->op, read->graph->opset);
	if (!(node->op->known & DLSI_OP_SINCE(node->version)))
		return dlsi_fail(read->err, DLS_EUNSUPPORTED,
			"node '%s' uses the operator %s as operator set %u defines it, which is not supported",
			title(proto), type, node->version);
	node->name = dlsi_arena_strdup(&read->graph->arena, title(proto));
	if (!node->name)
		return dlsi_fail_memory(read->err);
	rc = read_operands(read, node, proto->input, proto->n_input, &node->inputs, &node->input_count);
	if (rc == 0)
		rc = read_operands(read, node, proto->output, proto->n_output, &node->outputs, &node->output_count);
	if (rc == 0)
		rc = complete_outputs(read, node);
	if (rc == 0)
		rc = dlsi_attributes_read(read->graph, proto, read->onnx, node, read->err);
	if (rc == 0)
		rc = check_node(node, read->err);
	if (rc == 0)
		read->graph->node_count++;
	return rc;
}

/* A Constant is no node but a value. */
static int read_constant_node(struct read *read, const Onnx__NodeProto *proto)
{
	if (proto->n_output != 1 || !*proto->output[0])
		return dlsi_fail(read->err, DLS_EFORMAT, "node '%s' (Constant) has no output", title(proto));
	return dlsi_constant_read(
		read->graph, proto, read->onnx, dlsi_names_find(&read->names, proto->output[0])->value, read->err);
}

static int read_nodes(struct read *read)
{
	struct dlsi_graph *graph = read->graph;

	graph->nodes = dlsi_arena_take(&graph->arena, read->proto->n_node, sizeof *graph->nodes);
	if (!graph->nodes)
		return dlsi_fail_memory(read->err);
	for (size_t i = 0; i < read->proto->n_node; i++) {
		const Onnx__NodeProto *proto = read->proto->node[i];
		bool constant = strcmp(text(proto->op_type), "Constant") == 0 && is_own(text(proto->domain));
		int rc = constant ? read_constant_node(read, proto) : read_node(read, proto);

		if (rc)
			return rc;
	}
	return 0;
}

static int read_graph(struct read *read)
{
	const Onnx__GraphProto *proto = read->proto;
	size_t definitions = proto->n_initializer + proto->n_input;
	int rc;

	if (proto->n_sparse_initializer)
		return dlsi_fail(read->err, DLS_EUNSUPPORTED, "it has sparse constants, which are not supported");
	if (proto->n_node > DLSI_GRAPH_NODES)
		return dlsi_fail(
			read->err, DLS_ELIMIT, "it has %zu nodes; %d are the most", proto->n_node, DLSI_GRAPH_NODES);
	for (size_t i = 0; i < proto->n_node; i++)
		definitions += proto->node[i]->n_output;
	rc = dlsi_names_init(&read->names, read->graph->arena.alloc, definitions);
	if (rc)
		return dlsi_fail_memory(read->err);
	rc = read_constants(read);
	if (rc == 0)
		rc = read_inputs(read);
	if (rc == 0)
		rc = define_outputs(read);
	if (rc == 0)
		rc = dlsi_names_close(&read->names, read->err);
	if (rc == 0)
		rc = list_inputs(read);
	if (rc == 0)
		rc = list_outputs(read);
	if (rc == 0)
		rc = read_nodes(read);
	dlsi_names_fini(&read->names);
	return rc;
}

int dlsi_graph_read(struct dlsi_graph *graph, const struct dlsi_onnx *onnx, struct dls_error *err)
{
	struct dlsi_protobuf protobuf;
	struct read read = {.graph = graph, .onnx = onnx, .err = err};
	Onnx__ModelProto *model = NULL;
	struct dlsi_buffer copy;
	int rc;

	dlsi_protobuf_init(&protobuf, graph->arena.alloc);
	dlsi_buffer_init(&copy, graph->arena.alloc);
	rc = dlsi_scan(onnx->file, onnx->length, &copy, err);
	if (rc)
		goto out;
	model = onnx__model_proto__unpack(&protobuf.allocator, copy.length, copy.data);
	if (!model) {
		rc = protobuf.exhausted ? dlsi_fail_memory(err)
					: dlsi_fail(err, DLS_EFORMAT, "not an ONNX file: protobuf cannot read it");
		goto out;
	}
	rc = check_versions(model, graph, err);
	if (rc)
		goto out;
	read.proto = model->graph;
	rc = read_graph(&read);
out:
	onnx__model_proto__free_unpacked(model, &protobuf.allocator);
	dlsi_buffer_fini(&copy);
	return rc;
}
