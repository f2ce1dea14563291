#include "node/dialer.h"

#include "base/condition.h"
#include "node/fetch.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* ZeroMQ's own signs of life, beside the state machine's: they see a stopped master. */
enum { HEARTBEAT_MS = 1000, TIMEOUT_MS = 5000 };

int dlsi_dialer_init(struct dlsi_dialer *dialer, struct dls_ctx *ctx, const struct dlsi_driver_ops *ops,
	const struct dlsi_plane_options *options, struct dls_error *err)
{
	*dialer = (struct dlsi_dialer){0};
	dlsi_driver_init(&dialer->driver, ctx, ops);
	dlsi_list_init(&dialer->fetches);
	pthread_mutex_init(&dialer->mutex, NULL);
	dlsi_condition_init(&dialer->changed);
	dialer->master = dlsi_strdup(&ctx->alloc, options->master);
	dialer->news_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (dialer->news_fd < 0)
		return dlsi_fail_errno(err, DLS_EIO, errno, "cannot create a descriptor for the %s's news", ops->what);
	return dialer->master ? dlsi_plane_ref(ctx, options, &dialer->plane, err) : dlsi_fail_memory(err);
}

int dlsi_dialer_start(struct dlsi_dialer *dialer, struct dls_error *err)
{
	struct dls_ctx *ctx = dialer->driver.ctx;
	struct dlsi_transport_config config = {
		.context = ctx->zmq,
		.endpoint = dialer->master,
		.heartbeat_ms = HEARTBEAT_MS,
		.timeout_ms = TIMEOUT_MS,
	};
	struct dlsi_transport *transport;
	int rc = dlsi_transport_dial(&ctx->alloc, &config, &transport, err);

	return rc ? rc : dlsi_driver_start(&dialer->driver, transport, true, err);
}

static int end_fetches(void *arg, int64_t now_ns)
{
	(void)now_ns;
	dlsi_fetches_end(arg);
	return 0;
}

void dlsi_dialer_stop(struct dlsi_dialer *dialer)
{
	dlsi_driver_stop(&dialer->driver);
	dlsi_loop_call(dialer->driver.ctx->loop, end_fetches, dialer);
	pthread_mutex_lock(&dialer->mutex);
	while (dialer->busy)
		dlsi_condition_wait(&dialer->changed, &dialer->mutex, INT64_MAX);
	pthread_mutex_unlock(&dialer->mutex);
}

void dlsi_dialer_fini(struct dlsi_dialer *dialer)
{
	struct dls_ctx *ctx = dialer->driver.ctx;

	dlsi_driver_fini(&dialer->driver); /* withdraws what is still offered */
	dlsi_plane_unref(ctx, dialer->plane);
	if (dialer->news_fd >= 0)
		close(dialer->news_fd);
	pthread_cond_destroy(&dialer->changed);
	pthread_mutex_destroy(&dialer->mutex);
	dlsi_free(&ctx->alloc, dialer->master);
}

/* Whether anybody takes connections there, master or not. Within a process nobody can tell. */
static void set_reached(struct dlsi_dialer *dialer, bool reached)
{
	pthread_mutex_lock(&dialer->mutex);
	dialer->reached = reached && strncmp(dialer->master, "inproc:", 7) != 0;
	pthread_mutex_unlock(&dialer->mutex);
}

void dlsi_dialer_see(struct dlsi_dialer *dialer, const struct dlsi_event *event)
{
	if (event->kind == DLSI_EVENT_CONNECTED || event->kind == DLSI_EVENT_LOST)
		set_reached(dialer, event->kind == DLSI_EVENT_CONNECTED);
}

static void set_connected(struct dlsi_dialer *dialer, bool connected)
{
	pthread_mutex_lock(&dialer->mutex);
	dialer->connected = connected;
	pthread_cond_broadcast(&dialer->changed);
	pthread_mutex_unlock(&dialer->mutex);
}

static void set_over(struct dlsi_dialer *dialer, int code, struct dlsi_text sentence)
{
	pthread_mutex_lock(&dialer->mutex);
	dialer->connected = false;
	dlsi_fail(&dialer->over, code, "%.*s", (int)sentence.length, sentence.data);
	pthread_cond_broadcast(&dialer->changed);
	pthread_mutex_unlock(&dialer->mutex);
}

void dlsi_dialer_notice(struct dlsi_dialer *dialer, const struct dlsi_effect *effect)
{
	const struct dlsi_driver *driver = &dialer->driver;
	struct dlsi_text text = dlsi_effects_text(&driver->effects, effect->notify.text, effect->notify.text_length);

	if (effect->notify.notice == DLSI_NOTICE_REJECTED) {
		set_over(dialer, effect->notify.code, text);
		return;
	}
	if (effect->notify.notice == DLSI_NOTICE_LOST)
		dlsi_ctx_log(driver->ctx, DLS_LOG_WARNING, "%s: the master at %s is lost; it is looked for again",
			driver->ops->what, dialer->master);
	else
		dlsi_ctx_log(driver->ctx, DLS_LOG_INFO, "%s: the master at %s has answered", driver->ops->what,
			dialer->master);
	set_connected(dialer, effect->notify.notice == DLSI_NOTICE_WELCOME);
}

void dlsi_dialer_break(struct dlsi_dialer *dialer, int code)
{
	char sentence[DLS_ERROR_TEXT_BYTES];

	snprintf(sentence, sizeof sentence, "the %s has stopped: no memory or no descriptors are left",
		dialer->driver.ops->what);
	dlsi_fetches_end(dialer);
	set_over(dialer, code, dlsi_text_of(sentence));
}

bool dlsi_dialer_is_local(const struct dlsi_dialer *dialer, struct dlsi_text host)
{
	const char *here = dialer->driver.ctx->host;

	return host.length == strlen(here) && memcmp(host.data, here, host.length) == 0;
}

void dlsi_dialer_begin(struct dlsi_dialer *dialer)
{
	pthread_mutex_lock(&dialer->mutex);
	dialer->busy++;
	pthread_mutex_unlock(&dialer->mutex);
}

void dlsi_dialer_end(struct dlsi_dialer *dialer)
{
	pthread_mutex_lock(&dialer->mutex);
	if (--dialer->busy == 0)
		pthread_cond_broadcast(&dialer->changed);
	pthread_mutex_unlock(&dialer->mutex);
}

int dlsi_dialer_standing(const struct dlsi_dialer *dialer, struct dls_error *err)
{
	if (dialer->over.code)
		return dlsi_fail(err, dialer->over.code, "%s", dialer->over.text);
	return dialer->connected;
}

int dlsi_dialer_wait(struct dlsi_dialer *dialer, int64_t until_ns, struct dls_error *err)
{
	bool in_time = true;
	int rc;

	while ((rc = dlsi_dialer_standing(dialer, err)) == 0 && in_time)
		in_time = dlsi_condition_wait(&dialer->changed, &dialer->mutex, until_ns);
	if (rc)
		return rc > 0 ? 0 : rc;
	if (dialer->reached)
		return dlsi_fail(
			err, DLS_EPROTOCOL, "what listens at %s does not answer as a master does", dialer->master);
	return dlsi_fail(err, DLS_EUNREACHABLE, "no master answers at %s; is it running?", dialer->master);
}
