/* Tasks of the master: items at a worker, then their result on its way to the sink. */
#include "core/again.h"
#include "core/master_kept.h"
#include "core/master_moves.h"
#include "core/master_times.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static struct dlsi_id key_of(uint64_t attempt)
{
	return dlsi_map_key(0, attempt);
}

struct task *dlsi_task_find(const struct dlsi_master *master, uint64_t attempt)
{
	struct dlsi_id key = key_of(attempt);

	return dlsi_map_get(&master->task_by_attempt, &key);
}

static bool move(struct dlsi_master *master, struct task *task, enum dlsi_task_state next)
{
	return dlsi_lifecycle_set(DLSI_LIFECYCLE_TASK, &task->state, (uint8_t)next, &master->refused_transitions);
}

static void post_job(struct dlsi_master *master, struct peer *peer, const struct job *job)
{
	const struct client *client = job->client;
	struct dlsi_record record = {.kind = DLSI_JOB};

	record.job = (struct dlsi_job_record){
		.job = job->policy.id,
		.token = job->token,
		.frames = job->manifest != 0,
		.count = job->count,
		.manifest = dlsi_job_extras(job)->manifest_blob,
		.manifest_head = job->manifest_head,
		.holder = dlsi_text_of(client ? client->data_endpoint : ""),
		.holder_host = dlsi_text_of(client ? client->host : ""),
		.spec = {job->spec->json, job->spec->length},
	};
	dlsi_master_post(master, peer, &record, dlsi_job_manifest(job));
}

static void post_assign(struct dlsi_master *master, const struct task *task)
{
	struct dlsi_record record = {.kind = DLSI_ASSIGN};

	record.assign = (struct dlsi_assign){
		.job = task->job->policy.id,
		.attempt = task->attempt,
		.first = task->first,
		.end = task->end,
		.device = task->device->index,
	};
	dlsi_master_post(master, task->device->worker->peer, &record, (struct dlsi_payload){0});
}

static struct task *create(struct dlsi_master *master, struct job *job, struct device *device, struct dlsi_range range)
{
	struct task *task = dlsi_calloc(master->alloc, 1, sizeof *task);
	struct dlsi_id key = key_of(master->next_attempt);

	if (!task || dlsi_map_put(&master->task_by_attempt, &key, task)) {
		dlsi_free(master->alloc, task);
		return NULL;
	}
	task->attempt = master->next_attempt++;
	task->job = job;
	task->device = device;
	task->first = range.first;
	task->end = range.end;
	task->given_ns = master->now_ns;
	dlsi_list_append(&job->run->tasks, &task->job_node);
	job->run->task_count++;
	dlsi_list_append(&device->worker->tasks, &task->worker_node);
	return task;
}

/* A task of these items, at the device. NULL: memory is exhausted. */
static struct task *give(struct dlsi_master *master, struct job *job, struct device *device, struct dlsi_range range)
{
	struct worker *worker = device->worker;
	struct task *task;
	bool known;

	if (!dlsi_master_acquaint(master, worker, job, &known))
		return NULL;
	if (!known)
		post_job(master, worker->peer, job);
	task = create(master, job, device, range);
	if (!task)
		return NULL;
	task->planned_ns = dlsi_task_expected_ns(task, device);
	if (!dlsi_device_hold(master, device, dlsi_job_queue(job), task->planned_ns))
		return NULL;
	move(master, task, DLSI_TASK_ASSIGNED);
	job->run->traffic.passed += known ? 0 : dlsi_job_manifest(job).bytes;
	post_assign(master, task);
	dlsi_master_review_later(master);
	return task;
}

bool dlsi_task_assign(struct dlsi_master *master, struct job *job, struct device *device, struct dlsi_range range)
{
	if (!give(master, job, device, range))
		return false;
	job->run->running += range.end - range.first;
	return true;
}

void dlsi_task_repeat(struct dlsi_master *master, struct task *task, struct device *device)
{
	struct task *twin = give(master, task->job, device, (struct dlsi_range){task->first, task->end});

	if (!twin) {
		master->failed = true;
		return;
	}
	task->second = false; /* it may have been once, of a pair whose first attempt is lost */
	twin->second = true;
	twin->twin = task;
	task->twin = twin;
	master->pairs++;
	master->second_runs++;
	task->job->run->second_runs++;
}

int64_t dlsi_task_began_ns(const struct task *front)
{
	int64_t turned_ns = front->device->turned_ns;

	return turned_ns > front->given_ns ? turned_ns : front->given_ns;
}

