/* What a master answers about jobs: one by its name, lists page by page, those that have ended, and what has changed.
 */
#include "base/limits.h"
#include "test/unit/commands.h"
#include "test/unit/unit.h"
#include <stdio.h>
#include <string.h>

enum { WORKER = 1, OTHER };

static void begin(struct unit_machine *master)
{
	unit_master_init(master, unit_alloc(), false);
	unit_register_asker(master);
}

/* Job n has an id that begins with n as 8 digits. */
static struct dlsi_id id_of(uint32_t n)
{
	return (struct dlsi_id){{(uint8_t)(n >> 24), (uint8_t)(n >> 16), (uint8_t)(n >> 8), (uint8_t)n, 0xab}};
}

static void submit(struct unit_machine *master, uint32_t slot, uint32_t n, uint64_t items)
{
	struct dlsi_record record = unit_submit(1, 0, items);

	record.submit.job = record.submit.token = id_of(n);
	unit_machine_say(master, slot, record);
}

static void cancel(struct unit_machine *master, uint32_t n)
{
	struct dlsi_record record = {.kind = DLSI_CANCEL};

	record.cancel.job = id_of(n);
	unit_machine_say(master, UNIT_ASKER, record);
}

static void test_names_of_jobs(void **state)
{
	struct unit_machine master;
	cJSON *answer;

	(void)state;
	begin(&master);
	submit(&master, UNIT_ASKER, 0x12345678, 5);
	submit(&master, UNIT_ASKER, 0x1234567a, 6);
	for (size_t digits = 8; digits <= 32; digits++) {
		answer = unit_ask(&master, "{\"command\":\"job\",\"job\":\"%.*s\"}", (int)digits,
			"1234567AAB0000000000000000000000");
		assert_int_equal((int)unit_number(answer, "items"), 6);
		assert_string_equal(unit_text(answer, "job"), "1234567aab0000000000000000000000");
		cJSON_Delete(answer);
	}
	unit_ask_in_vain(&master, "{\"command\":\"job\",\"job\":\"1234567\"}", DLS_EINVAL, "at least the first 8");
	unit_ask_in_vain(&master, "{\"command\":\"job\",\"job\":\"12345678x\"}", DLS_EINVAL, "names no job");
	unit_ask_in_vain(&master, "{\"command\":\"job\",\"job\":\"1234567aab00000000000000000000001\"}", DLS_EINVAL,
		"names no job");
	unit_ask_in_vain(&master, "{\"command\":\"job\"}", DLS_EINVAL, "names no job");
	unit_ask_in_vain(&master, "{\"command\":\"job\",\"job\":\"12345679\"}", DLS_ENOTFOUND, "knows no job 12345679");
	unit_ask_in_vain(&master, "{\"command\":\"job\",\"job\":\"1234567aab0000000000000000000001\"}", DLS_ENOTFOUND,
		"knows no job");
	unit_machine_fini(&master);
}

static void test_beginning_of_two_jobs(void **state)
{
	struct unit_machine master;
	struct dlsi_record record = unit_submit(1, 0, 7);
	cJSON *answer;

	(void)state;
	begin(&master);
	submit(&master, UNIT_ASKER, 0x12345678, 5);
	record.submit.job = id_of(0x12345678);
	record.submit.job.bytes[4] = 0xac;
	unit_machine_say(&master, UNIT_ASKER, record);
	unit_ask_in_vain(&master, "{\"command\":\"job\",\"job\":\"12345678\"}", DLS_ENOTFOUND, "give more digits");
	unit_ask_in_vain(&master, "{\"command\":\"job\",\"job\":\"12345678a\"}", DLS_ENOTFOUND, "give more digits");
	answer = unit_ask(&master, "{\"command\":\"job\",\"job\":\"12345678ac\"}");
	assert_int_equal((int)unit_number(answer, "items"), 7);
	cJSON_Delete(answer);
	cancel(&master, 0x12345678); /* one of the two has ended: still there are two */
	unit_ask_in_vain(&master, "{\"command\":\"job\",\"job\":\"12345678\"}", DLS_ENOTFOUND, "give more digits");
	submit(&master, UNIT_ASKER, 0x12345678, 9); /* again under its key: the one that lives is meant */
	answer = unit_ask(&master, "{\"command\":\"job\",\"job\":\"12345678ab\"}");
	assert_string_equal(unit_text(answer, "state"), "active");
	cJSON_Delete(answer);
	cancel(&master, 0x12345678);
	answer = unit_ask(&master, "{\"command\":\"job\",\"job\":\"12345678ab\"}");
	assert_int_equal((int)unit_number(answer, "items"), 9);
	assert_string_equal(unit_text(answer, "state"), "cancelled");
	assert_string_equal(unit_text(answer, "error"), "DLS_ECANCELLED");
	cJSON_Delete(answer);
	unit_machine_fini(&master);
}

