#include "worker/task.h"

#include "base/clock.h"
#include "base/export.h"
#include "base/tensor.h"
#include "base/utf8.h"
#include "core/again.h"
#include <inttypes.h>
#include <string.h>

/* What an item has been given, in one block: fields with the bytes behind them, or an error. */
struct dlsi_task_output {
	struct dlsi_field *fields;
	unsigned count;
	uint64_t bytes; /* of the block */
};

int dlsi_task_init(struct dls_task *task, const struct dlsi_alloc *alloc, const struct dlsi_id *job, uint64_t attempt,
	uint64_t first, uint32_t count, const char *params)
{
	*task = (struct dls_task){.alloc = alloc, .attempt = attempt, .first = first, .count = count, .params = params};
	dlsi_hex(job->bytes, DLSI_ID_BYTES, task->job);
	atomic_init(&task->cancelled, false);
	atomic_init(&task->recalled, false);
	if (dlsi_task_inputs_init(&task->inputs, alloc, count))
		return DLS_ENOMEM;
	task->outputs = dlsi_calloc(alloc, count, sizeof *task->outputs);
	if (task->outputs)
		return 0;
	dlsi_task_inputs_fini(&task->inputs);
	return DLS_ENOMEM;
}

void dlsi_task_fini(struct dls_task *task)
{
	for (uint32_t i = 0; i < task->count; i++)
		dlsi_free(task->alloc, task->outputs[i].fields);
	dlsi_free(task->alloc, task->outputs);
	dlsi_task_inputs_fini(&task->inputs);
}

static int check_item(const struct dls_task *task, uint32_t item, struct dls_error *err)
{
	if (item < task->count)
		return 0;
	return dlsi_fail(err, DLS_EINVAL, "there is no item %" PRIu32 " in a task of %" PRIu32, item, task->count);
}

/* Takes the block in the place of what the item had. */
static void replace(struct dls_task *task, uint32_t item, struct dlsi_task_output with)
{
	task->output_bytes += with.bytes - task->outputs[item].bytes;
	dlsi_free(task->alloc, task->outputs[item].fields);
	task->outputs[item] = with;
}

int dlsi_task_give(
	struct dls_task *task, uint32_t item, const struct dlsi_field *fields, unsigned count, struct dls_error *err)
{
	struct dlsi_task_output output = {.count = count, .bytes = count * sizeof *fields};
	uint8_t *at;

	if (dlsi_task_is_late(task))
		return dlsi_fail(err, DLS_ETIMEOUT, "the task has taken longer than the job allows");
	for (unsigned i = 0; i < count; i++)
		output.bytes += fields[i].bytes.length;
	if (task->output_bytes - task->outputs[item].bytes + output.bytes > DLSI_RESULT_BYTES)
		return dlsi_fail(err, DLS_ELIMIT,
			"the results of one task exceed %llu bytes; give the job smaller tasks (task_items)",
			DLSI_RESULT_BYTES);
	output.fields = dlsi_malloc(task->alloc, (size_t)output.bytes);
	if (!output.fields)
		return dlsi_fail_memory(err);
	at = (uint8_t *)(output.fields + count);
	for (unsigned i = 0; i < count; i++) {
		output.fields[i] = fields[i];
		output.fields[i].bytes.data = at;
		if (fields[i].bytes.length)
			memcpy(at, fields[i].bytes.data, fields[i].bytes.length);
		at += fields[i].bytes.length;
	}
	replace(task, item, output);
	return 0;
}

/* Copies `length` bytes of a sentence and ends them; lines may be kept, other control characters and what is not UTF-8
 * may not. */
static void copy_printable(char *to, const char *sentence, size_t length)
{
	for (size_t i = 0; i < length;) {
		uint32_t code = 0;
		size_t width = dlsi_utf8_next((const uint8_t *)sentence + i, length - i, &code);

		if (width && (code >= 0x20 || code == '\n' || code == '\t') && (code < 0x7f || code >= 0xa0))
			memcpy(to + i, sentence + i, width);
		else
			memset(to + i, '?', width ? width : 1);
		i += width ? width : 1;
	}
	to[length] = '\0';
}

DLS_EXPORT int dls_task_fail(struct dls_task *task, uint32_t item, int code, const char *sentence)
{
	struct dlsi_task_output output = {.count = 1};
	size_t length;
	char *text;

	if (check_item(task, item, NULL))
		return DLS_EINVAL;
	code = code < 0 ? code : DLS_EHANDLER;
	sentence = sentence ? sentence : dls_error_meaning(code);
	length = dlsi_utf8_cut(sentence, DLSI_ITEM_ERROR_BYTES);
	output.bytes = sizeof *output.fields + length + 1;
	output.fields = dlsi_malloc(task->alloc, (size_t)output.bytes);
	if (!output.fields)
		return DLS_ENOMEM;
	text = (char *)(output.fields + 1);
	copy_printable(text, sentence, length);
	*output.fields = dlsi_field_error(code, text);
	replace(task, item, output);
	return 0;
}

bool dlsi_task_is_complete(const struct dls_task *task)
{
	for (uint32_t i = 0; i < task->count; i++)
		if (!task->outputs[i].fields)
			return false;
	return true;
}

uint32_t dlsi_task_give_up(struct dls_task *task)
{
	uint32_t count = task->count, done = 0;

	while (done < count && task->outputs[done].fields)
		done++;
	for (uint32_t i = done; i < count; i++)
		replace(task, i, (struct dlsi_task_output){0});
	task->count = done;
	return count - done;
}

/* The error row of an item that was given nothing. */
static void add_missing(
	const struct dls_task *task, uint32_t item, const struct dls_error *missing, struct dlsi_page_writer *page)
{
	struct dls_error why = *missing;
	struct dlsi_field field;

	if (item < task->inputs.row_count)
		dlsi_task_inputs_of(&task->inputs, item, &why);
	field = dlsi_field_error(why.code, why.text);
	dlsi_page_add_row(page, &field, 1);
}

