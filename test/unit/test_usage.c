/* What tenants have used, and that it is remembered as long as there is room. */
#include "base/limits.h"
#include "test/unit/commands.h"
#include "test/unit/unit.h"
#include <stdio.h>
#include <string.h>

enum { CLIENT, WORKER, FIRST_STRANGER }; /* slots of peers */

/* The client, which goes and comes, submits for this tenant. */
static void register_for(struct unit_machine *master, uint32_t slot, uint64_t incarnation, const char *tenant)
{
	struct dlsi_record record = {.kind = DLSI_REGISTER};

	record.reg = (struct dlsi_register){.role = DLSI_ROLE_CLIENT,
		.version_low = 1,
		.version_high = 1,
		.incarnation = incarnation,
		.name = dlsi_text_of(tenant),
		.host = dlsi_text_of("host"),
		.data_endpoint = dlsi_text_of("")};
	unit_machine_say(master, slot, record);
	unit_machine_say(master, slot, unit_spec(0, "{\"handler\":\"work\",\"task_items\":4}"));
}

static void leave(struct unit_machine *master, uint32_t slot)
{
	unit_machine_say(master, slot, (struct dlsi_record){.kind = DLSI_LEAVE});
}

static void begin(struct unit_machine *master)
{
	unit_master_init(master, unit_alloc(), false);
	unit_register_asker(master);
	unit_register_worker(master, WORKER, 10, "one", 8, "work");
}

/* A job of four items, one of which fails, of a tenant that then goes. */
static void work_for(struct unit_machine *master, uint64_t incarnation, const char *tenant)
{
	struct dlsi_assign task;
	struct dlsi_record result;

	register_for(master, CLIENT, incarnation, tenant);
	unit_machine_say(master, CLIENT, unit_submit(1, 0, 4));
	task = unit_assigned(master, WORKER, 0);
	result = unit_result(&task, 100, false);
	result.result.failed = 1;
	result.result.elapsed_ns = 1500000000;
	master->now_ns += 1500000000;
	unit_machine_say(master, WORKER, result);
	unit_ack(master, CLIENT, 1, &task.attempt, 1, NULL, 0);
	leave(master, CLIENT);
}

static cJSON *ask_for(struct unit_machine *master, const char *tenant)
{
	cJSON *answer = unit_ask(master, "{\"command\":\"tenants\",\"name\":\"%s\"}", tenant);
	cJSON *entry = cJSON_DetachItemFromArray((cJSON *)unit_array(answer, "tenants"), 0);

	cJSON_Delete(answer);
	return entry;
}

static void test_counts_what_was_used(void **state)
{
	struct unit_machine master;
	cJSON *entry;

	(void)state;
	begin(&master);
	work_for(&master, 1, "anna");
	work_for(&master, 2, "anna");
	entry = ask_for(&master, "anna");
	assert_string_equal(unit_text(entry, "tenant"), "anna");
	assert_int_equal(unit_number(entry, "jobs"), 2);
	assert_int_equal(unit_number(entry, "live_jobs"), 0);
	assert_int_equal(unit_number(entry, "items"), 8);
	assert_int_equal(unit_number(entry, "failed"), 2);
	assert_int_equal(unit_number(entry, "device_seconds"), 3);
	assert_int_equal(unit_number(entry, "input_bytes"), 200);
	assert_int_equal(unit_number(entry, "result_bytes"), 200);
	cJSON_Delete(entry);
	unit_machine_fini(&master);
}

static void test_tells_what_is_held_and_set(void **state)
{
	struct unit_machine master;
	cJSON *entry;

	(void)state;
	begin(&master);
	cJSON_Delete(
		unit_ask(&master, "{\"command\":\"tenant\",\"name\":\"anna\",\"weight\":3,\"quota\":{\"devices\":5}}"));
	register_for(&master, CLIENT, 1, "anna");
	unit_machine_say(&master, CLIENT, unit_submit(1, 0, 8));
	entry = ask_for(&master, "anna");
	assert_int_equal(unit_number(entry, "weight"), 3);
	assert_int_equal(unit_number(cJSON_GetObjectItem(entry, "quota"), "devices"), 5);
	assert_int_equal(unit_number(cJSON_GetObjectItem(entry, "holds"), "devices"), 2);
	assert_int_equal(unit_number(entry, "live_jobs"), 1);
	cJSON_Delete(entry);
	unit_ask_in_vain(&master, "{\"command\":\"tenants\",\"name\":\"nobody\"}", DLS_ENOTFOUND,
		"the master knows no tenant \"nobody\"");
	unit_machine_fini(&master);
}

/* Who has used nothing is not remembered; who has, until others take all places, the oldest first. */
static void test_remembers_as_many_as_there_is_room_for(void **state)
{
	struct unit_machine master;
	char name[16];

	(void)state;
	begin(&master);
	register_for(&master, CLIENT, 1, "idle");
	leave(&master, CLIENT);
	unit_ask_in_vain(&master, "{\"command\":\"tenants\",\"name\":\"idle\"}", DLS_ENOTFOUND, "idle");
	work_for(&master, 2, "first");
	work_for(&master, 3, "second");
	for (unsigned i = 0; i < DLSI_TENANTS_KEPT; i++) {
		snprintf(name, sizeof name, "t%u", i);
		cJSON_Delete(unit_ask(&master, "{\"command\":\"tenant\",\"name\":\"%s\",\"weight\":2}", name));
	}
	for (unsigned i = 0; i < DLSI_TENANTS - DLSI_TENANTS_KEPT - 2; i++) { /* the asker has a place too */
		snprintf(name, sizeof name, "u%u", i);
		work_for(&master, 10000 + i, name);
	}
	unit_ask_in_vain(&master, "{\"command\":\"tenants\",\"name\":\"first\"}", DLS_ENOTFOUND, "first");
	cJSON_Delete(ask_for(&master, "second"));
	unit_machine_fini(&master);
}

static void test_lists_page_after_page(void **state)
{
	struct unit_machine master;
	char after[64] = "", name[16];
	unsigned seen = 0;
	bool more = true;

	(void)state;
	begin(&master);
	for (unsigned i = 0; i < 600; i++) {
		snprintf(name, sizeof name, "t%u", i);
		cJSON_Delete(unit_ask(&master, "{\"command\":\"tenant\",\"name\":\"%s\",\"weight\":2}", name));
	}
	while (more) {
		cJSON *answer = unit_ask(&master, "{\"command\":\"tenants\"%s}", after);

		assert_true(cJSON_GetArraySize(unit_array(answer, "tenants")) <= DLSI_LISTED);
		seen += (unsigned)cJSON_GetArraySize(unit_array(answer, "tenants"));
		more = cJSON_HasObjectItem(answer, "next");
		if (more)
			snprintf(after, sizeof after, ",\"after\":\"%s\"", unit_text(answer, "next"));
		cJSON_Delete(answer);
	}
	assert_int_equal(seen, 601);
	unit_machine_fini(&master);
}

UNIT_MAIN(test_counts_what_was_used, test_tells_what_is_held_and_set, test_remembers_as_many_as_there_is_room_for,
	test_lists_page_after_page)
