/* Jobs in order, of many tenants and classes: who is next, against the plainest way to find out, and how often devices
 * are asked for. */
#include "policy/ordered.h"
#include "policy/placement.h"
#include "test/unit/policy.h"
#include "test/unit/unit.h"

#include <string.h>

enum { CLASSES = 5, QUEUES = 40, JOBS = 120, SEEDS = 200, STEPS = 60, TENANTS = 4000 };

struct world {
	struct dlsi_ordered ordered;
	struct dlsi_policy_tenant tenants[QUEUES];
	struct dlsi_policy_class classes[CLASSES];
	struct dlsi_policy_queue queues[QUEUES];
	struct dlsi_policy_job jobs[JOBS];
	int64_t keys[JOBS];
	bool ready[JOBS], blocked[CLASSES], passed[QUEUES];
	struct dlsi_policy_view view;
};

static struct world *world; /* for `place`, which gets none */

static enum dlsi_placed place(
	const struct dlsi_policy_view *view, struct dlsi_policy_job *job, struct dlsi_policy_choice *choice_out)
{
	(void)view;
	if (world->blocked[job->queue->class - world->classes])
		return DLSI_BLOCKED;
	if (world->passed[job->queue - world->queues])
		return DLSI_PASSED;
	choice_out->job = job;
	return DLSI_PLACED;
}

static void begin(struct dlsi_rng *rng)
{
	world = dlsi_calloc(unit_alloc(), 1, sizeof *world);
	assert_non_null(world);
	dlsi_ordered_init(&world->ordered, unit_alloc());
	for (unsigned i = 0; i < QUEUES; i++) {
		world->queues[i].tenant = &world->tenants[i];
		world->queues[i].class = &world->classes[dlsi_rng_below(rng, CLASSES)];
		unit_policy_queue_init(&world->queues[i], JOBS, QUEUES);
	}
	for (unsigned i = 0; i < JOBS; i++) {
		world->jobs[i].place.order = i;
		world->jobs[i].queue = &world->queues[dlsi_rng_below(rng, QUEUES)];
	}
}

static void end(void)
{
	for (unsigned i = 0; i < QUEUES; i++)
		unit_policy_queue_fini(&world->queues[i]);
	dlsi_free(unit_alloc(), world);
}

static void change_job(struct dlsi_rng *rng)
{
	uint64_t i = dlsi_rng_below(rng, JOBS);

	if (world->ready[i]) {
		dlsi_ordered_idle(&world->ordered, &world->jobs[i]);
	} else {
		world->keys[i] = (int64_t)dlsi_rng_below(rng, 20);
		dlsi_ordered_put(&world->ordered, &world->jobs[i], world->keys[i]);
	}
	world->ready[i] = !world->ready[i];
}

/* NULL: nobody. */
static struct dlsi_policy_job *plain_choice(void)
{
	struct dlsi_policy_job *best = NULL;

	for (unsigned i = 0; i < JOBS; i++) {
		struct dlsi_policy_job *job = &world->jobs[i];

		if (world->ready[i] && !world->blocked[job->queue->class - world->classes] &&
			!world->passed[job->queue - world->queues] &&
			(!best || world->keys[i] < world->keys[best->place.order]))
			best = job;
	}
	return best;
}

/* In each turn jobs come and go, other classes are blocked and other queues passed over. */
static void test_the_first_that_can_be_served_is_next(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct dlsi_rng rng = unit_rng(seed);
		struct dlsi_policy_choice choice = {0};

		begin(&rng);
		while (++world->view.turn < STEPS) {
			for (unsigned i = 0; i < 10; i++)
				change_job(&rng);
			for (unsigned i = 0; i < CLASSES; i++)
				world->blocked[i] = dlsi_rng_below(&rng, 3) == 0;
			for (unsigned i = 0; i < QUEUES; i++)
				world->passed[i] = dlsi_rng_below(&rng, 3) == 0;
			for (unsigned i = 0; i < 4; i++) {
				struct dlsi_policy_job *expected = plain_choice();

				assert_int_equal(dlsi_ordered_choose(&world->ordered, &world->view, place, &choice),
					expected != NULL);
				if (expected)
					assert_ptr_equal(choice.job, expected);
				change_job(&rng);
			}
		}
		end();
	}
}

/* ---- how often devices are asked for */

static unsigned asked;

/* One device, on which the first task has not ended yet. */
static size_t candidates(
	void *device, const struct dlsi_policy_queue *queue, struct dlsi_policy_device **devices, size_t limit)
{
	(void)queue;
	asked++;
	devices[0] = device;
	return limit > 0;
}

static struct dlsi_policy_expectation expect(
	void *device, const struct dlsi_policy_queue *queue, const struct dlsi_policy_device *candidate)
{
	(void)device;
	(void)queue;
	(void)candidate;
	return (struct dlsi_policy_expectation){.tried = true};
}

/* With thousands of tenants whose jobs wait for the first results of a model, a turn asks once, not once for each. */
static void test_a_turn_asks_once_for_all_tenants(void **state)
{
	struct dlsi_policy_tenant *tenants = dlsi_calloc(unit_alloc(), TENANTS, sizeof *tenants);
	struct dlsi_policy_queue *queues = dlsi_calloc(unit_alloc(), TENANTS, sizeof *queues);
	struct dlsi_policy_job *jobs = dlsi_calloc(unit_alloc(), TENANTS, sizeof *jobs);
	struct dlsi_policy_device device = {.credits = 8};
	struct dlsi_policy_class class = {0};
	struct dlsi_policy_view view = {.candidates = candidates, .expect = expect, .view_arg = &device};
	struct dlsi_policy_choice choice;
	struct dlsi_ordered ordered;

	(void)state;
	dlsi_ordered_init(&ordered, unit_alloc());
	for (unsigned i = 0; i < TENANTS; i++) {
		queues[i] = (struct dlsi_policy_queue){.tenant = &tenants[i], .class = &class};
		unit_policy_queue_init(&queues[i], 1, TENANTS);
		jobs[i] = (struct dlsi_policy_job){.place.order = i, .queue = &queues[i]};
		dlsi_ordered_ready_in_turn(&ordered, &jobs[i]);
	}
	for (view.turn = 1; view.turn <= 10; view.turn++) {
		for (unsigned i = 0; i < 3; i++)
			assert_false(dlsi_ordered_choose_in_turn(&ordered, &view, dlsi_place_earliest, &choice));
		assert_int_equal(asked, view.turn);
	}
	for (unsigned i = 0; i < TENANTS; i++)
		unit_policy_queue_fini(&queues[i]);
	dlsi_free(unit_alloc(), tenants);
	dlsi_free(unit_alloc(), queues);
	dlsi_free(unit_alloc(), jobs);
}

UNIT_MAIN(test_the_first_that_can_be_served_is_next, test_a_turn_asks_once_for_all_tenants)
