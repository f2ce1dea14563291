#include "reader/attribute.h"

#include "graph/op.h"
#include "reader/tensor.h"
#include <stdio.h>
#include <string.h>

/* A copy of `count` elements of `size` bytes; NULL when memory is exhausted. */
static const void *copy(struct dlsi_graph *graph, const void *from, size_t count, size_t size)
{
	void *to = dlsi_arena_take(&graph->arena, count, size);

	if (to && count)
		memcpy(to, from, count * size);
	return to;
}

static const void *copy_text(struct dlsi_graph *graph, const ProtobufCBinaryData *text)
{
	char *to = dlsi_arena_take(&graph->arena, text->len + 1, 1);

	if (to && text->len)
		memcpy(to, text->data, text->len);
	return to;
}

static bool read_strings(struct dlsi_graph *graph, const Onnx__AttributeProto *proto, struct dlsi_attribute *attribute)
{
	attribute->kind = DLSI_ATTRIBUTE_STRINGS;
	attribute->count = (uint32_t)proto->n_strings;
	attribute->strings = dlsi_arena_take(&graph->arena, proto->n_strings, sizeof *attribute->strings);
	if (!attribute->strings)
		return false;
	for (size_t i = 0; i < proto->n_strings; i++) {
		attribute->strings[i] = copy_text(graph, &proto->strings[i]);
		if (!attribute->strings[i])
			return false;
	}
	return true;
}

/* A tensor is a value of the graph, a constant that no node takes. */
static int read_tensor(struct dlsi_graph *graph, const Onnx__TensorProto *proto, const struct dlsi_onnx *onnx,
	const struct dlsi_node *node, struct dlsi_attribute *attribute, struct dls_error *err)
{
	char what[256];

	snprintf(what, sizeof what, "the attribute '%s' of node '%s'", attribute->name, node->name);
	attribute->kind = DLSI_ATTRIBUTE_TENSOR;
	attribute->value = dlsi_graph_add_value(graph, attribute->name);
	if (attribute->value == DLSI_NO_VALUE)
		return dlsi_fail_memory(err);
	return dlsi_tensor_read(graph, proto, onnx, what, attribute->value, err);
}

/* Fills all but the name, of what is no tensor. Returns false when memory is exhausted. */
static bool read_value(struct dlsi_graph *graph, const Onnx__AttributeProto *proto, struct dlsi_attribute *attribute)
{
	switch (proto->type) {
	case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT:
		attribute->kind = DLSI_ATTRIBUTE_FLOAT;
		attribute->f = proto->f;
		return true;
	case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT:
		attribute->kind = DLSI_ATTRIBUTE_INT;
		attribute->i = proto->i;
		return true;
	case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING:
		attribute->kind = DLSI_ATTRIBUTE_STRING;
		attribute->s = copy_text(graph, &proto->s);
		return attribute->s != NULL;
	case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS:
		attribute->kind = DLSI_ATTRIBUTE_FLOATS;
		attribute->count = (uint32_t)proto->n_floats;
		attribute->floats = copy(graph, proto->floats, proto->n_floats, sizeof *proto->floats);
		return attribute->floats != NULL;
	case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS:
		attribute->kind = DLSI_ATTRIBUTE_INTS;
		attribute->count = (uint32_t)proto->n_ints;
		attribute->ints = copy(graph, proto->ints, proto->n_ints, sizeof *proto->ints);
		return attribute->ints != NULL;
	case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRINGS:
		return read_strings(graph, proto, attribute);
	default:
		attribute->kind = DLSI_ATTRIBUTE_OTHER;
		return true;
	}
}

int dlsi_attributes_read(struct dlsi_graph *graph, const Onnx__NodeProto *proto, const struct dlsi_onnx *onnx,
	struct dlsi_node *node, struct dls_error *err)
{
	int rc = 0;

	node->attributes = dlsi_arena_take(&graph->arena, proto->n_attribute, sizeof *node->attributes);
	if (!node->attributes)
		return dlsi_fail_memory(err);
	for (size_t i = 0; rc == 0 && i < proto->n_attribute; i++) {
		struct dlsi_attribute *attribute = &node->attributes[i];
		const char *name = proto->attribute[i]->name ? proto->attribute[i]->name : "";

		if (dlsi_node_attribute(node, name))
			return dlsi_node_fail(node, err, DLS_EFORMAT, "has the attribute '%s' twice", name);
		if (!proto->attribute[i]->has_type)
			return dlsi_node_fail(node, err, DLS_EFORMAT, "has the attribute '%s' without a type", name);
		attribute->name = dlsi_arena_strdup(&graph->arena, name);
		if (!attribute->name)
			return dlsi_fail_memory(err);
		if (proto->attribute[i]->type == ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR &&
			proto->attribute[i]->t)
			rc = read_tensor(graph, proto->attribute[i]->t, onnx, node, attribute, err);
		else if (!read_value(graph, proto->attribute[i], attribute))
			rc = dlsi_fail_memory(err);
		node->attribute_count++;
	}
	return rc;
}

/* Makes the value a constant of these elements: a scalar, or a vector. */
static int set_constant(struct dlsi_graph *graph, uint32_t value, enum dls_dtype dtype, const void *elements,
	size_t count, uint32_t rank, struct dls_error *err)
{
	struct dlsi_value *constant = &graph->values[value];

	constant->dtype = dtype;
	constant->rank = rank;
	constant->dims[0] = rank ? (int64_t)count : 0;
	constant->data = copy(graph, elements, count, dls_dtype_bytes(dtype));
	return constant->data ? 0 : dlsi_fail_memory(err);
}

int dlsi_constant_read(struct dlsi_graph *graph, const Onnx__NodeProto *proto, const struct dlsi_onnx *onnx,
	uint32_t value, struct dls_error *err)
{
	const Onnx__AttributeProto *attribute = proto->n_attribute == 1 ? proto->attribute[0] : NULL;
	const char *name = attribute && attribute->name ? attribute->name : "";
	char what[256];

	snprintf(what, sizeof what, "the constant '%s'", graph->values[value].name);
	if (strcmp(name, "value") == 0 && attribute->t)
		return dlsi_tensor_read(graph, attribute->t, onnx, what, value, err);
	if (strcmp(name, "value_float") == 0)
		return set_constant(graph, value, DLS_FLOAT32, &attribute->f, 1, 0, err);
	if (strcmp(name, "value_int") == 0)
		return set_constant(graph, value, DLS_INT64, &attribute->i, 1, 0, err);
	if (strcmp(name, "value_floats") == 0)
		return set_constant(graph, value, DLS_FLOAT32, attribute->floats, attribute->n_floats, 1, err);
	if (strcmp(name, "value_ints") == 0)
		return set_constant(graph, value, DLS_INT64, attribute->ints, attribute->n_ints, 1, err);
	return dlsi_fail(
		err, DLS_EUNSUPPORTED, "%s is neither a tensor nor numbers, and nothing else is supported", what);
}
