/* Jobs as clients submit them: the specifications they name, jobs that are new, and jobs that are presented again after
 * a lost connection. */
#include "core/master_kept.h"
#include "core/master_places.h"
#include "core/master_times.h"

#include "core/share.h"
#include <stdio.h>
#include <string.h>

#define SPECS_STEP 16

/* Makes room for specification `number`. Those below need not be there: over a new connection a client names those only
 * whose jobs are not over. */
static bool reserve_spec(struct dlsi_master *master, struct client *client, uint32_t number)
{
	uint32_t count = (number / SPECS_STEP + 1) * SPECS_STEP;
	struct client_spec *grown;

	if (number < client->spec_count)
		return true;
	grown = dlsi_realloc(master->alloc, client->specs, count * sizeof *grown);
	if (!grown) {
		master->failed = true;
		return false;
	}
	memset(grown + client->spec_count, 0, (count - client->spec_count) * sizeof *grown);
	client->specs = grown;
	client->spec_count = count;
	return true;
}

static void keep_refusal(
	struct dlsi_master *master, struct client *client, struct client_spec *place, const struct dls_error *error)
{
	size_t bytes = strlen(error->text) + 1;

	place->code = error->code;
	if (dlsi_share_has_room(client->refusal_bytes, master->refusal_bytes, bytes, DLSI_REFUSALS_BYTES))
		place->refusal = dlsi_strdup(master->alloc, error->text);
	if (!place->refusal)
		return;
	client->refusal_bytes += bytes;
	master->refusal_bytes += bytes;
}

void dlsi_client_drop_spec(struct dlsi_master *master, struct client *client, struct client_spec *place)
{
	size_t bytes = place->refusal ? strlen(place->refusal) + 1 : 0;

	client->refusal_bytes -= bytes;
	master->refusal_bytes -= bytes;
	dlsi_free(master->alloc, place->refusal);
	dlsi_spec_unref(master, place->spec);
	*place = (struct client_spec){0};
}

bool dlsi_client_spec(struct dlsi_master *master, struct client *client, const struct dlsi_spec_record *record)
{
	struct dls_error error = {0};
	struct client_spec *place;

	if (record->number >= DLSI_CLIENT_SPECS)
		return false;
	if (!reserve_spec(master, client, record->number))
		return true;
	place = &client->specs[record->number];
	dlsi_client_drop_spec(master, client, place);
	place->spec = dlsi_spec_intern(master, client, record->json, &error);
	if (!place->spec) /* jobs that name it are refused */
		keep_refusal(master, client, place, &error);
	return true;
}

/* Results that the client has, or is about to be sent again. */
static void present_again(struct dlsi_master *master, struct job *job)
{
	dlsi_list_each (node, &dlsi_job_run(job)->tasks) {
		struct task *task = dlsi_list_entry(node, struct task, job_node);

		if (task->state != DLSI_TASK_RETURNED)
			continue;
		if (dlsi_task_is_done(task))
			dlsi_task_taken(master, task);
		else
			dlsi_client_send_result(master, task);
	}
}

/* Whether these are ranges of the job's items, in order. */
static bool are_ranges(const struct job *job, const struct dlsi_numbers *numbers)
{
	uint64_t last = 0;

	for (uint32_t i = 0; i < numbers->count; i += 2) {
		uint64_t first = dlsi_numbers_at(numbers, i);

		if (i + 1 == numbers->count || first < last)
			return false;
		last = dlsi_numbers_at(numbers, i + 1);
		if (first >= last || last > job->count)
			return false;
	}
	return true;
}

/* Only what clients present is held against the limit of all: results add no range but beside a task that is under way,
 * or whose items wait to be given again. */
static bool has_room_for_range(const struct dlsi_master *master, const struct job *job)
{
	return dlsi_job_run(job)->done.count < DLSI_RECEIVED_RANGES &&
	       dlsi_share_has_room(job->client->done_ranges, master->done_ranges, 1, DLSI_DONE_RANGES);
}

/* Notes what the client says it has received already. Ranges above the limits are passed over: their items are run
 * again and the client drops them. */
static bool take_received(struct dlsi_master *master, struct job *job, const struct dlsi_numbers *received)
{
	struct dlsi_change change = {.kind = DLSI_CHANGE_ITEMS, .job = job->policy.id};

	if (!are_ranges(job, received))
		return false;
	for (uint32_t i = 0; i < received->count && has_room_for_range(master, job); i += 2) {
		change.items.first = dlsi_numbers_at(received, i);
		change.items.end = dlsi_numbers_at(received, i + 1);
		master->presented_items += dlsi_job_apply(master, job, &change);
	}
	return true;
}

