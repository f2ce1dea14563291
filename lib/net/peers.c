#include "net/peers.h"

#include "base/error.h"
#include "base/limits.h"

#define NONE UINT32_MAX

struct dlsi_peers_slot {
	uint32_t generation;
	uint32_t routing_id;
	int fd;
	uint32_t next; /* of the chain it is in: the lost ones or, when neither used nor lost, the free ones */
	bool used;
	bool lost; /* in the chain of the lost ones, from which a peer that was removed meanwhile is only taken later */
};

enum key { BY_ID, BY_FD };

void dlsi_peers_init(struct dlsi_peers *peers, const struct dlsi_alloc *alloc, uint64_t seed)
{
	*peers = (struct dlsi_peers){.free = NONE, .lost_first = NONE};
	dlsi_map_init(&peers->map, alloc, seed);
}

void dlsi_peers_fini(struct dlsi_peers *peers)
{
	dlsi_free(peers->map.alloc, peers->slots);
	dlsi_map_fini(&peers->map);
	dlsi_peers_init(peers, peers->map.alloc, peers->map.seed);
}

/* The map keeps slot numbers, since slots move when there are more of them; 0 is no value of a map. */
static void *value_of(uint32_t slot)
{
	return (void *)(uintptr_t)(slot + 1);
}

static struct dlsi_peer find(const struct dlsi_peers *peers, enum key kind, uint32_t number)
{
	struct dlsi_id key = dlsi_map_key(kind, number);
	uintptr_t value = (uintptr_t)dlsi_map_get(&peers->map, &key);

	if (!value)
		return (struct dlsi_peer){0};
	return (struct dlsi_peer){(uint32_t)(value - 1), peers->slots[value - 1].generation};
}

struct dlsi_peer dlsi_peers_by_id(const struct dlsi_peers *peers, uint32_t routing_id)
{
	return find(peers, BY_ID, routing_id);
}

struct dlsi_peer dlsi_peers_by_fd(const struct dlsi_peers *peers, int fd)
{
	return fd < 0 ? (struct dlsi_peer){0} : find(peers, BY_FD, (uint32_t)fd);
}

static struct dlsi_peers_slot *slot_of(const struct dlsi_peers *peers, struct dlsi_peer peer)
{
	struct dlsi_peers_slot *slot = peer.slot < peers->fresh ? &peers->slots[peer.slot] : NULL;

	return slot && slot->used && slot->generation == peer.generation ? slot : NULL;
}

bool dlsi_peers_routing_id(const struct dlsi_peers *peers, struct dlsi_peer peer, uint32_t *routing_id_out)
{
	const struct dlsi_peers_slot *slot = slot_of(peers, peer);

	if (slot)
		*routing_id_out = slot->routing_id;
	return slot != NULL;
}

/* Makes room for one more slot at the end. */
static int grow(struct dlsi_peers *peers)
{
	uint32_t capacity = peers->capacity ? 2 * peers->capacity : 16;
	struct dlsi_peers_slot *slots;

	if (peers->fresh < peers->capacity)
		return 0;
	slots = dlsi_realloc(peers->map.alloc, peers->slots, capacity * sizeof *slots);
	if (!slots)
		return DLS_ENOMEM;
	peers->slots = slots;
	peers->capacity = capacity;
	return 0;
}

/* The slot that the next peer gets. Errors: DLS_ENOMEM. */
static int choose_slot(struct dlsi_peers *peers, uint32_t *number_out)
{
	int rc = peers->free == NONE ? grow(peers) : 0;

	if (rc == 0)
		*number_out = peers->free == NONE ? peers->fresh : peers->free;
	return rc;
}

static uint32_t take_slot(struct dlsi_peers *peers, uint32_t number)
{
	uint32_t generation;

	if (number == peers->fresh) {
		peers->fresh++;
		return 1;
	}
	peers->free = peers->slots[number].next;
	generation = peers->slots[number].generation;
	return generation == UINT32_MAX ? 1 : generation + 1;
}

int dlsi_peers_add(struct dlsi_peers *peers, uint32_t routing_id, int fd, struct dlsi_peer *peer_out)
{
	struct dlsi_id id_key = dlsi_map_key(BY_ID, routing_id), fd_key = dlsi_map_key(BY_FD, (uint32_t)fd);
	uint32_t number, generation;
	int rc;

	dlsi_peers_lose_fd(peers, fd);
	if (peers->count == DLSI_PEERS)
		return DLS_ELIMIT;
	rc = choose_slot(peers, &number);
	if (rc == 0)
		rc = dlsi_map_put(&peers->map, &id_key, value_of(number));
	if (rc)
		return rc;
	if (fd >= 0) {
		rc = dlsi_map_put(&peers->map, &fd_key, value_of(number));
		if (rc) {
			dlsi_map_remove(&peers->map, &id_key);
			return rc;
		}
	}
	generation = take_slot(peers, number);
	peers->slots[number] = (struct dlsi_peers_slot){
		.generation = generation, .routing_id = routing_id, .fd = fd, .next = NONE, .used = true};
	peers->count++;
	*peer_out = (struct dlsi_peer){number, generation};
	return 0;
}

static void drop_fd(struct dlsi_peers *peers, struct dlsi_peers_slot *slot)
{
	struct dlsi_id key = dlsi_map_key(BY_FD, (uint32_t)slot->fd);

	if (slot->fd >= 0)
		dlsi_map_remove(&peers->map, &key);
	slot->fd = -1;
}

void dlsi_peers_lose_fd(struct dlsi_peers *peers, int fd)
{
	struct dlsi_peer peer = dlsi_peers_by_fd(peers, fd);

	if (!peer.generation)
		return;
	drop_fd(peers, &peers->slots[peer.slot]);
	peers->slots[peer.slot].lost = true;
	if (peers->lost_first == NONE)
		peers->lost_first = peer.slot;
	else
		peers->slots[peers->lost_last].next = peer.slot;
	peers->lost_last = peer.slot;
	peers->slots[peer.slot].next = NONE;
}

bool dlsi_peers_any_lost(const struct dlsi_peers *peers)
{
	return peers->lost_first != NONE;
}

static void free_slot(struct dlsi_peers *peers, uint32_t number)
{
	peers->slots[number].next = peers->free;
	peers->free = number;
}

struct dlsi_peer dlsi_peers_take_lost(struct dlsi_peers *peers)
{
	while (peers->lost_first != NONE) {
		uint32_t number = peers->lost_first;
		struct dlsi_peers_slot *slot = &peers->slots[number];

		peers->lost_first = slot->next;
		slot->lost = false;
		if (slot->used)
			return (struct dlsi_peer){number, slot->generation};
		free_slot(peers, number);
	}
	return (struct dlsi_peer){0};
}

void dlsi_peers_remove(struct dlsi_peers *peers, struct dlsi_peer peer)
{
	struct dlsi_peers_slot *slot = slot_of(peers, peer);
	struct dlsi_id key;

	if (!slot)
		return;
	drop_fd(peers, slot);
	key = dlsi_map_key(BY_ID, slot->routing_id);
	dlsi_map_remove(&peers->map, &key);
	slot->used = false;
	if (!slot->lost)
		free_slot(peers, peer.slot);
	peers->count--;
}
