/* A local cluster is nothing but a master and workers, made with the calls that any program has. */
#include "api/options.h"
#include "base/export.h"
#include "base/limits.h"
#include "base/random.h"
#include "node/ctx.h"
#include <dlsched/cluster.h>
#include <dlsched/master.h>
#include <inttypes.h>
#include <stdio.h>

struct dls_cluster {
	struct dls_ctx *ctx;
	struct dls_master *master;
	uint32_t count;
	struct dls_worker *workers[];
};

static int create_master(struct dls_cluster *cluster, struct dls_error *err)
{
	struct dls_master_options options = DLS_MASTER_OPTIONS_INIT;
	char bind[64];

	snprintf(bind, sizeof bind, "inproc://dlsched-%016" PRIx64, dlsi_random_u64());
	options.bind = bind;
	return dls_master_create(cluster->ctx, &options, &cluster->master, err);
}

static int add_worker(struct dls_cluster *cluster, const struct dls_worker_options *like, struct dls_error *err)
{
	struct dls_worker_options options = *like;
	char name[32];
	int rc;

	snprintf(name, sizeof name, "local-%" PRIu32, cluster->count);
	options.master = dls_master_endpoint(cluster->master);
	options.name = name;
	options.data_bind = NULL;
	rc = dls_worker_create(cluster->ctx, &options, &cluster->workers[cluster->count], err);
	cluster->count += rc == 0;
	return rc;
}

DLS_EXPORT int dls_cluster_local(struct dls_ctx *ctx, const struct dls_cluster_options *options,
	struct dls_cluster **cluster_out, struct dls_error *err)
{
	struct dls_cluster_options known;
	struct dls_cluster *cluster;
	int rc = dlsi_ctx_check(ctx, err);

	if (rc == 0)
		rc = dlsi_options_read("dls_cluster_options", options, sizeof known, &known, err);
	if (rc)
		return rc;
	if (!known.worker.size || known.worker.size > sizeof known.worker) /* what is behind it was found to be zero */
		known.worker.size = sizeof known.worker;
	if (!known.workers)
		known.workers = 1;
	if (known.workers > DLSI_LOCAL_WORKERS)
		return dlsi_fail(err, DLS_ELIMIT, "a local cluster has at most %d workers, not %" PRIu32,
			DLSI_LOCAL_WORKERS, known.workers);
	if (!cluster_out)
		return dlsi_fail(err, DLS_EINVAL, "cluster_out is NULL");
	cluster = dlsi_calloc(&ctx->alloc, 1, sizeof *cluster + known.workers * sizeof *cluster->workers);
	if (!cluster)
		return dlsi_fail_memory(err);
	cluster->ctx = ctx;
	rc = create_master(cluster, err);
	while (rc == 0 && cluster->count < known.workers)
		rc = add_worker(cluster, &known.worker, err);
	if (rc)
		dls_cluster_destroy(cluster);
	else
		*cluster_out = cluster;
	return rc;
}

DLS_EXPORT int dls_cluster_start(struct dls_cluster *cluster, struct dls_error *err)
{
	int rc = 0;

	if (!cluster)
		return dlsi_fail(err, DLS_EINVAL, "the cluster is NULL");
	for (uint32_t i = 0; rc == 0 && i < cluster->count; i++)
		rc = dls_worker_start(cluster->workers[i], err);
	return rc;
}

DLS_EXPORT struct dls_worker *dls_cluster_worker(struct dls_cluster *cluster, uint32_t i)
{
	return cluster && i < cluster->count ? cluster->workers[i] : NULL;
}

DLS_EXPORT const char *dls_cluster_endpoint(const struct dls_cluster *cluster)
{
	return cluster ? dls_master_endpoint(cluster->master) : NULL;
}

DLS_EXPORT void dls_cluster_destroy(struct dls_cluster *cluster)
{
	if (!cluster || dlsi_ctx_check(cluster->ctx, NULL))
		return;
	while (cluster->count)
		dls_worker_destroy(cluster->workers[--cluster->count]);
	dls_master_destroy(cluster->master);
	dlsi_free(&cluster->ctx->alloc, cluster);
}
