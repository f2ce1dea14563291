/* Recurrent networks: RNN, GRU and LSTM. They are computed in double, sequence after sequence. */
#include "base/shape.h"
#include "graph/work.h"
#include "op/cast.h"
#include "op/list.h"
#include <string.h>
#include <strings.h>

#define V DLSI_OP_SINCE

enum { INPUT, WEIGHTS, RECURRENCE, BIAS, LENGTHS, HIDDEN, CELL, PEEPHOLES, ACTIVATIONS_MOST = 3 };
enum { GATE_STEPS = 32 };

/* ---- activations */

struct activation {
	double (*apply)(double x, double alpha, double beta);
	double alpha, beta;
};

static double affine(double x, double alpha, double beta)
{
	return alpha * x + beta;
}

static double elu(double x, double alpha, double beta)
{
	(void)beta;
	return x >= 0 ? x : alpha * expm1(x);
}

static double hard_sigmoid(double x, double alpha, double beta)
{
	return fmax(0, fmin(1, alpha * x + beta));
}

static double leaky_relu(double x, double alpha, double beta)
{
	(void)beta;
	return x < 0 ? alpha * x : x;
}

static double relu(double x, double alpha, double beta)
{
	(void)alpha, (void)beta;
	return x < 0 ? 0 : x;
}

static double scaled_tanh(double x, double alpha, double beta)
{
	return alpha * tanh(beta * x);
}

static double sigmoid(double x, double alpha, double beta)
{
	(void)alpha, (void)beta;
	return 1 / (1 + exp(-x));
}

