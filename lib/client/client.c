#include "client/client.h"

#include "base/clock.h"
#include "base/condition.h"
#include "base/random.h"
#include "client/command.h"
#include "client/job.h"
#include "client/result_fetch.h"
#include <stdio.h>
#include <sys/eventfd.h>

static struct dls_client *client_of(struct dlsi_driver *driver)
{
	return (struct dls_client *)driver;
}

static void step(
	struct dlsi_driver *driver, int64_t now_ns, const struct dlsi_event *event, struct dlsi_effects *effects)
{
	dlsi_dialer_see(&client_of(driver)->dialer, event);
	dlsi_session_step(client_of(driver)->session, now_ns, event, effects);
}

static void deliver(struct dls_client *client, const struct dlsi_effect *effect)
{
	struct dls_job *job = dlsi_map_get(&client->submitted, &effect->job);
	struct dlsi_delivery_facts facts = {
		.first = effect->first,
		.end = effect->end,
		.page_first = effect->deliver.page_first,
		.page_end = effect->deliver.page_end,
		.bytes = effect->deliver.bytes,
		.elapsed_ns = effect->deliver.elapsed_ns,
		.worker = dlsi_effects_text(
			&client->dialer.driver.effects, effect->deliver.worker, effect->deliver.worker_length),
	};

	if (job)
		dlsi_node_job_deliver(
			job, dlsi_payloads_get(&client->dialer.driver.payloads, effect->payload.handle), &facts);
}

/* It is over: those who wait for a job look again. */
static void wake_jobs(struct dls_client *client)
{
	pthread_mutex_lock(&client->dialer.mutex);
	dlsi_list_each (node, &client->jobs)
		dlsi_node_job_wake(dlsi_list_entry(node, struct dls_job, node));
	pthread_mutex_unlock(&client->dialer.mutex);
}

static void broken(struct dlsi_driver *driver, int code)
{
	dlsi_dialer_break(&client_of(driver)->dialer, code);
	wake_jobs(client_of(driver));
}

static void take_notice(struct dls_client *client, const struct dlsi_effect *effect)
{
	struct dlsi_text text =
		dlsi_effects_text(&client->dialer.driver.effects, effect->notify.text, effect->notify.text_length);
	struct dls_job *job;

	switch (effect->notify.notice) {
	case DLSI_NOTICE_WELCOME:
	case DLSI_NOTICE_LOST:
		dlsi_dialer_notice(&client->dialer, effect);
		break;
	case DLSI_NOTICE_REJECTED:
		dlsi_dialer_notice(&client->dialer, effect);
		wake_jobs(client);
		break;
	case DLSI_NOTICE_REPLY:
		dlsi_node_client_answer(client, effect, text);
		break;
	case DLSI_NOTICE_DRAINED: /* a worker's */
		break;
	case DLSI_NOTICE_ACCEPTED:
	case DLSI_NOTICE_DEFERRED:
	case DLSI_NOTICE_PROGRESS:
	case DLSI_NOTICE_ENDED:
		job = dlsi_map_get(&client->submitted, &effect->job);
		if (job)
			dlsi_node_job_notice(job, effect, text);
	}
}

/* Whoever cannot be connected to runs out of time there. */
static void serve(struct dls_client *client, const struct dlsi_effect *effect)
{
	struct dlsi_text reader =
		dlsi_effects_text(&client->dialer.driver.effects, effect->serve.reader, effect->serve.reader_length);
	char endpoint[DLSI_ENDPOINT_BYTES + 1];
	struct dls_error err;

	snprintf(endpoint, sizeof endpoint, "%.*s", (int)reader.length, reader.data);
	if (dlsi_dataplane_serve(client->dialer.plane, endpoint, &effect->serve.token, &err))
		dlsi_ctx_log(client->ctx, DLS_LOG_WARNING,
			"client: a worker that cannot connect here cannot be connected to either: %s", err.text);
}

static void carry_out(struct dlsi_driver *driver, const struct dlsi_effect *effect)
{
	struct dls_client *client = client_of(driver);

	if (effect->kind == DLSI_EFFECT_FETCH)
		dlsi_node_client_fetch(client, effect);
	else if (effect->kind == DLSI_EFFECT_SERVE)
		serve(client, effect);
	else if (effect->kind == DLSI_EFFECT_DELIVER)
		deliver(client, effect);
	else if (effect->kind == DLSI_EFFECT_NOTIFY)
		take_notice(client, effect);
}

static const struct dlsi_driver_ops driver_ops = {
	.what = "client", .step = step, .carry_out = carry_out, .broken = broken};

static void cancel_broken(struct dlsi_errand *errand, int64_t now_ns)
{
	struct dls_client *client = dlsi_list_entry(errand, struct dls_client, mourning);

	client->mourns = false;
	dlsi_list_each (node, &client->broken) {
		struct dls_job *job = dlsi_list_entry(node, struct dls_job, broken);

		dlsi_list_remove(node);
		dlsi_node_job_withdraw(job, now_ns);
	}
	dlsi_dialer_end(&client->dialer);
}

