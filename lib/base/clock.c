#include "base/clock.h"

#include <time.h>

static int64_t read_clock(clockid_t which)
{
	struct timespec now;

	clock_gettime(which, &now);
	return now.tv_sec * DLSI_SECOND_NS + now.tv_nsec;
}

int64_t dlsi_clock_monotonic_ns(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

int64_t dlsi_clock_utc_ns(void)
{
	return read_clock(CLOCK_REALTIME);
}

int64_t dlsi_clock_thread_ns(void)
{
	return read_clock(CLOCK_THREAD_CPUTIME_ID);
}
