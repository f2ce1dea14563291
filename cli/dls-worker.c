/* dls-worker: a worker that runs models, as a process of its own, until SIGINT, or SIGTERM, at which it drains first.
 */
#include "cli/daemon.h"
#include "cli/progress.h"
#include "cli/signals.h"
#include "cli/threads.h"
#include <dlsched/dlsched.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>

enum { LONGEST_MS = 24 * 3600 * 1000, SILENCE_MS = 3000, DRAIN_NOTE_MS = 1000 };

struct values {
	struct cli_daemon_values daemon; /* first */
	const char *master;
	const char *name;
	int64_t devices;
	int64_t credits;
	int64_t threads;
	const char *cache_dir;
	const char *data_bind;
	int insecure;
	int no_models;
	struct cli_texts label;
	struct cli_amounts resource;
	int64_t connect_timeout_ms;
};

#define VALUE(member) .offset = offsetof(struct values, member)

static const struct cli_option options[] = {
	{"master", CLI_ADDRESS, VALUE(master), "ENDPOINT", "The master to work for.",
		.otherwise = "tcp://127.0.0.1:7700"},
	{"name", CLI_NAME, VALUE(name), "NAME", "What it is called in results; else host name and process id."},
	{"devices", CLI_WHOLE, VALUE(devices), "N", "Tasks that run at once.", .otherwise = "1", .low = 1, .high = 64},
	{"credits", CLI_WHOLE, VALUE(credits), "N",
		"Tasks that a device holds at most, the running one included; the master gives it 2 to 64.",
		.otherwise = "64", .low = 1, .high = 64},
	{"threads", CLI_WHOLE, VALUE(threads), "N",
		"Threads of each running task; 0: OMP_NUM_THREADS, else the processors divided by the devices.",
		.otherwise = "0", .low = 0, .high = 1024},
	{"cache-dir", CLI_TEXT, VALUE(cache_dir), "FOLDER",
		"Where models are kept; else dlsched in $XDG_CACHE_HOME or in ~/.cache."},
	{"data-bind", CLI_ADDRESS, VALUE(data_bind), "ENDPOINT",
		"Where results above 64 KB are fetched; else a free port of the interface that reaches the master."},
	{"insecure", CLI_FLAG, VALUE(insecure), NULL,
		"Allow an address beyond this machine although nothing is encrypted or authenticated."},
	{"no-models", CLI_FLAG, VALUE(no_models), NULL, "Run handlers only."},
	{"label", CLI_NAMES, VALUE(label), "NAME", "What jobs can ask a worker to be; once for each of several."},
	{"resource", CLI_AMOUNTS, VALUE(resource), "NAME=AMOUNT",
		"What it has for its tasks, all devices together; once for each. cores and memory_bytes are the "
		"machine's "
		"unless named."},
	{"connect-timeout", CLI_SECONDS, VALUE(connect_timeout_ms), "SECONDS",
		"Give up when no master has answered for so long at the start; 0: never.", .otherwise = "0",
		.high = LONGEST_MS},
	CLI_DAEMON_OPTIONS(struct values),
	{0},
};

static struct dls_worker_options options_of(const struct values *values)
{
	struct dls_worker_options options = DLS_WORKER_OPTIONS_INIT;

	options.master = values->master;
	options.name = values->name;
	options.data_bind = values->data_bind;
	options.insecure = values->insecure;
	options.cache_dir = values->cache_dir;
	options.devices = (uint32_t)values->devices;
	options.credits = (uint32_t)values->credits;
	options.no_models = values->no_models;
	options.threads = (uint32_t)values->threads;
	options.labels = values->label.at;
	options.resources = values->resource.at;
	return options;
}

static const struct cli_rule rules[] = {
	{"cache-dir", CLI_EXCLUDES, "no-models", "it keeps models"},
	{0},
};

static int prepare(const void *arg, char **argv, struct dls_error *err)
{
	(void)arg;
	return cli_threads_prepare(argv, err);
}

static int check(const void *values, struct dls_ctx *ctx, struct dls_error *err)
{
	struct dls_worker_options worker_options = options_of(values);

	return dls_worker_check(ctx, &worker_options, err);
}

/* Waits for a signal or for news of the worker, until a time if that is not 0. Returns how the worker stands: 1 with a
 * master, 0 without, or why it will get no more work. */
