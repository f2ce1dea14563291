#include "worker/handlers.h"

#include "base/limits.h"
#include "worker/worker.h"
#include <string.h>

const struct dlsi_handler *dlsi_worker_find_handler(const struct dls_worker *worker, const char *name)
{
	for (uint16_t i = 0; i < worker->handler_count; i++)
		if (strcmp(worker->handlers[i].name, name) == 0)
			return &worker->handlers[i];
	return NULL;
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

	pthread_mutex_lock(&worker->dialer.mutex);
	rc = add_handler(worker, name, ops, err);
	pthread_mutex_unlock(&worker->dialer.mutex);
	return rc;
}

void dlsi_worker_handlers_fini(struct dls_worker *worker)
{
	const struct dlsi_alloc *alloc = &worker->ctx->alloc;

	for (uint16_t i = 0; i < worker->handler_count; i++)
		dlsi_free(alloc, worker->handlers[i].name);
	dlsi_free(alloc, worker->handlers);
}
