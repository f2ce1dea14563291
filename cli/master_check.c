#include "cli/master_check.h"

#include "cli/failure.h"
#include "cli/json.h"
#include "cli/log.h"
#include "cli/options.h"
#include <dlsched/dlsched.h>
#include <inttypes.h>
#include <stdio.h>

struct values {
	int json;
	int log_level;
};

static const struct cli_option options[] = {
	{"json", CLI_FLAG, .offset = offsetof(struct values, json), NULL, "Write one JSON object."},
	{"log-level", CLI_WORD, .offset = offsetof(struct values, log_level), "LEVEL", "What goes to standard error",
		.otherwise = "warning", .words = cli_log_levels},
	{0},
};

static const struct cli_verb verbs[] = {
	{"check", "DIR", "Read and prove all of the data folder DIR of a master that does not run.", 1, 1},
	{0},
};

static const struct cli_program program = {
	.name = "dls-master",
	.about = "Exit codes: 0 sound, 2 usage, 4 damaged, missing or in use.",
	.options = options,
	.verbs = verbs,
};

static void write_json(const char *folder, const struct dls_master_data *data)
{
	printf("{\"folder\":");
	cli_json_text(stdout, folder);
	printf(",\"cluster\":\"%s\",\"term\":%" PRIu64 ",\"entries\":%" PRIu64 ",\"files\":%" PRIu64
	       ",\"bytes\":%" PRIu64 ",\"torn_bytes\":%" PRIu64 ",\"jobs\":%" PRIu64 ",\"unfinished_jobs\":%" PRIu64
	       ",\"results\":%" PRIu64 "}\n",
		data->cluster, data->term, data->entries, data->files, data->bytes, data->torn_bytes, data->jobs,
		data->unfinished_jobs, data->results);
}

static void print(const char *folder, const struct dls_master_data *data)
{
	printf("%s is sound\n", folder);
	printf("  cluster  %s, term %" PRIu64 "\n", data->cluster, data->term);
	printf("  log      %" PRIu64 " entries in %" PRIu64 " files, %" PRIu64 " bytes\n", data->entries, data->files,
		data->bytes);
	if (data->torn_bytes)
		printf("           %" PRIu64 " bytes at its end were being written when the master was killed; nothing "
		       "is lost with them\n",
			data->torn_bytes);
	printf("  jobs     %" PRIu64 ", of them %" PRIu64 " unfinished; %" PRIu64 " results\n", data->jobs,
		data->unfinished_jobs, data->results);
}

static int check(const struct values *values, const char *folder, struct dls_error *err)
{
	struct dls_master_data data = DLS_MASTER_DATA_INIT;
	struct dls_ctx *ctx;
	int rc = cli_ctx_create(program.name, values->json, values->log_level, 0, &ctx, err);

	if (rc)
		return rc;
	rc = dls_master_inspect(ctx, folder, &data, err);
	dls_ctx_destroy(ctx);
	if (rc)
		return rc;
	if (values->json)
		write_json(folder, &data);
	else
		print(folder, &data);
	return cli_check_output(err);
}

int master_check_main(int argc, char **argv)
{
	struct values values = {0};
	struct cli_options found;
	struct dls_error err = {0};
	int rc = cli_options_parse(&program, argc, argv, &values, &found, &err), exit_code = 0;

	if (rc < 0) {
		cli_report(program.name, &err);
		exit_code = CLI_EXIT_USAGE;
	} else if (rc > 0 ? cli_check_output(&err) : check(&values, found.operands[0], &err)) {
		exit_code = cli_report(program.name, &err);
	}
	cli_options_fini(&found);
	return exit_code;
}
