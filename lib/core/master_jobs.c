/* Jobs of the master: which items are to be given out, which are done, and how a job ends. */
#include "core/again.h"
#include "core/master_kept.h"
#include "core/master_news.h"
#include "core/master_places.h"
#include "core/master_times.h"

#include <string.h>

struct job *dlsi_job_find(const struct dlsi_master *master, const struct dlsi_id *id)
{
	return dlsi_index_get(&master->job_by_id, id);
}

const struct run dlsi_run_none = {
	.window_end = UINT64_MAX,
	.tasks = {(struct dlsi_list *)&dlsi_run_none.tasks, (struct dlsi_list *)&dlsi_run_none.tasks},
	.workers = {(struct dlsi_list *)&dlsi_run_none.workers, (struct dlsi_list *)&dlsi_run_none.workers},
};

const struct extras dlsi_extras_none = {
	.followers = {(struct dlsi_list *)&dlsi_extras_none.followers, (struct dlsi_list *)&dlsi_extras_none.followers},
	.decided = {(struct dlsi_list *)&dlsi_extras_none.decided, (struct dlsi_list *)&dlsi_extras_none.decided},
};

uint64_t dlsi_job_window_bytes(const struct job *job)
{
	if (job->run)
		return job->run->window_bytes;
	return job->client && !job->durable ? job->client->window_bytes : UINT64_MAX;
}

struct run *dlsi_job_begin(struct dlsi_master *master, struct job *job)
{
	struct run *run = job->run;

	if (run)
		return run;
	run = dlsi_calloc(master->alloc, 1, sizeof *run);
	if (!run)
		return NULL;
	dlsi_ranges_init(&run->done, master->alloc);
	dlsi_ranges_init(&run->retry, master->alloc);
	dlsi_list_init(&run->tasks);
	dlsi_list_init(&run->workers);
	run->window_end = dlsi_run_none.window_end;
	run->window_bytes = dlsi_job_window_bytes(job);
	return job->run = run;
}

struct extras *dlsi_job_extend(struct dlsi_master *master, struct job *job)
{
	struct extras *extras = job->extras;

	if (extras)
		return extras;
	extras = dlsi_calloc(master->alloc, 1, sizeof *extras);
	if (!extras)
		return NULL;
	extras->job = job;
	extras->limit.kind = TIMER_JOB_LIMIT;
	extras->released_ns = job->policy.since_ns;
	extras->asked = job->token;
	dlsi_list_init(&extras->followers);
	dlsi_list_init(&extras->decided);
	return job->extras = extras;
}

static void free_parts(struct dlsi_master *master, struct job *job)
{
	if (job->run) {
		dlsi_ranges_fini(&job->run->done);
		dlsi_ranges_fini(&job->run->retry);
		dlsi_free(master->alloc, job->run);
	}
	if (job->extras) {
		dlsi_kept_destroy(master, job->extras->kept);
		dlsi_free(master->alloc, job->extras->about);
		dlsi_free(master->alloc, job->extras);
	}
}

void dlsi_job_set_window(struct dlsi_master *master, struct job *job, uint64_t end, uint64_t bytes)
{
	if (!job->run && end >= job->count && bytes == dlsi_job_window_bytes(job))
		return;
	if (!dlsi_job_begin(master, job)) {
		master->failed = true;
		return;
	}
	job->run->window_end = end;
	job->run->window_bytes = bytes;
}

uint64_t dlsi_job_waiting(const struct job *job)
{
	const struct run *run = dlsi_job_run(job);

	return job->count - run->done_items - run->running - run->returned;
}

struct job *dlsi_job_create(
	struct dlsi_master *master, const struct dlsi_id *id, struct spec *spec, struct tenant *tenant, uint64_t count)
{
	struct job *job = dlsi_calloc(master->alloc, 1, sizeof *job);
	struct queue *queue = job ? dlsi_queue_join(master, spec->class, tenant) : NULL;

