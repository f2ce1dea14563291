#include "client/job.h"

#include "base/clock.h"
#include "base/condition.h"
#include "base/random.h"
#include "node/job_about.h"
#include "node/job_spec.h"
#include <string.h>

static int write_spec(struct dls_job *job, const struct dls_job_options *options, struct dls_error *err)
{
	struct dlsi_job_spec spec = {
		.handler = options->handler,
		.params = options->params,
		.task_items = options->task_items,
		.resources = options->resources,
		.labels = options->labels,
		.preferred_labels = options->preferred_labels,
		.time_limit_ms = options->time_limit_ms,
		.item_time_limit_ms = options->item_time_limit_ms,
		.retries = options->retries,
		.no_speculation = options->no_speculation != 0,
	};
	int rc = 0;

	if (options->model)
		rc = dlsi_node_job_share_model(job, options->model, &spec.model, err);
	if (rc)
		return rc;
	return dlsi_job_spec_write(&job->client->ctx->alloc, &spec, &job->spec, &job->spec_length, err);
}

static int write_about(struct dls_job *job, const struct dls_job_options *options, struct dls_error *err)
{
	struct dlsi_job_about about = {.name = options->name,
		.tags = options->tags,
		.after = options->after,
		.after_when = options->after_when};

	return dlsi_job_about_write(&job->client->ctx->alloc, &about, &job->about, err);
}

/* `token` opens what it shares. */
static void init(struct dls_job *job, struct dls_client *client, struct dlsi_id id, const struct dlsi_id *token)
{
	const struct dlsi_alloc *alloc = &client->ctx->alloc;

	job->errand.run = dlsi_node_job_run;
	job->farewell.run = dlsi_node_job_part;
	job->client = client;
	job->id = id;
	dlsi_hex(job->id.bytes, DLSI_ID_BYTES, job->name);
	job->progress.size = sizeof job->progress;
	dlsi_inputs_init(&job->inputs, alloc);
	dlsi_shares_init(&job->shares, alloc, client->dialer.plane, token);
	dlsi_deliveries_init(&job->deliveries, alloc);
	dlsi_list_init(&job->news);
	dlsi_list_init(&job->broken);
	pthread_mutex_init(&job->filling, NULL);
	dlsi_condition_init(&job->changed);
	pthread_mutex_lock(&client->dialer.mutex);
	dlsi_list_append(&client->jobs, &job->node);
	pthread_mutex_unlock(&client->dialer.mutex);
}

/* The program is done with the job, and gets back what it gave: in its own thread, where it expects its callbacks. */
static void leave(struct dls_job *job)
{
	pthread_mutex_lock(&job->client->dialer.mutex);
	while (job->notifying)
		dlsi_condition_wait(&job->changed, &job->client->dialer.mutex, INT64_MAX);
	job->stage = DLSI_STAGE_ENDED; /* what the session still says is no news */
	dlsi_list_remove(&job->node);
	dlsi_list_remove(&job->news);
	pthread_mutex_unlock(&job->client->dialer.mutex);
	dlsi_node_job_retire(job);
}

void dlsi_node_job_free(struct dls_job *job)
{
	const struct dlsi_alloc *alloc = &job->client->ctx->alloc;

	dlsi_frame_unref(job->manifest);
	dlsi_deliveries_fini(&job->deliveries);
	dlsi_delivery_destroy(job->page, alloc);
	pthread_cond_destroy(&job->changed);
	pthread_mutex_destroy(&job->filling);
	dlsi_free(alloc, job->spec);
	dlsi_free(alloc, job->about);
	dlsi_free(alloc, job);
}

int dlsi_node_job_create(struct dls_client *client, const struct dls_job_options *options, struct dls_job **job_out,
	struct dls_error *err)
{
	struct dls_job *job = dlsi_calloc(&client->ctx->alloc, 1, sizeof *job);
	struct dlsi_id token = dlsi_random_id();
	int rc;

	if (!job)
		return dlsi_fail_memory(err);
	init(job, client, options->key ? dlsi_hash_job_id(client->tenant, options->key) : dlsi_random_id(), &token);
	job->priority = options->priority;
	job->deadline_ms = options->deadline_ms;
	job->window_items = client->window_items;
	job->window_bytes = client->window_bytes;
	job->detached = options->detached;
	job->notify = options->notify;
	job->notify_arg = options->notify_arg;
	rc = write_spec(job, options, err);
	if (rc == 0)
		rc = write_about(job, options, err);
	if (rc) {
		leave(job);
		dlsi_node_job_free(job);
	} else {
		*job_out = job;
	}
	return rc;
}

