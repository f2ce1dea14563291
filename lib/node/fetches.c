#include "node/fetches.h"

#include "base/condition.h"

struct fetch {
	struct dlsi_errand errand; /* first */
	struct dlsi_fetches *fetches;
	struct dlsi_list node;
	struct dlsi_id job;
	uint64_t attempt;
	uint64_t number; /* the plane's */
	int code;
	struct dlsi_frame *frame;
};

void dlsi_fetches_init(struct dlsi_fetches *fetches, struct dls_ctx *ctx, dlsi_fetched *fetched, void *arg)
{
	*fetches = (struct dlsi_fetches){.ctx = ctx, .fetched = fetched, .arg = arg};
	dlsi_list_init(&fetches->list);
	pthread_mutex_init(&fetches->mutex, NULL);
	dlsi_condition_init(&fetches->ended);
}

void dlsi_fetches_cancel(struct dlsi_fetches *fetches, const struct dlsi_id *job)
{
	dlsi_list_each (node, &fetches->list) {
		struct fetch *fetch = dlsi_list_entry(node, struct fetch, node);

		if (!job || dlsi_id_equal(&fetch->job, job))
			dlsi_dataplane_cancel(fetches->plane, fetch->number);
	}
}

static int cancel_all(void *arg, int64_t now_ns)
{
	(void)now_ns;
	dlsi_fetches_cancel(arg, NULL);
	return 0;
}

void dlsi_fetches_fini(struct dlsi_fetches *fetches)
{
	dlsi_loop_call(fetches->ctx->loop, cancel_all, fetches);
	pthread_mutex_lock(&fetches->mutex);
	while (fetches->count)
		dlsi_condition_wait(&fetches->ended, &fetches->mutex, INT64_MAX);
	pthread_mutex_unlock(&fetches->mutex);
	pthread_cond_destroy(&fetches->ended);
	pthread_mutex_destroy(&fetches->mutex);
}

/* On the loop's thread. */
static void finish(struct dlsi_errand *errand, int64_t now_ns)
{
	struct fetch *fetch = (struct fetch *)errand;
	struct dlsi_fetches *fetches = fetch->fetches;

	dlsi_list_remove(&fetch->node);
	fetches->fetched(fetches->arg, now_ns, &fetch->job, fetch->attempt, fetch->code, fetch->frame);
	dlsi_free(&fetches->ctx->alloc, fetch);
	pthread_mutex_lock(&fetches->mutex);
	fetches->count--;
	pthread_cond_broadcast(&fetches->ended);
	pthread_mutex_unlock(&fetches->mutex);
}

/* On the plane's thread. */
static void done(void *arg, int code, struct dlsi_frame *frame, const struct dls_error *err)
{
	struct fetch *fetch = arg;

	if (code)
		dlsi_ctx_log(fetch->fetches->ctx, DLS_LOG_INFO, "client: a result could not be fetched: %s", err->text);
	fetch->code = code;
	fetch->frame = frame;
	dlsi_loop_post(fetch->fetches->ctx->loop, &fetch->errand);
}

int dlsi_fetches_begin(
	struct dlsi_fetches *fetches, const struct dlsi_fetch *wanted, const struct dlsi_id *job, uint64_t attempt)
{
	struct fetch *fetch = dlsi_calloc(&fetches->ctx->alloc, 1, sizeof *fetch);
	struct dlsi_fetch request = *wanted;
	struct dls_error err;
	int rc;

	if (!fetch)
		return DLS_ENOMEM;
	fetch->errand.run = finish;
	fetch->fetches = fetches;
	fetch->job = *job;
	fetch->attempt = attempt;
	dlsi_list_append(&fetches->list, &fetch->node);
	pthread_mutex_lock(&fetches->mutex);
	fetches->count++;
	pthread_mutex_unlock(&fetches->mutex);
	request.done = done;
	request.arg = fetch;
	rc = dlsi_dataplane_fetch(fetches->plane, &request, &fetch->number, &err);
	if (rc)
		done(fetch, rc, NULL, &err);
	return 0;
}