int dlsi_task_finish(
	struct dls_task *task, const struct dls_error *missing, struct dlsi_buffer *page, uint32_t *failed_out)
{
	struct dlsi_page_writer writer;
	uint32_t failed = 0;

	dlsi_page_begin(&writer, page);
	for (uint32_t i = 0; i < task->count; i++) {
		const struct dlsi_task_output *output = &task->outputs[i];

		if (output->fields)
			dlsi_page_add_row(&writer, output->fields, output->count);
		else
			add_missing(task, i, missing, &writer);
		failed += !output->fields || output->fields->form == DLSI_FORM_ERROR;
	}
	dlsi_page_end(&writer);
	if (page->failed)
		return DLS_ENOMEM;
	*failed_out = failed;
	return 0;
}

static enum dlsi_failure failure_of(const struct dls_task *task, uint32_t item, enum dlsi_failure missing)
{
	const struct dlsi_field *error = task->outputs[item].fields;

	if (item < task->inputs.row_count && !dlsi_task_inputs_of(&task->inputs, item, NULL))
		return DLSI_FAILURE_INPUT;
	if (!error)
		return missing;
	return error->code == DLS_ETIMEOUT && dlsi_task_is_late(task) ? DLSI_FAILURE_TIME_LIMIT : DLSI_FAILURE_ERROR;
}

void dlsi_task_list_again(const struct dls_task *task, enum dlsi_failure missing, const struct dlsi_retry_rules *rules,
	struct dlsi_buffer *again)
{
	for (uint32_t i = 0; i < task->count; i++) {
		const struct dlsi_task_output *output = &task->outputs[i];
		struct dlsi_again item = {.first = task->first + i, .end = task->first + i + 1};

		if (output->fields && output->fields->form != DLSI_FORM_ERROR)
			continue;
		item.failure = failure_of(task, i, missing);
		if (rules->of[item.failure].times)
			dlsi_again_add(again, &item);
	}
}

DLS_EXPORT uint32_t dls_task_items(const struct dls_task *task)
{
	return task->count;
}

DLS_EXPORT uint64_t dls_task_item_number(const struct dls_task *task, uint32_t item)
{
	return task->first + item;
}

DLS_EXPORT const char *dls_task_job(const struct dls_task *task)
{
	return task->job;
}

DLS_EXPORT uint64_t dls_task_attempt(const struct dls_task *task)
{
	return task->attempt;
}

DLS_EXPORT const char *dls_task_params(const struct dls_task *task)
{
	return task->params;
}

void dlsi_task_begin(struct dls_task *task)
{
	if (task->limit_ns)
		task->late_ns = dlsi_clock_monotonic_ns() + (int64_t)task->limit_ns;
}

bool dlsi_task_is_dropped(const struct dls_task *task)
{
	return atomic_load_explicit(&task->cancelled, memory_order_relaxed);
}

bool dlsi_task_is_recalled(const struct dls_task *task)
{
	return atomic_load_explicit(&task->recalled, memory_order_relaxed);
}

bool dlsi_task_is_late(const struct dls_task *task)
{
	return task->late_ns && dlsi_clock_monotonic_ns() >= task->late_ns;
}

DLS_EXPORT int dls_task_cancelled(const struct dls_task *task)
{
	return dlsi_task_is_dropped(task) || dlsi_task_is_late(task);
}

DLS_EXPORT int dls_task_stopped(const struct dls_task *task)
{
	return dlsi_task_is_recalled(task) || dls_task_cancelled(task);
}

DLS_EXPORT int dls_task_item(struct dls_task *task, uint32_t item, const struct dls_tensor **tensors_out,
	uint32_t *count_out, struct dls_error *err)
{
	int rc = check_item(task, item, err);

	return rc ? rc : dlsi_task_inputs_row(&task->inputs, item, tensors_out, count_out, err);
}

static int describe(const struct dls_tensor *tensor, struct dlsi_field *field_out, struct dls_error *err)
{
	int rc = dlsi_tensor_check(tensor, "the result", err);

	if (rc)
		return rc;
	if (tensor->bytes > UINT32_MAX)
		return dlsi_fail(err, DLS_ELIMIT, "the result has a tensor of %zu bytes; it may have %" PRIu32,
			tensor->bytes, UINT32_MAX);
	*field_out = (struct dlsi_field){.media = DLSI_MEDIA_TENSOR,
		.dtype = (uint8_t)tensor->dtype,
		.rank = (uint8_t)tensor->rank,
		.bytes = {tensor->data, (uint32_t)tensor->bytes}};
	memcpy(field_out->dims, tensor->dims, tensor->rank * sizeof *tensor->dims);
	return 0;
}

DLS_EXPORT int dls_task_result(
	struct dls_task *task, uint32_t item, const struct dls_tensor *tensors, uint32_t count, struct dls_error *err)
{
	struct dlsi_field fields[DLSI_ROW_FIELDS];
	int rc = check_item(task, item, err);

	if (rc == 0 && !tensors)
		rc = dlsi_fail(err, DLS_EINVAL, "the result's tensors are NULL");
	if (rc == 0 && (count < 1 || count > DLSI_ROW_FIELDS))
		rc = dlsi_fail(err, DLS_EINVAL, "a result of %" PRIu32 " tensors; from 1 to %d are possible", count,
			DLSI_ROW_FIELDS);
	for (uint32_t i = 0; i < count && rc == 0; i++)
		rc = describe(&tensors[i], &fields[i], err);
	return rc ? rc : dlsi_task_give(task, item, fields, count, err);
}
