/* NonMaxSuppression: of boxes that overlap, the one with the highest score. */
#include "base/shape.h"
#include "graph/work.h"
#include "op/key.h"
#include "op/list.h"
#include <string.h>

#define V DLSI_OP_SINCE

enum { BOXES, SCORES, MOST, OVERLAP, LEAST_SCORE };
enum { SORT_STEPS = 64, OVERLAP_STEPS = 8 };

/* The optional inputs are one number each, of int64 or float32. */
static int check_limits(const struct dlsi_graph *graph, const struct dlsi_node *node, struct dls_error *err)
{
	for (uint32_t i = MOST; i <= LEAST_SCORE; i++) {
		const struct dlsi_value *limit = dlsi_node_input(graph, node, i);

		if (limit && (limit->dtype != (i == MOST ? DLS_INT64 : DLS_FLOAT32) || dlsi_value_count(limit) != 1))
			return dlsi_node_fail(node, err, DLS_EFORMAT, "takes '%s' %s as a limit", limit->name,
				dlsi_shape_text(limit->dtype, limit->rank, limit->dims).text);
	}
	return 0;
}

/* How many boxes of a class there can be. */
static int64_t most_of(const struct dlsi_value *limit, int64_t boxes)
{
	int64_t most = 0;

	if (limit && !limit->data)
		return boxes;
	if (limit)
		memcpy(&most, limit->data, sizeof most);
	return most < 0 ? 0 : most < boxes ? most : boxes;
}

static int infer_suppression(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *boxes = dlsi_node_input(graph, node, BOXES);
	const struct dlsi_value *scores = dlsi_node_input(graph, node, SCORES);
	int64_t dims[2] = {0, 3}, most;
	int rc = check_limits(graph, node, err);

	if (rc)
		return rc;
	if (boxes->dtype != DLS_FLOAT32 || scores->dtype != DLS_FLOAT32 || boxes->rank != 3 || scores->rank != 3 ||
		boxes->dims[2] != 4 || boxes->dims[0] != scores->dims[0] || boxes->dims[1] != scores->dims[2])
		return dlsi_node_fail(node, err, DLS_EFORMAT, "takes the boxes %s and the scores %s, which do not fit",
			dlsi_shape_text(boxes->dtype, boxes->rank, boxes->dims).text,
			dlsi_shape_text(scores->dtype, scores->rank, scores->dims).text);
	most = most_of(dlsi_node_input(graph, node, MOST), boxes->dims[1]);
	if (__builtin_mul_overflow(scores->dims[0] * scores->dims[1], most, &dims[0]))
		dims[0] = INT64_MAX; /* which is refused as too large */
	return dlsi_node_set_bounded(graph, node, 0, DLS_INT64, 2, dims, err);
}

static const char *suppression_mixes(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	(void)graph, (void)node;
	return "keeps so many boxes as there are, so that items differ in size";
}

/* Each box is sorted, and held against all that are kept. */
static double suppression_steps(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	const struct dlsi_value *scores = dlsi_node_input(graph, node, SCORES);
	double kept = (double)most_of(dlsi_node_input(graph, node, MOST), scores->dims[2]);

	return dlsi_value_extent(scores) * (SORT_STEPS + OVERLAP_STEPS * kept);
}

struct box {
	float top, left, bottom, right;
};

static struct box read_box(const float *numbers, bool centred)
{
	float height = numbers[3] / 2, width = numbers[2] / 2;

	if (centred)
		return (struct box){numbers[1] - height, numbers[0] - width, numbers[1] + height, numbers[0] + width};
	return (struct box){fminf(numbers[0], numbers[2]), fminf(numbers[1], numbers[3]), fmaxf(numbers[0], numbers[2]),
		fmaxf(numbers[1], numbers[3])};
}

static float area(const struct box *box)
{
	return (box->bottom - box->top) * (box->right - box->left);
}

/* Whether more than this part of their union is common to both. */
static bool overlap(const struct box *a, const struct box *b, float part)
{
	float height = fminf(a->bottom, b->bottom) - fmaxf(a->top, b->top);
	float width = fminf(a->right, b->right) - fmaxf(a->left, b->left);
	float common = height > 0 && width > 0 ? height * width : 0;

	return common > 0 && common / (area(a) + area(b) - common) > part;
}

