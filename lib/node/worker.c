#include "node/worker.h"

#include "base/condition.h"
#include "base/limits.h"
#include "base/random.h"
#include "net/dataplane.h"
#include "node/plane.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* ZeroMQ's own signs of life, beside the agent's: they see a stopped master. */
enum { HEARTBEAT_MS = 1000, TIMEOUT_MS = 5000 };

static struct dls_worker *worker_of(struct dlsi_driver *driver)
{
	return (struct dls_worker *)driver;
}

/* ---- on the loop */

/* Within the process a connection needs nobody at the other end. */
static void set_reached(struct dls_worker *worker, bool reached)
{
	pthread_mutex_lock(&worker->mutex);
	worker->reached = reached && strncmp(worker->master, "inproc:", 7) != 0;
	pthread_mutex_unlock(&worker->mutex);
}

static void step(
	struct dlsi_driver *driver, int64_t now_ns, const struct dlsi_event *event, struct dlsi_effects *effects)
{
	if (event->kind == DLSI_EVENT_CONNECTED || event->kind == DLSI_EVENT_LOST)
		set_reached(worker_of(driver), event->kind == DLSI_EVENT_CONNECTED);
	dlsi_agent_step(worker_of(driver)->agent, now_ns, event, effects);
}

/* Under the mutex: whoever waits for a change of its standing looks again. */
static void tell(struct dls_worker *worker)
{
	pthread_cond_broadcast(&worker->changed);
	eventfd_write(worker->news_fd, 1);
}

static void set_welcomed(struct dls_worker *worker, bool welcomed)
{
	pthread_mutex_lock(&worker->mutex);
	worker->welcomed = welcomed;
	tell(worker);
	pthread_mutex_unlock(&worker->mutex);
}

static void set_over(struct dls_worker *worker, int code, struct dlsi_text sentence)
{
	pthread_mutex_lock(&worker->mutex);
	worker->welcomed = false;
	dlsi_fail(&worker->over, code, "%.*s", (int)sentence.length, sentence.data);
	tell(worker);
	pthread_mutex_unlock(&worker->mutex);
}

static void take_notice(struct dls_worker *worker, const struct dlsi_effect *effect)
{
	struct dlsi_text text =
		dlsi_effects_text(&worker->driver.effects, effect->notify.text, effect->notify.text_length);

	switch (effect->notify.notice) {
	case DLSI_NOTICE_REJECTED:
		set_over(worker, effect->notify.code, text);
		break;
	case DLSI_NOTICE_LOST:
		dlsi_ctx_log(worker->ctx, DLS_LOG_WARNING, "worker: the master at %s is lost; it is looked for again",
			worker->master);
		set_welcomed(worker, false);
		break;
	default:
		dlsi_ctx_log(worker->ctx, DLS_LOG_INFO, "worker: the master at %s has answered", worker->master);
		set_welcomed(worker, true);
	}
}

static void carry_out(struct dlsi_driver *driver, const struct dlsi_effect *effect)
{
	struct dls_worker *worker = worker_of(driver);
	int rc = 0;

	switch (effect->kind) {
	case DLSI_EFFECT_JOB_OPEN:
		rc = dlsi_worker_job_open(worker, effect);
		break;
	case DLSI_EFFECT_JOB_CLOSE:
		dlsi_worker_job_close(worker, &effect->job);
		break;
	case DLSI_EFFECT_EXECUTE:
		rc = dlsi_worker_task_execute(worker, effect);
		break;
	case DLSI_EFFECT_CANCEL:
		dlsi_worker_task_cancel(worker, effect->attempt);
		break;
	case DLSI_EFFECT_NOTIFY:
		take_notice(worker, effect);
		break;
	default:
		break;
	}
	if (rc)
		driver->failure = rc;
}

/* Nobody waits for anything any more. */
static void cancel_all(struct dls_worker *worker)
{
	worker->ending = true;
	dlsi_worker_task_cancel_all(worker);
	dlsi_list_each (node, &worker->fetches)
		dlsi_worker_fetch_cancel(dlsi_list_entry(node, struct dlsi_worker_fetch, node));
}

