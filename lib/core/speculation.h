/* When a late task is run a second time while its first attempt runs. */
#ifndef DLSI_SPECULATION_H
#define DLSI_SPECULATION_H

#include "base/json.h"
#include <stdint.h>

struct speculation {
	unsigned percent; /* of the devices that could run it, at most, but one at least; 0: never */
	double quantile;  /* it has run for longer than this part of its kind, as a multiple of what was expected ... */
	double factor;    /* ... times this ... */
	int64_t least_ns; /* ... and for this time */
};

extern const struct speculation dlsi_speculation_default;

/* master_stragglers.c: `params` is an object. Errors: DLS_EINVAL; then nothing has changed. */
int dlsi_speculation_read(const cJSON *params, struct speculation *speculation, struct dls_error *err);

#endif
