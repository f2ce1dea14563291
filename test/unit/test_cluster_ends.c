/* Everything can be ended at any moment, in any order that the public face allows: nothing hangs, nothing leaks, nobody
 * is told something wrong. */
#include "client/client.h"
#include "test/unit/site.h"
#include "test/unit/unit.h"
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void test_cancel_in_the_middle(void **state)
{
	struct dls_result *result;
	struct dls_error err;
	struct dls_job *job;
	struct site site;
	uint64_t taken = 0;
	int rc;

	(void)state;
	site_start(&site, 2, 64);
	job = site_job(&site, "echo", NULL);
	site_add_bytes(job, 100000);
	assert_int_equal(dls_job_submit(job, NULL), 0);
	for (; taken < 10; taken++)
		dls_result_destroy(site_next(job, taken));
	assert_int_equal(dls_job_cancel(job, &err), 0);
	assert_int_equal(dls_job_cancel(job, &err), 0);
	assert_int_equal(dls_job_wait(job, SITE_TIMEOUT_MS, &err), DLS_ECANCELLED);
	while ((rc = dls_job_next(job, SITE_TIMEOUT_MS, &result, &err)) == 1) { /* what had arrived */
		assert_int_equal(result->item, taken++);
		dls_result_destroy(result);
	}
	assert_int_equal(rc, DLS_ECANCELLED);
	assert_true(taken <= 10 + 64);
	dls_job_destroy(job);
	site_stop(&site);
}

static void test_cancel_reaches_the_handlers(void **state)
{
	struct dls_job *job;
	struct site site;

	(void)state;
	site_start(&site, 2, 0);
	job = site_job(&site, "gate", NULL);
	site_add_bytes(job, 4);
	assert_int_equal(dls_job_submit(job, NULL), 0);
	SITE_WAIT(atomic_load(&site_gate->running) == 2);
	assert_int_equal(dls_job_cancel(job, NULL), 0);
	SITE_WAIT(atomic_load(&site_gate->cancelled) == 2);
	dls_job_destroy(job);
	site_stop(&site);
}

/* Keeps the loop from all else until the test lets it go. */
struct hold {
	struct dlsi_errand errand;
	atomic_bool held, over;
};

static void hold(struct dlsi_errand *errand, int64_t now_ns)
{
	struct hold *hold = (struct hold *)errand;

	(void)now_ns;
	atomic_store(&hold->held, true);
	SITE_WAIT(atomic_load(&hold->over));
	atomic_store(&hold->held, false);
}

/* Also when the second one comes before the loop knows of the first. */
static void test_cancelled_twice_is_cancelled(void **state)
{
	struct hold held = {.errand.run = hold};
	struct dls_job *job;
	struct site site;

	(void)state;
	site_start(&site, 2, 0);
	job = site_job(&site, "gate", NULL);
	site_add_bytes(job, 4);
	assert_int_equal(dls_job_submit(job, NULL), 0);
	SITE_WAIT(atomic_load(&site_gate->running) == 2);
	dlsi_loop_post(site.ctx->loop, &held.errand);
	SITE_WAIT(atomic_load(&held.held));
	assert_int_equal(dls_job_cancel(job, NULL), 0);
	assert_int_equal(dls_job_cancel(job, NULL), 0);
	atomic_store(&held.over, true);
	SITE_WAIT(atomic_load(&site_gate->cancelled) == 2 && !atomic_load(&held.held));
	dls_job_destroy(job);
	site_stop(&site);
}

static void test_cancel_before_submission(void **state)
{
	struct dls_result *result;
	struct dls_job *job;
	struct site site;

	(void)state;
	site_start(&site, 1, 0);
	job = site_job(&site, "echo", NULL);
	site_add_bytes(job, 5);
	assert_int_equal(dls_job_cancel(job, NULL), 0);
	assert_int_equal(dls_job_submit(job, NULL), DLS_ESTATE);
	assert_int_equal(dls_job_next(job, SITE_TIMEOUT_MS, &result, NULL), DLS_ECANCELLED);
	dls_job_destroy(job);
	site_stop(&site);
}

/* The job, then everything, goes while handlers run and results are on their way, small ones and large ones. */
static void test_destroy_in_the_middle(void **state)
{
	static const struct {
		const char *handler, *params;
	} cases[] = {{"echo", NULL}, {"large", "{\"bytes\":200000}"}, {"gate", NULL}};

	(void)state;
	for (size_t i = 0; i < 3 * sizeof cases / sizeof *cases; i++) {
		struct dls_result *result;
		struct dls_job *job;
		struct site site;

		site_start(&site, 2, 0);
		job = site_job(&site, cases[i / 3].handler, cases[i / 3].params);
		site_add_bytes(job, 10000);
		assert_int_equal(dls_job_submit(job, NULL), 0);
		if (i % 3 > 0 && dls_job_next(job, 100, &result, NULL) == 1)
			dls_result_destroy(result);
		if (i % 3 > 1 && strcmp(cases[i / 3].handler, "gate") == 0)
			SITE_WAIT(atomic_load(&site_gate->running) == 2);
		dls_job_destroy(job);
		site_stop(&site);
	}
}

