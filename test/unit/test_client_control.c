/* Control over jobs and workers by the functions of dlsched/control.h, on a cluster in this process. */
#include "test/unit/site.h"
#include "test/unit/unit.h"
#include <math.h>
#include <string.h>

enum { ITEMS = 40, LOCAL = 0 };

struct control {
	struct site site;
	struct dls_job *job; /* its first task waits at the gate, the others behind it */
};

static void begin(struct control *control)
{
	struct dls_job_options options = DLS_JOB_OPTIONS_INIT;

	site_start(&control->site, 1, 0);
	options.handler = "gate";
	options.task_items = 1;
	assert_int_equal(dls_job_create(control->site.client, &options, &control->job, NULL), 0);
	site_add_bytes(control->job, ITEMS);
	assert_int_equal(dls_job_submit(control->job, NULL), 0);
	SITE_WAIT(atomic_load(&site_gate->running) == 1);
}

static void end(struct control *control)
{
	atomic_store(&site_gate->open, true);
	dls_job_destroy(control->job);
	site_stop(&control->site);
}

/* Whether the job's description, or with another function another answer about it, has this text. */
static bool says(const struct control *control,
	int (*ask)(struct dls_client *client, const char *job, int timeout_ms, char **json_out, struct dls_error *err),
	const char *text)
{
	char *json = NULL;
	bool found;

	assert_int_equal(ask(control->site.client, dls_job_id(control->job), SITE_TIMEOUT_MS, &json, NULL), 0);
	found = strstr(json, text);
	dls_free(control->site.ctx, json);
	return found;
}

static void test_pause_resume_and_priority(void **state)
{
	struct control control;
	struct dls_client *client;
	const char *id;

	(void)state;
	begin(&control);
	client = control.site.client;
	id = dls_job_id(control.job);
	assert_int_equal(strlen(id), 32);
	assert_int_equal(dls_client_set_priority(client, id, -3, SITE_TIMEOUT_MS, NULL), 0);
	assert_true(says(&control, dls_client_describe, "\"priority\":-3"));
	assert_int_equal(dls_client_pause(client, id, SITE_TIMEOUT_MS, NULL), 0);
	atomic_store(&site_gate->open, true);
	SITE_WAIT(says(&control, dls_client_describe, "\"running\":0"));
	assert_true(says(&control, dls_client_describe, "\"state\":\"paused\""));
	assert_true(says(&control, dls_client_explain, "it is paused"));
	assert_true(atomic_load(&site_gate->items) < ITEMS);
	assert_int_equal(dls_client_resume(client, id, SITE_TIMEOUT_MS, NULL), 0);
	assert_int_equal(dls_job_wait(control.job, SITE_TIMEOUT_MS, NULL), 0);
	assert_int_equal(atomic_load(&site_gate->items), ITEMS);
	end(&control);
}

static void test_cancel(void **state)
{
	struct control control;
	struct dls_error error = {0};
	char beginning[9] = "";

	(void)state;
	begin(&control);
	strncpy(beginning, dls_job_id(control.job), 8);
	assert_int_equal(dls_client_cancel(control.site.client, beginning, SITE_TIMEOUT_MS, NULL), 0);
	assert_int_equal(dls_job_wait(control.job, SITE_TIMEOUT_MS, &error), DLS_ECANCELLED);
	assert_non_null(strstr(error.text, "by a command of default"));
	assert_int_equal(dls_client_cancel(control.site.client, beginning, SITE_TIMEOUT_MS, &error), DLS_ESTATE);
	assert_non_null(strstr(error.text, "has ended already: cancelled"));
	end(&control);
}

static void test_lists(void **state)
{
	struct dls_jobs_options options = DLS_JOBS_OPTIONS_INIT;
	struct control control;
	char *json = NULL;

	(void)state;
	begin(&control);
	assert_int_equal(dls_client_jobs(control.site.client, NULL, SITE_TIMEOUT_MS, &json, NULL), 0);
	assert_non_null(strstr(json, dls_job_id(control.job)));
	dls_free(control.site.ctx, json);
	options.tenant = "other";
	options.state = "all";
	options.limit = 5;
	assert_int_equal(dls_client_jobs(control.site.client, &options, SITE_TIMEOUT_MS, &json, NULL), 0);
	assert_null(strstr(json, dls_job_id(control.job)));
	dls_free(control.site.ctx, json);
	options.state = "odd";
	assert_int_equal(dls_client_jobs(control.site.client, &options, SITE_TIMEOUT_MS, &json, NULL), DLS_EINVAL);
	end(&control);
}

static void test_wrong_arguments(void **state)
{
	struct control control;
	char *json = NULL;

	(void)state;
	begin(&control);
	assert_int_equal(dls_client_cancel(NULL, "12345678", 0, NULL), DLS_EINVAL);
	assert_int_equal(dls_client_cancel(control.site.client, NULL, SITE_TIMEOUT_MS, NULL), DLS_EINVAL);
	assert_int_equal(dls_client_pause(control.site.client, "\xff", SITE_TIMEOUT_MS, NULL), DLS_EINVAL);
	assert_int_equal(dls_client_pause(control.site.client, "\"}", SITE_TIMEOUT_MS, NULL), DLS_EINVAL);
	assert_int_equal(dls_client_pause(control.site.client, "12345678", SITE_TIMEOUT_MS, NULL), DLS_ENOTFOUND);
	assert_int_equal(
		dls_client_explain(control.site.client, "12345678", SITE_TIMEOUT_MS, &json, NULL), DLS_ENOTFOUND);
	assert_int_equal(dls_client_describe(control.site.client, "12345678", SITE_TIMEOUT_MS, NULL, NULL), DLS_EINVAL);
	assert_int_equal(dls_client_drain(control.site.client, "none", SITE_TIMEOUT_MS, NULL), DLS_ENOTFOUND);
	assert_int_equal(dls_worker_drain(NULL, 0, NULL), DLS_EINVAL);
	assert_string_equal(dls_job_id(NULL), "");
	end(&control);
}

