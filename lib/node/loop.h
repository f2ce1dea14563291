/* The loop: the one thread of a context that owns the state machines and the control sockets of all its handles.
 *
 * A member (a master, a client, a worker) is a table of functions that the loop calls, always on its thread. Other
 * threads reach a member only by errands: small structures that the sender owns and the loop runs in the order of their
 * posting. A posted errand needs no memory and cannot fail, and the queue is bounded by the errands that exist.
 *
 * Nothing that runs on the loop may wait: not for a disk, a socket, a lock held for long, a handler or the user. One
 * turn runs at most DLSI_LOOP_ERRANDS errands and lets each ready member take a bounded number of messages. */
#ifndef DLSI_LOOP_H
#define DLSI_LOOP_H

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/list.h"
#include <stdbool.h>
#include <stdint.h>

struct dlsi_loop;

#define DLSI_LOOP_FDS       2   /* descriptors of one member */
#define DLSI_LOOP_ERRANDS   256 /* run in one turn */
#define DLSI_LOOP_RECENT_NS (60 * DLSI_SECOND_NS)

struct dlsi_loop_member;

struct dlsi_loop_ops {
	/* Writes the descriptors to wait for until they can be read and returns how many, at most DLSI_LOOP_FDS. Called
	 * before every wait. */
	unsigned (*descriptors)(struct dlsi_loop_member *member, int *fds_out);

	/* One of them can be read, or the member is `unread`: takes what is there without waiting, at most about 64
	 * messages. What is left is reported again if it still shows in the descriptors or in `unread`. */
	void (*ready)(struct dlsi_loop_member *member, int64_t now_ns);

	/* Closes a turn in which it was ready, was touched, or its deadline came. */
	void (*turn)(struct dlsi_loop_member *member, int64_t now_ns);
};

/* Embedded in what the loop drives. */
struct dlsi_loop_member {
	const struct dlsi_loop_ops *ops;

	/* the member's */
	int64_t deadline_ns; /* when its turn comes at the latest; INT64_MAX: never */
	bool unread;         /* there may be something to take that no descriptor tells of: there is no wait */

	/* the loop's */
	struct dlsi_list node;
	size_t first_fd;
	unsigned fd_count;
	bool touched;
};

/* Embedded in what posts it; zero but for `run`. */
struct dlsi_errand {
	void (*run)(struct dlsi_errand *errand, int64_t now_ns);

	/* the loop's */
	struct dlsi_errand *next;
	bool queued;
};

/* Errors: DLS_ENOMEM, DLS_EIO. */
int dlsi_loop_create(const struct dlsi_alloc *alloc, struct dlsi_loop **loop_out, struct dls_error *err);

/* Runs the errands that are queued and ends the thread. All members are gone by then. */
void dlsi_loop_destroy(struct dlsi_loop *loop);

/* From any thread. Does nothing if it is queued and has not begun to run, so that any number of news for one errand
 * costs one run. It may be posted again, and freed, as soon as it runs. */
void dlsi_loop_post(struct dlsi_loop *loop, struct dlsi_errand *errand);

/* From any other thread: runs `run` on the loop's thread, after all errands posted before, and returns its result. */
int dlsi_loop_call(struct dlsi_loop *loop, int (*run)(void *arg, int64_t now_ns), void *arg);

/* On the loop's thread, in an errand or a call. A new member's turn follows at once. Errors: DLS_ENOMEM. */
int dlsi_loop_add(struct dlsi_loop *loop, struct dlsi_loop_member *member);
void dlsi_loop_remove(struct dlsi_loop *loop, struct dlsi_loop_member *member);

/* On the loop's thread: how long the longest turn up to now has taken, from the end of a wait to the next. */
int64_t dlsi_loop_longest_ns(const struct dlsi_loop *loop);

/* The same of the turns of the last minute, or two. */
int64_t dlsi_loop_recent_ns(const struct dlsi_loop *loop, int64_t now_ns);

/* On the loop's thread, in an errand or a call: the member's turn follows. */
static inline void dlsi_loop_touch(struct dlsi_loop_member *member)
{
	member->touched = true;
}

#endif
