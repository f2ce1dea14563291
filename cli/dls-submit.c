/* dls-submit: runs jobs on a master's workers or in this process, and asks a master how things stand. */
#include "cli/classes.h"
#include "cli/descriptors.h"
#include "cli/failure.h"
#include "cli/log.h"
#include "cli/retries.h"
#include "cli/signals.h"
#include "cli/submit.h"
#include "cli/threads.h"

#define LONGEST_MS (INT64_C(365) * 24 * 3600 * 1000)

enum verb {
	RUN,
	STATUS,
	LIST,
	WATCH,
	EXPLAIN,
	CANCEL,
	PAUSE,
	RESUME,
	PRIORITY,
	RESULTS,
	FORGET,
	NODE_LIST,
	NODE_DRAIN,
	NODE_UNDRAIN,
	POLICY_SHOW,
	POLICY_SET,
	TENANT_SET,
	TENANT_LIST,
	TENANT_SHOW,
	MODEL_SHOW,
	MODEL_RUN,
	MODEL_PROFILE
};

#define VALUE(member) .offset = offsetof(struct submit_values, member)
#define FOR(verb)     .verbs = 1u << (verb)
#define MASTER        .verbs = (1u << MODEL_SHOW) - 1
#define SIZED         .verbs = 1u << MODEL_SHOW | 1u << MODEL_PROFILE
#define RUNS          .verbs = 1u << RUN | 1u << MODEL_RUN
#define SHOWS         .verbs = 1u << RUN | 1u << MODEL_RUN | 1u << RESULTS

