/* What policies that order jobs by a key have in common: the queues with ready jobs, in each queue the jobs by their
 * keys. A choice costs as much as there are queues, however many jobs wait. */
#ifndef DLSI_ORDERED_H
#define DLSI_ORDERED_H

#include "core/policy_ops.h"

struct dlsi_ordered {
	const struct dlsi_alloc *alloc;
	struct dlsi_list queues;
	int64_t number; /* for the policy's own use */
};

/* With no jobs yet. Errors: DLS_ENOMEM. */
int dlsi_ordered_create(const struct dlsi_alloc *alloc, int64_t number, void **ordered_out, struct dls_error *err);

/* As a policy's table has them; _plain: of one that has no parameters and begins with the number 0. */
int dlsi_ordered_create_plain(const struct dlsi_policy_ops *ops, const struct dlsi_alloc *alloc, const cJSON *params,
	void **ordered_out, struct dls_error *err);
void dlsi_ordered_destroy(void *ordered);
void dlsi_ordered_ready_by_priority(void *ordered, struct dlsi_policy_job *job); /* and then by arrival */
void dlsi_ordered_ready_in_turn(void *ordered, struct dlsi_policy_job *job);     /* behind all others; counts turns */
void dlsi_ordered_idle(void *ordered, struct dlsi_policy_job *job);
bool dlsi_ordered_choose_by_key(
	void *ordered, const struct dlsi_policy_view *view, struct dlsi_policy_choice *choice_out);

/* The job takes its place in its queue, or a new one: the smallest key first, of equal ones the job that came first. */
void dlsi_ordered_put(struct dlsi_ordered *ordered, struct dlsi_policy_job *job, int64_t key);

/* Which of two jobs, each the first of its queue, goes first. */
typedef bool dlsi_ordered_before(
	const struct dlsi_policy_view *view, const struct dlsi_policy_job *a, const struct dlsi_policy_job *b);

/* By their keys, as inside a queue. */
dlsi_ordered_before dlsi_ordered_by_key;

/* Where a job's next task goes; false: nowhere now. */
typedef bool dlsi_ordered_place(
	const struct dlsi_policy_view *view, struct dlsi_policy_job *job, struct dlsi_policy_choice *choice_out);

/* The first job, by `before`, of those that `place` finds a device for; false if there is none. */
bool dlsi_ordered_choose(const struct dlsi_ordered *ordered, const struct dlsi_policy_view *view,
	dlsi_ordered_before *before, dlsi_ordered_place *place, struct dlsi_policy_choice *choice_out);

/* The same by keys, of jobs that take turns: the one that is chosen has its next turn after all others. */
bool dlsi_ordered_choose_in_turn(struct dlsi_ordered *ordered, const struct dlsi_policy_view *view,
	dlsi_ordered_place *place, struct dlsi_policy_choice *choice_out);

/* The first job of a queue that has some. */
struct dlsi_policy_job *dlsi_ordered_first(const struct dlsi_policy_queue *queue);

#endif
