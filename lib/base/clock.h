/* Time as the programs see it; the core never calls these, it is told. Nanoseconds. Thread-safe. */
#ifndef DLSI_CLOCK_H
#define DLSI_CLOCK_H

#include <stdint.h>

#define DLSI_MICROSECOND_NS INT64_C(1000)
#define DLSI_MILLISECOND_NS INT64_C(1000000)
#define DLSI_SECOND_NS      INT64_C(1000000000)

/* Never goes back and does not follow changes of the date; 0 is some moment of the past. */
int64_t dlsi_clock_monotonic_ns(void);

/* That the calling thread has used a processor. */
int64_t dlsi_clock_thread_ns(void);

/* Since 1970 in UTC; may jump. */
int64_t dlsi_clock_utc_ns(void);

#endif
