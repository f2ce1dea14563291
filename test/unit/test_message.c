/* The bytes of messages: golden ones for every kind of record, round trips from seeds, and the refusal of everything
 * that is cut, damaged, foreign or announces more than there is. */
#include "base/limits.h"
#include "proto/bytes.h"
#include "proto/message.h"
#include "test/unit/golden.h"
#include "test/unit/unit.h"
#include <string.h>

enum { SEEDS = 300, RECORDS = 12 };

static const uint16_t kinds[] = {
#define KIND(name, number, type) number,
	DLSI_RECORD_TABLE(KIND)
#undef KIND
};
static const size_t kind_count = sizeof kinds / sizeof *kinds;

/* The place of a field in a record. */
static void *field_of(struct dlsi_record *record, const struct dlsi_record_field *field)
{
	return (uint8_t *)&record->reg + field->offset;
}

/* Gives every field of a record a value that tells its place and type; what the golden bytes show. */
static void fill(struct dlsi_record *record, uint16_t kind)
{
	const struct dlsi_record_shape *shape = dlsi_record_shape(kind);
	static const uint8_t numbers[16] = {1, 0, 0, 0, 0, 0, 0, 0x80, 2};

	memset(record, 0, sizeof *record);
	record->kind = kind;
	for (uint16_t i = 0; i < shape->fields; i++) {
		void *out = field_of(record, &shape->field[i]);
		struct dlsi_blob blob = {.length = 0x0102030405060708 + i, .proof = DLSI_PROOF_HASH};

		memset(blob.name.bytes, 0xb0 + i, sizeof blob.name.bytes);
		switch (shape->field[i].type) {
		case DLSI_FIELD_U8:
			*(uint8_t *)out = (uint8_t)(0x10 + i);
			break;
		case DLSI_FIELD_U16:
			*(uint16_t *)out = (uint16_t)(0x2100 + i);
			break;
		case DLSI_FIELD_U32:
			*(uint32_t *)out = 0xf2f1f000U + i;
			break;
		case DLSI_FIELD_U64:
			*(uint64_t *)out = 0xf7f6f5f4f3f2f100U + i;
			break;
		case DLSI_FIELD_ID:
			memset(out, 0xa0 + i, DLSI_ID_BYTES);
			break;
		case DLSI_FIELD_HASH:
			memset(out, 0xc0 + i, DLSI_HASH_BYTES);
			break;
		case DLSI_FIELD_BLOB:
			*(struct dlsi_blob *)out = blob;
			break;
		case DLSI_FIELD_TEXT:
			*(struct dlsi_text *)out = (struct dlsi_text){"text", 4};
			break;
		case DLSI_FIELD_BYTES:
			*(struct dlsi_bytes *)out = (struct dlsi_bytes){(const uint8_t *)"\0{}", 3};
			break;
		case DLSI_FIELD_NUMBERS:
			*(struct dlsi_numbers *)out = (struct dlsi_numbers){numbers, 2};
			break;
		case DLSI_FIELD_FRAMES:
			*(uint16_t *)out = 1;
			break;
		}
	}
}

static void test_golden_bytes_of_every_kind(void **state)
{
	(void)state;
	assert_int_equal(unit_golden_count, kind_count);
	for (size_t i = 0; i < kind_count; i++) {
		struct dlsi_message_writer writer;
		struct dlsi_record record;
		struct dlsi_buffer buffer;
		struct dlsi_id cluster;
		char *text;
		size_t length;

		dlsi_buffer_init(&buffer, unit_alloc());
		memset(cluster.bytes, 0xcc, sizeof cluster.bytes);
		fill(&record, kinds[i]);
		writer = dlsi_message_begin(&buffer, &cluster, 7);
		dlsi_message_add(&writer, &record);
		assert_false(buffer.failed);
		length = buffer.length - DLSI_MESSAGE_HEADER_BYTES;
		text = test_malloc(2 * length + 1);
		dlsi_hex(buffer.data + DLSI_MESSAGE_HEADER_BYTES, (unsigned)length, text);
		assert_string_equal(text, unit_golden[i]);
		test_free(text);
		dlsi_buffer_fini(&buffer);
	}
}

