/* The master's connections: who is at which slot, what waits to be said to whom, and who has fallen silent. */
#include "core/master_moves.h"
#include "core/master_news.h"

#include "proto/bytes.h"

#include <string.h>

struct peer *dlsi_master_peer(const struct dlsi_master *master, struct dlsi_peer id)
{
	struct peer *peer = id.slot < master->peer_capacity ? master->peers[id.slot] : NULL;

	return peer && dlsi_peer_equal(peer->outbox.peer, id) ? peer : NULL;
}

static bool reserve_slot(struct dlsi_master *master, uint32_t slot)
{
	uint32_t capacity = master->peer_capacity ? master->peer_capacity : 64;
	struct peer **grown;

	if (slot >= DLSI_PEERS)
		return false;
	if (slot < master->peer_capacity)
		return true;
	while (capacity <= slot)
		capacity *= 2;
	grown = dlsi_realloc(master->alloc, master->peers, capacity * sizeof(struct peer *));
	if (!grown)
		return false;
	memset(grown + master->peer_capacity, 0, (capacity - master->peer_capacity) * sizeof(struct peer *));
	master->peers = grown;
	master->peer_capacity = capacity;
	return true;
}

void dlsi_master_lose_peer(struct dlsi_master *master, struct peer *peer, bool dead)
{
	if (peer->worker)
		dlsi_worker_lost(master, peer->worker, dead);
	else
		dlsi_client_lost(master, peer->client);
}

struct peer *dlsi_master_add_peer(struct dlsi_master *master, struct dlsi_peer id)
{
	struct peer *peer;

	if (!reserve_slot(master, id.slot))
		return NULL;
	if (master->peers[id.slot]) /* the transport gives a slot again once its connection is gone */
		dlsi_master_lose_peer(master, master->peers[id.slot], false);
	peer = dlsi_calloc(master->alloc, 1, sizeof *peer);
	if (!peer)
		return NULL;
	dlsi_outbox_init(&peer->outbox, master->alloc);
	dlsi_outbox_connect(&peer->outbox, id);
	dlsi_list_init(&peer->dirty);
	peer->heartbeat.kind = TIMER_HEARTBEAT;
	peer->heard_ns = master->now_ns;
	master->peers[id.slot] = peer;
	dlsi_master_set_timer(master, &peer->heartbeat, master->now_ns + master->config.heartbeat_ns);
	return peer;
}

void dlsi_master_drop_peer(struct dlsi_master *master, struct peer *peer)
{
	dlsi_effects_add(master->effects, DLSI_EFFECT_DISCONNECT)->peer = peer->outbox.peer;
	dlsi_master_stop_timer(master, &peer->heartbeat);
	dlsi_list_remove(&peer->dirty);
	master->peers[peer->outbox.peer.slot] = NULL;
	dlsi_outbox_fini(&peer->outbox);
	dlsi_free(master->alloc, peer);
}

static void mark_dirty(struct dlsi_master *master, struct peer *peer, int64_t due_ns)
{
	if (dlsi_list_empty(&peer->dirty))
		dlsi_list_append(&master->dirty, &peer->dirty);
	else if (due_ns > peer->due_ns)
		return;
	peer->due_ns = due_ns;
}

/* Whether nobody at the other side waits for this: it had better travel with something else. */
static bool can_wait(const struct dlsi_record *record)
{
	switch (record->kind) {
	case DLSI_ACCEPTED:
	case DLSI_PROGRESS:
	case DLSI_TAKEN:
	case DLSI_FORGET:
		return true;
	case DLSI_END:
		return record->end.code == 0; /* the client knows it already */
	default:
		return false;
	}
}

void dlsi_master_post(
	struct dlsi_master *master, struct peer *peer, const struct dlsi_record *record, struct dlsi_payload payload)
{
	dlsi_outbox_post(&peer->outbox, &master->config.cluster, master->config.term, record, payload, master->effects);
	mark_dirty(master, peer, master->now_ns + (can_wait(record) ? master->config.patience_ns : 0));
}

