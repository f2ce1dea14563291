/* Einsum: sums of products of elements; an equation gives each dimension a label, and what has the same one goes
 * together. */
#include "op/element.h"
#include "op/list.h"
#include "op/walk.h"
#include <ctype.h>
#include <string.h>

#define V DLSI_OP_SINCE

enum {
	INPUTS_MOST = DLSI_WALK_OPERANDS - 1,
	EQUATION_MOST = 127, /* characters */
	ELLIPSIS = 256 /* and above it: the labels of dimensions that "..." stands for, counted from the last one */
};

/* The labels of a tensor's dimensions; while it is read, ELLIPSIS is that of a whole "...". */
struct term {
	int labels[DLS_TENSOR_RANK + 1];
	uint32_t count;
};

/* What is to be done: walk over all labels, first those of the output. */
struct sum {
	struct term terms[DLSI_WALK_OPERANDS]; /* the output's and the inputs' */
	struct term all;
	int64_t dims[DLS_TENSOR_RANK]; /* of `all` */
};

static uint32_t find(const struct term *term, int label)
{
	uint32_t i = 0;

	while (i < term->count && term->labels[i] != label)
		i++;
	return i;
}

/* Reads `length` characters. False if they are no term. */
static bool read_term(const char *text, size_t length, struct term *term)
{
	term->count = 0;
	for (size_t i = 0; i < length; i++) {
		bool dots = length - i >= 3 && memcmp(&text[i], "...", 3) == 0;

		if (term->count > DLS_TENSOR_RANK || (!dots && !isalpha((unsigned char)text[i])) ||
			(dots && find(term, ELLIPSIS) < term->count))
			return false;
		term->labels[term->count++] = dots ? ELLIPSIS : text[i];
		i += dots ? 2 : 0;
	}
	return true;
}

/* Puts so many labels in the place of the ellipsis. False if these are more dimensions than there are. */
static bool expand(struct term *term, uint32_t dimensions)
{
	struct term old = *term;
	uint32_t place = find(&old, ELLIPSIS);

	if (place == old.count)
		return old.count <= DLS_TENSOR_RANK;
	if (old.count - 1 + dimensions > DLS_TENSOR_RANK)
		return false;
	term->count = old.count - 1 + dimensions;
	for (uint32_t i = 0; i < dimensions; i++)
		term->labels[place + i] = ELLIPSIS + (int)(dimensions - 1 - i);
	for (uint32_t i = place + 1; i < old.count; i++)
		term->labels[i - 1 + dimensions] = old.labels[i];
	return true;
}

/* Without "->": the dimensions of the ellipsis, then the letters that occur once, in their order. */
static bool imply_output(struct sum *sum, uint32_t inputs, uint32_t dimensions)
{
	struct term *output = &sum->terms[0];

	output->count = 0;
	for (uint32_t i = dimensions; i-- > 0;)
		output->labels[output->count++] = ELLIPSIS + (int)i;
	for (int letter = 'A'; letter <= 'z'; letter++) {
		uint32_t seen = 0;

		for (uint32_t i = 1; i <= inputs; i++)
			for (uint32_t k = 0; k < sum->terms[i].count; k++)
				seen += sum->terms[i].labels[k] == letter;
		if (seen == 1 && output->count == DLS_TENSOR_RANK)
			return false;
		if (seen == 1)
			output->labels[output->count++] = letter;
	}
	return true;
}

/* The labels with their dimensions, those of the output first. A dimension of 1 is repeated. */
static bool gather_labels(struct sum *sum, uint32_t inputs, const struct dlsi_view *views)
{
	sum->all = sum->terms[0];
	for (uint32_t k = 0; k < sum->all.count; k++) {
		sum->dims[k] = -1;
		if (find(&sum->all, sum->all.labels[k]) != k)
			return false;
	}
	for (uint32_t i = 1; i <= inputs; i++)
		for (uint32_t k = 0; k < sum->terms[i].count; k++) {
			int64_t dim = views[i - 1].dims[k];
			uint32_t place = find(&sum->all, sum->terms[i].labels[k]);

			if (place == DLS_TENSOR_RANK)
				return false;
			if (place == sum->all.count) {
				sum->all.labels[sum->all.count++] = sum->terms[i].labels[k];
				sum->dims[place] = -1;
			}
			if (sum->dims[place] == -1 || sum->dims[place] == 1)
				sum->dims[place] = dim;
			else if (dim != sum->dims[place] && dim != 1)
				return false;
		}
	for (uint32_t k = 0; k < sum->terms[0].count; k++)
		if (sum->dims[k] == -1)
			return false;
	return true;
}

