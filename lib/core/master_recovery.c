/* The master's tables from the records of its log. Recovery applies and decides nothing; what the log's last master had
 * still to decide is made up for in the first turn. */
#include "core/again.h"
#include "core/master_kept.h"
#include "core/master_places.h"
#include "core/master_times.h"

static struct job *replay_submit(struct dlsi_master *master, const struct dlsi_change *change,
	struct dlsi_payload payload, struct dls_error *err)
{
	struct spec *spec = dlsi_spec_intern(master, NULL, change->submit.spec, err);
	struct tenant *tenant = spec ? dlsi_tenant_ref(master, change->submit.tenant) : NULL;
	struct job *job = tenant ? dlsi_job_create(master, &change->job, spec, tenant, change->submit.count) : NULL;

	dlsi_tenant_unref(master, tenant);
	if (!job) {
		dlsi_spec_unref(master, spec);
		return NULL;
	}
	job->durable = true;
	job->token = change->submit.token;
	job->policy.priority = change->submit.priority;
	dlsi_job_set_deadline(master, job, change->submit.deadline_ns);
	if (dlsi_kept_create(master, job) &&
		dlsi_about_read(master, change->submit.about, &job->extras->about, err) == 0 &&
		dlsi_job_keep_manifest(master, job, payload, &change->submit.manifest, change->submit.manifest_head))
		return job;
	dlsi_job_destroy(master, job);
	return NULL;
}

/* Whether a master can have written this about the job, NULL if there is none. */
static bool is_sound(const struct dlsi_change *change, const struct job *job)
{
	switch (change->kind) {
	case DLSI_CHANGE_SUBMIT:
		return !job && change->submit.count && change->submit.count <= DLSI_JOB_ITEMS;
	case DLSI_CHANGE_ITEMS:
		return job && change->items.first < change->items.end && change->items.end <= job->count &&
		       dlsi_again_is_sound(&change->items.again, change->items.first, change->items.end);
	case DLSI_CHANGE_FORGET:
		return job && job->state > DLSI_JOB_ACTIVE;
	case DLSI_CHANGE_PAUSE:
	case DLSI_CHANGE_PRIORITY:
		return job;
	default:
		return job && change->end.state > DLSI_JOB_ACTIVE && change->end.state <= DLSI_JOB_FAILED;
	}
}

/* The payload is handed over; that of a submission is in its place already. */
static void replay_change(
	struct dlsi_master *master, struct job *job, const struct dlsi_change *change, struct dlsi_payload payload)
{
	uint64_t added = dlsi_job_apply(master, job, change), failed = 0;

	if (change->kind == DLSI_CHANGE_ITEMS)
		failed = change->items.failed - dlsi_again_items(&change->items.again);
	if (added && payload.handle)
		dlsi_kept_add(master, job, change, payload);
	else if (change->kind != DLSI_CHANGE_SUBMIT)
		dlsi_releases_add(&master->releases, payload);
	if (added)
		job->run->failed_items += failed < added ? failed : added;
	dlsi_job_refresh(master, job);
}

int dlsi_master_replay(struct dlsi_master *master, uint64_t index, const uint8_t *record, size_t length,
	struct dlsi_payload payload, struct dlsi_effects *effects, struct dls_error *err)
{
	struct dlsi_change change;
	struct dls_error why = {.code = DLS_ENOMEM};
	struct job *job = NULL;
	bool readable = dlsi_change_read(record, length, &change);

	master->effects = effects;
	if (readable)
		job = dlsi_job_find(master, &change.job);
	if (!readable || !is_sound(&change, job)) {
		dlsi_releases_add(&master->releases, payload);
		return dlsi_fail(err, DLS_EFORMAT, "log record %llu is not one that this release understands",
			(unsigned long long)index);
	}
	if (!job)
		job = replay_submit(master, &change, payload, &why);
	if (!job) {
		dlsi_releases_add(&master->releases, payload);
		return dlsi_fail(err, why.code, "log record %llu: %s", (unsigned long long)index,
			*why.text ? why.text : dls_error_meaning(why.code));
	}
	if (change.kind == DLSI_CHANGE_FORGET)
		dlsi_job_destroy(master, job);
	else
		replay_change(master, job, &change, payload);
	master->next_index = index + 1;
	master->recovered = true;
	return master->failed || master->releases.failed ? dlsi_fail_memory(err) : 0;
}

/* While the log was read there was no time, and it does not say how much has passed: the job's deadline and limit begin
 * now. */
static void begin_anew(struct dlsi_master *master, struct job *job)
{
	if (job->policy.deadline_ns != INT64_MAX)
		dlsi_job_set_deadline(master, job, (uint64_t)job->policy.deadline_ns);
	job->policy.since_ns = master->now_ns;
	if (job->extras)
		job->extras->released_ns = master->now_ns;
	dlsi_job_watch(master, job);
	dlsi_job_refresh(master, job);
}

void dlsi_master_end_complete_jobs(struct dlsi_master *master)
{
	dlsi_list_each (node, &master->jobs) {
		struct job *job = dlsi_list_entry(node, struct job, node);

		if (job->state == DLSI_JOB_ACTIVE && dlsi_job_run(job)->done_items == job->count)
			dlsi_job_end(master, job, DLSI_JOB_DONE, 0, "");
		else
			begin_anew(master, job);
	}
	master->recovered = false;
}
