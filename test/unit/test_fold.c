/* Constant folding comes to an end: files of a few lines ask for hours of computing, and are loaded at once. */
#include "graph/op.h"
#include "test/unit/onnx.h"
#include "test/unit/op.h"
#include "test/unit/unit.h"
#include <stdio.h>
#include <string.h>

enum { TEXT = 4096 };

/* Loads the model, to which an input `x` is added, and counts its nodes of this operator. */
static unsigned count_left(const char *text, const char *operator)
{
	struct dlsi_rng rng = unit_rng(1);
	struct dlsi_graph *graph = NULL;
	struct dlsi_buffer file;
	struct dls_error err;
	char whole[TEXT];
	unsigned count = 0;

	assert_true(snprintf(whole, sizeof whole, "opset 18\nin x 1\n%s\nout y", text) < TEXT);
	unit_onnx(&file, &rng, whole);
	if (unit_onnx_load(unit_alloc(), &file, &graph, &err))
		fail_msg("%s\n%s", err.text, text);
	for (uint32_t i = 0; i < graph->node_count; i++)
		count += strcmp(graph->nodes[i].op->name, operator) == 0;
	dlsi_graph_destroy(graph);
	dlsi_buffer_fini(&file);
	return count;
}

/* Constants out of nothing: `a` and `b`, and the same as bytes; `c` is one number of float32, `z` one byte. */
#define TWO(a, b) "ints sa " a "\nints sb " b "\nnode ConstantOfShape sa > a\nnode ConstantOfShape sb > b\n"
#define BYTES                                                                                                          \
	"node Cast a > qa to:i=2\nnode Cast b > qb to:i=2\nints none\nnode ConstantOfShape none > c\n"                 \
	"node Cast c > z to:i=2\n"
#define IMAGES   TWO("1 1 1024 1024", "1 1 512 512")
#define MATRICES TWO("2048 2048", "2048 2048")

static void test_what_takes_too_long_is_left_to_the_run(void **state)
{
	static const struct {
		const char *operator, * text;
	} cases[] = {
		{"Conv", IMAGES "node Conv a b > y"},
		{"ConvTranspose", IMAGES "node ConvTranspose a b > y"},
		{"ConvInteger", IMAGES BYTES "node ConvInteger qa qb > y"},
		{"QLinearConv", IMAGES BYTES "node QLinearConv qa c z qb c z c z > y"},
		{"MatMul", MATRICES "node MatMul a b > y"},
		{"Gemm", MATRICES "node Gemm a b > y transA:i=1"},
		{"MatMulInteger", MATRICES BYTES "node MatMulInteger qa qb > y"},
		{"QLinearMatMul", MATRICES BYTES "node QLinearMatMul qa c z qb c z c z > y"},
		{"Einsum", MATRICES "node Einsum a b > y equation:s=ij,kl->i"},
		{"MaxPool", IMAGES "node MaxPool a > y kernel_shape:I=512,512"},
		{"AveragePool", IMAGES "node AveragePool a > y kernel_shape:I=512,512"},
		{"LpPool", IMAGES "node LpPool a > y kernel_shape:I=512,512 p:i=3"},
		{"LRN", TWO("1 65536 16", "1") "node LRN a > y size:i=100000"},
		{"Det", MATRICES "node Det a > y"},
		{"TopK", TWO("8388608", "1") "ints k 8388608\nnode TopK a k > - y"},
		{"Unique", TWO("8388608", "1") "node Unique a > - - y"},
		{"LSTM", TWO("65536 1 1", "1 1024 1") "ints sr 1 1024 256\nnode ConstantOfShape sr > r\n"
						      "node LSTM a b r > y"},
		{"GRU", TWO("65536 1 1",
				"1 768 1") "ints sr 1 768 256\nnode ConstantOfShape sr > r\nnode GRU a b r > y"},
		{"RNN", TWO("65536 1 1",
				"1 256 1") "ints sr 1 256 256\nnode ConstantOfShape sr > r\nnode RNN a b r > y"},
		{"GridSample", TWO("1 1 2 2 2", "1 128 128 128 3") "node GridSample a b > y"},
		{"RoiAlign",
			TWO("1 1 8 8", "64 4") "ints si 64\nnode ConstantOfShape si > ci\nnode Cast ci > i to:i=7\n"
					       "node RoiAlign a b i > y sampling_ratio:i=8192"},
		{"RoiAlign", TWO("1 1 8 8", "1 4") "floats far 16000\nnode Add b far > r\nints i 0\n"
						   "node RoiAlign a r i > y output_height:i=2 output_width:i=2"},
		{"MaxRoiPool", TWO("1 1 1024 1024", "4 5") "node MaxRoiPool a b > y pooled_shape:I=64,64"},
		{"NonMaxSuppression",
			TWO("1 100000 4", "1 1 100000") "ints most 100000\nnode NonMaxSuppression a b most > y"},
		{"Sum", TWO("8388608",
				"1") "node Sum a b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b "
				     "b b b b b b b b b b b b b b b > y"},
		{"Exp", TWO("33554432", "1") "node Exp a > y"},
		{"Softmax", TWO("1099511627776 0", "1") "node Softmax a > y"},
		{"MatMul", TWO("1099511627776 0", "0 0") "node MatMul a b > y"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		if (count_left(cases[i].text, cases[i].operator) != 1)
			fail_msg("was computed:\n%s", cases[i].text);
}

/* Each of the products could be paid alone, and what is small always can. */
static void test_the_budget_is_that_of_all_nodes(void **state)
{
	char text[TEXT] = TWO("640 640", "640 640");
	unsigned left;

	(void)state;
	strcat(text, "node MatMul a b > m0\n");
	for (int i = 0; i < 20; i++)
		sprintf(text + strlen(text), "node MatMul m%d b > m%d\n", i, i + 1);
	strcat(text, "ints s -1 4 4\nints t 0 0 0\nnode Add s t > u\nconst v 16\nnode Reshape v u > w\nnode Identity "
		     "m20 > y");
	left = count_left(text, "MatMul");
	assert_in_range(left, 15, 20);
	assert_int_equal(count_left(text, "Add"), 0);
}

static void test_shapes_that_take_too_long_are_refused(void **state)
{
	(void)state;
	unit_op_refuses(MATRICES "node MatMul a b > m\nnode ReduceMax m > r keepdims:i=0\nnode Cast r > i to:i=7\n"
				 "ints one 1\nnode Add i one > s\nconst w 1\nnode Reshape w s > y",
		DLS_ELIMIT, "takes 's', which must be known when the model is loaded and takes too long");
}

/* The weights of a Resize would not fit into any memory. */
static void test_too_many_weights_are_refused(void **state)
{
	(void)state;
	unit_op_refuses(
		"opset 18\nints sa 1000000\nnode ConstantOfShape sa > a\nfloats roi 0 1000000\nfloats f 0.000001\n"
		"node Resize a roi f > y mode:s=linear antialias:i=1 "
		"coordinate_transformation_mode:s=tf_crop_and_resize",
		DLS_ELIMIT, "weigh");
}

UNIT_MAIN(test_what_takes_too_long_is_left_to_the_run, test_the_budget_is_that_of_all_nodes,
	test_shapes_that_take_too_long_are_refused, test_too_many_weights_are_refused)
