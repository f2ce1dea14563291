/* Convolutions, and pools in the corners of their windows, computed by hand: by the device and by the operator's own
 * eval. */
#include "device/device.h"
#include "device/model.h"
#include "op/list.h"
#include "reader/load.h"
#include "test/unit/onnx.h"
#include "test/unit/op.h"
#include "test/unit/unit.h"
#include <math.h>
#include <string.h>

enum { MOST = 8 };

struct example {
	const char *model;
	float input[MOST], output[MOST];
};

#define POOL(operator, dims, attributes) "in x 1 1 " dims "\nnode " operator" x > y " attributes "\nout y\n"
#define AVERAGE(dims, attributes)        POOL("AveragePool", dims, attributes)
#define MAX(dims, attributes)            POOL("MaxPool", dims, attributes)

#define CONV(operator, dims, kernel, weights, attributes)                                                              \
	"in x 1 1 " dims "\nfloats v " weights "\nints s 1 1 " kernel "\nnode Reshape v s > w\nnode "                  \
	operator" x w > y " attributes "\nout y\n"
#define FOUR(attributes) CONV("Conv", "2 2", "2 2", "1 10 100 1000", attributes)
#define PAIR(attributes) CONV("Conv", "3", "2", "1 10", attributes)

static const struct example examples[] = {
	/* a digit of the result for each pixel under the window: the order of pads is top, left, bottom, right */
	{FOUR(""), {1, 2, 3, 4}, {4321}},
	{FOUR("pads:I=1,0,0,0"), {1, 2, 3, 4}, {2100, 4321}},
	{FOUR("pads:I=0,1,0,0"), {1, 2, 3, 4}, {3010, 4321}},
	{FOUR("pads:I=0,0,1,0"), {1, 2, 3, 4}, {4321, 43}},
	{FOUR("pads:I=0,0,0,1"), {1, 2, 3, 4}, {4321, 402}},
	{FOUR("pads:I=1,0,2,1"), {1, 2, 3, 4}, {2100, 200, 4321, 402, 43, 4, 0, 0}},
	{FOUR("pads:I=1,2,3,4 strides:I=3,3"), {1, 2, 3, 4}, {0, 200, 0, 0, 0, 0}},
	/* an odd pixel of padding comes after the image, or before it */
	{PAIR("auto_pad:s=SAME_UPPER"), {1, 2, 3}, {21, 32, 3}},
	{PAIR("auto_pad:s=SAME_LOWER"), {1, 2, 3}, {10, 21, 32}},
	{PAIR("auto_pad:s=SAME_UPPER strides:I=2"), {1, 2, 3}, {21, 3}},
	{PAIR("auto_pad:s=SAME_LOWER strides:I=2"), {1, 2, 3}, {10, 32}},
	{PAIR("auto_pad:s=VALID strides:I=2"), {1, 2, 3}, {21}},
	{PAIR("dilations:I=2 pads:I=1,0"), {1, 2, 3}, {20, 31}},
	/* the way back: each pixel gives the whole window, and pads are cut off */
	{CONV("ConvTranspose", "2", "2", "1 10", "strides:I=2"), {1, 2}, {1, 10, 2, 20}},
	{CONV("ConvTranspose", "2", "2", "1 10", ""), {1, 2}, {1, 12, 20}},
	{CONV("ConvTranspose", "2", "2", "1 10", "pads:I=1,0"), {1, 2}, {12, 20}},
	{CONV("ConvTranspose", "2", "2", "1 10", "pads:I=0,1"), {1, 2}, {1, 12}},
	{CONV("ConvTranspose", "2", "2", "1 10", "strides:I=2 output_padding:I=1"), {1, 2}, {1, 10, 2, 20, 0}},
	/* pads and what ceil_mode lets stick out behind them */
	{AVERAGE("4", "kernel_shape:I=3 strides:I=3 pads:I=1,1 ceil_mode:i=1"), {1, 2, 3, 4}, {1.5F, 3.5F}},
	{AVERAGE("4", "kernel_shape:I=3 strides:I=3 pads:I=1,1 ceil_mode:i=1 count_include_pad:i=1"), {1, 2, 3, 4},
		{1, 7 / 3.0F}},
	{AVERAGE("5", "kernel_shape:I=3 strides:I=2 pads:I=1,0 ceil_mode:i=1"), {1, 2, 3, 4, 5}, {1.5F, 3, 4.5F}},
	{AVERAGE("5", "kernel_shape:I=3 strides:I=2 pads:I=1,0 ceil_mode:i=1 count_include_pad:i=1"), {1, 2, 3, 4, 5},
		{1, 3, 4.5F}},
	/* a window that would begin in the padding is none; one that is larger than the image sticks out */
	{AVERAGE("3", "kernel_shape:I=2 strides:I=3 pads:I=0,1 ceil_mode:i=1 count_include_pad:i=1"), {1, 2, 3},
		{1.5F}},
	{AVERAGE("2", "kernel_shape:I=3 strides:I=2 ceil_mode:i=1"), {1, 2}, {1.5F}},
	{MAX("2", "kernel_shape:I=3 strides:I=2 ceil_mode:i=1"), {1, 2}, {2}},
	/* the order of pads: top, left, bottom, right */
	{AVERAGE("2 2", "kernel_shape:I=2,2 pads:I=1,0,0,0 count_include_pad:i=1"), {1, 2, 3, 4}, {0.75F, 2.5F}},
	{AVERAGE("2 2", "kernel_shape:I=2,2 pads:I=0,1,0,0 count_include_pad:i=1"), {1, 2, 3, 4}, {1, 2.5F}},
	{AVERAGE("2 2", "kernel_shape:I=2,2 pads:I=0,0,1,0 count_include_pad:i=1"), {1, 2, 3, 4}, {2.5F, 1.75F}},
	{AVERAGE("2 2", "kernel_shape:I=2,2 pads:I=0,0,0,1 count_include_pad:i=1"), {1, 2, 3, 4}, {2.5F, 1.5F}},
	{AVERAGE("3", "kernel_shape:I=2 auto_pad:s=SAME_UPPER"), {1, 2, 3}, {1.5F, 2.5F, 3}},
	{AVERAGE("3", "kernel_shape:I=2 auto_pad:s=SAME_LOWER"), {1, 2, 3}, {1, 1.5F, 2.5F}},
	{MAX("3", "kernel_shape:I=2 auto_pad:s=SAME_UPPER"), {-1, -2, -3}, {-1, -2, -3}},
	{MAX("3", "kernel_shape:I=2 auto_pad:s=SAME_LOWER"), {-1, -2, -3}, {-1, -1, -2}},
	/* padding is minus infinity, also where there is nothing else; the mean of nothing is not a number */
	{MAX("3", "kernel_shape:I=3 pads:I=1,1"), {-1, -2, -3}, {-1, -1, -2}},
	{MAX("3", "kernel_shape:I=2 pads:I=2,2"), {1, 2, 3}, {-INFINITY, 1, 2, 3, 3, -INFINITY}},
	{AVERAGE("3", "kernel_shape:I=2 pads:I=2,2"), {1, 2, 3}, {NAN, 1, 1.5F, 2.5F, 3, NAN}},
	{AVERAGE("3", "kernel_shape:I=2 pads:I=2,2 count_include_pad:i=1"), {1, 2, 3}, {0, 0.5F, 1.5F, 2.5F, 1.5F, 0}},
	{MAX("1", "kernel_shape:I=2 dilations:I=2 pads:I=1,1"), {5}, {-INFINITY}}, /* the image is in the gap */
	{MAX("3", "kernel_shape:I=2 dilations:I=2 pads:I=1,1"), {1, 2, 3}, {2, 3, 2}},
	{AVERAGE("4", "kernel_shape:I=2 dilations:I=2"), {1, 2, 3, 5}, {2, 3.5F}},
	/* infinities and what is no number */
	{MAX("4", "kernel_shape:I=2 pads:I=1,1"), {-INFINITY, -INFINITY, NAN, 1}, {-INFINITY, -INFINITY, NAN, NAN, 1}},
	{MAX("1 4", "kernel_shape:I=1,2 pads:I=0,1,0,1"), {-INFINITY, -INFINITY, NAN, 1},
		{-INFINITY, -INFINITY, NAN, NAN, 1}},
	{MAX("2 1 3", "kernel_shape:I=2,1,2"), {-INFINITY, -INFINITY, NAN, -INFINITY, -INFINITY, 1}, {-INFINITY, NAN}},
	{MAX("2 1 2", "kernel_shape:I=2,1,1 pads:I=1,0,0,0,0,0"), {1, -2, 3, NAN}, {1, -2, 3, NAN}},
	{MAX("4", "kernel_shape:I=2 dilations:I=2"), {-INFINITY, NAN, -INFINITY, 1}, {-INFINITY, NAN}},
	{POOL("GlobalMaxPool", "2 2", ""), {-3, NAN, -2, -9}, {NAN}},
	{POOL("GlobalMaxPool", "1 2 1", ""), {-INFINITY, -INFINITY}, {-INFINITY}},
	{AVERAGE("3", "kernel_shape:I=2"), {1, INFINITY, -INFINITY}, {INFINITY, NAN}},
	/* the others */
	{POOL("LpPool", "3", "kernel_shape:I=2 p:i=1 pads:I=0,1"), {-1, 2, -3}, {3, 5, 3}},
	{POOL("LpPool", "2", "kernel_shape:I=2 p:i=3"), {1, -2}, {2.0800838F}},
	{POOL("GlobalLpPool", "1 2", ""), {-3, 4}, {5}},
	{POOL("GlobalMaxPool", "2 2", ""), {-3, -4, -2, -9}, {-2}},
	{POOL("GlobalMaxPool", "1 1 2 1 2", ""), {-3, -4, -2, -9}, {-2}},
	{POOL("GlobalAveragePool", "1 1 2 1 2", ""), {1, 2, 3, 6}, {3}},
	{"in x 1 4\nnode GlobalAveragePool x > y\nout y", {1, 2, 3, 6}, {1, 2, 3, 6}},
};