static void broken(struct dlsi_driver *driver, int code)
{
	struct dls_worker *worker = worker_of(driver);

	cancel_all(worker);
	set_over(worker, code, dlsi_text_of("the worker has stopped: no memory or no descriptors are left"));
}

static const struct dlsi_driver_ops driver_ops = {
	.what = "worker", .step = step, .carry_out = carry_out, .broken = broken};

void dlsi_worker_begin(struct dls_worker *worker)
{
	pthread_mutex_lock(&worker->mutex);
	worker->busy++;
	pthread_mutex_unlock(&worker->mutex);
}

void dlsi_worker_end(struct dls_worker *worker)
{
	pthread_mutex_lock(&worker->mutex);
	if (--worker->busy == 0)
		pthread_cond_broadcast(&worker->changed);
	pthread_mutex_unlock(&worker->mutex);
}

const struct dlsi_handler *dlsi_worker_find_handler(const struct dls_worker *worker, const char *name)
{
	for (uint16_t i = 0; i < worker->handler_count; i++)
		if (strcmp(worker->handlers[i].name, name) == 0)
			return &worker->handlers[i];
	return NULL;
}

/* ---- making it */

static char *make_name(const struct dlsi_alloc *alloc)
{
	char host[HOST_NAME_MAX + 1], name[HOST_NAME_MAX + 32];

	if (gethostname(host, sizeof host))
		snprintf(host, sizeof host, "localhost");
	host[sizeof host - 1] = '\0';
	snprintf(name, sizeof name, "%s-%ld", host, (long)getpid());
	return dlsi_strdup(alloc, name);
}

/* Where models are kept when nobody says where. */
static int choose_cache(const struct dlsi_alloc *alloc, char **folder_out, struct dls_error *err)
{
	const char *above = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	struct dlsi_buffer path;
	size_t length;

	if (!(above && *above == '/') && !(home && *home == '/'))
		return dlsi_fail(err, DLS_EINVAL,
			"there is no place to keep models, since neither XDG_CACHE_HOME nor HOME is set: set "
			"cache_dir");
	dlsi_buffer_init(&path, alloc);
	if (above && *above == '/')
		dlsi_buffer_printf(&path, "%s/dlsched", above);
	else
		dlsi_buffer_printf(&path, "%s/.cache/dlsched", home);
	dlsi_buffer_append(&path, "", 1);
	if (path.failed) {
		dlsi_buffer_fini(&path);
		return dlsi_fail_memory(err);
	}
	*folder_out = (char *)dlsi_buffer_take(&path, &length);
	return 0;
}

static int open_cache(
	const struct dlsi_alloc *alloc, const char *folder, struct dlsi_cache **cache_out, struct dls_error *err)
{
	char *chosen = NULL;
	int rc = folder ? 0 : choose_cache(alloc, &chosen, err);

	if (rc == 0)
		rc = dlsi_cache_open(alloc, folder ? folder : chosen, 0, cache_out, err);
	dlsi_free(alloc, chosen);
	return rc;
}

/* What running models takes. The processors that are the devices' share help to prepare inputs. */
static int prepare_models(struct dls_worker *worker, const char *folder, struct dls_error *err)
{
	const struct dlsi_alloc *alloc = &worker->ctx->alloc;
	unsigned share = worker->topology.threads / worker->device_count, helpers = share ? share - 1 : 0;
	int rc = open_cache(alloc, folder, &worker->cache, err);

	if (rc == 0)
		rc = dlsi_executor_create(alloc, "dls-librarian", &worker->librarian, err);
	for (uint16_t i = 0; i < worker->device_count && rc == 0; i++)
		rc = dlsi_inference_create(alloc, &dlsi_device_onednn, helpers, &worker->devices[i].inference, err);
	return rc;
}

