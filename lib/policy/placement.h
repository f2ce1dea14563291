/* Where a job's next task is finished first, from measured times: what policies that look ahead have in common. */
#ifndef DLSI_PLACEMENT_H
#define DLSI_PLACEMENT_H

#include "policy/ordered.h"

/* On the device with the fewest tasks. */
enum dlsi_placed dlsi_place_least_loaded(
	const struct dlsi_policy_view *view, struct dlsi_policy_job *job, struct dlsi_policy_choice *choice_out);

/* On the device that is expected to finish an item first, of those looked at, which are the least loaded: what it holds
 * already, then the item. A device that never ran such items is tried at once with one task, whatever it may turn out
 * to be. */
enum dlsi_placed dlsi_place_earliest(
	const struct dlsi_policy_view *view, struct dlsi_policy_job *job, struct dlsi_policy_choice *choice_out);

/* The same, but not on a device that would still be at it when the others have done all the rest of the job: that waits
 * for one of them. And no more items than it can do until then. */
enum dlsi_placed dlsi_place_in_time(
	const struct dlsi_policy_view *view, struct dlsi_policy_job *job, struct dlsi_policy_choice *choice_out);

#endif
