/* Taking a job's results: waiting for them, decoding them in the program's thread, and telling how it goes. */
#include "base/condition.h"
#include "client/job.h"
#include "client/result.h"
#include <inttypes.h>

enum { WINDOW_STEP = 256 }; /* items taken between two notes to the session, unless a page ends before */

int dlsi_node_job_tell_end(const struct dls_job *job, uint64_t item, struct dls_error *err)
{
	const struct dls_error *end = job->stage == DLSI_STAGE_ENDED ? &job->end : &job->client->dialer.over;

	if (end->code)
		return dlsi_fail(err, end->code, "%s", end->text);
	return dlsi_fail(err, DLS_EPROTOCOL, "the job has ended without the result of item %" PRIu64, item);
}

bool dlsi_node_job_has_stopped(const struct dls_job *job)
{
	return job->stage == DLSI_STAGE_ENDED || job->client->dialer.over.code;
}

/* Under the mutex: waits until job->page holds the next item (1), all were taken (0), or there is an error. */
static int await_item(struct dls_job *job, int64_t until_ns, struct dls_error *err)
{
	bool in_time = true;

	while (true) {
		if (!job->page)
			job->page = dlsi_deliveries_take(&job->deliveries, job->next);
		if (job->page)
			return 1;
		if (job->stage == DLSI_STAGE_FILLING)
			return dlsi_fail(err, DLS_ESTATE, "the job has not been submitted");
		if (job->next == job->items)
			return 0;
		if (dlsi_node_job_has_stopped(job))
			return dlsi_node_job_tell_end(job, job->next, err);
		if (!in_time)
			return dlsi_fail(err, DLS_ETIMEOUT, "item %" PRIu64 " has no result yet", job->next);
		in_time = dlsi_condition_wait(&job->changed, &job->client->dialer.mutex, until_ns);
	}
}

/* The item is the caller's; the page goes with its last one. */
static void advance(struct dls_job *job)
{
	struct dlsi_delivery *done = NULL;
	bool tell;

	pthread_mutex_lock(&job->client->dialer.mutex);
	if (++job->next == job->page->end) {
		done = job->page;
		job->page = NULL;
		job->waiting_bytes -= done->bytes;
	}
	tell = job->stage == DLSI_STAGE_SUBMITTED && job->next < job->items && (done || job->next % WINDOW_STEP == 0);
	job->want_window |= tell;
	pthread_mutex_unlock(&job->client->dialer.mutex);
	if (tell)
		dlsi_loop_post(job->client->ctx->loop, &job->errand);
	dlsi_delivery_destroy(done, &job->client->ctx->alloc);
}

int dlsi_node_job_next(struct dls_job *job, int timeout_ms, struct dls_result **result_out, struct dls_error *err)
{
	const struct dlsi_delivery *page;
	int64_t until_ns = dlsi_timeout_end_ns(timeout_ms);
	bool ended;
	int rc;

	pthread_mutex_lock(&job->client->dialer.mutex);
	rc = await_item(job, until_ns, err);
	page = job->page;
	ended = job->stage == DLSI_STAGE_ENDED;
	pthread_mutex_unlock(&job->client->dialer.mutex);
	if (rc != 1) {
		if (ended)
			dlsi_node_job_retire(job);
		return rc;
	}
	if (dlsi_result_create(&job->client->ctx->alloc, &page->page, (uint32_t)(job->next - page->page_first),
		    job->next, page->worker, page->item_ns, result_out))
		return dlsi_fail_memory(err);
	advance(job);
	return 1;
}

/* Under the mutex: the window lets no more come until something is taken. */
static bool is_window_full(const struct dls_job *job)
{
	return job->progress.done - job->next >= job->window_items || job->waiting_bytes >= job->window_bytes;
}

int dlsi_node_job_wait(struct dls_job *job, int timeout_ms, struct dls_error *err)
{
	int64_t until_ns = dlsi_timeout_end_ns(timeout_ms);
	bool in_time = true;
	int rc = 0;

	pthread_mutex_lock(&job->client->dialer.mutex);
	while (rc == 0 && job->stage != DLSI_STAGE_ENDED && !is_window_full(job)) {
		if (job->stage == DLSI_STAGE_FILLING)
			rc = dlsi_fail(err, DLS_ESTATE, "the job has not been submitted");
		else if (job->client->dialer.over.code)
			rc = dlsi_node_job_tell_end(job, job->next, err);
		else if (!in_time)
			rc = dlsi_fail(err, DLS_ETIMEOUT, "%" PRIu64 " of %" PRIu64 " results have arrived",
				job->progress.done, job->items == UINT64_MAX ? 0 : job->items);
		else
			in_time = dlsi_condition_wait(&job->changed, &job->client->dialer.mutex, until_ns);
	}
	if (rc == 0 && job->stage == DLSI_STAGE_ENDED && job->end.code)
		rc = dlsi_node_job_tell_end(job, job->next, err);
	pthread_mutex_unlock(&job->client->dialer.mutex);
	return rc;
}

void dlsi_node_job_progress(struct dls_job *job, struct dls_job_progress *progress_out)
{
	pthread_mutex_lock(&job->client->dialer.mutex);
	*progress_out = job->progress;
	progress_out->items = job->items == UINT64_MAX ? 0 : job->items;
	pthread_mutex_unlock(&job->client->dialer.mutex);
}
