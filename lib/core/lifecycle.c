#include "core/lifecycle.h"

#include "proto/record.h"

#define TO(state) (1U << (state))
#define ROWS      8

/* From state (row) to the states of the set. */
static const uint32_t tables[][ROWS] = {
	[DLSI_LIFECYCLE_JOB] =
		{
			[0] = TO(DLSI_JOB_PROPOSED) | TO(DLSI_JOB_ACTIVE),
			[DLSI_JOB_PROPOSED] = TO(DLSI_JOB_ACTIVE) | TO(DLSI_JOB_CANCELLED) | TO(DLSI_JOB_FAILED),
			[DLSI_JOB_ACTIVE] = TO(DLSI_JOB_DONE) | TO(DLSI_JOB_CANCELLED) | TO(DLSI_JOB_FAILED),
		},
	[DLSI_LIFECYCLE_TASK] =
		{
			[DLSI_TASK_NEW] = TO(DLSI_TASK_ASSIGNED),
			[DLSI_TASK_ASSIGNED] = TO(DLSI_TASK_RETURNED) | TO(DLSI_TASK_DROPPED),
			[DLSI_TASK_RETURNED] = TO(DLSI_TASK_TAKEN) | TO(DLSI_TASK_DROPPED),
		},
	[DLSI_LIFECYCLE_LINK] =
		{
			[DLSI_LINK_DOWN] = TO(DLSI_LINK_REGISTERING),
			[DLSI_LINK_REGISTERING] = TO(DLSI_LINK_REGISTERING) | TO(DLSI_LINK_UP) | TO(DLSI_LINK_DOWN) |
						  TO(DLSI_LINK_REJECTED),
			[DLSI_LINK_UP] = TO(DLSI_LINK_UP) | TO(DLSI_LINK_REGISTERING) | TO(DLSI_LINK_DOWN) |
					 TO(DLSI_LINK_REJECTED),
		},
};

bool dlsi_lifecycle_set(enum dlsi_lifecycle lifecycle, uint8_t *state, uint8_t next, uint64_t *refused)
{
	if (*state >= ROWS || !(tables[lifecycle][*state] & TO(next))) {
		++*refused;
		return false;
	}
	*state = next;
	return true;
}

const char *dlsi_job_state_name(uint8_t state)
{
	static const char *const names[] = {"new", "proposed", "active", "done", "cancelled", "failed"};

	return state < sizeof names / sizeof *names ? names[state] : "unknown";
}
