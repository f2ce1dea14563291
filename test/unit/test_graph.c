/* From files to graphs: shapes, order, batches; and what is refused, in words that name the thing. */
#include "base/limits.h"
#include "graph/op.h"
#include "reader/load.h"
#include "test/unit/onnx.h"
#include "test/unit/unit.h"
#include <stdlib.h>
#include <string.h>

struct loaded {
	struct dlsi_buffer file;
	struct dlsi_graph *graph;
};

static void load(struct loaded *loaded, const char *text)
{
	struct dlsi_rng rng = unit_rng(1);
	struct dls_error err = {0};

	unit_onnx(&loaded->file, &rng, text);
	if (unit_onnx_load(unit_alloc(), &loaded->file, &loaded->graph, &err))
		fail_msg("%s\n%s", err.text, text);
}

static void unload(struct loaded *loaded)
{
	dlsi_graph_destroy(loaded->graph);
	dlsi_buffer_fini(&loaded->file);
}

static const struct dlsi_value *find(const struct dlsi_graph *graph, const char *name)
{
	for (uint32_t i = 0; i < graph->value_count; i++)
		if (strcmp(graph->values[i].name, name) == 0)
			return &graph->values[i];
	fail_msg("no value '%s'", name);
	return NULL;
}

static void assert_shape(const char *text, const char *name, uint32_t rank, const int64_t *dims)
{
	struct loaded loaded;
	const struct dlsi_value *value;

	load(&loaded, text);
	value = find(loaded.graph, name);
	assert_int_equal(value->rank, rank);
	for (uint32_t i = 0; i < rank; i++)
		if (value->dims[i] != dims[i])
			fail_msg("dimension %u is %lld in %s", i, (long long)value->dims[i], text);
	unload(&loaded);
}

#define SHAPE(text, ...)                                                                                               \
	assert_shape(text "\nout y", "y", sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (int64_t[]){__VA_ARGS__})

#define CONV(dims, attributes) "in x " dims "\nconst w 8 3 3 3\nnode Conv x w > y " attributes

static void test_shapes(void **state)
{
	(void)state;
	SHAPE(CONV("1 3 10 10", ""), 1, 8, 8, 8);
	SHAPE(CONV("1 3 10 10", "pads:I=1,1,1,1"), 1, 8, 10, 10);
	SHAPE(CONV("1 3 10 10", "pads:I=0,0,1,1 strides:I=2,2"), 1, 8, 5, 5);
	SHAPE(CONV("1 3 10 11", "auto_pad:s=SAME_UPPER strides:I=2,2"), 1, 8, 5, 6);
	SHAPE(CONV("1 3 10 10", "auto_pad:s=VALID dilations:I=2,3"), 1, 8, 6, 4);
	SHAPE("in x 2 6 9\nconst w 4 3 2\nnode Conv x w > y group:i=2", 2, 4, 8);
	SHAPE("in x 1 3 7 7\nnode MaxPool x > y kernel_shape:I=2,2 strides:I=2,2", 1, 3, 3, 3);
	SHAPE("in x 1 3 7 7\nnode MaxPool x > y kernel_shape:I=2,2 strides:I=2,2 ceil_mode:i=1", 1, 3, 4, 4);
	/* the last window would begin in the padding, so there is none */
	SHAPE("in x 1 3 3 3\nnode MaxPool x > y kernel_shape:I=2,2 strides:I=3,3 pads:I=0,0,1,1 ceil_mode:i=1", 1, 3, 1,
		1);
	SHAPE("in x 1 3 7 7\nnode AveragePool x > y kernel_shape:I=3,3 auto_pad:s=SAME_LOWER", 1, 3, 7, 7);
	SHAPE("in x 1 3 7 5\nnode GlobalAveragePool x > y", 1, 3, 1, 1);
	SHAPE("in x 1 3 4 5\nnode Flatten x > y", 1, 60);
	SHAPE("in x 1 3 4 5\nnode Flatten x > y axis:i=-1", 12, 5);
	SHAPE("in x 1 3 4 5\nnode Flatten x > y axis:i=0", 1, 60);
	SHAPE("in x 1 3 4 5\nints s 0 -1 10\nnode Reshape x s > y", 1, 6, 10);
	SHAPE("in x 2 3\nconst b 3 4\nnode Gemm x b > y", 2, 4);
	SHAPE("in x 3 2\nconst b 4 3\nconst c 4\nnode Gemm x b c > y transA:i=1 transB:i=1", 2, 4);
	SHAPE("in x 2 1 4 3\nconst b 5 3 6\nnode MatMul x b > y", 2, 5, 4, 6);
	SHAPE("in x 3\nconst b 5 3 6\nnode MatMul x b > y", 5, 6);
	SHAPE("in x 2 1 3\nconst b 4 1\nnode Add x b > y", 2, 4, 3);
	SHAPE("in x 1 3 4\nnode Softmax x > y", 1, 3, 4);
}

