/* Clients and masters without workers: who reaches whom, what is refused and in which words, and what a master answers.
 */
#include "client/job.h"
#include "test/unit/unit.h"
#include <dlsched/dlsched.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <zmq.h>

enum { PATIENT_MS = 30000, SHORT_MS = 150 };

static struct dls_ctx *make_ctx(void)
{
	struct dls_ctx_options options = DLS_CTX_OPTIONS_INIT;
	struct dls_ctx *ctx;

	options.resize = unit_alloc()->resize;
	options.resize_arg = unit_alloc()->arg;
	assert_int_equal(dls_ctx_create(&options, &ctx, NULL), 0);
	return ctx;
}

static struct dls_master *make_master(struct dls_ctx *ctx, const char *bind)
{
	struct dls_master_options options = DLS_MASTER_OPTIONS_INIT;
	struct dls_master *master;
	struct dls_error err;

	options.bind = bind;
	if (dls_master_create(ctx, &options, &master, &err))
		fail_msg("%s", err.text);
	return master;
}

static struct dls_client *make_client(struct dls_ctx *ctx, const char *master)
{
	struct dls_client_options options = DLS_CLIENT_OPTIONS_INIT;
	struct dls_client *client;
	struct dls_error err;

	options.master = master;
	if (dls_client_create(ctx, &options, &client, &err))
		fail_msg("%s", err.text);
	return client;
}

static void test_client_reaches_master(void **state)
{
	static const char *const binds[] = {"tcp://127.0.0.1:0", "inproc://m", "ipc://@dlsched-test-client"};
	struct dls_ctx *ctx = make_ctx();

	(void)state;
	for (size_t i = 0; i < sizeof binds / sizeof *binds; i++) {
		struct dls_master *master = make_master(ctx, binds[i]);
		struct dls_client *client = make_client(ctx, dls_master_endpoint(master));
		char *json;

		assert_int_equal(dls_client_wait(client, PATIENT_MS, NULL), 0);
		assert_int_equal(dls_client_command(client, "{\"command\":\"status\"}", PATIENT_MS, &json, NULL), 0);
		assert_non_null(strstr(json, "roundrobin"));
		dls_free(ctx, json);
		dls_master_destroy(master);
		while (dls_client_wait(client, 0, NULL) == 0) /* until it has noticed */
			sched_yield();
		dls_client_destroy(client);
	}
	dls_ctx_destroy(ctx);
}

static void test_master_that_comes_later(void **state)
{
	struct dls_ctx *ctx = make_ctx();
	struct dls_master *master;
	struct dls_client *client;
	char endpoint[128];

	(void)state;
	snprintf(endpoint, sizeof endpoint, "ipc://%s/master", unit_folder());
	client = make_client(ctx, endpoint);
	assert_int_equal(dls_client_wait(client, 0, NULL), DLS_EUNREACHABLE);
	master = make_master(ctx, endpoint);
	assert_int_equal(dls_client_wait(client, PATIENT_MS, NULL), 0);
	dls_client_destroy(client);
	dls_master_destroy(master);
	dls_ctx_destroy(ctx);
}

static void test_nobody_there(void **state)
{
	struct dls_ctx *ctx = make_ctx();
	struct dls_client *client = make_client(ctx, "tcp://127.0.0.1:1");
	struct dls_error err;
	char *json;

	(void)state;
	assert_int_equal(dls_client_wait(client, SHORT_MS, &err), DLS_EUNREACHABLE);
	assert_non_null(strstr(err.text, "tcp://127.0.0.1:1"));
	assert_int_equal(
		dls_client_command(client, "{\"command\":\"status\"}", SHORT_MS, &json, &err), DLS_EUNREACHABLE);
	dls_client_destroy(client);
	dls_ctx_destroy(ctx);
}

static void test_what_listens_is_no_master(void **state)
{
	struct dls_ctx *ctx = make_ctx();
	struct dls_client *client;
	struct dls_error err;
	void *zmq = zmq_ctx_new(), *socket = zmq_socket(zmq, ZMQ_ROUTER);
	char endpoint[128];
	size_t size = sizeof endpoint;
	int rc;

	(void)state;
	assert_int_equal(zmq_bind(socket, "tcp://127.0.0.1:*"), 0);
	assert_int_equal(zmq_getsockopt(socket, ZMQ_LAST_ENDPOINT, endpoint, &size), 0);
	client = make_client(ctx, endpoint);
	for (int i = 0; i < 100; i++) { /* how long a connection takes is not for this test to know */
		rc = dls_client_wait(client, SHORT_MS, &err);
		if (rc != DLS_EUNREACHABLE)
			break;
	}
	assert_int_equal(rc, DLS_EPROTOCOL);
	dls_client_destroy(client);
	zmq_close(socket);
	zmq_ctx_term(zmq);
	dls_ctx_destroy(ctx);
}

