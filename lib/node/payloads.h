/* What a state machine calls a payload is a number; here is the frame behind it.
 *
 * A handle is a place in a table and how often that place was given out, so that one that was released and used again
 * is found out instead of naming another frame. One thread at a time. */
#ifndef DLSI_PAYLOADS_H
#define DLSI_PAYLOADS_H

#include "core/effect.h"
#include "net/frame.h"

struct dlsi_payload_slot {
	struct dlsi_frame *frame; /* NULL: free */
	uint32_t generation;
	uint32_t next_free; /* 1 + slot; 0: none */
};

struct dlsi_payloads {
	struct dlsi_payload_slot *slots;
	uint32_t count;
	uint32_t capacity;
	uint32_t first_free; /* 1 + slot; 0: none */
	const struct dlsi_alloc *alloc;
};

void dlsi_payloads_init(struct dlsi_payloads *payloads, const struct dlsi_alloc *alloc);

/* Drops all frames that are still there. */
void dlsi_payloads_fini(struct dlsi_payloads *payloads);

/* Takes the reference to the frame on success. Errors: DLS_ENOMEM. */
int dlsi_payloads_add(struct dlsi_payloads *payloads, struct dlsi_frame *frame, struct dlsi_payload *payload_out);

/* The frame, borrowed; NULL for a handle that does not exist (any more). */
struct dlsi_frame *dlsi_payloads_get(const struct dlsi_payloads *payloads, uint64_t handle);

/* Drops the frame and its handle. Returns false for a handle that does not exist. */
bool dlsi_payloads_release(struct dlsi_payloads *payloads, uint64_t handle);

#endif
