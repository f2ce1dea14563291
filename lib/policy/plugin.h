/* A policy that its user has written in C (dlsched/policy.h), as the core knows policies: the plug-in's table behind
 * ours. Its parameters are its own; what it returns is checked. */
#ifndef DLSI_POLICY_PLUGIN_H
#define DLSI_POLICY_PLUGIN_H

#include "core/policy_ops.h"
#include <dlsched/policy.h>

struct dlsi_policy_plugin {
	struct dlsi_policy_ops ops; /* first */
	struct dls_policy_ops table;
};

/* `table` and its texts outlive the plug-in. Errors, where it is not one for this release: DLS_EVERSION, DLS_EINVAL. */
int dlsi_policy_plugin_init(
	struct dlsi_policy_plugin *plugin, const struct dls_policy_ops *table, struct dls_error *err);

#endif