/* What a result takes here until its sink has it, all together and for the client that has still to confirm it. */
static uint64_t cost(const struct task *task)
{
	return DLSI_HELD_RESULT_BYTES + task->payload.bytes + 8 * (uint64_t)task->result.again.count;
}

/* Items that it settles if its result arrives. */
static uint64_t final_items(const struct task *task)
{
	return task->end - task->first - dlsi_again_items(&task->result.again);
}

static void hold(struct dlsi_master *master, const struct task *task)
{
	master->held_bytes += cost(task);
	if (!task->job->durable)
		dlsi_client_hold(master, task->job->client, cost(task), !task->payload.handle);
}

static void unhold(struct dlsi_master *master, const struct task *task)
{
	master->held_bytes -= cost(task);
	if (!task->job->durable)
		dlsi_client_unhold(master, task->job->client, cost(task), !task->payload.handle);
}

/* It leaves the tables; whoever calls has settled its items. */
static void destroy(struct dlsi_master *master, struct task *task)
{
	struct dlsi_id key = key_of(task->attempt);

	if (task->twin) {
		task->twin->twin = NULL;
		master->pairs--;
	}
	dlsi_map_remove(&master->task_by_attempt, &key);
	dlsi_list_remove(&task->job_node);
	task->job->run->task_count--;
	dlsi_list_remove(&task->worker_node);
	if (task->origin)
		unhold(master, task);
	dlsi_releases_add(&master->releases, task->payload);
	dlsi_origin_unref(master, task->origin);
	dlsi_again_free(master->alloc, &task->result.again);
	dlsi_free(master->alloc, task);
}

/* The worker may let go of an offered result. */
static void confirm_offer(struct dlsi_master *master, const struct task *task)
{
	if (task->device && !task->payload.handle)
		dlsi_worker_confirm(master, task->device->worker, task->attempt);
}

/* What the client is told of the result: as the worker says it, but for who the worker is. */
static void keep_result(
	struct dlsi_master *master, struct task *task, const struct dlsi_result *record, struct origin *origin)
{
	task->result = *record;
	dlsi_job_fail_items(master, task->job, &record->again, &task->result.again);
	task->result.worker = dlsi_text_of(origin->name);
	task->result.holder = dlsi_text_of(record->frames ? "" : origin->data_endpoint);
	task->result.holder_host = dlsi_text_of(record->frames ? "" : origin->host);
	task->origin = origin;
	origin->uses++;
}

/* What the result says that its task has moved. */
static void count_traffic(struct traffic *traffic, const struct dlsi_result *record, bool passed)
{
	traffic->read += record->read_bytes;
	*(passed ? &traffic->passed : &traffic->direct) += record->bytes;
	traffic->items += record->end - record->first;
}

/* The device is done with it, and runs the next one from now on if this was in front. */
static void leave_device(struct dlsi_master *master, const struct task *task)
{
	struct device *device = task->device;

	if (dlsi_device_front(device) == task) {
		device->turned_ns = master->now_ns;
		device->relieved = false;
	}
	dlsi_device_free(master, device, dlsi_job_queue(task->job), task->planned_ns);
}

/* How long the device has taken for it, which it runs, or 0. */
static uint64_t ran_ns(const struct dlsi_master *master, const struct task *task)
{
	return dlsi_device_front(task->device) == task ? (uint64_t)(master->now_ns - dlsi_task_began_ns(task)) : 0;
}

/* Before its own time counts. */
static void note_lateness(const struct dlsi_master *master, const struct task *task)
{
	uint64_t took_ns = ran_ns(master, task), expected_ns = dlsi_task_expected_ns(task, task->device);

	if (took_ns && expected_ns)
		dlsi_lateness_add(&task->job->spec->class->lateness, took_ns, expected_ns);
}

/* The other attempt at the same items has a result first. Its device has taken so long at least, and would else be
 * taken for as fast as it once was. */
static void call_off(struct dlsi_master *master, struct task *task, uint64_t bytes)
{
	struct device *device = task->device;
	struct dlsi_record record = {.kind = DLSI_CANCEL};
	uint64_t took_ns = ran_ns(master, task);

	record.cancel.job = task->job->policy.id;
	record.cancel.attempt = task->attempt;
	if (device->worker->peer)
		dlsi_master_post(master, device->worker->peer, &record, (struct dlsi_payload){0});
	if (took_ns > dlsi_task_expected_ns(task, device))
		dlsi_device_measure(device, task->job->spec->class, task->end - task->first, took_ns, bytes);
	master->second_wins += !task->second;
	dlsi_task_drop(master, task, false);
}

/* The result has come: it counts for the device, and is kept here or stays offered by the worker. */
static void take_in(
	struct dlsi_master *master, struct task *task, const struct dlsi_result *record, struct dlsi_payload payload)
{
	struct device *device = task->device;
	uint64_t items = task->end - task->first;

