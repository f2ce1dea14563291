/* dls-master: a master as a process of its own, until SIGINT or SIGTERM. */
#include "cli/daemon.h"
#include "cli/failure.h"
#include "cli/file.h"
#include "cli/master_check.h"
#include "cli/signals.h"
#include <cjson/cJSON.h>
#include <dlsched/dlsched.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONGEST_MS = 3600 * 1000, SCRIPT_BYTES = 64 * 1024, JOB_MEMORY_MOST = 1024 * 1024 };

struct values {
	struct cli_daemon_values daemon; /* first */
	const char *bind;
	int insecure;
	const char *policy;
	const char *policy_params;
	const char *policy_script;
	const char *plugins;
	const char *speculation;
	int64_t heartbeat_ms;
	int64_t worker_timeout_ms;
	int64_t client_timeout_ms;
	int64_t job_memory;
	const char *endpoint_file;
	const char *data;
};

#define VALUE(member) .offset = offsetof(struct values, member)

static const struct cli_option options[] = {
	{"bind", CLI_ADDRESS, VALUE(bind), "ENDPOINT", "Where workers and clients come to; port 0 takes a free one.",
		.otherwise = "tcp://127.0.0.1:7700"},
	{"insecure", CLI_FLAG, VALUE(insecure), NULL,
		"Allow an address beyond this machine although nothing is encrypted or authenticated."},
	{"policy", CLI_TEXT, VALUE(policy), "NAME", "Which task goes to which worker.", .otherwise = "roundrobin"},
	{"policy-params", CLI_TEXT, VALUE(policy_params), "JSON", "The policy's parameters, an object."},
	{"policy-script", CLI_TEXT, VALUE(policy_script), "FILE",
		"The script of the policy lua, in the place of its parameters."},
	{"plugins", CLI_TEXT, VALUE(plugins), "DIR",
		"A folder with policies in C, which can be asked for by their names; nobody else may write to it."},
	{"speculation", CLI_OBJECT, VALUE(speculation), "JSON",
		"When tasks that take long are run a second time, an object; {\"percent\": 0}: never."},
	{"heartbeat-ms", CLI_WHOLE, VALUE(heartbeat_ms), "MS", "Between two signs of life.", .otherwise = "1000",
		.low = 1, .high = LONGEST_MS},
	{"worker-timeout-ms", CLI_WHOLE, VALUE(worker_timeout_ms), "MS",
		"A worker that is silent for so long is lost; at least three heartbeats.", .otherwise = "5000",
		.low = 1, .high = LONGEST_MS},
	{"client-timeout-ms", CLI_WHOLE, VALUE(client_timeout_ms), "MS",
		"The jobs of a client that is gone are kept for so long.", .otherwise = "10000", .low = 1,
		.high = LONGEST_MS},
	{"job-memory", CLI_WHOLE, VALUE(job_memory), "MB",
		"What live jobs may take; one without large inputs counts for less than 1 KB.", .otherwise = "4096",
		.low = 1, .high = JOB_MEMORY_MOST},
	{"data", CLI_TEXT, VALUE(data), "FOLDER",
		"Keeps detached jobs there, so that they go on after any end of the master. Without it only jobs whose "
		"clients wait for them are taken. `dls-master check FOLDER` proves what is in it."},
	{"endpoint-file", CLI_TEXT, VALUE(endpoint_file), "FILE",
		"Gets the endpoint once the master listens, whole or not at all, and is removed at the end."},
	CLI_DAEMON_OPTIONS(struct values),
	{0},
};

static struct dls_master_options options_of(const struct values *values)
{
	struct dls_master_options options = DLS_MASTER_OPTIONS_INIT;

	options.bind = values->bind;
	options.data = values->data;
	options.insecure = values->insecure;
	options.policy = values->policy;
	options.plugins = values->plugins;
	options.speculation = values->speculation;
	options.heartbeat_ms = (uint32_t)values->heartbeat_ms;
	options.worker_timeout_ms = (uint32_t)values->worker_timeout_ms;
	options.client_timeout_ms = (uint32_t)values->client_timeout_ms;
	options.job_memory_bytes = (uint64_t)values->job_memory << 20;
	return options;
}

