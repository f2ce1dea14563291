#include "test/unit/op.h"

#include "graph/graph.h"
#include "reader/load.h"
#include "test/unit/onnx.h"
#include "test/unit/unit.h"
#include <stdio.h>
#include <string.h>

enum { TEXT = 2048 };

static int load(const char *text, struct dlsi_buffer *file, struct dlsi_graph **graph, struct dls_error *err)
{
	struct dlsi_rng rng = unit_rng(1);
	char whole[TEXT];

	assert_true(snprintf(whole, sizeof whole, "in unused 1\n%s\nout y", text) < TEXT);
	unit_onnx(file, &rng, whole);
	return unit_onnx_load(unit_alloc(), file, graph, err);
}

static double element(const struct dlsi_value *value, size_t i)
{
#define READ(dtype_, type)                                                                                             \
	if (value->dtype == (dtype_)) {                                                                                \
		type number;                                                                                           \
		memcpy(&number, (const char *)value->data + i * sizeof number, sizeof number);                         \
		return (double)number;                                                                                 \
	}
	READ(DLS_FLOAT32, float)
	READ(DLS_FLOAT64, double)
	READ(DLS_INT8, int8_t)
	READ(DLS_UINT8, uint8_t)
	READ(DLS_INT16, int16_t)
	READ(DLS_UINT16, uint16_t)
	READ(DLS_INT32, int32_t)
	READ(DLS_UINT32, uint32_t)
	READ(DLS_INT64, int64_t)
	READ(DLS_UINT64, uint64_t)
	READ(DLS_BOOL, uint8_t)
#undef READ
	fail_msg("no type %d", value->dtype);
	return 0;
}

static bool is_near(double a, double b)
{
	return a == b || (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-5 * (1 + fabs(b));
}

void unit_op_gives(const char *text, unsigned count, const double *expected)
{
	struct dlsi_buffer file;
	struct dlsi_graph *graph = NULL;
	const struct dlsi_value *y;
	struct dls_error err = {0};

	if (load(text, &file, &graph, &err))
		fail_msg("%s\n%s", err.text, text);
	y = &graph->values[graph->outputs[0]];
	if (!y->data || dlsi_value_count(y) != count)
		fail_msg("%zu elements instead of %u:\n%s", y->data ? dlsi_value_count(y) : 0, count, text);
	for (unsigned i = 0; i < count; i++)
		if (!is_near(element(y, i), expected[i]))
			fail_msg("element %u is %.9g instead of %.9g:\n%s", i, element(y, i), expected[i], text);
	dlsi_graph_destroy(graph);
	dlsi_buffer_fini(&file);
}

void unit_op_refuses(const char *text, int code, const char *says)
{
	struct dlsi_buffer file;
	struct dlsi_graph *graph = NULL;
	struct dls_error err = {0};

	assert_int_equal(load(text, &file, &graph, &err), code);
	if (!strstr(err.text, says))
		fail_msg("'%s' does not say '%s'", err.text, says);
	dlsi_buffer_fini(&file);
}
