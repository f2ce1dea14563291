/* Normalisation by given statistics (BatchNormalization), and by those of elements that lie in one piece: layers,
 * groups of channels, single channels. */
#include "base/shape.h"
#include "op/element.h"
#include "op/list.h"
#include "op/walk.h"

#define V DLSI_OP_SINCE

/* The inputs behind the first one have an element for each of so many channels (or groups). */
static int infer_channels(struct dlsi_graph *graph, struct dlsi_node *node, int64_t channels, struct dls_error *err)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0);

	if (input->rank < 2)
		return dlsi_node_fail(node, err, DLS_EFORMAT, "takes %s, which has no channels",
			dlsi_shape_text(input->dtype, input->rank, input->dims).text);
	for (uint32_t i = 1; i < node->input_count; i++) {
		const struct dlsi_value *given = dlsi_node_input(graph, node, i);

		if (given->rank != 1 || given->dims[0] != channels)
			return dlsi_node_fail(node, err, DLS_EFORMAT, "takes '%s' %s for %lld channels", given->name,
				dlsi_shape_text(given->dtype, given->rank, given->dims).text, (long long)channels);
	}
	node->epsilon = dlsi_node_float(node, "epsilon", 1e-5F);
	return dlsi_op_infer_same(graph, node, err);
}

static int infer_batch_normalization(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0);

	if (dlsi_node_int(node, "training_mode", 0) || !dlsi_node_int(node, "spatial", 1))
		return dlsi_node_fail(node, err, DLS_EUNSUPPORTED,
			"is in training mode or not spatial; export the model for inference");
	return infer_channels(graph, node, input->rank > 1 ? input->dims[1] : 0, err);
}

/* How many elements lie behind each index of the first `axis` dimensions. */
static int64_t piece(const struct dlsi_view *view, uint32_t axis)
{
	int64_t count = 1;

	for (uint32_t i = axis; i < view->rank; i++)
		count *= view->dims[i];
	return count;
}

#define BATCH_NORMALIZATION(dtype, type, ...)                                                                          \
	case dtype:                                                                                                    \
		for (int64_t row = 0; row < rows; row++) {                                                             \
			const type *from = (const type *)inputs[0].data + row * length;                                \
			int64_t c = row % inputs[0].dims[1];                                                           \
			double variance = (double)((const type *)inputs[4].data)[c] + (double)node->epsilon;           \
			double factor = (double)((const type *)inputs[1].data)[c] / sqrt(variance);                    \
			double mean = (double)((const type *)inputs[3].data)[c];                                       \
			type scale = (type)factor;                                                                     \
			type shift = (type)((double)((const type *)inputs[2].data)[c] - mean * factor);                \
			type *to = (type *)outputs[0].data + row * length;                                             \
                                                                                                                       \
			for (int64_t i = 0; i < length; i++)                                                           \
				to[i] = from[i] * scale + shift;                                                       \
		}                                                                                                      \
		break;

static int eval_batch_normalization(const struct dlsi_node *node, const struct dlsi_view *inputs,
	const struct dlsi_view *outputs, const struct dlsi_alloc *alloc, struct dls_error *err)
{
	int64_t rows = inputs[0].dims[0] * inputs[0].dims[1], length = piece(&inputs[0], 2);

	(void)alloc, (void)err;
	switch (inputs[0].dtype) {
		DLSI_FLOATS(BATCH_NORMALIZATION, 0)
	default:
		break;
	}
	return 0;
}

/* ---- by their own statistics */

/* `rows` pieces of `length` elements, which get a mean of 0 (unless it is `rms`) and a mean square of 1. */
struct pieces {
	int64_t rows, length;
	bool rms;
	float epsilon;
	float *means, *inverses; /* of each row, or NULL */
};

#define STANDARDISE(dtype, type, ...)                                                                                  \
	case dtype:                                                                                                    \
		for (int64_t row = 0; row < pieces->rows; row++) {                                                     \
			const type *from = (const type *)input->data + row * pieces->length;                           \
			type *to = (type *)output->data + row * pieces->length;                                        \
			double sum = 0, squares = 0, mean, inverse;                                                    \
                                                                                                                       \
			for (int64_t i = 0; !pieces->rms && i < pieces->length; i++)                                   \
				sum += (double)from[i];                                                                \
			mean = sum / (double)pieces->length;                                                           \
			for (int64_t i = 0; i < pieces->length; i++)                                                   \
				squares += ((double)from[i] - mean) * ((double)from[i] - mean);                        \
			inverse = 1 / sqrt(squares / (double)pieces->length + (double)pieces->epsilon);                \
			for (int64_t i = 0; i < pieces->length; i++)                                                   \
				to[i] = (type)(((double)from[i] - mean) * inverse);                                    \
			if (pieces->means)                                                                             \
				pieces->means[row] = (float)mean;                                                      \
			if (pieces->inverses)                                                                          \
				pieces->inverses[row] = (float)inverse;                                                \
		}                                                                                                      \
		break;

static void standardise(const struct pieces *pieces, const struct dlsi_view *input, const struct dlsi_view *output)
{
	switch (input->dtype) {
		DLSI_FLOATS(STANDARDISE, 0)
	default:
		break;
	}
}