struct suppression {
	const float *boxes;
	size_t count;
	size_t most;
	float part;
	float least;
	bool limited; /* only scores above `least` */
	bool centred;
	uint64_t *keys;
	struct dlsi_ranked *ranked;
	struct box *kept;
};

/* Writes the boxes of one class, as [item, class, box]; returns behind the last. */
static int64_t *select_boxes(
	const struct suppression *suppression, const float *scores, int64_t item, int64_t class, int64_t *to)
{
	size_t kept = 0;

	dlsi_keys(DLS_FLOAT32, scores, 1, suppression->count, suppression->keys);
	for (size_t i = 0; i < suppression->count; i++)
		suppression->keys[i] = ~suppression->keys[i];
	dlsi_keys_best(suppression->keys, suppression->count, suppression->ranked, suppression->count);
	for (size_t i = 0; i < suppression->count && kept < suppression->most; i++) {
		size_t index = suppression->ranked[i].index, k = 0;
		struct box box = read_box(suppression->boxes + 4 * index, suppression->centred);

		if (suppression->limited && !(scores[index] > suppression->least))
			continue;
		while (k < kept && !overlap(&box, &suppression->kept[k], suppression->part))
			k++;
		if (k < kept)
			continue;
		suppression->kept[kept++] = box;
		*to++ = item;
		*to++ = class;
		*to++ = (int64_t)index;
	}
	return to;
}

static const struct dlsi_view *limit(const struct dlsi_node *node, const struct dlsi_view *inputs, uint32_t i)
{
	return i < node->input_count && inputs[i].data ? &inputs[i] : NULL;
}

static int eval_suppression(const struct dlsi_node *node, const struct dlsi_view *inputs,
	const struct dlsi_view *outputs, const struct dlsi_alloc *alloc, struct dls_error *err)
{
	const struct dlsi_view *most = limit(node, inputs, MOST), *part = limit(node, inputs, OVERLAP);
	const struct dlsi_view *least = limit(node, inputs, LEAST_SCORE), *scores = &inputs[SCORES];
	size_t count = (size_t)scores->dims[2];
	int64_t wanted = most ? *(const int64_t *)most->data : 0, *to = outputs[0].data, dims[2] = {0, 3};
	struct suppression suppression = {
		.count = count,
		.most = wanted > 0 ? (size_t)wanted : 0,
		.part = part ? *(const float *)part->data : 0,
		.least = least ? *(const float *)least->data : 0,
		.limited = least != NULL,
		.centred = dlsi_node_int(node, "center_point_box", 0),
		.keys = dlsi_calloc(alloc, count + 1, sizeof(uint64_t)),
		.ranked = dlsi_calloc(alloc, count + 1, sizeof(struct dlsi_ranked)),
		.kept = dlsi_calloc(alloc, count + 1, sizeof(struct box)),
	};
	int rc = suppression.keys && suppression.ranked && suppression.kept ? 0 : dlsi_fail_memory(err);

	for (int64_t i = 0; rc == 0 && i < scores->dims[0] * scores->dims[1]; i++) {
		int64_t item = i / scores->dims[1];

		suppression.boxes = (const float *)inputs[BOXES].data + 4 * count * (size_t)item;
		to = select_boxes(
			&suppression, (const float *)scores->data + count * (size_t)i, item, i % scores->dims[1], to);
	}
	dims[0] = rc ? 0 : (to - (int64_t *)outputs[0].data) / 3;
	dlsi_view_tell(&outputs[0], dims);
	dlsi_free(alloc, suppression.keys);
	dlsi_free(alloc, suppression.ranked);
	dlsi_free(alloc, suppression.kept);
	return rc;
}

static const struct dlsi_op_attribute suppression_attributes[] = {{"center_point_box", DLSI_ATTRIBUTE_INT}, {0}};

const struct dlsi_op dlsi_op_non_max_suppression = {
	.name = "NonMaxSuppression",
	DLSI_OP_ALL(V(10) | V(11)),
	.inputs_least = 2,
	.inputs_most = 5,
	.outputs_most = 1,
	.attributes = suppression_attributes,
	.infer = infer_suppression,
	.mixes = suppression_mixes,
	.eval = eval_suppression,
	.steps = suppression_steps,
};