/* The equation without its blanks. */
static bool squeeze(const char *from, char text_out[EQUATION_MOST + 1])
{
	size_t length = 0;

	for (; *from; from++) {
		if (*from == ' ')
			continue;
		if (length == EQUATION_MOST)
			return false;
		text_out[length++] = *from;
	}
	text_out[length] = 0;
	return true;
}

/* The terms between commas; *dimensions_out is the most that an ellipsis stands for. */
static bool read_inputs(
	const char *text, uint32_t inputs, const struct dlsi_view *views, struct sum *sum, uint32_t *dimensions_out)
{
	*dimensions_out = 0;
	for (uint32_t i = 0; i < inputs; i++) {
		struct term *term = &sum->terms[1 + i];
		size_t length = strcspn(text, ",");
		uint32_t dimensions;

		if (!read_term(text, length, term) || term->count > views[i].rank + 1)
			return false;
		dimensions = views[i].rank + 1 - term->count;
		if (find(term, ELLIPSIS) < term->count && dimensions > *dimensions_out)
			*dimensions_out = dimensions;
		if (!expand(term, dimensions) || term->count != views[i].rank)
			return false;
		text += length;
		if ((*text == ',') != (i + 1 < inputs))
			return false;
		text += *text == ',';
	}
	return true;
}

/* Reads the equation for inputs of these shapes; false if it is none, or does not fit them. */
static bool read_equation(const struct dlsi_node *node, const struct dlsi_view *views, struct sum *sum)
{
	char text[EQUATION_MOST + 1], *arrow;
	uint32_t dimensions;
	bool fits = squeeze(dlsi_node_string(node, "equation", ""), text);

	arrow = fits ? strstr(text, "->") : NULL;
	if (arrow)
		*arrow = 0;
	fits = fits && read_inputs(text, node->input_count, views, sum, &dimensions);
	if (fits && arrow)
		fits = read_term(arrow + 2, strlen(arrow + 2), &sum->terms[0]) && expand(&sum->terms[0], dimensions);
	else if (fits)
		fits = imply_output(sum, node->input_count, dimensions);
	return fits && gather_labels(sum, node->input_count, views);
}

/* The inputs' shapes as views, which have no elements. */
static bool describe(const struct dlsi_graph *graph, const struct dlsi_node *node, struct dlsi_view *views)
{
	for (uint32_t i = 0; i < node->input_count; i++) {
		const struct dlsi_value *input = dlsi_node_input(graph, node, i);

		if (!input)
			return false;
		views[i] = (struct dlsi_view){.dtype = input->dtype, .rank = input->rank};
		memcpy(views[i].dims, input->dims, sizeof views[i].dims);
	}
	return true;
}

static int infer_einsum(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	struct dlsi_view views[INPUTS_MOST];
	struct sum sum;

	if (node->input_count > INPUTS_MOST)
		return dlsi_node_fail(node, err, DLS_EUNSUPPORTED, "combines %u inputs; %d are the most",
			node->input_count, INPUTS_MOST);
	if (!describe(graph, node, views) || !read_equation(node, views, &sum))
		return dlsi_node_fail(node, err, DLS_EUNSUPPORTED,
			"has the equation '%.100s', which does not fit its inputs or has more than %d letters",
			dlsi_node_string(node, "equation", ""), DLS_TENSOR_RANK);
	return dlsi_node_set_output(graph, node, views[0].dtype, sum.terms[0].count, sum.dims, err);
}

