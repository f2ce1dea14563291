/* Where each buffer of a run lies in one piece of memory: buffers that are never needed at the same time share bytes.
 *
 * Largest first, each into the smallest gap between those it overlaps in time (Pisarchyk and Lee, "Efficient Memory
 * Management for Deep Neural Net Inference", 2020, "greedy by size"). Cost: O(count^2), for at most the few buffers per
 * node that a graph of DLSI_GRAPH_NODES has. Pure. */
#ifndef DLSI_PLAN_H
#define DLSI_PLAN_H

#include "base/alloc.h"
#include <stddef.h>
#include <stdint.h>

#define DLSI_PLAN_ALIGN 64 /* of every offset: a cache line, and the widest vector */

struct dlsi_plan_block {
	size_t bytes;
	uint32_t first; /* steps at which it is needed, both included */
	uint32_t last;
	size_t offset; /* set by the plan */
};

/* Places the blocks and gives the bytes that they need in all. Errors: DLS_ENOMEM (also for a total that does not fit
 * size_t); offsets are undefined then. */
int dlsi_plan_place(const struct dlsi_alloc *alloc, struct dlsi_plan_block *blocks, size_t count, size_t *total_out);

#endif