	if (job)
		job->policy.id = *id;
	if (!queue || dlsi_index_add(&master->job_by_id, job)) {
		if (queue)
			dlsi_queue_leave(master, queue);
		dlsi_free(master->alloc, job);
		return NULL;
	}
	job->policy.place.order = master->next_number++;
	job->policy.queue = &queue->policy;
	job->policy.since_ns = master->now_ns;
	job->policy.deadline_ns = INT64_MAX;
	job->spec = spec;
	job->count = count;
	master->job_bytes += DLSI_JOB_BYTES;
	dlsi_list_init(&job->client_node);
	dlsi_list_init(&job->change_node);
	dlsi_list_append(&master->jobs, &job->node);
	return job;
}

void dlsi_job_withdraw(struct dlsi_master *master, struct job *job)
{
	const struct exchange *exchange = &master->exchange;

	if (job->offered)
		job->spec->class->ready -= job->policy.ready;
	if (job->offered && exchange->leaving)
		exchange->from.ops->idle(exchange->from.policy, &job->policy);
	else if (job->offered)
		master->policy_ops->idle(master->policy, &job->policy);
	job->offered = false;
}

/* Tells the workers and drops what they run or hold of it. */
static void forget(struct dlsi_master *master, struct job *job)
{
	struct dlsi_record record = {.kind = DLSI_FORGET};

	record.forget.job = job->policy.id;
	dlsi_job_withdraw(master, job);
	if (!job->run)
		return;
	dlsi_list_each (node, &job->run->tasks)
		dlsi_task_drop(master, dlsi_list_entry(node, struct task, job_node), false);
	dlsi_list_each (node, &job->run->workers) {
		struct acquaintance *acquaintance = dlsi_list_entry(node, struct acquaintance, job_node);

		if (acquaintance->worker->peer)
			dlsi_master_post(master, acquaintance->worker->peer, &record, (struct dlsi_payload){0});
		dlsi_master_part(master, acquaintance);
	}
}

bool dlsi_job_keep_manifest(struct dlsi_master *master, struct job *job, struct dlsi_payload manifest,
	const struct dlsi_blob *blob, uint32_t head)
{
	if (blob->length && !dlsi_job_extend(master, job))
		return false;
	if (blob->length)
		job->extras->manifest_blob = *blob;
	job->manifest = manifest.handle;
	job->manifest_bytes = (uint32_t)manifest.bytes;
	job->manifest_head = head;
	master->job_bytes += manifest.bytes;
	return true;
}

uint64_t dlsi_job_bytes(const struct job *job)
{
	return DLSI_JOB_BYTES + job->manifest_bytes + dlsi_job_extras(job)->about_bytes;
}

struct dlsi_payload dlsi_job_manifest(const struct job *job)
{
	return (struct dlsi_payload){job->manifest, job->manifest_bytes};
}

/* It does not count for its client any more. */
static void settle(struct dlsi_master *master, const struct job *job)
{
	size_t ranges = dlsi_job_run(job)->done.count;

	master->done_ranges -= ranges;
	job->client->job_count--;
	job->client->job_bytes -= dlsi_job_bytes(job);
	job->client->done_ranges -= ranges;
}

void dlsi_job_destroy(struct dlsi_master *master, struct job *job)
{
	job->ending = true; /* nothing of it is given out any more, whatever becomes free now */
	if (job->extras)
		dlsi_master_stop_timer(master, &job->extras->limit);
	dlsi_job_unfollow(master, job);
	forget(master, job);
	dlsi_job_free_retries(master, job);
	dlsi_index_remove(&master->job_by_id, job);
	if (master->exchange.next == &job->node)
		master->exchange.next = job->node.next;
	dlsi_list_remove(&job->node);
	dlsi_client_part(job);
	dlsi_list_remove(&job->change_node);
	master->job_bytes -= dlsi_job_bytes(job);
	if (!job->durable)
		settle(master, job);
	dlsi_queue_leave(master, dlsi_job_queue(job));
	dlsi_spec_unref(master, job->spec);
	dlsi_releases_add(&master->releases, dlsi_job_manifest(job));
	free_parts(master, job);
	dlsi_free(master->alloc, job);
}

/* Who watches is told of it. */
static void note_change(struct dlsi_master *master, struct job *job)
{
	job->change = ++master->changes;
	dlsi_list_remove(&job->change_node);
	dlsi_list_append(&master->changed, &job->change_node);
}

