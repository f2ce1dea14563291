/* Results that a master holds until clients have them: no client fills its memory alone, nor all of them together. */
#include "base/limits.h"
#include "test/unit/machine.h"
#include "test/unit/unit.h"

enum { WORKER, CLIENT }; /* slots of peers; further clients come behind the first */

static const uint64_t limit = DLSI_CLIENT_HELD_BYTES / (DLSI_INLINE_BYTES + DLSI_HELD_RESULT_BYTES); /* of one client */

static void begin(struct unit_machine *master)
{
	unit_master_init(master, unit_alloc(), false);
	master->frame_bytes = DLSI_INLINE_BYTES;
	unit_register_worker(master, WORKER, 10, "one", 1, "work");
}

/* A client with a long job of single items; it and its job have the number of its slot. */
static void submit(struct unit_machine *master, uint32_t slot)
{
	struct dlsi_record record = unit_submit((uint8_t)slot, 0, 1000000);

	unit_register_client(master, slot, slot);
	unit_machine_say(master, slot, unit_spec(0, "{\"handler\":\"work\",\"task_items\":1}"));
	record.submit.frames = 1;
	unit_machine_say(master, slot, record);
}

/* The worker does what it is given until it is given nothing; the number of results, and the first attempt. */
static uint64_t work_for(struct unit_machine *master, uint64_t bytes, bool offered, uint64_t *first_out)
{
	struct dlsi_record record;
	uint64_t results = 0;

	while (unit_machine_says(master, WORKER, DLSI_ASSIGN, 0, &record)) {
		const struct dlsi_assign task = record.assign;

		if (!results++)
			*first_out = task.attempt;
		unit_machine_say(master, WORKER, unit_result(&task, bytes, offered));
	}
	return results;
}

static uint64_t work(struct unit_machine *master, uint64_t *first_out)
{
	return work_for(master, DLSI_INLINE_BYTES, false, first_out);
}

/* One that takes results and does not confirm them stops its own jobs and nobody else's, until half of it is gone. */
static void test_client_that_confirms_nothing(void **state)
{
	struct unit_machine master;
	uint64_t first, other;

	(void)state;
	begin(&master);
	submit(&master, CLIENT);
	assert_int_equal(work(&master, &first), limit + 1);
	submit(&master, CLIENT + 1);
	assert_int_equal(work(&master, &other), limit + 1);
	for (uint64_t attempt = first; attempt <= first + limit / 2; attempt++) {
		assert_int_equal(unit_machine_count(&master, WORKER, DLSI_ASSIGN), 0);
		unit_ack(&master, CLIENT, CLIENT, &attempt, 1, NULL, 0);
	}
	assert_int_equal(unit_assigned(&master, WORKER, 0).job.bytes[0], CLIENT);
	unit_machine_fini(&master);
}

/* What it lets go of one job is room for its others. */
static void test_jobs_of_one_client(void **state)
{
	struct dlsi_record second = unit_submit(200, 0, 10), cancel = {.kind = DLSI_CANCEL};
	struct unit_machine master;
	uint64_t first;

	(void)state;
	begin(&master);
	submit(&master, CLIENT);
	work(&master, &first);
	unit_machine_say(&master, CLIENT, second);
	assert_int_equal(unit_machine_count(&master, WORKER, DLSI_ASSIGN), 0);
	cancel.cancel.job = unit_id(CLIENT);
	unit_machine_say(&master, CLIENT, cancel);
	assert_int_equal(unit_assigned(&master, WORKER, 0).job.bytes[0], 200);
	unit_machine_fini(&master);
}

static void test_all_clients_together(void **state)
{
	const uint64_t all = DLSI_HELD_PAYLOAD_BYTES / (DLSI_INLINE_BYTES + DLSI_HELD_RESULT_BYTES);
	struct unit_machine master;
	uint64_t results = 0, first;

	(void)state;
	begin(&master);
	for (uint32_t slot = CLIENT; results <= all && slot < CLIENT + 40; slot++) {
		submit(&master, slot);
		results += work(&master, &first);
	}
	assert_int_equal(results, all + 1);
	submit(&master, CLIENT + 41);
	assert_int_equal(work(&master, &first), 0);
	unit_machine_fini(&master);
}

/* Results count for more than their bytes, or millions of small ones would cost nothing. */
static void test_small_results(void **state)
{
	struct unit_machine master;
	uint64_t first;

	(void)state;
	begin(&master);
	master.frame_bytes = 1;
	submit(&master, CLIENT);
	assert_int_equal(
		work_for(&master, 1, false, &first), DLSI_CLIENT_HELD_BYTES / (DLSI_HELD_RESULT_BYTES + 1) + 1);
	unit_machine_fini(&master);
}

/* A client may be slow to fetch what many jobs offer, and wait for just the one that has nothing yet: that one goes on.
 */
static void test_offers_that_nobody_fetches(void **state)
{
	const uint64_t most = DLSI_CLIENT_OFFERS;
	struct unit_machine master;
	uint64_t first, other;

	(void)state;
	begin(&master);
	submit(&master, CLIENT);
	assert_int_equal(work_for(&master, 1000000, true, &first), most + 1);
	unit_machine_say(&master, CLIENT, unit_submit(200, 0, 10));
	assert_int_equal(work_for(&master, 1000000, true, &other), 1);
	unit_ack(&master, CLIENT, 200, &other, 1, NULL, 0);
	assert_int_equal(work_for(&master, 1000000, true, &other), 1);
	for (uint64_t attempt = first; attempt <= first + most / 2 + 1; attempt++) {
		assert_int_equal(unit_machine_count(&master, WORKER, DLSI_ASSIGN), 0);
		unit_ack(&master, CLIENT, CLIENT, &attempt, 1, NULL, 0);
	}
	assert_int_equal(unit_machine_count(&master, WORKER, DLSI_ASSIGN), 1);
	unit_machine_fini(&master);
}

UNIT_MAIN(test_client_that_confirms_nothing, test_small_results, test_offers_that_nobody_fetches,
	test_jobs_of_one_client, test_all_clients_together)