	move(master, task, DLSI_TASK_RETURNED);
	note_lateness(master, task);
	dlsi_device_measure(device, task->job->spec->class, items, record->elapsed_ns, record->bytes);
	dlsi_service_load(master, dlsi_device_service(device, task->job->spec->class), record->load_ns);
	leave_device(master, task);
	master->done_tasks++;
	dlsi_measured_add(&task->job->spec->measured, items, record->elapsed_ns, record->bytes);
	task->job->run->running -= items;
	keep_result(master, task, record, device->worker->origin);
	task->job->run->returned += final_items(task);
	device->worker->done_items += final_items(task);
	dlsi_usage_result(task->job, record);
	count_traffic(&task->job->run->traffic, record, payload.handle != 0);
	count_traffic(&device->worker->traffic, record, payload.handle != 0);
	task->payload = payload;
	hold(master, task);
	dlsi_list_remove(&task->worker_node);
	if (!payload.handle) {
		dlsi_list_append(&device->worker->offers, &task->worker_node);
		return;
	}
	dlsi_worker_confirm(master, device->worker, task->attempt);
	task->device = NULL;
}

/* Whether the result is one of what was assigned, all of it or its first items, and is either here or offered. */
static bool fits(const struct task *task, const struct dlsi_result *record, struct dlsi_payload payload)
{
	if (!dlsi_id_equal(&task->job->policy.id, &record->job) || task->first != record->first ||
		record->end <= task->first || record->end > task->end || record->bytes > DLSI_RESULT_PAGE_BYTES ||
		!dlsi_again_is_sound(&record->again, record->first, record->end))
		return false;
	return payload.handle ? payload.bytes <= DLSI_INLINE_BYTES && record->bytes == payload.bytes
			      : record->offer.length && record->bytes == record->offer.length;
}

/* What the log cannot keep is run again in smaller tasks, if that can help. */
static void refuse_offer(struct dlsi_master *master, struct task *task)
{
	struct job *job = task->job;
	uint64_t items = task->end - task->first, bytes = task->result.bytes;
	char sentence[DLSI_SENTENCE_BYTES + 1];

	if (items > 1) {
		dlsi_job_kept(job)->most_items = items / 2;
		dlsi_task_drop(master, task, true);
		return;
	}
	snprintf(sentence, sizeof sentence,
		"the result of item %" PRIu64 " has %" PRIu64 " bytes, and a master keeps at most %d of each for a "
		"detached job; submit the job with a client that waits for it",
		task->first, bytes, DLSI_INLINE_BYTES);
	dlsi_task_drop(master, task, false);
	dlsi_job_end(master, job, DLSI_JOB_FAILED, DLS_ELIMIT, sentence);
}

/* One record of the log, since one page goes with it. */
static void commit_durable(struct dlsi_master *master, struct task *task)
{
	struct dlsi_change change = {.kind = DLSI_CHANGE_ITEMS, .job = task->job->policy.id};

	if (!task->payload.handle) {
		refuse_offer(master, task);
		return;
	}
	change.items.first = task->first;
	change.items.end = task->end;
	change.items.again = task->result.again;
	change.items.elapsed_ns = task->result.elapsed_ns;
	change.items.failed = task->result.failed;
	change.items.worker = task->result.worker;
	dlsi_job_change(master, task->job, &change, task, task->payload);
}

bool dlsi_task_commit(struct dlsi_master *master, struct task *task)
{
	struct job *job = task->job;
	struct dlsi_change change = {.kind = DLSI_CHANGE_ITEMS, .job = job->policy.id};
	struct dlsi_finals finals = {.result = &task->result, .at = task->first};
	struct dlsi_range range, next;
	bool more = dlsi_finals_next(&finals, &next), lives = true;

	while (more && lives) {
		range = next;
		more = dlsi_finals_next(&finals, &next);
		change.items.first = range.first;
		change.items.end = range.end;
		lives = dlsi_job_change(master, job, &change, more ? NULL : task, (struct dlsi_payload){0});
	}
	return lives;
}

/* What becomes of a result that has come. */
static void pass_on(struct dlsi_master *master, struct task *task)
{
	struct job *job = task->job;

	if (!final_items(task)) {
		dlsi_task_drop(master, task, false);
	} else if (job->durable) {
		commit_durable(master, task);
		return;
	} else {
		dlsi_client_send_result(master, task);
	}
	dlsi_job_refresh(master, job);
}