static void test_nodes_come_after_what_they_take(void **state)
{
	struct loaded loaded;
	const char *expected[] = {"node_a", "node_b", "node_c", "node_d", "node_y"};

	(void)state;
	load(&loaded, "in x 1 4\n"
		      "node Add d c > y\n"
		      "node Relu x > a\n"
		      "node Relu a > b\n"
		      "node Add a b > c\n"
		      "node Relu c > d\n"
		      "node Relu x > unused\n"
		      "out y\n");
	assert_int_equal(loaded.graph->node_count, 5);
	for (int i = 0; i < 5; i++)
		assert_string_equal(loaded.graph->nodes[i].name, expected[i]);
	unload(&loaded);
}

static void test_constants_come_from_everywhere(void **state)
{
	struct loaded loaded;
	float low;

	(void)state;
	load(&loaded, "in x 1 4\nin low 1\nfloats low 0.25\nnode Clip x low > y\nout y\n");
	assert_int_equal(loaded.graph->input_count, 1); /* low has a default */
	assert_string_equal(loaded.graph->values[loaded.graph->inputs[0]].name, "x");
	memcpy(&low, find(loaded.graph, "low")->data, sizeof low);
	assert_true(low == 0.25F);
	assert_true(loaded.graph->nodes[0].clamp.low == 0.25F && isinf(loaded.graph->nodes[0].clamp.high));
	unload(&loaded);
}

/* Whether batches are sound, and if not, what the reason says. */
static void assert_batch(const char *text, const char *reason)
{
	struct loaded loaded;

	load(&loaded, text);
	if (!reason && loaded.graph->unbatchable)
		fail_msg("%s: %s", loaded.graph->unbatchable, text);
	if (reason && (!loaded.graph->unbatchable || !strstr(loaded.graph->unbatchable, reason)))
		fail_msg("'%s' does not say '%s': %s", loaded.graph->unbatchable, reason, text);
	for (uint32_t i = 0; i < loaded.graph->output_count; i++)
		assert_int_equal(loaded.graph->values[loaded.graph->outputs[i]].batched, !reason);
	unload(&loaded);
}

