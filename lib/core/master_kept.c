#include "core/master_kept.h"

#include "core/again.h"
#include "core/master_places.h"

#include <string.h>

bool dlsi_kept_create(struct dlsi_master *master, struct job *job)
{
	struct extras *extras = dlsi_job_extend(master, job);

	if (!extras)
		return false;
	extras->kept = dlsi_calloc(master->alloc, 1, sizeof *extras->kept);
	if (extras->kept)
		extras->kept->log_full = &master->log_full;
	return extras->kept != NULL;
}

void dlsi_kept_destroy(struct dlsi_master *master, struct kept *kept)
{
	for (size_t i = 0; kept && i < kept->count; i++) {
		master->kept_bytes -= kept->at[i].payload.bytes;
		master->kept_results--;
		dlsi_releases_add(&master->releases, kept->at[i].payload);
		dlsi_free(master->alloc, kept->at[i].worker);
		dlsi_again_free(master->alloc, &kept->at[i].again);
	}
	if (kept) {
		dlsi_free(master->alloc, kept->at);
		dlsi_free(master->alloc, kept->sentence);
	}
	dlsi_free(master->alloc, kept);
}

/* The first result that begins at this item or behind it. */
static size_t find(const struct kept *kept, uint64_t item)
{
	size_t low = 0, high = kept->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (kept->at[mid].first < item)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static struct kept_result *insert(struct dlsi_master *master, struct kept *kept, uint64_t first)
{
	size_t at = find(kept, first);

	if (kept->count == kept->capacity) {
		size_t capacity = kept->capacity ? 2 * kept->capacity : 4;
		struct kept_result *grown = dlsi_realloc(master->alloc, kept->at, capacity * sizeof *grown);

		if (!grown)
			return NULL;
		kept->at = grown;
		kept->capacity = capacity;
	}
	memmove(&kept->at[at + 1], &kept->at[at], (kept->count - at) * sizeof *kept->at);
	kept->count++;
	if (at < kept->unsent)
		kept->unsent = at;
	return memset(&kept->at[at], 0, sizeof kept->at[at]);
}

void dlsi_kept_add(
	struct dlsi_master *master, struct job *job, const struct dlsi_change *change, struct dlsi_payload payload)
{
	struct kept_result *result = insert(master, job->extras->kept, change->items.first);

	if (!result) {
		dlsi_releases_add(&master->releases, payload);
		master->failed = true;
		return;
	}
	result->first = change->items.first;
	result->end = change->items.end;
	result->elapsed_ns = change->items.elapsed_ns;
	result->failed = change->items.failed;
	result->payload = payload;
	master->kept_bytes += payload.bytes;
	master->kept_results++;
	result->worker = dlsi_strndup(master->alloc, change->items.worker.data, change->items.worker.length);
	result->again = change->items.again;
	master->failed |= !dlsi_again_keep(master->alloc, &result->again) || !result->worker;
	dlsi_master_weigh_log(master);
}

void dlsi_kept_end(struct dlsi_master *master, struct job *job, const struct dlsi_change *change)
{
	struct dlsi_text sentence = change->end.sentence;

	job->extras->kept->code = change->end.code;
	job->extras->kept->sentence = dlsi_strndup(master->alloc, sentence.data, sentence.length);
	master->failed |= !job->extras->kept->sentence;
}

/* The attempt by which it is confirmed. */
static uint64_t number_of(const struct kept_result *result)
{
	return result->first + 1;
}

static void post_result(struct dlsi_master *master, struct job *job, struct kept_result *result)
{
	struct dlsi_record record = {.kind = DLSI_RESULT};

	record.result.job = job->policy.id;
	record.result.attempt = number_of(result);
	record.result.first = result->first;
	record.result.end = result->end;
	record.result.bytes = result->payload.bytes;
	record.result.elapsed_ns = result->elapsed_ns;
	record.result.failed = result->failed;
	record.result.frames = 1;
	record.result.again = result->again;
	record.result.worker = dlsi_text_of(result->worker);
	dlsi_master_post(master, job->client->peer, &record, result->payload);
	result->sent = true;
	job->extras->kept->outstanding += result->payload.bytes;
}

static void post_end(struct dlsi_master *master, struct job *job)
{
	struct dlsi_record record = {.kind = DLSI_END};

	record.end.job = job->policy.id;
	record.end.state = job->state;
	record.end.code = job->extras->kept->code;
	record.end.sentence = dlsi_text_of(job->extras->kept->sentence);
	dlsi_master_post(master, job->client->peer, &record, (struct dlsi_payload){0});
	job->extras->kept->told_end = true;
}

/* One result may overfill the window, as long as there is any room: it may be larger than all of that. */
static bool has_room(const struct kept *kept, const struct kept_result *result)
{
	return result->first < kept->window_end && kept->outstanding < kept->window_bytes;
}

/* Results are taken in the order of the items: behind one that a job has ended without there is nothing to take. */
static uint64_t end_of_use(const struct job *job)
{
	return job->state > DLSI_JOB_ACTIVE ? dlsi_ranges_first_missing(&dlsi_job_run(job)->done, 0) : job->count;
}

void dlsi_kept_feed(struct dlsi_master *master, struct job *job)
{
	struct kept *kept = job->extras->kept;
	uint64_t end = end_of_use(job);

	if (!job->client || !job->client->peer)
		return;
	for (; kept->unsent < kept->count && kept->at[kept->unsent].first < end; kept->unsent++) {
		struct kept_result *result = &kept->at[kept->unsent];

		if (result->sent)
			continue;
		if (!has_room(kept, result))
			return;
		post_result(master, job, result);
	}
	if (job->state > DLSI_JOB_ACTIVE && !kept->told_end)
		post_end(master, job);
}

/* Whether the client has all of it already, by the ranges that it presents. */
static bool is_received(const struct kept_result *result, const struct dlsi_numbers *received)
{
	for (uint32_t i = 0; i + 1 < received->count; i += 2)
		if (dlsi_numbers_at(received, i) <= result->first && result->end <= dlsi_numbers_at(received, i + 1))
			return true;
	return false;
}

void dlsi_kept_present(struct job *job, uint64_t window_end, uint64_t window_bytes, const struct dlsi_numbers *received)
{
	struct kept *kept = job->extras->kept;

	kept->window_end = window_end;
	kept->window_bytes = window_bytes;
	kept->outstanding = 0;
	kept->unsent = 0;
	kept->told_end = false;
	for (size_t i = 0; i < kept->count; i++)
		kept->at[i].sent = kept->at[i].confirmed = is_received(&kept->at[i], received);
}

/* Pages can begin with the same item: one that failed and was tried again. */
static void confirm(struct kept *kept, uint64_t first)
{
	for (size_t at = find(kept, first); at < kept->count && kept->at[at].first == first; at++) {
		struct kept_result *result = &kept->at[at];

		if (!result->sent || result->confirmed)
			continue;
		result->confirmed = true;
		kept->outstanding -= result->payload.bytes;
		return;
	}
}

void dlsi_kept_ack(struct dlsi_master *master, struct job *job, const struct dlsi_ack *record)
{
	struct kept *kept = job->extras->kept;

	for (uint32_t i = 0; i < record->taken.count; i++)
		confirm(kept, dlsi_numbers_at(&record->taken, i) - 1);
	kept->window_end = record->window_end;
	kept->window_bytes = record->window_bytes;
	dlsi_kept_feed(master, job);
}

static void accept(struct dlsi_master *master, struct client *client, const struct job *job)
{
	struct dlsi_record record = {.kind = DLSI_ACCEPTED};

	record.accepted.job = job->policy.id;
	record.accepted.token = *dlsi_job_asked(job);
	record.accepted.count = job->count;
	dlsi_master_post(master, client->peer, &record, (struct dlsi_payload){0});
}

void dlsi_client_attach(struct dlsi_master *master, struct client *client, const struct dlsi_attach *record)
{
	struct job *job = dlsi_job_find(master, &record->job);
	struct dlsi_submit asked = {.job = record->job, .token = record->token};

	if (!job || !job->durable || job->state < DLSI_JOB_ACTIVE || job->extras->kept->forgotten) {
		dlsi_master_refuse(master, client->peer->outbox.peer, &asked, DLS_ENOTFOUND, 0,
			"the master keeps no detached job of this id");
		return;
	}
	dlsi_list_remove(&job->client_node);
	dlsi_list_append(&client->jobs, &job->client_node);
	job->client = client;
	job->extras->asked = record->token;
	accept(master, client, job);
	dlsi_kept_present(job, record->window_end, record->window_bytes, &record->received);
	dlsi_kept_feed(master, job);
}

/* Once too much waits, half of it must go before there is room again. */
void dlsi_master_weigh_log(struct dlsi_master *master)
{
	bool was = master->log_full;
	uint64_t share = was ? 2 : 1;
	bool full = master->proposed_bytes > DLSI_LOG_WAITING_BYTES / share ||
		    master->kept_bytes > DLSI_KEPT_BYTES + DLSI_LOG_WAITING_BYTES / share;

	if (full == was)
		return;
	master->log_full = full;
	dlsi_list_each (node, &master->jobs) {
		struct job *job = dlsi_list_entry(node, struct job, node);

		if (job->durable)
			dlsi_job_refresh(master, job);
	}
}

int dlsi_kept_object(const struct dlsi_master *master, const struct dlsi_submit *record, struct dls_error *err)
{
	if (!master->config.durable)
		return dlsi_fail(err, DLS_EUNSUPPORTED,
			"this master keeps no detached jobs, since it has no data folder (--data); submit the job "
			"with a client that waits for it");
	if (record->manifest.length)
		return dlsi_fail(err, DLS_ELIMIT,
			"a detached job's inputs must fit %d bytes together with what describes them; submit fewer, "
			"or the job with a client that waits for it",
			DLSI_INLINE_BYTES);
	if (master->log_trouble.code)
		return dlsi_fail(
			err, master->log_trouble.code, "no detached job is taken now: %s", master->log_trouble.text);
	if (master->kept_bytes > DLSI_KEPT_BYTES)
		return dlsi_fail(err, DLS_ELIMIT,
			"the master keeps as many results of detached jobs as it may; forget some (dls-submit forget)");
	return 0;
}
