/* Waiting for a condition by the monotonic clock, so that a change of the date neither shortens nor lengthens it. */
#ifndef DLSI_CONDITION_H
#define DLSI_CONDITION_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Ended by pthread_cond_destroy. */
void dlsi_condition_init(pthread_cond_t *condition);

/* As pthread_cond_wait, at most until this monotonic time (INT64_MAX: for ever); false when it has come. May wake for
 * no reason. */
bool dlsi_condition_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, int64_t until_ns);

/* The monotonic time at which a public call's timeout ends; one below 0 never does. */
int64_t dlsi_timeout_end_ns(int timeout_ms);

#endif