static void test_batches_are_sound_or_refused(void **state)
{
	(void)state;
	assert_batch("in x ? 4\nnode Relu x > y\nout y", NULL);
	assert_batch("in x 1 4\nnode Relu x > y\nout y", NULL); /* a leading 1 counts as the batch */
	assert_batch("in x 2 4\nnode Relu x > y\nout y", "'x' float32 [2, 4] has no first dimension");
	assert_batch("in x ? 4\nin z 3\nnode Add x x > y\nout y", "'z'");
	assert_batch("in x ? 4\nnode Softmax x > y axis:i=0\nout y", "node 'node_y' (Softmax) normalises over axis 0");
	assert_batch("in x ? 4\nnode Softmax x > y\nout y", NULL);
	assert_batch("opset 11\nin x ? 4\nnode Softmax x > y axis:i=0\nout y", "axis 0");
	assert_batch("in x 1 4\nints s 1 2 2\nnode Reshape x s > y\nout y", NULL);
	assert_batch("in x ? 4\nints s 0 2 2\nnode Reshape x s > y\nout y", NULL);
	assert_batch("in x ? 4\nints s -1 4 1\nnode Reshape x s > y\nout y", NULL);
	assert_batch("in x ? 4\nints s -1 2\nnode Reshape x s > y\nout y", "'y' has 2 rows per item");
	assert_batch("in x ? 4 2\nnode Flatten x > y axis:i=2\nout y", "'y' has 4 rows per item");
	assert_batch("in x ? 4\nnode Flatten x > y axis:i=0\nout y", "one row of the whole batch");
	assert_batch("in x ? 4\nnode Shape x > s\nnode Reshape x s > y\nout y", NULL);
	assert_batch("in x ? 4\nnode Shape x > s\nout s", "does not depend on the inputs");
	assert_batch("in x ? 4\nconst c 3 4\nnode Add x c > y\nout y", "rows of different items");
	assert_batch("in x ? 4\nconst c 4\nnode Add x c > y\nout y", NULL);
	assert_batch("in x ? 4\nconst c 1 4\nnode Add x c > y\nout y", NULL);
	assert_batch("in x ? 4\nconst c 1 1 4\nnode Add x c > y\nout y", "rows of different items");
	assert_batch("in x ? 4\nin z 1 3 4\nnode Add x z > y\nout y", "rows of different items");
	assert_batch("in x ? 4\nconst b 4 3\nnode MatMul x b > y\nout y", NULL);
	assert_batch("in x ? 4\nconst a 3 1\nnode MatMul a x > y\nout y", "rows of different items");
	assert_batch("in x ? 4\nconst a 5 4 4\nnode MatMul x a > y\nout y", "rows of different items");
	assert_batch("in x ? 2 4\nin z ? 4 2\nnode MatMul x z > y\nout y", NULL);
	assert_batch("in x ? 2 4\nconst b 4 2\nnode MatMul x b > y\nout y", NULL);
	assert_batch("in x ? 4\nconst b 1 3\nnode Gemm x b > y transA:i=1\nout y", "(Gemm)");
	assert_batch(
		"in x ? 3 4 4\nin w 1 3 4 4\nnode Conv x w > y\nout y", "takes its weights from the model's inputs");
	assert_batch("in x ? 4\nconst c 1 4\nnode Relu c > y\nnode Relu x > z\nout y\nout z", "'y' does not depend");
}

