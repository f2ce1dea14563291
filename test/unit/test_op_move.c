/* Operators that move, choose, sort and resize elements: what the suites of ONNX leave out, worked out by hand; and
 * when they keep the rows of a batch apart. */
#include "base/error.h"
#include "graph/graph.h"
#include "reader/load.h"
#include "test/unit/onnx.h"
#include "test/unit/op.h"
#include "test/unit/unit.h"
#include <math.h>
#include <string.h>

#define CAST(from, to, type) "node Cast " from " > " to " to:i=" type "\n"
#define SIX                  "floats f 1 2 3 4 5 6\n"
#define MATRIX               SIX "ints d 2 3\nnode Reshape f d > m\n"
#define EMPTY                "floats f\nints d 2 0\nnode Reshape f d > m\n"

static void test_slices(void **state)
{
	(void)state;
	UNIT_GIVES(SIX "ints a -1\nints b -9999\nints c 0\nints d -2\nnode Slice f a b c d > y", 6, 4, 2);
	UNIT_GIVES(SIX "ints a 9\nints b -9223372036854775808\nints c 0\nints d -4\nnode Slice f a b c d > y", 6, 2);
	UNIT_GIVES(SIX "ints a 1\nints b 9223372036854775807\nints c 0\nints d 9223372036854775807\n"
		       "node Slice f a b c d > y",
		2);
	UNIT_GIVES("opset 9\n" MATRIX "node Slice m > y starts:I=1 ends:I=9 axes:I=-1", 2, 3, 5, 6);
	unit_op_gives(SIX "ints a 4\nints b 2\nnode Slice f a b > y", 0, NULL);
	unit_op_gives(EMPTY "ints a -1\nints b -5\nints c 1\nints s -1\nnode Slice m a b c s > y", 0, NULL);
	unit_op_refuses(
		SIX "ints a 1\nints b 2\nints c 0\nints d 0\nnode Slice f a b c d > y", DLS_EFORMAT, "step of 0");
	unit_op_refuses(SIX "ints a 1 1\nints b 2 2\nints c 0 -1\nnode Slice f a b c > y", DLS_EFORMAT, "twice");
	unit_op_refuses(SIX "ints a 1\nints b 2 3\nnode Slice f a b > y", DLS_EFORMAT, "do not fit");
}

static void test_pads_of_every_mode(void **state)
{
	(void)state;
	UNIT_GIVES("floats f 1 2 3\nints p 2 1\nnode Pad f p > y", 0, 0, 1, 2, 3, 0);
	UNIT_GIVES("floats f 1 2 3\nints p -1 2\nfloats v 9\nnode Pad f p v > y", 2, 3, 9, 9);
	UNIT_GIVES("floats f 1 2 3\nints p 5 1\nnode Pad f p > y mode:s=reflect", 2, 1, 2, 3, 2, 1, 2, 3, 2);
	UNIT_GIVES("floats f 7\nints p 1 1\nnode Pad f p > y mode:s=reflect", 7, 7, 7);
	UNIT_GIVES("floats f 1 2 3\nints p 2 -1\nnode Pad f p > y mode:s=reflect", 1, 2, 1, 2);
	UNIT_GIVES("floats f 1 2 3\nints p 2 3\nnode Pad f p > y mode:s=edge", 1, 1, 1, 2, 3, 3, 3, 3);
	UNIT_GIVES("opset 19\nfloats f 1 2 3\nints p 4 2\nnode Pad f p > y mode:s=wrap", 3, 1, 2, 3, 1, 2, 3, 1, 2);
	UNIT_GIVES("opset 18\n" MATRIX "ints p 1 0\nints a -2\nnode Pad m p - a > y", 0, 0, 0, 1, 2, 3, 4, 5, 6);
	UNIT_GIVES(MATRIX "ints p 1 0 0 2\nnode Pad m p > y", 0, 0, 0, 0, 0, 1, 2, 3, 0, 0, 4, 5, 6, 0, 0);
	UNIT_GIVES(MATRIX "ints p 0 1 1 -2\nnode Pad m p > y", 0, 1, 0, 4, 0, 0);
	UNIT_GIVES("ints f 1 2\nints p 1 1\nints v -3\nnode Pad f p v > y", -3, 1, 2, -3);
	unit_op_refuses(EMPTY "ints p 0 1 0 0\nnode Pad m p > y mode:s=edge", DLS_EFORMAT, "which has none");
	unit_op_refuses("floats f 1 2\nints p 1 2 3\nnode Pad f p > y", DLS_EFORMAT, "3 pads for 1 axes");
	unit_op_refuses("floats f 1 2\nints p -2 -1\nnode Pad f p > y", DLS_EFORMAT, "impossible shape");
	unit_op_refuses("floats f 1 2\nints p 9223372036854775807 1\nnode Pad f p > y", DLS_ELIMIT, "memory");
}

