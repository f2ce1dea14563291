/* A worker on the loop: its agent of core/, the data plane from which it gets models and inputs, and the executors that
 * run tasks. Seen whole only in this room. */
#ifndef DLSI_NODE_WORKER_H
#define DLSI_NODE_WORKER_H

#include "base/map.h"
#include "core/agent.h"
#include "device/topology.h"
#include "node/dialer.h"
#include "store/cache.h"
#include "worker/capacity.h"
#include "worker/devices.h"
#include "worker/execution.h"
#include "worker/handlers.h"
#include "worker/job.h"
#include "worker/model.h"
#include <dlsched/worker.h>

/* Memory that tasks take before they read into it, and give back at their end. */
struct dlsi_worker_room {
	uint64_t bytes;
	struct dlsi_list waiting; /* in this order, so that a large task gets its turn */
};

struct dls_worker {
	struct dlsi_dialer dialer; /* first */
	struct dls_ctx *ctx;
	struct dlsi_agent *agent; /* NULL: not started yet */
	struct dlsi_cache *cache; /* NULL: it runs no models */
	struct dlsi_executor *librarian;
	struct dlsi_topology topology;
	char *name;
	bool no_models;
	uint16_t credits;
	uint32_t threads; /* of each device; 0: a share of the processors */
	struct dlsi_handler *handlers;
	uint16_t handler_count;
	struct dlsi_worker_capacity capacity;
	struct dlsi_loaded *loaded; /* NULL: it runs no models */
	struct dlsi_worker_device *devices;
	uint16_t device_count;

	/* the loop's */
	struct dlsi_list jobs; /* open ones */
	struct dlsi_map job_by_id;
	struct dlsi_list tasks;
	struct dlsi_list models;
	unsigned model_count;
	uint64_t model_bytes;               /* of their files */
	struct dlsi_worker_room page_room;  /* for pages of manifests */
	struct dlsi_worker_room input_room; /* for the inputs that lie in blobs */
	unsigned reads;                     /* of inputs, under way */
	struct dlsi_list readers;           /* those who would begin more */

	/* guarded by the dialer's mutex, like the handlers until it is started */
	bool started;
	bool drained; /* nothing is left of what it had when it was to drain */
};

/* `options` are complete and in range. Errors: as dls_worker_create. */
int dlsi_node_worker_create(struct dls_ctx *ctx, const struct dls_worker_options *options,
	struct dls_worker **worker_out, struct dls_error *err);
void dlsi_node_worker_destroy(struct dls_worker *worker);

/* What of that shows without listening. May wait for a name server. */
int dlsi_node_worker_check_options(
	struct dls_ctx *ctx, const struct dls_worker_options *options, struct dls_error *err);

/* Errors: DLS_EINVAL (NULL), DLS_EFORK. */
int dlsi_node_worker_check(const struct dls_worker *worker, struct dls_error *err);

int dlsi_node_worker_start(struct dls_worker *worker, struct dls_error *err);
int dlsi_node_worker_wait(struct dls_worker *worker, int timeout_ms, struct dls_error *err);
int dlsi_node_worker_process(struct dls_worker *worker, struct dls_error *err);
int dlsi_node_worker_drain(struct dls_worker *worker, int timeout_ms, struct dls_error *err);

#endif
