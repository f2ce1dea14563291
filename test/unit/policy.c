#include "test/unit/policy.h"

#include "test/unit/unit.h"

void unit_policy_queue_init(struct dlsi_policy_queue *queue, size_t jobs, size_t queues)
{
	struct dlsi_policy_class *class = queue->class;

	dlsi_heap_init(&queue->jobs, unit_alloc());
	assert_int_equal(dlsi_heap_reserve(&queue->jobs, jobs), 0);
	dlsi_list_init(&queue->node);
	dlsi_list_init(&queue->aside);
	if (class->queues.alloc)
		return;
	dlsi_list_init(&class->node);
	dlsi_heap_init(&class->queues, unit_alloc());
	assert_int_equal(dlsi_heap_reserve(&class->queues, queues), 0);
}

void unit_policy_queue_fini(struct dlsi_policy_queue *queue)
{
	dlsi_heap_fini(&queue->jobs);
	dlsi_heap_fini(&queue->class->queues);
}