/* The other way round. */
static uint32_t number_of(const char *id)
{
	uint8_t bytes[DLSI_ID_BYTES];

	assert_true(dlsi_unhex(id, sizeof bytes, bytes));
	return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* Walks over all pages and counts how often job n is there. `between`, if given, is called after each page. Returns the
 * number of pages. */
static unsigned walk(struct unit_machine *master, const char *filter, unsigned limit, uint8_t *seen,
	void (*between)(struct unit_machine *master, const char *last))
{
	char after[128] = "";
	unsigned pages = 0;
	bool more;

	do {
		cJSON *page = unit_ask(master, "{\"command\":\"jobs\",\"limit\":%u%s%s}", limit, filter, after);
		const cJSON *next = cJSON_GetObjectItem(page, "next"), *job;
		const char *last = NULL;

		assert_true((unsigned)cJSON_GetArraySize(unit_array(page, "jobs")) <= limit);
		cJSON_ArrayForEach (job, unit_array(page, "jobs")) {
			last = unit_text(job, "job");
			seen[number_of(last)]++;
		}
		more = next;
		if (more)
			snprintf(after, sizeof after, ",\"after\":\"%s\"", next->valuestring);
		if (more && between && last)
			between(master, last);
		cJSON_Delete(page);
		pages++;
	} while (more);
	return pages;
}

static void cancel_last(struct unit_machine *master, const char *last)
{
	struct dlsi_record record = {.kind = DLSI_CANCEL};

	dlsi_unhex(last, DLSI_ID_BYTES, record.cancel.job.bytes);
	unit_machine_say(master, UNIT_ASKER, record);
}

/* Whatever happens to the jobs between two pages, those that stay are listed once. */
static void test_pages(void **state)
{
	enum { JOBS = 600 };
	struct unit_machine master;
	uint8_t seen[JOBS] = {0};

	(void)state;
	begin(&master);
	for (uint32_t n = 0; n < JOBS; n++)
		submit(&master, UNIT_ASKER, n, 1);
	assert_int_equal(walk(&master, "", 100, seen, NULL), 6);
	for (uint32_t n = 0; n < JOBS; n++)
		assert_int_equal(seen[n], 1);
	memset(seen, 0, sizeof seen);
	assert_int_equal(walk(&master, "", 7, seen, cancel_last), (JOBS + 6) / 7);
	for (uint32_t n = 0; n < JOBS; n++)
		assert_int_equal(seen[n], 1);
	memset(seen, 0, sizeof seen);
	walk(&master, ",\"state\":\"all\"", 100, seen, NULL); /* those that were cancelled come at the end */
	for (uint32_t n = 0; n < JOBS; n++)
		assert_int_equal(seen[n], 1);
	unit_ask_in_vain(&master, "{\"command\":\"jobs\",\"after\":\"l12\"}", DLS_EINVAL, "\"after\"");
	unit_ask_in_vain(&master, "{\"command\":\"jobs\",\"after\":\"x0000000000000000\"}", DLS_EINVAL, "\"after\"");
	unit_ask_in_vain(&master, "{\"command\":\"jobs\",\"state\":\"odd\"}", DLS_EINVAL, "\"odd\"");
	unit_ask_in_vain(&master, "{\"command\":\"jobs\",\"limit\":0}", DLS_EINVAL, "\"limit\"");
	unit_machine_fini(&master);
}

/* A page looks at so many jobs and no more, however few of them are listed. */
static void test_filters(void **state)
{
	enum { JOBS = 3 * DLSI_LOOKED_AT / 2 };
	static uint8_t seen[JOBS + 1];
	struct unit_machine master;
	struct dlsi_record record = {.kind = DLSI_REGISTER};

	(void)state;
	begin(&master);
	record.reg = (struct dlsi_register){.role = DLSI_ROLE_CLIENT,
		.version_low = 1,
		.version_high = 1,
		.incarnation = 77,
		.name = dlsi_text_of("other"),
		.host = dlsi_text_of("host")};
	unit_machine_tell(&master, OTHER, &record, 1);
	unit_machine_say(&master, OTHER, unit_spec(0, "{\"handler\":\"work\"}"));
	for (uint32_t n = 0; n < JOBS; n++)
		submit(&master, UNIT_ASKER, n, 1);
	submit(&master, OTHER, JOBS, 1);
	memset(seen, 0, sizeof seen);
	assert_int_equal(walk(&master, ",\"tenant\":\"other\"", 256, seen, NULL), 2);
	for (uint32_t n = 0; n <= JOBS; n++)
		assert_int_equal(seen[n], n == JOBS);
	memset(seen, 0, sizeof seen);
	walk(&master, ",\"state\":\"cancelled\"", 256, seen, NULL);
	for (uint32_t n = 0; n <= JOBS; n++)
		assert_int_equal(seen[n], 0);
	unit_machine_fini(&master);
}

/* The last to end are remembered, and no more. */
static void test_jobs_that_have_ended(void **state)
{
	enum { MORE = 10, JOBS = DLSI_ENDED_JOBS + MORE };
	static uint8_t seen[JOBS];
	struct unit_machine master;

	(void)state;
	begin(&master);
	for (uint32_t n = 0; n < JOBS; n++) {
		submit(&master, UNIT_ASKER, n, 1);
		cancel(&master, n);
	}
	memset(seen, 0, sizeof seen);
	walk(&master, ",\"state\":\"ended\"", 256, seen, NULL);
	for (uint32_t n = 0; n < JOBS; n++)
		assert_int_equal(seen[n], n >= MORE);
	unit_machine_fini(&master);
}

static const cJSON *task_at(const cJSON *answer, int i)
{
	return cJSON_GetArrayItem(unit_array(answer, "tasks"), i);
}

static void test_tasks_of_a_job(void **state)
{
	struct unit_machine master;
	struct dlsi_assign assign;
	struct dlsi_record result;
	cJSON *answer;

	(void)state;
	begin(&master);
	unit_machine_say(&master, UNIT_ASKER, unit_spec(1, "{\"handler\":\"work\",\"task_items\":2}"));
	unit_register_worker(&master, WORKER, 10, "one", 2, "work");
	unit_machine_say(&master, UNIT_ASKER, unit_submit(0x77, 1, 10));
	assign = unit_assigned(&master, WORKER, 0);
	unit_machine_wait(&master, 30 * UNIT_MS);
	answer = unit_ask(&master, "{\"command\":\"job\",\"job\":\"77000000\"}");
	assert_int_equal((int)unit_number(answer, "running"), 4);
	assert_int_equal((int)unit_number(answer, "waiting"), 6);
	assert_int_equal((int)unit_number(answer, "task_count"), 2);
	assert_string_equal(unit_text(task_at(answer, 0), "state"), "running");
	assert_string_equal(unit_text(task_at(answer, 1), "state"), "queued");
	assert_string_equal(unit_text(task_at(answer, 1), "worker"), "one");
	assert_int_equal((int)unit_number(task_at(answer, 0), "since_ms"), 30);
	assert_false(cJSON_HasObjectItem(answer, "expected_ms")); /* nothing is measured yet */
	cJSON_Delete(answer);
	result = unit_result(&assign, 100, false);
	result.result.elapsed_ns = 30 * UNIT_MS; /* 15 ms an item */
	unit_machine_say(&master, WORKER, result);
	unit_machine_wait(&master, 10 * UNIT_MS);
	answer = unit_ask(&master, "{\"command\":\"job\",\"job\":\"77000000\",\"limit\":2}");
	assert_int_equal((int)unit_number(answer, "returned"), 2);
	assert_int_equal((int)unit_number(answer, "task_count"), 3);
	assert_int_equal(cJSON_GetArraySize(unit_array(answer, "tasks")), 2);
	assert_string_equal(unit_text(task_at(answer, 0), "state"), "returned");
	assert_string_equal(unit_text(task_at(answer, 1), "state"), "running");
	assert_int_equal((int)unit_number(task_at(answer, 1), "since_ms"), 10);
	assert_int_equal((int)unit_number(task_at(answer, 1), "expected_ms"), 20);
	assert_int_equal((int)unit_number(answer, "expected_ms"), 8 * 15);
	cJSON_Delete(answer);
	unit_machine_fini(&master);
}

static void test_changes(void **state)
{
	struct unit_machine master;
	char next[32];
	cJSON *answer;

	(void)state;
	begin(&master);
	submit(&master, UNIT_ASKER, 1, 5);
	answer = unit_ask(&master, "{\"command\":\"changes\"}");
	assert_false(cJSON_HasObjectItem(answer, "jobs"));
	snprintf(next, sizeof next, "%s", unit_text(answer, "next"));
	cJSON_Delete(answer);
	for (uint32_t n = 2; n < 6; n++)
		submit(&master, UNIT_ASKER, n, 5);
	cancel(&master, 3);
	cancel(&master, 1);
	answer = unit_ask(&master, "{\"command\":\"changes\",\"after\":\"%s\",\"limit\":3}", next);
	assert_int_equal(cJSON_GetArraySize(unit_array(answer, "jobs")), 3);
	snprintf(next, sizeof next, "%s", unit_text(answer, "next"));
	cJSON_Delete(answer);
	answer = unit_ask(&master, "{\"command\":\"changes\",\"after\":\"%s\"}", next);
	assert_int_equal(cJSON_GetArraySize(unit_array(answer, "jobs")), 2);
	assert_string_equal(unit_text(cJSON_GetArrayItem(unit_array(answer, "jobs"), 0), "state"), "cancelled");
	assert_memory_equal(unit_text(cJSON_GetArrayItem(unit_array(answer, "jobs"), 1), "job"), "00000001", 8);
	snprintf(next, sizeof next, "%s", unit_text(answer, "next"));
	cJSON_Delete(answer);
	answer = unit_ask(&master, "{\"command\":\"changes\",\"after\":\"%s\"}", next);
	assert_int_equal(cJSON_GetArraySize(unit_array(answer, "jobs")), 0);
	assert_string_equal(unit_text(answer, "next"), next);
	cJSON_Delete(answer);
	unit_machine_fini(&master);
}

/* Long answers are bounded together: a client that asks too much at once is told to ask again. */
static void test_many_long_answers(void **state)
{
	enum { COMMANDS = 16 };
	static const char json[] = "{\"command\":\"jobs\"}";
	struct dlsi_record commands[COMMANDS], record;
	struct unit_machine master;
	uint64_t bytes = 0;

	(void)state;
	begin(&master);
	for (uint32_t n = 0; n < DLSI_LISTED; n++)
		submit(&master, UNIT_ASKER, n, 1);
	for (int i = 0; i < COMMANDS; i++) {
		commands[i] = (struct dlsi_record){.kind = DLSI_COMMAND};
		commands[i].command.json = (struct dlsi_bytes){(const uint8_t *)json, sizeof json - 1};
	}
	unit_machine_tell(&master, UNIT_ASKER, commands, COMMANDS);
	for (unsigned i = 0; i < COMMANDS; i++) {
		assert_true(unit_machine_says(&master, UNIT_ASKER, DLSI_REPLY, i, &record));
		bytes += record.reply.json.length;
	}
	assert_int_equal(record.reply.code, DLS_EBUSY);
	assert_in_range(bytes, DLSI_ANSWERED_BYTES, 2 * DLSI_ANSWERED_BYTES);
	cJSON_Delete(unit_ask(&master, "{\"command\":\"jobs\"}"));
	unit_machine_fini(&master);
}

UNIT_MAIN(test_names_of_jobs, test_beginning_of_two_jobs, test_pages, test_filters, test_jobs_that_have_ended,
	test_tasks_of_a_job, test_changes, test_many_long_answers)
