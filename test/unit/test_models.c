/* How a model spreads: the master names a worker that has it to one other at a time, the client until two have it, and
 * never again who could not be read from. */
#include "test/unit/machine.h"
#include "test/unit/unit.h"
#include <stdio.h>
#include <string.h>

enum { CLIENT, FIRST, WORKERS = 8 }; /* slots of peers: workers from FIRST on */

static void register_worker(struct unit_machine *master, uint32_t slot)
{
	struct dlsi_record records[3] = {{.kind = DLSI_REGISTER}, {.kind = DLSI_HANDLER}, {.kind = DLSI_DEVICE}};
	char name[32], endpoint[32];

	snprintf(name, sizeof name, "worker %u", slot);
	snprintf(endpoint, sizeof endpoint, "tcp://worker:%u", slot);
	records[0].reg = (struct dlsi_register){.role = DLSI_ROLE_WORKER,
		.version_low = 1,
		.version_high = 1,
		.incarnation = slot,
		.name = dlsi_text_of(name),
		.host = dlsi_text_of(slot % 2 ? "odd" : "even"),
		.data_endpoint = dlsi_text_of(endpoint)};
	records[1].handler.name = dlsi_text_of("dls.model");
	records[2].device = (struct dlsi_device_offer){0, 1, 4, 1 << 30, dlsi_text_of("cpu")};
	unit_machine_tell(master, slot, records, 3);
}

static void begin(struct unit_machine *master, unsigned workers)
{
	unit_master_init(master, unit_alloc(), false);
	unit_register_client(master, CLIENT, 100);
	unit_machine_say(master, CLIENT, unit_spec(1, "{\"model\":{\"bundle\":\"ab\",\"bytes\":1},\"task_items\":1}"));
	for (uint32_t slot = FIRST; slot < FIRST + workers; slot++)
		register_worker(master, slot);
	unit_machine_say(master, CLIENT, unit_submit(1, 1, 100));
}

static void seek(struct unit_machine *master, uint32_t slot, uint8_t state, uint64_t mib, uint64_t elapsed_ns)
{
	struct dlsi_record record = {
		.kind = DLSI_SEEK, .seek = {.state = state, .bytes = mib << 20, .elapsed_ns = elapsed_ns}};

	record.seek.job = unit_id(1);
	unit_machine_say(master, slot, record);
}

/* Where the worker is told to read the model: the slot of a worker, CLIENT, or -1: nowhere yet. */
static int found(struct unit_machine *master, uint32_t slot)
{
	struct dlsi_record record;
	char endpoint[64] = "";
	unsigned from = CLIENT;

	if (!unit_machine_says(master, slot, DLSI_FOUND, 0, &record))
		return -1;
	snprintf(endpoint, sizeof endpoint, "%.*s", (int)record.found.holder.length, record.found.holder.data);
	sscanf(endpoint, "tcp://worker:%u", &from);
	assert_false(dlsi_id_is_zero(&record.found.token));
	return (int)from;
}

/* Eight want it at once: the client gives it twice, every worker to one other at a time. */
static void test_spreads_from_worker_to_worker(void **state)
{
	int from[FIRST + WORKERS];
	bool has[FIRST + WORKERS] = {false};
	unsigned by_client = 0, done = 0, rounds = 0;
	struct unit_machine master;

	(void)state;
	begin(&master, WORKERS);
	for (uint32_t slot = FIRST; slot < FIRST + WORKERS; slot++) {
		seek(&master, slot, DLSI_SEEK_WANTS, 0, 0);
		from[slot] = found(&master, slot);
	}
	for (; done < WORKERS; rounds++) {
		bool busy[FIRST + WORKERS] = {false}, ends[FIRST + WORKERS] = {false};

		assert_true(rounds < WORKERS);
		for (uint32_t slot = FIRST; slot < FIRST + WORKERS; slot++) {
			ends[slot] = !has[slot] && from[slot] >= 0;
			if (!ends[slot])
				continue;
			assert_false(busy[from[slot]]);
			busy[from[slot]] = true;
			by_client += from[slot] == CLIENT;
			assert_true(from[slot] == CLIENT || has[from[slot]]);
		}
		for (uint32_t slot = FIRST; slot < FIRST + WORKERS; slot++) {
			if (!ends[slot])
				continue;
			has[slot] = true;
			done++;
			seek(&master, slot, DLSI_SEEK_HAS, 100, 1000000000);
			for (uint32_t other = FIRST; other < FIRST + WORKERS; other++)
				if (!has[other] && from[other] < 0)
					from[other] = found(&master, other);
		}
	}
	assert_in_range(by_client, 1, 2);
	assert_true(rounds <= 4);
	unit_machine_fini(&master);
}

static void test_who_fails_is_not_named_again(void **state)
{
	struct unit_machine master;

	(void)state;
	begin(&master, 3);
	seek(&master, 1, DLSI_SEEK_HAS, 0, 0);
	seek(&master, 2, DLSI_SEEK_WANTS, 0, 0);
	assert_int_equal(found(&master, 2), 1);
	seek(&master, 2, DLSI_SEEK_WANTS, 0, 0); /* it could not be read there */
	assert_int_equal(found(&master, 2), CLIENT);
	seek(&master, 3, DLSI_SEEK_WANTS, 0, 0);
	assert_int_equal(found(&master, 3), -1);
	seek(&master, 2, DLSI_SEEK_GAVE_UP, 0, 0);
	assert_int_equal(found(&master, 3), CLIENT);
	unit_machine_fini(&master);
}

