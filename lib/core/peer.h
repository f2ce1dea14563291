/* Who is at the other end of a connection: a slot of the transport's table and how often that slot has been given out.
 * A peer that reconnects is a new one; a message of the old connection carries the old generation. */
#ifndef DLSI_PEER_H
#define DLSI_PEER_H

#include <stdbool.h>
#include <stdint.h>

struct dlsi_peer {
	uint32_t slot;
	uint32_t generation; /* from 1; 0: nobody */
};

static inline bool dlsi_peer_equal(struct dlsi_peer a, struct dlsi_peer b)
{
	return a.slot == b.slot && a.generation == b.generation;
}

#endif
