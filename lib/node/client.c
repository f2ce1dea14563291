#include "node/client.h"

#include "base/clock.h"
#include "base/condition.h"
#include "base/random.h"
#include "node/job.h"
#include "node/plane.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* ZeroMQ's own signs of life, beside the session's: they see a stopped master. */
enum { HEARTBEAT_MS = 1000, TIMEOUT_MS = 5000 };

static struct dls_client *client_of(struct dlsi_driver *driver)
{
	return (struct dls_client *)driver;
}

/* Whether anybody takes connections there, master or not. Within a process nobody can tell. */
static void set_reached(struct dls_client *client, bool reached)
{
	pthread_mutex_lock(&client->mutex);
	client->reached = reached && strncmp(client->master, "inproc:", 7) != 0;
	pthread_mutex_unlock(&client->mutex);
}

static void step(
	struct dlsi_driver *driver, int64_t now_ns, const struct dlsi_event *event, struct dlsi_effects *effects)
{
	if (event->kind == DLSI_EVENT_CONNECTED || event->kind == DLSI_EVENT_LOST)
		set_reached(client_of(driver), event->kind == DLSI_EVENT_CONNECTED);
	dlsi_session_step(client_of(driver)->session, now_ns, event, effects);
}

static void begin_fetch(struct dls_client *client, const struct dlsi_effect *effect)
{
	const struct dlsi_effects *effects = &client->driver.effects;
	struct dlsi_text holder = dlsi_effects_text(effects, effect->fetch.holder, effect->fetch.holder_length);
	struct dlsi_text host = dlsi_effects_text(effects, effect->fetch.holder_host, effect->fetch.holder_host_length);
	char endpoint[DLSI_ENDPOINT_BYTES + 1];
	struct dlsi_fetch fetch = {.endpoint = endpoint, .token = effect->fetch.token, .blob = effect->fetch.offer};

	snprintf(endpoint, sizeof endpoint, "%.*s", (int)holder.length, holder.data);
	fetch.same_host =
		host.length == strlen(client->ctx->host) && !memcmp(host.data, client->ctx->host, host.length);
	fetch.length = fetch.blob.length;
	if (dlsi_fetches_begin(&client->fetches, &fetch, &effect->job, effect->attempt))
		client->driver.failure = DLS_ENOMEM;
}

static void fetched(
	void *arg, int64_t now_ns, const struct dlsi_id *job, uint64_t attempt, int code, struct dlsi_frame *frame)
{
	struct dls_client *client = arg;
	struct dlsi_event event = {.kind = DLSI_EVENT_FETCHED, .job = *job, .attempt = attempt};

	event.fetched.code = code;
	if (frame)
		event.fetched.payload = dlsi_driver_adopt(&client->driver, frame);
	dlsi_driver_step(&client->driver, now_ns, &event);
}

static void deliver(struct dls_client *client, const struct dlsi_effect *effect)
{
	struct dls_job *job = dlsi_map_get(&client->submitted, &effect->job);
	struct dlsi_delivery_facts facts = {
		.first = effect->first,
		.end = effect->end,
		.page_first = effect->deliver.page_first,
		.page_end = effect->deliver.page_end,
		.elapsed_ns = effect->deliver.elapsed_ns,
		.worker = dlsi_effects_text(
			&client->driver.effects, effect->deliver.worker, effect->deliver.worker_length),
	};

	if (job)
		dlsi_node_job_deliver(job, dlsi_payloads_get(&client->driver.payloads, effect->payload.handle), &facts);
}

/* Under the mutex: everybody who waits for anything of this client looks again. */
static void wake_all(struct dls_client *client)
{
	pthread_cond_broadcast(&client->changed);
	dlsi_list_each (node, &client->jobs)
		dlsi_node_job_wake(dlsi_list_entry(node, struct dls_job, node));
}