static void compare(const struct example *example, const char *who, const float *output, size_t count)
{
	assert_true(count <= MOST);
	for (size_t i = 0; i < count; i++) {
		float wanted = example->output[i];

		if (isnan(wanted) ? !isnan(output[i]) : output[i] != wanted && !(fabsf(output[i] - wanted) < 1e-6F))
			fail_msg("%s: element %zu is %g, not %g, in\n%s", who, i, (double)output[i], (double)wanted,
				example->model);
	}
}

static struct dls_tensor tensor(const struct dlsi_model_port *port, const float *data)
{
	struct dls_tensor tensor = {.size = sizeof tensor, .dtype = DLS_FLOAT32, .rank = port->rank, .data = data};

	memcpy(tensor.dims, port->dims, sizeof port->dims);
	assert_int_equal(dls_tensor_bytes(DLS_FLOAT32, tensor.rank, tensor.dims, &tensor.bytes), 0);
	return tensor;
}

static void run_on_device(const struct example *example, struct dlsi_device *device)
{
	struct dlsi_rng rng = unit_rng(1);
	struct dlsi_buffer file = {0};
	struct dlsi_model *model;
	struct dls_tensor in, out;
	struct dls_error err = {0};
	float output[MOST] = {0};

	unit_onnx(&file, &rng, example->model);
	if (dlsi_model_load(unit_alloc(), device, "net.onnx",
		    &(struct dlsi_onnx){.file = file.data, .length = file.length}, &model, &err))
		fail_msg("%s", err.text);
	in = tensor(dlsi_model_input(model, 0), example->input);
	out = tensor(dlsi_model_output(model, 0), output);
	assert_true(in.bytes <= sizeof example->input && out.bytes <= sizeof output);
	assert_int_equal(dlsi_model_run(model, 1, &in, &out, &err), 0);
	compare(example, "the device", output, out.bytes / sizeof *output);
	dlsi_model_destroy(model);
	dlsi_buffer_fini(&file);
}

