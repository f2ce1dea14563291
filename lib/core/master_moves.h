/* Tasks at devices that others would sooner be done with: moved, stopped so that their rest moves, or run a second
 * time. */
#ifndef DLSI_MASTER_MOVES_H
#define DLSI_MASTER_MOVES_H

#include "core/master_places.h"

/* master_drain.c: workers that get no more tasks. What one hands back goes to others. */
void dlsi_worker_handback(struct dlsi_master *master, struct worker *worker, const struct dlsi_handback *record);

/* Asks for those of the attempts, u64 each, that it has not begun, and if `running` for the rest of the others. */
void dlsi_worker_recall(
	struct dlsi_master *master, struct worker *worker, const struct dlsi_buffer *attempts, bool running);

/* master_tasks.c: how long the device would be busy with it, as measured so far there or else elsewhere; 0: not known.
 */
uint64_t dlsi_task_expected_ns(const struct task *task, const struct device *device);

/* Since when the device runs it, of the one that it runs */
int64_t dlsi_task_began_ns(const struct task *front);

/* Runs its items on this device too; the first result counts. */
void dlsi_task_repeat(struct dlsi_master *master, struct task *task, struct device *device);

/* master_relief.c: recalls tasks that wait behind long ones while other devices have nothing to do */
void dlsi_worker_relieve(struct dlsi_master *master, struct worker *worker);

/* Asks for the rest of a task that its device runs, once: the items that it has not begun when it hears of it. */
void dlsi_task_stop(struct dlsi_master *master, struct task *front);

/* Does so if this device, which has nothing to do, would be done with the rest clearly sooner. */
bool dlsi_task_relieve(struct dlsi_master *master, struct task *front, const struct device *idle);

/* master_stragglers.c: runs it on this device, which has nothing to do, a second time, if it is late and may be */
bool dlsi_task_outrun(struct dlsi_master *master, struct task *front, struct device *idle);

/* master_preempt.c: lets a job without a device take the place of tasks of lower priority, where the policy wants it */
void dlsi_master_preempt(struct dlsi_master *master);

/* master_stragglers.c: looks at the tasks that devices run, if it is time, after the policy has decided; and: there are
 * some from now on. */
void dlsi_master_review(struct dlsi_master *master);
void dlsi_master_review_later(struct dlsi_master *master);

#endif
