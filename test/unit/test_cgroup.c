/* Limits of control groups, read from trees as version 1, version 2 and containers show them. */
#include "device/cgroup.h"
#include "test/unit/unit.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const char *root;

/* Writes a file of the tree, and the folders above it. */
static void put(const char *name, const char *text)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof path, "%s/%s", root, name);
	for (char *at = path + strlen(root) + 1; (at = strchr(at, '/')); *at++ = '/') {
		*at = '\0';
		mkdir(path, 0700);
	}
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static void assert_limits(uint64_t memory_bytes, double processors)
{
	struct dlsi_cgroup limits = dlsi_cgroup_read(root);

	assert_int_equal(limits.memory_bytes, memory_bytes);
	assert_true(limits.processors == processors);
}

static void test_nothing_limits_nothing(void **state)
{
	(void)state;
	root = unit_folder();
	assert_limits(UINT64_MAX, INFINITY);
	put("proc/self/cgroup", "0::/none\n");
	assert_limits(UINT64_MAX, INFINITY);
}

static void test_version_2(void **state)
{
	(void)state;
	root = unit_folder();
	put("proc/self/cgroup", "0::/above/ours\n");
	put("sys/fs/cgroup/above/ours/memory.max", "max\n");
	put("sys/fs/cgroup/above/ours/cpu.max", "max 100000\n");
	assert_limits(UINT64_MAX, INFINITY);
	put("sys/fs/cgroup/above/ours/memory.max", "1073741824\n");
	put("sys/fs/cgroup/above/ours/cpu.max", "150000 100000\n");
	assert_limits(1073741824, 1.5);
	put("sys/fs/cgroup/above/memory.max", "536870912\n");  /* one above is tighter, */
	put("sys/fs/cgroup/above/cpu.max", "400000 100000\n"); /* or is not */
	assert_limits(536870912, 1.5);
	put("sys/fs/cgroup/memory.max", "4096\n"); /* where a container sees its own group */
	assert_limits(4096, 1.5);
}

static void test_version_1(void **state)
{
	(void)state;
	root = unit_folder();
	put("proc/self/cgroup", "5:cpuset:/\n4:memory:/jobs/a:b\n3:cpu,cpuacct:/jobs\n1:name=systemd:/jobs\n");
	put("sys/fs/cgroup/memory/jobs/a:b/memory.limit_in_bytes", "9223372036854771712\n");
	put("sys/fs/cgroup/cpu,cpuacct/jobs/cpu.cfs_quota_us", "-1\n");
	put("sys/fs/cgroup/cpu,cpuacct/jobs/cpu.cfs_period_us", "100000\n");
	assert_limits(9223372036854771712ULL, INFINITY);
	put("sys/fs/cgroup/memory/jobs/memory.limit_in_bytes", "2097152\n");
	put("sys/fs/cgroup/cpu,cpuacct/jobs/cpu.cfs_quota_us", "25000\n");
	assert_limits(2097152, 0.25);
	put("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "10000\n");
	put("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
	assert_limits(2097152, 0.1);
}

/* Both versions side by side, each with a controller. */
static void test_both_versions(void **state)
{
	(void)state;
	root = unit_folder();
	put("proc/self/cgroup", "2:memory:/\n0::/ours\n");
	put("sys/fs/cgroup/memory/memory.limit_in_bytes", "65536\n");
	put("sys/fs/cgroup/unified/ours/cpu.max", "300000 100000\n");
	assert_limits(65536, 3.0);
}

/* The group has a path outside that leads nowhere here; the top of what is seen is the group itself. */
static void test_container_that_sees_the_outer_path(void **state)
{
	(void)state;
	root = unit_folder();
	put("sys/fs/cgroup/memory/memory.limit_in_bytes", "8192\n");
	put("proc/self/cgroup", "4:memory:/docker/0123\n");
	assert_limits(8192, INFINITY);
	put("sys/memory.limit_in_bytes", "1\n"); /* is no limit of anybody */
	put("proc/self/cgroup", "4:memory:/../..\n");
	assert_limits(8192, INFINITY);
}

static void test_what_cannot_be_is_no_limit(void **state)
{
	static const char *const quotas[] = {
		"", "\n", "100000\n", "max\n", "x 100000\n", "5 x\n", "100000 0\n", "0 7\n"};
	char line[9000];

	(void)state;
	root = unit_folder();
	put("proc/self/cgroup", "0::/\n");
	put("sys/fs/cgroup/memory.max", "none\n");
	for (size_t i = 0; i < sizeof quotas / sizeof *quotas; i++) {
		put("sys/fs/cgroup/cpu.max", quotas[i]);
		assert_limits(UINT64_MAX, INFINITY);
	}
	memset(line, 'x', sizeof line - 1);
	line[sizeof line - 1] = '\0';
	memcpy(line, "0::/", 4);
	put("proc/self/cgroup", line); /* longer than any path */
	assert_limits(UINT64_MAX, INFINITY);
	put("proc/self/cgroup", "memory\n:\n0:\n\n");
	assert_limits(UINT64_MAX, INFINITY);
}

UNIT_MAIN(test_nothing_limits_nothing, test_version_2, test_version_1, test_both_versions,
	test_container_that_sees_the_outer_path, test_what_cannot_be_is_no_limit)