static void test_golden_bytes_of_the_header(void **state)
{
	static const uint8_t expected[DLSI_MESSAGE_HEADER_BYTES] = {'D', 'L', 'S', '1', 1, 0, 2, 0, 1, 0, 0, 0, 86, 0,
		0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 8, 7, 6, 5, 4, 3, 2, 1};
	const struct dlsi_id cluster = {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}};
	struct dlsi_record accepted = {.kind = DLSI_ACCEPTED}, data = {.kind = DLSI_DATA, .data = {.frames = 1}};
	struct dlsi_message_writer writer;
	struct dlsi_message message;
	struct dlsi_buffer buffer;

	(void)state;
	dlsi_buffer_init(&buffer, unit_alloc());
	dlsi_buffer_append(&buffer, "before", 6);
	writer = dlsi_message_begin(&buffer, &cluster, 0x0102030405060708);
	dlsi_message_add(&writer, &accepted);
	dlsi_message_add(&writer, &data);
	assert_int_equal(dlsi_message_length(&writer), buffer.length - 6);
	assert_memory_equal(buffer.data + 6, expected, sizeof expected);
	assert_int_equal(dlsi_message_open(buffer.data + 6, buffer.length - 6, 1, &message, NULL), 0);
	assert_true(dlsi_id_equal(&message.cluster, &cluster));
	assert_int_equal(message.term, 0x0102030405060708);
	dlsi_buffer_fini(&buffer);
}

/* A text of this length with characters of one byte and of three. */
static struct dlsi_text draw_text(struct dlsi_rng *rng, uint32_t length)
{
	static char letters[2 * DLSI_ITEM_ERROR_BYTES];
	size_t start = dlsi_rng_below(rng, DLSI_ITEM_ERROR_BYTES);

	for (size_t i = 0; i + 4 <= sizeof letters; i += 4)
		memcpy(letters + i, "x\xe2\x82\xac", 4);
	start -= start % 4;
	return (struct dlsi_text){letters + start, length - length % 4};
}

/* A record with random contents; `bytes` is where bytes and lists come from. */
static void draw(struct dlsi_rng *rng, struct dlsi_record *record, const uint8_t *bytes, size_t length)
{
	const struct dlsi_record_shape *shape = dlsi_record_shape(kinds[dlsi_rng_below(rng, kind_count)]);

	fill(record, shape->kind);
	for (uint16_t i = 0; i < shape->fields; i++) {
		uint32_t limit = shape->field[i].limit, own = (uint32_t)dlsi_rng_below(rng, limit + 1);
		void *out = field_of(record, &shape->field[i]);

		if (own > 200 && dlsi_rng_below(rng, 20))
			own %= 200;
		switch (shape->field[i].type) {
		case DLSI_FIELD_U64:
			*(uint64_t *)out = dlsi_rng_next(rng);
			break;
		case DLSI_FIELD_TEXT:
			*(struct dlsi_text *)out = draw_text(rng, own);
			break;
		case DLSI_FIELD_BYTES:
			own = own < length ? own : (uint32_t)length;
			*(struct dlsi_bytes *)out = (struct dlsi_bytes){bytes, own};
			break;
		case DLSI_FIELD_NUMBERS:
			own = 8 * own < length ? own : (uint32_t)(length / 8);
			*(struct dlsi_numbers *)out = (struct dlsi_numbers){bytes, own};
			break;
		case DLSI_FIELD_FRAMES:
			*(uint16_t *)out = (uint16_t)dlsi_rng_below(rng, 2);
			break;
		}
	}
}

