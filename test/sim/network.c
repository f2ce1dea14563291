/* The made-up transport. A connection carries messages both ways in order; it breaks at once for both directions, and
 * what has not arrived is lost. Like libzmq it dials again by itself. */
#include "test/sim/sim.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct sim_connection {
	struct dlsi_list node;
	struct sim_node *dialer;
	uint64_t dialer_life, master_life;
	uint32_t generation;   /* as the dialer counts */
	struct dlsi_peer peer; /* as the master sees the dialer; generation 0: it has not been heard yet */
	int64_t arrives_ns[2]; /* the latest arrival: to the dialer, to the master */
	bool broken;
};

static bool usable(const struct sim *sim, const struct sim_connection *connection)
{
	return !connection->broken && sim->master.up && sim->master.life == connection->master_life &&
	       connection->dialer->up && connection->dialer->life == connection->dialer_life;
}

const struct sim_node *sim_network_receiver(
	const struct sim *sim, const struct sim_connection *connection, bool to_master)
{
	return to_master ? &sim->master : connection->dialer;
}

/* The master's transport gives a slot to a connection that it hears for the first time. */
static void give_slot(struct sim *sim, struct sim_connection *connection)
{
	uint32_t slot = 0;

	while (slot < sim->slot_count && sim->slots[slot])
		slot++;
	if (slot == sim->slot_count) {
		sim->slots = realloc(sim->slots, (slot + 1) * sizeof(struct sim_connection *));
		sim->generations = realloc(sim->generations, (slot + 1) * sizeof *sim->generations);
		sim->generations[sim->slot_count++] = 0;
	}
	sim->slots[slot] = connection;
	connection->peer = (struct dlsi_peer){slot, ++sim->generations[slot]};
}

static void free_slot(struct sim *sim, struct sim_connection *connection)
{
	if (connection->peer.generation)
		sim->slots[connection->peer.slot] = NULL;
	connection->peer.generation = 0;
}

void sim_network_forget(struct sim *sim, struct dlsi_peer peer)
{
	struct sim_connection *connection = peer.slot < sim->slot_count ? sim->slots[peer.slot] : NULL;

	if (connection && dlsi_peer_equal(connection->peer, peer))
		free_slot(sim, connection);
}

/* Of a message, with what TCP and IP add. */
static uint64_t size_of(const struct sim_happening *message)
{
	uint64_t bytes = 100 + message->length;

	for (size_t i = 0; i < message->content_count; i++)
		bytes += message->contents[i].bytes;
	return bytes;
}

/* Says which records arrive, and of which attempts. */
static void check_message(struct sim *sim, const struct sim_happening *happening, const struct sim_node *to)
{
	struct dlsi_message message;
	struct dlsi_record record;
	char name[32];

	sim_node_name(to, name);
	if (dlsi_message_open(happening->block, happening->length, happening->content_count, &message, NULL))
		sim_fail(sim, "%s gets a message that cannot be read", name);
	while (sim->trace && dlsi_message_next(&message, &record)) {
		uint64_t attempt = record.kind == DLSI_ASSIGN   ? record.assign.attempt
				   : record.kind == DLSI_RESULT ? record.result.attempt
				   : record.kind == DLSI_HELD   ? record.held.attempt
				   : record.kind == DLSI_CANCEL ? record.cancel.attempt
								: 0;

		sim_trace(sim, "  to %s: %s %" PRIx64, name, dlsi_record_shape(record.kind)->name, attempt);
	}
}

static void arrive(struct sim *sim, struct sim_happening *happening)
{
	struct sim_connection *connection = happening->connection;
	struct sim_node *to = happening->to_master ? &sim->master : connection->dialer;
	struct dlsi_event event = {.kind = DLSI_EVENT_MESSAGE};
	struct dlsi_payload frames[DLSI_MESSAGE_FRAMES];

	if (!usable(sim, connection))
		return;
	if (happening->to_master && !connection->peer.generation)
		give_slot(sim, connection);
	for (size_t i = 0; i < happening->content_count; i++)
		frames[i] = sim_payload_add(sim, to, happening->contents[i]);
	event.peer = happening->to_master ? connection->peer : (struct dlsi_peer){0, connection->generation};
	event.message.block = happening->block;
	event.message.length = happening->length;
	event.message.frames = frames;
	event.message.frame_count = happening->content_count;
	sim->messages++;
	check_message(sim, happening, to);
	sim_node_step(sim, to, &event);
}

/* A message has reached the receiver's link; it is taken when it is through and, where loops take their time, those
 * before it have been taken. */
static void reach(struct sim *sim, struct sim_happening *happening)
{
	struct sim_node *to = happening->to_master ? &sim->master : happening->connection->dialer;
	struct sim_happening *message;
	int64_t end_ns;

	if (!usable(sim, happening->connection))
		return;
	end_ns = sim_link_message(sim, &to->downlink, size_of(happening));
	if (sim->plan)
		end_ns = sim_node_work(sim, to, end_ns);
	message = sim_schedule(sim, end_ns - sim->now_ns, NULL, arrive);
	message->connection = happening->connection;
	message->to_master = happening->to_master;
	message->block = happening->block;
	message->length = happening->length;
	message->contents = happening->contents;
	message->content_count = happening->content_count;
	happening->block = NULL;
	happening->contents = NULL;
}

static struct sim_connection *route(struct sim *sim, struct sim_node *from, struct dlsi_peer peer)
{
	struct sim_connection *connection;

