#include "worker/rows.h"

#include "base/limits.h"
#include "worker/page.h"
#include "worker/worker.h"

/* Items of one run of the manifest. */
struct dlsi_worker_span {
	struct dlsi_worker_rows *rows;
	struct dlsi_waiter waiter; /* for its page */
	struct dlsi_run run;
	struct dlsi_worker_rows_had had; /* frame NULL: it is not a page, or not here */
	struct dls_error why;            /* with a code: its page cannot be had */
};

/* False: the rows are on their way. */
static bool get_page(struct dlsi_worker_span *span)
{
	const struct dlsi_worker_rows *rows = span->rows;
	const struct dlsi_run *run = &span->run;
	uint64_t first = rows->first > run->first ? rows->first : run->first, end = run->first + run->items;
	struct dlsi_worker_rows_wanted wanted = {run, (uint32_t)(first - run->first), 0};

	if (run->kind != DLSI_RUN_PAGE || span->had.frame || span->why.code)
		return true;
	wanted.count = (uint32_t)((end < rows->end ? end : rows->end) - first);
	return dlsi_worker_page_get(rows->job, &wanted, &span->waiter, &span->had, &span->why) != 1;
}

static void look(struct dlsi_waiter *waiter)
{
	struct dlsi_worker_span *span = dlsi_list_entry(waiter, struct dlsi_worker_span, waiter);
	struct dlsi_worker_rows *rows = span->rows;

	if (get_page(span) && --rows->missing == 0)
		rows->waiter->look(rows->waiter);
}

int dlsi_worker_rows_init(struct dlsi_worker_rows *rows, struct dlsi_worker_job *job, uint64_t first, uint32_t count,
	struct dls_error *err)
{
	uint64_t end = first + count;
	struct dlsi_run run;
	size_t spans = 1;

	*rows = (struct dlsi_worker_rows){.job = job, .first = first, .end = end};
	dlsi_manifest_find(&job->manifest, first, &job->run);
	run = job->run;
	for (struct dlsi_run next = run; next.first + next.items < end; spans++)
		dlsi_manifest_next(&job->manifest, &next);
	rows->spans = dlsi_calloc(&job->worker->ctx->alloc, spans, sizeof *rows->spans);
	if (!rows->spans)
		return dlsi_fail_memory(err);
	for (; rows->span_count < spans; rows->span_count++) {
		struct dlsi_worker_span *span = &rows->spans[rows->span_count];

		span->rows = rows;
		span->run = run;
		dlsi_waiter_init(&span->waiter, look);
		dlsi_manifest_next(&job->manifest, &run);
	}
	return 0;
}

void dlsi_worker_rows_fini(struct dlsi_worker_rows *rows)
{
	for (size_t i = 0; i < rows->span_count; i++) {
		dlsi_list_remove(&rows->spans[i].waiter.node);
		dlsi_frame_unref(rows->spans[i].had.frame);
	}
	if (rows->job)
		dlsi_free(&rows->job->worker->ctx->alloc, rows->spans);
}

uint64_t dlsi_worker_rows_bytes(const struct dlsi_worker_rows *rows)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < rows->span_count; i++)
		if (rows->spans[i].run.kind == DLSI_RUN_PAGE)
			bytes += rows->spans[i].run.page_length;
	return bytes;
}

bool dlsi_worker_rows_get(struct dlsi_worker_rows *rows, struct dlsi_waiter *waiter)
{
	rows->waiter = waiter;
	for (size_t i = 0; i < rows->span_count; i++)
		rows->missing += !get_page(&rows->spans[i]);
	return rows->missing == 0;
}

/* Adds items [first, end) out of the span's page. */
static int add_page_rows(
	const struct dlsi_worker_span *span, uint64_t first, uint64_t end, struct dlsi_task_inputs *inputs)
{
	struct dlsi_field fields[DLSI_ROW_FIELDS];
	struct dls_error err;
	unsigned count;
	int rc = 0;

	if (span->why.code)
		return dlsi_task_inputs_add_failed(inputs, (uint32_t)(end - first), &span->why);
	for (uint64_t item = first; item < end && rc == 0; item++) {
		rc = dlsi_page_row(
			&span->had.page, (uint32_t)(item - span->run.first) - span->had.first, fields, &count, &err);
		if (rc == 0)
			rc = dlsi_task_inputs_add(inputs, fields, count, &err);
		if (rc && rc != DLS_ENOMEM)
			rc = dlsi_task_inputs_add_failed(inputs, 1, &err);
	}
	return rc;
}

static int add_equal_rows(
	const struct dlsi_worker_span *span, uint64_t first, uint64_t end, struct dlsi_task_inputs *inputs)
{
	struct dls_error err;
	int rc = 0;

	for (uint64_t item = first; item < end && rc == 0; item++) {
		struct dlsi_field field = dlsi_run_field(&span->run, item);

		rc = dlsi_task_inputs_add(inputs, &field, 1, &err);
		if (rc && rc != DLS_ENOMEM)
			rc = dlsi_task_inputs_add_failed(inputs, 1, &err);
	}
	return rc;
}

int dlsi_worker_rows_add(const struct dlsi_worker_rows *rows, struct dlsi_task_inputs *inputs)
{
	uint64_t first = rows->first;
	int rc = 0;

	for (size_t i = 0; i < rows->span_count && rc == 0; i++) {
		const struct dlsi_worker_span *span = &rows->spans[i];
		uint64_t span_end = span->run.first + span->run.items;
		uint64_t end = span_end < rows->end ? span_end : rows->end;

		if (span->run.kind == DLSI_RUN_PAGE)
			rc = add_page_rows(span, first, end, inputs);
		else
			rc = add_equal_rows(span, first, end, inputs);
		first = end;
	}
	return rc;
}
