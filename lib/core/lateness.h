/* How much longer than expected tasks take: of those that have ended, counts by the time that they took over the time
 * that was expected. What is old counts less and less. */
#ifndef DLSI_LATENESS_H
#define DLSI_LATENESS_H

#include <stdint.h>

enum { DLSI_LATENESS_STEPS = 40 }; /* of a quarter of an octave each, from 1/8 on */

struct dlsi_lateness {
	uint16_t counts[DLSI_LATENESS_STEPS];
	uint16_t total;
};

/* expected_ns is above 0. */
void dlsi_lateness_add(struct dlsi_lateness *lateness, uint64_t taken_ns, uint64_t expected_ns);

/* Which multiple of the expected time this part of the tasks did not exceed, 0 to 1, a quarter of an octave too much at
 * most; 2 while fewer than 16 are known. */
double dlsi_lateness_quantile(const struct dlsi_lateness *lateness, double part);

#endif
