#include "cli/inputs.h"

#include "cli/failure.h"
#include "cli/file.h"
#include "cli/signals.h"
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define BYTE_ORDER_MARK "\xef\xbb\xbf"

enum { LIST_BYTES = 1 << 30 };

static int check_name(const struct cli_inputs *inputs, const char *path, struct dls_error *err)
{
	size_t length = strlen(path);

	if (!length)
		return cli_fail(err, DLS_EINVAL, "the name of input %zu is empty", inputs->count + 1);
	if (length >= PATH_MAX)
		return cli_fail(err, DLS_EINVAL,
			"the name of input %zu, \"%.32s...\", has %zu bytes; the system takes %d", inputs->count + 1,
			path, length, PATH_MAX - 1);
	return 0;
}

static int add(struct cli_inputs *inputs, const char *path, struct dls_error *err)
{
	int rc = check_name(inputs, path, err);

	if (rc)
		return rc;
	if (inputs->count == inputs->capacity) {
		size_t capacity = inputs->capacity ? 2 * inputs->capacity : 64;
		struct cli_input *grown = realloc(inputs->at, capacity * sizeof *grown);

		if (!grown)
			return cli_fail(err, DLS_ENOMEM, "out of memory for %zu inputs", capacity);
		inputs->at = grown;
		inputs->capacity = capacity;
	}
	inputs->at[inputs->count++] = (struct cli_input){.path = path};
	return 0;
}

/* Empty lines are none; a carriage return at the end is that of a text from Windows. */
static int add_line(struct cli_inputs *inputs, char *line, struct dls_error *err)
{
	size_t length = strlen(line);

	if (line[length - 1] == '\r')
		line[--length] = '\0';
	return length ? add(inputs, line, err) : 0;
}

static int add_list(struct cli_inputs *inputs, const char *list, struct dls_error *err)
{
	size_t before = inputs->count;
	char *text, *rest, *line;
	int rc = *list ? cli_file_read(list, LIST_BYTES, &text, err)
		       : cli_fail(err, DLS_EINVAL, "@ must be followed by the name of a list of inputs");

	if (rc)
		return rc;
	inputs->lists[inputs->list_count++] = text;
	if (strncmp(text, BYTE_ORDER_MARK, strlen(BYTE_ORDER_MARK)) == 0)
		text += strlen(BYTE_ORDER_MARK);
	for (line = strtok_r(text, "\n", &rest); line && rc == 0; line = strtok_r(NULL, "\n", &rest))
		rc = add_line(inputs, line, err);
	if (rc == 0 && inputs->count == before)
		rc = cli_fail(err, DLS_EINVAL, "%s lists no inputs", strcmp(list, "-") == 0 ? "standard input" : list);
	return rc;
}

/* How many of the first `length` bytes of `a`, the folder of all inputs so far, are that of `b` too. */
static size_t share(const char *a, size_t length, const char *b)
{
	size_t same = 0, folder = 0;

	for (; same < length && a[same] == b[same]; same++)
		if (a[same] == '/')
			folder = same + 1;
	return folder;
}

int cli_inputs_init(const char *const *arguments, size_t count, struct cli_inputs *inputs_out, struct dls_error *err)
{
	int rc = 0;

	*inputs_out = (struct cli_inputs){.lists = calloc(count + 1, sizeof *inputs_out->lists)};
	if (!inputs_out->lists)
		return cli_fail(err, DLS_ENOMEM, "out of memory");
	for (size_t i = 0; i < count && rc == 0; i++) {
		if (arguments[i][0] == '@')
			rc = add_list(inputs_out, arguments[i] + 1, err);
		else
			rc = add(inputs_out, arguments[i], err);
	}
	if (inputs_out->count)
		inputs_out->shared = strlen(inputs_out->at[0].path);
	for (size_t i = 0; i < inputs_out->count; i++)
		inputs_out->shared = share(inputs_out->at[0].path, inputs_out->shared, inputs_out->at[i].path);
	return rc;
}

void cli_inputs_fini(struct cli_inputs *inputs)
{
	for (size_t i = 0; i < inputs->list_count; i++)
		free(inputs->lists[i]);
	free(inputs->lists);
	free(inputs->at);
	*inputs = (struct cli_inputs){0};
}

int cli_inputs_add(struct cli_inputs *inputs, struct dls_job *job, struct dls_error *err)
{
	for (size_t i = 0; i < inputs->count && !cli_signals_caught(); i++) {
		struct cli_input *input = &inputs->at[i];
		int rc;

		input->first = dls_job_items(job);
		rc = dls_job_add_file(job, input->path, err);
		if (rc)
			return rc;
		input->count = dls_job_items(job) - input->first;
	}
	return 0;
}

const struct cli_input *cli_inputs_find(const struct cli_inputs *inputs, uint64_t item)
{
	size_t low = 0, high = inputs->count;

	while (high - low > 1) {
		size_t mid = low + (high - low) / 2;

		if (inputs->at[mid].first <= item)
			low = mid;
		else
			high = mid;
	}
	return &inputs->at[low];
}

int cli_inputs_name(const struct cli_inputs *inputs, uint64_t item, char *name, size_t bytes)
{
	const struct cli_input *input = cli_inputs_find(inputs, item);

	if (input->count == 1)
		return snprintf(name, bytes, "%s", input->path + inputs->shared);
	return snprintf(name, bytes, "%s[%" PRIu64 "]", input->path + inputs->shared, item - input->first);
}