static void test_policies_and_tenants(void **state)
{
	const struct dls_resource quota[] = {{"devices", 2}, {"cores", 1.5}, {NULL, 0}};
	struct dls_tenant_options tenant = DLS_TENANT_OPTIONS_INIT;
	struct control control;
	struct dls_error error;
	char *json;

	(void)state;
	tenant.weight = 2;
	tenant.quota = quota;
	begin(&control);
	assert_int_equal(dls_client_set_policy(control.site.client, "drf", NULL, SITE_TIMEOUT_MS, NULL), 0);
	assert_int_equal(
		dls_client_set_policy(control.site.client, "priority", "{\"ageing_ms\":0}", SITE_TIMEOUT_MS, NULL), 0);
	assert_int_equal(
		dls_client_set_policy(control.site.client, "fastest", NULL, SITE_TIMEOUT_MS, &error), DLS_EINVAL);
	assert_non_null(strstr(error.text, "roundrobin"));
	assert_int_equal(dls_client_set_policy(control.site.client, "drf", "{", SITE_TIMEOUT_MS, NULL), DLS_EFORMAT);
	assert_int_equal(dls_client_set_policy(control.site.client, NULL, NULL, SITE_TIMEOUT_MS, NULL), DLS_EINVAL);
	assert_int_equal(dls_client_set_tenant(control.site.client, "a", NULL, SITE_TIMEOUT_MS, NULL), 0);
	assert_int_equal(dls_client_set_tenant(control.site.client, "a", &tenant, SITE_TIMEOUT_MS, NULL), 0);
	assert_int_equal(dls_client_tenants(control.site.client, "a", NULL, SITE_TIMEOUT_MS, &json, NULL), 0);
	assert_non_null(strstr(json, "\"quota\":{"));
	dls_free(control.site.ctx, json);
	assert_int_equal(dls_client_tenants(control.site.client, NULL, NULL, SITE_TIMEOUT_MS, &json, NULL), 0);
	dls_free(control.site.ctx, json);
	assert_int_equal(
		dls_client_tenants(control.site.client, "b", NULL, SITE_TIMEOUT_MS, &json, NULL), DLS_ENOTFOUND);
	assert_int_equal(dls_client_tenants(control.site.client, "", NULL, SITE_TIMEOUT_MS, &json, NULL), DLS_EINVAL);
	assert_int_equal(dls_client_tenants(control.site.client, NULL, NULL, SITE_TIMEOUT_MS, NULL, NULL), DLS_EINVAL);
	tenant.weight = NAN;
	assert_int_equal(dls_client_set_tenant(control.site.client, "a", &tenant, SITE_TIMEOUT_MS, NULL), DLS_EINVAL);
	tenant.weight = -1;
	assert_int_equal(dls_client_set_tenant(control.site.client, "a", &tenant, SITE_TIMEOUT_MS, NULL), DLS_EINVAL);
	atomic_store(&site_gate->open, true);
	assert_int_equal(dls_job_wait(control.job, SITE_TIMEOUT_MS, NULL), 0);
	end(&control);
}

/* What waits behind the task at the gate is handed back, and nothing is begun until the worker may again. */
static void test_drain_and_undrain(void **state)
{
	struct control control;

	(void)state;
	begin(&control);
	assert_int_equal(dls_client_drain(control.site.client, "local-0", SITE_TIMEOUT_MS, NULL), 0);
	SITE_WAIT(says(&control, dls_client_describe, "\"running\":1,"));
	assert_true(says(&control, dls_client_explain, "draining"));
	assert_int_equal(dls_client_undrain(control.site.client, "local-0", SITE_TIMEOUT_MS, NULL), 0);
	atomic_store(&site_gate->open, true);
	assert_int_equal(dls_job_wait(control.job, SITE_TIMEOUT_MS, NULL), 0);
	assert_int_equal(atomic_load(&site_gate->items), ITEMS);
	end(&control);
}

static void test_worker_that_drains(void **state)
{
	struct control control;
	struct dls_worker *worker;

	(void)state;
	begin(&control);
	worker = dls_cluster_worker(control.site.cluster, LOCAL);
	assert_int_equal(dls_worker_drain(worker, 50, NULL), DLS_ETIMEOUT);
	assert_int_equal(dls_client_undrain(control.site.client, "local-0", SITE_TIMEOUT_MS, NULL), DLS_ESTATE);
	atomic_store(&site_gate->open, true);
	assert_int_equal(dls_worker_drain(worker, SITE_TIMEOUT_MS, NULL), 0);
	assert_int_equal(atomic_load(&site_gate->items), 1);
	assert_true(says(&control, dls_client_describe, "\"done\":1,"));
	end(&control);
}

UNIT_MAIN(test_policies_and_tenants, test_pause_resume_and_priority, test_cancel, test_lists, test_wrong_arguments,
	test_drain_and_undrain, test_worker_that_drains)
