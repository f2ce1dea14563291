#include "cli/results.h"

#include "cli/classes.h"
#include "cli/failure.h"
#include "cli/json.h"
#include "cli/outputs.h"
#include "cli/text.h"
#include <inttypes.h>
#include <string.h>

enum { NAME_BYTES = 4096, FAILURES_NAMED = 10 };

/* Columns of the table; names at most, the others exactly. */
enum { NAME_COLUMNS = 44, GAP = 2, WORKER_COLUMNS = 12, MS_COLUMNS = 9, VALUE_COLUMNS = 11 };

/* As wide as the longest name among the first inputs, within reason. */
static int measure_names(const struct cli_inputs *inputs)
{
	int columns = (int)strlen("input");
	char name[NAME_BYTES];

	for (size_t i = 0; i < inputs->count && i < 1000; i++) {
		int taken;

		cli_inputs_name(inputs, inputs->at[i].first, name, sizeof name);
		taken = cli_text_columns(name);
		if (taken > columns)
			columns = taken;
	}
	return columns < NAME_COLUMNS ? columns : NAME_COLUMNS;
}

int cli_results_init(const struct cli_results_options *options, const struct cli_inputs *inputs,
	const struct dls_model *model, uint64_t items, struct cli_results *results_out, struct dls_error *err)
{
	struct cli_results results = {
		.options = *options, .inputs = inputs, .model = model, .labels = cli_labels_count(model)};
	int rc = options->form == CLI_RESULTS_FILE ? cli_npy_init(options->output, items, &results.npy, err) : 0;

	if (rc)
		return rc;
	results.name_columns = measure_names(inputs);
	*results_out = results;
	return 0;
}

static void pad(int columns)
{
	if (columns > 0)
		printf("%*s", columns, "");
}

/* The three columns on the left. A long name loses its beginning. */
static void print_left(const struct cli_results *results, const struct dls_result *result)
{
	char name[NAME_BYTES];
	const char *tail;
	int columns = results->name_columns;

	cli_inputs_name(results->inputs, result->item, name, sizeof name);
	tail = cli_text_tail(name, columns);
	if (tail != name) {
		columns -= printf("...");
		tail = cli_text_tail(name, columns);
	}
	cli_text_print(tail, columns + GAP);
	cli_text_print(result->worker ? result->worker : "-", WORKER_COLUMNS);
	printf("%*.1f", MS_COLUMNS, (double)result->elapsed_ns / 1e6);
	pad(GAP);
}

/* In place of the three columns, where a result takes several lines. */
static void skip_left(const struct cli_results *results)
{
	pad(results->name_columns + GAP + WORKER_COLUMNS + MS_COLUMNS + GAP);
}

static void print_classes(const struct cli_results *results, const struct dls_output *output)
{
	struct cli_class best[CLI_CLASSES_MAX];
	uint32_t count = cli_classes_best(output, results->options.top, best);

	for (uint32_t i = 0; i < count; i++) {
		if (i)
			skip_left(results);
		printf("%*.4f", VALUE_COLUMNS, best[i].value);
		pad(GAP);
		cli_class_print(results->model, best[i].index);
	}
}

static void print_heading(const struct cli_results *results)
{
	printf("%-*s", results->name_columns + GAP, "input");
	printf("%-*s%*s", WORKER_COLUMNS, "worker", MS_COLUMNS, "ms");
	pad(GAP);
	printf("%*s", VALUE_COLUMNS, results->labels ? "probability" : "");
	pad(GAP);
	printf("%s\n", results->labels ? "label" : "result");
}

static void print_outputs(const struct cli_results *results, const struct dls_result *result)
{
	for (uint32_t i = 0; i < result->output_count; i++) {
		const struct dls_output *output = &result->outputs[i];

		if (i)
			skip_left(results);
		if (cli_classes_are(output, results->labels)) {
			print_classes(results, output);
			continue;
		}
		pad(VALUE_COLUMNS + GAP);
		cli_tensor_print(&output->tensor);
	}
	if (!result->output_count)
		putchar('\n');
}

static void print_row(const struct cli_results *results, const struct dls_result *result)
{
	if (results->done == 1)
		print_heading(results);
	print_left(results, result);
	if (!result->code) {
		print_outputs(results, result);
		return;
	}
	printf("%*s", VALUE_COLUMNS, "failed");
	pad(GAP);
	cli_text_print(result->error, 0);
	putchar('\n');
}

