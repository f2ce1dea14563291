/* The policies there are, by name. A new one adds its table to the list in registry.c. */
#ifndef DLSI_POLICY_REGISTRY_H
#define DLSI_POLICY_REGISTRY_H

#include "base/error.h"
#include "core/policy_ops.h"

/* Errors: DLS_EINVAL (no such policy; the sentence lists those there are). */
int dlsi_policy_find(const char *name, const struct dlsi_policy_ops **ops_out, struct dls_error *err);

#endif
