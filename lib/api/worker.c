#include "worker/worker.h"

#include "api/demands.h"
#include "api/name.h"
#include "api/options.h"
#include "base/export.h"
#include "base/limits.h"
#include <inttypes.h>
#include <string.h>

static int complete(struct dls_worker_options *options, struct dls_error *err)
{
	if (!options->master)
		return dlsi_fail(err, DLS_EINVAL, "dls_worker_options.master is not set");
	if (!options->devices)
		options->devices = 1;
	if (!options->credits)
		options->credits = DLSI_DEVICE_CREDITS;
	if (options->devices > DLSI_WORKER_DEVICES)
		return dlsi_fail(err, DLS_EINVAL, "%" PRIu32 " devices; a worker may have from 1 to %d",
			options->devices, DLSI_WORKER_DEVICES);
	if (options->credits > DLSI_DEVICE_CREDITS)
		return dlsi_fail(err, DLS_EINVAL, "%" PRIu32 " credits; a device may have from 1 to %d",
			options->credits, DLSI_DEVICE_CREDITS);
	if (options->threads > DLSI_THREADS)
		return dlsi_fail(err, DLS_EINVAL, "%" PRIu32 " threads; a device may have from 1 to %d",
			options->threads, DLSI_THREADS);
	if (options->cache_dir && !*options->cache_dir)
		return dlsi_fail(
			err, DLS_EINVAL, "dls_worker_options.cache_dir is empty; leave it NULL for the usual place");
	return options->name ? dlsi_name_check("the name of a worker", options->name, err) : 0;
}

static int check_lists(const struct dls_worker_options *options, struct dls_error *err)
{
	int rc = dlsi_names_check("a label of a worker", options->labels, DLSI_WORKER_LABELS, err);

	return rc ? rc : dlsi_demand_check("a worker", options->resources, err);
}

static int read(struct dls_ctx *ctx, const struct dls_worker_options *options, struct dls_worker_options *known,
	struct dls_error *err)
{
	int rc = dlsi_ctx_check(ctx, err);

	if (rc == 0)
		rc = dlsi_options_read("dls_worker_options", options, sizeof *known, known, err);
	if (rc == 0)
		rc = complete(known, err);
	return rc ? rc : check_lists(known, err);
}

DLS_EXPORT uint32_t dls_processors(void)
{
	return dlsi_processors();
}

DLS_EXPORT int dls_worker_check(struct dls_ctx *ctx, const struct dls_worker_options *options, struct dls_error *err)
{
	struct dls_worker_options known;
	int rc = read(ctx, options, &known, err);

	return rc ? rc : dlsi_node_worker_check_options(ctx, &known, err);
}

DLS_EXPORT int dls_worker_create(struct dls_ctx *ctx, const struct dls_worker_options *options,
	struct dls_worker **worker_out, struct dls_error *err)
{
	struct dls_worker_options known;
	int rc = read(ctx, options, &known, err);

	if (rc)
		return rc;
	if (!worker_out)
		return dlsi_fail(err, DLS_EINVAL, "worker_out is NULL");
	return dlsi_node_worker_create(ctx, &known, worker_out, err);
}

DLS_EXPORT int dls_worker_handle(
	struct dls_worker *worker, const char *name, const struct dls_handler_ops *ops, struct dls_error *err)
{
	struct dls_handler_ops known;
	int rc = dlsi_node_worker_check(worker, err);

	if (rc == 0)
		rc = dlsi_options_read("dls_handler_ops", ops, sizeof known, &known, err);
	if (rc)
		return rc;
	if (!known.run)
		return dlsi_fail(err, DLS_EINVAL, "dls_handler_ops.run is not set");
	rc = dlsi_name_check("the name of a handler", name ? name : "", err);
	if (rc)
		return rc;
	if (strcmp(name, DLSI_HANDLER_MODEL) == 0)
		return dlsi_fail(err, DLS_EINVAL, "\"%s\" is the handler that runs models; take another name", name);
	return dlsi_node_worker_handle(worker, name, &known, err);
}

DLS_EXPORT int dls_worker_start(struct dls_worker *worker, struct dls_error *err)
{
	int rc = dlsi_node_worker_check(worker, err);

	return rc ? rc : dlsi_node_worker_start(worker, err);
}

DLS_EXPORT int dls_worker_wait(struct dls_worker *worker, int timeout_ms, struct dls_error *err)
{
	int rc = dlsi_node_worker_check(worker, err);

	return rc ? rc : dlsi_node_worker_wait(worker, timeout_ms, err);
}

DLS_EXPORT int dls_worker_fd(struct dls_worker *worker)
{
	int rc = dlsi_node_worker_check(worker, NULL);

	return rc ? rc : worker->dialer.news_fd;
}

DLS_EXPORT int dls_worker_process(struct dls_worker *worker, struct dls_error *err)
{
	int rc = dlsi_node_worker_check(worker, err);

	return rc ? rc : dlsi_node_worker_process(worker, err);
}

DLS_EXPORT int dls_worker_drain(struct dls_worker *worker, int timeout_ms, struct dls_error *err)
{
	int rc = dlsi_node_worker_check(worker, err);

	return rc ? rc : dlsi_node_worker_drain(worker, timeout_ms, err);
}

DLS_EXPORT void dls_worker_destroy(struct dls_worker *worker)
{
	dlsi_node_worker_destroy(worker);
}
