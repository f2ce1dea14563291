#include "worker/worker.h"

#include "base/condition.h"
#include "base/limits.h"
#include "base/random.h"
#include "kernel/isa.h"
#include "worker/model_cache.h"
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

static struct dls_worker *worker_of(struct dlsi_driver *driver)
{
	return (struct dls_worker *)driver;
}

/* ---- on the loop */

static void step(
	struct dlsi_driver *driver, int64_t now_ns, const struct dlsi_event *event, struct dlsi_effects *effects)
{
	dlsi_dialer_see(&worker_of(driver)->dialer, event);
	dlsi_agent_step(worker_of(driver)->agent, now_ns, event, effects);
}

static void take_notice(struct dls_worker *worker, const struct dlsi_effect *effect)
{
	if (effect->notify.notice == DLSI_NOTICE_DRAINED) {
		pthread_mutex_lock(&worker->dialer.mutex);
		worker->drained = true;
		pthread_cond_broadcast(&worker->dialer.changed);
		pthread_mutex_unlock(&worker->dialer.mutex);
	} else {
		dlsi_dialer_notice(&worker->dialer, effect);
	}
	eventfd_write(worker->dialer.news_fd, 1);
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
	case DLSI_EFFECT_RECALL:
		dlsi_worker_task_recall(worker, effect->attempt, effect->recall.running);
		break;
	case DLSI_EFFECT_FOUND:
		dlsi_worker_model_found(worker, effect);
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

static void broken(struct dlsi_driver *driver, int code)
{
	dlsi_worker_task_cancel_all(worker_of(driver));
	dlsi_dialer_break(&worker_of(driver)->dialer, code);
	eventfd_write(worker_of(driver)->dialer.news_fd, 1);
}

static const struct dlsi_driver_ops driver_ops = {
	.what = "worker", .step = step, .carry_out = carry_out, .broken = broken};

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

static void init(struct dls_worker *worker, struct dls_ctx *ctx)
{
	worker->ctx = ctx;
	dlsi_map_init(&worker->job_by_id, &ctx->alloc, dlsi_random_u64());
	dlsi_list_init(&worker->jobs);
	dlsi_list_init(&worker->tasks);
	dlsi_list_init(&worker->models);
	dlsi_list_init(&worker->readers);
	dlsi_list_init(&worker->page_room.waiting);
	dlsi_list_init(&worker->input_room.waiting);
}

static int cancel_tasks(void *arg, int64_t now_ns)
{
	(void)now_ns;
	dlsi_worker_task_cancel_all(arg);
	return 0;
}

/* Ends what is under way. */
static void come_to_rest(struct dls_worker *worker)
{
	dlsi_driver_stop(&worker->dialer.driver); /* no task comes any more */
	dlsi_loop_call(worker->ctx->loop, cancel_tasks, worker);
	dlsi_dialer_stop(&worker->dialer);
}

/* What may have been begun, in the order in which nothing is used after its end. */
static void fini(struct dls_worker *worker)
{
	const struct dlsi_alloc *alloc = &worker->ctx->alloc;

	come_to_rest(worker);
	dlsi_worker_devices_fini(worker);
	dlsi_list_each (node, &worker->jobs)
		dlsi_worker_job_close(worker, &dlsi_list_entry(node, struct dlsi_worker_job, node)->id);
	dlsi_worker_models_fini(worker);
	dlsi_agent_destroy(worker->agent, NULL);
	dlsi_dialer_fini(&worker->dialer);
	dlsi_map_fini(&worker->job_by_id);
	dlsi_worker_handlers_fini(worker);
	dlsi_worker_capacity_fini(&worker->capacity, alloc);
	dlsi_free(alloc, worker->name);
	dlsi_free(alloc, worker);
}

int dlsi_node_worker_create(struct dls_ctx *ctx, const struct dls_worker_options *options,
	struct dls_worker **worker_out, struct dls_error *err)
{
	struct dlsi_plane_options plane = {
		.master = options->master, .data_bind = options->data_bind, .insecure = options->insecure};
	struct dls_worker *worker = dlsi_calloc(&ctx->alloc, 1, sizeof *worker);
	int rc;

	if (!worker)
		return dlsi_fail_memory(err);
	init(worker, ctx);
	worker->credits = (uint16_t)options->credits;
	worker->threads = options->threads;
	worker->no_models = options->no_models;
	rc = dlsi_dialer_init(&worker->dialer, ctx, &driver_ops, &plane, err);
	worker->name = options->name ? dlsi_strdup(&ctx->alloc, options->name) : make_name(&ctx->alloc);
	if (rc == 0 && !worker->name)
		rc = dlsi_fail_memory(err);
	if (rc == 0)
		rc = dlsi_worker_capacity_init(&worker->capacity, &ctx->alloc, options, err);
	if (rc == 0)
		rc = dlsi_topology_read(&worker->topology, err);
	if (rc == 0)
		rc = dlsi_worker_devices_init(worker, options->devices, options->cache_dir, err);
	if (rc == 0 && !worker->no_models)
		rc = dlsi_worker_models_init(worker, options->cache_dir, err);
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
	struct dlsi_plane_options plane = {
		.master = options->master, .data_bind = options->data_bind, .insecure = options->insecure};
	enum dlsi_isa isa;
	int rc = dlsi_plane_check(&plane, err);

	if (rc == 0 && !options->no_models)
		rc = dlsi_isa_choose(&isa, err);
	return rc || options->no_models ? rc : dlsi_worker_cache_check(&ctx->alloc, options->cache_dir, err);
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

/* ---- starting it */

static int create_agent(struct dls_worker *worker, struct dls_error *err)
{
	const char *handlers[DLSI_WORKER_HANDLERS + 1] = {NULL};
	struct dlsi_agent_device devices[DLSI_WORKER_DEVICES];
	struct dlsi_agent_config config = {
		.name = worker->name,
		.host = worker->ctx->host,
		.data_endpoint = dlsi_dataplane_endpoint(worker->dialer.plane),
		.incarnation = dlsi_random_u64(),
		.seed = dlsi_random_u64(),
		.devices = devices,
		.device_count = worker->device_count,
		.resources = worker->capacity.resources,
		.resource_count = worker->capacity.resource_count,
		.labels = (const char *const *)worker->capacity.labels,
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

	pthread_mutex_lock(&worker->dialer.mutex);
	rc = worker->started ? dlsi_fail(err, DLS_ESTATE, "the worker has been started before")
			     : create_agent(worker, err);
	worker->started = worker->started || rc == 0;
	pthread_mutex_unlock(&worker->dialer.mutex);
	return rc;
}

static void begin_not(struct dls_worker *worker)
{
	pthread_mutex_lock(&worker->dialer.mutex);
	dlsi_agent_destroy(worker->agent, NULL);
	worker->agent = NULL;
	worker->started = false;
	pthread_mutex_unlock(&worker->dialer.mutex);
}

int dlsi_node_worker_start(struct dls_worker *worker, struct dls_error *err)
{
	int rc = begin(worker, err);

	if (rc)
		return rc;
	rc = dlsi_dialer_start(&worker->dialer, err);
	if (rc)
		begin_not(worker);
	return rc;
}

/* Under the mutex. */
static int is_started(const struct dls_worker *worker, struct dls_error *err)
{
	return worker->started
		       ? 0
		       : dlsi_fail(err, DLS_ESTATE, "the worker has not been started: call dls_worker_start first");
}

int dlsi_node_worker_wait(struct dls_worker *worker, int timeout_ms, struct dls_error *err)
{
	int64_t until_ns = dlsi_timeout_end_ns(timeout_ms);
	int rc;

	pthread_mutex_lock(&worker->dialer.mutex);
	rc = is_started(worker, err);
	if (rc == 0)
		rc = dlsi_dialer_wait(&worker->dialer, until_ns, err);
	pthread_mutex_unlock(&worker->dialer.mutex);
	return rc;
}

int dlsi_node_worker_process(struct dls_worker *worker, struct dls_error *err)
{
	eventfd_t ignored;
	int rc;

	pthread_mutex_lock(&worker->dialer.mutex);
	eventfd_read(worker->dialer.news_fd, &ignored);
	rc = is_started(worker, err);
	if (rc == 0)
		rc = dlsi_dialer_standing(&worker->dialer, err);
	pthread_mutex_unlock(&worker->dialer.mutex);
	return rc;
}

static int drain(void *arg, int64_t now_ns)
{
	struct dls_worker *worker = arg;

	dlsi_driver_step(&worker->dialer.driver, now_ns, &(struct dlsi_event){.kind = DLSI_EVENT_DRAIN});
	return 0;
}

int dlsi_node_worker_drain(struct dls_worker *worker, int timeout_ms, struct dls_error *err)
{
	int64_t until_ns = dlsi_timeout_end_ns(timeout_ms);
	bool in_time = true;
	int rc;

	pthread_mutex_lock(&worker->dialer.mutex);
	rc = is_started(worker, err);
	pthread_mutex_unlock(&worker->dialer.mutex);
	if (rc)
		return rc;
	dlsi_loop_call(worker->ctx->loop, drain, worker);
	pthread_mutex_lock(&worker->dialer.mutex);
	while (!worker->drained && !worker->dialer.over.code && in_time)
		in_time = dlsi_condition_wait(&worker->dialer.changed, &worker->dialer.mutex, until_ns);
	if (worker->dialer.over.code)
		rc = dlsi_dialer_standing(&worker->dialer, err);
	else if (!worker->drained)
		rc = dlsi_fail(err, DLS_ETIMEOUT, "the worker %s still has tasks, or results that nobody has taken",
			worker->name);
	pthread_mutex_unlock(&worker->dialer.mutex);
	return rc;
}