static uint64_t note_range(struct dlsi_master *master, struct job *job, struct dlsi_range items)
{
	struct run *run = dlsi_job_begin(master, job);
	size_t ranges = run ? run->done.count : 0;
	uint64_t added = 0;

	if (!run || dlsi_ranges_add(&run->done, items.first, items.end, &added)) {
		master->failed = true;
		return 0;
	}
	run->done_items += added;
	dlsi_job_settle_retries(master, job, items.first, items.end);
	if (!job->durable) {
		job->client->done_ranges += run->done.count - ranges;
		master->done_ranges += run->done.count - ranges;
	}
	return added;
}

/* What is final of them. Returns how many are done that were not before. */
static uint64_t note_items(struct dlsi_master *master, struct job *job, const struct dlsi_change *change)
{
	struct dlsi_result result = {
		.first = change->items.first, .end = change->items.end, .again = change->items.again};
	struct dlsi_finals finals = {.result = &result, .at = result.first};
	struct dlsi_range range;
	uint64_t added = 0;

	while (dlsi_finals_next(&finals, &range))
		added += note_range(master, job, range);
	return added;
}

uint64_t dlsi_job_apply(struct dlsi_master *master, struct job *job, const struct dlsi_change *change)
{
	uint64_t added = 0;

	note_change(master, job);
	switch (change->kind) {
	case DLSI_CHANGE_SUBMIT:
		dlsi_lifecycle_set(DLSI_LIFECYCLE_JOB, &job->state, DLSI_JOB_ACTIVE, &master->refused_transitions);
		break;
	case DLSI_CHANGE_ITEMS:
		if (job->state <= DLSI_JOB_ACTIVE) /* else it comes too late to count */
			added = note_items(master, job, change);
		break;
	case DLSI_CHANGE_END:
		dlsi_lifecycle_set(DLSI_LIFECYCLE_JOB, &job->state, change->end.state, &master->refused_transitions);
		if (job->extras)
			dlsi_master_stop_timer(master, &job->extras->limit);
		dlsi_job_stop_retries(master, job);
		if (job->durable)
			dlsi_kept_end(master, job, change);
		dlsi_job_lead(master, job);
		break;
	case DLSI_CHANGE_PAUSE:
		job->paused = change->pause.paused;
		break;
	case DLSI_CHANGE_PRIORITY:
		dlsi_job_withdraw(master, job); /* the policy is offered it anew, as what it is then */
		job->policy.priority = change->priority.priority;
		break;
	}
	return added;
}

static void post_end(struct dlsi_master *master, const struct job *job, const struct dlsi_change *change)
{
	struct dlsi_record record = {.kind = DLSI_END};

	if (!job->client || !job->client->peer)
		return;
	record.end.job = job->policy.id;
	record.end.state = change->end.state;
	record.end.code = change->end.code;
	record.end.sentence = change->end.sentence;
	dlsi_master_post(master, job->client->peer, &record, (struct dlsi_payload){0});
}

/* At once also says how many workers can run it, so that its client does not believe that there is none. */
static void post_accepted(struct dlsi_master *master, struct job *job)
{
	struct dlsi_record record = {.kind = DLSI_ACCEPTED};

	if (!job->client || !job->client->peer)
		return;
	record.accepted.job = job->policy.id;
	record.accepted.token = *dlsi_job_asked(job);
	record.accepted.count = job->count;
	dlsi_master_post(master, job->client->peer, &record, (struct dlsi_payload){0});
	dlsi_client_tell_progress(master, job->client, job);
}

