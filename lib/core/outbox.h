/* What waits to be said to one peer. Records are encoded as they arise and leave as one message when the turn ends, or
 * earlier when the message is full, always in the order in which they were posted. */
#ifndef DLSI_OUTBOX_H
#define DLSI_OUTBOX_H

#include "core/effect.h"

struct dlsi_outbox {
	struct dlsi_peer peer;
	struct dlsi_message_writer writer;
	struct dlsi_buffer message;
	uint64_t frames[64]; /* payload handles, borrowed until the message has left */
	unsigned frame_count;
	unsigned records;
	uint64_t sent; /* messages on this connection */
};

void dlsi_outbox_init(struct dlsi_outbox *outbox, const struct dlsi_alloc *alloc);
void dlsi_outbox_fini(struct dlsi_outbox *outbox);

/* From now on it speaks to another peer; what waited is dropped. */
void dlsi_outbox_connect(struct dlsi_outbox *outbox, struct dlsi_peer peer);

/* Appends a record, with its payload if record has one. cluster and term go into the header of the message it begins.
 * A message that is full with it is sent at once. */
void dlsi_outbox_post(struct dlsi_outbox *outbox, const struct dlsi_id *cluster, uint64_t term,
	const struct dlsi_record *record, struct dlsi_payload payload, struct dlsi_effects *effects);

/* Sends what waits, if anything. */
void dlsi_outbox_flush(struct dlsi_outbox *outbox, struct dlsi_effects *effects);

#endif
