/* What a worker needs of others and has for them: the models of its jobs, and clients that it cannot connect to. */
#include "core/agent_state.h"

void dlsi_agent_tell_found(struct dlsi_agent *agent, const struct dlsi_id *job, const struct dlsi_found *record)
{
	static const struct dlsi_found nowhere;
	struct dlsi_effects *effects = agent->link.effects;
	const struct dlsi_found *found = record ? record : &nowhere;
	size_t holder = dlsi_effects_store(effects, found->holder.data, found->holder.length);
	size_t host = dlsi_effects_store(effects, found->holder_host.data, found->holder_host.length);
	struct dlsi_effect *effect = dlsi_effects_add(effects, DLSI_EFFECT_FOUND);

	effect->job = *job;
	effect->found.token = found->token;
	effect->found.holder = holder;
	effect->found.holder_length = found->holder.length;
	effect->found.holder_host = host;
	effect->found.holder_host_length = found->holder_host.length;
}

static void post_seek(
	struct dlsi_agent *agent, const struct dlsi_id *job, uint8_t state, uint64_t bytes, uint64_t elapsed_ns)
{
	struct dlsi_record record = {.kind = DLSI_SEEK, .seek = {*job, state, bytes, elapsed_ns}};

	dlsi_agent_post(agent, &record);
}

void dlsi_agent_seek_again(struct dlsi_agent *agent, const struct dlsi_id *job)
{
	post_seek(agent, job, DLSI_SEEK_WANTS, 0, 0);
}

void dlsi_agent_found(struct dlsi_agent *agent, const struct dlsi_found *record)
{
	struct job *job = dlsi_map_get(&agent->job_by_id, &record->job);

	if (!job)
		return;
	job->seeks = false;
	dlsi_agent_tell_found(agent, &job->id, record);
}

void dlsi_agent_seek(struct dlsi_agent *agent, const struct dlsi_event *event)
{
	struct job *job = dlsi_map_get(&agent->job_by_id, &event->job);
	bool wants = event->seek.state == DLSI_SEEK_WANTS;

	if (job)
		job->seeks = wants;
	if (wants && !job)
		dlsi_agent_tell_found(agent, &event->job, NULL);
	else
		post_seek(agent, &event->job, event->seek.state, event->seek.bytes, event->seek.elapsed_ns);
}

void dlsi_agent_call(struct dlsi_agent *agent, const struct dlsi_id *job)
{
	struct dlsi_record record = {.kind = DLSI_CALL, .call = {.job = *job}};

	dlsi_agent_post(agent, &record);
}
