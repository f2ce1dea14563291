/* dls-master: a master as a process of its own, until SIGINT or SIGTERM. */
#include "cli/descriptors.h"
#include "cli/failure.h"
#include "cli/file.h"
#include "cli/json.h"
#include "cli/log.h"
#include "cli/options.h"
#include "cli/signals.h"
#include <dlsched/dlsched.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

enum { LONGEST_MS = 3600 * 1000 };

struct values {
	const char *bind;
	int insecure;
	const char *policy;
	int64_t heartbeat_ms;
	int64_t worker_timeout_ms;
	int64_t client_timeout_ms;
	const char *endpoint_file;
	int log_level;
	int json;
};

#define VALUE(member) .offset = offsetof(struct values, member)

static const struct cli_option options[] = {
	{"bind", CLI_TEXT, VALUE(bind), "ENDPOINT", "Where workers and clients come to; port 0 takes a free one.",
		.otherwise = "tcp://127.0.0.1:7700"},
	{"insecure", CLI_FLAG, VALUE(insecure), NULL,
		"Allow an address beyond this machine although nothing is encrypted or authenticated."},
	{"policy", CLI_TEXT, VALUE(policy), "NAME", "Which task goes to which worker.", .otherwise = "roundrobin"},
	{"heartbeat-ms", CLI_WHOLE, VALUE(heartbeat_ms), "MS", "Between two signs of life.", .otherwise = "1000",
		.low = 1, .high = LONGEST_MS},
	{"worker-timeout-ms", CLI_WHOLE, VALUE(worker_timeout_ms), "MS",
		"A worker that is silent for so long is lost; at least three heartbeats.", .otherwise = "5000",
		.low = 1, .high = LONGEST_MS},
	{"client-timeout-ms", CLI_WHOLE, VALUE(client_timeout_ms), "MS",
		"The jobs of a client that is gone are kept for so long.", .otherwise = "10000", .low = 1,
		.high = LONGEST_MS},
	{"endpoint-file", CLI_TEXT, VALUE(endpoint_file), "FILE",
		"Holds the endpoint while the master listens there, whole or not at all."},
	{"log-level", CLI_WORD, VALUE(log_level), "LEVEL", "What goes to standard error", .otherwise = "warning",
		.words = cli_log_levels},
	{"json", CLI_FLAG, VALUE(json), NULL, "Write log and messages as JSON, one object per line."},
	{0},
};

static const struct cli_program program = {
	.name = "dls-master",
	.about = "Takes in workers and jobs, divides the jobs into tasks, hands them out and passes results on.",
	.options = options,
};

/* Whoever reads the line finds the file there. */
static int announce(const struct values *values, const struct dls_master *master, struct dls_error *err)
{
	const char *endpoint = dls_master_endpoint(master);
	char line[512];
	int rc;

	snprintf(line, sizeof line, "%s\n", endpoint);
	rc = values->endpoint_file ? cli_file_write(values->endpoint_file, line, err) : 0;
	if (rc)
		return rc;
	if (values->json) {
		printf("{\"event\":\"listening\",\"endpoint\":");
		cli_json_text(stdout, endpoint);
		printf(",\"process\":%ld}\n", (long)getpid());
	} else {
		printf("dls-master listens at %s\n", endpoint);
	}
	fflush(stdout);
	return 0;
}

static int serve(const struct values *values, struct dls_ctx *ctx, int signals, struct dls_error *err)
{
	struct dls_master_options master_options = DLS_MASTER_OPTIONS_INIT;
	struct pollfd wait = {.fd = signals, .events = POLLIN};
	struct dls_master *master;
	int rc;

	master_options.bind = values->bind;
	master_options.insecure = values->insecure;
	master_options.policy = values->policy;
	master_options.heartbeat_ms = (uint32_t)values->heartbeat_ms;
	master_options.worker_timeout_ms = (uint32_t)values->worker_timeout_ms;
	master_options.client_timeout_ms = (uint32_t)values->client_timeout_ms;
	rc = dls_master_create(ctx, &master_options, &master, err);
	if (rc)
		return rc;
	rc = announce(values, master, err);
	while (rc == 0 && !cli_signals_caught())
		poll(&wait, 1, -1);
	if (values->endpoint_file)
		unlink(values->endpoint_file);
	dls_master_destroy(master);
	return rc;
}

static int run(const struct values *values, struct dls_error *err)
{
	struct cli_log log = {.program = program.name, .json = values->json};
	struct dls_ctx *ctx;
	int signals, rc;

	cli_descriptors_raise();
	if (values->endpoint_file)
		unlink(values->endpoint_file); /* of a master that was killed: nobody shall take it for this one's */
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
	} else if (rc == 0 && run(&values, &err) != 0) {
		exit_code = cli_report(program.name, &err);
	}
	cli_options_fini(&found);
	return exit_code;
}