static void test_centres(void **state)
{
	(void)state;
	UNIT_GIVES("opset 18\nfloats f 1 2 3 4 5\nints s 2\nnode CenterCropPad f s > y", 2, 3);
	UNIT_GIVES("opset 18\nfloats f 1 2\nints s 5\nnode CenterCropPad f s > y", 0, 1, 2, 0, 0);
	UNIT_GIVES("opset 18\n" MATRIX "ints s 1\nnode CenterCropPad m s > y axes:I=-1", 2, 5);
}

static void test_parts_and_wholes(void **state)
{
	(void)state;
	UNIT_GIVES(MATRIX "node Concat m m > y axis:i=-1", 1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6);
	UNIT_GIVES(EMPTY "node Concat m m > c axis:i=0\nnode Size c > y", 0);
	unit_op_gives(SIX "ints s 2 0 4\nnode Split f s > a y b", 0, NULL);
	UNIT_GIVES("opset 18\nfloats f 1 2 3 4 5\nnode Split f > a b y num_outputs:i=3", 5);
	UNIT_GIVES("opset 11\n" MATRIX "node Split m > a y axis:i=1 split:I=1,2", 2, 3, 5, 6);
	unit_op_refuses(SIX "ints s 2 3\nnode Split f s > a y", DLS_EFORMAT, "splits 6 into 2 parts of 5");
	unit_op_refuses(SIX "ints s -1 7\nnode Split f s > a y", DLS_EFORMAT, "-1");
	unit_op_refuses("floats f 1 2 3\nnode Split f > a y", DLS_EFORMAT, "splits 3 into 2 parts");
	unit_op_refuses(MATRIX "node Concat m f > y axis:i=0", DLS_EFORMAT, "do not fit");
	UNIT_GIVES(MATRIX "ints r 2 1\nnode Tile m r > y", 1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6);
	unit_op_gives(MATRIX "ints r 0 1\nnode Tile m r > y", 0, NULL);
	unit_op_refuses(MATRIX "ints r -1 1\nnode Tile m r > y", DLS_EFORMAT, "impossible shape");
	unit_op_refuses(MATRIX "ints r 9223372036854775807 1\nnode Tile m r > y", DLS_ELIMIT, "memory");
	UNIT_GIVES("floats f 1 2\nints d 2 1\nnode Reshape f d > m\nints s 3\nnode Expand m s > y", 1, 1, 1, 2, 2, 2);
	unit_op_gives("floats f 1\nints s 2 0\nnode Expand f s > y", 0, NULL);
	unit_op_refuses(SIX "ints s 4\nnode Expand f s > y", DLS_EFORMAT, "cannot repeat");
}

#define SHAPED "node Reshape m s > r\nnode Shape r > y"