void dlsi_node_client_break_job(struct dls_client *client, struct dls_job *job)
{
	if (dlsi_list_empty(&job->broken))
		dlsi_list_append(&client->broken, &job->broken);
	if (client->mourns)
		return;
	client->mourns = true;
	dlsi_dialer_begin(&client->dialer);
	dlsi_loop_post(client->ctx->loop, &client->mourning);
}

static int create_session(struct dls_client *client, struct dls_error *err)
{
	struct dlsi_session_config config = {
		.tenant = client->tenant,
		.host = client->ctx->host,
		.data_endpoint = dlsi_dataplane_endpoint(client->dialer.plane),
		.incarnation = dlsi_random_u64(),
		.seed = dlsi_random_u64(),
		.patience_ns = DLSI_PATIENCE_NS,
	};

	return dlsi_session_create(&client->ctx->alloc, &config, &client->session, err);
}

static int start(struct dls_client *client, const struct dls_client_options *options, struct dls_error *err)
{
	struct dlsi_plane_options plane = {options->master, options->data_bind, options->insecure, true};
	int rc = dlsi_dialer_init(&client->dialer, client->ctx, &driver_ops, &plane, err);

	if (rc)
		return rc;
	client->tenant = dlsi_strdup(&client->ctx->alloc, options->tenant);
	rc = client->tenant ? create_session(client, err) : dlsi_fail_memory(err);
	return rc ? rc : dlsi_dialer_start(&client->dialer, err);
}

/* What may have been begun, in the order in which nothing is used after its end. */
static void fini(struct dls_client *client)
{
	const struct dlsi_alloc *alloc = &client->ctx->alloc;

	dlsi_dialer_stop(&client->dialer);
	dlsi_session_destroy(client->session, NULL);
	dlsi_dialer_fini(&client->dialer);
	dlsi_map_fini(&client->submitted);
	dlsi_free(alloc, client->tenant);
	dlsi_free(alloc, client);
}

int dlsi_node_client_create(struct dls_ctx *ctx, const struct dls_client_options *options,
	struct dls_client **client_out, struct dls_error *err)
{
	struct dls_client *client = dlsi_calloc(&ctx->alloc, 1, sizeof *client);
	int rc;

	if (!client)
		return dlsi_fail_memory(err);
	client->ctx = ctx;
	client->window_items = options->window_items;
	client->window_bytes = options->window_bytes;
	dlsi_map_init(&client->submitted, &ctx->alloc, dlsi_random_u64());
	client->mourning.run = cancel_broken;
	dlsi_list_init(&client->broken);
	dlsi_list_init(&client->jobs);
	dlsi_list_init(&client->news);
	dlsi_list_init(&client->questions);
	rc = start(client, options, err);
	if (rc) {
		fini(client);
		return rc;
	}
	dlsi_ctx_ref(ctx);
	*client_out = client;
	return 0;
}

void dlsi_node_client_destroy(struct dls_client *client)
{
	struct dls_ctx *ctx;
	bool busy;

	if (dlsi_node_client_check(client, NULL))
		return;
	ctx = client->ctx;
	pthread_mutex_lock(&client->dialer.mutex);
	busy = !dlsi_list_empty(&client->jobs);
	pthread_mutex_unlock(&client->dialer.mutex);
	if (busy) {
		dlsi_ctx_log(ctx, DLS_LOG_ERROR, "client: it has jobs that were not destroyed, so it is not either");
		return;
	}
	fini(client);
	dlsi_ctx_unref(ctx);
}

int dlsi_node_client_check(const struct dls_client *client, struct dls_error *err)
{
	if (!client)
		return dlsi_fail(err, DLS_EINVAL, "the client is NULL");
	return dlsi_ctx_check(client->ctx, err);
}

int dlsi_node_client_wait(struct dls_client *client, int timeout_ms, struct dls_error *err)
{
	int64_t until_ns = dlsi_timeout_end_ns(timeout_ms);
	int rc;

	pthread_mutex_lock(&client->dialer.mutex);
	rc = dlsi_dialer_wait(&client->dialer, until_ns, err);
	pthread_mutex_unlock(&client->dialer.mutex);
	return rc;
}

void dlsi_node_client_process(struct dls_client *client)
{
	eventfd_t ignored;
	size_t news = 0;

	pthread_mutex_lock(&client->dialer.mutex);
	eventfd_read(client->dialer.news_fd, &ignored);
	dlsi_list_each (node, &client->news)
		news++;
	for (; news && !dlsi_list_empty(&client->news); news--) {
		struct dls_job *job = dlsi_list_entry(client->news.next, struct dls_job, news);

		dlsi_list_remove(&job->news);
		if (!job->notify)
			continue;
		job->notifying++;
		pthread_mutex_unlock(&client->dialer.mutex);
		job->notify(job->notify_arg, job);
		pthread_mutex_lock(&client->dialer.mutex);
		job->notifying--;
		pthread_cond_broadcast(&job->changed);
	}
	if (!dlsi_list_empty(&client->news)) /* came meanwhile, perhaps by a callback: the next call's */
		eventfd_write(client->dialer.news_fd, 1);
	pthread_mutex_unlock(&client->dialer.mutex);
}
