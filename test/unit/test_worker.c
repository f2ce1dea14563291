/* A worker by itself: what it refuses before it has a master, how it tells of one, and how it ends. */
#include "test/unit/site.h"
#include "test/unit/unit.h"
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

static int nothing(void *run_arg, struct dls_task *task)
{
	(void)run_arg;
	(void)task;
	return 0;
}

static const struct dls_handler_ops nothing_ops = {.size = sizeof nothing_ops, .run = nothing};

static struct dls_worker_options options_of(const char *master)
{
	struct dls_worker_options options = DLS_WORKER_OPTIONS_INIT;

	options.master = master;
	options.no_models = 1;
	return options;
}

static struct dls_ctx *make_worker(struct dls_worker **worker)
{
	struct dls_worker_options options = options_of("tcp://127.0.0.1:1");
	struct dls_ctx *ctx;

	assert_int_equal(dls_ctx_create(NULL, &ctx, NULL), 0);
	assert_int_equal(dls_worker_create(ctx, &options, worker, NULL), 0);
	return ctx;
}

static void assert_not_made(const struct dls_worker_options *options, int code, const char *part)
{
	struct dls_worker *worker = NULL;
	struct dls_error err;
	struct dls_ctx *ctx;

	assert_int_equal(dls_ctx_create(NULL, &ctx, NULL), 0);
	assert_int_equal(dls_worker_create(ctx, options, &worker, &err), code);
	if (!strstr(err.text, part))
		fail_msg("\"%s\" does not say \"%s\"", err.text, part);
	assert_null(worker);
	dls_ctx_destroy(ctx);
}

static void test_refuses_impossible_options(void **state)
{
	static char long_name[300];
	struct dls_worker_options options = options_of(NULL);

	(void)state;
	assert_not_made(&options, DLS_EINVAL, "master is not set");
	options = options_of("nonsense");
	assert_not_made(&options, DLS_EADDRESS, "nonsense");
	options = options_of("tcp://127.0.0.1:1");
	options.devices = 65;
	assert_not_made(&options, DLS_EINVAL, "65 devices; a worker may have from 1 to 64");
	options.devices = 1;
	options.credits = 65;
	assert_not_made(&options, DLS_EINVAL, "65 credits; a device may have from 1 to 64");
	options.credits = 1;
	options.name = memset(long_name, 'n', 256);
	assert_not_made(&options, DLS_EINVAL, "from 1 to 255 bytes");
	options.name = "caf\xe9";
	assert_not_made(&options, DLS_EINVAL, "the name of a worker must be UTF-8; its byte 4 is 0xe9");
	options.name = NULL;
	options.cache_dir = "";
	assert_not_made(&options, DLS_EINVAL, "cache_dir is empty");
	options.cache_dir = NULL;
	options.labels = (const char *const[]){"zone=a", "", NULL};
	assert_not_made(&options, DLS_EINVAL, "a label of a worker has from 1 to 255 bytes, not 0");
	options.labels = NULL;
	options.resources = (const struct dls_resource[]){{"cores", -1}, {0}};
	assert_not_made(&options, DLS_EINVAL, "-1 of the resource \"cores\"; it must be above 0");
	options.resources = (const struct dls_resource[]){{"devices", 1}, {0}};
	assert_not_made(&options, DLS_EINVAL, "the devices of a worker are no resource");
	options.resources = NULL;
	options.data_bind = "tcp://0.0.0.0:0";
	assert_not_made(&options, DLS_EDENIED, "insecure");
}

static void test_refuses_impossible_handlers(void **state)
{
	struct dls_handler_ops empty = {.size = sizeof empty};
	static char long_name[300];
	struct dls_worker *worker;
	struct dls_ctx *ctx = make_worker(&worker);
	struct dls_error err;

	(void)state;
	assert_int_equal(dls_worker_handle(worker, "a", &nothing_ops, NULL), 0);
	assert_int_equal(dls_worker_handle(worker, "a", &nothing_ops, &err), DLS_EEXISTS);
	assert_string_equal(err.text, "the worker has a handler \"a\" already");
	assert_int_equal(dls_worker_handle(worker, "b", &empty, &err), DLS_EINVAL);
	assert_int_equal(dls_worker_handle(worker, "", &nothing_ops, &err), DLS_EINVAL);
	assert_int_equal(dls_worker_handle(worker, memset(long_name, 'n', 256), &nothing_ops, &err), DLS_EINVAL);
	assert_int_equal(dls_worker_handle(worker, "dls.model", &nothing_ops, &err), DLS_EINVAL);
	assert_int_equal(dls_worker_handle(NULL, "c", &nothing_ops, &err), DLS_EINVAL);
	dls_worker_destroy(worker);
	dls_ctx_destroy(ctx);
}

static void test_takes_only_so_many_handlers(void **state)
{
	struct dls_worker *worker;
	struct dls_ctx *ctx = make_worker(&worker);
	char name[16];

	(void)state;
	for (int i = 0; i < 64; i++) {
		snprintf(name, sizeof name, "h%d", i);
		assert_int_equal(dls_worker_handle(worker, name, &nothing_ops, NULL), 0);
	}
	assert_int_equal(dls_worker_handle(worker, "one more", &nothing_ops, NULL), DLS_ELIMIT);
	dls_worker_destroy(worker);
	dls_ctx_destroy(ctx);
}

static void test_starts_once(void **state)
{
	struct dls_worker *worker;
	struct dls_ctx *ctx = make_worker(&worker);

	(void)state;
	assert_int_equal(dls_worker_start(worker, NULL), 0);
	assert_int_equal(dls_worker_start(worker, NULL), DLS_ESTATE);
	assert_int_equal(dls_worker_handle(worker, "late", &nothing_ops, NULL), DLS_ESTATE);
	dls_worker_destroy(worker);
	dls_ctx_destroy(ctx);
}