/* What is wrong with the submission, whatever room there is; 0 if nothing. */
static int object(const struct client *client, const struct dlsi_submit *record, struct dlsi_payload manifest,
	struct dls_error *err)
{
	const struct client_spec *spec = record->spec < client->spec_count ? &client->specs[record->spec] : NULL;

	if (!spec || (!spec->spec && !spec->code))
		return dlsi_fail(err, DLS_EINVAL, "the job's specification was never sent");
	if (!spec->spec)
		return dlsi_fail(err, spec->code, "%s", spec->refusal ? spec->refusal : dls_error_meaning(spec->code));
	if (!record->count)
		return dlsi_fail(err, DLS_EINVAL, "the job has no items");
	if (record->count > DLSI_JOB_ITEMS)
		return dlsi_fail(err, DLS_ELIMIT, "the job has more items than a job may have");
	if (record->priority < -DLSI_PRIORITY || record->priority > DLSI_PRIORITY)
		return dlsi_fail(err, DLS_EINVAL, "the job's priority is %d; it must be from -%d to %d",
			record->priority, DLSI_PRIORITY, DLSI_PRIORITY);
	if (manifest.bytes > DLSI_INLINE_BYTES || (!manifest.handle && !record->manifest.length))
		return dlsi_fail(
			err, DLS_ELIMIT, "the job's manifest is missing or too large to travel inside a message");
	if (record->deadline_ns == DLSI_DEADLINE_PASSED)
		return dlsi_fail(err, DLS_EEXPIRED, "the job's deadline has passed before the master had it");
	return 0;
}

enum { RETRY_AFTER_MS = 1000 };

static void refuse(struct dlsi_master *master, struct client *client, const struct dlsi_submit *record, int code,
	uint32_t retry_after_ms, const char *sentence)
{
	dlsi_master_refuse(master, client->peer->outbox.peer, record, code, retry_after_ms, sentence);
}

/* Whether there is room for one more job of the client, of so many bytes. Errors: DLS_EBUSY. */
static int check_room(
	const struct dlsi_master *master, const struct client *client, uint64_t bytes, struct dls_error *err)
{
	if (!dlsi_share_has_room(client->job_bytes, master->job_bytes, bytes, master->config.job_bytes))
		return dlsi_fail(err, DLS_EBUSY,
			"the jobs of this client and their inputs take as much room as the master has left for "
			"others; it is asked again");
	return 0;
}

/* From now on it counts for its client. */
static void charge(const struct job *job, uint64_t window_bytes)
{
	if (!job->client->job_count++)
		job->client->window_bytes = window_bytes;
	job->client->job_bytes += dlsi_job_bytes(job);
}

/* `about` is handed over on success. */
static struct job *new_job(struct dlsi_master *master, struct client *client, const struct dlsi_submit *record,
	struct dlsi_payload manifest, struct about *about)
{
	struct spec *spec = client->specs[record->spec].spec;
	struct job *job = dlsi_job_create(master, &record->job, spec, client->tenant, record->count);
	bool kept;

	if (!job)
		return NULL;
	spec->uses++;
	job->client = client;
	job->durable = record->flags & DLSI_SUBMIT_DURABLE;
	job->token = record->token;
	job->policy.priority = record->priority;
	dlsi_job_set_deadline(master, job, record->deadline_ns);
	job->presented = client->connections;
	dlsi_list_append(&client->jobs, &job->client_node);
	kept = (!about || dlsi_job_extend(master, job)) && (!job->durable || dlsi_kept_create(master, job)) &&
	       dlsi_job_keep_manifest(master, job, manifest, &record->manifest, record->manifest_head);
	if (about && kept) {
		job->extras->about_bytes = record->about.length;
		master->job_bytes += record->about.length;
	}
	if (!job->durable)
		charge(job, record->window_bytes);
	if (!kept) {
		dlsi_job_destroy(master, job);
		return NULL;
	}
	if (about)
		job->extras->about = about;
	return job;
}

/* The job as it is submitted, in no state yet; NULL with the reason. Errors: those of dlsi_about_read, DLS_EBUSY. */
static struct job *admit(struct dlsi_master *master, struct client *client, const struct dlsi_submit *record,
	struct dlsi_payload manifest, struct dls_error *err)
{
	struct about *about;
	struct job *job;

	if (check_room(master, client, DLSI_JOB_BYTES + manifest.bytes + record->about.length, err) ||
		dlsi_about_read(master, record->about, &about, err))
		return NULL;
	if (about && about->after_count && record->flags & DLSI_SUBMIT_DURABLE) {
		dlsi_free(master->alloc, about);
		dlsi_fail(err, DLS_EUNSUPPORTED, "a durable job cannot wait for others");
		return NULL;
	}
	job = new_job(master, client, record, manifest, about);
	if (!job) {
		dlsi_free(master->alloc, about);
		dlsi_fail(err, DLS_EBUSY, "the master has no memory for another job");
	}
	return job;
}

