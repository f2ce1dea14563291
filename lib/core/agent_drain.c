/* Tasks that the worker gives back: those that the master recalls, and all when the worker is to leave. What has begun
 * stops between two items, if it is wanted and the handler can: then its result is of the items before, and says so by
 * its end. */
#include "core/agent_state.h"

#include "base/limits.h"
#include "proto/bytes.h"

#define PATIENT_REGISTERS 2 /* without an answer: a worker that is to leave does not wait for its master any more */

enum { ATTEMPTS = DLSI_MESSAGE_RECORDS / 4 }; /* of one record */

/* Without a connection it waits: the master may have been presented what has been dropped since. It passes over
 * attempts that it does not know. */
void dlsi_agent_post_handback(struct dlsi_agent *agent)
{
	struct dlsi_record record = {.kind = DLSI_HANDBACK};
	uint32_t count = (uint32_t)(agent->handback.length / 8), posted = 0;

	if (agent->link.state != DLSI_LINK_UP)
		return;
	record.handback.leaving = agent->leaving;
	do {
		uint32_t some = count - posted < ATTEMPTS ? count - posted : ATTEMPTS;

		record.handback.attempts = (struct dlsi_numbers){agent->handback.data + 8 * posted, some};
		dlsi_agent_post(agent, &record);
		posted += some;
	} while (posted < count);
	dlsi_buffer_clear(&agent->handback);
}

void dlsi_agent_hand_back(struct dlsi_agent *agent, uint64_t attempt)
{
	dlsi_write_u64(&agent->handback, attempt);
	agent->link.failed |= agent->handback.failed;
	if (agent->handback.length >= 8 * ATTEMPTS)
		dlsi_agent_post_handback(agent);
}

/* The driver gives it back, as one that was dropped, unless it has begun. */
static void recall(struct dlsi_agent *agent, struct task *task, bool running)
{
	struct dlsi_effect *effect;

	if (task->finished || task->cancelled || (running ? task->stopped : task->recalled))
		return;
	task->recalled = true;
	task->stopped |= running;
	effect = dlsi_effects_add(agent->link.effects, DLSI_EFFECT_RECALL);
	effect->job = task->result.job;
	effect->attempt = task->result.attempt;
	effect->recall.running = running;
}

void dlsi_agent_leave_soon(struct dlsi_agent *agent)
{
	if (agent->leaving)
		return;
	agent->leaving = true;
	dlsi_list_each (job_node, &agent->jobs) {
		struct job *job = dlsi_list_entry(job_node, struct job, node);

		dlsi_list_each (node, &job->tasks)
			recall(agent, dlsi_list_entry(node, struct task, node), true);
	}
	dlsi_agent_post_handback(agent);
}

void dlsi_agent_recall(struct dlsi_agent *agent, const struct dlsi_recall *record)
{
	for (uint32_t i = 0; i < record->attempts.count; i++) {
		struct task *task = dlsi_agent_find_task(agent, dlsi_numbers_at(&record->attempts, i));

		if (task)
			recall(agent, task, record->running != 0);
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