#define SCALE(dtype, type, ...)                                                                                        \
	case dtype:                                                                                                    \
		for (bool more = dlsi_walk_begin(&walk); more; more = dlsi_walk_next(&walk)) {                         \
			type *to = (type *)output->data + walk.offsets[0];                                             \
			const type *scales = (const type *)scale->data + walk.offsets[1];                              \
			const type *shifts = (const type *)shift->data + walk.offsets[2];                              \
			const int64_t length = walk.count, scale_step = walk.steps[1], shift_step = walk.steps[2];     \
                                                                                                                       \
			for (int64_t i = 0; i < length; i++)                                                           \
				to[i] = to[i] * scales[i * scale_step] + shifts[i * shift_step];                       \
		}                                                                                                      \
		break;

/* output = output * scale + shift, which are broadcast to it; a `shift` without elements is 0. */
static void scale(const struct dlsi_view *output, const struct dlsi_view *scale, const struct dlsi_view *shift)
{
	static const double zero;
	const struct dlsi_view none = {.dtype = output->dtype, .data = (void *)&zero};
	struct dlsi_walk walk;

	shift = shift && shift->data ? shift : &none;
	dlsi_walk_broadcast(&walk, output, (const struct dlsi_view *[]){scale, shift}, 2);
	switch (output->dtype) {
		DLSI_FLOATS(SCALE, 0)
	default:
		break;
	}
}

/* ---- layers: everything from an axis on */

static int infer_layer(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0);
	int64_t dims[DLS_TENSOR_RANK];
	uint32_t axis;
	int rc = dlsi_node_axis(node, -1, input->rank, &axis, err);

	if (rc == 0 && dlsi_node_int(node, "stash_type", 1) != 1)
		rc = dlsi_node_fail(node, err, DLS_EUNSUPPORTED, "asks for statistics of another type than float32");
	if (rc == 0)
		rc = dlsi_op_infer_broadcast(graph, node, err);
	if (rc)
		return rc;
	if (!dlsi_value_same_shape(dlsi_node_output(graph, node), input))
		return dlsi_node_fail(node, err, DLS_EFORMAT, "has scales that do not fit its input %s",
			dlsi_shape_text(input->dtype, input->rank, input->dims).text);
	for (uint32_t i = 0; i < input->rank; i++)
		dims[i] = i < axis ? input->dims[i] : 1;
	rc = dlsi_node_set_output_at(graph, node, 1, DLS_FLOAT32, input->rank, dims, err);
	return rc ? rc : dlsi_node_set_output_at(graph, node, 2, DLS_FLOAT32, input->rank, dims, err);
}

static const char *layer_mixes(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	int64_t axis = dlsi_node_int(node, "axis", -1);

	return axis == 0 || axis == -(int64_t)dlsi_node_input(graph, node, 0)->rank
		       ? "normalises over axis 0, the batch"
		       : dlsi_op_mixes_elements(graph, node);
}

static int normalise_layer(
	const struct dlsi_node *node, const struct dlsi_view *inputs, const struct dlsi_view *outputs, bool rms)
{
	int64_t axis = dlsi_node_int(node, "axis", -1);
	struct pieces pieces = {.rms = rms, .epsilon = dlsi_node_float(node, "epsilon", 1e-5F)};

	pieces.length = piece(&inputs[0], (uint32_t)(axis < 0 ? axis + inputs[0].rank : axis));
	pieces.rows = pieces.length ? (int64_t)dlsi_view_count(&inputs[0]) / pieces.length : 0;
	pieces.means = node->output_count > 1 ? outputs[1].data : NULL;
	pieces.inverses = node->output_count > 2 ? outputs[2].data : NULL;
	standardise(&pieces, &inputs[0], &outputs[0]);
	scale(&outputs[0], &inputs[1], node->input_count > 2 ? &inputs[2] : NULL);
	return 0;
}

static int eval_layer_normalization(const struct dlsi_node *node, const struct dlsi_view *inputs,
	const struct dlsi_view *outputs, const struct dlsi_alloc *alloc, struct dls_error *err)
{
	(void)alloc, (void)err;
	return normalise_layer(node, inputs, outputs, false);
}

static int eval_rms_normalization(const struct dlsi_node *node, const struct dlsi_view *inputs,
	const struct dlsi_view *outputs, const struct dlsi_alloc *alloc, struct dls_error *err)
{
	(void)alloc, (void)err;
	return normalise_layer(node, inputs, outputs, true);
}

/* ---- channels and groups of channels */

static int infer_instance(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0);

	return infer_channels(graph, node, input->rank > 1 ? input->dims[1] : 0, err);
}

/* Before operator set 21 there is a scale for each group, then one for each channel. */
static int infer_group(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, 0);
	int64_t channels = input->rank > 1 ? input->dims[1] : 0, groups = dlsi_node_int(node, "num_groups", 0);

	if (groups < 1 || channels % groups)
		return dlsi_node_fail(node, err, DLS_EFORMAT, "divides %lld channels into %lld groups",
			(long long)channels, (long long)groups);
	return infer_channels(graph, node, node->version < 21 ? groups : channels, err);
}