static int make_devices(struct dls_worker *worker, uint32_t count, struct dls_error *err)
{
	const struct dlsi_alloc *alloc = &worker->ctx->alloc;
	int rc = 0;

	worker->devices = dlsi_calloc(alloc, count, sizeof *worker->devices);
	if (!worker->devices)
		return dlsi_fail_memory(err);
	for (; worker->device_count < count && rc == 0; worker->device_count++) {
		struct dlsi_worker_device *device = &worker->devices[worker->device_count];

		snprintf(device->name, sizeof device->name, "cpu%u", worker->device_count);
		rc = dlsi_executor_create(alloc, "dls-executor", &device->executor, err);
	}
	return rc;
}

static void init(struct dls_worker *worker, struct dls_ctx *ctx)
{
	worker->ctx = ctx;
	worker->news_fd = -1;
	dlsi_driver_init(&worker->driver, ctx, &driver_ops);
	dlsi_map_init(&worker->job_by_id, &ctx->alloc, dlsi_random_u64());
	dlsi_list_init(&worker->jobs);
	dlsi_list_init(&worker->tasks);
	dlsi_list_init(&worker->preparing);
	dlsi_list_init(&worker->models);
	dlsi_list_init(&worker->fetches);
	pthread_mutex_init(&worker->mutex, NULL);
	dlsi_condition_init(&worker->changed);
}

static int cancel_on_loop(void *arg, int64_t now_ns)
{
	(void)now_ns;
	cancel_all(arg);
	return 0;
}

/* Ends what is under way. */
static void come_to_rest(struct dls_worker *worker)
{
	dlsi_driver_stop(&worker->driver);
	dlsi_loop_call(worker->ctx->loop, cancel_on_loop, worker);
	pthread_mutex_lock(&worker->mutex);
	while (worker->busy)
		dlsi_condition_wait(&worker->changed, &worker->mutex, INT64_MAX);
	pthread_mutex_unlock(&worker->mutex);
}

static void fini_devices(struct dls_worker *worker)
{
	for (uint16_t i = 0; i < worker->device_count; i++) {
		dlsi_executor_destroy(worker->devices[i].executor);
		dlsi_inference_destroy(worker->devices[i].inference);
	}
	dlsi_free(&worker->ctx->alloc, worker->devices);
}

/* What may have been begun, in the order in which nothing is used after its end. */
static void fini(struct dls_worker *worker)
{
	const struct dlsi_alloc *alloc = &worker->ctx->alloc;

	come_to_rest(worker);
	fini_devices(worker);
	dlsi_executor_destroy(worker->librarian);
	dlsi_list_each (node, &worker->jobs)
		dlsi_worker_job_close(worker, &dlsi_list_entry(node, struct dlsi_worker_job, node)->id);
	dlsi_worker_models_fini(worker);
	dlsi_cache_close(worker->cache);
	dlsi_agent_destroy(worker->agent, NULL);
	dlsi_driver_fini(&worker->driver); /* withdraws what is still offered */
	dlsi_plane_unref(worker->ctx, worker->plane);
	dlsi_map_fini(&worker->job_by_id);
	for (uint16_t i = 0; i < worker->handler_count; i++)
		dlsi_free(alloc, worker->handlers[i].name);
	dlsi_free(alloc, worker->handlers);
	if (worker->news_fd >= 0)
		close(worker->news_fd);
	pthread_cond_destroy(&worker->changed);
	pthread_mutex_destroy(&worker->mutex);
	dlsi_free(alloc, worker->master);
	dlsi_free(alloc, worker->name);
	dlsi_free(alloc, worker);
}

int dlsi_node_worker_create(struct dls_ctx *ctx, const struct dls_worker_options *options,
	struct dls_worker **worker_out, struct dls_error *err)
{
	struct dlsi_plane_options plane = {options->master, options->data_bind, options->insecure};
	struct dls_worker *worker = dlsi_calloc(&ctx->alloc, 1, sizeof *worker);
	int rc;

