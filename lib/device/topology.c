#include "device/topology.h"

#include <errno.h>
#include <hwloc.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

static uint32_t count(hwloc_topology_t machine, hwloc_obj_type_t type)
{
	int number = hwloc_get_nbobjs_by_type(machine, type);

	return number > 0 ? (uint32_t)number : 0;
}

static uint64_t cache_bytes(hwloc_topology_t machine, hwloc_obj_type_t type)
{
	hwloc_obj_t cache = hwloc_get_obj_by_type(machine, type, 0);

	return cache ? cache->attr->cache.size : 0;
}

static const char *processor_name(hwloc_topology_t machine)
{
	hwloc_obj_t package = hwloc_get_obj_by_type(machine, HWLOC_OBJ_PACKAGE, 0);
	const char *name = package ? hwloc_obj_get_info_by_name(package, "CPUModel") : NULL;

	return name ? name : "";
}

/* Memory that was added while the system ran is missing from the numbers of its nodes. */
static uint64_t memory_bytes(hwloc_topology_t machine)
{
	uint64_t of_nodes = hwloc_get_root_obj(machine)->total_memory;
	uint64_t of_system = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	bool all = hwloc_bitmap_isequal(
		hwloc_topology_get_complete_nodeset(machine), hwloc_topology_get_allowed_nodeset(machine));

	return all && of_system > of_nodes ? of_system : of_nodes;
}

/* Whether hwloc's component for Linux finds processors. Where it does not (a chroot without /sys), it says so on
 * standard error and gives up; without it hwloc counts processors as the C library does. */
static bool has_processor_files(void)
{
	static const char *const files[] = {
		"/sys/bus/cpu/devices/cpu0/topology/core_cpus",
		"/sys/bus/cpu/devices/cpu0/topology/thread_siblings",
		"/sys/devices/system/cpu/cpu0/topology/core_cpus",
		"/sys/devices/system/cpu/cpu0/topology/thread_siblings",
	};

	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		if (access(files[i], R_OK) == 0)
			return true;
	return false;
}

/* hwloc may otherwise move the calling thread from core to core to look at each. */
static const unsigned long flags = HWLOC_TOPOLOGY_FLAG_IS_THISSYSTEM | HWLOC_TOPOLOGY_FLAG_RESTRICT_TO_CPUBINDING |
				   HWLOC_TOPOLOGY_FLAG_DONT_CHANGE_BINDING;

static int load(hwloc_topology_t machine)
{
	if (hwloc_topology_set_flags(machine, flags))
		return -1;
	if (!has_processor_files() &&
		hwloc_topology_set_components(machine, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "linux"))
		return -1;
	return hwloc_topology_load(machine);
}

static int fail(struct dls_error *err)
{
	int os_error = errno;

	if (os_error == ENOMEM)
		return dlsi_fail_memory(err);
	return dlsi_fail_errno(err, DLS_EIO, os_error, "cannot find out what hardware this machine has");
}

int dlsi_topology_read(struct dlsi_topology *topology_out, struct dls_error *err)
{
	struct dlsi_topology topology = {0};
	struct dlsi_cgroup limits;
	hwloc_topology_t machine;

	if (hwloc_topology_init(&machine))
		return fail(err);
	if (load(machine)) {
		int rc = fail(err);

		hwloc_topology_destroy(machine);
		return rc;
	}
	topology.threads = count(machine, HWLOC_OBJ_PU);
	topology.cores = count(machine, HWLOC_OBJ_CORE);
	topology.packages = count(machine, HWLOC_OBJ_PACKAGE);
	topology.numa_nodes = count(machine, HWLOC_OBJ_NUMANODE);
	topology.memory_bytes = memory_bytes(machine);
	topology.l2_bytes = cache_bytes(machine, HWLOC_OBJ_L2CACHE);
	topology.l3_bytes = cache_bytes(machine, HWLOC_OBJ_L3CACHE);
	snprintf(topology.processor, sizeof topology.processor, "%s", processor_name(machine));
	hwloc_topology_destroy(machine);
	/* Some virtual machines say nothing of cores or packages. */
	if (!topology.cores)
		topology.cores = topology.threads;
	if (!topology.packages)
		topology.packages = 1;
	limits = dlsi_cgroup_read("");
	dlsi_topology_limit(&topology, &limits);
	*topology_out = topology;
	return 0;
}

void dlsi_topology_limit(struct dlsi_topology *topology, const struct dlsi_cgroup *limits)
{
	topology->threads = dlsi_cgroup_processors(limits, topology->threads);
	if (topology->cores > topology->threads)
		topology->cores = topology->threads;
	if (topology->memory_bytes > limits->memory_bytes)
		topology->memory_bytes = limits->memory_bytes;
}

/* Reading the mask fails only where there are more processors than a cpu_set_t can name. */
uint32_t dlsi_processors(void)
{
	struct dlsi_cgroup limits = dlsi_cgroup_read("");
	cpu_set_t allowed;
	long usable = sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed)
									  : sysconf(_SC_NPROCESSORS_ONLN);

	return dlsi_cgroup_processors(&limits, usable > 0 ? (uint32_t)usable : 1);
}
