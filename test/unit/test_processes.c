/* The same over TCP with a process for each: a worker that is killed in the middle loses nothing, and a master that is
 * killed and started again goes on with what its clients still want. */
#include "test/unit/site.h"
#include "test/unit/unit.h"
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__SANITIZE_THREAD__)
enum { ITEMS = 2000 }; /* each message costs the sanitizer a suppressed report of libzmq */
#else
enum { ITEMS = 100000 };
#endif
enum { ENDPOINT_BYTES = 256 };

/* A process that does nothing until it is told an endpoint. All are forked before this one has any threads. */
struct process {
	pid_t pid;
	int ask;    /* where the endpoint is written to */
	int answer; /* where that of a master is read from */
};

static void run_master(const char *endpoint, int answer)
{
	struct dls_master_options options = DLS_MASTER_OPTIONS_INIT;
	struct dls_error err;
	struct dls_master *master;
	char text[ENDPOINT_BYTES] = "";

	options.bind = endpoint;
	options.heartbeat_ms = 100;
	options.worker_timeout_ms = 1000;
	if (dls_master_create(site_ctx(), &options, &master, &err)) {
		fprintf(stderr, "%s\n", err.text);
		_exit(1);
	}
	snprintf(text, sizeof text, "%s", dls_master_endpoint(master));
	if (write(answer, text, sizeof text) != sizeof text)
		_exit(1);
}

static void run_worker(const char *endpoint, int answer)
{
	struct dls_worker_options options = DLS_WORKER_OPTIONS_INIT;
	struct dls_worker *worker;

	(void)answer;
	options.master = endpoint;
	options.no_models = 1;
	if (dls_worker_create(site_ctx(), &options, &worker, NULL))
		_exit(1);
	site_handlers(worker);
	if (dls_worker_start(worker, NULL))
		_exit(1);
}

static struct process start(void (*run)(const char *endpoint, int answer))
{
	pid_t parent = getpid();
	struct process process;
	char endpoint[ENDPOINT_BYTES];
	int ask[2], answer[2];

	assert_int_equal(pipe(ask), 0);
	assert_int_equal(pipe(answer), 0);
	process = (struct process){fork(), ask[1], answer[0]};
	assert_true(process.pid >= 0);
	if (process.pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent || read(ask[0], endpoint, sizeof endpoint) != sizeof endpoint)
			_exit(1);
		run(endpoint, answer[1]);
		while (true)
			pause();
	}
	close(ask[0]);
	close(answer[1]);
	return process;
}

static void stop(struct process *process)
{
	assert_int_equal(kill(process->pid, SIGKILL), 0);
	assert_int_equal(waitpid(process->pid, NULL, 0), process->pid);
	close(process->ask);
	close(process->answer);
}

static void tell(struct process *process, const char *endpoint)
{
	char text[ENDPOINT_BYTES] = "";

	snprintf(text, sizeof text, "%s", endpoint);
	assert_int_equal(write(process->ask, text, sizeof text), sizeof text);
}

static void listen_at(struct process *master, const char *bind, char endpoint_out[ENDPOINT_BYTES])
{
	tell(master, bind);
	assert_int_equal(read(master->answer, endpoint_out, ENDPOINT_BYTES), ENDPOINT_BYTES);
}

static void connect_client(struct site *site, const char *endpoint)
{
	struct dls_client_options options = DLS_CLIENT_OPTIONS_INIT;
	struct dls_error err;

	site->ctx = site_ctx();
	options.master = endpoint;
	if (dls_client_create(site->ctx, &options, &site->client, &err) ||
		dls_client_wait(site->client, SITE_TIMEOUT_MS, &err))
		fail_msg("%s", err.text);
}

static void disconnect_client(struct site *site)
{
	dls_client_destroy(site->client);
	dls_ctx_destroy(site->ctx);
}

static struct dls_job *submit(struct site *site, const char *handler, const char *params, uint64_t items)
{
	struct dls_job *job = site_job(site, handler, params);