static double softplus(double x, double alpha, double beta)
{
	(void)alpha, (void)beta;
	return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

static double softsign(double x, double alpha, double beta)
{
	(void)alpha, (void)beta;
	return x / (1 + fabs(x));
}

static double hyperbolic(double x, double alpha, double beta)
{
	(void)alpha, (void)beta;
	return tanh(x);
}

static double thresholded_relu(double x, double alpha, double beta)
{
	(void)beta;
	return x > alpha ? x : 0;
}

/* With the defaults of alpha and beta, and whether they are read from the attributes. */
static const struct {
	const char *name;
	struct activation activation;
	bool has_alpha, has_beta;
} activations[] = {
	{"Affine", {affine, 1, 0}, true, true},
	{"Elu", {elu, 1, 0}, true, false},
	{"HardSigmoid", {hard_sigmoid, 0.2F, 0.5}, true, true},
	{"LeakyRelu", {leaky_relu, 0.01F, 0}, true, false},
	{"Relu", {relu, 0, 0}, false, false},
	{"ScaledTanh", {scaled_tanh, 1, 1}, true, true},
	{"Sigmoid", {sigmoid, 0, 0}, false, false},
	{"Softplus", {softplus, 0, 0}, false, false},
	{"Softsign", {softsign, 0, 0}, false, false},
	{"Tanh", {hyperbolic, 0, 0}, false, false},
	{"ThresholdedRelu", {thresholded_relu, 1, 0}, true, false},
};

/* ---- attributes */

struct network;

struct kind {
	uint32_t gates, activations;
	const char *defaults[ACTIVATIONS_MOST];
	void (*step)(const struct network *network, const double *input, const double *recurrent, double *hidden,
		double *cell);
};

struct network {
	const struct kind *kind;
	int64_t steps, batch, inputs, hidden, directions;
	bool batch_first, reverse; /* of the first direction */
	bool linear_before_reset, input_forget;
	double clip;
	struct activation activations[2][ACTIVATIONS_MOST];

	/* Of the direction that is computed. */
	const struct activation *active;
	const double *weights, *recurrence, *input_bias, *recurrent_bias, *peepholes; /* the last may be NULL */
	double *scratch;                                                              /* `hidden` numbers */
};

/* Takes the next number of a list for an activation that has one, as long as there are any. */
static double next_parameter(const struct dlsi_attribute *list, uint32_t *at, bool wanted, double otherwise)
{
	return wanted && list && *at < list->count ? (double)list->floats[(*at)++] : otherwise;
}

static int read_activations(const struct dlsi_node *node, struct network *network, struct dls_error *err)
{
	const struct dlsi_attribute *names = dlsi_node_attribute(node, "activations");
	const struct dlsi_attribute *alphas = dlsi_node_attribute(node, "activation_alpha");
	const struct dlsi_attribute *betas = dlsi_node_attribute(node, "activation_beta");
	uint32_t per = network->kind->activations, count = per * (uint32_t)network->directions, alpha = 0, beta = 0;

	if (names && names->count != count)
		return dlsi_node_fail(node, err, DLS_EFORMAT, "has %u activations; it needs %u", names->count, count);
	for (uint32_t i = 0; i < count; i++) {
		const char *name = names ? names->strings[i] : network->kind->defaults[i % per];
		struct activation *activation = &network->activations[i / per][i % per];
		size_t k = 0;

		while (k < sizeof activations / sizeof *activations && strcasecmp(activations[k].name, name) != 0)
			k++;
		if (k == sizeof activations / sizeof *activations)
			return dlsi_node_fail(node, err, DLS_EFORMAT, "has the unknown activation '%s'", name);
		*activation = activations[k].activation;
		activation->alpha = next_parameter(alphas, &alpha, activations[k].has_alpha, activation->alpha);
		activation->beta = next_parameter(betas, &beta, activations[k].has_beta, activation->beta);
	}
	return 0;
}

static int read_attributes(
	const struct dlsi_node *node, const struct kind *kind, struct network *network_out, struct dls_error *err)
{
	const char *direction = dlsi_node_string(node, "direction", "forward");
	bool both = strcmp(direction, "bidirectional") == 0;
	struct network network = {.kind = kind,
		.directions = both ? 2 : 1,
		.batch_first = dlsi_node_int(node, "layout", 0),
		.reverse = strcmp(direction, "reverse") == 0,
		.linear_before_reset = dlsi_node_int(node, "linear_before_reset", 0),
		.input_forget = dlsi_node_int(node, "input_forget", 0),
		.clip = (double)dlsi_node_float(node, "clip", INFINITY)};

	if (!both && !network.reverse && strcmp(direction, "forward") != 0)
		return dlsi_node_fail(node, err, DLS_EFORMAT, "has the unknown direction '%s'", direction);
	*network_out = network;
	return read_activations(node, network_out, err);
}

/* ---- inference */

/* Checks that input `i`, if there is one, has this type and shape. */
static int check(const struct dlsi_graph *graph, const struct dlsi_node *node, uint32_t i, enum dls_dtype dtype,
	uint32_t rank, const int64_t *dims, struct dls_error *err)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, i);

	if (!input ||
		(input->dtype == dtype && input->rank == rank && memcmp(input->dims, dims, rank * sizeof *dims) == 0))
		return 0;
	return dlsi_node_fail(node, err, DLS_EFORMAT, "takes '%s' %s in the place of %s", input->name,
		dlsi_shape_text(input->dtype, input->rank, input->dims).text, dlsi_shape_text(dtype, rank, dims).text);
}

static int check_inputs(const struct dlsi_graph *graph, const struct dlsi_node *node, const struct network *network,
	const int64_t *state, struct dls_error *err)
{
	enum dls_dtype dtype = dlsi_node_input(graph, node, INPUT)->dtype;
	int64_t hidden = network->hidden, directions = network->directions, rows = network->kind->gates * hidden;
	int rc = check(graph, node, WEIGHTS, dtype, 3, (int64_t[]){directions, rows, network->inputs}, err);

	if (rc == 0)
		rc = check(graph, node, RECURRENCE, dtype, 3, (int64_t[]){directions, rows, hidden}, err);
	if (rc == 0)
		rc = check(graph, node, BIAS, dtype, 2, (int64_t[]){directions, 2 * rows}, err);
	if (rc == 0)
		rc = check(graph, node, LENGTHS, DLS_INT32, 1, &network->batch, err);
	if (rc == 0)
		rc = check(graph, node, HIDDEN, dtype, 3, state, err);
	if (rc == 0)
		rc = check(graph, node, CELL, dtype, 3, state, err);
	return rc ? rc : check(graph, node, PEEPHOLES, dtype, 2, (int64_t[]){directions, 3 * hidden}, err);
}

