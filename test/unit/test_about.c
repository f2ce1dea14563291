/* What a submission says of its job alone: found by name and tag, shown while it lives and afterwards, and refused with
 * a sentence where it is wrong. */
#include "test/unit/commands.h"
#include "test/unit/unit.h"
#include <stdio.h>
#include <string.h>

static void begin(struct unit_machine *master)
{
	unit_master_init(master, unit_alloc(), false);
	unit_register_asker(master);
}

static void submit(struct unit_machine *master, uint8_t job, const char *about)
{
	struct dlsi_record record = unit_submit(job, 0, 1);

	record.submit.about = (struct dlsi_bytes){(const uint8_t *)about, (uint32_t)strlen(about)};
	unit_machine_say(master, UNIT_ASKER, record);
}

/* How many jobs the list has; `first` is the first byte of the first one's id. */
static int list(struct unit_machine *master, const char *question, uint8_t *first)
{
	cJSON *answer = unit_ask(master, "%s", question), *jobs = cJSON_GetObjectItem(answer, "jobs");
	int count = cJSON_GetArraySize(jobs);
	unsigned byte = 0;

	if (count)
		sscanf(cJSON_GetObjectItem(cJSON_GetArrayItem(jobs, 0), "job")->valuestring, "%2x", &byte);
	*first = (uint8_t)byte;
	cJSON_Delete(answer);
	return count;
}

static void test_jobs_are_found_by_name_and_tag(void **state)
{
	struct unit_machine master;
	uint8_t first;

	(void)state;
	begin(&master);
	submit(&master, 1, "{\"name\":\"night\",\"tags\":[\"a\",\"b\"]}");
	submit(&master, 2, "{\"tags\":[\"b\"]}");
	submit(&master, 3, "");
	assert_int_equal(list(&master, "{\"command\":\"jobs\"}", &first), 3);
	assert_int_equal(list(&master, "{\"command\":\"jobs\",\"tag\":\"b\"}", &first), 2);
	assert_int_equal(list(&master, "{\"command\":\"jobs\",\"tag\":\"a\"}", &first), 1);
	assert_int_equal(first, 1);
	assert_int_equal(list(&master, "{\"command\":\"jobs\",\"name\":\"night\",\"tag\":\"b\"}", &first), 1);
	assert_int_equal(list(&master, "{\"command\":\"jobs\",\"name\":\"day\"}", &first), 0);
	unit_machine_fini(&master);
}

static void test_they_are_still_there_when_it_has_ended(void **state)
{
	struct dlsi_record cancel = {.kind = DLSI_CANCEL, .cancel.job = unit_id(1)};
	struct unit_machine master;
	uint8_t first;
	cJSON *answer;

	(void)state;
	begin(&master);
	submit(&master, 1, "{\"name\":\"night\",\"tags\":[\"a\",\"b\"]}");
	unit_machine_say(&master, UNIT_ASKER, cancel);
	assert_int_equal(list(&master, "{\"command\":\"jobs\",\"state\":\"ended\",\"tag\":\"b\"}", &first), 1);
	answer = unit_ask(&master, "{\"command\":\"job\",\"job\":\"01000000000000000000000000000000\"}");
	assert_string_equal(cJSON_GetObjectItem(answer, "name")->valuestring, "night");
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(answer, "tags")), 2);
	cJSON_Delete(answer);
	unit_machine_fini(&master);
}

static void assert_refused(const char *about, int code, const char *part)
{
	struct unit_machine master;
	struct dlsi_record record;

	begin(&master);
	submit(&master, 1, about);
	assert_int_equal(unit_refusal(&master, UNIT_ASKER), code);
	assert_true(unit_machine_says(&master, UNIT_ASKER, DLSI_REFUSED, 0, &record));
	assert_int_equal(record.refused.retry_after_ms, 0);
	if (!memmem(record.refused.sentence.data, record.refused.sentence.length, part, strlen(part)))
		fail_msg("\"%.*s\" does not say \"%s\"", (int)record.refused.sentence.length,
			record.refused.sentence.data, part);
	unit_machine_fini(&master);
}

static void test_refuses_what_is_wrong(void **state)
{
	char text[600], name[300];

	(void)state;
	memset(name, 'n', sizeof name);
	name[256] = '\0';
	snprintf(text, sizeof text, "{\"name\":\"%s\"}", name);
	assert_refused(text, DLS_EINVAL, "the name of a job has 256 bytes; it may have 255");
	name[64] = '\0';
	snprintf(text, sizeof text, "{\"tags\":[\"%s\"]}", name);
	assert_refused(text, DLS_EINVAL, "a tag of a job is a text of 1 to 63 bytes");
	assert_refused("{\"tags\":[\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\","
		       "\"a\",\"a\",\"a\",\"a\"]}",
		DLS_ELIMIT, "the job has 17 tags; it may have 16");
	assert_refused("{\"tag\":[\"a\"]}", DLS_EINVAL, "tags");
	assert_refused("{", DLS_EFORMAT, "what the job says of itself");
}

UNIT_MAIN(test_jobs_are_found_by_name_and_tag, test_they_are_still_there_when_it_has_ended, test_refuses_what_is_wrong)