	site_add_bytes(job, items);
	assert_int_equal(dls_job_submit(job, NULL), 0);
	return job;
}

static void take_all(struct dls_job *job, uint64_t items)
{
	struct dls_result *result;

	for (uint64_t item = 0; item < items; item++) {
		result = site_next(job, item);
		if (result->code)
			fail_msg("item %" PRIu64 ": %s", item, result->error);
		assert_int_equal(*(const uint8_t *)result->outputs[0].tensor.data, item & 255);
		dls_result_destroy(result);
	}
	assert_int_equal(dls_job_next(job, SITE_TIMEOUT_MS, &result, NULL), 0);
	dls_job_destroy(job);
}

static void test_items_and_large_results_over_tcp(void **state)
{
	struct process master, workers[2];
	char endpoint[ENDPOINT_BYTES];
	struct site site;

	(void)state;
	site_reset();
	master = start(run_master);
	workers[0] = start(run_worker);
	workers[1] = start(run_worker);
	listen_at(&master, "tcp://127.0.0.1:0", endpoint);
	tell(&workers[0], endpoint);
	tell(&workers[1], endpoint);
	connect_client(&site, endpoint);
	take_all(submit(&site, "echo", NULL, ITEMS), ITEMS);
	take_all(submit(&site, "large", "{\"bytes\":500000}", 40), 40);
	disconnect_client(&site);
	stop(&workers[0]);
	stop(&workers[1]);
	stop(&master);
}

/* Of two workers with a task each, one ends in this way. */
static void end_worker(void (*end)(struct process *worker))
{
	struct process master, workers[2];
	char endpoint[ENDPOINT_BYTES];
	struct dls_job *job;
	struct site site;

	site_reset();
	master = start(run_master);
	workers[0] = start(run_worker);
	workers[1] = start(run_worker);
	listen_at(&master, "tcp://127.0.0.1:0", endpoint);
	tell(&workers[0], endpoint);
	tell(&workers[1], endpoint);
	connect_client(&site, endpoint);
	job = submit(&site, "gate", NULL, 500);
	SITE_WAIT(atomic_load(&site_gate->running) == 2);
	end(&workers[0]);
	atomic_store(&site_gate->open, true);
	take_all(job, 500);
	disconnect_client(&site);
	stop(&workers[0]);
	stop(&workers[1]);
	stop(&master);
}

static void kill_it(struct process *worker)
{
	assert_int_equal(kill(worker->pid, SIGKILL), 0);
}

static void freeze_it(struct process *worker)
{
	assert_int_equal(kill(worker->pid, SIGSTOP), 0);
}

static void test_killed_worker_loses_nothing(void **state)
{
	(void)state;
	end_worker(kill_it);
}

/* Its connections stay; only its silence says that it does nothing any more. */
static void test_frozen_worker_loses_nothing(void **state)
{
	(void)state;
	end_worker(freeze_it);
}

static void test_restarted_master_goes_on(void **state)
{
	struct process masters[2], worker;
	char endpoint[ENDPOINT_BYTES], again[ENDPOINT_BYTES];
	struct dls_job *job;
	struct site site;

	(void)state;
	site_reset();
	masters[0] = start(run_master);
	masters[1] = start(run_master);
	worker = start(run_worker);
	listen_at(&masters[0], "tcp://127.0.0.1:0", endpoint);
	tell(&worker, endpoint);
	connect_client(&site, endpoint);
	job = submit(&site, "gate", NULL, 300);
	SITE_WAIT(atomic_load(&site_gate->running));
	stop(&masters[0]);
	listen_at(&masters[1], endpoint, again);
	assert_string_equal(again, endpoint);
	atomic_store(&site_gate->open, true);
	take_all(job, 300);
	disconnect_client(&site);
	stop(&worker);
	stop(&masters[1]);
}

UNIT_MAIN(test_items_and_large_results_over_tcp, test_killed_worker_loses_nothing, test_frozen_worker_loses_nothing,
	test_restarted_master_goes_on)
