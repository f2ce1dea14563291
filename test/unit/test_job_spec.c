/* What a client writes a worker reads again; anything else is refused with a sentence. */
#include "base/limits.h"
#include "node/job_spec.h"
#include "test/unit/unit.h"
#include <stdio.h>
#include <string.h>

static void assert_round_trip(const struct dlsi_job_spec *spec, const char *params)
{
	struct dlsi_job_spec read;
	size_t length;
	char *json;

	assert_int_equal(dlsi_job_spec_write(unit_alloc(), spec, &json, &length, NULL), 0);
	assert_int_equal(dlsi_job_spec_read(unit_alloc(), json, length, &read, NULL), 0);
	if (spec->handler)
		assert_string_equal(read.handler, spec->handler);
	else
		assert_null(read.handler);
	assert_true(dlsi_hash_equal(&read.model.name, &spec->model.name));
	assert_int_equal(read.model.length, spec->model.length);
	assert_int_equal(read.task_items, spec->task_items);
	assert_string_equal(read.params, params);
	dlsi_job_spec_fini(&read, unit_alloc());
	dlsi_free(unit_alloc(), json);
}

static void test_reads_what_it_wrote(void **state)
{
	struct dlsi_job_spec model = {
		.model = {.name.bytes = {1, 0xab}, .length = 1ULL << 33, .proof = DLSI_PROOF_HASH}, .task_items = 7};
	struct dlsi_job_spec handler = {.handler = "a \"name\"\xc3\xa4", .params = "{ \"b\": [1, 0.1], \"A\": null }"};

	(void)state;
	assert_round_trip(&model, "{}");
	assert_round_trip(&handler, "{\"b\":[1,0.1],\"A\":null}");
}

static void assert_not_written(const char *params, int code)
{
	struct dlsi_job_spec spec = {.handler = "h", .params = params};
	size_t length;
	char *json;

	assert_int_equal(dlsi_job_spec_write(unit_alloc(), &spec, &json, &length, NULL), code);
}

static void test_params_are_an_object(void **state)
{
	static char long_one[DLSI_SPEC_BYTES];

	(void)state;
	assert_not_written("[1]", DLS_EINVAL);
	assert_not_written("{", DLS_EFORMAT);
	assert_not_written("", DLS_EFORMAT);
	memset(long_one, ' ', sizeof long_one - 1);
	memcpy(long_one, "{\"a\":\"", 6);
	memcpy(long_one + sizeof long_one - 3, "\"}", 2);
	assert_not_written(long_one, DLS_ELIMIT);
}

static void test_refuses_what_is_no_specification(void **state)
{
	static const struct {
		const char *json, *sentence;
	} cases[] = {
		{"{}", "the job specification must name either a model or a handler"},
		{"{\"handler\":\"a\",\"model\":{\"bundle\":\"\",\"bytes\":1}}",
			"the job specification must name either a model or a handler"},
		{"{\"model\":{\"bundle\":\"ab\",\"bytes\":1}}", "the job specification: model.bundle is no hash"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct dlsi_job_spec spec;
		struct dls_error err;

		assert_int_equal(dlsi_job_spec_read(unit_alloc(), cases[i].json, strlen(cases[i].json), &spec, &err),
			DLS_EINVAL);
		assert_string_equal(err.text, cases[i].sentence);
	}
}

static void test_survives_exhausted_memory(void **state)
{
	static const char json[] = "{\"handler\":\"h\",\"params\":{}}";
	struct dlsi_job_spec spec;
	unsigned n = 0;

	(void)state;
	while (dlsi_job_spec_read(unit_alloc_failing_at(++n), json, strlen(json), &spec, NULL))
		assert_true(n < 100);
	assert_true(n > 1);
	dlsi_job_spec_fini(&spec, unit_alloc());
}

UNIT_MAIN(test_reads_what_it_wrote, test_params_are_an_object, test_refuses_what_is_no_specification,
	test_survives_exhausted_memory)