static int infer(struct dlsi_graph *graph, struct dlsi_node *node, const struct kind *kind, struct dls_error *err)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, INPUT);
	const struct dlsi_value *recurrence = dlsi_node_input(graph, node, RECURRENCE);
	struct network network;
	int rc = read_attributes(node, kind, &network, err);

	if (rc)
		return rc;
	if ((input->dtype != DLS_FLOAT32 && input->dtype != DLS_FLOAT64) || input->rank != 3 || recurrence->rank != 3 ||
		recurrence->dims[2] != dlsi_node_int(node, "hidden_size", recurrence->dims[2]))
		return dlsi_node_fail(node, err, DLS_EFORMAT, "has recurrent weights %s that do not fit its input %s",
			dlsi_shape_text(recurrence->dtype, recurrence->rank, recurrence->dims).text,
			dlsi_shape_text(input->dtype, input->rank, input->dims).text);
	network.steps = input->dims[network.batch_first];
	network.batch = input->dims[!network.batch_first];
	network.inputs = input->dims[2];
	network.hidden = recurrence->dims[2];

	int64_t directions = network.directions;
	int64_t states[2][3] = {
		{directions, network.batch, network.hidden}, {network.batch, directions, network.hidden}};
	int64_t all[2][4] = {{network.steps, directions, network.batch, network.hidden},
		{network.batch, network.steps, directions, network.hidden}};
	const int64_t *state = states[network.batch_first];

	rc = check_inputs(graph, node, &network, state, err);
	if (rc == 0)
		rc = dlsi_node_set_output(graph, node, input->dtype, 4, all[network.batch_first], err);
	for (uint32_t i = 1; rc == 0 && i < node->output_count; i++)
		rc = dlsi_node_set_output_at(graph, node, i, input->dtype, 3, state, err);
	return rc;
}

static const char *mixes(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	for (uint32_t i = 0; i < node->input_count; i++) {
		const struct dlsi_value *input = dlsi_node_input(graph, node, i);
		bool per_item = i == INPUT || i == LENGTHS || i == HIDDEN || i == CELL;

		if (input && input->batched && !per_item)
			return "takes its weights from the model's inputs, so that they differ from item to item";
		if (input && input->batched && i != LENGTHS && !dlsi_node_int(node, "layout", 0))
			return "has the batch in another dimension than the first";
	}
	return dlsi_node_input(graph, node, INPUT)->batched ? NULL : "takes the same sequences for all items";
}

/* Each step of a sequence meets all weights, those of a GRU's candidate twice, and gives numbers to functions. */
static double recurrent_steps(const struct dlsi_graph *graph, const struct dlsi_node *node)
{
	const struct dlsi_value *input = dlsi_node_input(graph, node, INPUT);
	const struct dlsi_value *recurrence = dlsi_node_input(graph, node, RECURRENCE);
	double weights = dlsi_value_extent(dlsi_node_input(graph, node, WEIGHTS)) + 2 * dlsi_value_extent(recurrence);
	double rows = (double)recurrence->dims[0] * (double)recurrence->dims[1];

	return (double)input->dims[0] * (double)input->dims[1] * (weights + GATE_STEPS * rows);
}

/* ---- steps: `input` and `recurrent` are what each gate gets from both sides, with biases */

static double dot(const double *a, const double *b, int64_t count)
{
	double sums[4] = {0};
	int64_t i = 0;

	for (; i + 4 <= count; i += 4)
		for (int k = 0; k < 4; k++)
			sums[k] += a[i + k] * b[i + k];
	for (; i < count; i++)
		sums[0] += a[i] * b[i];
	return sums[0] + sums[1] + sums[2] + sums[3];
}

static void multiply(
	const double *matrix, const double *vector, const double *bias, int64_t rows, int64_t columns, double *product)
{
	for (int64_t i = 0; i < rows; i++)
		product[i] = bias[i] + dot(matrix + i * columns, vector, columns);
}

static double activate(const struct activation *activation, double x)
{
	return activation->apply(x, activation->alpha, activation->beta);
}