/* 0 takes the size of the same axis of the input, unless it is allowed to be a size itself; -1 is what is left. */
static void test_shapes(void **state)
{
	(void)state;
	UNIT_GIVES(MATRIX "ints s 3 2\nnode Reshape m s > y", 1, 2, 3, 4, 5, 6);
	UNIT_GIVES(MATRIX "ints s -1\n" SHAPED, 6);
	UNIT_GIVES(MATRIX "ints s 0 -1\n" SHAPED, 2, 3);
	UNIT_GIVES(MATRIX "ints s 0 1 -1\n" SHAPED, 2, 1, 3);
	UNIT_GIVES(MATRIX "ints s -1 0\n" SHAPED, 2, 3);
	UNIT_GIVES(MATRIX "ints s 1 -1 2 1\n" SHAPED, 1, 3, 2, 1);
	UNIT_GIVES("floats m 7\nints s\nnode Reshape m s > r\nnode Shape r > h\nnode Size h > y", 0);
	UNIT_GIVES(EMPTY "ints s 0 0\n" SHAPED, 2, 0);
	UNIT_GIVES("opset 14\n" EMPTY "ints s 0 5\nnode Reshape m s > r allowzero:i=1\nnode Shape r > y", 0, 5);
	UNIT_GIVES("opset 14\n" EMPTY "ints s 5 -1\nnode Reshape m s > r\nnode Shape r > y", 5, 0);
	unit_op_refuses(EMPTY "ints s 0 5\nnode Reshape m s > y", DLS_EFORMAT, "cannot make float32 [2, 0]");
	unit_op_refuses("opset 14\n" MATRIX "ints s 0 6\nnode Reshape m s > y allowzero:i=1", DLS_EFORMAT, "[0, 6]");
	unit_op_refuses(
		"opset 14\n" EMPTY "ints s 0 -1\nnode Reshape m s > y allowzero:i=1", DLS_EFORMAT, "cannot make");
	unit_op_refuses(MATRIX "ints s 0 0\nnode Reshape m s > a\nints t 3 0\nnode Reshape a t > y", DLS_EFORMAT,
		"cannot make float32 [2, 3] into [3, 3]");
	unit_op_refuses(MATRIX "ints s -1 -1\nnode Reshape m s > y", DLS_EFORMAT, "cannot make");
	unit_op_refuses(MATRIX "ints s -2 3\nnode Reshape m s > y", DLS_EFORMAT, "cannot make");
	unit_op_refuses(MATRIX "ints s -1 4\nnode Reshape m s > y", DLS_EFORMAT, "cannot make");
}

static void test_axes_of_one(void **state)
{
	(void)state;
	UNIT_GIVES("floats f 7\nnode Squeeze f > s\nnode Shape s > h\nnode Size h > y", 0);
	UNIT_GIVES("floats f 7\nints a -1 0\nnode Unsqueeze f a > u\nnode Shape u > y", 1, 1, 1);
	UNIT_GIVES("opset 11\nfloats f 7 8\nnode Unsqueeze f > u axes:I=-1\nnode Shape u > y", 2, 1);
	unit_op_refuses(SIX "ints a 0\nnode Squeeze f a > y", DLS_EFORMAT, "which is not 1");
	unit_op_refuses(SIX "ints a 0 -3\nnode Unsqueeze f a > y", DLS_EFORMAT, "twice");
	unit_op_refuses(SIX "ints a 0 1 2 3 4 5 6 7\nnode Unsqueeze f a > y", DLS_EUNSUPPORTED, "more than 8");
	unit_op_refuses(SIX "ints a 2\nnode Unsqueeze f a > y", DLS_EFORMAT, "axis 2");
}

static void test_transpositions(void **state)
{
	(void)state;
	UNIT_GIVES(MATRIX "node Transpose m > y", 1, 4, 2, 5, 3, 6);
	unit_op_gives(EMPTY "node Transpose m > y", 0, NULL);
	unit_op_refuses(MATRIX "node Transpose m > y perm:I=0,0", DLS_EFORMAT, "order");
	unit_op_refuses(MATRIX "node Transpose m > y perm:I=0", DLS_EFORMAT, "orders 1 axes");
	unit_op_refuses(MATRIX "node DepthToSpace m > y blocksize:i=2", DLS_EFORMAT, "4 dimensions");
	unit_op_refuses(SIX "ints d 1 1 2 3\nnode Reshape f d > m\nnode SpaceToDepth m > y blocksize:i=2", DLS_EFORMAT,
		"blocks of 2 by 2");
	unit_op_refuses(SIX "ints d 1 1 2 3\nnode Reshape f d > m\nnode SpaceToDepth m > y blocksize:i=0", DLS_EFORMAT,
		"block size");
}

