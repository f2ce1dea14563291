#include "client/deliveries.h"

#include <string.h>

static uint64_t count_failed(const struct dlsi_delivery *delivery)
{
	struct dlsi_field fields[DLSI_ROW_FIELDS];
	uint64_t failed = 0;

	for (uint64_t item = delivery->first; item < delivery->end; item++) {
		uint64_t row = item - delivery->page_first;
		unsigned count;

		if (row >= delivery->page.rows || dlsi_page_row(&delivery->page, (uint32_t)row, fields, &count, NULL) ||
			fields[0].form == DLSI_FORM_ERROR)
			failed++;
	}
	return failed;
}

int dlsi_delivery_create(const struct dlsi_alloc *alloc, struct dlsi_frame *frame,
	const struct dlsi_delivery_facts *facts, struct dlsi_delivery **delivery_out)
{
	struct dlsi_delivery *delivery = dlsi_calloc(alloc, 1, sizeof *delivery + facts->worker.length + 1);
	uint64_t items = facts->page_end - facts->page_first;

	if (!delivery)
		return DLS_ENOMEM;
	delivery->first = facts->first;
	delivery->end = facts->end;
	delivery->page_first = facts->page_first;
	delivery->bytes = facts->bytes;
	delivery->item_ns = items ? facts->elapsed_ns / items : 0;
	delivery->frame = dlsi_frame_ref(frame);
	if (facts->worker.length)
		memcpy(delivery->worker, facts->worker.data, facts->worker.length);
	if (items > DLSI_PAGE_ROWS ||
		dlsi_page_open(dlsi_frame_data(frame), dlsi_frame_size(frame), (uint32_t)items, &delivery->page, NULL))
		delivery->page = (struct dlsi_page){0};
	delivery->failed = count_failed(delivery);
	*delivery_out = delivery;
	return 0;
}

void dlsi_delivery_destroy(struct dlsi_delivery *delivery, const struct dlsi_alloc *alloc)
{
	if (delivery)
		dlsi_frame_unref(delivery->frame);
	dlsi_free(alloc, delivery);
}

void dlsi_deliveries_init(struct dlsi_deliveries *deliveries, const struct dlsi_alloc *alloc)
{
	dlsi_heap_init(&deliveries->heap, alloc);
	deliveries->found = NULL;
}

static struct dlsi_delivery *first(struct dlsi_deliveries *deliveries)
{
	return (struct dlsi_delivery *)dlsi_heap_first(&deliveries->heap);
}

void dlsi_deliveries_fini(struct dlsi_deliveries *deliveries)
{
	struct dlsi_delivery *delivery;

	while ((delivery = first(deliveries))) {
		dlsi_heap_remove(&deliveries->heap, &delivery->node);
		dlsi_delivery_destroy(delivery, deliveries->heap.alloc);
	}
	dlsi_heap_fini(&deliveries->heap);
}

int dlsi_deliveries_add(struct dlsi_deliveries *deliveries, struct dlsi_delivery *delivery)
{
	return dlsi_heap_set(&deliveries->heap, &delivery->node, (int64_t)delivery->first);
}

static bool has_item(const struct dlsi_delivery *delivery, uint64_t item)
{
	return delivery->first <= item && item < delivery->end;
}

const struct dlsi_delivery *dlsi_deliveries_find(struct dlsi_deliveries *deliveries, uint64_t item)
{
	if (deliveries->found && has_item(deliveries->found, item))
		return deliveries->found;
	for (size_t i = 0; i < deliveries->heap.count; i++) {
		const struct dlsi_delivery *delivery = (const struct dlsi_delivery *)deliveries->heap.slots[i].node;

		if (has_item(delivery, item))
			return deliveries->found = delivery;
	}
	return NULL;
}

struct dlsi_delivery *dlsi_deliveries_take(struct dlsi_deliveries *deliveries, uint64_t item)
{
	struct dlsi_delivery *delivery = first(deliveries);

	if (!delivery || delivery->first != item)
		return NULL;
	dlsi_heap_remove(&deliveries->heap, &delivery->node);
	deliveries->found = NULL;
	return delivery;
}