static void test_client_options(void **state)
{
	static const struct {
		const char *master, *tenant;
		int code;
	} cases[] = {{NULL, NULL, DLS_EINVAL}, {"127.0.0.1:7700", NULL, DLS_EADDRESS},
		{"tcp://no-such-host.invalid:7700", NULL, DLS_EADDRESS}, {"tcp://192.0.2.1:7700", NULL, DLS_EDENIED},
		{"tcp://127.0.0.1:7700", "", DLS_EINVAL}, {"tcp://127.0.0.1:7700", "caf\xe9", DLS_EINVAL}};
	struct dls_ctx *ctx = make_ctx();
	struct dls_client *client = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct dls_client_options options = DLS_CLIENT_OPTIONS_INIT;

		options.master = cases[i].master;
		options.tenant = cases[i].tenant;
		assert_int_equal(dls_client_create(ctx, &options, &client, NULL), cases[i].code);
	}
	assert_int_equal(dls_client_create(ctx, NULL, &client, NULL), DLS_EINVAL);
	assert_int_equal(dls_client_create(NULL, NULL, &client, NULL), DLS_EINVAL);
	assert_null(client);
	dls_client_destroy(NULL);
	assert_int_equal(dls_client_wait(NULL, 0, NULL), DLS_EINVAL);
	assert_int_equal(dls_client_fd(NULL), DLS_EINVAL);
	dls_ctx_destroy(ctx);
}

static void test_master_options(void **state)
{
	static const struct {
		const char *bind, *policy;
		uint32_t heartbeat_ms, timeout_ms;
		int code;
		const char *word;
	} cases[] = {
		{"tcp://0.0.0.0:0", NULL, 0, 0, DLS_EDENIED, "insecure"},
		{"tcp://*:0", NULL, 0, 0, DLS_EDENIED, "insecure"},
		{"tcp://127.0.0.1", NULL, 0, 0, DLS_EADDRESS, "port"},
		{"nonsense", NULL, 0, 0, DLS_EADDRESS, "nonsense"},
		{"tcp://no-such-host.invalid:1", NULL, 0, 0, DLS_EADDRESS, "no-such-host.invalid"},
		{"inproc://m", "fastest", 0, 0, DLS_EINVAL, "roundrobin"},
		{"inproc://m", NULL, 1000, 2000, DLS_EINVAL, "three"},
		{"inproc://m", NULL, 0, UINT32_MAX, DLS_EINVAL, "day"},
	};
	struct dls_ctx *ctx = make_ctx();
	struct dls_master *master = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct dls_master_options options = DLS_MASTER_OPTIONS_INIT;
		struct dls_error err = {0};

		options.bind = cases[i].bind;
		options.policy = cases[i].policy;
		options.heartbeat_ms = cases[i].heartbeat_ms;
		options.worker_timeout_ms = cases[i].timeout_ms;
		assert_int_equal(dls_master_create(ctx, &options, &master, &err), cases[i].code);
		if (!strstr(err.text, cases[i].word))
			fail_msg("%s does not say %s", err.text, cases[i].word);
	}
	assert_null(master);
	dls_ctx_destroy(ctx);
}

static void test_port_in_use(void **state)
{
	struct dls_master_options options = DLS_MASTER_OPTIONS_INIT;
	struct dls_ctx *ctx = make_ctx();
	struct dls_master *first = make_master(ctx, "tcp://127.0.0.1:0"), *second = NULL;
	struct dls_error err;

	(void)state;
	options.bind = dls_master_endpoint(first);
	assert_int_equal(dls_master_create(ctx, &options, &second, &err), DLS_EADDRESS);
	assert_non_null(strstr(err.text, options.bind));
	assert_non_null(strstr(err.text, "in use"));
	assert_null(second);
	dls_master_destroy(first);
	dls_ctx_destroy(ctx);
}