static struct dlsi_graph *load(struct dlsi_buffer *file, const char *text)
{
	struct dlsi_rng rng = unit_rng(1);
	struct dlsi_graph *graph = NULL;
	struct dls_error err = {0};

	unit_onnx(file, &rng, text);
	if (unit_onnx_load(unit_alloc(), file, &graph, &err))
		fail_msg("%s\n%s", err.text, text);
	assert_int_equal(graph->node_count, 1);
	return graph;
}

static struct dlsi_view view(const struct dlsi_value *value, void *data)
{
	struct dlsi_view view = {.dtype = value->dtype, .rank = value->rank, .data = data};

	memcpy(view.dims, value->dims, sizeof view.dims);
	return view;
}

static void evaluate(const struct example *example)
{
	struct dlsi_buffer file = {0};
	struct dlsi_graph *graph = load(&file, example->model);
	const struct dlsi_node *node = &graph->nodes[0];
	float output[MOST];
	struct dlsi_view in[] = {view(dlsi_node_input(graph, node, 0), (void *)example->input), {0}};
	struct dlsi_view out = view(dlsi_node_output(graph, node), output);

	if (node->input_count > 1)
		in[1] = view(dlsi_node_input(graph, node, 1), (void *)dlsi_node_input(graph, node, 1)->data);
	assert_int_equal(node->op->eval(node, in, &out, unit_alloc(), NULL), 0);
	compare(example, "eval", output, dlsi_view_count(&out));
	dlsi_graph_destroy(graph);
	dlsi_buffer_fini(&file);
}

