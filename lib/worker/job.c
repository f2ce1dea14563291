#include "worker/job.h"

#include "base/limits.h"
#include "worker/page.h"
#include "worker/worker.h"
#include <inttypes.h>
#include <string.h>

struct dlsi_worker_job *dlsi_worker_job_ref(struct dlsi_worker_job *job)
{
	job->refs++;
	return job;
}

void dlsi_worker_job_unref(struct dlsi_worker_job *job)
{
	const struct dlsi_alloc *alloc = &job->worker->ctx->alloc;

	if (--job->refs)
		return;
	dlsi_worker_pages_drop(job);
	dlsi_frame_unref(job->bytes);
	dlsi_job_spec_fini(&job->spec, alloc);
	dlsi_free(alloc, job->holder);
	dlsi_free(alloc, job);
}

struct dlsi_worker_job *dlsi_worker_job_find(const struct dls_worker *worker, const struct dlsi_id *id)
{
	return dlsi_map_get(&worker->job_by_id, id);
}

void dlsi_worker_job_close(struct dls_worker *worker, const struct dlsi_id *id)
{
	struct dlsi_worker_job *job = dlsi_map_remove(&worker->job_by_id, id);

	if (!job)
		return;
	dlsi_list_remove(&job->node);
	dlsi_worker_job_unref(job);
}

/* Finds out what is to be run. What is wrong with it becomes the error of the job's items. */
static int read_spec(struct dlsi_worker_job *job, const void *spec, size_t length)
{
	struct dls_worker *worker = job->worker;
	int rc = dlsi_job_spec_read(&worker->ctx->alloc, spec, length, &job->spec, &job->refused);

	if (rc == DLS_ENOMEM)
		return rc;
	if (rc == 0 && job->spec.handler) {
		job->handler = dlsi_worker_find_handler(worker, job->spec.handler);
		if (!job->handler)
			dlsi_fail(&job->refused, DLS_ENOTFOUND, "the worker %s has no handler \"%s\"", worker->name,
				job->spec.handler);
	} else if (rc == 0 && worker->no_models) {
		dlsi_fail(&job->refused, DLS_EUNSUPPORTED, "the worker %s runs no models", worker->name);
	}
	return 0;
}

static int open_manifest(struct dlsi_worker_job *job, uint64_t total, struct dls_error *err)
{
	int rc = dlsi_manifest_open(
		dlsi_frame_data(job->bytes), dlsi_frame_size(job->bytes), total, job->count, &job->manifest, err);

	return rc ? dlsi_fail_in(err, rc, "the job's list of inputs") : 0;
}

/* Takes what the effect says of the manifest. */
static void note_manifest(struct dlsi_worker_job *job, const struct dlsi_effect *effect)
{
	job->count = effect->open.count;
	job->blob = effect->open.manifest;
	job->head_length = effect->open.manifest_head;
	if (effect->payload.handle) {
		job->whole = !job->blob.length;
		job->bytes =
			dlsi_frame_ref(dlsi_payloads_get(&job->worker->dialer.driver.payloads, effect->payload.handle));
		if (!job->refused.code)
			open_manifest(job, job->whole ? dlsi_frame_size(job->bytes) : job->blob.length, &job->refused);
	} else if (job->head_length > DLSI_PAGE_BYTES) {
		dlsi_fail(&job->refused, DLS_ELIMIT, "the head of the job's list of inputs has %" PRIu32 " bytes",
			job->head_length);
	}
}

int dlsi_worker_job_open(struct dls_worker *worker, const struct dlsi_effect *effect)
{
	const struct dlsi_alloc *alloc = &worker->ctx->alloc;
	const struct dlsi_effects *effects = &worker->dialer.driver.effects;
	struct dlsi_text host = dlsi_effects_text(effects, effect->open.holder_host, effect->open.holder_host_length);
	struct dlsi_text holder = dlsi_effects_text(effects, effect->open.holder, effect->open.holder_length);
	struct dlsi_text spec = dlsi_effects_text(effects, effect->open.spec, effect->open.spec_length);
	struct dlsi_worker_job *job = dlsi_calloc(alloc, 1, sizeof *job);

	if (!job)
		return DLS_ENOMEM;
	*job = (struct dlsi_worker_job){.worker = worker, .refs = 1, .id = effect->job, .token = effect->open.token};
	dlsi_list_init(&job->waiting);
	dlsi_list_init(&job->pages);
	dlsi_list_init(&job->node);
	job->same_host = dlsi_dialer_is_local(&worker->dialer, host);
	job->holder = dlsi_strndup(alloc, holder.data ? holder.data : "", holder.length);
	if (!job->holder || read_spec(job, spec.data, spec.length) || dlsi_map_put(&worker->job_by_id, &job->id, job)) {
		dlsi_worker_job_unref(job);
		return DLS_ENOMEM;
	}
	note_manifest(job, effect);
	dlsi_list_append(&worker->jobs, &job->node);
	return 0;
}

struct dlsi_fetch dlsi_worker_job_fetch(const struct dlsi_worker_job *job)
{
	return (struct dlsi_fetch){
		.endpoint = job->holder, .same_host = job->same_host, .fails_fast = true, .token = job->token};
}

/* The fetch of the head has ended. */
static void take_head(struct dlsi_pending_fetch *fetch, int64_t now_ns)
{
	struct dlsi_worker_job *job = dlsi_list_entry(fetch, struct dlsi_worker_job, fetch);

	(void)now_ns;
	job->fetching = false;
	job->failed = fetch->err;
	job->bytes = fetch->frame;
	if (job->bytes && open_manifest(job, job->blob.length, &job->failed)) {
		dlsi_frame_unref(job->bytes);
		job->bytes = NULL;
	}
	dlsi_waiters_wake(&job->waiting);
	job->failed.code = 0;
	dlsi_worker_job_unref(job);
}

int dlsi_worker_job_manifest(struct dlsi_worker_job *job, struct dlsi_waiter *waiter, struct dls_error *err)
{
	struct dlsi_fetch wanted = dlsi_worker_job_fetch(job);

	if (job->bytes)
		return 0;
	if (job->failed.code)
		return dlsi_fail(err, job->failed.code, "%s", job->failed.text);
	dlsi_list_append(&job->waiting, &waiter->node);
	if (job->fetching)
		return 1;
	wanted.blob = job->blob;
	wanted.length = job->head_length;
	dlsi_worker_job_ref(job);
	job->fetching = true;
	dlsi_fetch_begin(&job->worker->dialer, &job->fetch, &wanted, &job->id, take_head);
	return 1;
}
