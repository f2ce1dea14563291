/* Calls of a function: each has its own result, in whatever order they are asked for, whether they travel alone or with
 * thousands; what is wrong shows where it is asked for; calls that nobody waits for leave nothing behind. */
#include "test/unit/site.h"
#include "test/unit/unit.h"

#include <string.h>

enum { CALLS = 10000 }; /* more than travel together */

static struct dls_function *make_function(struct site *site, const char *handler)
{
	struct dls_job_options options = DLS_JOB_OPTIONS_INIT;
	struct dls_function *function;

	options.handler = handler;
	assert_int_equal(dls_function_create(site->client, &options, &function, NULL), 0);
	return function;
}

static struct dls_call *call_number(struct dls_function *function, uint64_t number)
{
	struct dls_tensor tensor = DLS_TENSOR_INIT;
	struct dls_call *call;

	tensor.dtype = DLS_UINT64;
	tensor.rank = 1;
	tensor.dims[0] = 1;
	tensor.bytes = sizeof number;
	tensor.data = &number;
	assert_int_equal(dls_function_call(function, &tensor, 1, &call, NULL), 0);
	return call;
}

static void assert_returns(struct dls_call *call, uint64_t number)
{
	struct dls_result *result;
	struct dls_error err;

	assert_int_equal(dls_call_result(call, SITE_TIMEOUT_MS, &result, &err), 0);
	assert_int_equal(result->code, 0);
	assert_int_equal(result->outputs[0].tensor.bytes, sizeof number);
	assert_memory_equal(result->outputs[0].tensor.data, &number, sizeof number);
	dls_result_destroy(result);
}

static void test_each_has_its_result(void **state)
{
	static struct dls_call *calls[CALLS];
	struct dls_function *function;
	struct site site;

	(void)state;
	site_start(&site, 2, 16); /* a window that would hold back a job */
	function = make_function(&site, "echo");
	for (uint64_t i = 0; i < CALLS; i++)
		calls[i] = call_number(function, i);
	for (uint64_t i = CALLS; i-- > 0;) {
		assert_returns(calls[i], i);
		if (i % 1000 == 0)
			assert_returns(calls[i], i); /* also a second time */
		dls_call_destroy(calls[i]);
	}
	dls_function_destroy(function);
	site_stop(&site);
}

static void test_one_after_another(void **state)
{
	struct dls_function *function;
	struct site site;

	(void)state;
	site_start(&site, 1, 0);
	function = make_function(&site, "echo");
	for (uint64_t i = 0; i < 100; i++) {
		struct dls_call *call = call_number(function, i);

		assert_returns(call, i);
		dls_call_destroy(call);
	}
	dls_function_destroy(function);
	site_stop(&site);
}

static void test_outlives_its_function(void **state)
{
	struct dls_function *function;
	struct dls_call *call;
	struct dls_result *result;
	struct dls_error err;
	struct site site;

	(void)state;
	site_start(&site, 1, 0);
	function = make_function(&site, "gate");
	call = call_number(function, 7);
	dls_function_destroy(function);
	assert_int_equal(dls_call_result(call, 0, &result, &err), DLS_ETIMEOUT);
	atomic_store(&site_gate->open, true);
	assert_returns(call, 7);
	dls_call_destroy(call);
	site_stop(&site);
}

static void test_nobody_waits(void **state)
{
	struct dls_function *function;
	struct site site;

	(void)state;
	site_start(&site, 1, 0);
	function = make_function(&site, "gate");
	dls_call_destroy(call_number(function, 1)); /* at once */
	for (uint64_t i = 0; i < 10; i++) {
		struct dls_call *call = call_number(function, i);

		SITE_WAIT(atomic_load(&site_gate->running));
		dls_call_destroy(call); /* while it runs or waits */
	}
	dls_function_destroy(function);
	site_stop(&site);
}

static void test_says_what_failed(void **state)
{
	struct dls_function *function;
	struct dls_result *result;
	struct dls_call *call;
	struct site site;

	(void)state;
	site_start(&site, 1, 0);
	function = make_function(&site, "fail");
	call = call_number(function, 0);
	assert_int_equal(dls_call_result(call, SITE_TIMEOUT_MS, &result, NULL), 0);
	assert_int_equal(result->code, DLS_EHANDLER);
	assert_string_equal(result->error, "item 0 is bad");
	dls_result_destroy(result);
	dls_call_destroy(call);
	dls_function_destroy(function);
	site_stop(&site);
}

static void count_release(void *arg, const void *data)
{
	(void)data;
	++*(unsigned *)arg;
}

static void test_refuses_what_is_wrong(void **state)
{
	struct dls_job_options options = DLS_JOB_OPTIONS_INIT;
	struct dls_tensor tensor = DLS_TENSOR_INIT;
	struct dls_function *function;
	struct dls_call *call;
	struct dls_error err;
	struct site site;
	unsigned released = 0;

	(void)state;
	site_start(&site, 1, 0);
	assert_int_equal(dls_function_create(site.client, &options, &function, &err), DLS_EINVAL);
	options.handler = "echo";
	options.key = "mine";
	assert_int_equal(dls_function_create(site.client, &options, &function, &err), DLS_EINVAL);
	assert_string_equal(err.text, "a function has no key, notify, deadline or after; jobs have");
	options.key = NULL;
	assert_int_equal(dls_function_create(site.client, &options, NULL, &err), DLS_EINVAL);
	function = make_function(&site, "echo");
	tensor.dtype = DLS_UINT64;
	tensor.rank = 1;
	tensor.dims[0] = 2;
	tensor.bytes = 8; /* not what the shape says */
	tensor.release = count_release;
	tensor.release_arg = &released;
	assert_int_equal(dls_function_call(function, &tensor, 1, &call, &err), DLS_EINVAL);
	assert_int_equal(dls_function_call(NULL, &tensor, 1, &call, &err), DLS_EINVAL);
	assert_int_equal(dls_function_call(function, &tensor, 1, NULL, &err), DLS_EINVAL);
	assert_int_equal(released, 3);
	assert_int_equal(dls_call_result(NULL, 0, NULL, &err), DLS_EINVAL);
	dls_call_destroy(NULL);
	dls_function_destroy(NULL);
	call = call_number(function, 3); /* those that are right are not harmed */
	assert_returns(call, 3);
	assert_int_equal(dls_call_result(call, 0, NULL, &err), DLS_EINVAL);
	dls_call_destroy(call);
	dls_function_destroy(function);
	site_stop(&site);
}

UNIT_MAIN(test_each_has_its_result, test_one_after_another, test_outlives_its_function, test_nobody_waits,
	test_says_what_failed, test_refuses_what_is_wrong)