static const struct cli_option options[] = {
	{"master", CLI_ADDRESS, VALUE(master), "ENDPOINT", "The master to ask.", .otherwise = "tcp://127.0.0.1:7700",
		MASTER},
	{"connect-timeout", CLI_SECONDS, VALUE(connect_timeout_ms), "SECONDS",
		"Give up when the master has not answered for so long.", .otherwise = "5", .high = LONGEST_MS, MASTER},
	{"tenant", CLI_NAME, VALUE(tenant), "NAME",
		"Who the work is accounted to, else \"default\"; of list: only the jobs of that one.", MASTER},
	{"data-bind", CLI_ADDRESS, VALUE(data_bind), "ENDPOINT",
		"Where workers fetch the model and the inputs; else a free port of the interface that reaches the "
		"master. \"none\": they cannot connect here, and are connected to.",
		FOR(RUN)},
	{"insecure", CLI_FLAG, VALUE(insecure), NULL,
		"Allow an address beyond this machine although nothing is encrypted or authenticated.", MASTER},
	{"detach", CLI_FLAG, VALUE(detach), NULL,
		"End as soon as the master keeps the job, and print its id; `results` fetches what comes of it. Needs "
		"a "
		"master with --data, a handler, and inputs of 64 KB together.",
		FOR(RUN)},
	{"local", CLI_FLAG, VALUE(local), NULL, "Run the job in this process, without a master.", FOR(RUN)},
	{"devices", CLI_WHOLE, VALUE(devices), "N", "With --local: tasks that run at once.", .otherwise = "1", .low = 1,
		.high = 64, FOR(RUN)},
	{"threads", CLI_WHOLE, VALUE(threads), "N",
		"With --local or of a model verb: threads of each running task; 0: OMP_NUM_THREADS, else the "
		"processors divided by the devices.",
		.otherwise = "0", .low = 0, .high = 1024,
		.verbs = 1u << RUN | 1u << MODEL_SHOW | 1u << MODEL_RUN | 1u << MODEL_PROFILE},
	{"batch", CLI_WHOLE, VALUE(batch), "N", "Items of each run of the model.", .otherwise = "1", .low = 1,
		.high = 4096, SIZED},
	{"runs", CLI_WHOLE, VALUE(runs), "N", "Runs whose median is shown.", .otherwise = "20", .low = 1, .high = 1000,
		FOR(MODEL_PROFILE)},
	{"expect", CLI_TEXTS, VALUE(expect), "FILE",
		"A .npy or .pb file that the output must agree with; once for each of several outputs.",
		FOR(MODEL_RUN)},
	{"rtol", CLI_NUMBER, VALUE(rtol), "R",
		"An element may be off by the absolute tolerance and this part of what is expected.",
		.otherwise = "0.001", FOR(MODEL_RUN)},
	{"atol", CLI_NUMBER, VALUE(atol), "A", "The absolute tolerance of --expect.", .otherwise = "1e-07",
		FOR(MODEL_RUN)},
	{"cache-dir", CLI_TEXT, VALUE(cache_dir), "FOLDER",
		"With --local: where models are kept; else dlsched in $XDG_CACHE_HOME or in ~/.cache.", FOR(RUN)},
	{"job", CLI_TEXT, VALUE(job), "FILE",
		"A JSON file that describes the job, in the place of MODEL; what the command line says wins.",
		FOR(RUN)},
	{"handler", CLI_NAME, VALUE(handler), "NAME", "Instead of a model: a handler that workers have registered.",
		FOR(RUN)},
	{"params", CLI_OBJECT, VALUE(params), "JSON",
		"An object that the handler gets; of admin policy set: the policy's parameters.",
		.verbs = 1u << RUN | 1u << POLICY_SET},
	{"script", CLI_TEXT, VALUE(script), "FILE", "The script of the policy lua, in the place of its parameters.",
		FOR(POLICY_SET)},
	{"weight", CLI_NUMBER, VALUE(weight), "W", "The tenant's weight: with twice as much it gets twice the share.",
		.otherwise = "1", FOR(TENANT_SET)},
	{"key", CLI_NAME, VALUE(key), "KEY",
		"Names the job: the same command once more takes its place, another one is refused; else random.",
		FOR(RUN)},
	{"priority", CLI_WHOLE, VALUE(priority), "N", "Higher ones go first.", .otherwise = "0", .low = -1000000,
		.high = 1000000, FOR(RUN)},
	{"task-items", CLI_WHOLE, VALUE(task_items), "N", "Items of one task; 0: as their measured time suggests.",
		.otherwise = "0", .low = 0, .high = 4096, FOR(RUN)},
	{"name", CLI_NAME, VALUE(name), "NAME", "What people call the job; of list: only jobs of that name.",
		.verbs = 1u << RUN | 1u << LIST},
	{"tag", CLI_NAMES, VALUE(tag), "TAG",
		"To find the job by, once for each of several; of list: only jobs that have the tag.",
		.verbs = 1u << RUN | 1u << LIST},
	{"label", CLI_NAMES, VALUE(label), "NAME", "A label that workers of the job must have; once for each.",
		FOR(RUN)},
	{"prefer", CLI_NAMES, VALUE(prefer), "NAME",
		"A label by which to choose among workers that are equally free; once for each.", FOR(RUN)},
	{"resource", CLI_AMOUNTS, VALUE(resource), "NAME=AMOUNT",
		"What each running task of the job takes of its worker; of admin tenant set: what all tasks of the "
		"tenant may take together, its quota; once for each.",
		.verbs = 1u << RUN | 1u << TENANT_SET},
	{"deadline", CLI_SECONDS, VALUE(deadline_ms), "SECONDS",
		"The job fails when it is not done so long after its submission; 0: no deadline.", .otherwise = "0",
		.high = LONGEST_MS, FOR(RUN)},
	{"time-limit", CLI_SECONDS, VALUE(time_limit_ms), "SECONDS",
		"The job fails when it takes longer, counted from when it may run; 0: no limit.", .otherwise = "0",
		.high = LONGEST_MS, FOR(RUN)},
	{"item-time-limit", CLI_SECONDS, VALUE(item_time_limit_ms), "SECONDS",
		"Items fail whose task takes longer than this for each of its items; 0: no limit.", .otherwise = "0",
		.high = LONGEST_MS, FOR(RUN)},
	{"retry", CLI_NAMES, VALUE(retry), "FAILURE=TIMES[,WAIT[,MOST]]",
		"Try items again that fail by error, time_limit or input, so often, after a wait in seconds that "
		"doubles up to the most; once for each.",
		FOR(RUN)},
	{"after", CLI_NAMES, VALUE(after), "JOB", "A job that must end before this one begins; once for each.",
		FOR(RUN)},
	{"after-when", CLI_WORD, VALUE(after_when), "WHEN", "What must have become of those", .otherwise = "ended",
		.words = submit_after_words, FOR(RUN)},
	{"no-speculation", CLI_FLAG, VALUE(no_speculation), NULL,
		"No task is run a second time while the first attempt takes long: the handler has effects outside.",
		FOR(RUN)},
	{"timeout", CLI_SECONDS, VALUE(timeout_ms), "SECONDS", "Cancel the job after so long; 0: never.",
		.otherwise = "0", .high = LONGEST_MS, FOR(RUN)},
	{"top", CLI_WHOLE, VALUE(top), "N", "Classes that are shown of each item.", .otherwise = "5", .low = 1,
		.high = CLI_CLASSES_MAX, RUNS},
	{"output", CLI_TEXT, VALUE(output), "FILE.npy",
		"Instead of a table: write the most probable class of each item, or the tensors, in the order of the "
		"items; of model run: the outputs.",
		SHOWS},
	{"progress", CLI_FLAG, VALUE(progress), NULL, "Show progress although standard error is no terminal.",
		FOR(RUN)},
	{"quiet", CLI_FLAG, VALUE(quiet), NULL, "No table, no progress, no summary: errors only.", SHOWS},
	{"state", CLI_WORD, VALUE(state), "STATE", "Which jobs are listed", .otherwise = "live",
		.words = submit_list_states, FOR(LIST)},
	{"limit", CLI_WHOLE, VALUE(limit), "N", "How many jobs are listed at most.", .otherwise = "1000", .low = 1,
		.high = INT32_MAX, FOR(LIST)},
	{"all", CLI_FLAG, VALUE(all), NULL, "Instead of a JOB: all jobs, from now on.", FOR(WATCH)},
	{"json", CLI_FLAG, VALUE(json), NULL, "One JSON object per line."},
	{"log-level", CLI_WORD, VALUE(log_level), "LEVEL", "What goes to standard error", .otherwise = "warning",
		.words = cli_log_levels},
	{0},
};

