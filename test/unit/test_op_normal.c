/* Normalisations: what the suites of ONNX leave out, worked out by hand. */
#include "base/error.h"
#include "test/unit/op.h"
#include "test/unit/unit.h"
#include <math.h>

/* 1 item, 4 channels of 2 pixels, then 2 items of 2 channels of 2 pixels */
#define CHANNELS "floats f 1 3 2 6 0 0 5 9\nints d 1 4 2\nnode Reshape f d > x\n"
#define ITEMS    "floats f 1 3 2 6 0 0 5 9\nints d 2 2 2\nnode Reshape f d > x\n"

/* What lrn gives for a pixel when these are the squares in its window, with alpha / size of 1, bias 1 and beta 1. */
#define LRN(x, squares) ((x) / (1.0 + (squares)))

static void test_lrn(void **state)
{
	(void)state;
	/* an even window has one channel more after than before */
	UNIT_GIVES(CHANNELS "node LRN x > y size:i=2 alpha:f=2 beta:f=1", LRN(1, 1 + 4), LRN(3, 9 + 36), LRN(2, 4 + 0),
		LRN(6, 36 + 0), LRN(0, 25), LRN(0, 81), LRN(5, 25), LRN(9, 81));
	/* and no channel of another item is in it */
	UNIT_GIVES(ITEMS "node LRN x > y size:i=3 alpha:f=3 beta:f=1", LRN(1, 1 + 4), LRN(3, 9 + 36), LRN(2, 4 + 1),
		LRN(6, 36 + 9), LRN(0, 25), LRN(0, 81), LRN(5, 25), LRN(9, 81));
	UNIT_GIVES(CHANNELS "node LRN x > y size:i=100 alpha:f=100 beta:f=1", LRN(1, 30), LRN(3, 126), LRN(2, 30),
		LRN(6, 126), LRN(0, 30), LRN(0, 126), LRN(5, 30), LRN(9, 126));
	unit_op_refuses(CHANNELS "node LRN x > y", DLS_EFORMAT, "window of 0 channels");
	unit_op_refuses("floats x 1\nnode LRN x > y size:i=1", DLS_EFORMAT, "no channels");
}

static void test_layers(void **state)
{
	(void)state;
	UNIT_GIVES("opset 17\n" CHANNELS "floats s 1 10\nfloats b 5\nnode LayerNormalization x s b > y epsilon:f=0", 4,
		15, 4, 15, NAN, NAN, 4, 15);
	/* the scale is broadcast also along the dimensions that are normalised over */
	UNIT_GIVES("opset 17\nfloats f 1 3 1 3\nints d 2 2\nnode Reshape f d > x\nfloats g 1 10\nints e 2 1\nnode "
		   "Reshape g e "
		   "> s\nnode LayerNormalization x s > y axis:i=0 epsilon:f=0",
		-1, 1, -10, 10);
	UNIT_GIVES("opset 17\n" CHANNELS "floats s 1\nnode LayerNormalization x s > z - y epsilon:f=0", 1, 0.5,
		INFINITY, 0.5);
	UNIT_GIVES("opset 17\n" CHANNELS "floats s 1\nnode LayerNormalization x s > z y axis:i=1", 3.25);
	UNIT_GIVES("opset 23\nfloats x 3 4 0 0\nfloats s 1 1 1 2\nnode RMSNormalization x s > y epsilon:f=0", 1.2, 1.6,
		0, 0);
	unit_op_refuses(
		"opset 17\n" CHANNELS "floats s 1 2 3\nnode LayerNormalization x s > y", DLS_EFORMAT, "do not fit");
	unit_op_refuses("opset 17\nfloats x 1\nints d 3 1\nconst s 3 1\nnode LayerNormalization x s > y", DLS_EFORMAT,
		"scales that do not fit");
}