static int look(struct dls_worker *worker, int signals, int64_t until_ms, struct dls_error *err)
{
	struct pollfd wait[] = {{.fd = signals, .events = POLLIN}, {.fd = dls_worker_fd(worker), .events = POLLIN}};
	int64_t left_ms = until_ms - cli_now_ms();

	poll(wait, 2, !until_ms ? -1 : left_ms > 0 ? (int)left_ms : 0);
	return dls_worker_process(worker, err);
}

/* The same until a master has taken the worker in, a signal came, or the time is over (0: never). */
static int wait_until(struct dls_worker *worker, int signals, int64_t until_ms, struct dls_error *err)
{
	int rc = 0;

	while (rc == 0 && !cli_signals_caught() && (!until_ms || cli_now_ms() < until_ms))
		rc = look(worker, signals, until_ms, err);
	return rc;
}

/* Someone who sees nothing happen is told once why. */
static void explain_silence(const struct cli_daemon *daemon, const struct values *values, struct dls_worker *worker)
{
	char sentence[DLS_ERROR_TEXT_BYTES + 64];
	struct dls_error why;

	if (dls_worker_wait(worker, 0, &why) >= 0)
		return;
	snprintf(sentence, sizeof sentence, "%s It goes on trying, Ctrl-C ends it", why.text);
	cli_daemon_note(daemon, &values->daemon, sentence);
}

/* Returns 0 when a master has taken the worker in or a signal came. */
static int wait_for_master(const struct cli_daemon *daemon, const struct values *values, struct dls_worker *worker,
	int signals, struct dls_error *err)
{
	int64_t start_ms = cli_now_ms(), limit_ms = values->connect_timeout_ms;
	int rc = wait_until(
		worker, signals, start_ms + (limit_ms && limit_ms < SILENCE_MS ? limit_ms : SILENCE_MS), err);

	if (rc == 0 && !cli_signals_caught() && !(limit_ms && limit_ms <= SILENCE_MS)) {
		explain_silence(daemon, values, worker);
		rc = wait_until(worker, signals, limit_ms ? start_ms + limit_ms : 0, err);
	}
	if (rc == 0 && !cli_signals_caught())
		rc = dls_worker_wait(worker, 0, err); /* says why none has */
	return rc < 0 && !cli_signals_caught() ? rc : 0;
}

/* Whoever sends SIGTERM wants it to end in good order, and can send another one. */
static void drain(const struct cli_daemon *daemon, const struct values *values, struct dls_worker *worker)
{
	struct dls_error err;

	if (dls_worker_drain(worker, DRAIN_NOTE_MS, &err) != DLS_ETIMEOUT)
		return;
	cli_daemon_note(
		daemon, &values->daemon, "It is draining: what runs comes to its end; a second signal ends it at once");
	(void)dls_worker_drain(worker, -1, &err);
}

static int work(const struct cli_daemon *daemon, const struct values *values, struct dls_worker *worker, int signals,
	struct dls_error *err)
{
	int rc = dls_worker_start(worker, err);

	if (rc == 0)
		rc = wait_for_master(daemon, values, worker, signals, err);
	if (rc == 0 && !cli_signals_caught())
		cli_daemon_announce(daemon, &values->daemon, values->master);
	while (rc >= 0 && !cli_signals_caught())
		rc = look(worker, signals, 0, err); /* a master that is away may come back */
	if (cli_signals_caught() == SIGTERM)
		drain(daemon, values, worker);
	return cli_signals_caught() ? 0 : rc;
}

static int serve(
	const struct cli_daemon *daemon, const void *values, struct dls_ctx *ctx, int signals, struct dls_error *err)
{
	struct dls_worker_options worker_options = options_of(values);
	struct dls_worker *worker;
	int rc = dls_worker_create(ctx, &worker_options, &worker, err);

	if (rc)
		return rc;
	rc = work(daemon, values, worker, signals, err);
	dls_worker_destroy(worker);
	return rc;
}

static const struct cli_daemon worker_daemon = {
	.program =
		{
			.name = "dls-worker",
			.about = "Runs the tasks that a master hands it on this machine.",
			.options = options,
		},
	.event = "registered",
	.address = "master",
	.words = "works for",
	.rules = rules,
	.prepare = prepare,
	.check = check,
	.serve = serve,
};

int main(int argc, char **argv)
{
	struct values values = {0};

	return cli_daemon_main(&worker_daemon, &values, argc, argv);
}