static void test_corners(void **state)
{
	struct dlsi_device *device;

	(void)state;
	assert_int_equal(dlsi_device_create(unit_alloc(), &dlsi_device_onednn, NULL, &device, NULL), 0);
	for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
		evaluate(&examples[i]);
		run_on_device(&examples[i], device);
	}
	dlsi_device_destroy(device);
}

/* Of the second output: where the largest element is, counted along the last or the first dimension. */
static void assert_indices(const char *model, const float *input, const int64_t *wanted, size_t count)
{
	struct dlsi_buffer file = {0};
	struct dlsi_graph *graph = load(&file, model);
	const struct dlsi_node *node = &graph->nodes[0];
	float largest[MOST];
	int64_t indices[MOST];
	struct dlsi_view in = view(dlsi_node_input(graph, node, 0), (void *)input);
	struct dlsi_view outs[] = {
		view(dlsi_node_output(graph, node), largest), view(&graph->values[node->outputs[1]], indices)};

	assert_int_equal(dlsi_view_count(&outs[1]), count);
	assert_int_equal(node->op->eval(node, &in, outs, unit_alloc(), NULL), 0);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(indices[i], wanted[i]);
	assert_non_null(strstr(graph->unbatchable, "numbers the elements of the whole batch"));
	dlsi_graph_destroy(graph);
	dlsi_buffer_fini(&file);
}

#define INDICES(model, input, ...)                                                                                     \
	assert_indices(model "\nout i\n", (const float[])input, (const int64_t[]){__VA_ARGS__},                        \
		sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t))
#define LIST(...)                                                                                                      \
	{                                                                                                              \
		__VA_ARGS__                                                                                            \
	}

static void test_indices(void **state)
{
	(void)state;
	INDICES("in x 1 1 2 3\nnode MaxPool x > y i kernel_shape:I=2,2", LIST(1, 5, 2, 6, 3, 4), 3, 1);
	INDICES("in x 1 1 2 3\nnode MaxPool x > y i kernel_shape:I=2,2 storage_order:i=1", LIST(1, 5, 2, 6, 3, 4), 1,
		2);
	INDICES("in x 1 2 3\nnode MaxPool x > y i kernel_shape:I=2", LIST(1, 1, 0, 3, NAN, NAN), 0, 1, 4, 4);
	INDICES("in x 1 1 2\nnode MaxPool x > y i kernel_shape:I=1 pads:I=0,1", LIST(1, 1), 0, 1, -1);
}