static void set_over(struct dls_client *client, int code, struct dlsi_text sentence)
{
	pthread_mutex_lock(&client->mutex);
	client->connected = false;
	dlsi_fail(&client->over, code, "%.*s", (int)sentence.length, sentence.data);
	wake_all(client);
	pthread_mutex_unlock(&client->mutex);
}

static void broken(struct dlsi_driver *driver, int code)
{
	set_over(client_of(driver), code, dlsi_text_of("the client has stopped: no memory or no descriptors are left"));
}

static void set_connected(struct dls_client *client, bool connected)
{
	pthread_mutex_lock(&client->mutex);
	client->connected = connected;
	pthread_cond_broadcast(&client->changed);
	pthread_mutex_unlock(&client->mutex);
}

/* A thread that waits for the master's answer to a command. */
struct question {
	struct dlsi_list node; /* on client->questions until it is answered */
	struct dls_client *client;
	const char *json;
	uint64_t number;
	bool answered;
	int code;
	char *text; /* NULL: no memory */
};

static struct question *find_question(struct dls_client *client, uint64_t number)
{
	dlsi_list_each (node, &client->questions) {
		struct question *question = dlsi_list_entry(node, struct question, node);

		if (question->number == number)
			return question;
	}
	return NULL;
}

static void answer(struct dls_client *client, uint64_t number, int code, struct dlsi_text text)
{
	struct question *question;

	pthread_mutex_lock(&client->mutex);
	question = find_question(client, number);
	if (question) {
		question->answered = true;
		question->code = code;
		question->text = dlsi_strndup(&client->ctx->alloc, text.data, text.length);
		dlsi_list_remove(&question->node);
		pthread_cond_broadcast(&client->changed);
	}
	pthread_mutex_unlock(&client->mutex);
}

static void take_notice(struct dls_client *client, const struct dlsi_effect *effect)
{
	struct dlsi_text text =
		dlsi_effects_text(&client->driver.effects, effect->notify.text, effect->notify.text_length);
	struct dls_job *job;

	switch (effect->notify.notice) {
	case DLSI_NOTICE_WELCOME:
		dlsi_ctx_log(client->ctx, DLS_LOG_INFO, "client: the master at %s has answered", client->master);
		set_connected(client, true);
		break;
	case DLSI_NOTICE_LOST:
		dlsi_ctx_log(client->ctx, DLS_LOG_WARNING, "client: the master at %s is lost; it is looked for again",
			client->master);
		set_connected(client, false);
		break;
	case DLSI_NOTICE_REJECTED:
		set_over(client, effect->notify.code, text);
		break;
	case DLSI_NOTICE_REPLY:
		answer(client, effect->notify.number, effect->notify.code, text);
		break;
	case DLSI_NOTICE_ACCEPTED:
	case DLSI_NOTICE_PROGRESS:
	case DLSI_NOTICE_ENDED:
		job = dlsi_map_get(&client->submitted, &effect->job);
		if (job)
			dlsi_node_job_notice(job, effect, text);
	}
}

static void carry_out(struct dlsi_driver *driver, const struct dlsi_effect *effect)
{
	struct dls_client *client = client_of(driver);

	if (effect->kind == DLSI_EFFECT_FETCH)
		begin_fetch(client, effect);
	else if (effect->kind == DLSI_EFFECT_DELIVER)
		deliver(client, effect);
	else if (effect->kind == DLSI_EFFECT_NOTIFY)
		take_notice(client, effect);
}

static const struct dlsi_driver_ops driver_ops = {
	.what = "client", .step = step, .carry_out = carry_out, .broken = broken};

static int create_session(struct dls_client *client, struct dls_error *err)
{
	struct dlsi_session_config config = {
		.tenant = client->tenant,
		.host = client->ctx->host,
		.data_endpoint = dlsi_dataplane_endpoint(client->plane),
		.incarnation = dlsi_random_u64(),
		.seed = dlsi_random_u64(),
		.patience_ns = DLSI_PATIENCE_NS,
	};

	return dlsi_session_create(&client->ctx->alloc, &config, &client->session, err);
}

