/* What a master answers to commands: the facts, and answers that are bounded in number and size. */
#include "base/json.h"
#include "test/unit/machine.h"
#include "test/unit/unit.h"
#include <stdio.h>
#include <string.h>

enum { CLIENT, WORKER }; /* slots of peers */

static void begin(struct unit_machine *master)
{
	unit_master_init(master, unit_alloc(), false);
	unit_register_client(master, CLIENT, 1);
	unit_machine_say(master, CLIENT, unit_spec(0, "{\"handler\":\"work\"}"));
	unit_register_worker(master, WORKER, 10, "one", 8, "work");
}

static struct dlsi_record command(const char *json)
{
	struct dlsi_record record = {.kind = DLSI_COMMAND};

	record.command.number = 7;
	record.command.json = (struct dlsi_bytes){(const uint8_t *)json, (uint32_t)strlen(json)};
	return record;
}

static bool contains(const struct dlsi_record *reply, const char *text)
{
	return memmem(reply->reply.json.data, reply->reply.json.length, text, strlen(text)) != NULL;
}

static void take_turn(struct unit_machine *master, int64_t longest_ns, int64_t recent_ns)
{
	struct dlsi_event turn = {.kind = DLSI_EVENT_TURN, .turn = {.longest_ns = longest_ns, .recent_ns = recent_ns}};

	unit_machine_step(master, turn);
}

static void test_status_shows_labels_and_resources(void **state)
{
	struct dlsi_record labelled[] = {{.kind = DLSI_REGISTER}, {.kind = DLSI_DEVICE}, {.kind = DLSI_HANDLER},
		{.kind = DLSI_RESOURCE}, {.kind = DLSI_LABEL}};
	struct unit_machine master;
	struct dlsi_record record;

	(void)state;
	unit_master_init(&master, unit_alloc(), false);
	unit_register_client(&master, CLIENT, 1);
	labelled[0].reg = (struct dlsi_register){.role = DLSI_ROLE_WORKER,
		.version_low = 1,
		.version_high = 1,
		.incarnation = 2,
		.name = dlsi_text_of("one"),
		.host = dlsi_text_of("host")};
	labelled[1].device = (struct dlsi_device_offer){0, 8, 4, 1000, dlsi_text_of("cpu")};
	labelled[2].handler.name = dlsi_text_of("work");
	labelled[3].resource = (struct dlsi_resource_offer){dlsi_text_of("gpu"), 2500};
	labelled[4].label.name = dlsi_text_of("zone=a");
	unit_machine_tell(&master, WORKER, labelled, 5);
	unit_machine_say(&master, CLIENT, unit_spec(0, "{\"handler\":\"work\",\"resources\":{\"gpu\":0.5}}"));
	unit_machine_say(&master, CLIENT, unit_submit(1, 0, 1));
	unit_machine_say(&master, CLIENT, command("{\"command\":\"status\"}"));
	assert_true(unit_machine_says(&master, CLIENT, DLSI_REPLY, 0, &record));
	assert_true(contains(&record, "\"labels\":[\"zone=a\"]"));
	assert_true(contains(&record, "\"resources\":{\"devices\":1,\"cores\":4,\"memory_bytes\":1000,\"gpu\":2.5}"));
	assert_true(contains(&record, "\"reserved\":{\"devices\":1,\"cores\":0,\"memory_bytes\":0,\"gpu\":0.5}"));
	unit_machine_fini(&master);
}

static void test_commands(void **state)
{
	struct unit_machine master;
	struct dlsi_record record;
	cJSON *json;

	(void)state;
	begin(&master);
	take_turn(&master, 2500000, 2500000);
	take_turn(&master, 2500000, 1500000);
	unit_machine_say(&master, CLIENT, unit_submit(1, 0, 1));
	unit_machine_say(&master, CLIENT, command("{\"command\":\"status\"}"));
	assert_true(unit_machine_says(&master, CLIENT, DLSI_REPLY, 0, &record));
	assert_int_equal(record.reply.number, 7);
	assert_int_equal(record.reply.code, 0);
	assert_int_equal(
		dlsi_json_parse("it", record.reply.json.data, record.reply.json.length, 100000, &json, NULL), 0);
	assert_int_equal(cJSON_GetObjectItem(json, "jobs")->valueint, 1);
	assert_true(cJSON_GetObjectItem(json, "longest_turn_ms")->valuedouble == 2.5);
	assert_true(cJSON_GetObjectItem(json, "recent_turn_ms")->valuedouble == 1.5);
	assert_int_equal(cJSON_GetObjectItem(json, "worker_count")->valueint, 1);
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(json, "workers")), 1);
	cJSON_Delete(json);
	unit_machine_say(&master, CLIENT, command("{\"command\":\"jobs\"}"));
	assert_true(unit_machine_says(&master, CLIENT, DLSI_REPLY, 0, &record));
	assert_non_null(memmem(record.reply.json.data, record.reply.json.length, "\"active\"", 8));
	unit_machine_say(&master, CLIENT, command("{\"command\":\"sing\"}"));
	assert_true(unit_machine_says(&master, CLIENT, DLSI_REPLY, 0, &record));
	assert_int_equal(record.reply.code, DLS_EINVAL);
	unit_machine_say(&master, CLIENT, command("{}"));
	assert_true(unit_machine_says(&master, CLIENT, DLSI_REPLY, 0, &record));
	assert_int_equal(record.reply.code, DLS_EINVAL);
	unit_machine_fini(&master);
}

