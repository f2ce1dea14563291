/* What policies that order jobs by a key have in common: the classes with ready jobs, in each class the queues and in
 * each queue the jobs by their keys. A choice costs as much as there are classes, however many tenants and jobs wait:
 * what no device can take now is found out once a turn for all of a class, since within a turn devices only become
 * fuller. */
#ifndef DLSI_ORDERED_H
#define DLSI_ORDERED_H

#include "core/policy_ops.h"

struct dlsi_ordered {
	const struct dlsi_alloc *alloc;
	struct dlsi_list queues;  /* all that have ready jobs */
	struct dlsi_list classes; /* those with queues that are not aside */
	struct dlsi_list aside;   /* queues that could not be served in this turn, though others of their class may */
	uint64_t turn;
	int64_t number; /* for the policy's own use, as is ... */
	bool choice;    /* ... this */
};

void dlsi_ordered_init(struct dlsi_ordered *ordered, const struct dlsi_alloc *alloc);

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

/* What became of a job that was to be given a device. */
enum dlsi_placed {
	DLSI_PLACED,
	DLSI_PASSED,  /* there is none for it now; for others of its class there may be */
	DLSI_BLOCKED, /* there is none for any of its class */
};

/* Where a job's next task goes. */
typedef enum dlsi_placed dlsi_ordered_place(
	const struct dlsi_policy_view *view, struct dlsi_policy_job *job, struct dlsi_policy_choice *choice_out);

/* The first job by its key of those that `place` finds a device for; false if there is none. */
bool dlsi_ordered_choose(struct dlsi_ordered *ordered, const struct dlsi_policy_view *view, dlsi_ordered_place *place,
	struct dlsi_policy_choice *choice_out);

/* The same of jobs that take turns: the one that is chosen has its next turn after all others. */
bool dlsi_ordered_choose_in_turn(struct dlsi_ordered *ordered, const struct dlsi_policy_view *view,
	dlsi_ordered_place *place, struct dlsi_policy_choice *choice_out);

/* The first job of a queue that has some. */
struct dlsi_policy_job *dlsi_ordered_first(const struct dlsi_policy_queue *queue);

/* Whether the one job comes before the other by their keys. */
bool dlsi_ordered_before(const struct dlsi_policy_job *a, const struct dlsi_policy_job *b);

#endif