static void post_taken(struct dlsi_master *master, struct worker *worker)
{
	struct dlsi_record record = {.kind = DLSI_TAKEN};

	if (!worker->taken.length)
		return;
	record.taken.attempts = (struct dlsi_numbers){worker->taken.data, (uint32_t)(worker->taken.length / 8)};
	dlsi_master_post(master, worker->peer, &record, (struct dlsi_payload){0});
	dlsi_buffer_clear(&worker->taken);
}

void dlsi_worker_confirm(struct dlsi_master *master, struct worker *worker, uint64_t attempt)
{
	if (!worker->peer)
		return;
	dlsi_write_u64(&worker->taken, attempt);
	master->failed |= worker->taken.failed;
	mark_dirty(master, worker->peer, master->now_ns + master->config.patience_ns);
	if (worker->taken.length >= 8 * (DLSI_MESSAGE_RECORDS / 4))
		post_taken(master, worker);
}

int64_t dlsi_master_flush(struct dlsi_master *master)
{
	int64_t next_ns = INT64_MAX;

	dlsi_list_each (node, &master->dirty) {
		struct peer *peer = dlsi_list_entry(node, struct peer, dirty);

		if (peer->due_ns > master->now_ns) {
			if (peer->due_ns < next_ns)
				next_ns = peer->due_ns;
			continue;
		}
		if (peer->worker)
			post_taken(master, peer->worker);
		else
			peer->client->answers = peer->client->answer_bytes = 0;
		dlsi_outbox_flush(&peer->outbox, master->effects);
		dlsi_list_remove(node);
	}
	return next_ns;
}

void dlsi_master_welcome(struct dlsi_master *master, struct peer *peer, bool again)
{
	struct dlsi_record record = {.kind = DLSI_WELCOME};

	record.welcome = (struct dlsi_welcome){
		.version = DLSI_PROTOCOL_VERSION,
		.heartbeat_ns = (uint64_t)master->config.heartbeat_ns,
		.timeout_ns = (uint64_t)master->config.worker_timeout_ns,
		.again = again,
	};
	dlsi_outbox_flush(&peer->outbox, master->effects);
	peer->outbox.sent = 0;
	peer->received = 1;
	dlsi_master_post(master, peer, &record, (struct dlsi_payload){0});
}

void dlsi_master_heartbeat(struct dlsi_master *master, struct peer *peer)
{
	struct dlsi_record record = {.kind = DLSI_HEARTBEAT};

	if (master->now_ns - peer->heard_ns > master->config.worker_timeout_ns) {
		dlsi_news_silent(master, peer);
		dlsi_master_lose_peer(master, peer, true);
		return;
	}
	if (peer->client)
		dlsi_client_progress(master, peer->client);
	else
		dlsi_worker_relieve(master, peer->worker);
	record.heartbeat.sent = peer->outbox.sent + 1;
	record.heartbeat.received = peer->received;
	dlsi_master_post(master, peer, &record, (struct dlsi_payload){0});
	dlsi_master_set_timer(master, &peer->heartbeat, master->now_ns + master->config.heartbeat_ns);
}

void dlsi_master_refuse(struct dlsi_master *master, struct dlsi_peer to, const struct dlsi_submit *submit, int code,
	uint32_t retry_after_ms, const char *sentence)
{
	struct peer *peer = dlsi_master_peer(master, to);
	struct dlsi_record record = {.kind = DLSI_REFUSED};
	struct dlsi_outbox outbox;

	if (submit) {
		record.refused.job = submit->job;
		record.refused.token = submit->token;
	}
	record.refused.code = code;
	record.refused.retry_after_ms = retry_after_ms;
	record.refused.sentence = dlsi_text_of(sentence);
	if (record.refused.sentence.length > DLSI_SENTENCE_BYTES)
		record.refused.sentence.length = DLSI_SENTENCE_BYTES;
	if (peer) {
		dlsi_master_post(master, peer, &record, (struct dlsi_payload){0});
		return;
	}
	dlsi_outbox_init(&outbox, master->alloc);
	dlsi_outbox_connect(&outbox, to);
	dlsi_outbox_post(&outbox, &master->config.cluster, master->config.term, &record, (struct dlsi_payload){0},
		master->effects);
	dlsi_outbox_flush(&outbox, master->effects);
	dlsi_outbox_fini(&outbox);
}