static void test_batches_of_operators_on_numbers(void **state)
{
	(void)state;
	assert_batch("in x ? 4\nints a 1\nnode ReduceSum x a > y\nout y", NULL);
	assert_batch("in x ? 4\nints a 1\nnode ReduceSum x a > y keepdims:i=0\nout y", NULL);
	assert_batch("in x ? 4\nnode ReduceSum x > y\nout y", "reduces axis 0, the batch");
	assert_batch("in x ? 4\nints a -2\nnode ReduceSum x a > y\nout y", "reduces axis 0, the batch");
	assert_batch("opset 17\nin x ? 4\nconst s 4\nnode LayerNormalization x s > y\nout y", NULL);
	assert_batch("opset 17\nin x ? 4\nconst s 4\nnode LayerNormalization x s > y axis:i=-2\nout y", "axis 0");
	assert_batch("in x ? 4\nnode LpNormalization x > y axis:i=0\nout y", "axis 0");
	assert_batch("in x ? 2 3 4\nnode MeanVarianceNormalization x > y\nout y", "axis 0");
	assert_batch("in x ? 2 3 4\nnode MeanVarianceNormalization x > y axes:I=1,2\nout y", NULL);
	assert_batch("in x ? 2 3\nnode LRN x > y size:i=2\nout y", NULL);
	assert_batch("in x ? 4\nnode DynamicQuantizeLinear x > y\nout y", "one scale for the whole batch");
	assert_batch("in x ? 4\nfloats s 1 1 1 1\nnode QuantizeLinear x s > y\nout y", NULL);
	assert_batch("opset 21\nin x ? 4\npositive s 1 2\nnode QuantizeLinear x s > y block_size:i=2\nout y",
		"a scale for each row");
	assert_batch("in x ? 4\nconst w 4 3\nnode Einsum x w > y equation:s=bi,ij->bj\nout y", NULL);
	assert_batch("in x ? 4\nconst w 4 3\nnode Einsum x w > y equation:s=bi,ij->jb\nout y", "different items");
	assert_batch("in x ? 4\nnode Einsum x > y equation:s=bi->i\nout y", "different items");
	assert_batch("in x ? 4\nin z ? 4\nnode Einsum x z > y equation:s=bi,bj->bij\nout y", NULL);
	assert_batch("in x ? 4\nin z ? 4\nnode Einsum x z > y equation:s=bi,cj->bcij\nout y", "different items");
	assert_batch("in x ? 2 2\nnode Det x > y\nout y", NULL);
	assert_batch("in x ? 1\nnode Det x > y\nout y", "side of its matrix");
	assert_batch("in x ? 4\nin l 1\nnode Clip x l > y\nout y", "takes its weights");
	assert_batch("in x ? 4\nconst s 4\nnode PRelu x s > y\nout y", NULL);
}

#define RESIZED(first) "opset 18\nin x " first " 1 2 2\n"

/* A file that leaves the first dimension open says itself what becomes of several rows: its own number in the place of
 * the batch is no batch. Where it says 1 there are never several, and the 1 counts as the batch. */
static void test_several_rows_of_an_open_dimension(void **state)
{
	(void)state;
	assert_batch("in x ? 4\nints s 1 -1\nnode Reshape x s > y\nout y", "(Reshape) puts the whole batch");
	assert_batch("in x ? 4\nints s 2 -1\nnode Reshape x s > r\nints t -1 4\nnode Reshape r t > y\nout y",
		"'node_r' (Reshape) puts the whole batch");
	assert_batch("in x 1 4\nints s 1 -1\nnode Reshape x s > y\nout y", NULL);
	assert_batch("in x ? 4\nints s 1 2 2\nnode Reshape x s > y\nout y", NULL); /* only one row fits */
	assert_batch("in x ? 4\nints a 0\nnode Unsqueeze x a > y\nout y", "(Unsqueeze) puts the batch in another");
	assert_batch("in x ? 4\nints a 1\nnode Unsqueeze x a > y\nout y", NULL);
	assert_batch("in x 1 4\nints a 0\nnode Unsqueeze x a > y\nout y", NULL);
	assert_batch(RESIZED("?") "ints s 1 1 4 4\nnode Resize x - - s > y\nout y", "(Resize) resizes axis 0");
	assert_batch(RESIZED("1") "ints s 1 1 4 4\nnode Resize x - - s > y\nout y", NULL);
	assert_batch(RESIZED("?") "ints s 4 4\nnode Resize x - - s > y axes:I=2,3\nout y", NULL);
	assert_batch(RESIZED("?") "node Shape x > h end:i=2\nints w 4 4\nnode Concat h w > s axis:i=0\n"
				  "node Resize x - - s > y\nout y",
		NULL);
	assert_batch("opset 18\nin x ? 4\nints s 1 3\nnode CenterCropPad x s > y\nout y", "cuts or pads axis 0");
	assert_batch("opset 18\nin x ? 4\nints s 3\nnode CenterCropPad x s > y axes:I=1\nout y", NULL);
	assert_batch("opset 18\nin x 1 4\nints s 1 3\nnode CenterCropPad x s > y\nout y", NULL);
}

