/* The scanner: it lets whole ONNX files through with weights left in place, and nothing else. */
#include "base/limits.h"
#include "onnx/onnx.pb-c.h"
#include "reader/scan.h"
#include "test/unit/onnx.h"
#include "test/unit/unit.h"
#include <string.h>

static const char model[] = "in x ? 3 8 8\n"
			    "const w 4 3 3 3\n"
			    "floats low 0\n"
			    "node Conv x w > y pads:I=1,1,1,1 auto_pad:s=NOTSET\n"
			    "node Clip y low > z\n"
			    "out z ? 4 8 8\n";

static int scan(const struct dlsi_buffer *file, size_t length, struct dls_error *err)
{
	struct dlsi_buffer copy;
	uint8_t *exact = dlsi_malloc(unit_alloc(), length); /* so that the sanitizer sees a read behind the end */
	int rc;

	if (length)
		memcpy(exact, file->data, length);
	dlsi_buffer_init(&copy, unit_alloc());
	rc = dlsi_scan(exact, length, &copy, err);
	dlsi_buffer_fini(&copy);
	dlsi_free(unit_alloc(), exact);
	return rc;
}

/* The tensor `name` of the copy: its raw_data is a place in the file, at which its bytes are. */
static void assert_weights(
	const Onnx__GraphProto *graph, const struct dlsi_buffer *file, const char *name, size_t bytes)
{
	for (size_t i = 0; i < graph->n_initializer; i++) {
		const Onnx__TensorProto *tensor = graph->initializer[i];
		struct dlsi_scan_place place;

		if (strcmp(tensor->name, name) != 0)
			continue;
		assert_int_equal(tensor->raw_data.len, sizeof place);
		memcpy(&place, tensor->raw_data.data, sizeof place);
		assert_int_equal(place.length, bytes);
		assert_true(place.offset + place.length <= file->length);
		return;
	}
	fail();
}

static void test_copy_reads_as_the_file(void **state)
{
	struct dlsi_rng rng = unit_rng(1);
	struct dlsi_buffer file, copy;
	struct dls_error err;
	Onnx__ModelProto *whole, *slim;

	(void)state;
	unit_onnx(&file, &rng, model);
	dlsi_buffer_init(&copy, unit_alloc());
	assert_int_equal(dlsi_scan(file.data, file.length, &copy, &err), 0);
	whole = onnx__model_proto__unpack(NULL, file.length, file.data);
	slim = onnx__model_proto__unpack(NULL, copy.length, copy.data);
	assert_non_null(slim);
	assert_int_equal(slim->ir_version, whole->ir_version);
	assert_int_equal(slim->opset_import[0]->version, whole->opset_import[0]->version);
	assert_int_equal(slim->graph->n_node, 2);
	assert_string_equal(slim->graph->node[0]->op_type, "Conv");
	assert_int_equal(slim->graph->node[0]->attribute[0]->n_ints, 4);
	assert_string_equal(slim->graph->input[0]->type->tensor_type->shape->dim[0]->dim_param, "N");
	assert_weights(slim->graph, &file, "w", 4 * 3 * 3 * 3 * sizeof(float));
	assert_weights(slim->graph, &file, "low", sizeof(float));
	onnx__model_proto__free_unpacked(whole, NULL);
	onnx__model_proto__free_unpacked(slim, NULL);
	dlsi_buffer_fini(&copy);
	dlsi_buffer_fini(&file);
}

/* Cut anywhere but between two fields of the file itself, it is refused. */
static void test_refuses_every_truncation(void **state)
{
	struct dlsi_rng rng = unit_rng(1);
	struct dlsi_buffer file;
	struct dls_error err;
	unsigned whole = 0;

	(void)state;
	unit_onnx(&file, &rng, model);
	for (size_t length = 0; length <= file.length; length++) {
		int rc = scan(&file, length, &err);

		whole += rc == 0;
		assert_true(rc == 0 || rc == DLS_EFORMAT);
	}
	assert_int_equal(whole, 3);
	dlsi_buffer_fini(&file);
}

static void test_random_changes_are_refused_or_read(void **state)
{
	struct dlsi_rng rng = unit_rng(7);
	struct dlsi_buffer file;
	struct dls_error err;

	(void)state;
	unit_onnx(&file, &rng, model);
	for (int i = 0; i < 20000; i++) {
		size_t at = dlsi_rng_below(&rng, file.length);
		uint8_t old = file.data[at];

		file.data[at] = (uint8_t)dlsi_rng_next(&rng);
		scan(&file, file.length, &err);
		if (i % 8) /* some of the damage stays */
			file.data[at] = old;
	}
	dlsi_buffer_fini(&file);
}

