/* The model of a simulated worker, as lib/worker treats one: the first task that needs it makes the worker ask where it
 * is, it comes from there over the links, or cannot be had there and is asked for again, and then the tasks go on. */
#include "test/sim/sim.h"

#include <stdlib.h>
#include <string.h>

enum state { NONE, ASKED, LOADS, HERE };

#define PIECE_BYTES (2 * 1024 * 1024) /* what a reader has asked for at once */

struct piece {
	struct sim_transfer transfer; /* first */
	uint64_t life, holder_life;   /* when it was asked for */
};

void sim_models_init(struct sim_node *node)
{
	node->model = NONE;
	dlsi_list_init(&node->lackers);
}

static void tell(struct sim *sim, struct sim_happening *happening)
{
	sim_node_step(sim, happening->at, &happening->event);
}

/* Soon: it may be in a step. */
static void tell_soon(struct sim *sim, struct sim_node *node, uint8_t state, uint64_t bytes, int64_t elapsed_ns)
{
	struct sim_happening *happening = sim_schedule(sim, 0, node, tell);

	happening->event = (struct dlsi_event){.kind = DLSI_EVENT_SEEK, .job = node->model_job};
	happening->event.seek.state = state;
	happening->event.seek.bytes = bytes;
	happening->event.seek.elapsed_ns = (uint64_t)elapsed_ns;
}

static void ask(struct sim *sim, struct sim_node *node)
{
	node->model = ASKED;
	tell_soon(sim, node, DLSI_SEEK_WANTS, 0, 0);
}

bool sim_model_get(struct sim *sim, struct sim_node *node, const struct dlsi_id *job)
{
	if (node->model == HERE)
		return true;
	if (node->model == NONE) {
		node->model_job = *job;
		ask(sim, node);
	}
	return false;
}

static struct sim_node *find(struct sim *sim, struct dlsi_text name)
{
	char own[32];

	for (unsigned i = 0; i < sim->worker_count; i++) {
		sim_node_name(&sim->workers[i], own);
		if (dlsi_text_equal(name, dlsi_text_of(own)))
			return &sim->workers[i];
	}
	if (name.length)
		sim_fail(sim, "a worker is to get a model from %.*s", (int)name.length, name.data);
	return &sim->clients[0]; /* whichever it is */
}

static void arrived(struct sim *sim, struct sim_transfer *transfer)
{
	const struct piece *piece = (struct piece *)transfer;
	struct sim_node *node = transfer->to, *from = transfer->from;
	bool had = from->kind == SIM_CLIENT || (from->life == piece->holder_life && from->model == HERE);
	bool is_late = !node->up || node->life != piece->life;

	if (!is_late)
		node->model_missing -= transfer->bytes;
	free(transfer);
	if (is_late || node->model_missing)
		return;
	if (!had) {
		ask(sim, node);
		return;
	}
	node->model = HERE;
	tell_soon(sim, node, DLSI_SEEK_HAS, node->model_bytes, sim->now_ns - node->model_begun_ns);
	sim_tasks_have_model(sim, node);
}

static void begin_piece(struct sim *sim, struct sim_node *from, struct sim_node *node, uint64_t bytes)
{
	struct piece *piece = sim_calloc(sizeof *piece);

	piece->life = node->life;
	piece->holder_life = from->life;
	piece->transfer.from = from;
	piece->transfer.to = node;
	piece->transfer.bytes = bytes;
	piece->transfer.arrived = arrived;
	sim_transfer_begin(sim, &piece->transfer);
}

void sim_model_found(struct sim *sim, struct sim_node *node, const struct dlsi_effect *effect)
{
	struct sim_node *from;

	if (node->model != ASKED || !dlsi_id_equal(&effect->job, &node->model_job))
		return;
	from = find(sim, dlsi_effects_text(&node->effects, effect->found.holder, effect->found.holder_length));
	node->model = LOADS;
	node->model_bytes = node->model_missing = sim->plan ? sim->plan->model_bytes : 1 + sim_below(sim, 10000000);
	node->model_begun_ns = sim->now_ns;
	for (uint64_t left = node->model_bytes, bytes; left; left -= bytes) {
		bytes = left < PIECE_BYTES ? left : PIECE_BYTES;
		begin_piece(sim, from, node, bytes);
	}
}