static void write_output(const struct cli_results *results, const struct dls_output *output)
{
	putchar('{');
	if (cli_classes_are(output, results->labels)) {
		printf("\"classes\":");
		cli_classes_write(results->model, output, results->options.top);
	} else {
		cli_tensor_write_members(&output->tensor);
	}
	putchar('}');
}

static void write_object(const struct cli_results *results, const struct dls_result *result)
{
	const struct cli_input *input = cli_inputs_find(results->inputs, result->item);

	printf("{\"item\":%" PRIu64 ",\"input\":", result->item);
	cli_json_text(stdout, input->path);
	if (input->count > 1)
		printf(",\"row\":%" PRIu64, result->item - input->first);
	if (result->code) {
		printf(",\"error\":\"%s\",\"text\":", dls_error_name(result->code));
		cli_json_text(stdout, result->error);
	} else {
		printf(",\"outputs\":[");
	}
	for (uint32_t i = 0; i < result->output_count; i++) {
		if (i)
			putchar(',');
		write_output(results, &result->outputs[i]);
	}
	printf("%s,\"worker\":", result->code ? "" : "]");
	cli_json_text(stdout, result->worker ? result->worker : "");
	printf(",\"ms\":%.3f}\n", (double)result->elapsed_ns / 1e6);
}

/* The first output of the item: the most probable class, or the tensor. */
static int keep(struct cli_results *results, const struct dls_result *result, struct dls_error *err)
{
	const struct dls_output *output = result->output_count ? result->outputs : NULL;
	struct dls_tensor tensor = DLS_TENSOR_INIT;
	struct cli_class best;
	int32_t index;

	if (!output)
		return cli_npy_add(&results->npy, NULL, err);
	if (!cli_classes_are(output, results->labels) || !cli_classes_best(output, 1, &best))
		return cli_npy_add(&results->npy, &output->tensor, err);
	index = (int32_t)best.index;
	tensor.dtype = DLS_INT32;
	tensor.data = &index;
	tensor.bytes = sizeof index;
	return cli_npy_add(&results->npy, &tensor, err);
}

/* Where no table shows it. */
static void report_failure(const struct cli_results *results, const struct dls_result *result)
{
	char name[NAME_BYTES];

	if (results->failed > FAILURES_NAMED)
		return;
	cli_inputs_name(results->inputs, result->item, name, sizeof name);
	fprintf(stderr, "dls-submit: %s: %s\n", name, result->error);
	if (results->failed == FAILURES_NAMED)
		fprintf(stderr, "dls-submit: further items that fail are only counted\n");
}

bool cli_results_prints(const struct cli_results *results, const struct dls_result *result)
{
	return result->code || results->options.form == CLI_RESULTS_TABLE || results->options.form == CLI_RESULTS_JSON;
}

int cli_results_add(struct cli_results *results, const struct dls_result *result, struct dls_error *err)
{
	results->done++;
	results->failed += result->code != 0;
	switch (results->options.form) {
	case CLI_RESULTS_TABLE:
		print_row(results, result);
		break;
	case CLI_RESULTS_JSON:
		write_object(results, result);
		break;
	case CLI_RESULTS_FILE:
	case CLI_RESULTS_NONE:
		if (result->code)
			report_failure(results, result);
		break;
	}
	if (ferror(stdout))
		return cli_check_output(err);
	return results->options.form == CLI_RESULTS_FILE ? keep(results, result, err) : 0;
}

static void write_summary(const struct cli_results *results, double seconds)
{
	double speed = (double)results->done / seconds;

	if (results->options.json)
		printf("{\"summary\":{\"items\":%" PRIu64 ",\"failed\":%" PRIu64
		       ",\"seconds\":%.6f,\"items_per_second\":%.1f}}\n",
			results->done, results->failed, seconds, speed);
	else
		printf("%" PRIu64 " item%s in %.*f s, %.*f a second, %" PRIu64 " failed\n", results->done,
			results->done == 1 ? "" : "s", seconds < 0.1 ? 4 : 2, seconds, speed < 100 ? 1 : 0, speed,
			results->failed);
}

int cli_results_finish(struct cli_results *results, double seconds, struct dls_error *err)
{
	int rc;

	if (!results->options.quiet)
		write_summary(results, seconds);
	rc = cli_check_output(err);
	if (rc)
		return rc;
	return results->options.form == CLI_RESULTS_FILE ? cli_npy_finish(&results->npy, err) : 0;
}

void cli_results_fini(struct cli_results *results)
{
	if (results->options.form == CLI_RESULTS_FILE)
		cli_npy_fini(&results->npy);
}
