#include "core/policy_ops.h"

#include <stdio.h>
#include <string.h>

/* As far as there is room: plug-ins may be many. */
static void list_names(const struct dlsi_policy_ops *const *policies, char *names, size_t room)
{
	size_t used = 0;

	for (size_t i = 0; policies[i] && used < room; i++)
		used += (size_t)snprintf(names + used, room - used, "%s%s", i ? ", " : "", policies[i]->name);
}

int dlsi_policy_find(const struct dlsi_policy_ops *const *policies, const char *name,
	const struct dlsi_policy_ops **ops_out, struct dls_error *err)
{
	char names[DLS_ERROR_TEXT_BYTES] = "";

	for (size_t i = 0; policies[i]; i++)
		if (strcmp(policies[i]->name, name) == 0) {
			*ops_out = policies[i];
			return 0;
		}
	list_names(policies, names, sizeof names);
	return dlsi_fail(err, DLS_EINVAL, "there is no policy %.64s; there are: %s", name, names);
}
