#include "test/unit/commands.h"

#include "test/unit/unit.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { QUESTION_BYTES = 65536, ANSWER_BYTES = 1 << 20, NUMBER = 7 };

void unit_register_asker(struct unit_machine *master)
{
	unit_register_client(master, UNIT_ASKER, 1000 + UNIT_ASKER);
	unit_machine_say(master, UNIT_ASKER, unit_spec(0, "{\"handler\":\"work\"}"));
}

static struct dlsi_record reply_to(struct unit_machine *master, const char *json)
{
	struct dlsi_record record = {.kind = DLSI_COMMAND};

	record.command.number = NUMBER;
	record.command.json = (struct dlsi_bytes){(const uint8_t *)json, (uint32_t)strlen(json)};
	unit_machine_say(master, UNIT_ASKER, record);
	assert_true(unit_machine_says(master, UNIT_ASKER, DLSI_REPLY, 0, &record));
	assert_int_equal(record.reply.number, NUMBER);
	return record;
}

cJSON *unit_ask(struct unit_machine *master, const char *format, ...)
{
	static char question[QUESTION_BYTES];
	struct dlsi_record record;
	va_list arguments;
	cJSON *json;

	va_start(arguments, format);
	vsnprintf(question, sizeof question, format, arguments);
	va_end(arguments);
	record = reply_to(master, question);
	if (record.reply.code)
		print_error(
			"%s: %.*s\n", question, (int)record.reply.json.length, (const char *)record.reply.json.data);
	assert_int_equal(record.reply.code, 0);
	assert_int_equal(dlsi_json_parse("the answer", record.reply.json.data, record.reply.json.length, ANSWER_BYTES,
				 &json, NULL),
		0);
	return json;
}

void unit_ask_in_vain(struct unit_machine *master, const char *json, int code, const char *words)
{
	struct dlsi_record record = reply_to(master, json);
	struct dlsi_bytes sentence = record.reply.json;

	if (record.reply.code != code || !memmem(sentence.data, sentence.length, words, strlen(words)))
		print_error(
			"%s: %d, %.*s\n", json, record.reply.code, (int)sentence.length, (const char *)sentence.data);
	assert_int_equal(record.reply.code, code);
	assert_non_null(memmem(sentence.data, sentence.length, words, strlen(words)));
}

const char *unit_text(const cJSON *json, const char *name)
{
	const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, name));

	if (!text)
		print_error("there is no text \"%s\"\n", name);
	assert_non_null(text);
	return text;
}

double unit_number(const cJSON *json, const char *name)
{
	const cJSON *member = cJSON_GetObjectItemCaseSensitive(json, name);

	if (!cJSON_IsNumber(member))
		print_error("there is no number \"%s\"\n", name);
	assert_true(cJSON_IsNumber(member));
	return member->valuedouble;
}

const cJSON *unit_array(const cJSON *json, const char *name)
{
	const cJSON *member = cJSON_GetObjectItemCaseSensitive(json, name);

	assert_true(cJSON_IsArray(member));
	return member;
}