static int try(const char *text, struct dls_error *err)
{
	struct dlsi_rng rng = unit_rng(1);
	struct dlsi_graph *graph = NULL;
	struct dlsi_buffer file;
	int rc;

	unit_onnx(&file, &rng, text);
	rc = unit_onnx_load(unit_alloc(), &file, &graph, err);
	dlsi_graph_destroy(graph);
	dlsi_buffer_fini(&file);
	return rc;
}

static void assert_refused(int code, const char *says, const char *text)
{
	struct dls_error err = {0};
	int rc = try(text, &err);

	if (rc != code || !strstr(err.text, says))
		fail_msg("%d '%s' is not %d '%s': %s", rc, err.text, code, says, text);
}

static void test_wrong_models_are_refused(void **state)
{
	(void)state;
	assert_refused(DLS_EUNSUPPORTED, "node 'node_y' uses the operator Frob", "in x 1 4\nnode Frob x > y\nout y");
	assert_refused(DLS_EUNSUPPORTED, "operator set 6", "opset 6\nin x 1 4\nnode Relu x > y\nout y");
	assert_refused(DLS_EUNSUPPORTED, "operator set 1000", "opset 1000\nin x 1 4\nnode Relu x > y\nout y");
	assert_refused(DLS_EUNSUPPORTED, "attribute 'frob'", "in x 1 4\nnode Relu x > y frob:i=1\nout y");
	assert_refused(DLS_EFORMAT, "'axis' in another type", "in x 1 4\nnode Softmax x > y axis:f=1\nout y");
	assert_refused(DLS_EFORMAT, "'axis' twice", "in x 1 4\nnode Softmax x > y axis:i=1 axis:i=1\nout y");
	assert_refused(DLS_EFORMAT, "takes 'z', which nothing computes", "in x 1 4\nnode Add x z > y\nout y");
	assert_refused(DLS_EFORMAT, "nothing computes the output 'z'", "in x 1 4\nnode Relu x > y\nout z");
	assert_refused(DLS_EFORMAT, "'y' is listed twice", "in x 1 4\nnode Relu x > y\nout y\nout y");
	assert_refused(DLS_EFORMAT, "'y' is defined twice", "in x 1 4\nnode Relu x > y\nnode Relu x > y\nout y");
	assert_refused(DLS_EFORMAT, "'x' is defined twice", "in x 1 4\nin x 1 4\nnode Relu x > y\nout y");
	assert_refused(DLS_EFORMAT, "'x' is defined twice", "in x 1 4\nnode Relu x > x\nout x");
	assert_refused(DLS_EFORMAT, "'k' is defined twice", "in x 4\nfloats k 1\nfloats k 2\nnode Add x k > y\nout y");
	assert_refused(DLS_EFORMAT, "'k' is defined twice", "in x 4\nfloats k 1\nnode Relu x > k\nout k");
	assert_refused(DLS_EFORMAT, "cycle", "in x 1 4\nnode Add x b > a\nnode Relu a > b\nnode Relu b > y\nout y");
	assert_refused(DLS_EFORMAT, "cycle", "in x 1 4\nnode Relu a > a\nnode Relu x > y\nout y");
	assert_refused(DLS_EFORMAT, "lacks its input 1", "in x 1 4\nnode Add x > y\nout y");
	assert_refused(DLS_EFORMAT, "2 inputs; 1 are the most", "in x 1 4\nnode Relu x x > y\nout y");
	assert_refused(DLS_EFORMAT, "has no output", "in x 1 4\nnode Relu x > -\nnode Relu x > y\nout y");
	assert_refused(DLS_EFORMAT, "no inputs", "const x 1 4\nnode Relu x > y\nout y");
	assert_refused(DLS_EFORMAT, "no outputs", "in x 1 4\nnode Relu x > y");
	assert_refused(DLS_EFORMAT, "[1, 4] and float32 [3]", "in x 1 4\nconst c 3\nnode Add x c > y\nout y");
	assert_refused(DLS_EFORMAT, "larger than its padded input", CONV("1 3 2 9", "") "\nout y");
	assert_refused(DLS_EFORMAT, "do not fit its input", CONV("1 4 9 9", "") "\nout y");
	assert_refused(DLS_EFORMAT, "3 pads", CONV("1 3 9 9", "pads:I=1,1,1") "\nout y");
	assert_refused(DLS_EUNSUPPORTED, "-1 among its pads", CONV("1 3 9 9", "pads:I=1,1,1,-1") "\nout y");
	assert_refused(DLS_EUNSUPPORTED, "0 among its strides", CONV("1 3 9 9", "strides:I=0,1") "\nout y");
	assert_refused(DLS_EFORMAT, "unknown auto_pad 'HALF'", CONV("1 3 9 9", "auto_pad:s=HALF") "\nout y");
	assert_refused(DLS_ELIMIT, "the input 'x' is float32 [1, 3, 9223372036854775807, 9]",
		"in x 1 3 9223372036854775807 9\nnode MaxPool x > y kernel_shape:I=2,2 pads:I=1,1,1,1\nout y");
	assert_refused(DLS_EFORMAT, "has a kernel of 9223372036854775807",
		"in x 1 3 9 9\nconst w 0 3 9223372036854775807 1\nnode Conv x w > y dilations:I=3,3\nout y");
	assert_refused(DLS_ELIMIT, "larger than any memory",
		CONV("1 3 9 9", "pads:I=2000000000,2000000000,2000000000,2000000000") "\nout y");
	assert_refused(DLS_EFORMAT, "cannot make", "in x 1 4\nints s 3 -1\nnode Reshape x s > y\nout y");
	assert_refused(DLS_EUNSUPPORTED, "not constant", "in x 1 4\nin s 2\nnode Reshape x s > y\nout y");
	assert_refused(
		DLS_EFORMAT, "'x' of float32 beside 's' of int64", "in x 1 4\nints s 2\nnode Add x s > y\nout y");
	assert_refused(
		DLS_EUNSUPPORTED, "of int64, which it is not defined for", "in x 1 4\nints s 2\nnode Exp s > y\nout y");
	assert_refused(DLS_EUNSUPPORTED, "additional output",
		"opset 7\nin x 1 1 4\nnode Dropout x > z i\nnode Add z i > y\nout y");
	assert_refused(DLS_EUNSUPPORTED, "additional one", "opset 7\nin x 1 1 4\nnode Dropout x > z i\nout i\nout z");
}

