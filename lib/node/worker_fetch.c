#include "node/worker_fetch.h"

#include "node/worker.h"

/* On the loop's thread. */
static void finish(struct dlsi_errand *errand, int64_t now_ns)
{
	struct dlsi_worker_fetch *fetch = (struct dlsi_worker_fetch *)errand;
	struct dls_worker *worker = fetch->worker;

	(void)now_ns;
	dlsi_list_remove(&fetch->node);
	fetch->done(fetch);
	dlsi_worker_end(worker);
}

/* On the plane's thread. */
static void leave(void *arg, int code, struct dlsi_frame *frame, const struct dls_error *err)
{
	struct dlsi_worker_fetch *fetch = arg;

	fetch->code = code;
	fetch->frame = frame;
	if (code)
		fetch->err = *err;
	if (code == DLS_EUNREACHABLE) /* nobody but the holder had it */
		fetch->code = fetch->err.code = DLS_ELOST;
	dlsi_loop_post(fetch->worker->ctx->loop, &fetch->errand);
}

int dlsi_worker_fetch_begin(struct dls_worker *worker, struct dlsi_worker_fetch *fetch, const struct dlsi_fetch *wanted,
	void (*done)(struct dlsi_worker_fetch *fetch), struct dls_error *err)
{
	struct dlsi_fetch request = *wanted;
	int rc;

	if (worker->ending)
		return dlsi_fail(err, DLS_ECANCELLED, "the worker ends");
	*fetch = (struct dlsi_worker_fetch){.errand.run = finish, .worker = worker, .done = done};
	dlsi_list_append(&worker->fetches, &fetch->node);
	dlsi_worker_begin(worker);
	request.done = leave;
	request.arg = fetch;
	rc = dlsi_dataplane_fetch(worker->plane, &request, &fetch->number, err);
	if (rc) {
		dlsi_list_remove(&fetch->node);
		dlsi_worker_end(worker);
	}
	return rc;
}

void dlsi_worker_fetch_cancel(struct dlsi_worker_fetch *fetch)
{
	dlsi_dataplane_cancel(fetch->worker->plane, fetch->number);
}
