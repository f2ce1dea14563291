/* The text of shapes, up to the longest that there is. */
#include "base/shape.h"
#include "test/unit/unit.h"
#include <string.h>

static void test_names_type_and_dimensions(void **state)
{
	(void)state;
	assert_string_equal(dlsi_shape_text(DLS_FLOAT32, 4, (int64_t[]){1, 3, 224, 0}).text, "float32 [1, 3, 224, 0]");
	assert_string_equal(dlsi_shape_text(DLS_BOOL, 0, NULL).text, "bool []");
	assert_string_equal(dlsi_shape_text(0, 2, (int64_t[]){-1, 10}).text, "[?, 10]");
}

static void test_longest_fits(void **state)
{
	int64_t dims[DLS_TENSOR_RANK + 1];
	struct dlsi_shape_text shape;

	(void)state;
	for (int i = 0; i <= DLS_TENSOR_RANK; i++)
		dims[i] = INT64_MAX;
	shape = dlsi_shape_text(DLS_FLOAT32, DLS_TENSOR_RANK + 1, dims);
	assert_int_equal(strlen(shape.text), strlen("float32 []") + DLS_TENSOR_RANK * 21 - 2);
	assert_string_equal(shape.text + strlen(shape.text) - 2, "7]");
}

UNIT_MAIN(test_names_type_and_dimensions, test_longest_fits)
