#include "worker/execution.h"

#include "base/clock.h"
#include "base/limits.h"
#include "core/again.h"
#include "worker/reads.h"
#include "worker/result.h"
#include "worker/rows.h"
#include "worker/task.h"
#include "worker/worker.h"
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

struct task {
	struct dls_task task;  /* first */
	struct dlsi_list node; /* on worker->tasks */
	struct dls_worker *worker;
	struct dlsi_worker_job *job;
	struct dlsi_worker_model *model; /* held, if it has one */
	enum stage stage;
	uint16_t device;
	struct dlsi_waiter waiter; /* for what the stage needs */
	struct dlsi_worker_rows rows;
	struct dlsi_worker_reads reads;
	uint64_t page_bytes; /* taken in the worker's rooms */
	uint64_t input_bytes;
	struct dls_error why; /* with a code: why none of its items can be run or, later, why some got nothing */

	struct dlsi_work work;
	struct dlsi_errand errand;
	struct dlsi_buffer page;
	uint32_t failed;          /* items */
	struct dlsi_buffer again; /* which of them are tried again */
	uint32_t left;            /* items that have gone back */
	uint64_t elapsed_ns;
	int64_t model_asked_ns;                    /* when it began to wait for the model; 0: it was here */
	uint64_t load_ns;                          /* from then until it could be loaded */
	struct dlsi_inference_report model_report; /* of a task with a model */
};

/* ---- at the executor */

/* It was asked to stop, and has: what it has not done goes back. */
static void give_up_rest(struct task *task)
{
	if (!dlsi_task_is_recalled(&task->task) || dlsi_task_is_late(&task->task))
		return;
	task->left = dlsi_task_give_up(&task->task);
	if (!task->task.count)
		atomic_store_explicit(&task->task.cancelled, true, memory_order_relaxed);
}