int dlsi_node_job_create_like(const struct dls_job *model, struct dls_job **job_out, struct dls_error *err)
{
	const struct dlsi_alloc *alloc = &model->client->ctx->alloc;
	struct dls_job *job = dlsi_calloc(alloc, 1, sizeof *job);
	char *spec = job ? dlsi_malloc(alloc, model->spec_length) : NULL;

	if (spec && model->about)
		job->about = dlsi_strdup(alloc, model->about);
	if (!spec || (model->about && !job->about)) {
		dlsi_free(alloc, spec);
		dlsi_free(alloc, job);
		return dlsi_fail_memory(err);
	}
	init(job, model->client, dlsi_random_id(), &model->shares.token);
	job->priority = model->priority;
	job->window_items = DLSI_TASK_ITEMS;
	job->window_bytes = DLSI_BLOB_BYTES;
	job->spec = memcpy(spec, model->spec, model->spec_length);
	job->spec_length = model->spec_length;
	*job_out = job;
	return 0;
}

int dlsi_node_job_attach(struct dls_client *client, const char *id, struct dls_job **job_out, struct dls_error *err)
{
	struct dls_job *job;
	struct dlsi_id token = dlsi_random_id(), bytes;

	if (!dlsi_unhex(id, DLSI_ID_BYTES, bytes.bytes))
		return dlsi_fail(err, DLS_EINVAL, "\"%.64s\" is not the id of a job, which has %d hexadecimal digits",
			id, 2 * DLSI_ID_BYTES);
	job = dlsi_calloc(&client->ctx->alloc, 1, sizeof *job);
	if (!job)
		return dlsi_fail_memory(err);
	init(job, client, bytes, &token);
	job->detached = job->attached = true;
	job->window_items = client->window_items;
	job->window_bytes = client->window_bytes;
	pthread_mutex_lock(&client->dialer.mutex);
	job->items = UINT64_MAX;
	job->stage = DLSI_STAGE_SUBMITTED;
	job->want_submit = true;
	pthread_mutex_unlock(&client->dialer.mutex);
	dlsi_loop_post(client->ctx->loop, &job->errand);
	*job_out = job;
	return 0;
}

/* Whether the session has no more to do for it, or will have none when it has done what it is about. */
static bool is_over(const struct dls_job *job)
{
	bool over;

	pthread_mutex_lock(&job->client->dialer.mutex);
	over = job->stage == DLSI_STAGE_ENDED ||
	       (job->stage == DLSI_STAGE_SUBMITTED && job->progress.done == job->items);
	pthread_mutex_unlock(&job->client->dialer.mutex);
	return over;
}

void dlsi_node_job_destroy(struct dls_job *job)
{
	if (dlsi_node_job_check(job, NULL))
		return;
	if (is_over(job)) { /* there is nothing to wait for: the loop frees it */
		leave(job);
		dlsi_loop_post(job->client->ctx->loop, &job->farewell);
		return;
	}
	dlsi_loop_call(job->client->ctx->loop, dlsi_node_job_forget, job);
	leave(job);
	dlsi_node_job_free(job);
}

void dlsi_node_job_abandon(struct dls_job *job)
{
	if (!is_over(job))
		dlsi_node_job_cancel(job);
	dlsi_node_job_destroy(job);
}

int dlsi_node_job_check(const struct dls_job *job, struct dls_error *err)
{
	if (!job)
		return dlsi_fail(err, DLS_EINVAL, "the job is NULL");
	return dlsi_ctx_check(job->client->ctx, err);
}

uint64_t dlsi_node_job_items(const struct dls_job *job)
{
	uint64_t items;

	pthread_mutex_lock(&job->client->dialer.mutex);
	items = job->items == UINT64_MAX ? 0 : job->items;
	pthread_mutex_unlock(&job->client->dialer.mutex);
	return items;
}

int dlsi_node_job_begin_adding(struct dls_job *job, struct dls_error *err)
{
	enum dlsi_job_stage stage;
	int rc = dlsi_node_job_check(job, err);

	if (rc)
		return rc;
	pthread_mutex_lock(&job->filling);
	pthread_mutex_lock(&job->client->dialer.mutex);
	stage = job->stage;
	pthread_mutex_unlock(&job->client->dialer.mutex);
	if (stage == DLSI_STAGE_FILLING)
		return 0;
	pthread_mutex_unlock(&job->filling);
	return dlsi_fail(err, DLS_ESTATE, "the job has been submitted or cancelled already");
}

