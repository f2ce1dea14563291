/* Quantized numbers, and sums of products by equations: what the suites of ONNX leave out, worked out by hand. ONNX's
 * numbers for types in Cast: 2 uint8, 3 int8, 6 int32. */
#include "base/error.h"
#include "test/unit/op.h"
#include "test/unit/unit.h"
#include <math.h>

#define CAST(from, to, type) "node Cast " from " > " to " to:i=" type "\n"
#define MATRIX(name, d)      "ints shape_" name " " d "\nnode Reshape " name "_ shape_" name " > " name "\n"

static void test_saturation_and_ties(void **state)
{
	(void)state;
	UNIT_GIVES(
		"floats x -1 0.25 0.75 1.25 1000 nan\nfloats s 0.5\nnode QuantizeLinear x s > y", 0, 0, 2, 2, 255, 0);
	UNIT_GIVES("floats x -1000 -0.25 -0.75 1000 nan\nfloats s 0.5\nints n 1\n" CAST(
			   "n", "z", "3") "node QuantizeLinear x s z > y",
		-128, 1, -1, 127, -128);
	UNIT_GIVES("floats x 1 -inf inf\nfloats s 0\nnode QuantizeLinear x s > y", 255, 0, 255);
	UNIT_GIVES("ints n 0 255\n" CAST("n", "x", "2") "floats s 0.5\nints m 128\n" CAST(
			   "m", "z", "2") "node DequantizeLinear x s z > y",
		-64, 63.5);
}

static void test_scales_along_an_axis(void **state)
{
	(void)state;
	UNIT_GIVES(
		"opset 13\nfloats x_ 1 2 3 4\n" MATRIX("x", "2 2") "floats s 1 2\nnode QuantizeLinear x s > y axis:i=0",
		1, 2, 2, 2);
	UNIT_GIVES("opset 13\nfloats x_ 1 2 3 4\n" MATRIX("x", "2 2") "floats s 1 2\nnode QuantizeLinear x s > y", 1, 1,
		3, 2);
	/* the last block is shorter */
	UNIT_GIVES("opset 21\nfloats x_ 1 2 3 4 5 6\n" MATRIX("x", "3 2") "floats s_ 1 2 10 0.5\n" MATRIX(
			   "s", "2 2") "node QuantizeLinear x s > y axis:i=0 block_size:i=2",
		1, 1, 3, 2, 0, 12);
	unit_op_refuses("opset 21\nfloats x_ 1 2 3 4 5 6\n" MATRIX("x", "3 2") "floats s_ 1 2\n" MATRIX(
				"s", "1 2") "node QuantizeLinear x s > y axis:i=0 block_size:i=2",
		DLS_EFORMAT, "do not fit");
	unit_op_refuses(
		"floats x 1 2 3\nfloats s 1 2\nnode QuantizeLinear x s > y axis:i=0", DLS_EFORMAT, "do not fit");
	unit_op_refuses("floats x 1 2\nfloats s 1 2\nnode QuantizeLinear x s > y axis:i=1", DLS_EFORMAT, "axis 1");
}

static void test_dynamic(void **state)
{
	(void)state;
	UNIT_GIVES("floats x 1 2 5.1\nnode DynamicQuantizeLinear x > y", 50, 100, 255);
	UNIT_GIVES("floats x 0 0\nnode DynamicQuantizeLinear x > y", 0, 0);
	UNIT_GIVES("floats x -5.1 0\nnode DynamicQuantizeLinear x > z s y", 255);
	UNIT_GIVES("floats x\nnode DynamicQuantizeLinear x > z s y", 0);
}

#define LEFT  "ints i 1 2 3 4\n" CAST("i", "a_", "2") MATRIX("a", "2 2")
#define RIGHT "ints j 1 0 0 1\n" CAST("j", "b_", "3") MATRIX("b", "2 2")