static const struct cli_verb verbs[] = {
	[RUN] = {"run", "MODEL INPUT...",
		"Run the model on JPEG, PNG, .npy or idx files; @FILE stands for the files that FILE "
		"lists, one a line. With --handler or --job there is no MODEL.",
		.at_most = SIZE_MAX},
	[STATUS] = {"status", "[JOB]",
		"Show the master and its workers, or one job and its tasks. JOB is the job's id, or at least its first "
		"8 digits.",
		0, 1},
	[LIST] = {"list", "", "Show the jobs.", 0, 0},
	[WATCH] = {"watch", "[JOB]",
		"Print a line whenever the job has changed, until it ends: 0 done, 1 cancelled, failed, or some item "
		"failed.",
		0, 1},
	[EXPLAIN] = {"explain", "JOB", "Say why the job is not running, or not running faster.", 1, 1},
	[CANCEL] = {"cancel", "JOB...", "End jobs, whoever has submitted them.", 1, SIZE_MAX},
	[PAUSE] = {"pause", "JOB...", "Give out nothing more of these jobs; what runs comes to its end.", 1, SIZE_MAX},
	[RESUME] = {"resume", "JOB...", "Let paused jobs go on.", 1, SIZE_MAX},
	[PRIORITY] = {"priority", "JOB... N", "Give jobs another priority; higher ones go first.", 2, SIZE_MAX},
	[RESULTS] = {"results", "JOB",
		"Show the results of a detached job, and wait until it has ended. JOB is its id.", 1, 1},
	[FORGET] = {"forget", "JOB...", "Keep nothing more of detached jobs that have ended.", 1, SIZE_MAX},
	[NODE_LIST] = {"admin node list", "", "Show the workers.", 0, 0},
	[NODE_DRAIN] = {"admin node drain", "WORKER",
		"Give the worker no more tasks: others get what it has not begun, and what it runs comes to its end.",
		1, 1},
	[NODE_UNDRAIN] = {"admin node undrain", "WORKER", "Let the worker take tasks again.", 1, 1},
	[POLICY_SHOW] = {"admin policy show", "",
		"Say which policy decides what goes where, and which others there are.", 0, 0},
	[POLICY_SET] = {"admin policy set", "NAME",
		"Let another policy decide from now on, or the same with other parameters; jobs go on.", 1, 1},
	[TENANT_SET] = {"admin tenant set", "NAME",
		"Give a tenant a weight in the policies that share, drf and ddrf, and a quota; without them it is as "
		"any "
		"other.",
		1, 1},
	[TENANT_LIST] = {"admin tenant list", "",
		"Show the tenants: what they may, what their tasks hold now, and what they have used since the master "
		"runs.",
		0, 0},
	[TENANT_SHOW] = {"admin tenant show", "NAME", "Show one tenant.", 1, 1},
	[MODEL_SHOW] = {"model show", "MODEL",
		"Show what the model takes and gives, its operators, and what it needs of this machine's memory.",
		.at_least = 1, .at_most = 1},
	[MODEL_RUN] = {"model run", "MODEL INPUT...",
		"Run the model on this machine without any cluster, on .npy and .pb files or photos: a file for each "
		"input of the model, or such files for each item of a batch.",
		.at_least = 2, .at_most = SIZE_MAX},
	[MODEL_PROFILE] = {"model profile", "MODEL [INPUT...]",
		"Run the model on this machine, on made-up inputs or on files as model run takes them, and show how "
		"long "
		"each node takes.",
		.at_least = 1, .at_most = SIZE_MAX},
	{0},
};

