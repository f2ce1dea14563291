/* The simulated worker's particulars: its devices, and which jobs it was told of. */
#include "test/sim/sim.h"

/* What a worker has beside devices; the first one has enough for any job. */
static void draw_capacity(struct sim *sim, struct sim_node *node)
{
	bool plenty = sim->plan || !node->index;

	node->cores = plenty ? 4 : 1 + sim_below(sim, 4);
	node->gpus = plenty ? 2 : sim_below(sim, 2);
	node->labelled = plenty || sim_chance(sim, 50);
}

void sim_worker_start(struct sim *sim, struct sim_node *node)
{
	static const char *const handlers[] = {"work", DLSI_HANDLER_MODEL, NULL}, *const labels[] = {"fast", NULL};
	struct dlsi_agent_resource resources[2];
	struct dlsi_agent_device devices[SIM_DEVICES];
	struct dlsi_agent_config config = {.host = "host", .devices = devices, .handlers = handlers};
	char name[32];
	struct dls_error error;

	sim_node_name(node, name);
	config.name = name;
	config.data_endpoint = name;
	config.incarnation = node->incarnation;
	config.seed = dlsi_rng_next(&sim->rng);
	config.device_count = sim->plan ? 1 : (uint16_t)(1 + sim_below(sim, SIM_DEVICES));
	sim_tasks_init(node);
	for (uint16_t i = 0; i < config.device_count; i++) {
		node->devices[i].credits = sim->plan ? DLSI_DEVICE_CREDITS : 1 + sim_below(sim, 8);
		devices[i] = (struct dlsi_agent_device){"cpu", (uint16_t)node->devices[i].credits, 1, 1};
	}
	draw_capacity(sim, node);
	resources[0] = (struct dlsi_agent_resource){"cores", node->cores * 1000};
	resources[1] = (struct dlsi_agent_resource){"gpu", node->gpus * 1000};
	config.resources = resources;
	config.resource_count = node->gpus ? 2 : 1;
	config.labels = node->labelled ? labels : NULL;
	dlsi_map_init(&node->open_jobs, &dlsi_alloc_libc, 1);
	node->open_count = 0;
	if (dlsi_agent_create(&node->memory.alloc, &config, &node->agent, &error))
		sim_fail(sim, "%s", error.text);
}

void sim_worker_clear(struct sim_node *node)
{
	dlsi_map_fini(&node->open_jobs);
	sim_tasks_clear(node);
}

static void open_job(struct sim *sim, struct sim_node *node, const struct dlsi_effect *effect)
{
	if (dlsi_map_get(&node->open_jobs, &effect->job))
		sim_fail(sim, "a worker is told of a job twice");
	if (!effect->payload.handle ||
		!dlsi_id_equal(&sim_payload_get(sim, node, effect->payload.handle)->job, &effect->job))
		sim_fail(sim, "a worker gets a job with the manifest of another");
	dlsi_map_put(&node->open_jobs, &effect->job, node);
	node->open_count++;
}

void sim_worker_effect(struct sim *sim, struct sim_node *node, const struct dlsi_effect *effect)
{
	switch (effect->kind) {
	case DLSI_EFFECT_JOB_OPEN:
		open_job(sim, node, effect);
		break;
	case DLSI_EFFECT_JOB_CLOSE:
		if (!dlsi_map_remove(&node->open_jobs, &effect->job))
			sim_fail(sim, "a worker is to close a job that it was not told of");
		node->open_count--;
		break;
	case DLSI_EFFECT_EXECUTE:
		if (!dlsi_map_get(&node->open_jobs, &effect->job))
			sim_fail(sim, "a worker is to execute a task of a job that it was not told of");
		sim_task_execute(sim, node, effect);
		break;
	case DLSI_EFFECT_CANCEL:
		sim_task_cancel(node, effect->attempt);
		break;
	case DLSI_EFFECT_FOUND:
		sim_model_found(sim, node, effect);
		break;
	case DLSI_EFFECT_RECALL:
		sim_task_recall(sim, node, effect);
		break;
	case DLSI_EFFECT_NOTIFY:
		if (effect->notify.notice == DLSI_NOTICE_DRAINED)
			sim_faults_drained(sim, node);
		if (effect->notify.notice == DLSI_NOTICE_REJECTED)
			sim_fail(sim, "worker %u was refused for good with code %d", node->index, effect->notify.code);
		break;
	default:
		sim_fail(sim, "a worker asks for effect %d", (int)effect->kind);
	}
}
