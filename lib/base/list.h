/* Doubly linked lists through a member of the listed structure: O(1) to join and leave, no memory of their own, and an
 * order that depends only on what was done, never on addresses. An unlinked node points to itself. */
#ifndef DLSI_LIST_H
#define DLSI_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct dlsi_list {
	struct dlsi_list *next;
	struct dlsi_list *previous;
};

/* The structure of `type` whose `member` is `node`. */
#define dlsi_list_entry(node, type, member) ((type *)((char *)(node)-offsetof(type, member)))

/* Visits the nodes from first to last; the visited node may be removed, others may not. */
#define dlsi_list_each(node, list)                                                                                     \
	for (struct dlsi_list *node = (list)->next, *node##_next = node->next; node != (list);                         \
		node = node##_next, node##_next = node->next)

static inline void dlsi_list_init(struct dlsi_list *list)
{
	list->next = list->previous = list;
}

static inline bool dlsi_list_empty(const struct dlsi_list *list)
{
	return list->next == list;
}

static inline void dlsi_list_append(struct dlsi_list *list, struct dlsi_list *node)
{
	node->next = list;
	node->previous = list->previous;
	list->previous->next = node;
	list->previous = node;
}

/* An unlinked node may be removed again. */
static inline void dlsi_list_remove(struct dlsi_list *node)
{
	node->next->previous = node->previous;
	node->previous->next = node->next;
	dlsi_list_init(node);
}

/* All nodes of one list, in their order, to the end of another. */
static inline void dlsi_list_move(struct dlsi_list *from, struct dlsi_list *to)
{
	while (!dlsi_list_empty(from)) {
		struct dlsi_list *node = from->next;

		dlsi_list_remove(node);
		dlsi_list_append(to, node);
	}
}

#endif
