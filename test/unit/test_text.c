/* Which bytes a message lets through as a text. */
#include "proto/message.h"
#include "test/unit/unit.h"

/* Texts reach logs, JSON and terminals: what is no UTF-8, or has a NUL, is no text. */
static void test_texts_are_texts(void **state)
{
	static const struct {
		const char *text;
		uint32_t length;
		bool good;
	} texts[] = {{"", 0, true}, {"name", 4, true}, {"\xc3\xbc", 2, true}, {"\xf0\x9f\x98\x80", 4, true},
		{"\xc3", 1, false}, {"\xc3x", 2, false}, {"\xff", 1, false}, {"a\0b", 3, false}, {"\0", 1, false},
		{"\xc0\x80", 2, false}, {"\xed\xa0\x80", 3, false}};

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct dlsi_record record = {.kind = DLSI_HANDLER};
		const struct dlsi_id cluster = {{0}};
		struct dlsi_message_writer writer;
		struct dlsi_message message;
		struct dlsi_buffer buffer;

		record.handler.name = (struct dlsi_text){texts[i].text, texts[i].length};
		dlsi_buffer_init(&buffer, unit_alloc());
		writer = dlsi_message_begin(&buffer, &cluster, 1);
		dlsi_message_add(&writer, &record);
		assert_int_equal(dlsi_message_open(buffer.data, buffer.length, 0, &message, NULL),
			texts[i].good ? 0 : DLS_EPROTOCOL);
		dlsi_buffer_fini(&buffer);
	}
}

UNIT_MAIN(test_texts_are_texts)
