/* A long task before short ones must not hold these up while another device has nothing to do. */
#include "test/unit/commands.h"
#include "test/unit/unit.h"
#include <string.h>

enum { CLIENT, ONE, TWO };

/* The long task of job 1 and behind it a short one of job 2 are at the first worker; the other is there too, and has
 * done one task of the short job, which took it so long. */
static struct dlsi_assign begin(struct unit_machine *master, uint64_t there_ns)
{
	struct dlsi_assign waits, done;
	struct dlsi_record result;

	unit_master_init(master, unit_alloc(), false);
	unit_register_client(master, CLIENT, 1);
	unit_machine_say(
		master, CLIENT, unit_spec(0, "{\"handler\":\"work\",\"task_items\":1,\"params\":{\"long\":1}}"));
	unit_machine_say(master, CLIENT, unit_spec(1, "{\"handler\":\"work\",\"task_items\":1}"));
	unit_register_worker(master, ONE, 10, "one", 2, "work");
	unit_machine_say(master, CLIENT, unit_submit(4, 1, 1));
	done = unit_assigned(master, ONE, 0); /* so it is known to be fast */
	unit_machine_say(master, ONE, unit_result(&done, 100, false));
	unit_machine_say(master, CLIENT, unit_submit(1, 0, 1));
	unit_machine_say(master, CLIENT, unit_submit(2, 1, 2));
	waits = unit_assigned(master, ONE, 0);
	unit_register_worker(master, TWO, 11, "two", 2, "work");
	done = unit_assigned(master, TWO, 0);
	result = unit_result(&done, 100, false);
	result.result.elapsed_ns = there_ns;
	unit_machine_say(master, TWO, result);
	return waits;
}

/* So long that the first worker's heartbeat has been sent once and once more. Returns how often it has been told to
 * hand back the attempt. */
static unsigned recalls(struct unit_machine *master, uint64_t attempt)
{
	struct dlsi_record record;
	unsigned told = 0;

	for (int i = 0; i < 25; i++) {
		master->now_ns += 10 * UNIT_MS;
		unit_machine_step(master, (struct dlsi_event){.kind = DLSI_EVENT_TIMER});
		for (unsigned n = 0; unit_machine_says(master, ONE, DLSI_RECALL, n, &record); n++) {
			assert_int_equal(record.recall.attempts.count, 1);
			assert_int_equal(dlsi_numbers_at(&record.recall.attempts, 0), attempt);
			told++;
		}
	}
	return told;
}

static void hand_back(struct unit_machine *master, uint64_t attempt)
{
	struct dlsi_record record = {.kind = DLSI_HANDBACK};
	uint8_t bytes[8];

	for (int i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(attempt >> 8 * i);
	record.handback.attempts = (struct dlsi_numbers){bytes, 1};
	unit_machine_say(master, ONE, record);
}

static void test_what_waits_moves_to_an_idle_device(void **state)
{
	struct unit_machine master;
	struct dlsi_assign waits;

	(void)state;
	waits = begin(&master, UNIT_MS);
	assert_int_equal(recalls(&master, waits.attempt), 1); /* and not again, while the answer is on its way */
	hand_back(&master, waits.attempt);
	assert_int_equal(unit_machine_count(&master, TWO, DLSI_ASSIGN), 1);
	assert_int_equal(unit_assigned(&master, TWO, 0).first, waits.first);
	unit_machine_fini(&master);
}

/* The device where the long task runs gets nothing more behind it, though it has room; when that is over it does. */
static void test_nothing_comes_back_behind_the_long_task(void **state)
{
	struct unit_machine master;
	struct dlsi_assign waits, front;

	(void)state;
	waits = begin(&master, UNIT_MS);
	assert_int_equal(recalls(&master, waits.attempt), 1);
	hand_back(&master, waits.attempt);
	unit_machine_say(&master, CLIENT, unit_submit(3, 1, 200));
	assert_int_equal(unit_machine_count(&master, ONE, DLSI_ASSIGN), 0);
	front = (struct dlsi_assign){.job = unit_id(1), .attempt = waits.attempt - 1, .first = 0, .end = 1};
	unit_machine_say(&master, ONE, unit_result(&front, 100, false));
	assert_true(unit_machine_count(&master, ONE, DLSI_ASSIGN) > 0);
	unit_machine_fini(&master);
}

/* Where the other device would take longer than the wait, the task stays. */
static void test_a_move_that_gains_nothing_is_not_made(void **state)
{
	struct unit_machine master;
	struct dlsi_assign waits;

	(void)state;
	waits = begin(&master, 100ULL * UNIT_S);
	assert_int_equal(recalls(&master, waits.attempt), 0);
	unit_machine_fini(&master);
}

UNIT_MAIN(test_what_waits_moves_to_an_idle_device, test_nothing_comes_back_behind_the_long_task,
	test_a_move_that_gains_nothing_is_not_made)