static void test_indices_are_checked(void **state)
{
	(void)state;
	UNIT_GIVES(SIX "ints i -6 5\nnode Gather f i > y", 1, 6);
	UNIT_GIVES(MATRIX CAST("i", "j", "6") "ints i -1\nnode Gather m j > y axis:i=1", 3, 6);
	unit_op_refuses(SIX "ints i 6\nnode Gather f i > y", DLS_EFORMAT, "index 6");
	unit_op_refuses(SIX "ints i -7\nnode Gather f i > y", DLS_EFORMAT, "index -7");
	unit_op_refuses(SIX "floats i 1\nnode Gather f i > y", DLS_EFORMAT, "as indices");
	unit_op_refuses(SIX "ints i 0 6\nnode GatherElements f i > y", DLS_EFORMAT, "index 6");
	unit_op_refuses(SIX "ints i -7\nnode GatherND f i > y", DLS_EFORMAT, "index -7");
	unit_op_refuses(SIX "ints i 0 0\nnode GatherND f i > y", DLS_EFORMAT, "do not fit");
	unit_op_refuses(SIX "ints i 6\nfloats u 1\nnode ScatterElements f i u > y", DLS_EFORMAT, "index 6");
	unit_op_refuses(SIX "ints i 6\nints d 1 1\nnode Reshape i d > j\nfloats u 1\nnode ScatterND f j u > y",
		DLS_EFORMAT, "index 6");
	unit_op_refuses(EMPTY "ints i 0\nnode Gather m i > y axis:i=1", DLS_EFORMAT, "where there are 0");
	unit_op_gives(EMPTY "ints i 0 1\nnode Gather m i > y", 0, NULL);
	unit_op_gives(SIX "ints i\nnode Gather f i > y", 0, NULL);
	UNIT_GIVES(MATRIX "ints i\nnode GatherND m i > y", 1, 2, 3, 4, 5, 6); /* a tuple of none names all */
}

static void test_scattering(void **state)
{
	(void)state;
	UNIT_GIVES(SIX "ints i 1 -1 1\nfloats u 10 20 30\nnode ScatterElements f i u > y", 1, 30, 3, 4, 5, 20);
	UNIT_GIVES(
		"opset 18\nints f 1 2\nints i 0 0\nints u 5 -7\nnode ScatterElements f i u > y reduction:s=min", -7, 2);
	UNIT_GIVES("opset 18\nints f 1 2\nints i 0 0\nints u 5 -7\nnode ScatterElements f i u > y reduction:s=mul", -35,
		2);
	UNIT_GIVES("opset 18\nfloats f 1 2\nints i 0 1\nfloats u nan 3\nnode ScatterElements f i u > y reduction:s=max",
		NAN, 3);
	UNIT_GIVES("opset 18\nints f 9223372036854775807\nints i 0\nints u 1\n"
		   "node ScatterElements f i u > y reduction:s=add",
		-0x1p63);
	UNIT_GIVES("opset 18\n" MATRIX
		   "ints i -1 0\nints e 2 1\nnode Reshape i e > j\nnode ScatterND m j m > y reduction:s=add",
		5, 7, 9, 5, 7, 9);
	unit_op_refuses("opset 18\n" SIX "ints i 0\nfloats u 1\nnode ScatterElements f i u > y reduction:s=no",
		DLS_EUNSUPPORTED, "'no'");
	unit_op_refuses(SIX "ints i 0\nfloats u 1 2\nnode ScatterElements f i u > y", DLS_EFORMAT, "do not fit");
}

static void test_casts_of_what_does_not_fit(void **state)
{
	(void)state;
	UNIT_GIVES("floats f -1.9 1.9 nan 1e30 -1e30\n" CAST("f", "y", "7"), -1, 1, 0, 0x1p63, -0x1p63);
	UNIT_GIVES("floats f -1 300 0.5 nan\n" CAST("f", "y", "2"), 255, 44, 0, 0);
	UNIT_GIVES("floats f 0 0.25 nan -0\n" CAST("f", "y", "9"), 0, 1, 1, 0);
	UNIT_GIVES("floats f 1e19\n" CAST("f", "u", "13") CAST("u", "y", "11"), 1e19);
	UNIT_GIVES("ints i -1\n" CAST("i", "u", "13") CAST("u", "y", "1"), 0x1p64);
	UNIT_GIVES("ints i 256 -1\n" CAST("i", "b", "3") CAST("b", "y", "9"), 0, 1);
	unit_op_refuses(SIX CAST("f", "y", "8"), DLS_EUNSUPPORTED, "string");
	unit_op_refuses(SIX CAST("f", "y", "99"), DLS_EUNSUPPORTED, "newer ONNX");
}