static void assert_records_equal(struct dlsi_record *a, struct dlsi_record *b)
{
	const struct dlsi_record_shape *shape = dlsi_record_shape(a->kind);

	assert_int_equal(a->kind, b->kind);
	for (uint16_t i = 0; i < shape->fields; i++) {
		const void *left = field_of(a, &shape->field[i]), *right = field_of(b, &shape->field[i]);
		const struct dlsi_bytes *bytes = left, *other = right;

		switch (shape->field[i].type) {
		case DLSI_FIELD_U8:
			assert_memory_equal(left, right, 1);
			break;
		case DLSI_FIELD_U16:
		case DLSI_FIELD_FRAMES:
			assert_memory_equal(left, right, 2);
			break;
		case DLSI_FIELD_U32:
			assert_memory_equal(left, right, 4);
			break;
		case DLSI_FIELD_U64:
			assert_memory_equal(left, right, 8);
			break;
		case DLSI_FIELD_ID:
			assert_memory_equal(left, right, DLSI_ID_BYTES);
			break;
		case DLSI_FIELD_HASH:
			assert_memory_equal(left, right, DLSI_HASH_BYTES);
			break;
		case DLSI_FIELD_BLOB:
			assert_memory_equal(left, right, offsetof(struct dlsi_blob, proof) + 1);
			break;
		default: /* texts, bytes and numbers are a pointer and a count */
			assert_int_equal(bytes->length, other->length);
			if (bytes->length)
				assert_memory_equal(bytes->data, other->data, bytes->length);
		}
	}
}

static void test_records_come_back(void **state)
{
	const size_t length = DLSI_MESSAGE_BODY_BYTES / RECORDS / 2 - 1000;
	uint8_t *bytes = test_malloc(length);

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct dlsi_rng rng = unit_rng(seed);
		struct dlsi_record records[RECORDS], read;
		unsigned count = (unsigned)dlsi_rng_below(&rng, RECORDS + 1), frames = 0;
		const struct dlsi_id cluster = {{(uint8_t)seed}};
		struct dlsi_message_writer writer;
		struct dlsi_message message;
		struct dlsi_buffer buffer;

		for (size_t i = 0; i < length; i++)
			bytes[i] = (uint8_t)(i * seed);
		dlsi_buffer_init(&buffer, unit_alloc());
		writer = dlsi_message_begin(&buffer, &cluster, seed);
		for (unsigned i = 0; i < count; i++) {
			draw(&rng, &records[i], bytes, length);
			frames += dlsi_record_frames(&records[i]);
			dlsi_message_add(&writer, &records[i]);
		}
		assert_int_equal(dlsi_message_open(buffer.data, buffer.length, frames, &message, NULL), 0);
		assert_int_equal(message.frames, frames);
		for (unsigned i = 0; i < count; i++) {
			assert_true(dlsi_message_next(&message, &read));
			assert_records_equal(&read, &records[i]);
		}
		assert_false(dlsi_message_next(&message, &read));
		dlsi_buffer_fini(&buffer);
	}
	test_free(bytes);
}

/* Makes a message of one filled record; with_frame says what it is to be for a kind that may have a payload frame. */
static void begin_one(struct dlsi_buffer *buffer, uint16_t kind, bool with_frame, struct dlsi_record *record_out)
{
	const struct dlsi_record_shape *shape = dlsi_record_shape(kind);
	const struct dlsi_id cluster = {{1}};
	struct dlsi_message_writer writer;

	dlsi_buffer_init(buffer, unit_alloc());
	fill(record_out, kind);
	for (uint16_t i = 0; i < shape->fields; i++)
		if (shape->field[i].type == DLSI_FIELD_FRAMES)
			*(uint16_t *)field_of(record_out, &shape->field[i]) = with_frame;
	writer = dlsi_message_begin(buffer, &cluster, 1);
	dlsi_message_add(&writer, record_out);
	assert_false(buffer->failed);
}

static int open_exact(const uint8_t *block, size_t length, size_t frames)
{
	uint8_t *exact = test_malloc(length); /* so that a sanitizer sees a read behind it */
	struct dlsi_message message;
	int rc;

	memcpy(exact, block, length);
	rc = dlsi_message_open(exact, length, frames, &message, NULL);
	test_free(exact);
	return rc;
}