/* In so many groups per item; there are as many scales and shifts. */
static void normalise_groups(
	const struct dlsi_node *node, const struct dlsi_view *inputs, const struct dlsi_view *outputs, int64_t groups)
{
	int64_t scales = inputs[1].dims[0], count = (int64_t)dlsi_view_count(&inputs[0]), items = inputs[0].dims[0];
	struct pieces pieces = {.rows = items * groups, .epsilon = node->epsilon};
	struct dlsi_view output = outputs[0], given[2] = {inputs[1], inputs[2]};

	if (count == 0)
		return;
	pieces.length = count / pieces.rows;
	standardise(&pieces, &inputs[0], &outputs[0]);
	output.rank = 3;
	output.dims[0] = items;
	output.dims[1] = scales;
	output.dims[2] = count / items / scales;
	given[0].rank = given[1].rank = 2;
	given[0].dims[1] = given[1].dims[1] = 1;
	scale(&output, &given[0], &given[1]);
}

static int eval_instance_normalization(const struct dlsi_node *node, const struct dlsi_view *inputs,
	const struct dlsi_view *outputs, const struct dlsi_alloc *alloc, struct dls_error *err)
{
	(void)alloc, (void)err;
	normalise_groups(node, inputs, outputs, inputs[0].dims[1]);
	return 0;
}

static int eval_group_normalization(const struct dlsi_node *node, const struct dlsi_view *inputs,
	const struct dlsi_view *outputs, const struct dlsi_alloc *alloc, struct dls_error *err)
{
	(void)alloc, (void)err;
	normalise_groups(node, inputs, outputs, dlsi_node_int(node, "num_groups", 1));
	return 0;
}

/* ---- rows of the table */

static const struct dlsi_op_attribute layer[] = {
	{"axis", DLSI_ATTRIBUTE_INT}, {"epsilon", DLSI_ATTRIBUTE_FLOAT}, {"stash_type", DLSI_ATTRIBUTE_INT}, {0}};
static const struct dlsi_op_attribute group[] = {
	{"epsilon", DLSI_ATTRIBUTE_FLOAT}, {"num_groups", DLSI_ATTRIBUTE_INT}, {"stash_type", DLSI_ATTRIBUTE_INT}, {0}};
static const struct dlsi_op_attribute instance[] = {{"epsilon", DLSI_ATTRIBUTE_FLOAT}, {0}};
static const struct dlsi_op_attribute normalization[] = {{"epsilon", DLSI_ATTRIBUTE_FLOAT},
	{"momentum", DLSI_ATTRIBUTE_FLOAT}, {"spatial", DLSI_ATTRIBUTE_INT}, {"training_mode", DLSI_ATTRIBUTE_INT},
	{0}};

const struct dlsi_op dlsi_op_batch_normalization = {
	.name = "BatchNormalization",
	DLSI_OP_ALL(V(1) | V(6) | V(7) | V(9) | V(14) | V(15)),
	.inputs_least = 5,
	.inputs_most = 5,
	.outputs_most = 5,
	.attributes = normalization,
	.types = DLSI_TYPES(DLSI_FLOATS),
	.infer = infer_batch_normalization,
	.mixes = dlsi_op_mixes_weights,
	.eval = eval_batch_normalization,
};

const struct dlsi_op dlsi_op_group_normalization = {
	.name = "GroupNormalization",
	DLSI_OP_ALL(V(18) | V(21)),
	.inputs_least = 3,
	.inputs_most = 3,
	.outputs_most = 1,
	.attributes = group,
	.types = DLSI_TYPES(DLSI_FLOATS),
	.infer = infer_group,
	.mixes = dlsi_op_mixes_weights,
	.eval = eval_group_normalization,
};

const struct dlsi_op dlsi_op_instance_normalization = {
	.name = "InstanceNormalization",
	DLSI_OP_ALL(V(1) | V(6) | V(22)),
	.inputs_least = 3,
	.inputs_most = 3,
	.outputs_most = 1,
	.attributes = instance,
	.types = DLSI_TYPES(DLSI_FLOATS),
	.infer = infer_instance,
	.mixes = dlsi_op_mixes_weights,
	.eval = eval_instance_normalization,
};

const struct dlsi_op dlsi_op_layer_normalization = {
	.name = "LayerNormalization",
	DLSI_OP_ALL(V(17)),
	.inputs_least = 2,
	.inputs_most = 3,
	.outputs_most = 3,
	.attributes = layer,
	.types = DLSI_TYPES(DLSI_FLOATS),
	.infer = infer_layer,
	.mixes = layer_mixes,
	.eval = eval_layer_normalization,
};

const struct dlsi_op dlsi_op_rms_normalization = {
	.name = "RMSNormalization",
	DLSI_OP_ALL(V(23)),
	.inputs_least = 2,
	.inputs_most = 2,
	.outputs_most = 1,
	.attributes = layer,
	.types = DLSI_TYPES(DLSI_FLOATS),
	.infer = infer_layer,
	.mixes = layer_mixes,
	.eval = eval_rms_normalization,
};