void dlsi_node_job_end_adding(struct dls_job *job)
{
	pthread_mutex_lock(&job->client->dialer.mutex);
	job->items = dlsi_inputs_count(&job->inputs);
	pthread_mutex_unlock(&job->client->dialer.mutex);
	pthread_mutex_unlock(&job->filling);
}

/* Nobody can read anything from this client when it has gone. */
static int check_detached(const struct dls_job *job, size_t length, struct dls_error *err)
{
	if (!job->detached || (!job->inputs.blob_count && length <= DLSI_INLINE_BYTES))
		return 0;
	return dlsi_fail(err, DLS_ELIMIT,
		"a detached job's inputs must fit %d bytes together with what describes them; submit fewer or smaller "
		"ones, or the job with a client that waits for it",
		DLSI_INLINE_BYTES);
}

/* Ends the manifest: small enough it travels with the submission, else its head does and workers fetch the rest, so
 * that they fetch once before they can begin. */
static int finish_manifest(struct dls_job *job, struct dls_error *err)
{
	struct dlsi_source source = {0};
	uint8_t *data;
	size_t length;
	int rc = dlsi_manifest_finish(&job->inputs.writer, &data, &length, &job->manifest_head, err);

	if (rc)
		return rc;
	rc = check_detached(job, length, err);
	if (rc) {
		dlsi_free(&job->client->ctx->alloc, data);
		return rc;
	}
	source.frame = dlsi_frame_take(&job->client->ctx->alloc, data, length);
	if (!source.frame)
		return dlsi_fail_memory(err);
	if (length <= DLSI_INLINE_BYTES) {
		job->manifest = source.frame;
		return 0;
	}
	job->manifest_blob = (struct dlsi_blob){.length = length, .proof = DLSI_PROOF_CHECKSUM};
	dlsi_random_bytes(job->manifest_blob.name.bytes, sizeof job->manifest_blob.name.bytes);
	if (job->manifest_head <= DLSI_INLINE_BYTES)
		job->manifest = dlsi_frame_part(source.frame, 0, job->manifest_head);
	rc = dlsi_shares_add(&job->shares, &job->manifest_blob, &source, err);
	dlsi_frame_unref(source.frame);
	return rc;
}

static int offer_inputs(struct dls_job *job, struct dls_error *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < job->inputs.blob_count; i++) {
		const struct dlsi_input_blob *blob = &job->inputs.blobs[i];
		struct dlsi_source source = {.frame = blob->frame, .path = blob->path};

		rc = dlsi_shares_add(&job->shares, &blob->blob, &source, err);
	}
	return rc;
}

static void note_submission(struct dls_job *job)
{
	bool any;

	pthread_mutex_lock(&job->client->dialer.mutex);
	any = job->items != 0;
	if (any) {
		job->deadline_ns =
			job->deadline_ms ? dlsi_clock_monotonic_ns() + job->deadline_ms * DLSI_MILLISECOND_NS : 0;
		job->stage = DLSI_STAGE_SUBMITTED;
		job->want_submit = true;
	} else {
		dlsi_node_job_end(job, 0, NULL);
	}
	pthread_mutex_unlock(&job->client->dialer.mutex);
	if (any)
		dlsi_loop_post(job->client->ctx->loop, &job->errand);
}

int dlsi_node_job_submit(struct dls_job *job, struct dls_error *err)
{
	int rc = dlsi_node_job_begin_adding(job, err);

	if (rc)
		return rc;
	if (job->inputs.broken)
		rc = dlsi_fail(err, job->inputs.broken, "an input could not be added; fill a new job");
	else
		rc = offer_inputs(job, err);
	if (rc == 0) {
		rc = finish_manifest(job, err);
		job->inputs.broken = rc;
	}
	if (rc == 0)
		note_submission(job);
	pthread_mutex_unlock(&job->filling);
	return rc;
}

void dlsi_node_job_cancel(struct dls_job *job)
{
	pthread_mutex_lock(&job->client->dialer.mutex);
	if (job->stage == DLSI_STAGE_SUBMITTED) {
		job->want_cancel = true;
		dlsi_loop_post(job->client->ctx->loop, &job->errand);
	}
	dlsi_node_job_end(job, DLS_ECANCELLED, "the job was cancelled");
	pthread_mutex_unlock(&job->client->dialer.mutex);
}

void dlsi_node_job_retire(struct dls_job *job)
{
	pthread_mutex_lock(&job->filling);
	dlsi_shares_fini(&job->shares);
	dlsi_inputs_fini(&job->inputs);
	pthread_mutex_unlock(&job->filling);
}
