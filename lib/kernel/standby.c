#include "kernel/standby.h"

#include "base/clock.h"

#define LOOK_NS       (100 * DLSI_MICROSECOND_NS)
#define LOOKS_A_CLOCK 64 /* looks between two at the clock, which takes longer */

void dlsi_standby_init(struct dlsi_standby *standby, int threads)
{
	*standby = (struct dlsi_standby){.threads = threads};
	pthread_mutex_init(&standby->lock, NULL);
	pthread_cond_init(&standby->opened, NULL);
	pthread_cond_init(&standby->finished, NULL);
}

void dlsi_standby_fini(struct dlsi_standby *standby)
{
	pthread_cond_destroy(&standby->finished);
	pthread_cond_destroy(&standby->opened);
	pthread_mutex_destroy(&standby->lock);
}

/* Of `open`: the first part that nobody has taken, and below 32 bits the one behind the last such. */
#define FIRST (UINT64_C(1) << 32)

static int64_t first_of(uint64_t open)
{
	return (int64_t)(open / FIRST);
}

static int64_t end_of(uint64_t open)
{
	return (int64_t)(open % FIRST);
}

static bool is_open(struct dlsi_standby *standby)
{
	const uint64_t open = atomic_load(&standby->open);

	return first_of(open) < end_of(open) || atomic_load(&standby->ended);
}

static bool is_finished(struct dlsi_standby *standby)
{
	return atomic_load(&standby->unfinished) == 0;
}

/* Leaves the core's other thread, and the memory that is looked at, alone for a moment. */
static void rest(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#endif
}

/* Looks for a while whether it is so. */
static bool look(struct dlsi_standby *standby, bool (*is_so)(struct dlsi_standby *))
{
	const int64_t begin = dlsi_clock_monotonic_ns();

	do {
		for (int i = 0; i < LOOKS_A_CLOCK; i++) {
			if (is_so(standby))
				return true;
			rest();
		}
	} while (dlsi_clock_monotonic_ns() - begin < LOOK_NS);
	return false;
}

/* Takes some of the open parts, fewer the fewer there are: each time costs, and at the end nobody is to have much more
 * than another. The thread that shares out begins with the first ones, the others with the last, so that of works one
 * after another each has about the same parts, and finds in its caches what it wrote before. False if none are open. */
static bool claim(struct dlsi_standby *standby, int thread, int64_t *first_out, int64_t *end_out)
{
	uint64_t open = atomic_load(&standby->open);

	while (first_of(open) < end_of(open)) {
		const int64_t first = first_of(open), end = end_of(open), some = (end - first) / (2 * standby->threads);
		const int64_t count = some ? some : 1;

		*first_out = thread ? end - count : first;
		*end_out = *first_out + count;
		if (atomic_compare_exchange_weak(
			    &standby->open, &open, thread ? open - (uint64_t)count : open + FIRST * (uint64_t)count))
			return true;
	}
	return false;
}

static void take_parts(struct dlsi_standby *standby, int thread)
{
	int64_t taken = 0, first, end;

	for (; claim(standby, thread, &first, &end); taken += end - first)
		for (int64_t index = first; index < end; index++)
			standby->part(standby->work, index, thread);
	if (taken == 0 || atomic_fetch_sub(&standby->unfinished, taken) > taken || !atomic_load(&standby->waiting))
		return;
	pthread_mutex_lock(&standby->lock);
	pthread_cond_signal(&standby->finished);
	pthread_mutex_unlock(&standby->lock);
}

static void sleep_until_open(struct dlsi_standby *standby)
{
	pthread_mutex_lock(&standby->lock);
	atomic_fetch_add(&standby->sleepers, 1);
	while (!is_open(standby))
		pthread_cond_wait(&standby->opened, &standby->lock);
	atomic_fetch_sub(&standby->sleepers, 1);
	pthread_mutex_unlock(&standby->lock);
}

static void wake(struct dlsi_standby *standby)
{
	if (atomic_load(&standby->sleepers) == 0)
		return;
	pthread_mutex_lock(&standby->lock);
	pthread_cond_broadcast(&standby->opened);
	pthread_mutex_unlock(&standby->lock);
}

void dlsi_standby_serve(struct dlsi_standby *standby, int thread)
{
	while (!atomic_load(&standby->ended)) {
		take_parts(standby, thread);
		if (!look(standby, is_open))
			sleep_until_open(standby);
	}
}

static void sleep_until_finished(struct dlsi_standby *standby)
{
	pthread_mutex_lock(&standby->lock);
	atomic_store(&standby->waiting, true);
	while (!is_finished(standby))
		pthread_cond_wait(&standby->finished, &standby->lock);
	atomic_store(&standby->waiting, false);
	pthread_mutex_unlock(&standby->lock);
}

void dlsi_standby_share(struct dlsi_standby *standby, int64_t count, dlsi_parallel_part *part, void *work)
{
	standby->part = part;
	standby->work = work;
	atomic_store(&standby->unfinished, count);
	atomic_store(&standby->open, (uint64_t)count);
	wake(standby);
	take_parts(standby, 0);
	if (!look(standby, is_finished))
		sleep_until_finished(standby);
}

void dlsi_standby_end(struct dlsi_standby *standby)
{
	atomic_store(&standby->ended, true);
	wake(standby);
}
