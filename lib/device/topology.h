/* What hardware this process may use, through hwloc: the numbers that a worker registers with. The only file that calls
 * hwloc; what is off limits to the process (by affinity, cpuset, or the limits of its control groups) is not counted.
 */
#ifndef DLSI_TOPOLOGY_H
#define DLSI_TOPOLOGY_H

#include "base/error.h"
#include "device/cgroup.h"
#include <stdint.h>

struct dlsi_topology {
	uint32_t packages;
	uint32_t cores;
	uint32_t threads; /* logical processors: 1 or more per core; at most what the quota of its groups keeps busy */
	uint32_t numa_nodes;
	uint64_t memory_bytes; /* 0 if unknown */
	uint64_t l2_bytes;     /* of one core's cache; 0 if unknown */
	uint64_t l3_bytes;     /* of one cache of those that cores share; 0 if there is none */
	char processor[128];   /* "AMD EPYC"; "" if unknown */
};

/* Takes a few milliseconds; what it finds does not change while the process lives, except by its own affinity.
 * Errors: DLS_EIO (hwloc cannot read the machine), DLS_ENOMEM. */
int dlsi_topology_read(struct dlsi_topology *topology_out, struct dls_error *err);

/* What these limits leave of the hardware. */
void dlsi_topology_limit(struct dlsi_topology *topology, const struct dlsi_cgroup *limits);

/* The processors of a topology without reading all of it: some microseconds. */
uint32_t dlsi_processors(void);

#endif
