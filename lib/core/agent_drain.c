/* Tasks that the worker gives back: those that the master recalls before they have begun, and all that has not begun
 * when the worker is to leave. */
#include "core/agent_state.h"

#include "base/limits.h"
#include "proto/bytes.h"

#define PATIENT_REGISTERS 2 /* without an answer: a worker that is to leave does not wait for its master any more */

void dlsi_agent_post_handback(struct dlsi_agent *agent)
{
	struct dlsi_record record = {.kind = DLSI_HANDBACK};

	record.handback.leaving = agent->leaving;
	record.handback.attempts = (struct dlsi_numbers){agent->handback.data, (uint32_t)(agent->handback.length / 8)};
	agent->link.failed |= agent->handback.failed;
	if (agent->link.state == DLSI_LINK_UP)
		dlsi_agent_post(agent, &record);
	dlsi_buffer_clear(&agent->handback); /* without a connection: what REGISTER does not present is handed back */
}

void dlsi_agent_hand_back(struct dlsi_agent *agent, uint64_t attempt)
{
	dlsi_write_u64(&agent->handback, attempt);
	if (agent->handback.length >= 8 * (DLSI_MESSAGE_RECORDS / 4))
		dlsi_agent_post_handback(agent);
}

/* The driver gives it back, as one that was dropped, unless it has begun. */
static void recall(struct dlsi_agent *agent, struct task *task)
{
	struct dlsi_effect *effect;

	if (task->finished || task->cancelled || task->recalled)
		return;
	task->recalled = true;
	effect = dlsi_effects_add(agent->link.effects, DLSI_EFFECT_RECALL);
	effect->job = task->result.job;
	effect->attempt = task->result.attempt;
}

void dlsi_agent_leave_soon(struct dlsi_agent *agent)
{
	if (agent->leaving)
		return;
	agent->leaving = true;
	dlsi_list_each (job_node, &agent->jobs) {
		struct job *job = dlsi_list_entry(job_node, struct job, node);

		dlsi_list_each (node, &job->tasks)
			recall(agent, dlsi_list_entry(node, struct task, node));
	}
	dlsi_agent_post_handback(agent);
}

void dlsi_agent_recall(struct dlsi_agent *agent, const struct dlsi_recall *record)
{
	for (uint32_t i = 0; i < record->attempts.count; i++) {
		struct task *task = dlsi_agent_find_task(agent, dlsi_numbers_at(&record->attempts, i));

		if (task)
			recall(agent, task);
	}
}

bool dlsi_agent_is_drained(const struct dlsi_agent *agent)
{
	if (!agent->leaving)
		return false;
	if (agent->task_by_attempt.count == 0)
		return true;
	if (agent->link.state == DLSI_LINK_UP ||
		(agent->link.state == DLSI_LINK_REGISTERING && agent->link.unanswered < PATIENT_REGISTERS))
		return false;
	dlsi_list_each (job_node, &agent->jobs) {
		const struct job *job = dlsi_list_entry(job_node, struct job, node);

		dlsi_list_each (node, &job->tasks)
			if (!dlsi_list_entry(node, struct task, node)->finished)
				return false;
	}
	return dlsi_list_empty(&agent->cancelled);
}