static void test_truncation_at_every_byte(void **state)
{
	(void)state;
	for (size_t i = 0; i < kind_count; i++) {
		struct dlsi_record record;
		struct dlsi_buffer buffer;

		begin_one(&buffer, kinds[i], true, &record);
		for (size_t length = 0; length < buffer.length; length++)
			assert_int_equal(open_exact(buffer.data, length, dlsi_record_frames(&record)), DLS_EPROTOCOL);
		dlsi_buffer_fini(&buffer);
	}
}

/* Sets the lengths of the message and of its one record to those of a buffer that was made longer or shorter. */
static void set_lengths(struct dlsi_buffer *buffer)
{
	size_t body = buffer->length - DLSI_MESSAGE_HEADER_BYTES;

	dlsi_put_u32(buffer->data + 12, (uint32_t)body);
	dlsi_put_u32(buffer->data + DLSI_MESSAGE_HEADER_BYTES + 4, (uint32_t)(body - DLSI_RECORD_HEADER_BYTES));
}

static void test_records_of_later_releases_are_longer(void **state)
{
	(void)state;
	for (size_t i = 0; i < kind_count; i++) {
		struct dlsi_record record, read;
		struct dlsi_message message;
		struct dlsi_buffer buffer;

		begin_one(&buffer, kinds[i], true, &record);
		dlsi_buffer_append(&buffer, "appended fields", 15);
		set_lengths(&buffer);
		assert_int_equal(
			dlsi_message_open(buffer.data, buffer.length, dlsi_record_frames(&record), &message, NULL), 0);
		assert_true(dlsi_message_next(&message, &read));
		assert_records_equal(&read, &record);
		assert_false(dlsi_message_next(&message, &read));
		dlsi_buffer_fini(&buffer);
	}
}

/* A record may end between two fields, as an earlier release sends it, but not within one. */
static void test_records_of_earlier_releases_are_shorter(void **state)
{
	const size_t start = DLSI_MESSAGE_HEADER_BYTES + DLSI_RECORD_HEADER_BYTES;

	(void)state;
	for (size_t i = 0; i < kind_count; i++) {
		struct dlsi_record record, read;
		struct dlsi_message message;
		struct dlsi_buffer buffer;
		unsigned accepted = 0;

		begin_one(&buffer, kinds[i], false, &record);
		while (buffer.length > start) {
			buffer.length--;
			set_lengths(&buffer);
			if (dlsi_message_open(buffer.data, buffer.length, 0, &message, NULL))
				continue;
			assert_true(dlsi_message_next(&message, &read));
			assert_int_equal(read.kind, kinds[i]);
			accepted++;
		}
		assert_int_equal(accepted, dlsi_record_shape(kinds[i])->fields);
		dlsi_buffer_fini(&buffer);
	}
}

static void test_texts_have_limits(void **state)
{
	char name[DLSI_NAME_BYTES + 1];
	struct dlsi_record record = {.kind = DLSI_HANDLER, .handler = {.name = {name, DLSI_NAME_BYTES}}};
	const struct dlsi_id cluster = {{1}};
	struct dlsi_message_writer writer;
	struct dlsi_message message;
	struct dlsi_buffer buffer;

	(void)state;
	memset(name, 'x', sizeof name);
	for (int more = 0; more <= 1; more++) {
		record.handler.name.length = (uint32_t)(DLSI_NAME_BYTES + more);
		dlsi_buffer_init(&buffer, unit_alloc());
		writer = dlsi_message_begin(&buffer, &cluster, 1);
		dlsi_message_add(&writer, &record);
		assert_int_equal(
			dlsi_message_open(buffer.data, buffer.length, 0, &message, NULL), more ? DLS_EPROTOCOL : 0);
		dlsi_buffer_fini(&buffer);
	}
}

