#include "core/lateness.h"

#define FIRST_OCTAVE 5 /* 2^5 in units of 1/256: an eighth */
#define UNIT         256
#define KNOWN        16 /* fewer say nothing */
#define UNKNOWN      2.0
#define REMEMBERED   1024

static unsigned step_of(uint64_t ratio)
{
	unsigned octave = 63 - (unsigned)__builtin_clzll(ratio | 1);
	unsigned step;

	if (octave < FIRST_OCTAVE)
		return 0;
	step = 4 * (octave - FIRST_OCTAVE) + (unsigned)(ratio >> (octave - 2) & 3);
	return step < DLSI_LATENESS_STEPS ? step : DLSI_LATENESS_STEPS - 1;
}

/* The end of a step, as a multiple. */
static double end_of(unsigned step)
{
	return (double)((uint64_t)(5 + step % 4) << (step / 4 + FIRST_OCTAVE - 2)) / UNIT;
}

static void halve(struct dlsi_lateness *lateness)
{
	lateness->total = 0;
	for (unsigned i = 0; i < DLSI_LATENESS_STEPS; i++) {
		lateness->counts[i] /= 2;
		lateness->total += lateness->counts[i];
	}
}

void dlsi_lateness_add(struct dlsi_lateness *lateness, uint64_t taken_ns, uint64_t expected_ns)
{
	uint64_t most = UINT64_MAX / UNIT;

	if (lateness->total >= REMEMBERED)
		halve(lateness);
	lateness->counts[step_of((taken_ns < most ? taken_ns : most) * UNIT / expected_ns)]++;
	lateness->total++;
}

double dlsi_lateness_quantile(const struct dlsi_lateness *lateness, double part)
{
	double wanted = part * lateness->total;
	unsigned step = 0, known = lateness->counts[0];

	if (lateness->total < KNOWN)
		return UNKNOWN;
	while (known < wanted && step + 1 < DLSI_LATENESS_STEPS)
		known += lateness->counts[++step];
	return end_of(step);
}
