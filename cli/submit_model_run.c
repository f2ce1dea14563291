/* dls-submit model run: one run of a model on files, in this process, and whether it gives what is expected. */
#include "cli/classes.h"
#include "cli/compare.h"
#include "cli/failure.h"
#include "cli/json.h"
#include "cli/npy.h"
#include "cli/outputs.h"
#include "cli/submit.h"
#include "cli/tensors.h"
#include "cli/text.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_BYTES = 16 };

struct run {
	const struct submit *submit;
	const struct submit_values *values;
	struct dls_model *model;
	struct cli_tensors files;
	uint32_t output_count;
	struct dls_tensor *outputs;
	struct dls_tensor **expected; /* as many as --expect names */
	uint32_t labels;
	size_t disagree; /* outputs that are not as expected */
	struct dls_error *err;
};

/* ---- before the run */

static int check_expected(const struct run *run)
{
	size_t expected = run->values->expect.count;

	if (expected && expected != run->output_count)
		return cli_fail(run->err, DLS_EINVAL,
			"the model has %" PRIu32 " outputs, and --expect is given %zu times", run->output_count,
			expected);
	return 0;
}

static int read_expected(struct run *run)
{
	size_t count = run->values->expect.count;
	int rc = 0;

	run->expected = calloc(count + 1, sizeof *run->expected);
	if (!run->expected)
		return cli_fail(run->err, DLS_ENOMEM, "out of memory");
	for (size_t i = 0; i < count && rc == 0; i++)
		rc = dls_tensor_read(run->submit->ctx, run->values->expect.at[i], &run->expected[i], run->err);
	return rc;
}

static int prepare(struct run *run)
{
	const struct submit *submit = run->submit;
	int rc = dls_model_open(submit->ctx, submit->operands[0], &run->model, run->err);

	run->output_count = dls_model_outputs(run->model);
	run->labels = cli_labels_count(run->model);
	if (rc == 0)
		rc = check_expected(run);
	if (rc == 0)
		rc = cli_tensors_read(submit->ctx, run->model, submit->operands + 1, submit->operand_count - 1,
			&run->files, run->err);
	return rc ? rc : read_expected(run);
}

static int compute(struct run *run)
{
	uint32_t count;

	return dls_model_run(run->model, run->files.inputs, run->files.count, &run->outputs, &count, run->err);
}

/* ---- showing */

/* How many times the output has a value for every class: once, or in each row; 0 if it is about something else. */
static int64_t count_rows(const struct run *run, const struct dls_tensor *tensor)
{
	struct dls_output output = {.tensor = *tensor};

	if (cli_classes_are(&output, run->labels))
		return 1;
	if (!tensor->rank || !tensor->dims[0])
		return 0;
	output.tensor.bytes /= (size_t)tensor->dims[0];
	return cli_classes_are(&output, run->labels) ? tensor->dims[0] : 0;
}

/* One of so many rows, of which only the values count. */
static struct dls_output row_of(const struct dls_tensor *tensor, int64_t rows, int64_t row)
{
	struct dls_output output = {.tensor = *tensor};

	output.tensor.bytes = tensor->bytes / (size_t)rows;
	output.tensor.data = (const char *)tensor->data + (size_t)row * output.tensor.bytes;
	return output;
}

static void print_classes(const struct run *run, const struct dls_tensor *tensor, int64_t rows)
{
	struct cli_class best[CLI_CLASSES_MAX];

	for (int64_t row = 0; row < rows; row++) {
		struct dls_output output = row_of(tensor, rows, row);
		uint32_t count = cli_classes_best(&output, (uint32_t)run->values->top, best);

		if (rows > 1)
			printf("[%" PRId64 "]\n", row);
		for (uint32_t i = 0; i < count; i++) {
			printf("%11.4f  ", best[i].value);
			cli_class_print(run->model, best[i].index);
		}
	}
}

static void print_outputs(const struct run *run)
{
	for (uint32_t i = 0; i < run->output_count; i++) {
		const struct dls_tensor *tensor = &run->outputs[i];
		int64_t rows = count_rows(run, tensor);

		cli_text_print(dls_model_output_name(run->model, i), 0);
		printf(": ");
		if (!rows) {
			cli_tensor_print(tensor);
			continue;
		}
		cli_tensor_write_shape(stdout, tensor);
		putchar('\n');
		print_classes(run, tensor, rows);
	}
}

