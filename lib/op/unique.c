/* Unique: each element, or each slice along an axis, once. */
#include "base/shape.h"
#include "graph/work.h"
#include "op/key.h"
#include "op/list.h"
#include <string.h>

#define V DLSI_OP_SINCE

enum { UNIQUE, FIRST, INVERSE, COUNTS };

static bool is_flat(const struct dlsi_node *node)
{
	return !dlsi_node_attribute(node, "axis");
}

static int infer_unique(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0);
	int64_t dims[DLS_TENSOR_RANK], length;
	uint32_t rank = input->rank;
	int rc = is_flat(node) ? 0 : dlsi_node_axis(node, 0, input->rank, &node->axis, err);

	if (rc)
		return rc;
	memcpy(dims, input->dims, sizeof dims);
	if (is_flat(node)) {
		node->axis = 0;
		rank = 1;
		dims[0] = (int64_t)dlsi_value_count(input);
	}
	length = dims[node->axis];
	rc = dlsi_node_set_output_at(graph, node, INVERSE, DLS_INT64, 1, &length, err);
	for (uint32_t i = FIRST; rc == 0 && i <= COUNTS; i += COUNTS - FIRST)
		rc = dlsi_node_set_bounded(graph, node, i, DLS_INT64, 1, &length, err);
	return rc ? rc : dlsi_node_set_bounded(graph, node, UNIQUE, input->dtype, rank, dims, err);
}

static const char *unique_mixes(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	(void)graph, (void)node;
	return "keeps so many elements as there are, so that items differ in size";
}

/* Items to be told apart, each `width` keys. */
struct items {
	uint64_t *keys;
	size_t count, width;
	size_t *order; /* sorted; of equal ones the first comes first */
	size_t *spare;
	size_t *groups; /* where in `order` each group of equal ones begins, and behind them `count` */
	size_t group_count;
};

