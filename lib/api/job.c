#include "api/job.h"

#include "api/demands.h"
#include "api/name.h"
#include "api/options.h"
#include "base/export.h"
#include "base/limits.h"
#include "base/tensor.h"
#include "client/job.h"
#include "client/result.h"
#include "core/retry_rules.h"
#include <inttypes.h>
#include <string.h>

static int check_tags(const char *const *tags, struct dls_error *err)
{
	int rc = dlsi_names_check("a tag of a job", tags, DLSI_TAGS, err);

	for (; rc == 0 && tags && *tags; tags++)
		if (strlen(*tags) > DLSI_TAG_BYTES)
			rc = dlsi_fail(err, DLS_EINVAL, "a tag of a job has from 1 to %d bytes, not %zu",
				DLSI_TAG_BYTES, strlen(*tags));
	return rc;
}

static int check_times(const struct dls_job_options *options, struct dls_error *err)
{
	if (options->deadline_ms < 0)
		return dlsi_fail(
			err, DLS_EINVAL, "the job's deadline lies %" PRId64 " ms in the past", -options->deadline_ms);
	if (options->deadline_ms > DLSI_TIME_LIMIT_MS || options->time_limit_ms > DLSI_TIME_LIMIT_MS ||
		options->item_time_limit_ms > DLSI_TIME_LIMIT_MS)
		return dlsi_fail(err, DLS_EINVAL, "a job's deadline and its time limits are at most %lld ms, 10 years",
			DLSI_TIME_LIMIT_MS);
	return 0;
}

static int check_after(const struct dls_job_options *options, struct dls_error *err)
{
	static const char *const words[] = {"ended", "succeeded", "any", NULL};
	const char *const *word = words;

	if (!options->after_when)
		return dlsi_names_check("a job to wait for", options->after, DLSI_AFTER, err);
	if (!options->after || !*options->after)
		return dlsi_fail(err, DLS_EINVAL, "after_when has no effect without after");
	while (*word && strcmp(*word, options->after_when) != 0)
		word++;
	if (!*word)
		return dlsi_fail(err, DLS_EINVAL, "after_when is \"%.64s\"; it is one of: ended, succeeded, any",
			options->after_when);
	return dlsi_names_check("a job to wait for", options->after, DLSI_AFTER, err);
}

static int check_placement(const struct dls_job_options *options, struct dls_error *err)
{
	int rc = dlsi_names_check("a label that a job asks for", options->labels, DLSI_CLASS_LABELS, err);

	if (rc == 0)
		rc = dlsi_names_check("a label that a job prefers", options->preferred_labels, DLSI_CLASS_LABELS, err);
	if (rc == 0)
		rc = dlsi_demand_check("a job", options->resources, err);
	if (rc == 0 && (options->priority < -DLSI_PRIORITY || options->priority > DLSI_PRIORITY))
		rc = dlsi_fail(err, DLS_EINVAL, "the job's priority is %d; it must be from -%d to %d",
			options->priority, DLSI_PRIORITY, DLSI_PRIORITY);
	return rc;
}

static int check_retry(const struct dls_retry *retry, struct dls_error *err)
{
	const char *const *kind = dlsi_failure_names;

	while (*kind && strcmp(*kind, retry->failure) != 0)
		kind++;
	if (!*kind)
		return dlsi_fail(err, DLS_EINVAL,
			"retries name the failure \"%.64s\"; it is one of: error, time_limit, input", retry->failure);
	if (retry->times > DLSI_RETRY_TIMES)
		return dlsi_fail(err, DLS_EINVAL, "an item is tried again %d times at most, not %" PRIu32,
			DLSI_RETRY_TIMES, retry->times);
	if (retry->wait_ms > DLSI_TIME_LIMIT_MS || retry->wait_most_ms > DLSI_TIME_LIMIT_MS)
		return dlsi_fail(err, DLS_EINVAL, "an item waits at most %lld ms, 10 years, to be tried again",
			DLSI_TIME_LIMIT_MS);
	if (retry->wait_most_ms && retry->wait_most_ms < retry->wait_ms)
		return dlsi_fail(err, DLS_EINVAL, "the retries after \"%s\" have a wait_most_ms below their wait_ms",
			retry->failure);
	return 0;
}

static int check_retries(const struct dls_retry *retries, struct dls_error *err)
{
	int rc = 0;

	for (unsigned i = 0; rc == 0 && retries && retries[i].failure; i++) {
		rc = check_retry(&retries[i], err);
		for (unsigned j = 0; rc == 0 && j < i; j++)
			if (strcmp(retries[i].failure, retries[j].failure) == 0)
				rc = dlsi_fail(
					err, DLS_EINVAL, "retries name the failure \"%s\" twice", retries[i].failure);
	}
	return rc;
}

static int check(const struct dls_job_options *options, struct dls_error *err)
{
	int rc = 0;

	if (!options->model == !options->handler)
		return dlsi_fail(err, DLS_EINVAL, "a job needs either a model or a handler");
	if (options->model && !*options->model)
		return dlsi_fail(err, DLS_EINVAL, "the path of the model is empty");
	if (options->handler)
		rc = dlsi_name_check("the name of a handler", options->handler, err);
	if (rc == 0 && options->detached && options->model)
		return dlsi_fail(err, DLS_EUNSUPPORTED,
			"a detached job needs a handler: no master keeps the files of a model yet");
	if (rc == 0 && options->key)
		rc = dlsi_name_check("a key", options->key, err);
	if (rc == 0 && options->name)
		rc = dlsi_name_check("the name of a job", options->name, err);
	if (rc == 0)
		rc = check_tags(options->tags, err);
	if (rc == 0)
		rc = check_times(options, err);
	if (rc == 0)
		rc = check_after(options, err);
	if (rc == 0)
		rc = check_retries(options->retries, err);
	return rc ? rc : check_placement(options, err);
}