/* Graphs inside attributes inside nodes inside graphs. */
static void nest(struct dlsi_buffer *file_out, unsigned levels)
{
	struct dlsi_buffer inner, outer;

	dlsi_buffer_init(&inner, unit_alloc());
	for (unsigned i = 0; i < levels; i++) {
		static const unsigned fields[] = {6, 5, 1}; /* attribute.g, node.attribute, graph.node */

		dlsi_buffer_init(&outer, unit_alloc());
		unit_onnx_bytes(&outer, fields[i % 3], inner.data, inner.length);
		dlsi_buffer_fini(&inner);
		inner = outer;
	}
	dlsi_buffer_init(file_out, unit_alloc());
	unit_onnx_bytes(file_out, 7, inner.data, inner.length);
	dlsi_buffer_fini(&inner);
}

static void test_nesting_is_bounded(void **state)
{
	struct dlsi_buffer file;
	struct dls_error err;

	(void)state;
	nest(&file, (DLSI_ONNX_DEPTH - 2) / 3 * 3); /* the model and its graph are two levels more */
	assert_int_equal(scan(&file, file.length, &err), 0);
	dlsi_buffer_fini(&file);
	nest(&file, 30000);
	assert_true(file.length > 100000 && file.length < 130000);
	assert_int_equal(scan(&file, file.length, &err), DLS_ELIMIT);
	assert_non_null(strstr(err.text, "deeper than 64"));
	dlsi_buffer_fini(&file);
}

/* Two bytes each, and hundreds of bytes of memory each for protobuf. */
static void test_empty_messages_are_bounded(void **state)
{
	struct dlsi_buffer file, graph;
	struct dls_error err;

	(void)state;
	dlsi_buffer_init(&graph, unit_alloc());
	for (int i = 0; i < 500000; i++)
		unit_onnx_bytes(&graph, 1, NULL, 0);
	dlsi_buffer_init(&file, unit_alloc());
	unit_onnx_bytes(&file, 7, graph.data, graph.length);
	assert_int_equal(scan(&file, file.length, &err), DLS_ELIMIT);
	dlsi_buffer_fini(&graph);
	dlsi_buffer_fini(&file);
}

/* With so many unknown bytes between them that the memory for them would be granted. */
static void test_messages_are_counted(void **state)
{
	struct dlsi_buffer file;
	struct dls_error err;

	(void)state;
	dlsi_buffer_init(&file, unit_alloc());
	for (int i = 0; i < DLSI_ONNX_MESSAGES; i++)
		unit_onnx_bytes(&file, 8, "\x7a\x06unread", 8);
	assert_int_equal(scan(&file, file.length, &err), 0);
	unit_onnx_bytes(&file, 8, NULL, 0);
	assert_int_equal(scan(&file, file.length, &err), DLS_ELIMIT);
	assert_non_null(strstr(err.text, "messages"));
	dlsi_buffer_fini(&file);
}

static void assert_refused(const void *bytes, size_t length, const char *text)
{
	struct dlsi_buffer file = {.data = (uint8_t *)bytes, .length = length};
	struct dls_error err = {0};

	assert_int_equal(scan(&file, length, &err), DLS_EFORMAT);
	if (!strstr(err.text, text))
		fail_msg("'%s' does not say '%s'", err.text, text);
}

static void test_errors_say_what_is_wrong(void **state)
{
	(void)state;
	assert_refused("", 0, "empty");
	assert_refused("\x89PNG\r\n", 6, "not a whole ONNX file");
	assert_refused("\x0b", 1, "wire type");                                           /* a group */
	assert_refused("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12, "broken"); /* 11 bytes of varint */
	assert_refused("\x3a\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 10, "truncated");      /* a length of 2^63 */
	assert_refused("\x3a\x00\x3a\x00", 4, "twice");
	assert_refused("\x42\x03\x0a\x01\x00", 5, "zero byte");
	assert_refused("\x38\x01", 2, "another wire type"); /* the graph as a number */
}

static void test_memory_exhaustion_is_an_error(void **state)
{
	struct dlsi_rng rng = unit_rng(1);
	struct dlsi_buffer file, copy;
	struct dls_error err;
	int rc = DLS_ENOMEM;

	(void)state;
	unit_onnx(&file, &rng, model);
	for (unsigned n = 1; rc == DLS_ENOMEM; n++) {
		dlsi_buffer_init(&copy, unit_alloc_failing_at(n));
		rc = dlsi_scan(file.data, file.length, &copy, &err);
		dlsi_buffer_fini(&copy);
	}
	assert_int_equal(rc, 0);
	dlsi_buffer_fini(&file);
}

UNIT_MAIN(test_copy_reads_as_the_file, test_refuses_every_truncation, test_random_changes_are_refused_or_read,
	test_nesting_is_bounded, test_empty_messages_are_bounded, test_messages_are_counted,
	test_errors_say_what_is_wrong, test_memory_exhaustion_is_an_error)