static void test_what_is_announced_must_be_there(void **state)
{
	const size_t text = DLSI_MESSAGE_HEADER_BYTES + DLSI_RECORD_HEADER_BYTES;
	struct dlsi_record record;
	struct dlsi_buffer buffer;

	(void)state;
	begin_one(&buffer, DLSI_LEAVE, true, &record);
#define REFUSED(put, at, value, frames, code)                                                                          \
	do {                                                                                                           \
		uint8_t kept[4];                                                                                       \
		memcpy(kept, buffer.data + (at), 4);                                                                   \
		put(buffer.data + (at), value);                                                                        \
		assert_int_equal(open_exact(buffer.data, buffer.length, frames), code);                                \
		memcpy(buffer.data + (at), kept, 4);                                                                   \
	} while (0)
	assert_int_equal(open_exact(buffer.data, buffer.length, 0), 0);
	assert_int_equal(open_exact(buffer.data, buffer.length, 1), DLS_EPROTOCOL);
	REFUSED(dlsi_put_u32, 0, 0x32534c44, 0, DLS_EPROTOCOL);            /* magic */
	REFUSED(dlsi_put_u16, 4, 2, 0, DLS_EVERSION);                      /* version */
	REFUSED(dlsi_put_u16, 6, 2, 0, DLS_EPROTOCOL);                     /* records */
	REFUSED(dlsi_put_u16, 6, 0, 0, DLS_EPROTOCOL);                     /* records */
	REFUSED(dlsi_put_u16, 6, DLSI_MESSAGE_RECORDS + 1, 0, DLS_ELIMIT); /* records */
	REFUSED(dlsi_put_u16, 8, 1, 1, DLS_EPROTOCOL);                     /* a frame that no record has */
	REFUSED(dlsi_put_u16, 8, DLSI_MESSAGE_FRAMES + 1, DLSI_MESSAGE_FRAMES + 1, DLS_ELIMIT);
	REFUSED(dlsi_put_u32, 12, UINT32_MAX, 0, DLS_ELIMIT);                   /* bytes of all records */
	REFUSED(dlsi_put_u32, 12, DLSI_MESSAGE_BODY_BYTES, 0, DLS_EPROTOCOL);   /* bytes of all records */
	REFUSED(dlsi_put_u16, DLSI_MESSAGE_HEADER_BYTES, 22, 0, DLS_EPROTOCOL); /* kind */
	REFUSED(dlsi_put_u32, text - 4, UINT32_MAX, 0, DLS_EPROTOCOL);          /* length of the record */
	REFUSED(dlsi_put_u32, text - 4, 1, 0, DLS_EPROTOCOL);                   /* length of the record */
	REFUSED(dlsi_put_u32, text, UINT32_MAX, 0, DLS_EPROTOCOL);              /* length of the text */
	REFUSED(dlsi_put_u32, text, 5, 0, DLS_EPROTOCOL);                       /* length of the text */
	assert_int_equal(open_exact(buffer.data, buffer.length, 0), 0);
	dlsi_buffer_fini(&buffer);

	begin_one(&buffer, DLSI_TAKEN, true, &record);
	REFUSED(dlsi_put_u32, text, UINT32_MAX, 0, DLS_EPROTOCOL); /* 8 times that does not fit 32 bits */
	REFUSED(dlsi_put_u32, text, 1U << 29, 0, DLS_EPROTOCOL);   /* and 8 times this is 0 in 32 bits */
	REFUSED(dlsi_put_u32, text, 3, 0, DLS_EPROTOCOL);
	dlsi_buffer_fini(&buffer);

	begin_one(&buffer, DLSI_DATA, true, &record);
	assert_int_equal(open_exact(buffer.data, buffer.length, 1), 0);
	dlsi_put_u16(buffer.data + 8, 2);                              /* and two frames come with the message ... */
	REFUSED(dlsi_put_u16, buffer.length - 2, 2, 2, DLS_EPROTOCOL); /* ... but a record has one at most */
#undef REFUSED
	dlsi_buffer_fini(&buffer);
}

