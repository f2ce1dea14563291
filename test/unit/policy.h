/* Queues of a made-up cluster, as the core gives them to a policy. */
#ifndef DLSI_UNIT_POLICY_H
#define DLSI_UNIT_POLICY_H

#include "core/policy_ops.h"

/* Its tenant and class, zeroed or with queues already, are set; with room for so many jobs, and in the class for so
 * many queues. */
void unit_policy_queue_init(struct dlsi_policy_queue *queue, size_t jobs, size_t queues);
void unit_policy_queue_fini(struct dlsi_policy_queue *queue);

#endif