static void test_workers_and_master_go_first(void **state)
{
	struct dls_result *result;
	struct dls_error err;
	struct dls_job *job;
	struct site site;

	(void)state;
	site_start(&site, 2, 0);
	job = site_job(&site, "gate", NULL);
	site_add_bytes(job, 10);
	assert_int_equal(dls_job_submit(job, NULL), 0);
	SITE_WAIT(atomic_load(&site_gate->running) == 2);
	dls_cluster_destroy(site.cluster);
	assert_int_equal(dls_job_next(job, 50, &result, &err), DLS_ETIMEOUT); /* a master may come back */
	dls_job_destroy(job);
	dls_client_destroy(site.client);
	dls_ctx_destroy(site.ctx);
}

static void test_results_outlive_everything(void **state)
{
	struct dls_result *result;
	struct dls_job *job;
	struct site site;

	(void)state;
	site_start(&site, 1, 0);
	job = site_job(&site, "echo", NULL);
	site_add_bytes(job, 1);
	assert_int_equal(dls_job_submit(job, NULL), 0);
	result = site_next(job, 0);
	dls_job_destroy(job);
	site_stop(&site);
	assert_int_equal(*(const uint8_t *)result->outputs[0].tensor.data, 0);
	assert_string_equal(result->worker, "local-0");
	dls_result_destroy(result);
}

static void count_release(void *release_arg, const void *data)
{
	(void)data;
	atomic_fetch_add((atomic_uint *)release_arg, 1);
}

static void test_inputs_are_given_back(void **state)
{
	static uint8_t bytes[100000];
	struct dls_tensor tensor = DLS_TENSOR_INIT;
	atomic_uint released = 0;
	struct dls_job *job;
	struct site site;

	(void)state;
	tensor.dtype = DLS_UINT8;
	tensor.rank = 1;
	tensor.dims[0] = tensor.bytes = sizeof bytes;
	tensor.data = bytes;
	tensor.release = count_release;
	tensor.release_arg = &released;
	site_start(&site, 1, 0);
	job = site_job(&site, "echo", NULL);
	assert_int_equal(dls_job_add_tensors(job, &tensor, 1, NULL), 0);
	assert_int_equal(dls_job_submit(job, NULL), 0);
	assert_int_equal(atomic_load(&released), 0); /* a worker may read it */
	assert_int_equal(dls_job_add_tensors(job, &tensor, 1, NULL), DLS_ESTATE);
	assert_int_equal(atomic_load(&released), 1); /* also when it was not taken */
	dls_result_destroy(site_next(job, 0));
	dls_job_destroy(job);
	SITE_WAIT(atomic_load(&released) == 2);
	site_stop(&site);
}

static void test_no_handler_no_result(void **state)
{
	struct dls_job_progress progress = {.size = sizeof progress};
	struct dls_result *result;
	struct dls_job *job;
	struct site site;

	(void)state;
	site_start(&site, 1, 0);
	job = site_job(&site, "nobody has this", NULL);
	site_add_bytes(job, 1);
	assert_int_equal(dls_job_submit(job, NULL), 0);
	assert_int_equal(dls_job_next(job, 50, &result, NULL), DLS_ETIMEOUT);
	assert_int_equal(dls_job_progress(job, &progress), 0);
	assert_int_equal(progress.accepted, 1);
	assert_int_equal(progress.workers, 0);
	dls_job_destroy(job);
	site_stop(&site);
}

static void test_one_key_one_job(void **state)
{
	struct dls_job_options options = DLS_JOB_OPTIONS_INIT;
	struct dls_job *first, *second;
	struct dls_error err;
	struct site site;

	(void)state;
	site_start(&site, 1, 0);
	options.handler = "gate";
	options.key = "the one";
	assert_int_equal(dls_job_create(site.client, &options, &first, NULL), 0);
	assert_int_equal(dls_job_create(site.client, &options, &second, NULL), 0);
	site_add_bytes(first, 1);
	site_add_bytes(second, 1);
	assert_int_equal(dls_job_submit(first, NULL), 0);
	assert_int_equal(dls_job_submit(second, NULL), 0);
	assert_int_equal(dls_job_wait(second, SITE_TIMEOUT_MS, &err), DLS_EEXISTS);
	dls_job_destroy(second);
	for (int i = 0; i < 20; i++) { /* however far it has come when it is cancelled, the first one goes on */
		assert_int_equal(dls_job_create(site.client, &options, &second, NULL), 0);
		site_add_bytes(second, 1);
		assert_int_equal(dls_job_submit(second, NULL), 0);
		assert_int_equal(dls_job_cancel(second, NULL), 0);
		dls_job_destroy(second);
	}
	SITE_WAIT(atomic_load(&site_gate->running));
	atomic_store(&site_gate->open, true);
	dls_result_destroy(site_next(first, 0));
	dls_job_destroy(first);
	site_stop(&site);
}