/* A long chain must not use the thread's stack, and sorting it must not take quadratic time. */
static void test_long_chains_are_sorted(void **state)
{
	struct dlsi_buffer text;
	struct dls_error err;

	(void)state;
	dlsi_buffer_init(&text, unit_alloc());
	dlsi_buffer_printf(&text, "in v0 1 4\nout v%d\n", DLSI_GRAPH_NODES);
	for (int i = DLSI_GRAPH_NODES; i > 0; i--)
		dlsi_buffer_printf(&text, "node Relu v%d > v%d\n", i - 1, i);
	dlsi_buffer_append(&text, "", 1);
	assert_int_equal(try((char *)text.data, &err), 0);
	dlsi_buffer_fini(&text);
}

/* An allocator that keeps count, with the length of each block before it. */
struct counted {
	size_t now, peak;
};

enum { HEAD = 16 };

static void *resize_counted(void *arg, void *old, size_t size)
{
	struct counted *counted = arg;
	unsigned char *block = old ? (unsigned char *)old - HEAD : NULL;
	size_t before = 0;

	if (block)
		memcpy(&before, block, sizeof before);
	counted->now -= before;
	if (!size) {
		free(block);
		return NULL;
	}
	block = realloc(block, size + HEAD);
	assert_non_null(block);
	memcpy(block, &size, sizeof size);
	counted->now += size;
	counted->peak = counted->now > counted->peak ? counted->now : counted->peak;
	return block + HEAD;
}

/* What the smallest pieces of a file can be made to cost: each pattern, repeated to a megabyte inside the messages that
 * these fields are, is read or refused within a small multiple of the file. */
