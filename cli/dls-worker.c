/* dls-worker: a worker that runs models, as a process of its own, until SIGINT or SIGTERM. */
#include "cli/descriptors.h"
#include "cli/failure.h"
#include "cli/json.h"
#include "cli/log.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/signals.h"
#include "cli/threads.h"
#include <dlsched/dlsched.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

enum { SLICE_MS = 100, LOOK_MS = 1000, LONGEST_MS = 24 * 3600 * 1000 };

struct values {
	const char *master;
	const char *name;
	int64_t devices;
	int64_t credits;
	int64_t threads;
	const char *cache_dir;
	const char *data_bind;
	int insecure;
	int no_models;
	int64_t connect_timeout_ms;
	int log_level;
	int json;
};

#define VALUE(member) .offset = offsetof(struct values, member)

static const struct cli_option options[] = {
	{"master", CLI_TEXT, VALUE(master), "ENDPOINT", "The master to work for.", .otherwise = "tcp://127.0.0.1:7700"},
	{"name", CLI_TEXT, VALUE(name), "NAME", "What it is called in results; else host name and process id."},
	{"devices", CLI_WHOLE, VALUE(devices), "N", "Tasks that run at once.", .otherwise = "1", .low = 1, .high = 64},
	{"credits", CLI_WHOLE, VALUE(credits), "N",
		"Tasks that a device holds at most, the running one included; the master gives it 2 to 64.",
		.otherwise = "64", .low = 1, .high = 64},
	{"threads", CLI_WHOLE, VALUE(threads), "N",
		"Threads of each running task; 0: OMP_NUM_THREADS, else the processors divided by the devices.",
		.otherwise = "0", .low = 0, .high = 1024},
	{"cache-dir", CLI_TEXT, VALUE(cache_dir), "FOLDER",
		"Where models are kept; else dlsched in $XDG_CACHE_HOME or in ~/.cache."},
	{"data-bind", CLI_TEXT, VALUE(data_bind), "ENDPOINT",
		"Where results above 64 KB are fetched; else a free port of the interface that reaches the master."},
	{"insecure", CLI_FLAG, VALUE(insecure), NULL,
		"Allow an address beyond this machine although nothing is encrypted or authenticated."},
	{"no-models", CLI_FLAG, VALUE(no_models), NULL, "Run handlers only."},
	{"connect-timeout", CLI_SECONDS, VALUE(connect_timeout_ms), "SECONDS",
		"Give up when no master has answered for so long at the start; 0: never.", .otherwise = "0",
		.high = LONGEST_MS},
	{"log-level", CLI_WORD, VALUE(log_level), "LEVEL", "What goes to standard error", .otherwise = "warning",
		.words = cli_log_levels},
	{"json", CLI_FLAG, VALUE(json), NULL, "Write log and messages as JSON, one object per line."},
	{0},
};

static const struct cli_program program = {
	.name = "dls-worker",
	.about = "Runs the tasks that a master hands it on this machine.",
	.options = options,
};

static void announce(const struct values *values)
{
	if (values->json) {
		printf("{\"event\":\"registered\",\"master\":");
		cli_json_text(stdout, values->master);
		printf(",\"process\":%ld}\n", (long)getpid());
	} else {
		printf("dls-worker works for %s\n", values->master);
	}
	fflush(stdout);
}

/* Returns 0 when a master has taken the worker in, else why none has, after a slice at most: a failure that took the
 * whole of it says only that the time was too short, one that came earlier is for good. */
static int look(struct dls_worker *worker, bool *for_good_out, struct dls_error *err)
{
	int64_t began_ms = cli_now_ms();
	int rc = dls_worker_wait(worker, SLICE_MS, err);

	*for_good_out = rc && cli_now_ms() - began_ms < SLICE_MS;
	return rc;
}

/* Returns 0 when a master has taken the worker in or a signal came. */
static int wait_for_master(const struct values *values, struct dls_worker *worker, struct dls_error *err)
{
	int64_t start_ms = cli_now_ms();
	bool for_good;
	int rc;

	do
		rc = look(worker, &for_good, err);
	while (rc && !for_good && !cli_signals_caught() &&
		(!values->connect_timeout_ms || cli_now_ms() - start_ms < values->connect_timeout_ms));
	return cli_signals_caught() ? 0 : rc;
}

/* Returns 0 when a signal came, or why the worker will get no more work. A master that is away may come back. */
static int stay(struct dls_worker *worker, int signals, struct dls_error *err)
{
	struct pollfd wait = {.fd = signals, .events = POLLIN};
	bool over = false;
	int rc = 0;

	while (!over && !cli_signals_caught()) {
		poll(&wait, 1, LOOK_MS);
		if (!cli_signals_caught())
			rc = look(worker, &over, err);
	}
	return over ? rc : 0;
}

static int work(const struct values *values, struct dls_worker *worker, int signals, struct dls_error *err)
{
	int rc = dls_worker_start(worker, err);

	if (rc == 0)
		rc = wait_for_master(values, worker, err);
	if (rc == 0 && !cli_signals_caught()) {
		announce(values);
		rc = stay(worker, signals, err);
	}
	return rc;
}

static int serve(const struct values *values, struct dls_ctx *ctx, int signals, struct dls_error *err)
{
	struct dls_worker_options worker_options = DLS_WORKER_OPTIONS_INIT;
	struct dls_worker *worker;
	int rc;

	worker_options.master = values->master;
	worker_options.name = values->name;
	worker_options.data_bind = values->data_bind;
	worker_options.insecure = values->insecure;
	worker_options.cache_dir = values->cache_dir;
	worker_options.devices = (uint32_t)values->devices;
	worker_options.credits = (uint32_t)values->credits;
	worker_options.no_models = values->no_models;
	rc = dls_worker_create(ctx, &worker_options, &worker, err);
	if (rc)
		return rc;
	rc = work(values, worker, signals, err);
	dls_worker_destroy(worker);
	return rc;
}

static int run(const struct values *values, char **argv, struct dls_error *err)
{
	struct cli_log log = {.program = program.name, .json = values->json};
	struct dls_ctx *ctx;
	int signals, rc;

	cli_descriptors_raise();
	rc = cli_threads_set(values->threads, values->devices, argv, err);
	if (rc == 0)
		rc = cli_signals_init(&signals, err);
	if (rc)
		return rc;
	rc = cli_ctx_create(&log, values->log_level, &ctx, err);
	if (rc)
		return rc;
	rc = serve(values, ctx, signals, err);
	dls_ctx_destroy(ctx);
	return rc;
}

int main(int argc, char **argv)
{
	struct cli_options found;
	struct dls_error err = {0};
	struct values values = {0};
	int rc = cli_options_parse(&program, argc, argv, &values, &found, &err), exit_code = 0;

	if (rc < 0) {
		cli_report(program.name, &err);
		exit_code = CLI_EXIT_USAGE;
	} else if (rc == 0 && run(&values, argv, &err) != 0) {
		exit_code = cli_report(program.name, &err);
	}
	cli_options_fini(&found);
	return exit_code;
}