static void cancel_job(void *notify_arg, struct dls_job *job)
{
	++*(unsigned *)notify_arg;
	dls_job_cancel(job, NULL);
}

static bool has_news(struct site *site)
{
	struct pollfd news = {.fd = dls_client_fd(site->client), .events = POLLIN};

	return poll(&news, 1, 0) == 1;
}

static void test_news_that_callbacks_make(void **state)
{
	struct dls_job_options options = DLS_JOB_OPTIONS_INIT;
	struct dls_job *jobs[2];
	struct site site;
	unsigned calls = 0;

	(void)state;
	site_start(&site, 1, 1);
	options.handler = "echo";
	options.notify = cancel_job;
	options.notify_arg = &calls;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(dls_job_create(site.client, &options, &jobs[i], NULL), 0);
		site_add_bytes(jobs[i], 2);
		assert_int_equal(dls_job_submit(jobs[i], NULL), 0);
		assert_int_equal(dls_job_wait(jobs[i], SITE_TIMEOUT_MS, NULL), 0); /* the window has room for one */
	}
	assert_true(has_news(&site));
	assert_int_equal(dls_client_process(site.client, NULL), 0);
	assert_int_equal(calls, 2);
	assert_true(has_news(&site)); /* both have ended now */
	assert_int_equal(dls_client_process(site.client, NULL), 0);
	assert_int_equal(calls, 4);
	assert_false(has_news(&site));
	for (int i = 0; i < 2; i++)
		dls_job_destroy(jobs[i]);
	site_stop(&site);
}

struct slow_callback {
	atomic_bool inside, leave;
	struct dls_job *job;
};

static void call_slowly(void *notify_arg, struct dls_job *job)
{
	struct slow_callback *slow = notify_arg;
	struct dls_job_progress progress = {.size = sizeof progress};

	atomic_store(&slow->inside, true);
	SITE_WAIT(atomic_load(&slow->leave));
	assert_int_equal(dls_job_progress(job, &progress), 0); /* it is still there */
}

static void *process(void *client)
{
	dls_client_process(client, NULL);
	return NULL;
}

static void *destroy(void *job)
{
	dls_job_destroy(job);
	return NULL;
}

static void test_job_outlives_its_callback(void **state)
{
	struct dls_job_options options = DLS_JOB_OPTIONS_INIT;
	struct slow_callback slow = {0};
	pthread_t processing, destroying;
	struct site site;

	(void)state;
	site_start(&site, 1, 0);
	options.handler = "echo";
	options.notify = call_slowly;
	options.notify_arg = &slow;
	assert_int_equal(dls_job_create(site.client, &options, &slow.job, NULL), 0);
	assert_int_equal(dls_job_submit(slow.job, NULL), 0);
	assert_int_equal(pthread_create(&processing, NULL, process, site.client), 0);
	SITE_WAIT(atomic_load(&slow.inside));
	assert_int_equal(pthread_create(&destroying, NULL, destroy, slow.job), 0);
	for (int i = 0; i < 1000; i++)
		sched_yield(); /* time to go wrong */
	atomic_store(&slow.leave, true);
	pthread_join(processing, NULL);
	pthread_join(destroying, NULL);
	site_stop(&site);
}