static void test_memory_is_a_small_multiple_of_the_file(void **state)
{
	static const struct {
		unsigned fields[4]; /* of the messages around it, outermost first */
		const char *pattern;
		size_t length;
	} patterns[] = {
		{{7}, "\x0a\x00", 2},                         /* graph: empty nodes */
		{{7}, "\x2a\x00", 2},                         /* empty tensors */
		{{7}, "\x5a\x00", 2},                         /* empty inputs */
		{{7}, "\x5a\x06\x12\x04\x0a\x02\x12\x00", 8}, /* inputs with a type with a tensor with a shape */
		{{7, 1}, "\x0a\x00", 2},                      /* node: empty input names */
		{{7, 1}, "\x2a\x00", 2},                      /* empty attributes */
		{{7, 1, 5}, "\x40\x01", 2},                   /* attribute: integers, one by one */
		{{7, 1, 5}, "\x3d\x00\x00\x00\x00", 5},       /* floats, one by one */
		{{7, 1, 5, 8}, "\x01", 1},                    /* integers, packed */
		{{7, 5}, "\x08\x01", 2},                      /* tensor: dimensions */
		{{7, 5, 7}, "\x01", 1},                       /* int64_data, packed */
		{{7, 5, 5}, "\x01", 1},                       /* int32_data, packed */
	};

	(void)state;
	for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
		struct counted counted = {0};
		struct dlsi_alloc alloc = {.resize = resize_counted, .arg = &counted};
		struct dlsi_graph *graph = NULL;
		struct dlsi_buffer file;
		struct dls_error err = {0};

		dlsi_buffer_init(&file, unit_alloc());
		while (file.length < 1 << 20)
			dlsi_buffer_append(&file, patterns[i].pattern, patterns[i].length);
		for (int k = 4; k-- > 0;) {
			struct dlsi_buffer inner = file;

			if (!patterns[i].fields[k])
				continue;
			dlsi_buffer_init(&file, unit_alloc());
			if (k == 0) {
				unit_onnx_number(&file, 1, 8);
				unit_onnx_bytes(&file, 8, "\x10\x0d", 2);
			}
			unit_onnx_bytes(&file, patterns[i].fields[k], inner.data, inner.length);
			dlsi_buffer_fini(&inner);
		}
		assert_int_not_equal(unit_onnx_load(&alloc, &file, &graph, &err), 0);
		if (counted.peak > 20 * file.length)
			fail_msg(
				"pattern %zu: %zu bytes for a file of %zu: %s", i, counted.peak, file.length, err.text);
		assert_int_equal(counted.now, 0);
		dlsi_buffer_fini(&file);
	}
}

static void test_memory_exhaustion_is_an_error(void **state)
{
	struct dlsi_rng rng = unit_rng(1);
	struct dlsi_graph *graph = NULL;
	struct dlsi_buffer file;
	struct dls_error err;
	int rc = DLS_ENOMEM;

	(void)state;
	unit_onnx(&file, &rng, CONV("? 3 9 9", "pads:I=1,1,1,1 auto_pad:s=NOTSET") "\nnode Relu y > z\nout z");
	for (unsigned n = 1; rc == DLS_ENOMEM; n++) {
		rc = unit_onnx_load(unit_alloc_failing_at(n), &file, &graph, &err);
		assert_true((rc == 0) == (graph != NULL));
	}
	assert_int_equal(rc, 0);
	dlsi_graph_destroy(graph);
	dlsi_buffer_fini(&file);
}

UNIT_MAIN(test_shapes, test_nodes_come_after_what_they_take, test_constants_come_from_everywhere,
	test_batches_are_sound_or_refused, test_batches_of_operators_on_numbers, test_several_rows_of_an_open_dimension,
	test_wrong_models_are_refused, test_long_chains_are_sorted, test_memory_is_a_small_multiple_of_the_file,
	test_memory_exhaustion_is_an_error)