/* What a client keeps of an attached job. A durable job is not held back by its client's window: its results are kept
 * here. Those that the client says it has are of a master whose log is lost. */
static bool take_client_side(struct dlsi_master *master, struct job *job, const struct dlsi_submit *record)
{
	if (job->durable) {
		dlsi_kept_present(job, record->window_end, record->window_bytes, &record->received);
		return are_ranges(job, &record->received);
	}
	dlsi_job_set_window(master, job, record->window_end, record->window_bytes);
	return take_received(master, job, &record->received);
}

/* Whether the policy lets the job come. */
static int ask_policy(struct dlsi_master *master, const struct job *job, struct dls_error *err)
{
	struct dlsi_policy_view view = dlsi_master_view(master);

	return master->policy_ops->admit
		       ? master->policy_ops->admit(master->policy, &view, &job->policy, dlsi_job_waiting(job), err)
		       : 0;
}

static void submit_new(struct dlsi_master *master, struct client *client, const struct dlsi_submit *record,
	struct dlsi_payload manifest)
{
	struct dlsi_change change = {.kind = DLSI_CHANGE_SUBMIT, .job = record->job};
	struct dls_error error;
	struct job *job = admit(master, client, record, manifest, &error);

	if (!job) {
		dlsi_releases_add(&master->releases, manifest);
		refuse(master, client, record, error.code, error.code == DLS_EBUSY ? RETRY_AFTER_MS : 0, error.text);
		return;
	}
	if (dlsi_job_follow(master, job, &error)) {
		refuse(master, client, record, error.code, error.code == DLS_EBUSY ? RETRY_AFTER_MS : 0, error.text);
		dlsi_job_destroy(master, job);
		return;
	}
	if (!take_client_side(master, job, record)) {
		refuse(master, client, record, DLS_EPROTOCOL, 0,
			"the items said to be received are not items of the job");
		dlsi_job_destroy(master, job);
		return;
	}
	if (ask_policy(master, job, &error)) {
		refuse(master, client, record, error.code, 0, error.text);
		dlsi_job_destroy(master, job);
		return;
	}
	if (job->durable)
		dlsi_lifecycle_set(DLSI_LIFECYCLE_JOB, &job->state, DLSI_JOB_PROPOSED, &master->refused_transitions);
	change.submit.token = job->token;
	change.submit.count = job->count;
	change.submit.priority = job->policy.priority;
	change.submit.deadline_ns = record->deadline_ns;
	change.submit.manifest = record->manifest;
	change.submit.manifest_head = job->manifest_head;
	change.submit.tenant = dlsi_text_of(client->tenant->name);
	change.submit.spec = (struct dlsi_bytes){job->spec->json, job->spec->length};
	change.submit.about = record->about;
	dlsi_job_change(master, job, &change, NULL, manifest);
}

static void accept_again(struct dlsi_master *master, struct client *client, const struct job *job)
{
	struct dlsi_record record = {.kind = DLSI_ACCEPTED};

	record.accepted.job = job->policy.id;
	record.accepted.token = *dlsi_job_asked(job);
	record.accepted.count = job->count;
	dlsi_master_post(master, client->peer, &record, (struct dlsi_payload){0});
}

static void submit_durable_again(
	struct dlsi_master *master, struct client *client, struct job *job, const struct dlsi_submit *record)
{
	dlsi_client_part(job);
	dlsi_list_append(&client->jobs, &job->client_node);
	job->client = client;
	if (dlsi_job_extend(master, job))
		job->extras->asked = record->token;
	else
		master->failed = true;
	dlsi_job_set_deadline(master, job, record->deadline_ns); /* what is left of it is the client's to say */
	dlsi_job_watch(master, job);
	dlsi_kept_present(job, record->window_end, record->window_bytes, &record->received);
	if (job->state == DLSI_JOB_PROPOSED) /* it is accepted when the log has it */
		return;
	accept_again(master, client, job);
	dlsi_kept_feed(master, job);
}

/* Its client comes back, or says it twice: over the same connection nothing has been lost. */
static void submit_attached_again(
	struct dlsi_master *master, struct client *client, struct job *job, const struct dlsi_submit *record)
{
	bool again = job->presented == client->connections;

