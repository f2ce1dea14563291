/* The largest of the values that came lately: of a whole span of time at least, of two at most. */
#ifndef DLSI_RECENT_H
#define DLSI_RECENT_H

#include <stdint.h>

/* Zero but for `span_ns`. */
struct dlsi_recent {
	int64_t span_ns;
	int64_t began_ns; /* the span that is under way */
	int64_t most;     /* in it */
	int64_t before;   /* in the one before it */
};

/* Adds a value that is not negative. Times never go back. */
void dlsi_recent_add(struct dlsi_recent *recent, int64_t now_ns, int64_t value);

/* 0 if there was none. */
int64_t dlsi_recent_most(const struct dlsi_recent *recent, int64_t now_ns);

#endif