/* A forked child is told so by every call, and its end disturbs nobody. */
static void test_forked_child(void **state)
{
	struct dls_result *result;
	struct dls_job *job;
	struct site site;
	char *json;
	int status;
	pid_t child;

	(void)state;
	site_start(&site, 1, 0);
	job = site_job(&site, "echo", NULL);
	site_add_bytes(job, 3);
	child = fork();
	if (child == 0) {
		bool told = dls_job_submit(job, NULL) == DLS_EFORK && dls_job_next(job, -1, &result, NULL) == DLS_EFORK;

		told &= dls_job_wait(job, -1, NULL) == DLS_EFORK && dls_job_cancel(job, NULL) == DLS_EFORK;
		told &= dls_client_wait(site.client, -1, NULL) == DLS_EFORK;
		told &= dls_client_process(site.client, NULL) == DLS_EFORK;
		told &= dls_client_fd(site.client) == DLS_EFORK;
		told &= dls_client_command(site.client, "{}", -1, &json, NULL) == DLS_EFORK;
		dls_job_destroy(job);
		dls_client_destroy(site.client);
		dls_cluster_destroy(site.cluster);
		dls_ctx_destroy(site.ctx);
		_exit(told ? 7 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(WEXITSTATUS(status), 7);
	assert_int_equal(dls_job_submit(job, NULL), 0);
	for (uint64_t item = 0; item < 3; item++)
		dls_result_destroy(site_next(job, item));
	dls_job_destroy(job);
	site_stop(&site);
}

static void *resize_unit(void *resize_arg, void *old, size_t size)
{
	const struct dlsi_alloc *alloc = resize_arg;

	return alloc->resize(alloc->arg, old, size);
}

/* Makes everything that has a handle, up to the first error. */
static int make_all(const struct dlsi_alloc *alloc)
{
	struct dls_ctx_options options = DLS_CTX_OPTIONS_INIT;
	struct dls_client_options client_options = DLS_CLIENT_OPTIONS_INIT;
	struct dls_cluster_options cluster_options = DLS_CLUSTER_OPTIONS_INIT;
	struct dls_job_options job_options = DLS_JOB_OPTIONS_INIT;
	struct dls_cluster *cluster = NULL;
	struct dls_client *client = NULL;
	struct dls_job *job = NULL;
	struct dls_ctx *ctx = NULL;
	int rc;

	options.resize = resize_unit;
	options.resize_arg = (void *)(uintptr_t)alloc;
	cluster_options.worker.no_models = 1;
	job_options.handler = "echo";
	rc = dls_ctx_create(&options, &ctx, NULL);
	if (rc == 0)
		rc = dls_cluster_local(ctx, &cluster_options, &cluster, NULL);
	if (rc == 0)
		rc = dls_cluster_start(cluster, NULL);
	if (rc == 0) {
		client_options.master = dls_cluster_endpoint(cluster);
		rc = dls_client_create(ctx, &client_options, &client, NULL);
	}
	if (rc == 0)
		rc = dls_job_create(client, &job_options, &job, NULL);
	dls_job_destroy(job);
	dls_client_destroy(client);
	dls_cluster_destroy(cluster);
	dls_ctx_destroy(ctx);
	return rc;
}

static void test_creation_without_memory(void **state)
{
	unsigned n = 1;
	int rc;

	(void)state;
	while ((rc = make_all(unit_alloc_failing_at(n))) == DLS_ENOMEM)
		n++;
	assert_int_equal(rc, 0);
	assert_true(n > 20);
}

/* A job that is destroyed with its last result, before the session's word of its end. */
struct brief {
	struct dls_job *job; /* NULL: destroyed */
	unsigned news;
};

static void note_brief(void *notify_arg, struct dls_job *job)
{
	struct brief *brief = notify_arg;

	assert_ptr_equal(brief->job, job);
	brief->news++;
}

static void start_brief(struct site *site, struct brief *brief)
{
	struct dls_job_options options = DLS_JOB_OPTIONS_INIT;

	options.handler = "echo";
	options.notify = note_brief;
	options.notify_arg = brief;
	assert_int_equal(dls_job_create(site->client, &options, &brief->job, NULL), 0);
	site_add_bytes(brief->job, 1);
	assert_int_equal(dls_job_submit(brief->job, NULL), 0);
}

static void test_destroyed_with_its_last_result(void **state)
{
	enum { JOBS = 2000, OUTSTANDING = 16 };
	struct brief briefs[OUTSTANDING] = {{0}};
	struct site site;
	unsigned news = 0;

	(void)state;
	site_start(&site, 2, 0);
	for (int i = 0; i < JOBS + OUTSTANDING; i++) {
		struct brief *brief = &briefs[i % OUTSTANDING];

		if (brief->job) {
			struct dls_job *job = brief->job;

			dls_result_destroy(site_next(job, 0));
			brief->job = NULL;
			dls_job_destroy(job);
		}
		assert_int_equal(dls_client_process(site.client, NULL), 0);
		if (i < JOBS)
			start_brief(&site, brief);
	}
	for (int i = 0; i < OUTSTANDING; i++)
		news += briefs[i].news;
	assert_true(news > 0);
	site_stop(&site);
}

UNIT_MAIN(test_destroyed_with_its_last_result, test_cancel_in_the_middle, test_cancel_reaches_the_handlers,
	test_cancelled_twice_is_cancelled, test_cancel_before_submission, test_destroy_in_the_middle,
	test_workers_and_master_go_first, test_results_outlive_everything, test_inputs_are_given_back,
	test_no_handler_no_result, test_one_key_one_job, test_news_that_callbacks_make, test_job_outlives_its_callback,
	test_forked_child, test_creation_without_memory)