static const struct cli_program program = {
	.name = "dls-submit",
	.about =
		"Runs a model on files: on the workers of a master, or in this process. MODEL is a model folder, or an "
		"ONNX file. Exit codes: 0 all done, "
		"1 some item failed, 2 usage, 3 no master reached, 4 refused or invalid input, 5 timed out, 130 "
		"interrupted.",
	.options = options,
	.verbs = verbs,
};

static int (*const actions[])(const struct submit *submit, struct dls_error *err) = {
	[RUN] = submit_run,
	[STATUS] = submit_status,
	[LIST] = submit_list,
	[WATCH] = submit_watch,
	[EXPLAIN] = submit_explain,
	[CANCEL] = submit_cancel,
	[PAUSE] = submit_pause,
	[RESUME] = submit_resume,
	[PRIORITY] = submit_priority,
	[RESULTS] = submit_results,
	[FORGET] = submit_forget,
	[NODE_LIST] = submit_node_list,
	[NODE_DRAIN] = submit_node_drain,
	[NODE_UNDRAIN] = submit_node_undrain,
	[POLICY_SHOW] = submit_policy_show,
	[POLICY_SET] = submit_policy_set,
	[TENANT_SET] = submit_tenant_set,
	[TENANT_LIST] = submit_tenant_list,
	[TENANT_SHOW] = submit_tenant_show,
	[MODEL_SHOW] = submit_model_show,
	[MODEL_RUN] = submit_model_run,
	[MODEL_PROFILE] = submit_model_profile,
};

static const struct cli_rule run_rules[] = {
	{"devices", CLI_NEEDS, "local", "the workers of a master have their own"},
	{"threads", CLI_NEEDS, "local", "the workers of a master have their own"},
	{"cache-dir", CLI_NEEDS, "local", "the workers of a master have their own"},
	{"master", CLI_EXCLUDES, "local", "the job runs in this process"},
	{"connect-timeout", CLI_EXCLUDES, "local", "the job runs in this process"},
	{"tenant", CLI_EXCLUDES, "local", "the job runs in this process"},
	{"data-bind", CLI_EXCLUDES, "local", "the job runs in this process"},
	{"insecure", CLI_EXCLUDES, "local", "the job runs in this process"},
	{"detach", CLI_EXCLUDES, "local", "the job runs in this process"},
	{"output", CLI_EXCLUDES, "detach", "results comes later"},
	{"timeout", CLI_EXCLUDES, "detach", "nothing is waited for"},
	{"after-when", CLI_NEEDS, "after", "there is no job to wait for"},
	{"top", CLI_EXCLUDES, "handler", "what a handler gives is shown as it is"},
	{"top", CLI_EXCLUDES, "output", "the file gets the most probable class, or whole tensors"},
	{"top", CLI_EXCLUDES, "quiet", "nothing is shown"},
	{"progress", CLI_EXCLUDES, "quiet", "nothing is shown"},
	{0},
};

static const struct cli_rule model_run_rules[] = {
	{"top", CLI_EXCLUDES, "output", "the file gets whole tensors"},
	{"top", CLI_EXCLUDES, "quiet", "nothing is shown"},
	{"rtol", CLI_NEEDS, "expect", "nothing is compared"},
	{"atol", CLI_NEEDS, "expect", "nothing is compared"},
	{0},
};

static const struct cli_rule policy_set_rules[] = {
	{"script", CLI_EXCLUDES, "params", "it is one of them"},
	{0},
};

static const struct cli_rule *const rules_of[] = {
	[RUN] = run_rules,
	[POLICY_SET] = policy_set_rules,
	[MODEL_RUN] = model_run_rules,
	[MODEL_PROFILE] = NULL,
};