static int compare(const struct items *items, size_t a, size_t b)
{
	const uint64_t *x = items->keys + a * items->width, *y = items->keys + b * items->width;

	for (size_t i = 0; i < items->width; i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	return 0;
}

/* Merges runs of `length` in `order` into runs twice as long. */
static void merge(struct items *items, size_t length)
{
	size_t *sorted = items->order, *to = items->spare;

	for (size_t first = 0; first < items->count; first += 2 * length) {
		size_t middle = first + length < items->count ? first + length : items->count;
		size_t end = middle + length < items->count ? middle + length : items->count;
		size_t a = first, b = middle;

		while (a < middle || b < end) {
			bool left = b == end || (a < middle && compare(items, sorted[a], sorted[b]) <= 0);

			*to++ = sorted[left ? a++ : b++];
		}
	}
	items->order = items->spare;
	items->spare = sorted;
}

/* Sorts and divides into groups. */
static void group(struct items *items)
{
	for (size_t i = 0; i < items->count; i++)
		items->order[i] = i;
	for (size_t length = 1; length < items->count; length *= 2)
		merge(items, length);
	for (size_t i = 0; i < items->count; i++)
		if (i == 0 || compare(items, items->order[i - 1], items->order[i]) != 0)
			items->groups[items->group_count++] = i;
	items->groups[items->group_count] = items->count;
}

/* In which place of the output each group comes: as they are sorted, or as their first ones come. */
static void rank_groups(const struct items *items, bool sorted, uint64_t *firsts, struct dlsi_ranked *ranked)
{
	for (size_t i = 0; i < items->group_count; i++)
		firsts[i] = sorted ? i : items->order[items->groups[i]];
	dlsi_keys_best(firsts, items->group_count, ranked, items->group_count);
}

/* What lies before, on and behind the axis. */
struct lanes {
	size_t outer, count, inner;
};

static struct lanes lanes_of(const struct dlsi_node *node, const struct dlsi_view *input)
{
	struct lanes lanes = {1, 1, 1};

	for (uint32_t i = 0; i < input->rank; i++)
		*(is_flat(node) || i == node->axis ? &lanes.count
			: i < node->axis           ? &lanes.outer
						   : &lanes.inner) *= (size_t)input->dims[i];
	return lanes;
}

static void write_group(
	const struct items *items, const struct dlsi_view *outputs, uint32_t output_count, size_t group, size_t place)
{
	size_t begin = items->groups[group], end = items->groups[group + 1];

	if (output_count > FIRST && outputs[FIRST].data)
		((int64_t *)outputs[FIRST].data)[place] = (int64_t)items->order[begin];
	if (output_count > COUNTS && outputs[COUNTS].data)
		((int64_t *)outputs[COUNTS].data)[place] = (int64_t)(end - begin);
	for (size_t i = begin; output_count > INVERSE && outputs[INVERSE].data && i < end; i++)
		((int64_t *)outputs[INVERSE].data)[items->order[i]] = (int64_t)place;
}

static void write_all(const struct dlsi_node *node, const struct items *items, const struct dlsi_ranked *ranked,
	const struct dlsi_view *input, const struct dlsi_view *outputs)
{
	struct lanes lanes = lanes_of(node, input);
	size_t bytes = dls_dtype_bytes(input->dtype) * lanes.inner, count = items->group_count;
	int64_t dims[DLS_TENSOR_RANK], length = (int64_t)count, whole = (int64_t)lanes.count;

	for (size_t place = 0; place < count; place++) {
		size_t item = items->order[items->groups[ranked[place].index]];

		write_group(items, outputs, node->output_count, ranked[place].index, place);
		for (size_t i = 0; bytes && i < lanes.outer; i++)
			memcpy((uint8_t *)outputs[UNIQUE].data + (i * count + place) * bytes,
				(const uint8_t *)input->data + (i * lanes.count + item) * bytes, bytes);
	}
	memcpy(dims, outputs[UNIQUE].dims, sizeof dims);
	dims[node->axis] = length;
	dlsi_view_tell(&outputs[UNIQUE], dims);
	for (uint32_t i = FIRST; i < node->output_count; i++)
		dlsi_view_tell(&outputs[i], i == INVERSE ? &whole : &length);
}

static int eval_unique(const struct dlsi_node *node, const struct dlsi_view *inputs, const struct dlsi_view *outputs,
	const struct dlsi_alloc *alloc, struct dls_error *err)
{
	struct lanes lanes = lanes_of(node, &inputs[0]);
	struct items items = {.count = lanes.count, .width = lanes.outer * lanes.inner};
	size_t *block = dlsi_calloc(alloc, 3 * items.count + 1, sizeof *block);
	uint64_t *firsts = dlsi_calloc(alloc, items.count + 1, sizeof *firsts);
	struct dlsi_ranked *ranked = dlsi_calloc(alloc, items.count + 1, sizeof *ranked);
	int rc = 0;

	items.keys = dlsi_calloc(alloc, items.count * items.width + 1, sizeof *items.keys);
	if (!block || !firsts || !ranked || !items.keys) {
		rc = dlsi_fail_memory(err);
		goto out;
	}
	items.order = block;
	items.spare = block + items.count;
	items.groups = block + 2 * items.count;
	for (size_t i = 0; i < items.count; i++)
		for (size_t k = 0; items.width && k < lanes.outer; k++)
			dlsi_keys(inputs[0].dtype,
				(const uint8_t *)inputs[0].data +
					(k * lanes.count + i) * lanes.inner * dls_dtype_bytes(inputs[0].dtype),
				1, lanes.inner, items.keys + i * items.width + k * lanes.inner);
	group(&items);
	rank_groups(&items, dlsi_node_int(node, "sorted", 1), firsts, ranked);
	write_all(node, &items, ranked, &inputs[0], outputs);
out:
	dlsi_free(alloc, block);
	dlsi_free(alloc, firsts);
	dlsi_free(alloc, ranked);
	dlsi_free(alloc, items.keys);
	return rc;
}

static const struct dlsi_op_attribute unique_attributes[] = {
	{"axis", DLSI_ATTRIBUTE_INT}, {"sorted", DLSI_ATTRIBUTE_INT}, {0}};

const struct dlsi_op dlsi_op_unique = {
	.name = "Unique",
	DLSI_OP_ALL(V(11) | V(28)),
	.inputs_least = 1,
	.inputs_most = 1,
	.outputs_most = 4,
	.attributes = unique_attributes,
	.infer = infer_unique,
	.mixes = unique_mixes,
	.eval = eval_unique,
	.steps = dlsi_op_steps_sort,
};
