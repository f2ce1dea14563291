/* The policies that the library brings. A new one adds its table to the list in registry.c. */
#ifndef DLSI_POLICY_REGISTRY_H
#define DLSI_POLICY_REGISTRY_H

#include "core/policy_ops.h"

enum { DLSI_POLICIES = 8 };

extern const struct dlsi_policy_ops *const dlsi_policies[DLSI_POLICIES + 1]; /* NULL behind them */

#endif