static int connect(struct dls_client *client, const struct dls_client_options *options, struct dls_error *err)
{
	struct dlsi_plane_options plane = {options->master, options->data_bind, options->insecure};
	struct dlsi_transport_config config = {
		.context = client->ctx->zmq,
		.endpoint = options->master,
		.heartbeat_ms = HEARTBEAT_MS,
		.timeout_ms = TIMEOUT_MS,
	};
	struct dlsi_transport *transport;
	int rc = dlsi_plane_ref(client->ctx, &plane, &client->plane, err);

	if (rc)
		return rc;
	client->fetches.plane = client->plane;
	rc = create_session(client, err);
	if (rc == 0)
		rc = dlsi_transport_dial(&client->ctx->alloc, &config, &transport, err);
	return rc ? rc : dlsi_driver_start(&client->driver, transport, true, err);
}

static void init(struct dls_client *client, struct dls_ctx *ctx)
{
	client->ctx = ctx;
	client->news_fd = -1;
	dlsi_driver_init(&client->driver, ctx, &driver_ops);
	dlsi_fetches_init(&client->fetches, ctx, fetched, client);
	dlsi_map_init(&client->submitted, &ctx->alloc, dlsi_random_u64());
	dlsi_list_init(&client->jobs);
	dlsi_list_init(&client->news);
	dlsi_list_init(&client->questions);
	pthread_mutex_init(&client->mutex, NULL);
	dlsi_condition_init(&client->changed);
}

/* What may have been begun, in the order in which nothing is used after its end. */
static void fini(struct dls_client *client)
{
	const struct dlsi_alloc *alloc = &client->ctx->alloc;

	dlsi_driver_stop(&client->driver);
	dlsi_fetches_fini(&client->fetches);
	dlsi_session_destroy(client->session, NULL);
	dlsi_driver_fini(&client->driver);
	dlsi_plane_unref(client->ctx, client->plane);
	dlsi_map_fini(&client->submitted);
	if (client->news_fd >= 0)
		close(client->news_fd);
	pthread_cond_destroy(&client->changed);
	pthread_mutex_destroy(&client->mutex);
	dlsi_free(alloc, client->tenant);
	dlsi_free(alloc, client->master);
	dlsi_free(alloc, client);
}

int dlsi_node_client_create(struct dls_ctx *ctx, const struct dls_client_options *options,
	struct dls_client **client_out, struct dls_error *err)
{
	struct dls_client *client = dlsi_calloc(&ctx->alloc, 1, sizeof *client);
	int rc;

