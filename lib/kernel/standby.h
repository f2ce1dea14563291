/* Threads that stand by while one thread goes through many small works, so that it need not call them together and wait
 * for them at each: it shares a work out, whoever is awake takes parts of it, and it takes parts too until none are
 * left.
 *
 * Nobody waits for a thread that has begun nothing: one that sleeps, or that other programs keep from its processor,
 * costs its help and no more. Who waits looks for a while, longer than works are apart and shorter than a program that
 * needs the processor would notice, and then sleeps. */
#ifndef DLSI_STANDBY_H
#define DLSI_STANDBY_H

#include "kernel/parallel.h"
#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>

#define DLSI_STANDBY_PARTS INT64_C(0x7fffffff)

struct dlsi_standby {
	int threads; /* that there may be, with the one that shares out */

	/* Of the work that is shared out now; written while no part of it is open or unfinished. */
	dlsi_parallel_part *part;
	void *work;

	alignas(64) _Atomic uint64_t open;      /* the parts that nobody has taken, from the first to the last */
	alignas(64) _Atomic int64_t unfinished; /* parts */
	alignas(64) atomic_bool ended;
	atomic_int sleepers; /* who wait for a work */
	atomic_bool waiting; /* the one who shares out sleeps until all parts are finished */
	pthread_mutex_t lock;
	pthread_cond_t opened, finished;
};

void dlsi_standby_init(struct dlsi_standby *standby, int threads);
void dlsi_standby_fini(struct dlsi_standby *standby);

/* Takes parts as thread number `thread` until dlsi_standby_end. */
void dlsi_standby_serve(struct dlsi_standby *standby, int thread);

/* As dlsi_parallel, for a `count` up to DLSI_STANDBY_PARTS. Only one thread calls this and the next, and never from a
 * part. */
void dlsi_standby_share(struct dlsi_standby *standby, int64_t count, dlsi_parallel_part *part, void *work);
void dlsi_standby_end(struct dlsi_standby *standby);

#endif
