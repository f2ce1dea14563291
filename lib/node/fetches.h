/* Results that a client fetches over the data plane. Each ends with one call of `fetched` on the loop's thread, however
 * it ends: the plane's thread only leaves the outcome and posts an errand. */
#ifndef DLSI_FETCHES_H
#define DLSI_FETCHES_H

#include "net/dataplane.h"
#include "node/ctx.h"

/* `code` is 0 and the reference to `frame` the callee's, or an error and NULL. */
typedef void dlsi_fetched(
	void *arg, int64_t now_ns, const struct dlsi_id *job, uint64_t attempt, int code, struct dlsi_frame *frame);

struct dlsi_fetches {
	struct dls_ctx *ctx;
	struct dlsi_dataplane *plane; /* the owner's, before the first fetch */
	dlsi_fetched *fetched;
	void *arg;
	struct dlsi_list list; /* the loop's */

	pthread_mutex_t mutex; /* guards `count` */
	pthread_cond_t ended;
	size_t count;
};

void dlsi_fetches_init(struct dlsi_fetches *fetches, struct dls_ctx *ctx, dlsi_fetched *fetched, void *arg);

/* Cancels what is under way and waits until all have ended. Not on the loop's thread. */
void dlsi_fetches_fini(struct dlsi_fetches *fetches);

/* On the loop's thread. `done` and `arg` of `fetch` are filled in. Errors: DLS_ENOMEM; every other failure comes
 * through `fetched`. */
int dlsi_fetches_begin(
	struct dlsi_fetches *fetches, const struct dlsi_fetch *fetch, const struct dlsi_id *job, uint64_t attempt);

/* On the loop's thread: the results of this job (NULL: of all) are not wanted any more. */
void dlsi_fetches_cancel(struct dlsi_fetches *fetches, const struct dlsi_id *job);

#endif