	if (!worker)
		return dlsi_fail_memory(err);
	init(worker, ctx);
	worker->credits = (uint16_t)options->credits;
	worker->no_models = options->no_models;
	worker->master = dlsi_strdup(&ctx->alloc, options->master);
	worker->name = options->name ? dlsi_strdup(&ctx->alloc, options->name) : make_name(&ctx->alloc);
	worker->news_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (!worker->master || !worker->name)
		rc = dlsi_fail_memory(err);
	else if (worker->news_fd < 0)
		rc = dlsi_fail_errno(err, DLS_EIO, errno, "cannot create a descriptor for the worker's news");
	else
		rc = dlsi_plane_ref(ctx, &plane, &worker->plane, err);
	if (rc == 0)
		rc = dlsi_topology_read(&worker->topology, err);
	if (rc == 0)
		rc = make_devices(worker, options->devices, err);
	if (rc == 0 && !worker->no_models)
		rc = prepare_models(worker, options->cache_dir, err);
	if (rc) {
		fini(worker);
		return rc;
	}
	dlsi_ctx_ref(ctx);
	*worker_out = worker;
	return 0;
}

int dlsi_node_worker_check_options(struct dls_ctx *ctx, const struct dls_worker_options *options, struct dls_error *err)
{
	struct dlsi_plane_options plane = {options->master, options->data_bind, options->insecure};
	struct dlsi_cache *cache = NULL;
	int rc = dlsi_plane_check(&plane, err);

	if (rc == 0 && !options->no_models)
		rc = open_cache(&ctx->alloc, options->cache_dir, &cache, err);
	dlsi_cache_close(cache);
	return rc;
}

void dlsi_node_worker_destroy(struct dls_worker *worker)
{
	struct dls_ctx *ctx;

	if (dlsi_node_worker_check(worker, NULL))
		return;
	ctx = worker->ctx;
	fini(worker);
	dlsi_ctx_unref(ctx);
}

int dlsi_node_worker_check(const struct dls_worker *worker, struct dls_error *err)
{
	if (!worker)
		return dlsi_fail(err, DLS_EINVAL, "the worker is NULL");
	return dlsi_ctx_check(worker->ctx, err);
}

/* Under the mutex. */
static int add_handler(
	struct dls_worker *worker, const char *name, const struct dls_handler_ops *ops, struct dls_error *err)
{
	const struct dlsi_alloc *alloc = &worker->ctx->alloc;
	struct dlsi_handler *grown;

	if (worker->started)
		return dlsi_fail(err, DLS_ESTATE, "the worker has been started; register \"%s\" before that", name);
	if (dlsi_worker_find_handler(worker, name))
		return dlsi_fail(err, DLS_EEXISTS, "the worker has a handler \"%s\" already", name);
	if (worker->handler_count + !worker->no_models >= DLSI_WORKER_HANDLERS)
		return dlsi_fail(err, DLS_ELIMIT, "a worker may have %d handlers", DLSI_WORKER_HANDLERS);
	grown = dlsi_realloc(alloc, worker->handlers, (worker->handler_count + 1u) * sizeof *grown);
	if (!grown)
		return dlsi_fail_memory(err);
	worker->handlers = grown;
	grown[worker->handler_count] = (struct dlsi_handler){dlsi_strdup(alloc, name), *ops};
	if (!grown[worker->handler_count].name)
		return dlsi_fail_memory(err);
	worker->handler_count++;
	return 0;
}

int dlsi_node_worker_handle(
	struct dls_worker *worker, const char *name, const struct dls_handler_ops *ops, struct dls_error *err)
{
	int rc;

	pthread_mutex_lock(&worker->mutex);
	rc = add_handler(worker, name, ops, err);
	pthread_mutex_unlock(&worker->mutex);
	return rc;
}

/* ---- starting it */