static int fail(struct dls_error *err, int code, const char *sentence)
{
	*err = (struct dls_error){.code = code};
	snprintf(err->text, sizeof err->text, "%s", sentence);
	return code;
}

/* A script as parameters: {"script": TEXT}. */
static int wrap_script(const char *script, char **params_out, struct dls_error *err)
{
	cJSON *json = cJSON_CreateObject();

	*params_out = cJSON_AddStringToObject(json, "script", script) ? cJSON_PrintUnformatted(json) : NULL;
	cJSON_Delete(json);
	return *params_out ? 0 : fail(err, DLS_ENOMEM, "out of memory");
}

/* *params_out is freed with free(); NULL: there are none. */
static int read_params(const struct values *values, char **params_out, struct dls_error *err)
{
	char *script;
	int rc;

	*params_out = NULL;
	if (values->policy_params && values->policy_script)
		return fail(
			err, DLS_EINVAL, "--policy-script is there in the place of --policy-params: give one of them");
	if (values->policy_params) {
		*params_out = strdup(values->policy_params);
		return *params_out ? 0 : fail(err, DLS_ENOMEM, "out of memory");
	}
	if (!values->policy_script)
		return 0;
	rc = cli_file_read(values->policy_script, SCRIPT_BYTES, &script, err);
	if (rc)
		return rc;
	rc = wrap_script(script, params_out, err);
	free(script);
	return rc;
}

static int check(const void *arg, struct dls_ctx *ctx, struct dls_error *err)
{
	const struct values *values = arg;
	struct dls_master_options master_options = options_of(values);
	char *params;
	int rc = read_params(values, &params, err);

	master_options.policy_params = params;
	if (rc == 0)
		rc = dls_master_check(ctx, &master_options, err);
	free(params);
	if (rc == 0 && values->endpoint_file)
		rc = cli_file_check(values->endpoint_file, err);
	return rc;
}

enum { LINE_BYTES = 512 };

/* Whoever reads the line finds the file there. */
static int announce(
	const struct cli_daemon *daemon, const struct values *values, const char *endpoint, struct dls_error *err)
{
	char line[LINE_BYTES];
	int rc;

	snprintf(line, sizeof line, "%s\n", endpoint);
	rc = values->endpoint_file ? cli_file_write(values->endpoint_file, line, err) : 0;
	if (rc == 0)
		cli_daemon_announce(daemon, &values->daemon, endpoint);
	return rc;
}

/* While the address is still this master's. With another in it the file is another master's. */
static void withdraw(const struct values *values, const char *endpoint)
{
	char line[LINE_BYTES];

	snprintf(line, sizeof line, "%s\n", endpoint);
	if (values->endpoint_file && cli_file_holds(values->endpoint_file, line))
		unlink(values->endpoint_file);
}

static int serve(
	const struct cli_daemon *daemon, const void *arg, struct dls_ctx *ctx, int signals, struct dls_error *err)
{
	const struct values *values = arg;
	struct dls_master_options master_options = options_of(values);
	struct pollfd wait = {.fd = signals, .events = POLLIN};
	struct dls_master *master;
	char *params = NULL;
	int rc = values->endpoint_file ? cli_file_check(values->endpoint_file, err) : 0;

	if (rc == 0)
		rc = read_params(values, &params, err);
	master_options.policy_params = params;
	if (rc == 0)
		rc = dls_master_create(ctx, &master_options, &master, err);
	free(params);
	if (rc)
		return rc;
	rc = announce(daemon, values, dls_master_endpoint(master), err);
	while (rc == 0 && !cli_signals_caught())
		poll(&wait, 1, -1);
	withdraw(values, dls_master_endpoint(master));
	dls_master_destroy(master);
	return rc;
}

static const struct cli_daemon master_daemon = {
	.program =
		{
			.name = "dls-master",
			.about = "Takes in workers and jobs, divides the jobs into tasks, hands them out and passes "
				 "results on.",
			.options = options,
		},
	.event = "listening",
	.address = "endpoint",
	.words = "listens at",
	.check = check,
	.serve = serve,
};

int main(int argc, char **argv)
{
	struct values values = {0};

	if (argc > 1 && strcmp(argv[1], "check") == 0)
		return master_check_main(argc, argv);
	return cli_daemon_main(&master_daemon, &values, argc, argv);
}