static void test_says_that_no_master_answers(void **state)
{
	struct dls_worker *worker;
	struct dls_ctx *ctx = make_worker(&worker);
	struct dls_error err;

	(void)state;
	assert_int_equal(dls_worker_start(worker, NULL), 0);
	assert_int_equal(dls_worker_wait(worker, 50, &err), DLS_EUNREACHABLE);
	assert_string_equal(err.text, "no master answers at tcp://127.0.0.1:1; is it running?");
	dls_worker_destroy(worker);
	dls_ctx_destroy(ctx);
}

static void test_is_waited_for_only_when_started(void **state)
{
	struct dls_worker *worker;
	struct dls_ctx *ctx = make_worker(&worker);
	struct dls_error err;

	(void)state;
	assert_int_equal(dls_worker_wait(worker, -1, &err), DLS_ESTATE);
	assert_string_equal(err.text, "the worker has not been started: call dls_worker_start first");
	assert_int_equal(dls_worker_process(worker, &err), DLS_ESTATE);
	assert_int_equal(dls_worker_start(worker, NULL), 0);
	assert_int_equal(dls_worker_process(worker, &err), 0);
	dls_worker_destroy(worker);
	dls_ctx_destroy(ctx);
}

static void *wait_until_started(void *arg)
{
	while (dls_worker_wait(arg, 0, NULL) == DLS_ESTATE && dls_worker_handle(arg, "a", &nothing_ops, NULL) != 0)
		sched_yield();
	return NULL;
}

/* A sanitizer sees what is not guarded. */
static void test_is_started_while_others_wait(void **state)
{
	struct dls_worker *worker;
	struct dls_ctx *ctx = make_worker(&worker);
	pthread_t thread;

	(void)state;
	assert_int_equal(dls_worker_handle(worker, "a", &nothing_ops, NULL), 0);
	assert_int_equal(pthread_create(&thread, NULL, wait_until_started, worker), 0);
	assert_int_equal(dls_worker_start(worker, NULL), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	dls_worker_destroy(worker);
	dls_ctx_destroy(ctx);
}

/* Waits for news and returns how the worker stands then. */
static int next_standing(struct dls_worker *worker, struct dls_error *err)
{
	struct pollfd wait = {.fd = dls_worker_fd(worker), .events = POLLIN};

	assert_int_equal(poll(&wait, 1, SITE_TIMEOUT_MS), 1);
	return dls_worker_process(worker, err);
}

static void test_tells_how_it_stands(void **state)
{
	struct dls_master_options master_options = DLS_MASTER_OPTIONS_INIT;
	struct dls_worker_options options;
	struct dls_worker *worker, *twin;
	struct dls_master *master;
	struct dls_error err;
	char endpoint[256];
	struct dls_ctx *ctx;

	(void)state;
	assert_int_equal(dls_ctx_create(NULL, &ctx, NULL), 0);
	master_options.bind = "tcp://127.0.0.1:0";
	assert_int_equal(dls_master_create(ctx, &master_options, &master, NULL), 0);
	snprintf(endpoint, sizeof endpoint, "%s", dls_master_endpoint(master));
	options = options_of(endpoint);
	options.name = "one";
	assert_int_equal(dls_worker_create(ctx, &options, &worker, NULL), 0);
	assert_int_equal(dls_worker_start(worker, NULL), 0);
	assert_int_equal(next_standing(worker, &err), 1);

	dls_master_destroy(master);
	assert_int_equal(next_standing(worker, &err), 0);
	master_options.bind = endpoint;
	assert_int_equal(dls_master_create(ctx, &master_options, &master, NULL), 0);
	assert_int_equal(next_standing(worker, &err), 1);

	assert_int_equal(dls_worker_create(ctx, &options, &twin, NULL), 0);
	assert_int_equal(dls_worker_start(twin, NULL), 0);
	assert_int_equal(next_standing(worker, &err), DLS_EEXISTS);
	assert_int_equal(dls_worker_process(worker, &err), DLS_EEXISTS);
	dls_worker_destroy(twin);
	dls_worker_destroy(worker);
	dls_master_destroy(master);
	dls_ctx_destroy(ctx);
}

static void test_checks_options_without_listening(void **state)
{
	struct dls_worker_options options = options_of("tcp://127.0.0.1:1");
	struct dls_worker *worker;
	struct dls_ctx *ctx;
	struct dls_error err;

	(void)state;
	assert_int_equal(dls_ctx_create(NULL, &ctx, NULL), 0);
	assert_int_equal(dls_worker_check(ctx, &options, NULL), 0);
	options.data_bind = "ipc:///proc/no-socket-can-be-here";
	assert_int_equal(dls_worker_create(ctx, &options, &worker, NULL), DLS_EADDRESS);
	assert_int_equal(dls_worker_check(ctx, &options, NULL), 0);
	options.data_bind = "tcp://0.0.0.0:0";
	assert_int_equal(dls_worker_check(ctx, &options, NULL), DLS_EDENIED);
	options.data_bind = NULL;
	options.no_models = 0;
	options.cache_dir = "/proc/no-folder-can-be-here";
	assert_int_equal(dls_worker_check(ctx, &options, &err), DLS_EIO);
	assert_non_null(strstr(err.text, options.cache_dir));
	dls_ctx_destroy(ctx);
}

UNIT_MAIN(test_refuses_impossible_options, test_refuses_impossible_handlers, test_takes_only_so_many_handlers,
	test_starts_once, test_says_that_no_master_answers, test_is_waited_for_only_when_started,
	test_is_started_while_others_wait, test_tells_how_it_stands, test_checks_options_without_listening)
