/* Element by element: what the suites of ONNX leave out, worked out by hand. ONNX's numbers for types in Cast: 1
 * float32, 2 uint8, 3 int8, 6 int32, 7 int64, 9 bool, 11 float64, 13 uint64. */
#include "base/error.h"
#include "test/unit/op.h"
#include "test/unit/unit.h"
#include <math.h>

#define CAST(from, to, type) "node Cast " from " > " to " to:i=" type "\n"

static void test_least_integers_wrap_around(void **state)
{
	(void)state;
	UNIT_GIVES("ints a -9223372036854775808 -3\nnode Abs a > y", -0x1p63, 3);
	UNIT_GIVES("ints a -9223372036854775808\nnode Neg a > y", -0x1p63);
	UNIT_GIVES("ints a -9223372036854775808 7 -7\nints b -1 -2 2\nnode Div a b > y", -0x1p63, -3, -3);
	UNIT_GIVES("ints a -9223372036854775808\nints b -1\nnode Mod a b > y", 0);
	UNIT_GIVES("ints n 127 100\n" CAST("n", "a", "3") "node Add a a > y", -2, -56);
	UNIT_GIVES("ints n 1 0\n" CAST("n", "a", "2") "ints m 2 1\n" CAST("m", "b", "2") "node Sub a b > y", 255, 255);
}

static void test_integers_are_not_divided_by_zero(void **state)
{
	(void)state;
	unit_op_refuses("ints a 1 2\nints b 1 0\nnode Div a b > y", DLS_EFORMAT, "divides an integer by zero");
	unit_op_refuses("ints a 1 2\nints b 0\nnode Mod a b > y", DLS_EFORMAT, "divides an integer by zero");
	UNIT_GIVES("floats a 1 -1 0\nfloats b 0\nnode Div a b > y", INFINITY, -INFINITY, NAN);
}

static void test_remainders_have_the_sign_of_one_or_the_other(void **state)
{
	(void)state;
	UNIT_GIVES("ints a 7 -7 7 -7 6\nints b 3 3 -3 -3 -3\nnode Mod a b > y", 1, 2, -2, -1, 0);
	UNIT_GIVES("ints a 7 -7 7 -7\nints b 3 3 -3 -3\nnode Mod a b > y fmod:i=1", 1, -1, 1, -1);
	UNIT_GIVES("floats a 5.5 -5.5\nfloats b 2\nnode Mod a b > y fmod:i=1", 1.5, -1.5);
	UNIT_GIVES("opset 28\nfloats a 5.5 -5.5 -1\nfloats b 2 2 inf\nnode Mod a b > y", 1.5, 0.5, INFINITY);
}

static void test_nan_stays(void **state)
{
	(void)state;
	UNIT_GIVES("floats a nan 1 -1\nnode Relu a > y", NAN, 1, 0);
	UNIT_GIVES("floats a nan 1 -1\nfloats h 0.5\nnode Clip a - h > y", NAN, 0.5, -1);
	UNIT_GIVES("floats a nan 1 2\nfloats b 1 nan 1\nnode Max a b > y", NAN, NAN, 2);
	UNIT_GIVES("floats a nan 1 2\nfloats b 1 nan 1\nnode Min a b > y", NAN, NAN, 1);
	UNIT_GIVES("floats a nan -2 0\nnode Sign a > y", NAN, -1, 0);
	UNIT_GIVES("floats a nan\nfloats s 0.5\nnode PRelu a s > y", NAN);
	UNIT_GIVES("floats a nan\nnode LeakyRelu a > y", NAN);
}

static void test_clip(void **state)
{
	(void)state;
	UNIT_GIVES("floats a -2 0 2\nfloats l 1\nfloats h -1\nnode Clip a l h > y", -1, -1, -1);
	UNIT_GIVES("floats a -2 0 inf\nfloats l -1\nnode Clip a l > y", -1, 0, INFINITY);
	UNIT_GIVES("ints a -5 0 5\nints l -1\nnode Clip a l > y", -1, 0, 5);
	UNIT_GIVES("opset 7\nfloats a -2 0 2\nnode Clip a > y min:f=-1 max:f=1", -1, 0, 1);
	unit_op_refuses("floats a 1\nfloats l 0 1\nnode Clip a l > y", DLS_EFORMAT, "not one number");
}

