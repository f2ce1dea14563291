#include "base/condition.h"

#include "base/clock.h"
#include <errno.h>
#include <time.h>

void dlsi_condition_init(pthread_cond_t *condition)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(condition, &attributes);
	pthread_condattr_destroy(&attributes);
}

bool dlsi_condition_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, int64_t until_ns)
{
	struct timespec until = {until_ns / DLSI_SECOND_NS, until_ns % DLSI_SECOND_NS};

	if (until_ns == INT64_MAX)
		return pthread_cond_wait(condition, mutex) == 0;
	return pthread_cond_timedwait(condition, mutex, &until) != ETIMEDOUT;
}

int64_t dlsi_timeout_end_ns(int timeout_ms)
{
	return timeout_ms < 0 ? INT64_MAX : dlsi_clock_monotonic_ns() + timeout_ms * DLSI_MILLISECOND_NS;
}
