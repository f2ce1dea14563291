/* What the control groups of this process (a container's limits) leave it of the machine. A group keeps to the limits
 * of all groups above it, so the tightest on the way up counts. Reads what Linux shows under /proc/self/cgroup and
 * /sys/fs/cgroup: version 1, version 2 and both side by side; what is not there limits nothing. */
#ifndef DLSI_CGROUP_H
#define DLSI_CGROUP_H

#include <stdint.h>

struct dlsi_cgroup {
	uint64_t memory_bytes; /* UINT64_MAX: no limit */
	double processors;     /* of whose time the process may take as much, 1.5 for instance; INFINITY: no limit */
};

/* `root` is the folder in which proc/ and sys/ lie: "" but in tests. Cannot fail. Costs some system calls for each
 * level of the groups. */
struct dlsi_cgroup dlsi_cgroup_read(const char *root);

/* How many of the processors that the process may run on it can keep busy, at least 1: more threads would only be
 * stopped in the middle of their work when the quota is used up. */
uint32_t dlsi_cgroup_processors(const struct dlsi_cgroup *limits, uint32_t usable);

#endif