/* Of a gate. */
static double gate(const struct network *network, uint32_t i, double x)
{
	x = x > network->clip ? network->clip : x < -network->clip ? -network->clip : x;
	return activate(&network->active[i], x);
}

static void step_rnn(
	const struct network *network, const double *input, const double *recurrent, double *hidden, double *cell)
{
	(void)cell;
	for (int64_t j = 0; j < network->hidden; j++)
		hidden[j] = gate(network, 0, input[j] + recurrent[j]);
}

/* Gates: update, reset, candidate. */
static void step_gru(
	const struct network *network, const double *input, const double *recurrent, double *hidden, double *cell)
{
	int64_t count = network->hidden, candidate = 2 * count;
	double *remembered = network->scratch;

	(void)cell;
	for (int64_t j = 0; j < count; j++) {
		double reset = gate(network, 0, input[count + j] + recurrent[count + j]);

		remembered[j] = network->linear_before_reset ? reset * recurrent[candidate + j] : reset * hidden[j];
	}
	if (!network->linear_before_reset) {
		double *products = remembered + count;

		multiply(network->recurrence + candidate * count, remembered, network->recurrent_bias + candidate,
			count, count, products);
		remembered = products;
	}
	for (int64_t j = 0; j < count; j++) {
		double update = gate(network, 0, input[j] + recurrent[j]);

		hidden[j] = (1 - update) * gate(network, 1, input[candidate + j] + remembered[j]) + update * hidden[j];
	}
}

/* Gates: input, output, forget, candidate. Only what enters these is clipped, not the cell, as in other engines. */
static void step_lstm(
	const struct network *network, const double *input, const double *recurrent, double *hidden, double *cell)
{
	int64_t count = network->hidden;
	const double *peepholes = network->peepholes;

	for (int64_t j = 0; j < count; j++) {
		double sums[4], in, forget;

		for (int64_t k = 0; k < 4; k++)
			sums[k] = input[k * count + j] + recurrent[k * count + j];
		in = gate(network, 0, sums[0] + (peepholes ? peepholes[j] * cell[j] : 0));
		forget = gate(network, 0, sums[2] + (peepholes ? peepholes[2 * count + j] * cell[j] : 0));
		forget = network->input_forget ? 1 - in : forget;
		cell[j] = forget * cell[j] + in * gate(network, 1, sums[3]);
		hidden[j] = gate(network, 0, sums[1] + (peepholes ? peepholes[count + j] * cell[j] : 0)) *
			    activate(&network->active[2], cell[j]);
	}
}

/* ---- evaluation */

/* What is computed with and what comes out, in double. */
struct tensors {
	const double *in[PEEPHOLES + 1]; /* NULL: left out */
	const struct dlsi_view *lengths; /* or NULL */
	int64_t state_rows;              /* of the initial states: one for all, or one for each item of the batch */
	double *output, *hidden, *cell;
	double *zeros, *gates; /* 2 * gates * hidden numbers each */
};

static int64_t state_at(const struct network *network, int64_t direction, int64_t item, int64_t items)
{
	int64_t row = network->batch_first ? item * network->directions + direction : direction * items + item;

	return row * network->hidden;
}

static int64_t length_of(const struct network *network, const struct tensors *tensors, int64_t item)
{
	const struct dlsi_view *lengths = tensors->lengths;

	return lengths ? ((const int32_t *)lengths->data)[item % lengths->dims[0]] : network->steps;
}

static void choose_direction(struct network *network, const struct tensors *tensors, int64_t direction)
{
	int64_t rows = network->kind->gates * network->hidden;
	const double *bias = tensors->in[BIAS] ? tensors->in[BIAS] + direction * 2 * rows : tensors->zeros;

	network->active = network->activations[direction];
	network->weights = tensors->in[WEIGHTS] + direction * rows * network->inputs;
	network->recurrence = tensors->in[RECURRENCE] + direction * rows * network->hidden;
	network->input_bias = bias;
	network->recurrent_bias = bias + rows;
	network->peepholes = tensors->in[PEEPHOLES] ? tensors->in[PEEPHOLES] + direction * 3 * network->hidden : NULL;
}

