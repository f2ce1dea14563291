/* What all clients share in a master's memory: one that takes all it can is told why it gets no more, and when to ask
 * again; others still find room. */
#include "base/limits.h"
#include "proto/bytes.h"
#include "test/unit/machine.h"
#include "test/unit/unit.h"
#include <stdio.h>
#include <string.h>

enum { GREEDY, MODEST };                                                         /* slots of clients */
enum { JOBS = 4096, JOB_BYTES = DLSI_JOB_BYTES + 100, ROOM = JOBS * JOB_BYTES }; /* 100 are a job's inputs */

static void begin(struct unit_machine *master, uint64_t room)
{
	unit_small_master_init(master, room);
	for (uint32_t slot = GREEDY; slot <= MODEST; slot++) {
		unit_register_client(master, slot, 10 + slot);
		unit_machine_say(master, slot, unit_spec(0, "{\"handler\":\"work\"}"));
	}
}

/* Submits the client's n-th job; the code of its refusal, or 0. */
static int submit(struct unit_machine *master, uint32_t slot, uint32_t n, struct dlsi_record record)
{
	record.submit.job.bytes[8] = (uint8_t)(1 + slot);
	dlsi_put_u32(record.submit.job.bytes, n);
	unit_machine_say(master, slot, record);
	return unit_refusal(master, slot);
}

/* How many jobs a client can submit until it is refused for now, with a sentence that has these words. */
static uint32_t fill(struct unit_machine *master, uint32_t slot, const char *words)
{
	struct dlsi_record refused;
	char sentence[DLSI_SENTENCE_BYTES + 1];
	uint32_t n = 0;

	while (submit(master, slot, n, unit_submit(0, 0, 10)) == 0)
		n++;
	assert_true(unit_machine_says(master, slot, DLSI_REFUSED, 0, &refused));
	assert_int_equal(refused.refused.code, DLS_EBUSY);
	assert_int_equal(refused.refused.retry_after_ms, 1000);
	snprintf(
		sentence, sizeof sentence, "%.*s", (int)refused.refused.sentence.length, refused.refused.sentence.data);
	assert_non_null(strstr(sentence, words));
	return n;
}

static void test_jobs(void **state)
{
	struct dlsi_record cancel = {.kind = DLSI_CANCEL};
	struct unit_machine master;

	(void)state;
	begin(&master, ROOM);
	assert_int_equal(fill(&master, GREEDY, "as much room"), JOBS / 2);
	assert_int_equal(fill(&master, MODEST, "as much room"), JOBS / 4);
	cancel.cancel.job.bytes[8] = 1 + GREEDY;
	for (uint32_t n = 0; n < JOBS / 4; n++) { /* what ends is room again */
		dlsi_put_u32(cancel.cancel.job.bytes, n);
		unit_machine_say(&master, GREEDY, cancel);
	}
	assert_int_equal(submit(&master, MODEST, JOBS, unit_submit(0, 0, 10)), 0);
	unit_machine_fini(&master);
}

/* What a job says of itself and its inputs count. */
static void test_bytes(void **state)
{
	static const char about[] = "{\"name\":\"a job with a name and some tags\",\"tags\":[\"a\",\"b\",\"c\"]}";
	struct dlsi_record named = unit_submit(0, 0, 10);
	struct unit_machine master;
	uint32_t n = 0;

	(void)state;
	begin(&master, ROOM);
	master.frame_bytes = DLSI_INLINE_BYTES;
	assert_int_equal(fill(&master, GREEDY, "as much room"), ROOM / (DLSI_JOB_BYTES + DLSI_INLINE_BYTES) / 2);
	master.frame_bytes = 100;
	named.submit.about = (struct dlsi_bytes){(const uint8_t *)about, sizeof about - 1};
	while (submit(&master, MODEST, n, named) == 0)
		n++;
	assert_in_range(n, 1, ROOM / (JOB_BYTES + sizeof about - 1) / 4 + 64);
	unit_machine_fini(&master);
}

/* A specification of full length that differs from others by its number. */
static void say_spec(struct unit_machine *master, uint32_t slot, uint32_t n, char json[DLSI_SPEC_BYTES + 1])
{
	static const char before[] = "{\"handler\":\"work\",\"params\":{\"n\":\"";
	char number[16];

	memset(json, ' ', DLSI_SPEC_BYTES);
	memcpy(json, before, sizeof before - 1);
	snprintf(number, sizeof number, "%08u", n);
	memcpy(json + sizeof before - 1, number, 8);
	memcpy(json + DLSI_SPEC_BYTES - 3, "\"}}", 4);
	unit_machine_say(master, slot, unit_spec(0, json));
}

/* Every job of a client may have another specification, under a number that is given again. The one that finds no room
 * finds it later, when it is sent again. */
static void test_specifications(void **state)
{
	const uint64_t most = DLSI_SPECS_BYTES / DLSI_SPEC_BYTES / 2;
	char *json = test_malloc(DLSI_SPEC_BYTES + 1);
	struct dlsi_record cancel = {.kind = DLSI_CANCEL}, refused;
	struct unit_machine master;
	uint32_t n = 0;
	int code;

	(void)state;
	begin(&master, 0);
	do {
		say_spec(&master, GREEDY, n, json);
		code = submit(&master, GREEDY, n, unit_submit(0, 0, 10));
	} while (code == 0 && n++ <= most);
	assert_int_equal(code, DLS_EBUSY);
	assert_true(unit_machine_says(&master, GREEDY, DLSI_REFUSED, 0, &refused));
	assert_int_equal(refused.refused.retry_after_ms, 1000);
	assert_in_range(n, most - 1, most);
	say_spec(&master, MODEST, 1 << 20, json);
	assert_int_equal(submit(&master, MODEST, 0, unit_submit(0, 0, 10)), 0);
	cancel.cancel.job.bytes[8] = 1 + GREEDY;
	unit_machine_say(&master, GREEDY, cancel);
	say_spec(&master, GREEDY, n, json);
	assert_int_equal(submit(&master, GREEDY, n, unit_submit(0, 0, 10)), 0);
	unit_machine_fini(&master);
	test_free(json);
}

/* A client that claims to have every second item of many jobs. */
static void test_ranges(void **state)
{
	const uint32_t most = DLSI_DONE_RANGES / 2 / DLSI_RECEIVED_RANGES;
	struct dlsi_record record = unit_submit(0, 0, 4 * DLSI_RECEIVED_RANGES);
	struct unit_machine master;
	struct dlsi_buffer numbers;

	(void)state;
	dlsi_buffer_init(&numbers, unit_alloc());
	for (uint64_t i = 0; i < DLSI_RECEIVED_RANGES; i++) {
		dlsi_write_u64(&numbers, 2 * i);
		dlsi_write_u64(&numbers, 2 * i + 1);
	}
	record.submit.received = (struct dlsi_numbers){numbers.data, 2 * DLSI_RECEIVED_RANGES};
	begin(&master, 0);
	for (uint32_t n = 0; n < most + 10; n++)
		assert_int_equal(submit(&master, GREEDY, n, record), 0);
	assert_true(dlsi_master_counts(master.core).presented_items <= (uint64_t)most * DLSI_RECEIVED_RANGES);
	assert_int_equal(submit(&master, MODEST, 0, record), 0);
	assert_true(dlsi_master_counts(master.core).presented_items > (uint64_t)most * DLSI_RECEIVED_RANGES);
	unit_machine_fini(&master);
	dlsi_buffer_fini(&numbers);
}

UNIT_MAIN(test_jobs, test_bytes, test_specifications, test_ranges)