static void run_handler(struct task *task)
{
	const struct dlsi_handler *handler = task->job->handler;
	int64_t start_ns = dlsi_clock_monotonic_ns();
	int rc = handler->ops.run(handler->ops.run_arg, &task->task);

	task->elapsed_ns = (uint64_t)(dlsi_clock_monotonic_ns() - start_ns);
	if (dlsi_task_is_complete(&task->task)) /* the usual case is spared a sentence */
		return;
	if (rc == 0) {
		give_up_rest(task);
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
	task->model_report = dlsi_inference_run(task->worker->devices[task->device].inference, &files, &task->task);
	task->elapsed_ns = task->model_report.busy_ns;
	give_up_rest(task);
}

/* Items that have got nothing have got it for this reason. */
static void explain_lateness(struct task *task)
{
	uint64_t limit_ms = task->job->spec.item_time_limit_ms;

	if (dlsi_task_is_late(&task->task))
		dlsi_fail(&task->why, DLS_ETIMEOUT,
			"the task was stopped: its %" PRIu32 " items were not done within the job's limit of %g s each",
			task->task.count, (double)limit_ms / 1000);
}

/* In what way items have failed that have got nothing. */
static enum dlsi_failure missing_failure(const struct task *task, bool prepared)
{
	if (!prepared && !task->job->refused.code)
		return DLSI_FAILURE_INPUT;
	return dlsi_task_is_late(&task->task) ? DLSI_FAILURE_TIME_LIMIT : DLSI_FAILURE_ERROR;
}

static void finish(struct task *task, bool prepared)
{
	const struct dlsi_retry_rules *rules = &task->job->spec.retry;

	dlsi_task_finish(&task->task, &task->why, &task->page, &task->failed);
	if (task->failed && dlsi_retry_rules_any(rules))
		dlsi_task_list_again(&task->task, missing_failure(task, prepared), rules, &task->again);
}

static void run(struct dlsi_work *work)
{
	struct task *task = dlsi_list_entry(work, struct task, work);
	bool prepared = !task->why.code;

	if (!dlsi_task_is_dropped(&task->task) && prepared) {
		dlsi_task_begin(&task->task);
		if (task->model)
			run_model(task);
		else
			run_handler(task);
		explain_lateness(task);
	}
	if (!dlsi_task_is_dropped(&task->task))
		finish(task, prepared);
	dlsi_loop_post(task->worker->ctx->loop, &task->errand);
}

/* ---- its end */

/* Those who wait for room stay where they are until they have it. */
static void leave_room(struct dlsi_worker_room *room, uint64_t bytes)
{
	room->bytes -= bytes;
	while (!dlsi_list_empty(&room->waiting)) {
		struct dlsi_list *first = room->waiting.next;
		struct dlsi_waiter *waiter = dlsi_list_entry(first, struct dlsi_waiter, node);

		waiter->look(waiter);
		if (room->waiting.next == first) /* there is too little for it, and it is its turn */
			return;
	}
}

static void destroy(struct task *task)
{
	const struct dlsi_alloc *alloc = &task->worker->ctx->alloc;

	dlsi_list_remove(&task->node);
	dlsi_list_remove(&task->waiter.node);
	leave_room(&task->worker->page_room, task->page_bytes);
	leave_room(&task->worker->input_room, task->input_bytes);
	dlsi_worker_rows_fini(&task->rows);
	dlsi_buffer_fini(&task->page);
	dlsi_buffer_fini(&task->again);
	dlsi_task_fini(&task->task);
	if (task->model)
		dlsi_worker_model_drop(task->model);
	dlsi_worker_job_unref(task->job);
	dlsi_free(alloc, task);
}

/* Makes the page the event's payload. */
static void attach_page(struct task *task, struct dlsi_event *event)
{
	struct dls_worker *worker = task->worker;
	struct dlsi_frame *payload = dlsi_worker_result_payload(
		&worker->ctx->alloc, &task->page, worker->dialer.plane, &task->job->token, &event->executed.offer);

	if (payload)
		event->executed.payload = dlsi_driver_adopt(&worker->dialer.driver, payload);
	else
		worker->dialer.driver.failure = DLS_ENOMEM;
}

/* On the loop: tells the agent. */
static void end(struct dlsi_errand *errand, int64_t now_ns)
{
	struct task *task = dlsi_list_entry(errand, struct task, errand);
	struct dls_worker *worker = task->worker;
	struct dlsi_event event = {.kind = DLSI_EVENT_EXECUTED, .job = task->job->id, .attempt = task->task.attempt};
	struct dlsi_buffer again = task->again; /* outlives the task */
	struct dlsi_hash unloaded[DLSI_INFERENCE_UNLOADED];

	memcpy(unloaded, task->model_report.unloaded, sizeof unloaded);
	dlsi_buffer_init(&task->again, &worker->ctx->alloc);
	event.executed.again = dlsi_again_list(&again);
	event.executed.elapsed_ns = task->elapsed_ns;
	if (task->model_report.load_ns) /* else others of the worker had it loaded, or it failed */
		event.executed.load_ns = task->load_ns + task->model_report.load_ns;
	event.executed.device = task->device;
	event.executed.unloaded = unloaded;
	event.executed.unloaded_count = task->model_report.unloaded_count;
	event.executed.failed = task->failed;
	event.executed.read_bytes = task->task.inputs.bytes;
	event.executed.left = task->left;
	event.executed.dropped = dlsi_task_is_dropped(&task->task);
	if (!event.executed.dropped)
		attach_page(task, &event);
	destroy(task);
	if (again.failed)
		worker->dialer.driver.failure = DLS_ENOMEM;
	dlsi_driver_step(&worker->dialer.driver, now_ns, &event);
	dlsi_buffer_fini(&again);
	dlsi_dialer_end(&worker->dialer);
}

/* Not at the executor: nobody else looks at it. */
static void end_early(struct task *task)
{
	task->stage = OVER;
	dlsi_loop_post(task->worker->ctx->loop, &task->errand);
}

/* ---- preparing it */

static int need_manifest(struct task *task)
{
	int rc = dlsi_worker_job_manifest(task->job, &task->waiter, &task->why);

	if (rc)
		return rc;
	if (task->task.first + task->task.count > task->job->count)
		return dlsi_fail(&task->why, DLS_EPROTOCOL, "the master asks for items that the job does not have");
	return dlsi_worker_rows_init(&task->rows, task->job, task->task.first, task->task.count, &task->why);
}

/* A task that would fill the memory, which is what a stranger can ask for in a few bytes, gets no room. */
static int take_room(
	struct task *task, struct dlsi_worker_room *room, uint64_t bytes, uint64_t *taken_out, const char *what)
{
	const struct dls_worker *worker = task->worker;
	uint64_t most = worker->topology.memory_bytes / 2;
	struct dlsi_list *node = &task->waiter.node;
	bool its_turn = dlsi_list_empty(&room->waiting) || room->waiting.next == node;

	if (most && bytes > most) /* 0: nobody knows */
		return dlsi_fail(&task->why, DLS_ELIMIT,
			"the %s of one task have %" PRIu64 " bytes, and the worker %s may use %" PRIu64
			"; give the job smaller tasks (task_items)",
			what, bytes, worker->name, most);
	if (!its_turn || (room->bytes && room->bytes + bytes > DLSI_PREFETCH_BYTES)) {
		if (dlsi_list_empty(node))
			dlsi_list_append(&room->waiting, node);
		return 1;
	}
	dlsi_list_remove(node);
	*taken_out = bytes;
	room->bytes += bytes;
	return 0;
}

static int need_page_room(struct task *task)
{
	uint64_t bytes = dlsi_worker_rows_bytes(&task->rows);

	return take_room(task, &task->worker->page_room, bytes, &task->page_bytes, "pages");
}

static int need_pages(struct task *task)
{
	if (!dlsi_worker_rows_get(&task->rows, &task->waiter))
		return 1;
	return dlsi_worker_rows_add(&task->rows, &task->task.inputs) ? dlsi_fail_memory(&task->why) : 0;
}

static int need_model(struct task *task)
{
	int rc;

	if (task->job->handler)
		return 0;
	rc = dlsi_worker_model_hold(task->job, &task->waiter, &task->model, &task->why);
	if (rc > 0 && !task->model_asked_ns)
		task->model_asked_ns = dlsi_clock_monotonic_ns();
	else if (rc == 0 && task->model_asked_ns)
		task->load_ns = (uint64_t)(dlsi_clock_monotonic_ns() - task->model_asked_ns);
	return rc;
}

static int need_input_room(struct task *task)
{
	const struct dls_worker *worker = task->worker;

	if (worker->topology.memory_bytes)
		dlsi_task_inputs_limit(&task->task.inputs, worker->topology.memory_bytes / 2, worker->name);
	return take_room(task, &task->worker->input_room, task->task.inputs.bytes, &task->input_bytes, "inputs");
}

static int need_inputs(struct task *task)
{
	return !dlsi_worker_reads_get(&task->reads);
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

	if (dlsi_task_is_dropped(&task->task)) {
		end_early(task);
		return;
	}
	for (; task->stage < AT_EXECUTOR && rc == 0; task->stage += rc == 0)
		rc = task->why.code ? 0 : needs[task->stage](task);
	if (rc > 0)
		return;
	dlsi_list_remove(&task->waiter.node); /* it waits for nothing any more */
	task->stage = AT_EXECUTOR;            /* also to say why it cannot be run */
	dlsi_executor_submit(task->worker->devices[task->device].executor, &task->work);
}

static void look(struct dlsi_waiter *waiter)
{
	go_on(dlsi_list_entry(waiter, struct task, waiter));
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
	task->task.limit_ns = job->spec.item_time_limit_ms * task->task.count * DLSI_MILLISECOND_NS;
	task->why = job->refused;
	task->work.run = run;
	dlsi_list_init(&task->work.node);
	task->errand.run = end;
	dlsi_waiter_init(&task->waiter, look);
	dlsi_worker_reads_init(&task->reads, job, &task->task.inputs, &task->waiter);
	dlsi_buffer_init(&task->page, alloc);
	dlsi_buffer_init(&task->again, alloc);
	dlsi_list_append(&worker->tasks, &task->node);
	dlsi_dialer_begin(&worker->dialer);
	go_on(task);
	return 0;
}

static void cancel(struct task *task)
{
	atomic_store_explicit(&task->task.cancelled, true, memory_order_relaxed);
	if (task->stage >= AT_EXECUTOR)
		return;
	dlsi_worker_reads_cancel(&task->reads);
	if (!task->reads.under_way)
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

void dlsi_worker_task_recall(struct dls_worker *worker, uint64_t attempt, bool running)
{
	dlsi_list_each (node, &worker->tasks) {
		struct task *task = dlsi_list_entry(node, struct task, node);

		if (task->task.attempt != attempt || task->stage == OVER)
			continue;
		if (task->stage < AT_EXECUTOR) {
			cancel(task);
		} else if (dlsi_executor_withdraw(worker->devices[task->device].executor, &task->work)) {
			cancel(task);
			end_early(task);
		} else if (running) {
			atomic_store_explicit(&task->task.recalled, true, memory_order_relaxed);
		}
	}
}

void dlsi_worker_task_cancel_all(struct dls_worker *worker)
{
	dlsi_list_each (node, &worker->tasks)
		cancel(dlsi_list_entry(node, struct task, node));
}
