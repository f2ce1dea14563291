#include "policy/registry.h"

#include "policy/ddrf.h"
#include "policy/deadline.h"
#include "policy/drf.h"
#include "policy/feedback.h"
#include "policy/leastloaded.h"
#include "policy/lua.h"
#include "policy/priority.h"
#include "policy/roundrobin.h"
#include <stdio.h>
#include <string.h>

static const struct dlsi_policy_ops *const policies[] = {
	&dlsi_policy_roundrobin,
	&dlsi_policy_leastloaded,
	&dlsi_policy_priority,
	&dlsi_policy_feedback,
	&dlsi_policy_deadline,
	&dlsi_policy_drf,
	&dlsi_policy_ddrf,
	&dlsi_policy_lua,
};

int dlsi_policy_find(const char *name, const struct dlsi_policy_ops **ops_out, struct dls_error *err)
{
	char names[256] = "";
	size_t used = 0;

	for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
		if (strcmp(policies[i]->name, name) == 0) {
			*ops_out = policies[i];
			return 0;
		}
		used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", policies[i]->name);
	}
	return dlsi_fail(err, DLS_EINVAL, "there is no policy %.64s; there are: %s", name, names);
}
