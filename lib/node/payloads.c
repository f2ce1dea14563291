#include "node/payloads.h"

#include "base/error.h"

enum { FIRST_SLOTS = 20 }; /* so that it does not grow together with the tables of the core (base/index.c) */

void dlsi_payloads_init(struct dlsi_payloads *payloads, const struct dlsi_alloc *alloc)
{
	*payloads = (struct dlsi_payloads){.alloc = alloc};
}

void dlsi_payloads_fini(struct dlsi_payloads *payloads)
{
	for (uint32_t i = 0; i < payloads->count; i++)
		dlsi_frame_unref(payloads->slots[i].frame);
	dlsi_free(payloads->alloc, payloads->slots);
	dlsi_payloads_init(payloads, payloads->alloc);
}

static int grow(struct dlsi_payloads *payloads)
{
	uint32_t capacity = payloads->capacity ? 2 * payloads->capacity : FIRST_SLOTS;
	struct dlsi_payload_slot *grown;

	if (capacity < payloads->capacity)
		return DLS_ENOMEM;
	grown = dlsi_realloc(payloads->alloc, payloads->slots, capacity * sizeof *grown);
	if (!grown)
		return DLS_ENOMEM;
	payloads->slots = grown;
	payloads->capacity = capacity;
	return 0;
}

int dlsi_payloads_add(struct dlsi_payloads *payloads, struct dlsi_frame *frame, struct dlsi_payload *payload_out)
{
	struct dlsi_payload_slot *slot;
	uint32_t i;

	if (payloads->first_free) {
		i = payloads->first_free - 1;
		payloads->first_free = payloads->slots[i].next_free;
	} else {
		if (payloads->count == payloads->capacity && grow(payloads))
			return DLS_ENOMEM;
		i = payloads->count++;
		payloads->slots[i].generation = 0;
	}
	slot = &payloads->slots[i];
	slot->frame = frame;
	slot->generation++;
	*payload_out = (struct dlsi_payload){(uint64_t)slot->generation << 32 | (i + 1), dlsi_frame_size(frame)};
	return 0;
}

static struct dlsi_payload_slot *find(const struct dlsi_payloads *payloads, uint64_t handle)
{
	uint64_t place = handle & UINT32_MAX;

	if (!place || place > payloads->count)
		return NULL;
	if (!payloads->slots[place - 1].frame || payloads->slots[place - 1].generation != handle >> 32)
		return NULL;
	return &payloads->slots[place - 1];
}

struct dlsi_frame *dlsi_payloads_get(const struct dlsi_payloads *payloads, uint64_t handle)
{
	const struct dlsi_payload_slot *slot = find(payloads, handle);

	return slot ? slot->frame : NULL;
}

bool dlsi_payloads_release(struct dlsi_payloads *payloads, uint64_t handle)
{
	struct dlsi_payload_slot *slot = find(payloads, handle);

	if (!slot)
		return false;
	dlsi_frame_unref(slot->frame);
	slot->frame = NULL;
	slot->next_free = payloads->first_free;
	payloads->first_free = (uint32_t)(handle & UINT32_MAX);
	return true;
}