/* What a leader does once a change holds; recovery does none of it. False: the job is gone. */
static bool follow_up(struct dlsi_master *master, struct job *job, const struct dlsi_change *change, struct task *task)
{
	bool durable = job->durable;

	switch (change->kind) {
	case DLSI_CHANGE_SUBMIT:
		dlsi_job_watch(master, job);
		dlsi_news_accepted(master, job);
		dlsi_usage_job(job);
		post_accepted(master, job);
		break;
	case DLSI_CHANGE_ITEMS:
		if (task)
			dlsi_task_taken(master, task);
		if (durable)
			dlsi_kept_feed(master, job);
		break;
	case DLSI_CHANGE_END:
		dlsi_news_ended(master, job, change->end.sentence);
		if (durable) {
			forget(master, job);
			dlsi_kept_feed(master, job);
		} else {
			post_end(master, job, change);
			dlsi_ended_keep(master, job, change);
			dlsi_job_destroy(master, job);
		}
		return durable;
	}
	if (job->state == DLSI_JOB_ACTIVE && dlsi_job_run(job)->done_items == job->count) {
		dlsi_job_end(master, job, DLSI_JOB_DONE, 0, "");
		return durable;
	}
	dlsi_job_refresh(master, job);
	return true;
}

static void append(struct dlsi_master *master, const struct dlsi_change *change, const struct task *task,
	struct dlsi_payload payload)
{
	struct proposal *proposal = dlsi_calloc(master->alloc, 1, sizeof *proposal);
	struct dlsi_effect *effect;
	size_t block;

	if (!proposal) {
		master->failed = true;
		return;
	}
	dlsi_buffer_init(&proposal->bytes, master->alloc);
	dlsi_change_write(&proposal->bytes, change);
	master->failed |= proposal->bytes.failed;
	proposal->index = master->next_index++;
	proposal->attempt = task ? task->attempt : 0;
	proposal->size = proposal->bytes.length + payload.bytes;
	master->proposed_bytes += proposal->size;
	dlsi_list_append(&master->proposals, &proposal->node);
	block = dlsi_effects_store(master->effects, proposal->bytes.data, proposal->bytes.length);
	effect = dlsi_effects_add(master->effects, DLSI_EFFECT_APPEND);
	effect->block = block;
	effect->block_length = proposal->bytes.length;
	effect->payload = payload;
	effect->append.index = proposal->index;
	dlsi_master_weigh_log(master);
}

bool dlsi_job_change(struct dlsi_master *master, struct job *job, const struct dlsi_change *change, struct task *task,
	struct dlsi_payload payload)
{
	if (job->durable) {
		append(master, change, task, payload);
		return true;
	}
	master->done_items += dlsi_job_apply(master, job, change);
	return follow_up(master, job, change, task);
}

static void commit(struct dlsi_master *master, const struct proposal *proposal)
{
	struct task *task = proposal->attempt ? dlsi_task_find(master, proposal->attempt) : NULL;
	struct dlsi_change change;
	struct job *job;
	uint64_t added;

	if (!dlsi_change_read(proposal->bytes.data, proposal->bytes.length, &change))
		return;
	job = dlsi_job_find(master, &change.job);
	if (!job)
		return;
	if (change.kind == DLSI_CHANGE_FORGET) {
		dlsi_job_destroy(master, job);
		return;
	}
	added = dlsi_job_apply(master, job, &change);
	master->done_items += added;
	if (added && task)
		dlsi_kept_add(master, job, &change, dlsi_task_surrender(master, task));
	follow_up(master, job, &change, task);
}

void dlsi_job_persisted(struct dlsi_master *master, uint64_t index)
{
	while (!dlsi_list_empty(&master->proposals)) {
		struct proposal *proposal = dlsi_list_entry(master->proposals.next, struct proposal, node);

		if (proposal->index > index)
			break;
		dlsi_list_remove(&proposal->node);
		master->proposed_bytes -= proposal->size;
		commit(master, proposal);
		dlsi_buffer_fini(&proposal->bytes);
		dlsi_free(master->alloc, proposal);
	}
	dlsi_master_weigh_log(master);
}

void dlsi_job_end(struct dlsi_master *master, struct job *job, uint8_t state, int code, const char *sentence)
{
	struct dlsi_change change = {.kind = DLSI_CHANGE_END, .job = job->policy.id};

	if (job->ending)
		return;
	job->ending = true;
	change.end.state = state;
	change.end.code = code;
	change.end.sentence = dlsi_text_of(sentence);
	dlsi_job_withdraw(master, job);
	dlsi_job_change(master, job, &change, NULL, (struct dlsi_payload){0});
}

