#include "node/fetch.h"

#include "node/dialer.h"

/* On the loop's thread. */
static void finish(struct dlsi_errand *errand, int64_t now_ns)
{
	struct dlsi_pending_fetch *fetch = (struct dlsi_pending_fetch *)errand;
	struct dlsi_dialer *dialer = fetch->dialer;

	dlsi_list_remove(&fetch->node);
	fetch->done(fetch, now_ns);
	dlsi_dialer_end(dialer);
}

/* On the plane's thread, or at once if it could not begin. */
static void leave(void *arg, int code, struct dlsi_frame *frame, const struct dls_error *err)
{
	struct dlsi_pending_fetch *fetch = arg;

	fetch->frame = frame;
	if (code)
		fetch->err = *err;
	if (code == DLS_EUNREACHABLE) /* nobody but the holder had it */
		fetch->err.code = DLS_ELOST;
	dlsi_loop_post(fetch->dialer->driver.ctx->loop, &fetch->errand);
}

static void call(struct dlsi_errand *errand, int64_t now_ns)
{
	struct dlsi_pending_fetch *fetch = dlsi_list_entry(errand, struct dlsi_pending_fetch, calling);
	struct dlsi_event event = {.kind = DLSI_EVENT_CALL, .job = fetch->job};

	dlsi_driver_step(&fetch->dialer->driver, now_ns, &event);
}

/* On the plane's thread, which leaves the outcome later: so this errand is run before that one. */
static void post_call(void *arg)
{
	struct dlsi_pending_fetch *fetch = arg;

	dlsi_loop_post(fetch->dialer->driver.ctx->loop, &fetch->calling);
}

void dlsi_fetch_begin(struct dlsi_dialer *dialer, struct dlsi_pending_fetch *fetch, const struct dlsi_fetch *wanted,
	const struct dlsi_id *job, void (*done)(struct dlsi_pending_fetch *fetch, int64_t now_ns))
{
	struct dlsi_fetch request = *wanted;
	struct dls_error err;
	int rc;

	*fetch = (struct dlsi_pending_fetch){.errand.run = finish, .calling.run = call, .dialer = dialer, .done = done};
	dlsi_list_append(&dialer->fetches, &fetch->node);
	dlsi_dialer_begin(dialer);
	request.done = leave;
	request.arg = fetch;
	if (job) {
		fetch->job = *job;
		request.call = post_call;
	}
	if (dialer->ending)
		rc = dlsi_fail(&err, DLS_ECANCELLED, "the %s ends", dialer->driver.ops->what);
	else
		rc = dlsi_dataplane_fetch(dialer->plane, &request, &fetch->number, &err);
	if (rc)
		leave(fetch, rc, NULL, &err);
}

void dlsi_fetch_cancel(struct dlsi_pending_fetch *fetch)
{
	dlsi_dataplane_cancel(fetch->dialer->plane, fetch->number);
}

void dlsi_fetches_end(struct dlsi_dialer *dialer)
{
	dialer->ending = true;
	dlsi_list_each (node, &dialer->fetches)
		dlsi_fetch_cancel(dlsi_list_entry(node, struct dlsi_pending_fetch, node));
}
