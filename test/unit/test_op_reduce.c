/* Reductions, softmaxes and products: what the suites of ONNX leave out, worked out by hand. */
#include "base/error.h"
#include "test/unit/op.h"
#include "test/unit/unit.h"
#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#define CAST(from, to, type) "node Cast " from " > " to " to:i=" type "\n"
#define SIX                  "floats f 1 2 3 4 5 6\n"
#define MATRIX               SIX "ints d 2 3\nnode Reshape f d > m\n"
#define CUBE                 "floats f 1 2 3 4 5 6 7 8\nints d 2 2 2\nnode Reshape f d > m\n"
#define EMPTY                "floats f\nints d 2 0\nnode Reshape f d > m\nints ax 1\n"

static void test_axes(void **state)
{
	(void)state;
	UNIT_GIVES(MATRIX "ints ax -2\nnode ReduceSum m ax > y", 5, 7, 9);
	UNIT_GIVES(MATRIX "ints ax 1\nnode ReduceSum m ax > y keepdims:i=0", 6, 15);
	UNIT_GIVES(MATRIX "node ReduceSum m > y", 21);
	UNIT_GIVES(MATRIX "node ReduceSum m > y noop_with_empty_axes:i=1", 1, 2, 3, 4, 5, 6);
	UNIT_GIVES("opset 18\n" MATRIX "node ReduceSumSquare m > y noop_with_empty_axes:i=1", 1, 4, 9, 16, 25, 36);
	UNIT_GIVES("opset 11\n" CUBE "node ReduceMean m > y axes:I=0,2", 3.5, 5.5);
	UNIT_GIVES("opset 11\n" CUBE "node ReduceProd m > y axes:I=1", 3, 8, 35, 48);
	unit_op_refuses(MATRIX "ints ax 2\nnode ReduceSum m ax > y", DLS_EFORMAT, "axis 2");
	unit_op_refuses(MATRIX "ints ax 1 -1\nnode ReduceSum m ax > y", DLS_EFORMAT, "twice");
}

static void test_empty_sets(void **state)
{
	(void)state;
	UNIT_GIVES("opset 18\n" EMPTY "node ReduceSum m ax > y", 0, 0);
	UNIT_GIVES("opset 18\n" EMPTY "node ReduceProd m ax > y", 1, 1);
	UNIT_GIVES("opset 18\n" EMPTY "node ReduceMax m ax > y", -INFINITY, -INFINITY);
	UNIT_GIVES("opset 18\n" EMPTY "node ReduceMin m ax > y", INFINITY, INFINITY);
	UNIT_GIVES("opset 18\n" EMPTY "node ReduceMean m ax > y", NAN, NAN);
	UNIT_GIVES("opset 18\n" EMPTY "node ReduceLogSumExp m ax > y", -INFINITY, -INFINITY);
	UNIT_GIVES("ints e\nnode ReduceMean e > y", 0);
	UNIT_GIVES("ints e\nnode ReduceMax e > y", -0x1p63);
	UNIT_GIVES("opset 20\nints e\n" CAST("e", "b", "9") "node ReduceMin b > y", 1);
	unit_op_gives("opset 18\n" EMPTY "ints zero 0\nnode ReduceSum m zero > y", 0, NULL);
}

static void test_sums_of_exponentials_do_not_overflow(void **state)
{
	(void)state;
	UNIT_GIVES("floats a 1000 1000\nnode ReduceLogSumExp a > y", 1000 + M_LN2);
	UNIT_GIVES("floats a -inf 3\nnode ReduceLogSumExp a > y", 3);
	UNIT_GIVES("floats a 1000 0 1000\nnode Softmax a > y axis:i=0", 0.5, 0, 0.5);
	UNIT_GIVES("floats a 1000 0\nnode LogSoftmax a > y axis:i=0", 0, -1000);
}

