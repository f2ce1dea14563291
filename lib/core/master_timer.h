/* What is due at some time in a master. */
#ifndef DLSI_MASTER_TIMER_H
#define DLSI_MASTER_TIMER_H

#include "base/heap.h"

enum timer_kind {
	TIMER_HEARTBEAT,
	TIMER_WORKER_GRACE,
	TIMER_CLIENT_GRACE,
	TIMER_JOB_LIMIT,
	TIMER_JOB_RETRY,
	TIMER_REVIEW
};

/* Something that is due at some time; the kind says which structure it is a member of. */
struct timer {
	struct dlsi_heap_node node;
	enum timer_kind kind;
};

#endif