/* Answers are bounded in number and in size. */
static void test_many_commands_about_many_workers(void **state)
{
	enum { WORKERS = 400, DEVICES = 64, COMMANDS = 100 };
	static struct dlsi_record records[1 + DEVICES], commands[COMMANDS];
	struct unit_machine master;
	struct dlsi_record record;
	char name[200];
	unsigned good = 0;

	(void)state;
	begin(&master);
	for (unsigned i = 0; i < WORKERS; i++) {
		memset(name, 'n', sizeof name);
		snprintf(name, sizeof name, "%0199u", i);
		records[0] = (struct dlsi_record){.kind = DLSI_REGISTER};
		records[0].reg = (struct dlsi_register){.role = DLSI_ROLE_WORKER,
			.version_low = 1,
			.version_high = 1,
			.incarnation = 100 + i,
			.name = dlsi_text_of(name)};
		for (unsigned device = 0; device < DEVICES; device++) {
			records[1 + device] = (struct dlsi_record){.kind = DLSI_DEVICE};
			records[1 + device].device.index = (uint16_t)device;
			records[1 + device].device.name = dlsi_text_of(name);
		}
		unit_machine_tell(&master, 2 + i, records, 1 + DEVICES);
	}
	for (unsigned i = 0; i < COMMANDS; i++)
		commands[i] = command("{\"command\":\"status\"}");
	unit_machine_tell(&master, CLIENT, commands, COMMANDS);
	assert_int_equal(unit_machine_count(&master, CLIENT, DLSI_REPLY), COMMANDS);
	for (unsigned i = 0; i < COMMANDS; i++) {
		assert_true(unit_machine_says(&master, CLIENT, DLSI_REPLY, i, &record));
		good += record.reply.code == 0;
		assert_true(record.reply.code == 0 || record.reply.code == DLS_EBUSY);
	}
	assert_in_range(good, 1, 20);
	unit_machine_say(&master, CLIENT, commands[0]);
	assert_true(unit_machine_says(&master, CLIENT, DLSI_REPLY, 0, &record));
	assert_int_equal(record.reply.code, 0);
	unit_machine_fini(&master);
}

/* One result inside its message and one that the worker offers, and the list of inputs that it was sent. */
static void test_bytes_by_their_way(void **state)
{
	struct unit_machine master;
	struct dlsi_record results[2], record;
	struct dlsi_assign assigns[2];

	(void)state;
	begin(&master);
	unit_machine_say(&master, CLIENT, unit_spec(1, "{\"handler\":\"work\",\"task_items\":1}"));
	unit_machine_say(&master, CLIENT, unit_submit(0x12, 1, 2));
	for (unsigned i = 0; i < 2; i++)
		assigns[i] = unit_assigned(&master, WORKER, i);
	results[0] = unit_result(&assigns[0], master.frame_bytes, false);
	results[0].result.read_bytes = 1000;
	results[1] = unit_result(&assigns[1], 100000, true);
	results[1].result.read_bytes = 3000;
	unit_machine_tell(&master, WORKER, results, 2);
	unit_machine_say(&master, CLIENT, command("{\"command\":\"job\",\"job\":\"12000000\"}"));
	assert_true(unit_machine_says(&master, CLIENT, DLSI_REPLY, 0, &record));
	assert_true(contains(
		&record, "\"bytes\":{\"read\":4000,\"direct\":100000,\"through_master\":200,\"per_item\":52100}"));
	unit_machine_say(&master, CLIENT, command("{\"command\":\"status\"}"));
	assert_true(unit_machine_says(&master, CLIENT, DLSI_REPLY, 0, &record));
	assert_true(contains(
		&record, "\"bytes\":{\"read\":4000,\"direct\":100000,\"through_master\":100,\"per_item\":52050}"));
	unit_machine_fini(&master);
}

UNIT_MAIN(test_status_shows_labels_and_resources, test_bytes_by_their_way, test_commands,
	test_many_commands_about_many_workers)
