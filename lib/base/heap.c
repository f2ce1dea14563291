#include "base/heap.h"

#include "base/error.h"

void dlsi_heap_init(struct dlsi_heap *heap, const struct dlsi_alloc *alloc)
{
	*heap = (struct dlsi_heap){.alloc = alloc};
}

void dlsi_heap_fini(struct dlsi_heap *heap)
{
	dlsi_free(heap->alloc, heap->slots);
	dlsi_heap_init(heap, heap->alloc);
}

static bool before(struct dlsi_heap_slot a, struct dlsi_heap_slot b)
{
	return a.due != b.due ? a.due < b.due : a.node->order < b.node->order;
}

static void put(struct dlsi_heap *heap, size_t i, struct dlsi_heap_slot slot)
{
	heap->slots[i] = slot;
	slot.node->place = i + 1;
}

static size_t rise(struct dlsi_heap *heap, size_t i, struct dlsi_heap_slot slot)
{
	for (size_t parent; i && before(slot, heap->slots[parent = (i - 1) / 2]); i = parent)
		put(heap, i, heap->slots[parent]);
	return i;
}

static size_t sink(struct dlsi_heap *heap, size_t i, struct dlsi_heap_slot slot)
{
	for (size_t child; (child = 2 * i + 1) < heap->count; i = child) {
		if (child + 1 < heap->count && before(heap->slots[child + 1], heap->slots[child]))
			child++;
		if (!before(heap->slots[child], slot))
			break;
		put(heap, i, heap->slots[child]);
	}
	return i;
}

int dlsi_heap_reserve(struct dlsi_heap *heap, size_t count)
{
	size_t capacity = heap->capacity ? heap->capacity : 16;
	struct dlsi_heap_slot *grown;

	if (count <= heap->capacity)
		return 0;
	while (capacity < count)
		capacity *= 2;
	grown = dlsi_realloc(heap->alloc, heap->slots, capacity * sizeof *grown);
	if (!grown)
		return DLS_ENOMEM;
	heap->slots = grown;
	heap->capacity = capacity;
	return 0;
}

int dlsi_heap_set(struct dlsi_heap *heap, struct dlsi_heap_node *node, int64_t due)
{
	struct dlsi_heap_slot slot = {due, node};
	size_t i;

	if (node->place) {
		i = node->place - 1;
	} else {
		int rc = dlsi_heap_reserve(heap, heap->count + 1);

		if (rc)
			return rc;
		i = heap->count++;
	}
	put(heap, sink(heap, rise(heap, i, slot), slot), slot);
	return 0;
}

void dlsi_heap_remove(struct dlsi_heap *heap, struct dlsi_heap_node *node)
{
	struct dlsi_heap_slot last;
	size_t i;

	if (!node->place)
		return;
	i = node->place - 1;
	node->place = 0;
	last = heap->slots[--heap->count];
	if (last.node != node)
		put(heap, sink(heap, rise(heap, i, last), last), last);
}

int64_t dlsi_heap_due(const struct dlsi_heap *heap, const struct dlsi_heap_node *node)
{
	return heap->slots[node->place - 1].due;
}

struct dlsi_heap_node *dlsi_heap_first(const struct dlsi_heap *heap)
{
	return heap->count ? heap->slots[0].node : NULL;
}
