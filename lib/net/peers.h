/* Who is connected to a listener: slots with generations, found by libzmq's routing id and by descriptor.
 *
 * At most DLSI_PEERS. A slot that is free again gives its next peer a new generation, so that what was meant for the
 * old one cannot reach it. Pure, not thread-safe. */
#ifndef DLSI_PEERS_H
#define DLSI_PEERS_H

#include "base/map.h"
#include "core/peer.h"

struct dlsi_peers_slot;

struct dlsi_peers {
	struct dlsi_peers_slot *slots;
	uint32_t capacity;
	uint32_t count;
	uint32_t free;       /* first of the chain of free slots below `fresh`; UINT32_MAX: none */
	uint32_t fresh;      /* slots from here on were never used */
	uint32_t lost_first; /* the chain of those that are lost; UINT32_MAX: none */
	uint32_t lost_last;
	struct dlsi_map map; /* of both keys to slots */
};

void dlsi_peers_init(struct dlsi_peers *peers, const struct dlsi_alloc *alloc, uint64_t seed);
void dlsi_peers_fini(struct dlsi_peers *peers);

/* The peer with this routing id or descriptor; generation 0 if there is none. */
struct dlsi_peer dlsi_peers_by_id(const struct dlsi_peers *peers, uint32_t routing_id);
struct dlsi_peer dlsi_peers_by_fd(const struct dlsi_peers *peers, int fd);

/* False if the peer is not there any more. */
bool dlsi_peers_routing_id(const struct dlsi_peers *peers, struct dlsi_peer peer, uint32_t *routing_id_out);

/* Adds one that is not there yet; fd is -1 if it has none. A peer that had the descriptor before is lost.
 * Errors: DLS_ELIMIT, DLS_ENOMEM (unchanged, but for the lost one). */
int dlsi_peers_add(struct dlsi_peers *peers, uint32_t routing_id, int fd, struct dlsi_peer *peer_out);

/* The descriptor is closed: whoever had it seems lost, and another peer may have it next. */
void dlsi_peers_lose_fd(struct dlsi_peers *peers, int fd);

/* Whether a peer seems lost, and the one that did so first, which is then not told again; generation 0 if there is
 * none. The peer stays until it is removed. */
bool dlsi_peers_any_lost(const struct dlsi_peers *peers);
struct dlsi_peer dlsi_peers_take_lost(struct dlsi_peers *peers);

/* Removes a peer; one that is not there is ignored. */
void dlsi_peers_remove(struct dlsi_peers *peers, struct dlsi_peer peer);

#endif
