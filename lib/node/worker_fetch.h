/* A fetch of a worker: begun on the loop's thread, and ended there by one call of `done`, however it ends. The data
 * plane's thread only leaves the outcome and posts an errand. */
#ifndef DLSI_WORKER_FETCH_H
#define DLSI_WORKER_FETCH_H

#include "net/dataplane.h"
#include "node/loop.h"

struct dls_worker;

/* Embedded in what waits for it; zeroed before the first use, and to be used again once it has ended. */
struct dlsi_worker_fetch {
	struct dlsi_errand errand; /* first */
	struct dlsi_list node;     /* on worker->fetches */
	struct dls_worker *worker;
	uint64_t number; /* the plane's */
	int code;
	struct dls_error err;     /* with a code */
	struct dlsi_frame *frame; /* of a fetch into memory that went well: the reference is `done`'s to take */
	void (*done)(struct dlsi_worker_fetch *fetch);
};

/* `done` and `arg` of `wanted` are filled in. Errors: as dlsi_dataplane_fetch, and
 * DLS_ECANCELLED when the worker ends; `done` is then not called. */
int dlsi_worker_fetch_begin(struct dls_worker *worker, struct dlsi_worker_fetch *fetch, const struct dlsi_fetch *wanted,
	void (*done)(struct dlsi_worker_fetch *fetch), struct dls_error *err);

/* It ends soon, with DLS_ECANCELLED if it has not ended. */
void dlsi_worker_fetch_cancel(struct dlsi_worker_fetch *fetch);

#endif
