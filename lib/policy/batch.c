#include "policy/batch.h"

void dlsi_batch_init(struct dlsi_batch *batch, const struct dlsi_alloc *alloc, dlsi_batch_ask *ask)
{
	dlsi_ordered_init(&batch->ordered, alloc);
	batch->ask = ask;
}

/* ---- what it sees */

static void see_job(
	struct dlsi_batch_queue *queue, size_t i, const struct dlsi_policy_view *view, struct dlsi_policy_job *job)
{
	dlsi_hex(job->id.bytes, DLSI_ID_BYTES, queue->ids[i]);
	queue->jobs[i] = job;
	queue->seen_jobs[i] = (struct dls_policy_job){
		.number = job->place.order,
		.id = queue->ids[i],
		.priority = job->priority,
		.since_ns = job->since_ns,
		.deadline_ns = job->deadline_ns,
		.ready = job->ready,
		.running = view->running(view->view_arg, job),
	};
	queue->job_list[i] = &queue->seen_jobs[i];
}

/* The first jobs of a queue, which stay in it. */
static size_t see_jobs(
	struct dlsi_batch_queue *to, const struct dlsi_policy_view *view, struct dlsi_policy_queue *queue)
{
	size_t count = 0;
	struct dlsi_policy_job *first;
	int64_t keys[DLSI_BATCH_JOBS];

	while (count < DLSI_BATCH_JOBS && (first = dlsi_ordered_first(queue))) {
		keys[count] = dlsi_heap_due(&queue->jobs, &first->place);
		see_job(to, count++, view, first);
		dlsi_heap_remove(&queue->jobs, &first->place);
	}
	for (size_t i = 0; i < count; i++) /* cannot fail: it was there */
		dlsi_heap_set(&queue->jobs, &to->jobs[i]->place, keys[i]);
	return count;
}

static size_t see_devices(
	struct dlsi_batch_queue *to, const struct dlsi_policy_view *view, const struct dlsi_policy_queue *queue)
{
	size_t count = view->candidates(view->view_arg, queue, to->devices, DLSI_BATCH_DEVICES);

	for (size_t i = 0; i < count; i++) {
		const struct dlsi_policy_device *device = to->devices[i];
		struct dlsi_policy_expectation expected = view->expect(view->view_arg, queue, device);

		to->seen_devices[i] = (struct dls_policy_device){
			.number = device->number,
			.name = device->name,
			.worker = device->worker,
			.held = device->held,
			.credits = device->credits,
			.wait_ns = expected.wait_ns,
			.item_ns = expected.item_ns,
			.load_ns = expected.load_ns,
		};
		to->device_list[i] = &to->seen_devices[i];
	}
	return count;
}

/* False: no device can take one of it now. */
static bool see_queue(struct dlsi_batch_queue *to, const struct dlsi_policy_view *view, struct dlsi_policy_queue *queue)
{
	const struct dlsi_policy_tenant *tenant = queue->tenant;

	to->queue = queue;
	to->seen = (struct dls_policy_queue){
		.tenant = tenant->name,
		.weight = tenant->weight,
		.share = dlsi_resources_dominant(&tenant->used, view->total),
		.handler = queue->class->handler,
		.jobs = to->job_list,
		.devices = to->device_list,
		.device_count = see_devices(to, view, queue),
	};
	if (to->seen.device_count)
		to->seen.job_count = see_jobs(to, view, queue);
	return to->seen.device_count;
}

/* Those that it has looked at come last the next time. */
static void look(struct dlsi_batch *batch, const struct dlsi_policy_view *view)
{
	struct dlsi_list visited;

	batch->queue_count = 0;
	dlsi_list_init(&visited);
	dlsi_list_each (node, &batch->ordered.queues) {
		struct dlsi_batch_queue *queue = &batch->queues[batch->queue_count];

		if (batch->queue_count == DLSI_BATCH_QUEUES)
			break;
		dlsi_list_remove(node);
		dlsi_list_append(&visited, node);
		if (see_queue(queue, view, dlsi_list_entry(node, struct dlsi_policy_queue, node)))
			batch->list[batch->queue_count++] = &queue->seen;
	}
	dlsi_list_move(&visited, &batch->ordered.queues);
}

/* ---- what it answers */

static struct dlsi_policy_device *find_device(const struct dlsi_batch_queue *queue, uint64_t number)
{
	for (size_t i = 0; i < queue->seen.device_count; i++)
		if (queue->devices[i]->number == number)
			return queue->devices[i];
	return NULL;
}

static struct dlsi_policy_job *find_job(
	const struct dlsi_batch *batch, uint64_t number, const struct dlsi_batch_queue **queue_out)
{
	for (size_t i = 0; i < batch->queue_count; i++)
		for (size_t j = 0; j < batch->queues[i].seen.job_count; j++)
			if (batch->queues[i].jobs[j]->place.order == number) {
				*queue_out = &batch->queues[i];
				return batch->queues[i].jobs[j];
			}
	return NULL;
}

static int take(struct dlsi_batch *batch, const struct dls_policy_choice *choices, size_t count, struct dls_error *err)
{
	const struct dlsi_batch_queue *queue;

	for (size_t i = 0; i < count; i++) {
		struct dlsi_policy_job *job = find_job(batch, choices[i].job, &queue);
		struct dlsi_policy_device *device = job ? find_device(queue, choices[i].device) : NULL;

		if (!job)
			return dlsi_fail(err, DLS_EINVAL, "choice %zu: its first is no job of the view", i + 1);
		if (!device)
			return dlsi_fail(
				err, DLS_EINVAL, "choice %zu: its second is no device of the job's queue", i + 1);
		batch->choices[i] = (struct dlsi_policy_choice){job, device, choices[i].items};
	}
	batch->choice_count = count;
	return 0;
}

static int ask(struct dlsi_batch *batch, int64_t now_ns, struct dls_error *err)
{
	struct dls_policy_view view = {.now_ns = now_ns, .queues = batch->list, .queue_count = batch->queue_count};
	struct dls_policy_choice choices[DLSI_BATCH_CHOICES];
	int count = batch->ask(batch, &view, choices, DLSI_BATCH_CHOICES, err);

	return count < 0 ? count : take(batch, choices, (size_t)count, err);
}

int dlsi_batch_try(struct dlsi_batch *batch, struct dls_error *err)
{
	return ask(batch, 0, err);
}

static void begin_turn(struct dlsi_batch *batch, const struct dlsi_policy_view *view)
{
	batch->turn = view->turn;
	batch->choice_count = batch->next = batch->given = 0;
	look(batch, view);
	if (batch->queue_count)
		ask(batch, view->now_ns, &batch->failure);
}

bool dlsi_batch_choose(void *arg, const struct dlsi_policy_view *view, struct dlsi_policy_choice *choice_out)
{
	struct dlsi_batch *batch = arg;

	if (batch->turn != view->turn)
		begin_turn(batch, view);
	while (batch->next < batch->choice_count) {
		const struct dlsi_policy_choice *choice = &batch->choices[batch->next++];

		if (!choice->job->place.place || !view->can_take(view->view_arg, choice->job->queue, choice->device))
			continue;
		batch->given++;
		*choice_out = *choice;
		return true;
	}
	return false;
}

int dlsi_batch_excuse(void *arg, struct dls_error *err)
{
	const struct dlsi_batch *batch = arg;

	if (batch->failure.code && err)
		*err = batch->failure;
	return batch->failure.code ? batch->failure.code : batch->given ? DLSI_POLICY_MORE : 0;
}