/* Some network may be between a worker and all the others. */
static void test_who_reaches_no_worker_gets_it_from_the_client(void **state)
{
	struct unit_machine master;

	(void)state;
	begin(&master, 6);
	for (uint32_t slot = 1; slot <= 4; slot++)
		seek(&master, slot, DLSI_SEEK_HAS, 0, 0);
	seek(&master, 5, DLSI_SEEK_WANTS, 0, 0);
	assert_int_equal(found(&master, 5), 1);
	seek(&master, 5, DLSI_SEEK_WANTS, 0, 0);
	assert_int_equal(found(&master, 5), 3);
	seek(&master, 5, DLSI_SEEK_WANTS, 0, 0);
	assert_int_equal(found(&master, 5), CLIENT);
	unit_machine_fini(&master);
}

static void test_who_is_lost_gives_nothing_and_waits_for_nothing(void **state)
{
	struct unit_machine master;

	(void)state;
	begin(&master, 4);
	seek(&master, 1, DLSI_SEEK_HAS, 0, 0);
	seek(&master, 2, DLSI_SEEK_WANTS, 0, 0);
	assert_int_equal(found(&master, 2), 1);
	seek(&master, 3, DLSI_SEEK_WANTS, 0, 0); /* the client gives it too, since one alone has it */
	assert_int_equal(found(&master, 3), CLIENT);
	seek(&master, 4, DLSI_SEEK_WANTS, 0, 0);
	assert_int_equal(found(&master, 4), -1);
	unit_machine_say(&master, 3, (struct dlsi_record){.kind = DLSI_LEAVE});
	assert_int_equal(found(&master, 4), CLIENT);
	unit_machine_say(&master, 1, (struct dlsi_record){.kind = DLSI_LEAVE});
	assert_int_equal(found(&master, 2), -1); /* it finds out by itself */
	seek(&master, 2, DLSI_SEEK_WANTS, 0, 0);
	assert_int_equal(found(&master, 2), -1);
	seek(&master, 4, DLSI_SEEK_HAS, 100, 1000000000);
	assert_int_equal(found(&master, 2), 4);
	unit_machine_fini(&master);
}

/* On the same machine, else one that was not tried, else the fastest. */
static void test_the_nearest_and_the_fastest_is_named(void **state)
{
	struct unit_machine master;

	(void)state;
	begin(&master, 7);
	seek(&master, 1, DLSI_SEEK_HAS, 0, 0);
	seek(&master, 2, DLSI_SEEK_HAS, 0, 0);
	seek(&master, 4, DLSI_SEEK_WANTS, 0, 0);
	assert_int_equal(found(&master, 4), 2);
	seek(&master, 4, DLSI_SEEK_HAS, 100, 5000000000);
	seek(&master, 6, DLSI_SEEK_WANTS, 0, 0); /* 4 was not tried, 2 was slow */
	assert_int_equal(found(&master, 6), 4);
	seek(&master, 6, DLSI_SEEK_GAVE_UP, 0, 0);
	seek(&master, 3, DLSI_SEEK_WANTS, 0, 0);
	assert_int_equal(found(&master, 3), 1);
	seek(&master, 3, DLSI_SEEK_HAS, 100, 7000000000);
	seek(&master, 6, DLSI_SEEK_WANTS, 0, 0);
	assert_int_equal(found(&master, 6), 4);
	seek(&master, 6, DLSI_SEEK_HAS, 100, 9000000000);
	seek(&master, 5, DLSI_SEEK_WANTS, 0, 0); /* of the same machine 3 was not tried */
	assert_int_equal(found(&master, 5), 3);
	seek(&master, 5, DLSI_SEEK_HAS, 100, 1000000000);
	seek(&master, 7, DLSI_SEEK_WANTS, 0, 0);
	assert_int_equal(found(&master, 7), 5);
	seek(&master, 7, DLSI_SEEK_HAS, 100, 8000000000);
	unit_machine_fini(&master);
}

/* Of a job that is over nothing is known but that its client may still have the model. */
static void test_job_that_is_over(void **state)
{
	struct dlsi_record cancel = {.kind = DLSI_CANCEL}, record;
	struct unit_machine master;

	(void)state;
	begin(&master, 1);
	cancel.cancel.job = unit_id(1);
	unit_machine_say(&master, CLIENT, cancel);
	seek(&master, 1, DLSI_SEEK_WANTS, 0, 0);
	assert_true(unit_machine_says(&master, 1, DLSI_FOUND, 0, &record));
	assert_int_equal(record.found.holder.length, 0);
	assert_true(dlsi_id_is_zero(&record.found.token));
	unit_machine_fini(&master);
}

UNIT_MAIN(test_spreads_from_worker_to_worker, test_who_fails_is_not_named_again,
	test_who_reaches_no_worker_gets_it_from_the_client, test_who_is_lost_gives_nothing_and_waits_for_nothing,
	test_the_nearest_and_the_fastest_is_named, test_job_that_is_over)
