#include "core/retries.h"

#include "base/limits.h"
#include <string.h>

enum { LATER_PART = 8 };

void dlsi_retries_init(struct dlsi_retries *set, const struct dlsi_alloc *alloc)
{
	*set = (struct dlsi_retries){.due_ns = INT64_MAX, .alloc = alloc};
}

void dlsi_retries_fini(struct dlsi_retries *set)
{
	dlsi_free(set->alloc, set->at);
	dlsi_retries_init(set, set->alloc);
}

/* Index of the first run that ends behind `item`; `count` if there is none. */
static size_t find(const struct dlsi_retries *set, uint64_t item)
{
	size_t low = 0, high = set->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (set->at[middle].end <= item)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static uint64_t waiting(const struct dlsi_retry_run *run)
{
	return run->due_ns == INT64_MAX ? 0 : run->end - run->first;
}

static bool are_alike(const struct dlsi_retry_run *a, const struct dlsi_retry_run *b)
{
	return a->due_ns == b->due_ns && memcmp(a->failed, b->failed, sizeof a->failed) == 0;
}

/* Room for so many runs. */
static bool reserve(struct dlsi_retries *set, size_t count)
{
	size_t capacity = set->capacity ? 2 * set->capacity : 8;
	struct dlsi_retry_run *grown;

	if (count <= set->capacity)
		return true;
	if (count > DLSI_RETRY_RUNS)
		return false;
	grown = dlsi_realloc(set->alloc, set->at, capacity * sizeof *grown);
	if (!grown)
		return false;
	set->at = grown;
	set->capacity = capacity;
	return true;
}

/* Appends the run, or lets the last one go on. */
static void join(struct dlsi_retry_run *runs, size_t *count, const struct dlsi_retry_run *run)
{
	struct dlsi_retry_run *last = *count ? &runs[*count - 1] : NULL;

	if (last && last->end == run->first && are_alike(last, run))
		last->end = run->end;
	else
		runs[(*count)++] = *run;
}

/* Puts the run, or with NULL nothing, in the place of whatever there is of items [first, end). False: there is no room.
 */
static bool replace(struct dlsi_retries *set, uint64_t first, uint64_t end, const struct dlsi_retry_run *run)
{
	size_t from = find(set, first), to = from, before = from ? from - 1 : 0, count = 0;
	uint64_t waits = set->waiting;
	struct dlsi_retry_run put[5], part;

	if (from)
		put[count++] = set->at[before];
	for (; to < set->count && set->at[to].first < end; to++)
		waits -= waiting(&set->at[to]);
	if (from < to && set->at[from].first < first) {
		part = set->at[from];
		part.end = first;
		waits += waiting(&part);
		join(put, &count, &part);
	}
	if (run) {
		waits += waiting(run);
		join(put, &count, run);
	}
	if (from < to && set->at[to - 1].end > end) {
		part = set->at[to - 1];
		part.first = end;
		waits += waiting(&part);
		join(put, &count, &part);
	}
	if (to < set->count)
		join(put, &count, &set->at[to++]);
	if (!reserve(set, set->count - (to - before) + count))
		return false;
	memmove(&set->at[before + count], &set->at[to], (set->count - to) * sizeof *set->at);
	memcpy(&set->at[before], put, count * sizeof *put);
	set->count = set->count - (to - before) + count;
	set->waiting = waits;
	return true;
}

static int64_t due_ns(uint64_t wait_ns, int64_t now_ns)
{
	uint64_t step_ns = wait_ns / LATER_PART + 1;

	if (wait_ns > (uint64_t)(INT64_MAX - now_ns) / 2)
		return INT64_MAX - 1;
	return (int64_t)(((uint64_t)now_ns + wait_ns + step_ns - 1) / step_ns * step_ns);
}

bool dlsi_retries_fail(struct dlsi_retries *set, uint64_t *first_io, uint64_t end, enum dlsi_failure failure,
	const struct dlsi_retry_rule *rule, int64_t now_ns)
{
	size_t i = find(set, *first_io);
	const struct dlsi_retry_run *old = i < set->count ? &set->at[i] : NULL;
	struct dlsi_retry_run run = {.first = *first_io, .end = end};

	if (old && old->first <= run.first)
		memcpy(run.failed, old->failed, sizeof run.failed);
	if (old && (old->first <= run.first ? old->end : old->first) < end)
		run.end = old->first <= run.first ? old->end : old->first;
	*first_io = run.end;
	if (old && old->first <= run.first && old->due_ns != INT64_MAX)
		return true;
	if (run.failed[failure] >= rule->times)
		return false;
	run.failed[failure]++;
	run.due_ns = due_ns(dlsi_retry_wait_ns(rule, run.failed[failure]), now_ns);
	if (!replace(set, run.first, run.end, &run))
		return false;
	if (run.due_ns < set->due_ns)
		set->due_ns = run.due_ns;
	return true;
}

void dlsi_retries_forget(struct dlsi_retries *set, uint64_t first, uint64_t end)
{
	size_t i = find(set, first);

	if (i < set->count && set->at[i].first < end)
		replace(set, first, end, NULL);
}

void dlsi_retries_release(struct dlsi_retries *set, int64_t now_ns,
	void (*release)(void *release_arg, uint64_t first, uint64_t end), void *release_arg)
{
	size_t count = 0, old_count = set->count;

	set->due_ns = INT64_MAX;
	for (size_t i = 0; i < old_count; i++) {
		struct dlsi_retry_run run = set->at[i];

		if (run.due_ns <= now_ns) {
			set->waiting -= waiting(&run);
			run.due_ns = INT64_MAX;
			release(release_arg, run.first, run.end);
		}
		if (run.due_ns < set->due_ns)
			set->due_ns = run.due_ns;
		join(set->at, &count, &run);
	}
	set->count = count;
}