static void test_large_arguments_neither_overflow_nor_vanish(void **state)
{
	(void)state;
	UNIT_GIVES("floats a -200 0 200\nnode Softplus a > y", 0, M_LN2, 200);
	UNIT_GIVES("floats a -200 0 200\nnode Sigmoid a > y", 0, 0.5, 1);
	UNIT_GIVES("opset 18\nfloats a -200 0 200\nnode Mish a > y", 0, 0, 200);
	UNIT_GIVES("floats a -200 0 200\nnode Elu a > y alpha:f=2", -2, 0, 200);
}

static void test_integers_stay_within_their_type(void **state)
{
	(void)state;
	UNIT_GIVES(
		"ints v -100 100 1 0\nnode Cast v > c to:i=3\nnode Shrink c > s bias:f=-100 lambd:f=1\nnode Cast s > "
		"y to:i=7",
		-128, 127, 0, 0);
	UNIT_GIVES("ints v 9007199254740992\nnode Shrink v > y bias:f=-1e30", 9223372036854773760.0);
	UNIT_GIVES("ints v 3 4\nnode ReduceL2 v > y", 5);
	UNIT_GIVES("ints v 3037000500\nnode ReduceL2 v > y", 0); /* whose square wraps around */
}

static void test_powers(void **state)
{
	(void)state;
	UNIT_GIVES("ints a 3 -2 2 -1 0\nints b 4 3 -1 -3 0\nnode Pow a b > y", 81, -8, 0, -1, 1);
	UNIT_GIVES("ints a 9 2\nfloats b 0.5 2\nnode Pow a b > y", 3, 4);
	UNIT_GIVES("floats a 9 -2\nints b -1 3\nnode Pow a b > y", 1.0 / 9, -8);
}

static void test_shifts_by_all_bits_and_more(void **state)
{
	(void)state;
	UNIT_GIVES("opset 28\nints a 1 1 1\nints b 62 64 -1\nnode BitShift a b > y direction:s=LEFT", 0x1p62, 0, 0);
	UNIT_GIVES("opset 28\nints a -8 -8 8 -8\nints b 1 64 64 -1\nnode BitShift a b > y direction:s=RIGHT", -4, -1, 0,
		-1);
}

static void test_broadcasting(void **state)
{
	(void)state;
	UNIT_GIVES("floats a 1 2\nints s 2 1\nnode Reshape a s > c\nfloats b 10 20 30\nnode Mul c b > y", 10, 20, 30,
		20, 40, 60);
	UNIT_GIVES("floats a 3\nfloats b 1 2\nints s 2 1\nnode Reshape b s > c\nfloats d 0 9\nnode Max a c d > y", 3, 9,
		3, 9);
	UNIT_GIVES("floats a 3\nfloats b 1 2\nfloats c 5\nnode Mean a b c > y", 3, 10.0 / 3);
	unit_op_refuses("floats a 1 2\nfloats b 1 2 3\nnode Less a b > y", DLS_EFORMAT, "do not fit");
	unit_op_refuses("floats a 1\nfloats s 1 2\nnode PRelu a s > y", DLS_EFORMAT, "slopes");
}

static void test_types(void **state)
{
	(void)state;
	unit_op_refuses("floats a 1\nints b 1\nnode Add a b > y", DLS_EFORMAT, "'a' of float32 beside 'b' of int64");
	unit_op_refuses("ints a 1\nnode Exp a > y", DLS_EUNSUPPORTED, "of int64, which it is not defined for");
	UNIT_GIVES("floats a 2.5 -2.5 3.5\n" CAST("a", "b", "11") "node Round b > y", 2, -2, 4);
	UNIT_GIVES("ints a 0 2\n" CAST("a", "b", "9") "node Not b > y", 1, 0);
}

static void test_nothing_is_computed_of_nothing(void **state)
{
	(void)state;
	unit_op_gives("floats a\nnode Exp a > y", 0, NULL);
	unit_op_gives("ints a\nints b 0\nnode Div a b > y", 0, NULL);
	unit_op_gives("floats a\nfloats b 1\nnode Sum a b > y", 0, NULL);
}

UNIT_MAIN(test_least_integers_wrap_around, test_integers_are_not_divided_by_zero,
	test_remainders_have_the_sign_of_one_or_the_other, test_nan_stays, test_clip,
	test_large_arguments_neither_overflow_nor_vanish, test_powers, test_integers_stay_within_their_type,
	test_shifts_by_all_bits_and_more, test_broadcasting, test_types, test_nothing_is_computed_of_nothing)
