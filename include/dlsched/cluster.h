/* A whole cluster inside this process: a master and workers on one context, connected without the network. The same
 * code runs as across machines; what works here works there. */
#ifndef DLSCHED_CLUSTER_H
#define DLSCHED_CLUSTER_H

#include <dlsched/client.h>
#include <dlsched/sized.h>
#include <dlsched/worker.h>

#ifdef __cplusplus
extern "C" {
#endif

struct dls_cluster;

struct dls_cluster_options {
	size_t size;
	uint32_t workers;                 /* 0: 1 */
	struct dls_worker_options worker; /* for each; size 0: all defaults. master, name and data_bind are filled in */
};

#define DLS_CLUSTER_OPTIONS_INIT DLS_SIZED(struct dls_cluster_options)

/* Its workers are not started, so that handlers can be registered on each (dls_cluster_worker); then dls_cluster_start.
 * `options` may be NULL. Errors: as dls_master_create and dls_worker_create. */
int dls_cluster_local(struct dls_ctx *ctx, const struct dls_cluster_options *options, struct dls_cluster **cluster_out,
	struct dls_error *err);
int dls_cluster_start(struct dls_cluster *cluster, struct dls_error *err);
struct dls_worker *dls_cluster_worker(struct dls_cluster *cluster, uint32_t i);

/* For dls_client_options.master, on the same context. */
const char *dls_cluster_endpoint(const struct dls_cluster *cluster);

/* Destroys its master and workers. NULL is allowed. */
void dls_cluster_destroy(struct dls_cluster *cluster);

#ifdef __cplusplus
}
#endif
#endif