static void test_ranges(void **state)
{
	(void)state;
	UNIT_GIVES("ints a 10\nints b 4\nints c -3\nnode Range a b c > y", 10, 7);
	UNIT_GIVES("floats a 1\nfloats b 2\nfloats c 0.3\nnode Range a b c > y", 1, 1.3, 1.6, 1.9);
	UNIT_GIVES("ints a -9223372036854775808\nints b 9223372036854775807\nints c 9223372036854775807\n"
		   "node Range a b c > y",
		-0x1p63, -1, 0x1p63);
	unit_op_gives("ints a 3\nints b 3\nints c -1\nnode Range a b c > y", 0, NULL);
	unit_op_refuses("ints a 3\nints b 4\nints c 0\nnode Range a b c > y", DLS_EFORMAT, "step of 0");
	unit_op_refuses("floats a 3\nfloats b 4\nfloats c nan\nnode Range a b c > y", DLS_EFORMAT, "step of 0");
	unit_op_refuses("floats a 3\nfloats b inf\nfloats c 1\nnode Range a b c > y", DLS_ELIMIT, "memory");
}

static void test_matrices(void **state)
{
	(void)state;
	UNIT_GIVES("opset 14\n" MATRIX "ints k 1\nnode Trilu m k > y", 0, 2, 3, 0, 0, 6);
	UNIT_GIVES("opset 14\n" MATRIX "node Trilu m > y upper:i=0", 1, 0, 0, 4, 5, 0);
	UNIT_GIVES("opset 14\n" MATRIX "ints k -9223372036854775808\nnode Trilu m k > y upper:i=0", 0, 0, 0, 0, 0, 0);
	UNIT_GIVES(MATRIX "node EyeLike m > y k:i=-1 dtype:i=7", 0, 0, 0, 1, 0, 0);
	unit_op_gives("opset 14\n" EMPTY "node Trilu m > y", 0, NULL);
	UNIT_GIVES("floats i 1 -1 5\nints d 3\nfloats v 0 8\nnode OneHot i d v > y", 0, 8, 0, 0, 0, 8, 0, 0, 0);
	UNIT_GIVES("ints i 1 0\nints d 2\nfloats v 0 8\nnode OneHot i d v > y axis:i=0", 0, 8, 8, 0);
	unit_op_refuses("ints i 1\nints d -2\nfloats v 0 8\nnode OneHot i d v > y", DLS_EFORMAT, "impossible shape");
	UNIT_GIVES("ints s 2\nnode ConstantOfShape s > y", 0, 0);
	UNIT_GIVES("ints s\nnode ConstantOfShape s > y", 0);
}

static void test_sums_along(void **state)
{
	(void)state;
	UNIT_GIVES("ints f 1 2 3\nints a 0\nnode CumSum f a > y reverse:i=1", 6, 5, 3);
	UNIT_GIVES("ints f 1 2 3\nints a -1\nnode CumSum f a > y exclusive:i=1 reverse:i=1", 5, 3, 0);
	UNIT_GIVES("ints f 9223372036854775807 1\nints a 0\nnode CumSum f a > y", 0x1p63, -0x1p63);
	unit_op_gives(EMPTY "ints a 1\nnode CumSum m a > y", 0, NULL);
	unit_op_refuses(SIX "ints a 1\nnode CumSum f a > y", DLS_EFORMAT, "axis 1");
	UNIT_GIVES(MATRIX "ints l 3 1\nnode ReverseSequence m l > y batch_axis:i=0 time_axis:i=1", 3, 2, 1, 4, 5, 6);
	unit_op_refuses(MATRIX "ints l 4 1\nnode ReverseSequence m l > y batch_axis:i=0 time_axis:i=1", DLS_EFORMAT,
		"sequence of 4");
}