static void write_outputs(const struct run *run)
{
	printf("{\"outputs\":[");
	for (uint32_t i = 0; i < run->output_count; i++) {
		const struct dls_tensor *tensor = &run->outputs[i];
		int64_t rows = count_rows(run, tensor);

		printf("%s{\"name\":", i ? "," : "");
		cli_json_text(stdout, dls_model_output_name(run->model, i));
		putchar(',');
		cli_tensor_write_members(tensor);
		if (rows)
			printf(",\"classes\":[");
		for (int64_t row = 0; row < rows; row++) {
			struct dls_output output = row_of(tensor, rows, row);

			fputs(row ? "," : "", stdout);
			cli_classes_write(run->model, &output, (uint32_t)run->values->top);
		}
		if (rows)
			putchar(']');
		putchar('}');
	}
	printf("]}\n");
}

/* Of several outputs each has a file of its own, whose name has the output's number before its end. */
static int write_file(const struct run *run, uint32_t output)
{
	const char *path = run->values->output, *end = strrchr(path, '.');
	char *name = malloc(strlen(path) + NUMBER_BYTES);
	int rc;

	if (!name)
		return cli_fail(run->err, DLS_ENOMEM, "out of memory");
	if (!end || strchr(end, '/'))
		end = path + strlen(path);
	if (run->output_count == 1)
		strcpy(name, path);
	else
		sprintf(name, "%.*s.%" PRIu32 "%s", (int)(end - path), path, output, end);
	rc = cli_npy_write(name, &run->outputs[output], run->err);
	free(name);
	return rc;
}

static int show(const struct run *run)
{
	int rc = 0;

	for (uint32_t i = 0; run->values->output && i < run->output_count && rc == 0; i++)
		rc = write_file(run, i);
	if (rc || run->values->output || run->values->quiet)
		return rc;
	if (run->values->json)
		write_outputs(run);
	else
		print_outputs(run);
	return cli_check_output(run->err);
}

/* ---- comparing */

static void write_shapes(FILE *to, const struct run *run, uint32_t output)
{
	fprintf(to, "the output \"%s\" is ", dls_model_output_name(run->model, output));
	cli_tensor_write_shape(to, &run->outputs[output]);
	fprintf(to, ", and %s has ", run->values->expect.at[output]);
	cli_tensor_write_shape(to, run->expected[output]);
}

static void write_difference(FILE *to, const struct run *run, uint32_t output, const struct cli_difference *difference)
{
	const struct dls_tensor *actual = &run->outputs[output], *expected = run->expected[output];

	fprintf(to, "the output \"%s\" differs from %s in %zu of %zu elements, most at ",
		dls_model_output_name(run->model, output), run->values->expect.at[output], difference->differing,
		difference->elements);
	cli_compare_write_place(to, expected, difference->at);
	fprintf(to, ": ");
	cli_tensor_write(to, actual, difference->at);
	fprintf(to, " instead of ");
	cli_tensor_write(to, expected, difference->at);
	fprintf(to, ", which is off by %.6g; %g + %g * |expected| is allowed", difference->largest, run->values->atol,
		run->values->rtol);
}

/* One sentence, as of an error. */
static void say_disagreement(struct run *run, uint32_t output, const struct cli_difference *difference)
{
	char *text = NULL;
	size_t length;
	FILE *sentence = open_memstream(&text, &length);
	struct dls_error said;

	run->disagree++;
	if (!sentence)
		return;
	if (difference)
		write_difference(sentence, run, output, difference);
	else
		write_shapes(sentence, run, output);
	fclose(sentence);
	cli_fail(&said, DLS_EINVAL, "%s", text);
	cli_report("dls-submit", &said);
	free(text);
}

static void compare(struct run *run, uint32_t output)
{
	struct cli_tolerance tolerance = {.relative = run->values->rtol, .absolute = run->values->atol};
	struct cli_difference difference;

	if (!cli_compare(&run->outputs[output], run->expected[output], &tolerance, &difference))
		say_disagreement(run, output, NULL);
	else if (difference.differing)
		say_disagreement(run, output, &difference);
	else if (!run->values->quiet && !run->values->json)
		printf("as expected by %s: the largest difference is %.3g\n", run->values->expect.at[output],
			difference.largest);
}

static int work(struct run *run)
{
	int rc = prepare(run);

	if (rc == 0)
		rc = compute(run);
	if (rc == 0)
		rc = show(run);
	if (rc)
		return -1;
	for (uint32_t i = 0; i < run->values->expect.count; i++)
		compare(run, i);
	if (cli_check_output(run->err))
		return -1;
	return run->disagree ? CLI_EXIT_FAILED : 0;
}

int submit_model_run(const struct submit *submit, struct dls_error *err)
{
	struct run run = {.submit = submit, .values = submit->values, .err = err};
	int exit_code = work(&run);

	for (size_t i = 0; run.expected && i < run.values->expect.count; i++)
		dls_free(submit->ctx, run.expected[i]);
	free(run.expected);
	cli_tensors_fini(&run.files);
	dls_free(submit->ctx, run.outputs);
	dls_model_destroy(run.model);
	return exit_code;
}
