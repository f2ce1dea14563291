/* Round robin: jobs take turns, one task each, on the device that holds the fewest; a job that none of the free devices
 * can run is passed over without losing its turn to come. A choice costs as much as there are groups, however many jobs
 * wait. */
#ifndef DLSI_POLICY_ROUNDROBIN_H
#define DLSI_POLICY_ROUNDROBIN_H

#include "core/policy_ops.h"

extern const struct dlsi_policy_ops dlsi_policy_roundrobin;

#endif
