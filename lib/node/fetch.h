/* A fetch of a dialer: begun on the loop's thread and ended there by one call of `done`, however it ends, also if it
 * could not begin. The data plane's thread only leaves the outcome and posts an errand. */
#ifndef DLSI_FETCH_H
#define DLSI_FETCH_H

#include "net/dataplane.h"
#include "node/loop.h"

struct dlsi_dialer;

/* Embedded in what waits for it; to be used again once it has ended. */
struct dlsi_pending_fetch {
	struct dlsi_errand errand;  /* first */
	struct dlsi_errand calling; /* the holder */
	struct dlsi_list node;      /* on dialer->fetches */
	struct dlsi_dialer *dialer;
	struct dlsi_id job;       /* whose client is called */
	uint64_t number;          /* the plane's */
	struct dls_error err;     /* with a code: how it failed */
	struct dlsi_frame *frame; /* of a fetch that went well: the reference is `done`'s to take */
	void (*done)(struct dlsi_pending_fetch *fetch, int64_t now_ns);
};

/* `done`, `arg` and `call` of `wanted` are filled in. `job`, if it is not NULL, is that whose client has the blob:
 * where it cannot be connected to it is asked to connect here (DLSI_EVENT_CALL). It fails with a code of the data
 * plane. */
void dlsi_fetch_begin(struct dlsi_dialer *dialer, struct dlsi_pending_fetch *fetch, const struct dlsi_fetch *wanted,
	const struct dlsi_id *job, void (*done)(struct dlsi_pending_fetch *fetch, int64_t now_ns));

/* It ends soon, with DLS_ECANCELLED if it has not ended. */
void dlsi_fetch_cancel(struct dlsi_pending_fetch *fetch);

/* All that are under way, and those that are still to begin, end with DLS_ECANCELLED. */
void dlsi_fetches_end(struct dlsi_dialer *dialer);

#endif