/* The worker has stopped before it: the items from there on go back. */
static void shorten(struct dlsi_master *master, struct task *task, uint64_t end)
{
	uint64_t whole = task->end;

	task->end = end;
	task->job->run->running -= whole - end;
	task->job->run->moves++;
	dlsi_job_give_back(master, task->job, end, whole);
}

/* Of an attempt that is not the worker's any more, or was answered: the client may not have fetched that yet. */
static void refuse_result(
	struct dlsi_master *master, struct worker *worker, uint64_t attempt, struct dlsi_payload payload, bool ours)
{
	dlsi_releases_add(&master->releases, payload);
	if (ours)
		return;
	master->unwanted_results++;
	dlsi_worker_confirm(master, worker, attempt);
}

/* The result of what a worker has of the task: all of it, or its first items. */
static void accept(
	struct dlsi_master *master, struct task *task, const struct dlsi_result *record, struct dlsi_payload payload)
{
	struct dlsi_result result = *record;
	uint64_t most_ns = (uint64_t)(master->now_ns - task->given_ns);

	if (record->end < task->end)
		shorten(master, task, record->end);
	if (task->twin)
		call_off(master, task->twin, record->bytes);
	if (result.elapsed_ns > most_ns) /* whatever it says */
		result.elapsed_ns = most_ns;
	take_in(master, task, &result, payload);
	pass_on(master, task);
}

bool dlsi_task_result(struct dlsi_master *master, struct worker *worker, const struct dlsi_result *record,
	struct dlsi_payload payload)
{
	struct task *task = dlsi_task_find(master, record->attempt);
	bool ours = task && task->device && task->device->worker == worker;

	if (!ours || task->state != DLSI_TASK_ASSIGNED) {
		refuse_result(master, worker, record->attempt, payload, ours);
		return true;
	}
	if (!fits(task, record, payload))
		return false;
	if (task->twin && record->end < task->end) { /* the other attempt goes on with all of it */
		dlsi_task_drop(master, task, true);
		refuse_result(master, worker, record->attempt, payload, false);
		return true;
	}
	accept(master, task, record, payload);
	return true;
}

uint64_t dlsi_task_expected_ns(const struct task *task, const struct device *device)
{
	const struct service *service = dlsi_device_service(device, task->job->spec->class);
	uint64_t own_ns = service ? service->measured.item_ns : 0;

	return (own_ns ? own_ns : task->job->spec->measured.item_ns) * (task->end - task->first);
}

struct dlsi_payload dlsi_task_surrender(struct dlsi_master *master, struct task *task)
{
	struct dlsi_payload payload = task->payload;

	master->held_bytes -= payload.bytes;
	task->payload = (struct dlsi_payload){0};
	return payload;
}

bool dlsi_task_is_done(const struct task *task)
{
	struct dlsi_finals finals = {.result = &task->result, .at = task->first};
	struct dlsi_range range;

	while (dlsi_finals_next(&finals, &range))
		if (dlsi_ranges_first_missing(&task->job->run->done, range.first) < range.end)
			return false;
	return true;
}

/* Final ones. */
static uint64_t failed_items(const struct task *task)
{
	uint64_t items = final_items(task), again = dlsi_again_items(&task->result.again);
	uint64_t failed = task->result.failed > again ? task->result.failed - again : 0;

	return failed < items ? failed : items;
}

void dlsi_task_taken(struct dlsi_master *master, struct task *task)
{
	move(master, task, DLSI_TASK_TAKEN);
	task->job->run->returned -= final_items(task);
	task->job->run->failed_items += failed_items(task);
	dlsi_usage_items(task->job, final_items(task), failed_items(task));
	confirm_offer(master, task);
	destroy(master, task);
}

static void give_back_finals(struct dlsi_master *master, const struct task *task)
{
	struct dlsi_finals finals = {.result = &task->result, .at = task->first};
	struct dlsi_range range;

	while (dlsi_finals_next(&finals, &range))
		dlsi_job_give_back(master, task->job, range.first, range.end);
}

void dlsi_task_drop(struct dlsi_master *master, struct task *task, bool give_back)
{
	struct job *job = task->job;
	uint64_t first = task->first, end = task->end;
	bool alone = !task->twin; /* else the items are the other's from now on */

	if (task->state == DLSI_TASK_ASSIGNED) {
		job->run->running -= alone ? end - first : 0;
		leave_device(master, task);
	} else {
		job->run->returned -= final_items(task);
		confirm_offer(master, task);
		if (give_back)
			give_back_finals(master, task);
		give_back = false;
	}
	move(master, task, DLSI_TASK_DROPPED);
	destroy(master, task);
	if (give_back && alone)
		dlsi_job_give_back(master, job, first, end);
}
