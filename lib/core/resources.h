/* Amounts of resources: what a worker has, what a task takes while it runs, what tenants use. Arithmetic only.
 *
 * Each kind has a number, the same in all vectors of one master. Amounts are thousandths of a unit, so that half a core
 * can be asked for; sums of a million devices fit. */
#ifndef DLSI_RESOURCES_H
#define DLSI_RESOURCES_H

#include "base/limits.h"
#include <stdbool.h>
#include <stdint.h>

#define DLSI_RESOURCE_UNIT 1000

/* Those that every worker has; others are numbered as they are named. */
enum dlsi_resource { DLSI_RESOURCE_DEVICES, DLSI_RESOURCE_CORES, DLSI_RESOURCE_MEMORY, DLSI_RESOURCES_KNOWN };

struct dlsi_resources {
	uint64_t amount[DLSI_RESOURCE_KINDS];
};

void dlsi_resources_add(struct dlsi_resources *to, const struct dlsi_resources *more);
void dlsi_resources_take(struct dlsi_resources *from, const struct dlsi_resources *less);

/* `to` becomes the larger of the two in each kind. */
void dlsi_resources_raise(struct dlsi_resources *to, const struct dlsi_resources *other);

/* Whether there is as much of each kind as is asked for. */
bool dlsi_resources_cover(const struct dlsi_resources *there, const struct dlsi_resources *asked);

/* The dominant share: the largest of used / total over the kinds (Ghodsi et al., "Dominant Resource Fairness", NSDI
 * 2011, section 4.1). Kinds of which there is nothing do not count. */
double dlsi_resources_dominant(const struct dlsi_resources *used, const struct dlsi_resources *total);

#endif
