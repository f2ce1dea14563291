#include "node/worker_task.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/random.h"
#include "node/task.h"
#include "node/worker.h"
#include <inttypes.h>
#include <string.h>

enum stage {
	NEEDS_MANIFEST,   /* the head of the job's manifest ... */
	NEEDS_PAGE_ROOM,  /* ... room for the pages with its rows ... */
	NEEDS_PAGES,      /* ... the pages ... */
	NEEDS_MODEL,      /* ... the model, if it is one ... */
	NEEDS_INPUT_ROOM, /* ... room for its inputs ... */
	NEEDS_INPUTS,     /* ... and the inputs */
	AT_EXECUTOR,
	OVER, /* which is still to be told */
};

/* Items of one run of the manifest. */
struct span {
	struct dlsi_run run;
	struct dlsi_frame *page; /* NULL: it is not a page, or not here */
	struct dlsi_page opened;
	struct dls_error why; /* with a code: its page cannot be had */
};

struct task {
	struct dls_task task;       /* first */
	struct dlsi_list node;      /* on worker->tasks */
	struct dlsi_list preparing; /* on worker->preparing */
	struct dls_worker *worker;
	struct dlsi_worker_job *job;
	struct dlsi_worker_model *model; /* held, if it has one */
	enum stage stage;
	uint16_t device;
	struct span *spans;
	size_t span_count;
	uint32_t next_read;
	uint32_t reading;
	struct dlsi_list reads;
	uint64_t page_bytes; /* taken in the worker's rooms */
	uint64_t input_bytes;
	struct dls_error why; /* with a code: why none of its items can be run or, later, why some got nothing */

	struct dlsi_work work;
	struct dlsi_errand errand;
	struct dlsi_buffer page;
	uint32_t failed; /* items */
	uint64_t elapsed_ns;
};

struct read {
	struct dlsi_worker_fetch fetch; /* first */
	struct dlsi_list node;          /* on task->reads */
	struct task *task;
	uint32_t number;
};

/* ---- at the executor */

static void run_handler(struct task *task)
{
	const struct dlsi_handler *handler = task->job->handler;
	int64_t start_ns = dlsi_clock_monotonic_ns();
	int rc = handler->ops.run(handler->ops.run_arg, &task->task);

	task->elapsed_ns = (uint64_t)(dlsi_clock_monotonic_ns() - start_ns);
	if (dlsi_task_is_complete(&task->task)) /* the usual case is spared a sentence */
		return;
	if (rc == 0) {
		dlsi_fail(&task->why, DLS_EHANDLER, "the handler gave this item neither a result nor an error");
		return;
	}
	rc = rc < 0 ? rc : DLS_EHANDLER;
	dlsi_fail(&task->why, rc, "the handler \"%s\" failed: %s", handler->name, dls_error_meaning(rc));
}

static void run_model(struct task *task)
{
	struct dlsi_model_files files = dlsi_worker_model_files(task->model);

	dlsi_fail_memory(&task->why); /* nothing else keeps an item from its result or its error */
	task->elapsed_ns = dlsi_inference_run(task->worker->devices[task->device].inference, &files, &task->task);
}

static void run(struct dlsi_work *work)
{
	struct task *task = dlsi_list_entry(work, struct task, work);

	if (!dls_task_cancelled(&task->task) && !task->why.code) {
		if (task->model)
			run_model(task);
		else
			run_handler(task);
	}
	if (!dls_task_cancelled(&task->task))
		dlsi_task_finish(&task->task, &task->why, &task->page, &task->failed);
	dlsi_loop_post(task->worker->ctx->loop, &task->errand);
}

/* ---- its end */

static void destroy(struct task *task)
{
	const struct dlsi_alloc *alloc = &task->worker->ctx->alloc;

	dlsi_list_remove(&task->node);
	dlsi_list_remove(&task->preparing);
	task->worker->page_room.bytes -= task->page_bytes;
	task->worker->input_room.bytes -= task->input_bytes;
	for (size_t i = 0; i < task->span_count; i++)
		dlsi_frame_unref(task->spans[i].page);
	dlsi_free(alloc, task->spans);
	dlsi_buffer_fini(&task->page);
	dlsi_task_fini(&task->task);
	if (task->model)
		dlsi_worker_model_drop(task->model);
	dlsi_worker_job_unref(task->job);
	dlsi_free(alloc, task);
}

static void free_page(void *arg, const void *data)
{
	dlsi_free(arg, (void *)(uintptr_t)data);
}

/* The task's page as a frame; NULL when memory is exhausted. */
static struct dlsi_frame *take_page(struct task *task)
{
	const struct dlsi_alloc *alloc = &task->worker->ctx->alloc;
	size_t length;
	uint8_t *data;
	struct dlsi_frame *frame;