	if (from->kind == SIM_MASTER)
		connection = peer.slot < sim->slot_count ? sim->slots[peer.slot] : NULL;
	else
		connection = from->connection;
	if (!connection)
		return NULL;
	if (from->kind == SIM_MASTER ? !dlsi_peer_equal(connection->peer, peer)
				     : connection->generation != peer.generation)
		return NULL;
	return connection;
}

static void tell_lost(struct sim *sim, struct sim_happening *happening)
{
	sim_node_step(sim, happening->at, &happening->event);
}

/* The sender hears, later, that its message went nowhere. */
static void schedule_lost(struct sim *sim, struct sim_node *node, struct dlsi_peer peer, int64_t delay_ns)
{
	struct sim_happening *lost = sim_schedule(sim, delay_ns, node, tell_lost);

	lost->event.kind = DLSI_EVENT_LOST;
	lost->event.peer = peer;
}

/* When the message reaches the receiver, of which this is known: not before an earlier one. */
static int64_t draw_arrival(struct sim *sim, struct sim_connection *connection, bool to_master)
{
	int64_t arrival = sim->now_ns + SIM_MS / 10 + (int64_t)sim_below(sim, 3 * SIM_MS);

	if (sim_chance(sim, 2))
		arrival += (int64_t)sim_below(sim, 200 * SIM_MS);
	if (arrival <= connection->arrives_ns[to_master])
		arrival = connection->arrives_ns[to_master] + 1;
	return arrival;
}

static void carry(
	struct sim *sim, struct sim_node *from, struct sim_connection *connection, const struct dlsi_effect *effect)
{
	bool to_master = from->kind != SIM_MASTER;
	struct sim_happening *message = sim_schedule(sim, 0, NULL, reach);
	int64_t sent_ns, arrival;

	message->connection = connection;
	message->to_master = to_master;
	message->length = effect->block_length;
	message->block = sim_calloc(effect->block_length);
	memcpy(message->block, from->effects.arena.data + effect->block, effect->block_length);
	message->content_count = effect->frame_count;
	message->contents = sim_calloc((effect->frame_count + 1) * sizeof *message->contents);
	for (size_t i = 0; i < effect->frame_count; i++)
		message->contents[i] = *sim_payload_get(sim, from, from->effects.frames[effect->frames + i]);
	sent_ns = sim_link_message(sim, &from->uplink, size_of(message));
	if (sim->plan) {
		int64_t worked_ns = sim_node_work(sim, from, sim->now_ns);

		arrival = (worked_ns > sent_ns ? worked_ns : sent_ns) + sim->plan->latency_ns;
	} else {
		arrival = draw_arrival(sim, connection, to_master);
		arrival = arrival > sent_ns ? arrival : sent_ns;
		connection->arrives_ns[to_master] = arrival;
	}
	sim_postpone(sim, message, arrival);
}

void sim_network_send(struct sim *sim, struct sim_node *from, const struct dlsi_effect *effect)
{
	struct sim_connection *connection = route(sim, from, effect->peer);

	if (!connection)
		schedule_lost(sim, from, effect->peer, 0);
	else if (usable(sim, connection))
		carry(sim, from, connection, effect);
}

static void connected(struct sim *sim, struct sim_happening *happening)
{
	struct sim_node *node = happening->at;
	struct sim_connection *connection;
	struct dlsi_event event = {.kind = DLSI_EVENT_CONNECTED};

	if (node->connection && usable(sim, node->connection))
		return;
	if (!sim->master.up) {
		sim_network_dial(sim, node, 50 * SIM_MS);
		return;
	}
	connection = sim_calloc(sizeof *connection);
	connection->dialer = node;
	connection->dialer_life = node->life;
	connection->master_life = sim->master.life;
	connection->generation = node->connection ? node->connection->generation + 1 : 1;
	dlsi_list_append(&sim->connections, &connection->node);
	node->connection = connection;
	event.peer.generation = connection->generation;
	sim_node_step(sim, node, &event);
}

void sim_network_dial(struct sim *sim, struct sim_node *node, int64_t delay_ns)
{
	sim_schedule(sim, delay_ns + (int64_t)sim_below(sim, 20 * SIM_MS), node, connected);
}

/* One side learns of a break early, late, or not at all. */
static void maybe_tell(struct sim *sim, struct sim_node *node, struct dlsi_peer peer)
{
	if (node->up && peer.generation && sim_chance(sim, 70))
		schedule_lost(sim, node, peer, (int64_t)sim_below(sim, sim_chance(sim, 70) ? 2 * SIM_MS : 2 * SIM_S));
}

static void cut(struct sim *sim, struct sim_connection *connection)
{
	if (connection->broken)
		return;
	connection->broken = true;
	if (sim->master.life == connection->master_life)
		maybe_tell(sim, &sim->master, connection->peer);
	if (connection->dialer->life == connection->dialer_life) {
		maybe_tell(sim, connection->dialer, (struct dlsi_peer){0, connection->generation});
		sim_network_dial(sim, connection->dialer, (int64_t)sim_below(sim, 300 * SIM_MS));
	}
	free_slot(sim, connection);
}

void sim_network_break(struct sim *sim, struct sim_node *dialer)
{
	if (dialer->connection)
		cut(sim, dialer->connection);
}

void sim_network_master_gone(struct sim *sim)
{
	dlsi_list_each (node, &sim->connections)
		cut(sim, dlsi_list_entry(node, struct sim_connection, node));
}

void sim_network_fini(struct sim *sim)
{
	dlsi_list_each (node, &sim->connections)
		free(dlsi_list_entry(node, struct sim_connection, node));
	free(sim->slots);
	free(sim->generations);
}