	if (!client)
		return dlsi_fail_memory(err);
	init(client, ctx);
	client->window_items = options->window_items;
	client->window_bytes = options->window_bytes;
	client->tenant = dlsi_strdup(&ctx->alloc, options->tenant);
	client->master = dlsi_strdup(&ctx->alloc, options->master);
	client->news_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (!client->tenant || !client->master)
		rc = dlsi_fail_memory(err);
	else if (client->news_fd < 0)
		rc = dlsi_fail_errno(err, DLS_EIO, errno, "cannot create a descriptor for the client's news");
	else
		rc = connect(client, options, err);
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
	pthread_mutex_lock(&client->mutex);
	busy = !dlsi_list_empty(&client->jobs);
	pthread_mutex_unlock(&client->mutex);
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

/* Under the mutex. Errors: as dls_client_wait. */
static int wait_connected(struct dls_client *client, int64_t until_ns, struct dls_error *err)
{
	bool in_time = true;

	while (!client->connected && !client->over.code && in_time)
		in_time = dlsi_condition_wait(&client->changed, &client->mutex, until_ns);
	if (client->connected)
		return 0;
	if (client->over.code)
		return dlsi_fail(err, client->over.code, "%s", client->over.text);
	if (client->reached)
		return dlsi_fail(
			err, DLS_EPROTOCOL, "what listens at %s does not answer as a master does", client->master);
	return dlsi_fail(err, DLS_EUNREACHABLE, "no master answers at %s; is it running?", client->master);
}

int dlsi_node_client_wait(struct dls_client *client, int timeout_ms, struct dls_error *err)
{
	int64_t until_ns = dlsi_timeout_end_ns(timeout_ms);
	int rc;

	pthread_mutex_lock(&client->mutex);
	rc = wait_connected(client, until_ns, err);
	pthread_mutex_unlock(&client->mutex);
	return rc;
}

void dlsi_node_client_process(struct dls_client *client)
{
	eventfd_t ignored;
	size_t news = 0;

	pthread_mutex_lock(&client->mutex);
	eventfd_read(client->news_fd, &ignored);
	dlsi_list_each (node, &client->news)
		news++;
	for (; news && !dlsi_list_empty(&client->news); news--) {
		struct dls_job *job = dlsi_list_entry(client->news.next, struct dls_job, news);

		dlsi_list_remove(&job->news);
		if (!job->notify)
			continue;
		job->notifying++;
		pthread_mutex_unlock(&client->mutex);
		job->notify(job->notify_arg, job);
		pthread_mutex_lock(&client->mutex);
		job->notifying--;
		pthread_cond_broadcast(&job->changed);
	}
	if (!dlsi_list_empty(&client->news)) /* came meanwhile, perhaps by a callback: the next call's */
		eventfd_write(client->news_fd, 1);
	pthread_mutex_unlock(&client->mutex);
}

static int ask(void *arg, int64_t now_ns)
{
	struct question *question = arg;
	struct dlsi_event event = {.kind = DLSI_EVENT_COMMAND};

	event.command.number = question->number;
	event.command.json = (struct dlsi_bytes){(const uint8_t *)question->json, (uint32_t)strlen(question->json)};
	dlsi_driver_step(&question->client->driver, now_ns, &event);
	return 0;
}

/* Under the mutex: asks once over the connection there is. True when it was answered, false when the connection was
 * lost or the time is over. */
static bool ask_once(struct dls_client *client, struct question *question, int64_t until_ns)
{
	bool in_time = true;

	question->number = ++client->asked;
	dlsi_list_append(&client->questions, &question->node);
	pthread_mutex_unlock(&client->mutex);
	dlsi_loop_call(client->ctx->loop, ask, question);
	pthread_mutex_lock(&client->mutex);
	while (!question->answered && client->connected && in_time)
		in_time = dlsi_condition_wait(&client->changed, &client->mutex, until_ns);
	dlsi_list_remove(&question->node);
	if (question->answered && question->code == DLS_EUNREACHABLE) {
		dlsi_free(&client->ctx->alloc, question->text); /* the session's own: it was lost just now */
		question->answered = false;
	}
	return question->answered;
}

static int read_answer(struct dls_client *client, struct question *question, char **json_out, struct dls_error *err)
{
	int rc = 0;

	if (!question->text)
		return dlsi_fail_memory(err);
	if (question->code == 0) {
		*json_out = question->text;
	} else {
		rc = dlsi_fail(err, question->code, "%s", question->text);
		dlsi_free(&client->ctx->alloc, question->text);
	}
	return rc;
}

int dlsi_node_client_command(
	struct dls_client *client, const char *json, int timeout_ms, char **json_out, struct dls_error *err)
{
	int64_t until_ns = dlsi_timeout_end_ns(timeout_ms);
	struct question question = {.client = client, .json = json};
	int rc;

	dlsi_list_init(&question.node);
	pthread_mutex_lock(&client->mutex);
	do
		rc = wait_connected(client, until_ns, err);
	while (rc == 0 && !ask_once(client, &question, until_ns) && dlsi_clock_monotonic_ns() < until_ns);
	pthread_mutex_unlock(&client->mutex);
	if (rc)
		return rc;
	if (!question.answered)
		return dlsi_fail(err, DLS_ETIMEOUT, "the master at %s did not answer in time", client->master);
	return read_answer(client, &question, json_out, err);
}