	if (task->page.failed)
		return NULL;
	data = dlsi_buffer_take(&task->page, &length);
	frame = dlsi_frame_wrap(alloc, data, length, free_page, (void *)(uintptr_t)alloc);
	if (!frame)
		dlsi_free(alloc, data);
	return frame;
}

/* What a payload that was offered drags behind it: when the agent lets go of it, the offer ends. */
struct offer {
	const struct dlsi_alloc *alloc;
	struct dlsi_dataplane *plane;
	struct dlsi_id token;
	struct dlsi_hash name;
};

static void withdraw(void *arg, const void *data)
{
	struct offer *offer = arg;

	(void)data;
	dlsi_dataplane_withdraw(offer->plane, &offer->token, &offer->name);
	dlsi_free(offer->alloc, offer);
}

/* Offers the page under the job's token, and returns the payload that stands for it; NULL if it cannot be offered. */
static struct dlsi_frame *offer_page(struct task *task, struct dlsi_frame *page, struct dlsi_blob *blob_out)
{
	const struct dlsi_alloc *alloc = &task->worker->ctx->alloc;
	struct dlsi_source source = {.frame = page};
	struct dlsi_blob blob = {.length = dlsi_frame_size(page), .proof = DLSI_PROOF_CHECKSUM};
	struct offer *offer = dlsi_malloc(alloc, sizeof *offer);
	struct dlsi_frame *payload;

	if (!offer)
		return NULL;
	dlsi_random_bytes(blob.name.bytes, sizeof blob.name.bytes);
	*offer = (struct offer){alloc, task->worker->plane, task->job->token, blob.name};
	payload = dlsi_frame_wrap(alloc, dlsi_frame_data(page), (size_t)blob.length, withdraw, offer);
	if (!payload) {
		dlsi_free(alloc, offer);
		return NULL;
	}
	if (dlsi_dataplane_offer(offer->plane, &offer->token, &blob, &source, NULL)) {
		dlsi_frame_unref(payload);
		return NULL;
	}
	*blob_out = blob;
	return payload;
}

/* Makes the page the event's payload. False: there is no memory for it. */
static bool attach_page(struct task *task, struct dlsi_event *event)
{
	struct dlsi_frame *page = take_page(task), *payload = page;

	if (page && dlsi_frame_size(page) > DLSI_INLINE_BYTES) {
		payload = offer_page(task, page, &event->executed.offer);
		dlsi_frame_unref(page);
	}
	if (!payload)
		return false;
	event->executed.payload = dlsi_driver_adopt(&task->worker->driver, payload);
	return true;
}

/* On the loop: tells the agent. */
static void end(struct dlsi_errand *errand, int64_t now_ns)
{
	struct task *task = dlsi_list_entry(errand, struct task, errand);
	struct dls_worker *worker = task->worker;
	struct dlsi_event event = {.kind = DLSI_EVENT_EXECUTED, .job = task->job->id, .attempt = task->task.attempt};

	event.executed.elapsed_ns = task->elapsed_ns;
	event.executed.failed = task->failed;
	event.executed.dropped = dls_task_cancelled(&task->task);
	if (!event.executed.dropped && !attach_page(task, &event))
		worker->driver.failure = DLS_ENOMEM;
	destroy(task);
	dlsi_driver_step(&worker->driver, now_ns, &event);
	dlsi_worker_advance(worker); /* there is room */
	dlsi_worker_end(worker);
}

/* Not at the executor: nobody else looks at it. */
static void end_early(struct task *task)
{
	task->stage = OVER;
	dlsi_list_remove(&task->preparing);
	dlsi_loop_post(task->worker->ctx->loop, &task->errand);
}

/* ---- preparing it */

static int make_spans(struct task *task)
{
	const struct dlsi_manifest *manifest = &task->job->manifest;
	uint64_t end = task->task.first + task->task.count;
	struct dlsi_run run;
	size_t count = 1;

	dlsi_manifest_find(manifest, task->task.first, &task->job->run);
	run = task->job->run;
	for (struct dlsi_run next = run; next.first + next.items < end; count++)
		dlsi_manifest_next(manifest, &next);
	task->spans = dlsi_calloc(&task->worker->ctx->alloc, count, sizeof *task->spans);
	if (!task->spans)
		return dlsi_fail_memory(&task->why);
	for (; task->span_count < count; task->span_count++) {
		task->spans[task->span_count].run = run;
		dlsi_manifest_next(manifest, &run);
	}
	return 0;
}