static void test_orders(void **state)
{
	(void)state;
	UNIT_GIVES("floats f 1 3 -0 3 0 nan\nints k 4\nnode TopK f k > v y", 5, 1, 3, 0);
	UNIT_GIVES("floats f 1 3 0 3 -0 -7\nints k 3\nnode TopK f k > v y largest:i=0", 5, 2, 4);
	UNIT_GIVES("ints f -5 9223372036854775807 -9223372036854775808\nints k 3\nnode TopK f k > v y", 1, 0, 2);
	UNIT_GIVES("opset 9\nfloats f 1 3 2\nnode TopK f > y i k:i=2", 3, 2);
	unit_op_gives(SIX "ints k 0\nnode TopK f k > y", 0, NULL);
	unit_op_refuses(SIX "ints k 7\nnode TopK f k > y", DLS_EFORMAT, "first 7 of 6");
	UNIT_GIVES("floats f 2 5 5 1\nnode ArgMax f > y", 1);
	UNIT_GIVES("floats f 2 5 5 1\nnode ArgMax f > y select_last_index:i=1", 2);
	UNIT_GIVES("ints f 2 -5 5 -5\nnode ArgMin f > y keepdims:i=0", 1);
	unit_op_refuses(EMPTY "node ArgMax m > y axis:i=1", DLS_EFORMAT, "no elements");
	unit_op_gives(EMPTY "node ArgMax m > y axis:i=0", 0, NULL);
}

static void test_sizes_that_elements_tell(void **state)
{
	(void)state;
	UNIT_GIVES("floats f 0 2 nan 0 -1\nnode NonZero f > y", 1, 2, 4);
	UNIT_GIVES("floats f 0 2 0 4 5 0\nints d 2 3\nnode Reshape f d > m\nnode NonZero m > y", 0, 1, 1, 1, 0, 1);
	unit_op_gives("floats f 0 0\nnode NonZero f > y", 0, NULL);
	UNIT_GIVES("floats f 3 -0 0 3 1\nnode Unique f > y", 0, 1, 3);
	UNIT_GIVES("floats f 3 -0 0 3 1\nnode Unique f > u y", 1, 4, 0);
	UNIT_GIVES("floats f 3 -0 0 3 1\nnode Unique f > u i y c", 2, 0, 0, 2, 1);
	UNIT_GIVES("floats f 3 -0 0 3 1\nnode Unique f > u i j y sorted:i=0", 2, 2, 1);
	UNIT_GIVES("ints f 1 2 1 2 1 2\nints d 2 3\nnode Reshape f d > m\nnode Unique m > y axis:i=1", 1, 2, 2, 1);
	unit_op_gives("floats f\nnode Unique f > y", 0, NULL);
	UNIT_GIVES("ints h 0 1 1 1 1 1 1 1\n" CAST("h", "b", "9") SIX "node Compress f b > y", 2, 3, 4, 5, 6);
	/* none wanted is what ONNX has for a number that is left out */
	unit_op_gives(
		"floats b 0 0 1 1\nints d 1 1 4\nnode Reshape b d > x\nfloats s 1\nints e 1 1 1\nnode Reshape s e > c\n"
		"node NonMaxSuppression x c > y",
		0, NULL);
}

