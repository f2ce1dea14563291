#include "policy/ordered.h"

#include "policy/placement.h"

void dlsi_ordered_init(struct dlsi_ordered *ordered, const struct dlsi_alloc *alloc)
{
	*ordered = (struct dlsi_ordered){.alloc = alloc};
	dlsi_list_init(&ordered->queues);
	dlsi_list_init(&ordered->classes);
	dlsi_list_init(&ordered->aside);
}

int dlsi_ordered_create(const struct dlsi_alloc *alloc, int64_t number, void **ordered_out, struct dls_error *err)
{
	struct dlsi_ordered *ordered = dlsi_malloc(alloc, sizeof *ordered);

	if (!ordered)
		return dlsi_fail_memory(err);
	dlsi_ordered_init(ordered, alloc);
	ordered->number = number;
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

/* The queue stands in its class by its first job; one that is aside or has none does not. No heap can fail: the core
 * keeps room for all that may be in it. */
static void rank(struct dlsi_ordered *ordered, struct dlsi_policy_queue *queue)
{
	const struct dlsi_policy_job *first = dlsi_ordered_first(queue);
	struct dlsi_policy_class *class = queue->class;

	if (first && dlsi_list_empty(&queue->aside)) {
		queue->place.order = first->place.order;
		dlsi_heap_set(&class->queues, &queue->place, dlsi_heap_due(&queue->jobs, &first->place));
	} else {
		dlsi_heap_remove(&class->queues, &queue->place);
	}
	if (!class->queues.count)
		dlsi_list_remove(&class->node);
	else if (dlsi_list_empty(&class->node))
		dlsi_list_append(&ordered->classes, &class->node);
}

void dlsi_ordered_put(struct dlsi_ordered *ordered, struct dlsi_policy_job *job, int64_t key)
{
	struct dlsi_policy_queue *queue = job->queue;

	if (!dlsi_ordered_first(queue))
		dlsi_list_append(&ordered->queues, &queue->node);
	dlsi_heap_set(&queue->jobs, &job->place, key);
	rank(ordered, queue);
}

void dlsi_ordered_idle(void *ordered, struct dlsi_policy_job *job)
{
	struct dlsi_policy_queue *queue = job->queue;

	dlsi_heap_remove(&queue->jobs, &job->place);
	if (!dlsi_ordered_first(queue)) {
		dlsi_list_remove(&queue->node);
		dlsi_list_remove(&queue->aside);
	}
	rank(ordered, queue);
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

/* The one of a heap before the other of another. */
static bool is_before(const struct dlsi_heap *heap_a, const struct dlsi_heap_node *a, const struct dlsi_heap *heap_b,
	const struct dlsi_heap_node *b)
{
	int64_t key_a = dlsi_heap_due(heap_a, a), key_b = dlsi_heap_due(heap_b, b);

	return key_a != key_b ? key_a < key_b : a->order < b->order;
}

bool dlsi_ordered_before(const struct dlsi_policy_job *a, const struct dlsi_policy_job *b)
{
	return is_before(&a->queue->jobs, &a->place, &b->queue->jobs, &b->place);
}

/* What could not be served in the turn before is tried again. */
static void begin_turn(struct dlsi_ordered *ordered, uint64_t turn)
{
	ordered->turn = turn;
	dlsi_list_each (node, &ordered->aside) {
		dlsi_list_remove(node);
		rank(ordered, dlsi_list_entry(node, struct dlsi_policy_queue, aside));
	}
}

/* The queue whose first job comes before all others, of classes that are not blocked; NULL: there is none. */
static struct dlsi_policy_queue *next_queue(const struct dlsi_ordered *ordered)
{
	const struct dlsi_heap *best = NULL;

	dlsi_list_each (node, &ordered->classes) {
		const struct dlsi_policy_class *class = dlsi_list_entry(node, struct dlsi_policy_class, node);
		const struct dlsi_heap *queues = &class->queues;

		if (class->blocked == ordered->turn)
			continue;
		if (!best || is_before(queues, dlsi_heap_first(queues), best, dlsi_heap_first(best)))
			best = queues;
	}
	return best ? dlsi_list_entry(dlsi_heap_first(best), struct dlsi_policy_queue, place) : NULL;
}

bool dlsi_ordered_choose(struct dlsi_ordered *ordered, const struct dlsi_policy_view *view, dlsi_ordered_place *place,
	struct dlsi_policy_choice *choice_out)
{
	struct dlsi_policy_queue *queue;

	if (ordered->turn != view->turn)
		begin_turn(ordered, view->turn);
	while ((queue = next_queue(ordered))) {
		switch (place(view, dlsi_ordered_first(queue), choice_out)) {
		case DLSI_PLACED:
			return true;
		case DLSI_PASSED:
			dlsi_list_append(&ordered->aside, &queue->aside);
			rank(ordered, queue);
			break;
		case DLSI_BLOCKED:
			queue->class->blocked = view->turn;
			break;
		}
	}
	return false;
}

bool dlsi_ordered_choose_in_turn(struct dlsi_ordered *ordered, const struct dlsi_policy_view *view,
	dlsi_ordered_place *place, struct dlsi_policy_choice *choice_out)
{
	if (!dlsi_ordered_choose(ordered, view, place, choice_out))
		return false;
	dlsi_ordered_ready_in_turn(ordered, choice_out->job);
	return true;
}

bool dlsi_ordered_choose_by_key(
	void *ordered, const struct dlsi_policy_view *view, struct dlsi_policy_choice *choice_out)
{
	return dlsi_ordered_choose(ordered, view, dlsi_place_least_loaded, choice_out);
}