static void test_job_options(void **state)
{
	static const struct {
		const char *model, *handler, *params, *key;
		int code;
	} cases[] = {
		{NULL, NULL, NULL, NULL, DLS_EINVAL},
		{"m", "h", NULL, NULL, DLS_EINVAL},
		{NULL, "", NULL, NULL, DLS_EINVAL},
		{NULL, "h", "[1]", NULL, DLS_EINVAL},
		{NULL, "h", "{\"a\":1,}", NULL, DLS_EFORMAT},
		{NULL, "h", NULL, "", DLS_EINVAL},
		{"/no/such/model", NULL, NULL, NULL, DLS_ENOTFOUND},
	};
	struct dls_ctx *ctx = make_ctx();
	struct dls_client *client = make_client(ctx, "tcp://127.0.0.1:1");
	struct dls_job *job = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct dls_job_options options = DLS_JOB_OPTIONS_INIT;
		struct dls_error err = {0};
		int rc;

		options.model = cases[i].model;
		options.handler = cases[i].handler;
		options.params = cases[i].params;
		options.key = cases[i].key;
		rc = dls_job_create(client, &options, &job, &err);
		if (rc != cases[i].code)
			fail_msg("case %zu: %d %s", i, rc, err.text);
	}
	assert_null(job);
	dls_job_destroy(NULL);
	assert_int_equal(dls_job_submit(NULL, NULL), DLS_EINVAL);
	assert_int_equal(dls_job_items(NULL), 0);
	dls_client_destroy(client);
	dls_ctx_destroy(ctx);
}

/* A client with jobs is not destroyed under them. */
static void test_jobs_keep_their_client(void **state)
{
	struct dls_job_options options = DLS_JOB_OPTIONS_INIT;
	struct dls_ctx *ctx = make_ctx();
	struct dls_client *client = make_client(ctx, "tcp://127.0.0.1:1");
	struct dls_job *job;

	(void)state;
	options.handler = "h";
	assert_int_equal(dls_job_create(client, &options, &job, NULL), 0);
	dls_client_destroy(client);
	assert_int_equal(dls_job_add_bytes(job, "x", 1, NULL), 0);
	dls_job_destroy(job);
	dls_client_destroy(client);
	dls_ctx_destroy(ctx);
}

/* What the session says of a job while the loop's thread stands still and the program leaves it. */
struct late_notice {
	struct dlsi_errand errand; /* first */
	struct dls_job *job;
	enum dlsi_notice notice;
	atomic_bool left, told;
};

static void tell_late(struct dlsi_errand *errand, int64_t now_ns)
{
	struct late_notice *late = (struct late_notice *)errand;
	struct dlsi_effect effect = {.kind = DLSI_EFFECT_NOTIFY};

	(void)now_ns;
	while (!atomic_load(&late->left))
		sched_yield();
	effect.notify.notice = late->notice;
	effect.notify.code = DLS_EBUSY;
	dlsi_node_job_notice(late->job, &effect, dlsi_text_of("too late"));
	atomic_store(&late->told, true);
}

/* The loop frees it, and the client's news must not name it. */
static void test_no_news_of_a_job_that_was_left(void **state)
{
	struct dls_job_options options = DLS_JOB_OPTIONS_INIT;
	struct dls_ctx *ctx = make_ctx();
	struct dls_client *client = make_client(ctx, "tcp://127.0.0.1:1");

	(void)state;
	options.handler = "h";
	for (int notice = DLSI_NOTICE_WELCOME; notice <= DLSI_NOTICE_ENDED; notice++) {
		struct late_notice late = {.errand.run = tell_late, .notice = (enum dlsi_notice)notice};

		assert_int_equal(dls_job_create(client, &options, &late.job, NULL), 0);
		assert_int_equal(dls_job_add_bytes(late.job, "x", 1, NULL), 0);
		assert_int_equal(dls_job_submit(late.job, NULL), 0);
		dlsi_loop_post(ctx->loop, &late.errand);
		assert_int_equal(dls_job_cancel(late.job, NULL), 0);
		dls_job_destroy(late.job);
		atomic_store(&late.left, true);
		while (!atomic_load(&late.told))
			sched_yield();
		pthread_mutex_lock(&client->dialer.mutex);
		assert_true(dlsi_list_empty(&client->news));
		pthread_mutex_unlock(&client->dialer.mutex);
	}
	dls_client_destroy(client);
	dls_ctx_destroy(ctx);
}

UNIT_MAIN(test_client_reaches_master, test_master_that_comes_later, test_nobody_there, test_what_listens_is_no_master,
	test_client_options, test_master_options, test_port_in_use, test_job_options, test_jobs_keep_their_client,
	test_no_news_of_a_job_that_was_left)