static int need_manifest(struct task *task)
{
	int rc = dlsi_worker_job_manifest(task->job, &task->why);

	if (rc)
		return rc;
	if (task->task.first + task->task.count > task->job->count)
		return dlsi_fail(&task->why, DLS_EPROTOCOL, "the master asks for items that the job does not have");
	return make_spans(task);
}

/* Room is given in the order of the tasks, so that a large one gets its turn. One that would fill the memory, which is
 * what a stranger can ask for in a few bytes, gets none. */
static int take_room(
	struct task *task, struct dlsi_worker_room *room, uint64_t bytes, uint64_t *taken_out, const char *what)
{
	const struct dls_worker *worker = task->worker;
	uint64_t most = worker->topology.memory_bytes / 2;

	if (most && bytes > most) /* 0: nobody knows */
		return dlsi_fail(&task->why, DLS_ELIMIT,
			"the %s of one task have %" PRIu64 " bytes, and the worker %s may use %" PRIu64
			"; give the job smaller tasks (task_items)",
			what, bytes, worker->name, most);
	if (room->crowded || (room->bytes && room->bytes + bytes > DLSI_PREFETCH_BYTES)) {
		room->crowded = true;
		return 1;
	}
	*taken_out = bytes;
	room->bytes += bytes;
	return 0;
}

static int need_page_room(struct task *task)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < task->span_count; i++)
		if (task->spans[i].run.kind == DLSI_RUN_PAGE)
			bytes += task->spans[i].run.page_length;
	return take_room(task, &task->worker->page_room, bytes, &task->page_bytes, "pages");
}

static bool have_pages(struct task *task)
{
	bool all = true;

	for (size_t i = 0; i < task->span_count; i++) {
		struct span *span = &task->spans[i];

		if (span->run.kind == DLSI_RUN_PAGE && !span->page && !span->why.code)
			all &= dlsi_worker_job_page(task->job, &span->run, &span->page, &span->opened, &span->why) != 1;
	}
	return all;
}

/* Adds the rows of items [first, end) out of the span's page. What cannot be read is the items' error. */
static int add_page_rows(struct dlsi_task_inputs *inputs, const struct span *span, uint64_t first, uint64_t end)
{
	struct dlsi_field fields[DLSI_ROW_FIELDS];
	struct dls_error err;
	unsigned count;
	int rc = 0;

	if (span->why.code)
		return dlsi_task_inputs_add_failed(inputs, (uint32_t)(end - first), &span->why);
	for (uint64_t item = first; item < end && rc == 0; item++) {
		rc = dlsi_page_row(&span->opened, (uint32_t)(item - span->run.first), fields, &count, &err);
		if (rc == 0)
			rc = dlsi_task_inputs_add(inputs, fields, count, &err);
		if (rc && rc != DLS_ENOMEM)
			rc = dlsi_task_inputs_add_failed(inputs, 1, &err);
	}
	return rc;
}

static int add_equal_rows(struct dlsi_task_inputs *inputs, const struct span *span, uint64_t first, uint64_t end)
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

static int need_pages(struct task *task)
{
	uint64_t first = task->task.first, end = first + task->task.count;
	int rc = 0;

	if (!have_pages(task))
		return 1;
	for (size_t i = 0; i < task->span_count && rc == 0; i++) {
		struct span *span = &task->spans[i];
		uint64_t span_end = span->run.first + span->run.items;
		uint64_t to = span_end < end ? span_end : end;

		if (span->run.kind == DLSI_RUN_PAGE)
			rc = add_page_rows(&task->task.inputs, span, first, to);
		else
			rc = add_equal_rows(&task->task.inputs, span, first, to);
		first = to;
	}
	return rc ? dlsi_fail_memory(&task->why) : 0;
}

static int need_model(struct task *task)
{
	return task->job->handler ? 0 : dlsi_worker_model_hold(task->job, &task->model, &task->why);
}

static int need_input_room(struct task *task)
{
	return take_room(task, &task->worker->input_room, task->task.inputs.bytes, &task->input_bytes, "inputs");
}

/* A read has ended. */
static void take_input(struct dlsi_worker_fetch *fetch)
{
	struct read *read = (struct read *)fetch;
	struct task *task = read->task;
	struct dls_worker *worker = task->worker;

	if (fetch->code)
		dlsi_task_inputs_fail(&task->task.inputs, read->number, &fetch->err);
	else
		dlsi_task_inputs_fill(&task->task.inputs, read->number, fetch->frame);
	dlsi_list_remove(&read->node);
	dlsi_free(&worker->ctx->alloc, read);
	task->reading--;
	worker->reads--;
	dlsi_worker_advance(worker);
}