static int create_agent(struct dls_worker *worker, struct dls_error *err)
{
	const char *handlers[DLSI_WORKER_HANDLERS + 1] = {NULL};
	struct dlsi_agent_device devices[DLSI_WORKER_DEVICES];
	struct dlsi_agent_config config = {
		.name = worker->name,
		.host = worker->ctx->host,
		.data_endpoint = dlsi_dataplane_endpoint(worker->plane),
		.incarnation = dlsi_random_u64(),
		.seed = dlsi_random_u64(),
		.devices = devices,
		.device_count = worker->device_count,
		.handlers = handlers,
	};
	uint16_t count = 0;

	for (uint16_t i = 0; i < worker->device_count; i++)
		devices[i] = (struct dlsi_agent_device){
			.name = worker->devices[i].name,
			.credits = worker->credits,
			.cores = worker->topology.cores,
			.memory_bytes = worker->topology.memory_bytes,
		};
	for (; count < worker->handler_count; count++)
		handlers[count] = worker->handlers[count].name;
	if (!worker->no_models)
		handlers[count] = DLSI_HANDLER_MODEL;
	return dlsi_agent_create(&worker->ctx->alloc, &config, &worker->agent, err);
}

/* From here on no handler is added. */
static int begin(struct dls_worker *worker, struct dls_error *err)
{
	int rc;

	pthread_mutex_lock(&worker->mutex);
	rc = worker->started ? dlsi_fail(err, DLS_ESTATE, "the worker has been started before")
			     : create_agent(worker, err);
	worker->started = worker->started || rc == 0;
	pthread_mutex_unlock(&worker->mutex);
	return rc;
}

static void begin_not(struct dls_worker *worker)
{
	pthread_mutex_lock(&worker->mutex);
	dlsi_agent_destroy(worker->agent, NULL);
	worker->agent = NULL;
	worker->started = false;
	pthread_mutex_unlock(&worker->mutex);
}

int dlsi_node_worker_start(struct dls_worker *worker, struct dls_error *err)
{
	struct dlsi_transport_config config = {
		.context = worker->ctx->zmq,
		.endpoint = worker->master,
		.heartbeat_ms = HEARTBEAT_MS,
		.timeout_ms = TIMEOUT_MS,
	};
	struct dlsi_transport *transport;
	int rc = begin(worker, err);

	if (rc)
		return rc;
	rc = dlsi_transport_dial(&worker->ctx->alloc, &config, &transport, err);
	if (rc == 0)
		rc = dlsi_driver_start(&worker->driver, transport, true, err);
	if (rc)
		begin_not(worker);
	return rc;
}

/* Under the mutex: how it stands where no time helps. Returns 1 with a master, 0 without, or why neither can be. */
static int standing(const struct dls_worker *worker, struct dls_error *err)
{
	if (!worker->started)
		return dlsi_fail(err, DLS_ESTATE, "the worker has not been started: call dls_worker_start first");
	if (worker->over.code)
		return dlsi_fail(err, worker->over.code, "%s", worker->over.text);
	return worker->welcomed;
}

int dlsi_node_worker_wait(struct dls_worker *worker, int timeout_ms, struct dls_error *err)
{
	int64_t until_ns = dlsi_timeout_end_ns(timeout_ms);
	bool in_time = true;
	int rc;

	pthread_mutex_lock(&worker->mutex);
	while ((rc = standing(worker, err)) == 0 && in_time)
		in_time = dlsi_condition_wait(&worker->changed, &worker->mutex, until_ns);
	if (rc > 0)
		rc = 0;
	else if (rc == 0 && worker->reached)
		rc = dlsi_fail(
			err, DLS_EPROTOCOL, "what listens at %s does not answer as a master does", worker->master);
	else if (rc == 0)
		rc = dlsi_fail(err, DLS_EUNREACHABLE, "no master answers at %s; is it running?", worker->master);
	pthread_mutex_unlock(&worker->mutex);
	return rc;
}

int dlsi_node_worker_process(struct dls_worker *worker, struct dls_error *err)
{
	eventfd_t ignored;
	int rc;

	pthread_mutex_lock(&worker->mutex);
	eventfd_read(worker->news_fd, &ignored);
	rc = standing(worker, err);
	pthread_mutex_unlock(&worker->mutex);
	return rc;
}
