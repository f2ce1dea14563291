/* Which of many deadlines comes first: a binary heap whose members know their place, so that one can be moved or
 * removed in O(log n). Equal deadlines come in order of their `order`, never of their address. Pure, not thread-safe.
 */
#ifndef DLSI_HEAP_H
#define DLSI_HEAP_H

#include "base/alloc.h"
#include <stdbool.h>
#include <stdint.h>

/* A member of the structure that waits; zero-initialised it is in no heap. */
struct dlsi_heap_node {
	uint64_t order;
	size_t place; /* 1 + index in the heap; 0: in none */
};

/* The deadline lies here and not in the node, so that comparing two mostly needs neither's memory. */
struct dlsi_heap_slot {
	int64_t due;
	struct dlsi_heap_node *node;
};

struct dlsi_heap {
	struct dlsi_heap_slot *slots;
	size_t count;
	size_t capacity;
	const struct dlsi_alloc *alloc;
};

void dlsi_heap_init(struct dlsi_heap *heap, const struct dlsi_alloc *alloc);
void dlsi_heap_fini(struct dlsi_heap *heap);

/* Makes room for `count` nodes in all, so that dlsi_heap_set cannot fail later. Errors: DLS_ENOMEM. */
int dlsi_heap_reserve(struct dlsi_heap *heap, size_t count);

/* Adds the node, or moves it if it is in the heap already. Errors: DLS_ENOMEM (unchanged). */
int dlsi_heap_set(struct dlsi_heap *heap, struct dlsi_heap_node *node, int64_t due);

/* Does nothing for a node that is in no heap. */
void dlsi_heap_remove(struct dlsi_heap *heap, struct dlsi_heap_node *node);

/* When a node of the heap is due. */
int64_t dlsi_heap_due(const struct dlsi_heap *heap, const struct dlsi_heap_node *node);

/* The node that is due first; NULL if the heap is empty. */
struct dlsi_heap_node *dlsi_heap_first(const struct dlsi_heap *heap);

#endif
