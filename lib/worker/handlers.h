/* The handlers of a worker: registered until it is started, looked up from then on. */
#ifndef DLSI_HANDLERS_H
#define DLSI_HANDLERS_H

#include <dlsched/worker.h>

struct dlsi_handler {
	char *name;
	struct dls_handler_ops ops;
};

/* `ops` are complete. Errors: as dls_worker_handle. */
int dlsi_node_worker_handle(
	struct dls_worker *worker, const char *name, const struct dls_handler_ops *ops, struct dls_error *err);

/* NULL if none has this name. */
const struct dlsi_handler *dlsi_worker_find_handler(const struct dls_worker *worker, const char *name);

void dlsi_worker_handlers_fini(struct dls_worker *worker);

#endif
