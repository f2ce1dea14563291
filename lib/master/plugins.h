/* The folder of plug-ins that a master was given: each file in it whose name ends in ".so" brings a policy
 * (dlsched/policy.h). Its code becomes this process's, so that nobody but this user and root may be able to change
 * folder or files, and links lead nowhere. */
#ifndef DLSI_MASTER_PLUGINS_H
#define DLSI_MASTER_PLUGINS_H

#include "base/alloc.h"
#include "core/policy_ops.h"

struct dlsi_plugins;

/* Opens them. NULL for a folder: there are none. Errors: DLS_ENOTFOUND (no such folder), DLS_EDENIED (others could
 * change it or a file), DLS_EINVAL (what a file is, or the name of its policy), DLS_EVERSION (for another release),
 * DLS_ELIMIT (more than DLSI_PLUGINS), DLS_EIO, DLS_ENOMEM. */
int dlsi_plugins_open(
	const struct dlsi_alloc *alloc, const char *folder, struct dlsi_plugins **plugins_out, struct dls_error *err);

/* Nobody uses their policies any more. NULL is allowed. */
void dlsi_plugins_close(struct dlsi_plugins *plugins);

/* The library's own policies and behind them those of plug-ins by their names; NULL ends the list. */
const struct dlsi_policy_ops *const *dlsi_plugins_policies(const struct dlsi_plugins *plugins);

#endif
