/* The topology against what the system itself says, also when the process may use one processor only. */
#include "device/topology.h"
#include "test/unit/unit.h"
#include <math.h>
#include <sched.h>
#include <unistd.h>

static uint64_t memory_of_the_system(void)
{
	return (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* What the process may have of it. */
static uint64_t least_memory(void)
{
	struct dlsi_cgroup limits = dlsi_cgroup_read("");

	return limits.memory_bytes < memory_of_the_system() ? limits.memory_bytes : memory_of_the_system();
}

static void test_counts_what_the_process_may_use(void **state)
{
	struct dlsi_topology topology;
	struct dls_error err;
	cpu_set_t allowed;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof allowed, &allowed), 0);
	assert_int_equal(dlsi_topology_read(&topology, &err), 0);
	assert_true(topology.threads >= 1 && topology.threads <= (uint32_t)sysconf(_SC_NPROCESSORS_ONLN));
	assert_int_equal(topology.threads, dlsi_processors());
	assert_true(topology.threads >= topology.cores && topology.cores >= 1);
	assert_true(topology.packages >= 1 && topology.numa_nodes >= 1);
	assert_true(topology.memory_bytes > least_memory() / 2);
	assert_true(topology.memory_bytes < memory_of_the_system() * 2);
}

static void test_affinity_is_kept_to(void **state)
{
	struct dlsi_topology topology;
	struct dls_error err;
	cpu_set_t before, one;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
	CPU_ZERO(&one);
	for (int i = 0; i < CPU_SETSIZE && !CPU_COUNT(&one); i++)
		if (CPU_ISSET(i, &before))
			CPU_SET(i, &one);
	assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
	assert_int_equal(dlsi_topology_read(&topology, &err), 0);
	assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
	assert_int_equal(topology.threads, 1);
}

static struct dlsi_topology limited(struct dlsi_cgroup limits)
{
	struct dlsi_topology topology = {
		.packages = 1, .cores = 4, .threads = 8, .numa_nodes = 1, .memory_bytes = 1000};

	dlsi_topology_limit(&topology, &limits);
	return topology;
}

static void test_control_groups_are_kept_to(void **state)
{
	struct dlsi_topology topology = limited((struct dlsi_cgroup){UINT64_MAX, INFINITY});

	(void)state;
	assert_int_equal(topology.threads, 8);
	assert_int_equal(topology.cores, 4);
	assert_int_equal(topology.memory_bytes, 1000);
	topology = limited((struct dlsi_cgroup){600, 5.1});
	assert_int_equal(topology.threads, 6);
	assert_int_equal(topology.cores, 4);
	assert_int_equal(topology.memory_bytes, 600);
	topology = limited((struct dlsi_cgroup){2000, 0.2});
	assert_int_equal(topology.threads, 1);
	assert_int_equal(topology.cores, 1);
	assert_int_equal(topology.memory_bytes, 1000);
}

UNIT_MAIN(test_counts_what_the_process_may_use, test_affinity_is_kept_to, test_control_groups_are_kept_to)
