/* Result pages that have come for a job and wait to be taken. They come in any order and are taken in the order of the
 * items; each brings items that no other brings.
 *
 * Not thread-safe: the client's lock guards it. */
#ifndef DLSI_DELIVERIES_H
#define DLSI_DELIVERIES_H

#include "base/heap.h"
#include "net/frame.h"
#include "proto/page.h"

/* Items [first, end) out of a page whose row 0 is item page_first. */
struct dlsi_delivery {
	struct dlsi_heap_node node;
	uint64_t first, end;
	uint64_t page_first;
	struct dlsi_frame *frame;
	struct dlsi_page page; /* no rows if the frame holds no page */
	uint64_t failed;       /* of the items */
	uint64_t bytes;        /* that count for it in the window */
	uint64_t item_ns;      /* average on the device */
	char worker[];         /* NUL-terminated */
};

/* What is said of a page that arrives. */
struct dlsi_delivery_facts {
	uint64_t first, end;
	uint64_t page_first, page_end;
	uint64_t elapsed_ns; /* of the whole page */
	uint64_t bytes;
	struct dlsi_text worker;
};

/* Opens the page, of which it keeps a reference, and counts the items that failed. The range lies within the page.
 * Errors: DLS_ENOMEM. */
int dlsi_delivery_create(const struct dlsi_alloc *alloc, struct dlsi_frame *frame,
	const struct dlsi_delivery_facts *facts, struct dlsi_delivery **delivery_out);

/* NULL is allowed. */
void dlsi_delivery_destroy(struct dlsi_delivery *delivery, const struct dlsi_alloc *alloc);

struct dlsi_deliveries {
	struct dlsi_heap heap;
	const struct dlsi_delivery *found; /* last; NULL: none */
};

void dlsi_deliveries_init(struct dlsi_deliveries *deliveries, const struct dlsi_alloc *alloc);

/* Destroys what waits. */
void dlsi_deliveries_fini(struct dlsi_deliveries *deliveries);

/* Takes the delivery on success. Errors: DLS_ENOMEM. */
int dlsi_deliveries_add(struct dlsi_deliveries *deliveries, struct dlsi_delivery *delivery);

/* The one that has this item, which stays; NULL if it has not come. Cost: their number, or nothing if it is the same as
 * for the last item that was looked for. */
const struct dlsi_delivery *dlsi_deliveries_find(struct dlsi_deliveries *deliveries, uint64_t item);

/* Removes and returns the delivery that begins with this item, NULL if it has not come. */
struct dlsi_delivery *dlsi_deliveries_take(struct dlsi_deliveries *deliveries, uint64_t item);

#endif