/* One sequence in one direction. */
static void run(const struct network *network, const struct tensors *tensors, int64_t direction, int64_t item)
{
	int64_t rows = network->kind->gates * network->hidden, length = length_of(network, tensors, item);
	int64_t state = state_at(network, direction, item, network->batch);
	double *hidden = tensors->hidden + state, *cell = tensors->cell + state;
	size_t bytes = (size_t)network->hidden * sizeof *hidden;
	bool backwards = direction || network->reverse;

	for (uint32_t i = HIDDEN; i <= CELL; i++)
		if (tensors->in[i])
			memcpy(i == HIDDEN ? hidden : cell,
				tensors->in[i] +
					state_at(network, direction, item % tensors->state_rows, tensors->state_rows),
				bytes);
	for (int64_t t = 0; t < length; t++) {
		int64_t at = backwards ? length - 1 - t : t;
		int64_t row = network->batch_first ? item * network->steps + at : at * network->batch + item;
		int64_t to = network->batch_first ? row * network->directions + direction
						  : (at * network->directions + direction) * network->batch + item;

		multiply(network->weights, tensors->in[INPUT] + row * network->inputs, network->input_bias, rows,
			network->inputs, tensors->gates);
		multiply(network->recurrence, hidden, network->recurrent_bias, rows, network->hidden,
			tensors->gates + rows);
		network->kind->step(network, tensors->gates, tensors->gates + rows, hidden, cell);
		memcpy(tensors->output + to * network->hidden, hidden, bytes);
	}
}

static int check_lengths(const struct dlsi_node *node, const struct network *network, const struct tensors *tensors,
	struct dls_error *err)
{
	for (int64_t item = 0; item < network->batch; item++) {
		int64_t length = length_of(network, tensors, item);

		if (length < 0 || length > network->steps)
			return dlsi_node_fail(node, err, DLS_EFORMAT, "has a sequence of length %lld, where %lld fit",
				(long long)length, (long long)network->steps);
	}
	return 0;
}

/* False when memory is exhausted. */
static bool make_tensors(struct dlsi_arena *arena, const struct dlsi_node *node, struct network *network,
	const struct dlsi_view *inputs, struct tensors *tensors)
{
	size_t states = (size_t)(network->batch * network->directions * network->hidden);
	size_t gates = 2 * network->kind->gates * (size_t)network->hidden;

	tensors->state_rows = 1;
	for (uint32_t i = 0; i < node->input_count; i++) {
		size_t count = dlsi_view_count(&inputs[i]);
		double *wide = i == LENGTHS || !inputs[i].data ? NULL : dlsi_arena_take(arena, count, sizeof *wide);

		if (i == LENGTHS && inputs[i].data)
			tensors->lengths = &inputs[i];
		if (i == LENGTHS || !inputs[i].data)
			continue;
		if (!wide)
			return false;
		dlsi_cast(DLS_FLOAT64, wide, inputs[i].dtype, inputs[i].data, count);
		tensors->in[i] = wide;
		if (i == HIDDEN || i == CELL)
			tensors->state_rows = inputs[i].dims[!network->batch_first];
	}
	tensors->output = dlsi_arena_take(arena, (size_t)network->steps * states, sizeof(double));
	tensors->hidden = dlsi_arena_take(arena, states, sizeof(double));
	tensors->cell = dlsi_arena_take(arena, states, sizeof(double));
	tensors->zeros = dlsi_arena_take(arena, gates, sizeof(double));
	tensors->gates = dlsi_arena_take(arena, gates, sizeof(double));
	network->scratch = dlsi_arena_take(arena, 2 * (size_t)network->hidden, sizeof(double));
	return tensors->output && tensors->hidden && tensors->cell && tensors->zeros && tensors->gates &&
	       network->scratch;
}

