/* A task as its handler sees it: the inputs of its items, and the result or error that each of them gets.
 *
 * Made and prepared by one thread, then executed and finished by another, then destroyed; only the wish to cancel comes
 * from outside at any time. */
#ifndef DLSI_TASK_H
#define DLSI_TASK_H

#include "core/retry_rules.h"
#include "worker/task_input.h"
#include <dlsched/worker.h>
#include <stdatomic.h>

struct dlsi_task_output;

struct dls_task {
	const struct dlsi_alloc *alloc;
	char job[DLSI_ID_TEXT_BYTES];
	uint64_t attempt;
	uint64_t first; /* item of the job */
	uint32_t count;
	const char *params;             /* borrowed, JSON */
	struct dlsi_task_inputs inputs; /* a row per item, added by the maker; none if there are none to be had */
	struct dlsi_task_output *outputs;
	uint64_t output_bytes;
	atomic_bool cancelled; /* nobody wants it */
	atomic_bool recalled;  /* others run what it has not begun */
	uint64_t limit_ns;     /* that it may take once it runs; 0: any time */
	int64_t late_ns;       /* when that is over; 0: never, or it does not run yet */
};

/* It begins to run now. */
void dlsi_task_begin(struct dls_task *task);

/* Nobody wants its results. It is to stop between two items. And: it has taken longer than it may. */
bool dlsi_task_is_dropped(const struct dls_task *task);
bool dlsi_task_is_recalled(const struct dls_task *task);
bool dlsi_task_is_late(const struct dls_task *task);

/* `params` must outlive the task. Errors: DLS_ENOMEM. */
int dlsi_task_init(struct dls_task *task, const struct dlsi_alloc *alloc, const struct dlsi_id *job, uint64_t attempt,
	uint64_t first, uint32_t count, const char *params);
void dlsi_task_fini(struct dls_task *task);

/* Gives an item its result, whatever it had before; the bytes are copied. Errors: DLS_ELIMIT, DLS_ETIMEOUT (the
 * task has taken longer than it may), DLS_ENOMEM; then it has what it had. */
int dlsi_task_give(
	struct dls_task *task, uint32_t item, const struct dlsi_field *fields, unsigned count, struct dls_error *err);

/* Whether every item has been given something. */
bool dlsi_task_is_complete(const struct dls_task *task);

/* The task ends before its first item that has been given nothing. Returns how many items it loses. */
uint32_t dlsi_task_give_up(struct dls_task *task);

/* Writes the task's result page. Items that were given nothing fail because their inputs could not be had, or else with
 * `missing`. *failed_out counts the error rows. Errors: DLS_ENOMEM. */
int dlsi_task_finish(
	struct dls_task *task, const struct dls_error *missing, struct dlsi_buffer *page, uint32_t *failed_out);

/* After the end: lists the failed items (core/again.h) that the rules have tried again. Those that were given nothing,
 * and have their inputs, failed in the way `missing`. A failure shows in again->failed. */
void dlsi_task_list_again(const struct dls_task *task, enum dlsi_failure missing, const struct dlsi_retry_rules *rules,
	struct dlsi_buffer *again);

#endif