static void test_no_items(void **state)
{
	static const char *const models[] = {AVERAGE("4", "kernel_shape:I=2"), MAX("4", "kernel_shape:I=2"),
		POOL("LpPool", "4", "kernel_shape:I=2"), POOL("GlobalMaxPool", "4", ""),
		"in x 1 2 4\nin w 2 2 1\nnode Conv x w > y\nout y",
		"in x 1 2 4\nin w 2 2 1\nnode ConvTranspose x w > y\nout y"};

	(void)state;
	for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
		struct dlsi_buffer file = {0};
		struct dlsi_graph *graph = load(&file, models[i]);
		const struct dlsi_node *node = &graph->nodes[0];
		float weights[4] = {1, 2, 3, 4}, untouched = 7;
		struct dlsi_view in[2] = {view(dlsi_node_input(graph, node, 0), weights)};
		struct dlsi_view out = view(dlsi_node_output(graph, node), &untouched);

		if (node->input_count > 1)
			in[1] = view(dlsi_node_input(graph, node, 1), weights);
		in[0].dims[0] = out.dims[0] = 0;
		assert_int_equal(node->op->eval(node, in, &out, unit_alloc(), NULL), 0);
		assert_true(untouched == 7);
		dlsi_graph_destroy(graph);
		dlsi_buffer_fini(&file);
	}
}

/* Indices count in the image that the window reaches; output_shape may be larger. */
static void test_unpooling(void **state)
{
	(void)state;
	UNIT_GIVES("floats v 5 6 7 8\nints s 1 1 2 2\nnode Reshape v s > x\nints j 0 3 10 15\nnode Reshape j s > i\n"
		   "node MaxUnpool x i > y kernel_shape:I=2,2 strides:I=2,2",
		5, 0, 0, 6, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 8);
	UNIT_GIVES("floats v 5 6\nints s 1 1 2\nnode Reshape v s > x\nints j 1 3\nnode Reshape j s > i\nints o 1 1 5\n"
		   "node MaxUnpool x i o > y kernel_shape:I=2 strides:I=2",
		0, 5, 0, 6, 0);
	unit_op_refuses("floats v 5 6\nints s 1 1 2\nnode Reshape v s > x\nints j 1 4\nnode Reshape j s > i\n"
			"node MaxUnpool x i > y kernel_shape:I=2 strides:I=2",
		DLS_EFORMAT, "has the index 4, outside of its output");
	unit_op_refuses("floats v 5 6\nints s 1 1 2\nnode Reshape v s > x\nints j 1 -1\nnode Reshape j s > i\n"
			"node MaxUnpool x i > y kernel_shape:I=2 strides:I=2",
		DLS_EFORMAT, "has the index -1");
}

#define REGION "floats v 1 2 3 4 5 6 7 8 9\nints s 1 1 3 3\nnode Reshape v s > x\nints t -1 4\nints u -1 5\n"

static void test_regions(void **state)
{
	(void)state;
	UNIT_GIVES(REGION "floats a 0 1 0 2 1\nnode Reshape a u > r\nnode MaxRoiPool x r > y pooled_shape:I=1,2", 5, 6);
	UNIT_GIVES(REGION "floats a 0 7 7 9 9\nnode Reshape a u > r\nnode MaxRoiPool x r > y pooled_shape:I=1,1", 0);
	UNIT_GIVES(REGION
		"floats a 0 0 2 2\nnode Reshape a t > r\nints i 0\n"
		"node RoiAlign x r i > y coordinate_transformation_mode:s=output_half_pixel sampling_ratio:i=1",
		5);
	UNIT_GIVES("opset 16\n" REGION "floats a 0 0 2 2\nnode Reshape a t > r\nints i 0\nnode RoiAlign x r i > y", 3);
	unit_op_refuses("opset 16\n" REGION "floats a 0 0 2 2\nnode Reshape a t > r\nints i 1\nnode RoiAlign x r i > y",
		DLS_EFORMAT, "has a region of item 1, where there are 1");
	unit_op_refuses("opset 16\n" REGION
			"floats a 0 0 2 1000000000\nnode Reshape a t > r\nints i 0\nnode RoiAlign x r i > y",
		DLS_EFORMAT, "bins are more than");
}

UNIT_MAIN(test_corners, test_indices, test_no_items, test_unpooling, test_regions)