static int eval(const struct dlsi_node *node, const struct kind *kind, const struct dlsi_view *inputs,
	const struct dlsi_view *outputs, const struct dlsi_alloc *alloc, struct dls_error *err)
{
	struct tensors tensors = {0};
	struct dlsi_arena arena;
	struct network network;
	int rc = read_attributes(node, kind, &network, err);

	if (rc)
		return rc;
	network.steps = inputs[INPUT].dims[network.batch_first];
	network.batch = inputs[INPUT].dims[!network.batch_first];
	network.inputs = inputs[INPUT].dims[2];
	network.hidden = inputs[RECURRENCE].dims[2];
	dlsi_arena_init(&arena, alloc);
	if (make_tensors(&arena, node, &network, inputs, &tensors))
		rc = check_lengths(node, &network, &tensors, err);
	else
		rc = dlsi_fail_memory(err);
	for (int64_t direction = 0; rc == 0 && direction < network.directions; direction++) {
		choose_direction(&network, &tensors, direction);
		for (int64_t item = 0; item < network.batch; item++)
			run(&network, &tensors, direction, item);
	}
	for (uint32_t i = 0; rc == 0 && i < node->output_count; i++)
		if (outputs[i].data)
			dlsi_cast(outputs[i].dtype, outputs[i].data, DLS_FLOAT64,
				i == 0   ? tensors.output
				: i == 1 ? tensors.hidden
					 : tensors.cell,
				dlsi_view_count(&outputs[i]));
	dlsi_arena_fini(&arena);
	return rc;
}

/* ---- rows of the table */

#define COMMON                                                                                                         \
	{"activation_alpha", DLSI_ATTRIBUTE_FLOATS}, {"activation_beta", DLSI_ATTRIBUTE_FLOATS},                       \
		{"activations", DLSI_ATTRIBUTE_STRINGS}, {"clip", DLSI_ATTRIBUTE_FLOAT},                               \
		{"direction", DLSI_ATTRIBUTE_STRING}, {"hidden_size", DLSI_ATTRIBUTE_INT},                             \
	{                                                                                                              \
		"layout", DLSI_ATTRIBUTE_INT                                                                           \
	}

static const struct dlsi_op_attribute rnn_attributes[] = {COMMON, {0}};
static const struct dlsi_op_attribute gru_attributes[] = {COMMON, {"linear_before_reset", DLSI_ATTRIBUTE_INT}, {0}};
static const struct dlsi_op_attribute lstm_attributes[] = {COMMON, {"input_forget", DLSI_ATTRIBUTE_INT}, {0}};

static const struct kind rnn = {.gates = 1, .activations = 1, .defaults = {"Tanh"}, .step = step_rnn};
static const struct kind gru = {.gates = 3, .activations = 2, .defaults = {"Sigmoid", "Tanh"}, .step = step_gru};
static const struct kind lstm = {
	.gates = 4, .activations = 3, .defaults = {"Sigmoid", "Tanh", "Tanh"}, .step = step_lstm};

#define RECURRENT(id, onnx, inputs_, outputs_)                                                                         \
	static int infer_##id(struct dlsi_graph *graph, struct dlsi_node *node, struct dls_error *err)                 \
	{                                                                                                              \
		return infer(graph, node, &(id), err);                                                                 \
	}                                                                                                              \
	static int eval_##id(const struct dlsi_node *node, const struct dlsi_view *inputs,                             \
		const struct dlsi_view *outputs, const struct dlsi_alloc *alloc, struct dls_error *err)                \
	{                                                                                                              \
		return eval(node, &(id), inputs, outputs, alloc, err);                                                 \
	}                                                                                                              \
	const struct dlsi_op dlsi_op_##id = {                                                                          \
		.name = (onnx),                                                                                        \
		.defined = V(1) | V(3) | V(7) | V(14) | V(22),                                                         \
		.known = V(7) | V(14) | V(22),                                                                         \
		.inputs_least = 3,                                                                                     \
		.inputs_most = (inputs_),                                                                              \
		.outputs_most = (outputs_),                                                                            \
		.attributes = id##_attributes,                                                                         \
		.infer = infer_##id,                                                                                   \
		.mixes = mixes,                                                                                        \
		.eval = eval_##id,                                                                                     \
		.steps = recurrent_steps,                                                                              \
	};

RECURRENT(gru, "GRU", 6, 2)
RECURRENT(lstm, "LSTM", 8, 3)
RECURRENT(rnn, "RNN", 6, 2)
