/* A long task before short ones must not hold these up while another device has nothing to do. */
#include "test/unit/commands.h"
#include "test/unit/unit.h"
#include <string.h>

enum { CLIENT, ONE, TWO };

/* The long task of job 1 and behind it a short one of job 2 are at the first worker. The other has nothing to do, and
 * is known to take so long for a short one. */
static struct dlsi_assign begin(struct unit_machine *master, uint64_t there_ns)
{
	struct dlsi_assign waits, done[2];
	struct dlsi_record result;

	unit_master_init(master, unit_alloc(), false);
	unit_register_client(master, CLIENT, 1);
	unit_machine_say(
		master, CLIENT, unit_spec(0, "{\"handler\":\"work\",\"task_items\":1,\"params\":{\"long\":1}}"));
	unit_machine_say(master, CLIENT, unit_spec(1, "{\"handler\":\"work\",\"task_items\":1}"));
	unit_register_worker(master, ONE, 10, "one", 2, "work");
	unit_register_worker(master, TWO, 11, "two", 2, "work");
	unit_machine_say(master, CLIENT, unit_submit(4, 1, 2));
	done[0] = unit_assigned(master, ONE, 0); /* so it is known to be fast */
	done[1] = unit_assigned(master, TWO, 0);
	unit_machine_say(master, ONE, unit_result(&done[0], 100, false));
	result = unit_result(&done[1], 100, false);
	result.result.elapsed_ns = there_ns;
	master->now_ns += (int64_t)there_ns;
	unit_machine_say(master, TWO, result);
	unit_machine_say(master, CLIENT, unit_submit(1, 0, 1));
	unit_machine_say(master, CLIENT, unit_submit(2, 1, 2));
	waits = unit_assigned(master, ONE, 0);
	done[1] = unit_assigned(master, TWO, 0);
	unit_machine_say(master, TWO, unit_result(&done[1], 100, false));
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

static void test_what_waits_moves_to_an_idle_device(void **state)
{
	struct unit_machine master;
	struct dlsi_assign waits;

	(void)state;
	waits = begin(&master, UNIT_MS);
	assert_int_equal(recalls(&master, waits.attempt), 1); /* and not again, while the answer is on its way */
	unit_machine_say(&master, ONE, unit_handback(0, &waits.attempt));
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
	unit_machine_say(&master, ONE, unit_handback(0, &waits.attempt));
	unit_machine_say(&master, CLIENT, unit_submit(3, 1, 200));
	assert_int_equal(unit_machine_count(&master, ONE, DLSI_ASSIGN), 0);
	front = (struct dlsi_assign){.job = unit_id(1), .attempt = waits.attempt - 2, .first = 0, .end = 1};
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

/* A task of eight items at each of two workers, of which the second does an item in a fiftieth of this time: it is done
 * long before the first. Returns how often that is asked for the rest of its task. */
static unsigned stops(uint64_t item_ns, bool fast)
{
	struct unit_machine master;
	struct dlsi_assign tasks[3];
	struct dlsi_record record;
	unsigned told = 0;

	unit_master_init(&master, unit_alloc(), false);
	unit_register_client(&master, CLIENT, 1);
	unit_machine_say(&master, CLIENT, unit_spec(0, "{\"handler\":\"work\",\"task_items\":8}"));
	unit_register_worker(&master, ONE, 10, "one", 1, "work");
	unit_register_worker(&master, TWO, 11, "two", 1, "work");
	for (uint8_t job = 1; job < 3; job++) {
		unit_machine_say(&master, CLIENT, unit_submit(job, 0, 16));
		for (uint32_t slot = ONE; slot <= TWO; slot++)
			tasks[slot] = unit_assigned(&master, slot, 0);
		for (uint32_t slot = TWO; slot >= (job == 1 ? ONE : TWO); slot--) {
			struct dlsi_record result = unit_result(&tasks[slot], 100, false);

			result.result.elapsed_ns = slot == TWO && (fast || job == 2) ? 8 * item_ns / 50 : 8 * item_ns;
			master.now_ns += (int64_t)result.result.elapsed_ns;
			unit_machine_say(&master, slot, result);
		}
	}
	for (int i = 0; i < 25; i++) {
		master.now_ns += 10 * UNIT_MS;
		unit_machine_step(&master, (struct dlsi_event){.kind = DLSI_EVENT_TIMER});
		for (unsigned n = 0; unit_machine_says(&master, ONE, DLSI_RECALL, n, &record); n++) {
			assert_int_equal(record.recall.running, 1);
			assert_int_equal(dlsi_numbers_at(&record.recall.attempts, 0), tasks[ONE].attempt);
			told++;
		}
	}
	unit_machine_fini(&master);
	return told;
}

static void test_the_rest_of_a_running_task_moves_if_that_gains_time(void **state)
{
	(void)state;
	assert_int_equal(stops(40 * UNIT_MS, true), 1);
	assert_int_equal(stops(40 * UNIT_MS, false), 0); /* as fast: it would be done no sooner */
}

UNIT_MAIN(test_what_waits_moves_to_an_idle_device, test_nothing_comes_back_behind_the_long_task,
	test_a_move_that_gains_nothing_is_not_made, test_the_rest_of_a_running_task_moves_if_that_gains_time)