static bool is_given(const struct cli_options *found, const char *name)
{
	return found->given >> (cli_option_find(options, name) - options) & 1;
}

/* The operand behind the jobs. */
static int check_priority(const char *text, struct dls_error *err)
{
	static const struct cli_option priority = {"priority", CLI_WHOLE, 0, "N", "", .low = -1000000, .high = 1000000};
	int64_t value;

	return cli_option_set(&priority, "the priority", text, &value, err);
}

static int check_run(const struct submit_values *values, const struct cli_options *found, struct dls_error *err)
{
	size_t operands = found->operand_count;
	struct cli_retries retries;

	if (cli_retries_read(&values->retry, &retries, err))
		return DLS_EINVAL;
	if (is_given(found, "params") && !values->handler && !values->job)
		return cli_fail(err, DLS_EINVAL, "--params has no effect without --handler: a model takes none");
	if (values->job)
		return 0;
	if (!operands)
		return cli_fail(err, DLS_EINVAL, "run needs MODEL INPUT...");
	if (!values->handler && operands < 2)
		return cli_fail(err, DLS_EINVAL, "run needs at least one INPUT behind the model");
	return 0;
}

static int check(const struct submit_values *values, const struct cli_options *found, struct dls_error *err)
{
	if (found->verb == RUN && check_run(values, found, err))
		return DLS_EINVAL;
	if (values->local && values->handler)
		return cli_fail(err, DLS_EINVAL, "--local runs models only; a handler needs a master with workers");
	if (found->verb == MODEL_PROFILE && found->operand_count > 1 && is_given(found, "batch"))
		return cli_fail(
			err, DLS_EINVAL, "--batch has no effect with INPUT: the files say how many items there are");
	if (found->verb == PRIORITY)
		return check_priority(found->operands[found->operand_count - 1], err);
	if (found->verb == LIST && values->tag.count > 1)
		return cli_fail(err, DLS_EINVAL, "list takes one --tag");
	if (found->verb == WATCH && !values->all == !found->operand_count)
		return cli_fail(err, DLS_EINVAL, "watch needs a JOB or --all, and not both");
	if (values->quiet && values->json)
		return cli_fail(err, DLS_EINVAL, "--quiet and --json exclude each other");
	return rules_of[found->verb] ? cli_rules_check(rules_of[found->verb], options, found->given, values, err) : 0;
}

/* What the library calls an invalid argument is, once the options are read, an invalid model, input or answer. */
static int exit_code_of(struct dls_error *err)
{
	int exit_code = cli_report(program.name, err);

	return err->code == DLS_EINVAL ? CLI_EXIT_REFUSED : exit_code;
}

static int act(const struct submit_values *values, const struct cli_options *found, char **argv, struct dls_error *err)
{
	struct submit submit = {.values = values,
		.operands = found->operands,
		.operand_count = found->operand_count,
		.options = options,
		.given = found->given};
	bool here = found->verb >= MODEL_SHOW, computes = here || (found->verb == RUN && values->local);
	int rc, exit_code;

	rc = computes ? cli_threads_prepare(argv, err) : 0;
	if (rc == 0 && !here)
		rc = cli_signals_init(&submit.signals, err);
	if (rc == 0)
		rc = cli_ctx_create(program.name, values->json, values->log_level, values->threads, &submit.ctx, err);
	if (rc)
		return exit_code_of(err);
	exit_code = actions[found->verb](&submit, err);
	if (exit_code < 0)
		exit_code = exit_code_of(err);
	dls_ctx_destroy(submit.ctx);
	return exit_code;
}

int main(int argc, char **argv)
{
	struct cli_options found;
	struct dls_error err = {0};
	struct submit_values values = {.progress = -1};
	int rc, exit_code = 0;

	cli_descriptors_hold();
	rc = cli_options_parse(&program, argc, argv, &values, &found, &err);
	if (rc == 0)
		rc = check(&values, &found, &err);
	if (rc == 0) {
		exit_code = act(&values, &found, argv, &err);
	} else if (rc < 0) {
		cli_report(program.name, &err);
		exit_code = CLI_EXIT_USAGE;
	} else if (cli_check_output(&err)) {
		exit_code = cli_report(program.name, &err);
	}
	cli_options_fini(&found);
	return exit_code;
}