/* The batch is one letter: the first of the output and of each input that has rows, and of no other place. */
static const char *eintargetmixes(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	struct dlsi_view views[INPUTS_MOST];
	struct sum sum;

	if (!describe(graph, node, views) || !read_equation(node, views, &sum) || !sum.terms[0].count)
		return "sums over the batch";
	for (uint32_t i = 0; i < node->input_count; i++) {
		const struct term *term = &sum.terms[1 + i];
		bool batched = dlsi_node_input(graph, node, i)->batched;

		for (uint32_t k = 0; k < term->count; k++)
			if ((term->labels[k] == sum.terms[0].labels[0]) != (batched && k == 0))
				return "combines rows of different items";
	}
	return NULL;
}

static double einsum_steps(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	struct dlsi_view views[INPUTS_MOST];
	double steps = node->input_count;
	struct sum sum;

	if (!describe(graph, node, views) || !read_equation(node, views, &sum))
		return 0; /* which its inference refuses */
	for (uint32_t i = 0; i < sum.all.count; i++)
		steps *= sum.dims[i] ? (double)sum.dims[i] : 1;
	return steps;
}

/* ---- evaluation */

/* Steps of an operand when a label goes on by one; of dimensions with the same label, all go on. */
static void label_strides(
	const struct sum *sum, const struct term *term, const struct dlsi_view *view, int64_t *strides_out)
{
	int64_t strides[DLS_TENSOR_RANK];

	dlsi_strides(view->rank, view->dims, strides);
	for (uint32_t k = 0; k < sum->all.count; k++)
		strides_out[k] = 0;
	for (uint32_t i = 0; i < term->count; i++) {
		uint32_t place = find(&sum->all, term->labels[i]);

		if (view->dims[i] == sum->dims[place])
			strides_out[place] += strides[i];
	}
}

/* The output's elements are gathered one after another where the last label is summed over. */
#define CASE(dtype, element, ...)                                                                                      \
	case dtype: {                                                                                                  \
		typedef element type;                                                                                  \
		type *to = outputs[0].data;                                                                            \
                                                                                                                       \
		for (bool more = dlsi_walk_begin(&walk); more; more = dlsi_walk_next(&walk))                           \
			for (int64_t i = 0; i < walk.count; i++) {                                                     \
				type *target = to + walk.offsets[0] + i * walk.steps[0], product = 1;                  \
                                                                                                                       \
				for (uint32_t k = 0; k < node->input_count; k++) {                                     \
					const type x = ((const type *)inputs[k]                                        \
								.data)[walk.offsets[1 + k] + i * walk.steps[1 + k]];   \
                                                                                                                       \
					product = (type)DLSI_PRODUCT(product, x);                                      \
				}                                                                                      \
				*target = (type)DLSI_SUM(*target, product);                                            \
			}                                                                                              \
		break;                                                                                                 \
	}

static int eval_einsum(const struct dlsi_node *node, const struct dlsi_view *inputs, const struct dlsi_view *outputs,
	const struct dlsi_alloc *alloc, struct dls_error *err)
{
	struct dlsi_walk walk = {.operands = 1 + node->input_count};
	struct sum sum;

	(void)alloc;
	if (!read_equation(node, inputs, &sum))
		return dlsi_node_fail(node, err, DLS_EFORMAT, "has an equation that does not fit its inputs");
	walk.rank = sum.all.count;
	memcpy(walk.dims, sum.dims, sizeof walk.dims);
	label_strides(&sum, &sum.terms[0], &outputs[0], walk.strides[0]);
	for (uint32_t i = 0; i < node->input_count; i++)
		label_strides(&sum, &sum.terms[1 + i], &inputs[i], walk.strides[1 + i]);
	memset(outputs[0].data, 0, dlsi_view_bytes(&outputs[0]));
	switch (outputs[0].dtype) {
		DLSI_NUMBERS(CASE, 0)
	default:
		break;
	}
	return 0;
}

static const struct dlsi_op_attribute equation[] = {{"equation", DLSI_ATTRIBUTE_STRING}, {0}};

const struct dlsi_op dlsi_op_einsum = {
	.name = "Einsum",
	DLSI_OP_ALL(V(12) | V(28)),
	.inputs_least = 1,
	.inputs_most = DLSI_OP_ANY_NUMBER,
	.outputs_most = 1,
	.attributes = equation,
	.types = DLSI_TYPES(DLSI_NUMBERS),
	.infer = infer_einsum,
	.mixes = eintargetmixes,
	.eval = eval_einsum,
	.steps = einsum_steps,
};