static void test_resizing(void **state)
{
	(void)state;
	UNIT_GIVES("floats f 1 2 3 4\nfloats s 0.5\nnode Resize f - s > y mode:s=linear", 1.5, 3.5);
	UNIT_GIVES("floats f 1 2\nints z 4\nnode Resize f - - z > y", 1, 1, 2, 2);
	UNIT_GIVES("floats f 1 3\nints z 3\nnode Resize f - - z > y mode:s=linear "
		   "coordinate_transformation_mode:s=align_corners",
		1, 2, 3);
	UNIT_GIVES("ints f 0 5\nints z 3\nnode Resize f - - z > y mode:s=linear "
		   "coordinate_transformation_mode:s=align_corners",
		0, 2, 5);
	UNIT_GIVES("floats f 1 2 3\nints z 7\nnode Resize f - - z > y nearest_mode:s=floor "
		   "coordinate_transformation_mode:s=asymmetric",
		1, 1, 1, 2, 2, 3, 3);
	UNIT_GIVES(
		"floats f 1 2 3\nfloats r 0 2\nints z 3\nnode Resize f r - z > y mode:s=linear extrapolation_value:f=9 "
		"coordinate_transformation_mode:s=tf_crop_and_resize",
		1, 3, 9);
	UNIT_GIVES("opset 18\n" MATRIX "ints z 4 3\nnode Resize m - - z > r keep_aspect_ratio_policy:s=not_larger\n"
		   "node Shape r > y",
		2, 3);
	UNIT_GIVES("opset 9\nfloats f 1 2\nfloats s 2\nnode Upsample f s > y", 1, 1, 2, 2);
	UNIT_GIVES("opset 10\nfloats f 1 2 3 4\nfloats s 0.5\nnode Resize f s > y", 1, 3);
	unit_op_refuses(SIX "floats s 0\nnode Resize f - s > y", DLS_EFORMAT, "impossible scale 0");
	unit_op_refuses(SIX "floats s nan\nnode Resize f - s > y", DLS_EFORMAT, "impossible scale nan");
	unit_op_refuses(SIX "floats s 1e38\nnode Resize f - s > y", DLS_EFORMAT, "impossible scale");
	unit_op_refuses(SIX "floats s 1e13\nnode Resize f - s > y", DLS_ELIMIT, "memory");
	unit_op_refuses(SIX "node Resize f > y", DLS_EFORMAT, "0 scales, 0 sizes");
	unit_op_refuses(SIX "ints z -4\nnode Resize f - - z > y", DLS_EFORMAT, "impossible size -4");
	unit_op_refuses("floats f\nints z 4\nnode Resize f - - z > y", DLS_EFORMAT, "4 of 0 elements");
	unit_op_refuses(SIX "ints z 4\nnode Resize f - - z > y mode:s=best", DLS_EUNSUPPORTED, "'best'");
	unit_op_gives(SIX "ints z 0\nnode Resize f - - z > y", 0, NULL);
}

/* ---- rows of a batch */

/* `says` NULL: they stay apart. */
static void assert_batch(const char *text, const char *says)
{
	struct dlsi_rng rng = unit_rng(1);
	struct dlsi_graph *graph = NULL;
	struct dls_error err = {0};
	struct dlsi_buffer file;

	unit_onnx(&file, &rng, text);
	if (unit_onnx_load(unit_alloc(), &file, &graph, &err))
		fail_msg("%s\n%s", err.text, text);
	if (says ? !graph->unbatchable || !strstr(graph->unbatchable, says) : graph->unbatchable != NULL)
		fail_msg("'%s' does not say '%s': %s", graph->unbatchable, says, text);
	dlsi_graph_destroy(graph);
	dlsi_buffer_fini(&file);
}

#define BATCH(body) "in x ? 4 3\n" body "\nout y"

static void test_rows_stay_apart(void **state)
{
	(void)state;
	assert_batch(BATCH("node Transpose x > y perm:I=0,2,1"), NULL);
	assert_batch(BATCH("const c 1 2 3\nnode Concat c x > y axis:i=1"), NULL);
	assert_batch(BATCH("ints a 1\nints b 3\nints c 1\nnode Slice x a b c > y"), NULL);
	assert_batch(BATCH("ints a 0\nints b 9223372036854775807\nints c 0\nnode Slice x a b c > y"), NULL);
	assert_batch(BATCH("ints i 2\nnode Gather x i > y axis:i=1"), NULL);
	assert_batch(BATCH("ints p 0 1 0 0 1 0\nnode Pad x p > y"), NULL);
	assert_batch(BATCH("ints r 1 2 1\nnode Tile x r > y"), NULL);
	assert_batch(BATCH("ints k 2\nnode TopK x k > y"), NULL);
	assert_batch(BATCH("ints a 1\nnode CumSum x a > y"), NULL);
	assert_batch(BATCH("node ArgMax x > y axis:i=1"), NULL);
	assert_batch(BATCH("floats s 1 2 2\nnode Resize x - s > y"), NULL);
	assert_batch("opset 14\n" BATCH("node Trilu x > y"), NULL);
	/* shapes that are computed of the input's */
	assert_batch(BATCH("node Shape x > s\nnode ConstantOfShape s > c\nnode Add c x > y"), NULL);
	assert_batch(BATCH("node Shape x > s\nints i 0\nnode Gather s i > n\nints t 12\nnode Concat n t > r axis:i=0\n"
			   "node Reshape x r > y"),
		NULL);
	assert_batch(BATCH("node Shape x > s\nints a 0\nints b 1\nnode Slice s a b > n\nints t 4 3\n"
			   "node Concat n t > r axis:i=0\nconst c 1 1 3\nnode Expand c r > e\nnode Add e x > y"),
		NULL);
	assert_batch(
		BATCH("node Shape x > s\nnode Cast s > t to:i=6\nnode Cast t > u to:i=7\nnode Reshape x u > y"), NULL);
	assert_batch(BATCH("node Shape x > s\nints a 2\nnode Split s > n m\nnode Squeeze n > q\nnode Reshape x s > y"),
		NULL);
}