int dlsi_job_options_check(const struct dls_job_options *options, const char *tenant, struct dls_error *err)
{
	int rc = check(options, err);

	return rc || !tenant ? rc : dlsi_name_check("the name of a tenant", tenant, err);
}

int dlsi_job_options_read(struct dls_client *client, const struct dls_job_options *options,
	struct dls_job_options *options_out, struct dls_error *err)
{
	int rc = dlsi_node_client_check(client, err);

	if (rc == 0)
		rc = dlsi_options_read("dls_job_options", options, sizeof *options_out, options_out, err);
	return rc ? rc : check(options_out, err);
}

DLS_EXPORT int dls_job_create(struct dls_client *client, const struct dls_job_options *options,
	struct dls_job **job_out, struct dls_error *err)
{
	struct dls_job_options known;
	int rc = dlsi_job_options_read(client, options, &known, err);

	if (rc)
		return rc;
	if (!job_out)
		return dlsi_fail(err, DLS_EINVAL, "job_out is NULL");
	return dlsi_node_job_create(client, &known, job_out, err);
}

DLS_EXPORT int dls_job_attach(
	struct dls_client *client, const char *id, struct dls_job **job_out, struct dls_error *err)
{
	int rc = dlsi_node_client_check(client, err);

	if (rc)
		return rc;
	if (!id || !job_out)
		return dlsi_fail(err, DLS_EINVAL, "%s is NULL", id ? "job_out" : "id");
	return dlsi_node_job_attach(client, id, job_out, err);
}

DLS_EXPORT void dls_job_destroy(struct dls_job *job)
{
	dlsi_node_job_destroy(job);
}

DLS_EXPORT int dls_job_add_file(struct dls_job *job, const char *path, struct dls_error *err)
{
	int rc = dlsi_node_job_begin_adding(job, err);

	if (rc)
		return rc;
	rc = path ? dlsi_inputs_add_file(&job->inputs, path, err) : dlsi_fail(err, DLS_EINVAL, "the path is NULL");
	dlsi_node_job_end_adding(job);
	return rc;
}

DLS_EXPORT int dls_job_add_bytes(struct dls_job *job, const void *data, size_t bytes, struct dls_error *err)
{
	int rc = dlsi_node_job_begin_adding(job, err);

	if (rc)
		return rc;
	rc = dlsi_inputs_add_bytes(&job->inputs, data, bytes, err);
	dlsi_node_job_end_adding(job);
	return rc;
}

DLS_EXPORT int dls_job_add_tensors(
	struct dls_job *job, const struct dls_tensor *tensors, uint32_t count, struct dls_error *err)
{
	int rc = dlsi_node_job_begin_adding(job, err);

	if (rc) {
		dlsi_tensors_release(tensors, count);
		return rc;
	}
	rc = dlsi_inputs_add_tensors(&job->inputs, tensors, count, err);
	dlsi_node_job_end_adding(job);
	return rc;
}

DLS_EXPORT int dls_job_add_batch(struct dls_job *job, const struct dls_tensor *tensor, struct dls_error *err)
{
	int rc = dlsi_node_job_begin_adding(job, err);

	if (rc) {
		dlsi_tensors_release(tensor, 1);
		return rc;
	}
	rc = dlsi_inputs_add_batch(&job->inputs, tensor, err);
	dlsi_node_job_end_adding(job);
	return rc;
}

DLS_EXPORT const char *dls_job_id(const struct dls_job *job)
{
	return job ? job->name : "";
}

DLS_EXPORT uint64_t dls_job_items(const struct dls_job *job)
{
	return dlsi_node_job_check(job, NULL) ? 0 : dlsi_node_job_items(job);
}

DLS_EXPORT int dls_job_submit(struct dls_job *job, struct dls_error *err)
{
	return dlsi_node_job_submit(job, err);
}

DLS_EXPORT int dls_job_next(struct dls_job *job, int timeout_ms, struct dls_result **result_out, struct dls_error *err)
{
	int rc = dlsi_node_job_check(job, err);

	if (rc)
		return rc;
	if (!result_out)
		return dlsi_fail(err, DLS_EINVAL, "result_out is NULL");
	return dlsi_node_job_next(job, timeout_ms, result_out, err);
}

DLS_EXPORT void dls_result_destroy(struct dls_result *result)
{
	dlsi_result_destroy(result);
}

DLS_EXPORT int dls_job_wait(struct dls_job *job, int timeout_ms, struct dls_error *err)
{
	int rc = dlsi_node_job_check(job, err);

	return rc ? rc : dlsi_node_job_wait(job, timeout_ms, err);
}

DLS_EXPORT int dls_job_cancel(struct dls_job *job, struct dls_error *err)
{
	int rc = dlsi_node_job_check(job, err);

	if (rc == 0)
		dlsi_node_job_cancel(job);
	return rc;
}

DLS_EXPORT int dls_job_progress(struct dls_job *job, struct dls_job_progress *progress_out)
{
	struct dls_job_progress progress;
	int rc = dlsi_node_job_check(job, NULL);

	if (rc)
		return rc;
	if (!progress_out)
		return DLS_EINVAL;
	dlsi_node_job_progress(job, &progress);
	return dlsi_options_write("dls_job_progress", &progress, sizeof progress, progress_out, NULL);
}