static void begin_read(struct task *task, uint32_t number)
{
	struct dls_worker *worker = task->worker;
	const struct dlsi_task_read *wanted = &task->task.inputs.reads[number];
	struct read *read = dlsi_calloc(&worker->ctx->alloc, 1, sizeof *read);
	struct dlsi_fetch fetch = dlsi_worker_job_fetch(task->job);
	struct dls_error err;
	int rc;

	fetch.blob = wanted->blob;
	fetch.offset = wanted->offset;
	fetch.length = wanted->length;
	rc = read ? dlsi_worker_fetch_begin(worker, &read->fetch, &fetch, take_input, &err) : dlsi_fail_memory(&err);
	if (rc) {
		dlsi_free(&worker->ctx->alloc, read);
		dlsi_task_inputs_fail(&task->task.inputs, number, &err);
		return;
	}
	read->task = task;
	read->number = number;
	dlsi_list_append(&task->reads, &read->node);
	task->reading++;
	worker->reads++;
}

static int need_inputs(struct task *task)
{
	const struct dlsi_task_inputs *inputs = &task->task.inputs;

	for (; task->next_read < inputs->read_count && task->worker->reads < DLSI_FETCHES_AT_ONCE; task->next_read++)
		if (!inputs->reads[task->next_read].code)
			begin_read(task, task->next_read);
	return task->reading || task->next_read < inputs->read_count;
}

/* Goes on as far as it can. */
static void go_on(struct task *task)
{
	static int (*const needs[])(struct task *) = {
		[NEEDS_MANIFEST] = need_manifest,
		[NEEDS_PAGE_ROOM] = need_page_room,
		[NEEDS_PAGES] = need_pages,
		[NEEDS_MODEL] = need_model,
		[NEEDS_INPUT_ROOM] = need_input_room,
		[NEEDS_INPUTS] = need_inputs,
	};
	int rc = 0;

	if (dls_task_cancelled(&task->task)) {
		if (!task->reading)
			end_early(task);
		return;
	}
	for (; task->stage < AT_EXECUTOR && rc == 0; task->stage += rc == 0)
		rc = task->why.code ? 0 : needs[task->stage](task);
	if (rc > 0)
		return;
	task->stage = AT_EXECUTOR; /* also to say why it cannot be run */
	dlsi_list_remove(&task->preparing);
	dlsi_executor_submit(task->worker->devices[task->device].executor, &task->work);
}

void dlsi_worker_advance(struct dls_worker *worker)
{
	worker->page_room.crowded = worker->input_room.crowded = false;
	dlsi_list_each (node, &worker->preparing)
		go_on(dlsi_list_entry(node, struct task, preparing));
}

int dlsi_worker_task_execute(struct dls_worker *worker, const struct dlsi_effect *effect)
{
	const struct dlsi_alloc *alloc = &worker->ctx->alloc;
	struct dlsi_worker_job *job = dlsi_worker_job_find(worker, &effect->job);
	struct task *task = dlsi_calloc(alloc, 1, sizeof *task);

	if (!task || dlsi_task_init(&task->task, alloc, &job->id, effect->attempt, effect->first,
			     (uint32_t)(effect->end - effect->first), job->spec.params)) {
		dlsi_free(alloc, task);
		return DLS_ENOMEM;
	}
	task->worker = worker;
	task->job = dlsi_worker_job_ref(job);
	task->device = effect->execute.device;
	task->why = job->refused;
	task->work.run = run;
	task->errand.run = end;
	dlsi_list_init(&task->reads);
	dlsi_buffer_init(&task->page, alloc);
	dlsi_list_append(&worker->tasks, &task->node);
	dlsi_list_append(&worker->preparing, &task->preparing);
	dlsi_worker_begin(worker);
	dlsi_worker_advance(worker);
	return 0;
}

static void cancel(struct task *task)
{
	atomic_store_explicit(&task->task.cancelled, true, memory_order_relaxed);
	if (task->stage >= AT_EXECUTOR)
		return;
	dlsi_list_each (node, &task->reads)
		dlsi_worker_fetch_cancel(&dlsi_list_entry(node, struct read, node)->fetch);
	if (!task->reading)
		end_early(task);
}

void dlsi_worker_task_cancel(struct dls_worker *worker, uint64_t attempt)
{
	dlsi_list_each (node, &worker->tasks) {
		struct task *task = dlsi_list_entry(node, struct task, node);

		if (task->task.attempt == attempt)
			cancel(task);
	}
}

void dlsi_worker_task_cancel_all(struct dls_worker *worker)
{
	dlsi_list_each (node, &worker->tasks)
		cancel(dlsi_list_entry(node, struct task, node));
}