static void test_numbers_are_read_one_by_one(void **state)
{
	const uint8_t data[] = {1, 2, 3, 4, 5, 6, 7, 8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f};
	const struct dlsi_numbers numbers = {data, 2};

	(void)state;
	assert_int_equal(dlsi_numbers_at(&numbers, 0), 0x0807060504030201);
	assert_int_equal(dlsi_numbers_at(&numbers, 1), INT64_MAX);
}

/* Numbers in the fields are not the codec's to judge, however large. */
static void test_large_numbers_come_through(void **state)
{
	const struct dlsi_id cluster = {{1}};
	struct dlsi_record result = {.kind = DLSI_RESULT, .result = {.bytes = UINT64_C(1) << 40, .first = UINT64_MAX}};
	struct dlsi_message_writer writer;
	struct dlsi_message message;
	struct dlsi_buffer buffer;

	(void)state;
	dlsi_buffer_init(&buffer, unit_alloc());
	writer = dlsi_message_begin(&buffer, &cluster, UINT64_MAX);
	dlsi_message_add(&writer, &result);
	assert_int_equal(dlsi_message_open(buffer.data, buffer.length, 0, &message, NULL), 0);
	assert_true(dlsi_message_next(&message, &result));
	assert_int_equal(result.result.bytes, UINT64_C(1) << 40);
	assert_int_equal(result.result.first, UINT64_MAX);
	dlsi_buffer_fini(&buffer);
}

static void test_random_bytes(void **state)
{
	uint8_t block[512];

	(void)state;
	for (uint64_t seed = 1; seed <= 20000; seed++) {
		struct dlsi_rng rng = unit_rng(seed);
		size_t length = dlsi_rng_below(&rng, sizeof block);

		for (size_t i = 0; i < length; i++)
			block[i] = (uint8_t)dlsi_rng_next(&rng);
		assert_int_equal(open_exact(block, length, 0), DLS_EPROTOCOL);
	}
}

/* One byte of a good message is changed: it may still be one, but reading it has no fault and comes to its end. */
static void test_damaged_bytes(void **state)
{
	(void)state;
	for (size_t k = 0; k < kind_count; k++) {
		struct dlsi_rng rng = unit_rng(k + 1);
		struct dlsi_record record, read;
		struct dlsi_buffer buffer;

		begin_one(&buffer, kinds[k], true, &record);
		for (size_t i = 0; i < buffer.length; i++) {
			uint8_t kept = buffer.data[i];
			struct dlsi_message message;

			buffer.data[i] = (uint8_t)dlsi_rng_next(&rng);
			if (dlsi_message_open(
				    buffer.data, buffer.length, dlsi_record_frames(&record), &message, NULL) == 0) {
				assert_true(dlsi_message_next(&message, &read));
				assert_false(dlsi_message_next(&message, &read));
			}
			buffer.data[i] = kept;
		}
		dlsi_buffer_fini(&buffer);
	}
}

static void test_memory_runs_out(void **state)
{
	const struct dlsi_id cluster = {{1}};
	bool failed = true;

	(void)state;
	for (unsigned n = 1; failed; n++) {
		struct dlsi_message_writer writer;
		struct dlsi_record record;
		struct dlsi_buffer buffer;

		assert_true(n < 20);
		dlsi_buffer_init(&buffer, unit_alloc_failing_at(n));
		writer = dlsi_message_begin(&buffer, &cluster, 1);
		for (size_t i = 0; i < kind_count; i++) {
			fill(&record, kinds[i]);
			dlsi_message_add(&writer, &record);
		}
		failed = buffer.failed;
		dlsi_buffer_fini(&buffer);
	}
}

UNIT_MAIN(test_golden_bytes_of_every_kind, test_golden_bytes_of_the_header, test_records_come_back,
	test_truncation_at_every_byte, test_records_of_later_releases_are_longer,
	test_records_of_earlier_releases_are_shorter, test_what_is_announced_must_be_there, test_texts_have_limits,
	test_numbers_are_read_one_by_one, test_large_numbers_come_through, test_random_bytes, test_damaged_bytes,
	test_memory_runs_out)