static void test_groups_of_channels(void **state)
{
	const double a = 1 / sqrt(3.5), b = 1 / sqrt(14.25);

	(void)state;
	/* a scale for each group before operator set 21, then one for each channel */
	UNIT_GIVES("opset 18\n" CHANNELS
		   "floats s 1 10\nfloats b 0 1\nnode GroupNormalization x s b > y num_groups:i=2 "
		   "epsilon:f=0",
		-2 * a, 0, -a, 3 * a, 1 - 35 * b, 1 - 35 * b, 1 + 15 * b, 1 + 55 * b);
	UNIT_GIVES("opset 21\n" CHANNELS
		   "floats s 1 10 1 1\nfloats b 0 0 0 1\nnode GroupNormalization x s b > y num_groups:i=2 epsilon:f=0",
		-2 * a, 0, -10 * a, 30 * a, -3.5 * b, -3.5 * b, 1 + 1.5 * b, 1 + 5.5 * b);
	UNIT_GIVES(ITEMS "floats s 1 10\nfloats b 0 1\nnode InstanceNormalization x s b > y epsilon:f=1e-12", -1, 1, -9,
		11, 0, 0, -9, 11);
	unit_op_refuses("opset 18\n" CHANNELS
			"floats s 1\nfloats b 1\nnode GroupNormalization x s b > y num_groups:i=3",
		DLS_EFORMAT, "4 channels into 3 groups");
	unit_op_refuses("opset 18\n" CHANNELS "floats s 1\nfloats b 1\nnode GroupNormalization x s b > y", DLS_EFORMAT,
		"into 0 groups");
}

static void test_over_axes(void **state)
{
	(void)state;
	UNIT_GIVES("floats f 3 4 0 0\nints d 2 2\nnode Reshape f d > x\nnode LpNormalization x > y", 0.6, 0.8, 0, 0);
	UNIT_GIVES("floats f 3 -4 1 0\nints d 2 2\nnode Reshape f d > x\nnode LpNormalization x > y axis:i=0 p:i=1",
		0.75, -1, 0.25, 0);
	UNIT_GIVES(ITEMS "node MeanVarianceNormalization x > y axes:I=2", -1, 1, -1, 1, 0, 0, -1, 1);
	UNIT_GIVES("floats f 1 10 3 30\nints d 2 2 1 1\nnode Reshape f d > x\nnode MeanVarianceNormalization x > y", -1,
		-1, 1, 1);
	unit_op_refuses(ITEMS "node MeanVarianceNormalization x > y", DLS_EFORMAT, "0, 2 and 3");
	unit_op_refuses(ITEMS "node LpNormalization x > y p:i=3", DLS_EFORMAT, "order 3");
}

static void test_by_given_statistics(void **state)
{
	(void)state;
	UNIT_GIVES(ITEMS
		"floats s 2 1\nfloats b 0 5\nfloats m 1 2\nfloats v 4 1\nnode BatchNormalization x s b m v > y "
		"epsilon:f=0",
		0, 2, 5, 9, -1, -1, 8, 12);
	unit_op_refuses(ITEMS "floats s 1\nnode BatchNormalization x s s s s > y", DLS_EFORMAT, "for 2 channels");
}

static void test_nothing_to_normalise(void **state)
{
	(void)state;
	unit_op_gives(
		"opset 17\nfloats f\nints d 2 0\nnode Reshape f d > x\nfloats s 1\nnode LayerNormalization x s > y", 0,
		NULL);
	unit_op_gives("floats f\nints d 0 3\nnode Reshape f d > x\nnode LpNormalization x > y", 0, NULL);
	unit_op_gives("floats f\nints d 0 3 2\nnode Reshape f d > x\nnode LRN x > y size:i=3", 0, NULL);
	unit_op_gives(
		"floats f\nints d 2 3 0\nnode Reshape f d > x\nfloats s 1 1 1\nnode InstanceNormalization x s s > y", 0,
		NULL);
	unit_op_gives("floats f\nints d 2 0 3\nnode Reshape f d > x\nnode Softmax x > y", 0, NULL);
}

UNIT_MAIN(test_lrn, test_layers, test_groups_of_channels, test_over_axes, test_by_given_statistics,
	test_nothing_to_normalise)