	accept_again(master, client, job);
	job->presented = client->connections;
	dlsi_client_forget_told(job);
	if (again)
		return;
	take_client_side(master, job, record);
	present_again(master, job);
	if (dlsi_job_run(job)->done_items == job->count)
		dlsi_job_end(master, job, DLSI_JOB_DONE, 0, "");
	else
		dlsi_job_refresh(master, job);
}

/* Another job under the key of one that goes on: it is not to end by mistake. A client that is away may be gone for
 * good; what becomes of it is waited for. */
static void refuse_key(
	struct dlsi_master *master, struct client *client, const struct job *job, const struct dlsi_submit *record)
{
	const char *what = job->spec != client->specs[record->spec].spec ? "asks for something else"
			   : job->count != record->count                 ? "has another number of items"
									 : "is kept in another way";
	bool away = !job->durable && !job->client->peer;
	char sentence[200];

	snprintf(sentence, sizeof sentence,
		"there is a job under this key already, which %s; cancel it first, or take another key%s", what,
		away ? "; its client is away, and the master waits for what becomes of it" : "");
	refuse(master, client, record, away ? DLS_EBUSY : DLS_EEXISTS, away ? RETRY_AFTER_MS : 0, sentence);
}

/* One key is one job: under that of a job which goes on nobody begins another. But who submits the same once more, in
 * another process or with other inputs, gets it as a whole: of an attached job only the client that has its results can
 * go on, and only with the inputs that it named by the token; so for others the job begins anew, and ends for the one
 * before. A client that gives another job the key of its own is done with the one before. */
static void submit_known(struct dlsi_master *master, struct client *client, struct job *job,
	const struct dlsi_submit *record, struct dlsi_payload manifest)
{
	bool durable = record->flags & DLSI_SUBMIT_DURABLE, same_inputs = dlsi_id_equal(&job->token, &record->token),
	     same = job->count == record->count && job->durable == durable &&
		    job->spec == client->specs[record->spec].spec,
	     own = !job->durable && job->client == client;

	if (!same && !own) {
		dlsi_releases_add(&master->releases, manifest);
		refuse_key(master, client, job, record);
	} else if (job->durable || (same && same_inputs && own)) {
		dlsi_releases_add(&master->releases, manifest);
		if (job->durable)
			submit_durable_again(master, client, job, record);
		else
			submit_attached_again(master, client, job, record);
	} else {
		dlsi_job_end(master, job, DLSI_JOB_CANCELLED, DLS_ECANCELLED,
			"the job was submitted again under the same key");
		submit_new(master, client, record, manifest);
	}
}

/* The client presents again what a command has ended: it has not heard of that, or not yet. */
static void submit_stopped(
	struct dlsi_master *master, struct client *client, const struct dlsi_submit *record, const struct ended *ended)
{
	struct dlsi_record accepted = {.kind = DLSI_ACCEPTED}, end = {.kind = DLSI_END};

	accepted.accepted.job = record->job;
	accepted.accepted.token = record->token;
	dlsi_master_post(master, client->peer, &accepted, (struct dlsi_payload){0});
	end.end.job = record->job;
	end.end.state = ended->state;
	end.end.code = ended->code;
	end.end.sentence = dlsi_text_of(ended->sentence);
	dlsi_master_post(master, client->peer, &end, (struct dlsi_payload){0});
}

void dlsi_client_submit(struct dlsi_master *master, struct client *client, const struct dlsi_submit *record,
	struct dlsi_payload manifest)
{
	struct job *job = dlsi_job_find(master, &record->job);
	const struct ended *ended = job ? NULL : dlsi_ended_by_command(master, &record->job, &record->token);
	struct dls_error error = {0};
	int code = object(client, record, manifest, &error);
	bool for_now = code == DLS_EBUSY; /* the specification found no room: it comes again with the job */

	if (code == 0 && !job) {
		code = dlsi_class_object(master, client->specs[record->spec].spec->class, &error);
		for_now = code != 0; /* the worker that it needs may be on its way */
		if (code == 0 && record->flags & DLSI_SUBMIT_DURABLE)
			code = dlsi_kept_object(master, record, &error);
	}
	if (code) {
		dlsi_releases_add(&master->releases, manifest);
		refuse(master, client, record, code, for_now ? RETRY_AFTER_MS : 0, error.text);
		if (!for_now && job && job->client == client && !job->durable) /* for the client it is over */
			dlsi_job_end(master, job, DLSI_JOB_FAILED, code, error.text);
	} else if (job) {
		submit_known(master, client, job, record, manifest);
	} else if (ended) {
		dlsi_releases_add(&master->releases, manifest);
		submit_stopped(master, client, record, ended);
	} else {
		submit_new(master, client, record, manifest);
	}
}