struct dlsi_range dlsi_job_fresh(const struct job *job)
{
	const struct run *run = dlsi_job_run(job);
	uint64_t end = run->window_end < job->count ? run->window_end : job->count;
	uint64_t first = dlsi_ranges_first_missing(&run->done, run->cursor);

	return (struct dlsi_range){first, first < end ? end : first};
}

/* Never held back are items that came back: the client may wait for just these with a window full of later ones. Where
 * there is any room and nothing is out, one task is let through, however large its results are. */
enum held_back dlsi_job_held_back(const struct job *job)
{
	const struct run *run = dlsi_job_run(job);
	uint64_t out = run->running + run->returned, room = dlsi_job_window_bytes(job);

	if (job->durable && *dlsi_job_kept(job)->log_full)
		return HELD_BACK_LOG;
	if (job->client && (job->client->full || job->client->gone))
		return HELD_BACK_CLIENT;
	if (run->retry_items)
		return HELD_BACK_NOT;
	if (job->client && job->client->crowded && out)
		return HELD_BACK_OFFERS;
	if (!room || (out && job->spec->measured.item_bytes && out > room / job->spec->measured.item_bytes))
		return HELD_BACK_BYTES;
	return HELD_BACK_NOT;
}

void dlsi_job_refresh(struct dlsi_master *master, struct job *job)
{
	struct dlsi_range next = dlsi_job_fresh(job);
	uint64_t before = job->policy.ready;
	bool ready;

	job->policy.ready = dlsi_job_run(job)->retry_items + (next.end - next.first);
	ready = job->state == DLSI_JOB_ACTIVE && !job->ending && !job->paused && !job->waits && job->policy.ready &&
		dlsi_job_held_back(job) == HELD_BACK_NOT;
	if (job->offered)
		job->spec->class->ready += job->policy.ready - before;
	if (!ready) {
		dlsi_job_withdraw(master, job);
	} else if (!job->offered && !master->exchange.leaving) { /* else it is when all have left */
		job->offered = true;
		job->spec->class->ready += job->policy.ready;
		master->policy_ops->ready(master->policy, &job->policy);
	}
}

bool dlsi_job_take(struct dlsi_master *master, struct job *job, const struct device *device, uint64_t most,
	struct dlsi_range *range_out)
{
	const struct service unknown = {0}, *service = dlsi_device_service(device, job->spec->class);
	struct dlsi_division division = {
		.ready = job->policy.ready,
		.devices = job->spec->class->devices,
		.fixed = job->spec->task_items,
		.all = &job->spec->measured,
		.own = service ? &service->measured : &unknown.measured,
		.sizes = service ? &service->sizes : &unknown.sizes,
	};
	struct dlsi_range next = dlsi_job_fresh(job);
	uint64_t limit = dlsi_division_items(&division), known;
	struct run *run = dlsi_job_begin(master, job);

	if (!run) {
		master->failed = true;
		return false;
	}
	if (most && limit > most)
		limit = most;
	if (job->durable && dlsi_job_kept(job)->most_items && limit > dlsi_job_kept(job)->most_items)
		limit = dlsi_job_kept(job)->most_items;
	if (dlsi_ranges_take(&run->retry, limit, range_out)) {
		run->retry_items -= range_out->end - range_out->first;
		return true;
	}
	if (next.first == next.end)
		return false;
	known = dlsi_ranges_first_present(&run->done, next.first);
	if (next.end > known)
		next.end = known;
	if (next.end - next.first > limit)
		next.end = next.first + limit;
	run->cursor = next.end;
	*range_out = next;
	return true;
}

void dlsi_job_give_back(struct dlsi_master *master, struct job *job, uint64_t first, uint64_t end)
{
	struct run *run = job->run; /* of which they were taken */

	while (first < end) {
		uint64_t missing = dlsi_ranges_first_missing(&run->done, first);
		uint64_t known = dlsi_ranges_first_present(&run->done, missing), added = 0;

		if (known > end)
			known = end;
		if (missing < known && dlsi_ranges_add(&run->retry, missing, known, &added))
			master->failed = true;
		run->retry_items += added;
		first = known > missing ? known : end;
	}
	dlsi_job_refresh(master, job);
}
