/* Distributed DRF: each worker is a pool of its own with a dominant share per tenant, tracked from assignments and
 * results; the next task goes to the pair of a tenant and a device whose share there, divided by the tenant's weight,
 * is the smallest of those where it fits (CN113127203B; compare Wang, Li and Liang, "Dominant Resource Fairness in
 * Cloud Computing Systems with Heterogeneous Servers", arXiv 1308.0083, and Khamse-Ashari et al., arXiv 1712.10114). Of
 * equal pairs the tenant with the smaller share of the whole cluster goes first. A tenant's jobs come in the order of
 * their priorities. No parameters. */
#ifndef DLSI_DDRF_H
#define DLSI_DDRF_H

#include "core/policy_ops.h"

extern const struct dlsi_policy_ops dlsi_policy_ddrf;

#endif
