/* Items of a job that have failed and are to be tried again: how often each has failed in which way, and until when it
 * waits. Kept as sorted, disjoint runs of items that are alike, so that a set costs memory only for what has failed,
 * and where a whole task fails, little; it has DLSI_RETRY_RUNS at most, and what fails beyond that is not tried again.
 *
 * An item enters when it fails first and leaves when it is done. Pure: no clock; memory comes from the caller's
 * allocator. Not thread-safe. */
#ifndef DLSI_RETRIES_H
#define DLSI_RETRIES_H

#include "base/ranges.h"
#include "core/retry_rules.h"

struct dlsi_retry_run {
	uint64_t first, end;
	int64_t due_ns;                 /* INT64_MAX: it waits no longer */
	uint16_t failed[DLSI_FAILURES]; /* how often */
};

struct dlsi_retries {
	struct dlsi_retry_run *at;
	size_t count;
	size_t capacity;
	uint64_t waiting; /* items */
	int64_t due_ns;   /* of those that wait, not later than the first; INT64_MAX: none waits */
	const struct dlsi_alloc *alloc;
};

void dlsi_retries_init(struct dlsi_retries *set, const struct dlsi_alloc *alloc);
void dlsi_retries_fini(struct dlsi_retries *set);

/* Items from *first_io to `end` have failed in this way. Looks at the first of them that are alike: true if they wait
 * now, false if they have been tried as often as the rule allows; *first_io moves behind them. Those that wait already
 * go on doing so. Without memory nothing is tried again. Cost: O(runs).
 *
 * Waits end up to an eighth later than they might, so that many end at once. */
bool dlsi_retries_fail(struct dlsi_retries *set, uint64_t *first_io, uint64_t end, enum dlsi_failure failure,
	const struct dlsi_retry_rule *rule, int64_t now_ns);

/* These are done. */
void dlsi_retries_forget(struct dlsi_retries *set, uint64_t first, uint64_t end);

/* Ends the wait of all that are due, and hands them over; then due_ns is exact. Cost: O(runs). */
void dlsi_retries_release(struct dlsi_retries *set, int64_t now_ns,
	void (*release)(void *release_arg, uint64_t first, uint64_t end), void *release_arg);

#endif