static void test_mixed_rows_are_seen(void **state)
{
	(void)state;
	assert_batch(BATCH("node Transpose x > y"), "moves the batch");
	assert_batch(BATCH("node Concat x x > y axis:i=0"), "axis 0");
	assert_batch(BATCH("ints i 0\nnode Gather x i > y"), "picks items");
	assert_batch(BATCH("ints a 0\nints b 1\nints c 0\nints d -1\nnode Slice x a b c d > y"), "rows of the batch");
	assert_batch(BATCH("ints a 0\nints b 9\nints c 0\nnode Slice x a b c > y"), "rows of the batch");
	assert_batch(BATCH("ints p 1 0 0 0 0 0\nnode Pad x p > y"), "pads axis 0");
	assert_batch(BATCH("ints r 2 1 1\nnode Tile x r > y"), "repeats");
	assert_batch(BATCH("ints s 2 1 1 1\nnode Expand x s > y"), "combines rows");
	assert_batch(BATCH("ints a 0\nnode CumSum x a > y"), "sums over");
	assert_batch(BATCH("node ArgMax x > y"), "compares");
	assert_batch(BATCH("floats s 2 1 1\nnode Resize x - s > y"), "resizes axis 0");
	assert_batch(BATCH("node NonZero x > y"), "differ in size");
	assert_batch(BATCH("node Unique x > y"), "differ in size");
	assert_batch("opset 14\nin x ? 3\nnode Trilu x > y\nout y", "rows of a matrix");
	assert_batch(BATCH("node Split x > y"), "splits axis 0");
	assert_batch(BATCH("node Shape x > s\nints i 0\nnode Gather s i > n\nnode Tile x s > y"), "size of the batch");
}

/* Each request for memory fails once; what remains then is an error and nothing lost. */
static void test_memory_runs_out(void **state)
{
	static const char text[] =
		"in unused 1\nfloats f 1 2 3 4\nints i 1 0 2 1\nints k 2\nints p 1 1\nints z 3\nfloats u 1 1 1 1\n"
		"node Gather f i > a\nnode GatherElements a i > b\nnode ScatterElements b i u > c\nnode TopK c k > d "
		"e\n"
		"node ArgMax d > g axis:i=0\nnode NonZero f > h\nnode Unique f > j\nnode Resize f - - z > l "
		"mode:s=linear\n"
		"node Tile l k > m\nnode Pad m p > n\nnode Concat n j > y axis:i=0\nout y\nout h\nout g\n";
	struct dlsi_rng rng = unit_rng(1);
	struct dlsi_graph *graph = NULL;
	struct dlsi_buffer file;
	struct dls_error err;
	int rc, n = 1;

	(void)state;
	unit_onnx(&file, &rng, text);
	while ((rc = unit_onnx_load(unit_alloc_failing_at(n), &file, &graph, &err)) == DLS_ENOMEM)
		n++;
	if (rc)
		fail_msg("%s", err.text);
	assert_true(n > 20);
	dlsi_graph_destroy(graph);
	dlsi_buffer_fini(&file);
}

UNIT_MAIN(test_slices, test_pads_of_every_mode, test_centres, test_parts_and_wholes, test_shapes, test_axes_of_one,
	test_transpositions, test_indices_are_checked, test_scattering, test_casts_of_what_does_not_fit, test_ranges,
	test_matrices, test_sums_along, test_orders, test_sizes_that_elements_tell, test_resizing, test_rows_stay_apart,
	test_mixed_rows_are_seen, test_memory_runs_out)