/* Below operator set 13 everything from the axis on is one set; from then on the axis alone. */
static void test_softmax_in_both_meanings(void **state)
{
	const double e = exp(4) / (1 + exp(4)), all = 1 + exp(1) + exp(2) + exp(3);

	(void)state;
	UNIT_GIVES(CUBE "node Hardmax m > y axis:i=1", 0, 0, 1, 1, 0, 0, 1, 1);
	UNIT_GIVES("opset 11\n" CUBE "node Hardmax m > y axis:i=1", 0, 0, 0, 1, 0, 0, 0, 1);
	UNIT_GIVES(CUBE "node Softmax m > y axis:i=0", 1 - e, 1 - e, 1 - e, 1 - e, e, e, e, e);
	UNIT_GIVES("opset 11\n" CUBE "node Softmax m > y axis:i=1", 1 / all, exp(1) / all, exp(2) / all, exp(3) / all,
		1 / all, exp(1) / all, exp(2) / all, exp(3) / all);
	UNIT_GIVES("opset 11\n" CUBE "node LogSoftmax m > y axis:i=-2", -log(all), 1 - log(all), 2 - log(all),
		3 - log(all), -log(all), 1 - log(all), 2 - log(all), 3 - log(all));
	UNIT_GIVES("floats a 3 5 5\nnode Hardmax a > y axis:i=0", 0, 1, 0);
}

static void test_products_of_integers(void **state)
{
	(void)state;
	UNIT_GIVES("ints f 1 2 3 4\nints d 2 2\nnode Reshape f d > m\nints v 10 1\nnode MatMul m v > y", 12, 34);
	UNIT_GIVES("ints f 1 2 3 4\nints d 2 2\nnode Reshape f d > m\nints v 10 1\nnode MatMul v m > y", 13, 24);
	UNIT_GIVES("ints v 10 1\nnode MatMul v v > y", 101);
	UNIT_GIVES("ints f 1 2 3 4\nints d 2 2\nnode Reshape f d > m\nints c 100 200\nnode Gemm m m c > y", 107, 210,
		115, 222);
}

/* Every transposition, with every shape of C that is broadcast. m is [[1 2 3] [4 5 6]], t the same transposed. */
static void test_gemm(void **state)
{
	static const char *const left[] = {"m", "t"}, *const right[] = {"t", "m"};
	static const char *const shapes[] = {"c", "r", "k", "s"};
	static const double added[][4] = {{1, 2, 1, 2}, {1, 2, 1, 2}, {1, 1, 2, 2}, {1, 1, 1, 1}};
	static const double product[] = {14, 32, 32, 77};

	(void)state;
	for (unsigned form = 0; form < 16; form++) {
		bool a = form & 1, b = form & 2;
		double expected[4];
		char text[512];

		snprintf(text, sizeof text,
			MATRIX "node Transpose m > t\nfloats c 1 2\nfloats s 1\nints rd 1 2\nnode Reshape c rd > r\n"
			       "ints kd 2 1\nnode Reshape c kd > k\nnode Gemm %s %s %s > y transA:i=%d transB:i=%d "
			       "alpha:f=0.5 beta:f=2",
			left[a], right[b], shapes[form >> 2], a, b);
		for (unsigned i = 0; i < 4; i++)
			expected[i] = product[i] / 2 + 2 * added[form >> 2][i];
		unit_op_gives(text, 4, expected);
	}
	UNIT_GIVES(SIX "ints d 2 3\nnode Reshape f d > m\nfloats c nan\nnode Gemm m m c > y transB:i=1 beta:f=0", 14,
		32, 32, 77);
}

static void test_products_of_nothing(void **state)
{
	(void)state;
	UNIT_GIVES("floats f\nints d 2 0\nints e 0 2\nnode Reshape f d > a\nnode Reshape f e > b\nnode MatMul a b > y",
		0, 0, 0, 0);
	UNIT_GIVES("floats f\nints d 1 0\nints e 0 1\nnode Reshape f d > a\nnode Reshape f e > b\nfloats c 3\nnode "
		   "Gemm a b c "
		   "> y",
		3);
	unit_op_gives("floats f\nints d 0 2\nnode Reshape f d > a\nfloats v 1 2\nnode MatMul a v > y", 0, NULL);
}

UNIT_MAIN(test_axes, test_empty_sets, test_sums_of_exponentials_do_not_overflow, test_softmax_in_both_meanings,
	test_products_of_integers, test_gemm, test_products_of_nothing)
