/* Those who wait for one thing, in the order in which they came. Whoever brings the thing, or knows that it cannot be
 * had, wakes them; each then looks again, and may wait anew. One thread. */
#ifndef DLSI_WAITERS_H
#define DLSI_WAITERS_H

#include "base/list.h"

struct dlsi_waiter {
	struct dlsi_list node; /* on the list of what it waits for; leaves by dlsi_list_remove */
	void (*look)(struct dlsi_waiter *waiter);
};

static inline void dlsi_waiter_init(struct dlsi_waiter *waiter, void (*look)(struct dlsi_waiter *waiter))
{
	dlsi_list_init(&waiter->node);
	waiter->look = look;
}

/* There is one. */
static inline void dlsi_waiters_wake_first(struct dlsi_list *waiting)
{
	struct dlsi_waiter *waiter = dlsi_list_entry(waiting->next, struct dlsi_waiter, node);

	dlsi_list_remove(&waiter->node);
	waiter->look(waiter);
}

/* Wakes all that wait now. The list itself may be gone afterwards. */
static inline void dlsi_waiters_wake(struct dlsi_list *waiting)
{
	struct dlsi_list now;

	dlsi_list_init(&now);
	dlsi_list_move(waiting, &now);
	while (!dlsi_list_empty(&now))
		dlsi_waiters_wake_first(&now);
}

#endif
