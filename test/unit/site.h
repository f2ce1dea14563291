/* A whole cluster inside the test: master, workers with a few handlers, and a client, over the network or not. */
#ifndef DLSI_UNIT_SITE_H
#define DLSI_UNIT_SITE_H

#include <dlsched/dlsched.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { SITE_TIMEOUT_MS = 30000 }; /* a call that takes so long has hung */

struct site {
	struct dls_ctx *ctx;
	struct dls_cluster *cluster;
	struct dls_client *client;
};

/* What the handlers share with the test, also when they run in processes that it forked after site_reset. */
struct site_gate {
	atomic_uint running;   /* handlers that wait at the gate */
	atomic_bool open;      /* lets them through */
	atomic_uint cancelled; /* handlers that saw that nobody waits for them */
	atomic_ullong items;   /* that the handlers have finished */
	atomic_uint errors;    /* lines of that level in the logs of all contexts ... */
	atomic_uint warnings;  /* ... and of that one */
};

extern struct site_gate *site_gate;

/* Closes the gate and forgets the counts. */
void site_reset(void);

/* Makes a context with the test's allocator. */
struct dls_ctx *site_ctx(void);

/* Registers the handlers:
 *   echo      the result is the inputs
 *   fail      the item's error is DLS_EHANDLER "item N is bad"
 *   gate      echo, after the gate has been opened or the task been cancelled
 *   large     one tensor of params.bytes bytes, each the item's number */
void site_handlers(struct dls_worker *worker);
int site_try_handlers(struct dls_worker *worker); /* where memory may run out */

/* With this many workers; the window is the client's default if 0. */
void site_start(struct site *site, uint32_t workers, uint64_t window_items);
void site_stop(struct site *site);

/* A job for a handler. */
struct dls_job *site_job(struct site *site, const char *handler, const char *params);

/* Adds `items` of one byte each, that is the item's number, as one batch. */
void site_add_bytes(struct dls_job *job, uint64_t items);

/* Takes the next result, which must be there in time, and checks that it is this item's. */
struct dls_result *site_next(struct dls_job *job, uint64_t item);

/* Waits until a condition that other threads bring about holds. */
#define SITE_WAIT(condition)                                                                                           \
	while (!(condition))                                                                                           \
	site_yield(#condition)
void site_yield(const char *condition);

#endif
