/* The worker's tables, seen only by the files of core/ that make up the agent. */
#ifndef DLSI_AGENT_STATE_H
#define DLSI_AGENT_STATE_H

#include "base/list.h"
#include "base/map.h"
#include "core/agent.h"
#include "core/link.h"

struct job {
	struct dlsi_list node;
	struct dlsi_id id;
	struct dlsi_payload manifest;
	bool seeks; /* its model, and nobody has said where it is */
	struct dlsi_list tasks;
};

struct task {
	struct dlsi_list node; /* on job->tasks, or on agent->cancelled */
	bool finished;         /* else the driver has it */
	bool cancelled;        /* its result is dropped when it comes */
	bool recalled;         /* it is handed back if it has not begun ... */
	bool stopped;          /* ... and if it has, it stops between two items */
	bool presented;        /* by the last REGISTER */
	struct dlsi_payload payload;
	struct dlsi_result result; /* `again` is a copy */
};

struct dlsi_agent {
	const struct dlsi_alloc *alloc;
	struct dlsi_agent_config config; /* with copies of its texts */
	struct dlsi_agent_device *devices;
	struct dlsi_agent_resource *resources;
	char **handlers, **labels; /* NULL-terminated */
	struct dlsi_link link;
	struct dlsi_list jobs;
	struct dlsi_buffer handback; /* u64 each: attempts to hand back in the next message */
	bool leaving;                /* nothing is begun any more */
	bool drained;                /* nothing is left, which has been told */
	struct dlsi_list cancelled;  /* tasks that nobody wants and the driver still has; their job may be gone */
	struct dlsi_map job_by_id, task_by_attempt;
};

/* agent.c: what all parts need */
struct task *dlsi_agent_find_task(const struct dlsi_agent *agent, uint64_t attempt);
void dlsi_agent_post(struct dlsi_agent *agent, const struct dlsi_record *record);

/* agent_models.c: the driver asks for the model of a job, or says how it stands with it. What cannot be asked now is
 * asked for when there is a master again. */
void dlsi_agent_seek(struct dlsi_agent *agent, const struct dlsi_event *event);
void dlsi_agent_seek_again(struct dlsi_agent *agent, const struct dlsi_id *job);
void dlsi_agent_found(struct dlsi_agent *agent, const struct dlsi_found *record);

/* The model of a job is where the record says; NULL: at the job's client, as far as anybody knows. */
void dlsi_agent_tell_found(struct dlsi_agent *agent, const struct dlsi_id *job, const struct dlsi_found *record);

/* The job's client is to connect here. While there is no master nobody can be called; who fetches calls again. */
void dlsi_agent_call(struct dlsi_agent *agent, const struct dlsi_id *job);

/* agent_drain.c: tasks that are handed back, and a worker that is to leave. What is handed back is told at the end of
 * the turn, or at once with what waits. */
void dlsi_agent_hand_back(struct dlsi_agent *agent, uint64_t attempt);
void dlsi_agent_post_handback(struct dlsi_agent *agent);
void dlsi_agent_recall(struct dlsi_agent *agent, const struct dlsi_recall *record);

/* From now on the worker begins nothing. */
void dlsi_agent_leave_soon(struct dlsi_agent *agent);

/* Whether a worker that is to leave may do so: it runs nothing, and all that it has done is where it belongs or cannot
 * get there. */
bool dlsi_agent_is_drained(const struct dlsi_agent *agent);

#endif
