#include "worker/devices.h"

#include "base/limits.h"
#include "kernel/parallel.h"
#include "store/place.h"
#include "worker/worker.h"
#include <stdio.h>

/* One of `count`. As many threads as run a model help to prepare its inputs. */
static int init(struct dls_worker *worker, struct dlsi_worker_device *device, uint32_t count, struct dls_error *err)
{
	const struct dlsi_alloc *alloc = &worker->ctx->alloc;
	uint64_t most_bytes = worker->topology.memory_bytes / DLSI_MODELS_PART / count;
	uint32_t share = worker->topology.threads / count;
	int threads = worker->threads ? (int)worker->threads : dlsi_parallel_usual(share ? share : 1);
	int rc = dlsi_executor_create(alloc, "dls-executor", threads, &device->executor, err);

	if (rc == 0 && !worker->no_models)
		rc = dlsi_inference_create(
			alloc, worker->loaded, (unsigned)threads - 1, most_bytes, &device->inference, err);
	return rc;
}

static int create_loaded(struct dls_worker *worker, const char *cache_dir, struct dls_error *err)
{
	const struct dlsi_alloc *alloc = &worker->ctx->alloc;
	char *folder;
	int rc = dlsi_cache_place(alloc, cache_dir, &folder, err);

	if (rc)
		return rc;
	rc = dlsi_loaded_create(alloc, &dlsi_device_onednn, folder, &worker->loaded, err);
	dlsi_free(alloc, folder);
	return rc;
}

int dlsi_worker_devices_init(struct dls_worker *worker, uint32_t count, const char *cache_dir, struct dls_error *err)
{
	int rc = worker->no_models ? 0 : create_loaded(worker, cache_dir, err);

	if (rc)
		return rc;
	worker->devices = dlsi_calloc(&worker->ctx->alloc, count, sizeof *worker->devices);
	if (!worker->devices)
		return dlsi_fail_memory(err);
	for (; worker->device_count < count && rc == 0; worker->device_count++) {
		struct dlsi_worker_device *device = &worker->devices[worker->device_count];

		snprintf(device->name, sizeof device->name, "cpu%u", worker->device_count);
		rc = init(worker, device, count, err);
	}
	return rc;
}

void dlsi_worker_devices_fini(struct dls_worker *worker)
{
	for (uint16_t i = 0; i < worker->device_count; i++) {
		dlsi_executor_destroy(worker->devices[i].executor);
		dlsi_inference_destroy(worker->devices[i].inference);
	}
	dlsi_free(&worker->ctx->alloc, worker->devices);
	dlsi_loaded_destroy(worker->loaded);
}
