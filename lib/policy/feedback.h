/* Feedback: jobs take turns, and each task goes where it is expected to be finished first by what was measured of such
 * items on each device, which every result corrects; a device that never ran such items is tried with one task. Towards
 * its end a job leaves slow devices alone: an item goes to none that would still be at it when the others have done the
 * rest. No parameters. */
#ifndef DLSI_FEEDBACK_H
#define DLSI_FEEDBACK_H

#include "core/policy_ops.h"

extern const struct dlsi_policy_ops dlsi_policy_feedback;

#endif
