/* The devices of a worker: each has the executor that runs its tasks, and what runs models there. */
#ifndef DLSI_WORKER_DEVICES_H
#define DLSI_WORKER_DEVICES_H

#include "node/executor.h"
#include "worker/inference.h"

struct dls_worker;

struct dlsi_worker_device {
	char name[16];
	struct dlsi_executor *executor;
	struct dlsi_inference *inference; /* NULL: it runs no models */
};

/* The topology is known; what is measured is kept in `cache_dir` (NULL: the usual place); dlsi_worker_devices_fini
 * follows also a failure. Errors: DLS_ENOMEM, those of dlsi_loaded_create, dlsi_executor_create and
 * dlsi_inference_create. */
int dlsi_worker_devices_init(struct dls_worker *worker, uint32_t count, const char *cache_dir, struct dls_error *err);
void dlsi_worker_devices_fini(struct dls_worker *worker);

#endif
