#include "device/cgroup.h"

#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { VALUE_BYTES = 64 };

/* The first line of a file, with its end; false if there is none. */
static bool read_value(const char *folder, const char *name, char value[VALUE_BYTES])
{
	char path[PATH_MAX];
	FILE *file;
	bool read;

	if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
		return false;
	file = fopen(path, "re");
	if (!file)
		return false;
	read = fgets(value, VALUE_BYTES, file) != NULL;
	fclose(file);
	return read;
}

/* The number at *at, which then points behind it; false where another word stands, "max" or "-1" for no limit. */
static bool take_number(const char **at, uint64_t *number_out)
{
	char *end;

	*at += strspn(*at, " ");
	if (!isdigit((unsigned char)**at))
		return false;
	*number_out = strtoumax(*at, &end, 10);
	*at = end;
	return true;
}

static void limit_memory(struct dlsi_cgroup *limits, const char *folder, const char *name)
{
	char value[VALUE_BYTES];
	const char *at = value;
	uint64_t bytes;

	if (read_value(folder, name, value) && take_number(&at, &bytes) && bytes < limits->memory_bytes)
		limits->memory_bytes = bytes;
}

/* Microseconds of processor time in each period. */
static void limit_processors(struct dlsi_cgroup *limits, const char *quota, const char *period)
{
	uint64_t quota_us, period_us;
	double processors;

	if (!take_number(&quota, &quota_us) || !take_number(&period, &period_us) || !quota_us || !period_us)
		return;
	processors = (double)quota_us / (double)period_us;
	if (processors < limits->processors)
		limits->processors = processors;
}

/* One group, whichever controllers its folder shows. */
static void look(struct dlsi_cgroup *limits, const char *folder)
{
	char quota[VALUE_BYTES], period[VALUE_BYTES];
	const char *space;

	limit_memory(limits, folder, "memory.max");
	limit_memory(limits, folder, "memory.limit_in_bytes");
	if (read_value(folder, "cpu.max", quota) && (space = strchr(quota, ' ')))
		limit_processors(limits, quota, space);
	if (read_value(folder, "cpu.cfs_quota_us", quota) && read_value(folder, "cpu.cfs_period_us", period))
		limit_processors(limits, quota, period);
}

/* The group and those above it. A container may see the path that its group has outside, of which nothing exists inside
 * but the top: what is missing on the way is passed over. */
static void climb(struct dlsi_cgroup *limits, const char *root, const char *hierarchy, const char *group)
{
	char folder[PATH_MAX];
	int top = snprintf(folder, sizeof folder, "%s/sys/fs/cgroup%s%s", root, *hierarchy ? "/" : "", hierarchy);
	size_t length = strlen(group);
	char *end;

	if (top >= (int)sizeof folder || length >= sizeof folder - (size_t)top)
		return;
	if (!strstr(group, "/..")) /* else it lies outside of what is seen */
		memcpy(folder + top, group, length + 1);
	while ((end = strrchr(folder + top, '/'))) {
		look(limits, folder);
		*end = '\0';
	}
	look(limits, folder);
}

static bool lists(const char *controllers, const char *name)
{
	size_t length = strlen(name);

	for (const char *at = controllers; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
		if (strncmp(at, name, length) == 0 && (at[length] == ',' || !at[length]))
			return true;
	return false;
}

/* A line "NUMBER:CONTROLLERS:GROUP". Version 2 names no controllers; beside version 1 it is at a place of its own. What
 * version 1 mounts together ("cpu,cpuacct") can be found under that name, as a rule also under each alone. */
static void take_line(struct dlsi_cgroup *limits, const char *root, char *line)
{
	char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;

	if (!group)
		return;
	*group++ = '\0';
	group[strcspn(group, "\n")] = '\0';
	controllers++;
	if (!*controllers) {
		climb(limits, root, "", group);
		climb(limits, root, "unified", group);
	} else if (lists(controllers, "memory") || lists(controllers, "cpu")) {
		climb(limits, root, controllers, group);
		climb(limits, root, lists(controllers, "cpu") ? "cpu" : "memory", group);
	}
}

uint32_t dlsi_cgroup_processors(const struct dlsi_cgroup *limits, uint32_t usable)
{
	double whole = ceil(limits->processors);

	if (whole < usable)
		usable = (uint32_t)whole;
	return usable ? usable : 1;
}

struct dlsi_cgroup dlsi_cgroup_read(const char *root)
{
	struct dlsi_cgroup limits = {UINT64_MAX, INFINITY};
	char path[PATH_MAX], line[PATH_MAX + 256];
	FILE *file;

	if (snprintf(path, sizeof path, "%s/proc/self/cgroup", root) >= (int)sizeof path)
		return limits;
	file = fopen(path, "re");
	if (!file)
		return limits;
	while (fgets(line, sizeof line, file))
		take_line(&limits, root, line);
	fclose(file);
	return limits;
}