static void test_integer_products(void **state)
{
	(void)state;
	UNIT_GIVES(LEFT RIGHT "node MatMulInteger a b > y", 1, 2, 3, 4);
	UNIT_GIVES(LEFT RIGHT "ints k 1 3\n" CAST("k", "z", "2") "node MatMulInteger a b z > y", 0, 1, 0, 1);
	UNIT_GIVES(LEFT RIGHT "ints k 1 0\n" CAST("k", "z", "3") "node MatMulInteger a b - z > y", -2, 2, -4, 4);
	UNIT_GIVES(LEFT
		"ints v 1 2\n" CAST("v", "b", "3") "ints k 1\n" CAST("k", "z", "3") "node MatMulInteger a b - z > y",
		2, 4);
	unit_op_refuses(
		LEFT RIGHT "ints k 1 0 0\n" CAST("k", "z", "3") "node MatMulInteger a b - z > y", DLS_EFORMAT, "'z'");
	unit_op_refuses(
		LEFT RIGHT "ints k 1 0\n" CAST("k", "z", "2") "node MatMulInteger a b - z > y", DLS_EFORMAT, "'z'");
	/* rows by 1 and 10, columns by 1 and 0.5, over 0.25, and 7 more */
	UNIT_GIVES(LEFT RIGHT "floats r 1 10\nfloats c 1 0.5\nfloats s 0.25\nints k 0 0\nints l 7\n" CAST("k", "az",
			   "2") CAST("k", "bz", "3") CAST("l", "z", "2") "node QLinearMatMul a r az b c bz s z > y",
		11, 11, 127, 87);
}

static void test_equations(void **state)
{
	(void)state;
	UNIT_GIVES("ints a_ 1 2 3 4\n" MATRIX("a", "2 2") "node Einsum a > y equation:s=ii->i", 1, 4);
	UNIT_GIVES("ints a_ 1 2 3 4\n" MATRIX("a", "2 2") "node Einsum a > y equation:s=ii", 5);
	UNIT_GIVES("ints a_ 1 2 3 4\n" MATRIX("a", "2 2") "node Einsum a > y equation:s=ba", 1, 3, 2, 4);
	UNIT_GIVES("ints a_ 1 2 3 4\n" MATRIX("a", "2 2") "ints b 10 1\nnode Einsum a b > y equation:s=...j,j", 12, 34);
	UNIT_GIVES("ints a 1 2\nints b 3 4\nints c 1 10\nnode Einsum a b c > y equation:s=i,j,i->ji", 3, 60, 4, 80);
	UNIT_GIVES("ints a\nnode Einsum a > y equation:s=i->", 0);
	unit_op_refuses("ints a 1 2\nnode Einsum a > y equation:s=ij", DLS_EUNSUPPORTED, "'ij'");
	unit_op_refuses("ints a 1 2\nints b 1 2 3\nnode Einsum a b > y equation:s=i,i", DLS_EUNSUPPORTED, "'i,i'");
	unit_op_refuses("ints a 1 2\nnode Einsum a > y equation:s=i->k", DLS_EUNSUPPORTED, "'i->k'");
	unit_op_refuses("ints a 1 2\nnode Einsum a > y equation:s=i->ii", DLS_EUNSUPPORTED, "'i->ii'");
	unit_op_refuses("ints a 1 2\nnode Einsum a > y equation:s=i,", DLS_EUNSUPPORTED, "'i,'");
	unit_op_refuses("ints a 1 2\nnode Einsum a > y equation:s=..i", DLS_EUNSUPPORTED, "'..i'");
	unit_op_refuses("ints a 1 2\nnode Einsum a a a a > y equation:s=i,i,i,i", DLS_EUNSUPPORTED, "4 inputs");
}

static void test_determinants(void **state)
{
	(void)state;
	UNIT_GIVES("floats a_ 0 2 3 4 1 2 2 4\n" MATRIX("a", "2 2 2") "node Det a > y", -6, 0);
	UNIT_GIVES("floats a_\n" MATRIX("a", "1 0 0") "node Det a > y", 1);
	unit_op_refuses("floats a_ 1 2\n" MATRIX("a", "1 2") "node Det a > y", DLS_EFORMAT, "square");
}

UNIT_MAIN(test_saturation_and_ties, test_scales_along_an_axis, test_dynamic, test_integer_products, test_equations,
	test_determinants)
