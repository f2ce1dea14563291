#include "policy/ordered.h"

#include "policy/placement.h"

int dlsi_ordered_create(const struct dlsi_alloc *alloc, int64_t number, void **ordered_out, struct dls_error *err)
{
	struct dlsi_ordered *ordered = dlsi_calloc(alloc, 1, sizeof *ordered);

	if (!ordered)
		return dlsi_fail_memory(err);
	ordered->alloc = alloc;
	ordered->number = number;
	dlsi_list_init(&ordered->queues);
	*ordered_out = ordered;
	return 0;
}

int dlsi_ordered_create_plain(const struct dlsi_policy_ops *ops, const struct dlsi_alloc *alloc, const cJSON *params,
	void **ordered_out, struct dls_error *err)
{
	static const char *const known[] = {NULL};
	struct dlsi_json_reader reader = dlsi_json_read(params, "the policy's parameters", known, err);

	(void)ops;
	return reader.rc ? reader.rc : dlsi_ordered_create(alloc, 0, ordered_out, err);
}

void dlsi_ordered_destroy(void *arg)
{
	struct dlsi_ordered *ordered = arg;

	dlsi_free(ordered->alloc, ordered);
}

struct dlsi_policy_job *dlsi_ordered_first(const struct dlsi_policy_queue *queue)
{
	struct dlsi_heap_node *first = dlsi_heap_first(&queue->jobs);

	return first ? dlsi_list_entry(first, struct dlsi_policy_job, place) : NULL;
}

void dlsi_ordered_put(struct dlsi_ordered *ordered, struct dlsi_policy_job *job, int64_t key)
{
	struct dlsi_policy_queue *queue = job->queue;

	if (!dlsi_ordered_first(queue))
		dlsi_list_append(&ordered->queues, &queue->node);
	dlsi_heap_set(&queue->jobs, &job->place, key); /* cannot fail: the core keeps room for every job of the queue */
}

void dlsi_ordered_idle(void *ordered, struct dlsi_policy_job *job)
{
	(void)ordered;
	dlsi_heap_remove(&job->queue->jobs, &job->place);
	if (!dlsi_ordered_first(job->queue))
		dlsi_list_remove(&job->queue->node);
}

void dlsi_ordered_ready_by_priority(void *ordered, struct dlsi_policy_job *job)
{
	dlsi_ordered_put(ordered, job, -(int64_t)job->priority);
}

void dlsi_ordered_ready_in_turn(void *arg, struct dlsi_policy_job *job)
{
	struct dlsi_ordered *ordered = arg;

	dlsi_ordered_put(ordered, job, ordered->number++);
}

bool dlsi_ordered_by_key(
	const struct dlsi_policy_view *view, const struct dlsi_policy_job *a, const struct dlsi_policy_job *b)
{
	int64_t key_a = dlsi_heap_due(&a->queue->jobs, &a->place), key_b = dlsi_heap_due(&b->queue->jobs, &b->place);

	(void)view;
	return key_a != key_b ? key_a < key_b : a->place.order < b->place.order;
}

bool dlsi_ordered_choose(const struct dlsi_ordered *ordered, const struct dlsi_policy_view *view,
	dlsi_ordered_before *before, dlsi_ordered_place *place, struct dlsi_policy_choice *choice_out)
{
	struct dlsi_policy_choice best = {0};

	dlsi_list_each (node, &ordered->queues) {
		struct dlsi_policy_job *job = dlsi_ordered_first(dlsi_list_entry(node, struct dlsi_policy_queue, node));

		if (!best.job || before(view, job, best.job))
			place(view, job, &best);
	}
	if (best.job)
		*choice_out = best;
	return best.job != NULL;
}

bool dlsi_ordered_choose_in_turn(struct dlsi_ordered *ordered, const struct dlsi_policy_view *view,
	dlsi_ordered_place *place, struct dlsi_policy_choice *choice_out)
{
	if (!dlsi_ordered_choose(ordered, view, dlsi_ordered_by_key, place, choice_out))
		return false;
	dlsi_ordered_ready_in_turn(ordered, choice_out->job);
	return true;
}

bool dlsi_ordered_choose_by_key(
	void *ordered, const struct dlsi_policy_view *view, struct dlsi_policy_choice *choice_out)
{
	return dlsi_ordered_choose(ordered, view, dlsi_ordered_by_key, dlsi_place_least_loaded, choice_out);
}
