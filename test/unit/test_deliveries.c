/* Result pages that come in any order give every item once and in order, with the values that were written, aligned and
 * independent of the page; what is no page gives errors, never a crash. */
#include "client/deliveries.h"
#include "client/result.h"
#include "test/unit/unit.h"
#include <string.h>

enum { SEEDS = 60, ITEMS = 400, MOST_PER_PAGE = 30 };

static struct dlsi_text text_of(const char *text)
{
	return (struct dlsi_text){text, (uint32_t)strlen(text)};
}

/* The result of an item: its number as a float, or an error for every seventh. */
static void add_row(struct dlsi_page_writer *writer, uint64_t item)
{
	float value = (float)item;
	struct dlsi_field field = {
		.form = DLSI_FORM_INLINE, .media = DLSI_MEDIA_TENSOR, .dtype = DLS_FLOAT32, .rank = 1, .dims = {1}};

	field.bytes = (struct dlsi_bytes){(const uint8_t *)&value, sizeof value};
	if (item % 7 == 6)
		field = dlsi_field_error(DLS_EHANDLER, "unlucky");
	dlsi_page_add_row(writer, &field, 1);
}

static struct dlsi_frame *write_page(uint64_t first, uint64_t end)
{
	struct dlsi_page_writer writer;
	struct dlsi_buffer buffer;
	struct dlsi_frame *frame;

	dlsi_buffer_init(&buffer, unit_alloc());
	dlsi_page_begin(&writer, &buffer);
	for (uint64_t item = first; item < end; item++)
		add_row(&writer, item);
	dlsi_page_end(&writer);
	assert_false(buffer.failed);
	frame = dlsi_frame_copy(unit_alloc(), buffer.data, buffer.length);
	dlsi_buffer_fini(&buffer);
	return frame;
}

static struct dlsi_delivery *deliver(uint64_t page_first, uint64_t page_end, uint64_t first, uint64_t end)
{
	struct dlsi_delivery_facts facts = {first, end, page_first, page_end, 1000 * (page_end - page_first), 0, {0}};
	struct dlsi_frame *frame = write_page(page_first, page_end);
	struct dlsi_delivery *delivery;

	facts.worker = text_of("rabbit");
	assert_int_equal(dlsi_delivery_create(unit_alloc(), frame, &facts, &delivery), 0);
	dlsi_frame_unref(frame);
	return delivery;
}

static void check_result(const struct dlsi_delivery *delivery, uint64_t item)
{
	struct dls_result *result;

	assert_int_equal(dlsi_result_create(unit_alloc(), &delivery->page, (uint32_t)(item - delivery->page_first),
				 item, delivery->worker, delivery->item_ns, &result),
		0);
	assert_int_equal(result->size, sizeof *result);
	assert_int_equal(result->item, item);
	assert_string_equal(result->worker, "rabbit");
	assert_int_equal(result->elapsed_ns, 1000);
	if (item % 7 == 6) {
		assert_int_equal(result->code, DLS_EHANDLER);
		assert_string_equal(result->error, "unlucky");
		assert_int_equal(result->output_count, 0);
	} else {
		assert_int_equal(result->code, 0);
		assert_null(result->error);
		assert_int_equal(result->output_count, 1);
		assert_true(*(const float *)result->outputs[0].tensor.data == (float)item);
		assert_int_equal((uintptr_t)result->outputs[0].tensor.data % 16, 0);
		assert_null(result->outputs[0].indices);
	}
	dlsi_result_destroy(result);
}

/* Cuts the items into ranges, each with a page that may reach over its ends. */
static unsigned cut(struct dlsi_rng *rng, struct dlsi_delivery **cuts)
{
	unsigned count = 0;

	for (uint64_t first = 0, end; first < ITEMS; first = end) {
		uint64_t page_first, page_end;

		end = first + 1 + dlsi_rng_below(rng, MOST_PER_PAGE);
		if (end > ITEMS)
			end = ITEMS;
		page_first = first - dlsi_rng_below(rng, first < 5 ? first + 1 : 5);
		page_end = end + dlsi_rng_below(rng, 5);
		cuts[count++] = deliver(page_first, page_end, first, end);
	}
	return count;
}

static void test_every_item_once_and_in_order(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct dlsi_rng rng = unit_rng(seed);
		struct dlsi_delivery *cuts[ITEMS], *taken;
		struct dlsi_deliveries deliveries;
		unsigned count = cut(&rng, cuts);
		uint64_t next = 0, failed = 0;

		dlsi_deliveries_init(&deliveries, unit_alloc());
		while (count) {
			unsigned i = (unsigned)dlsi_rng_below(&rng, count);

			failed += cuts[i]->failed;
			assert_int_equal(dlsi_deliveries_add(&deliveries, cuts[i]), 0);
			cuts[i] = cuts[--count];
			while ((taken = dlsi_deliveries_take(&deliveries, next))) {
				for (; next < taken->end; next++)
					check_result(taken, next);
				dlsi_delivery_destroy(taken, unit_alloc());
			}
		}
		assert_int_equal(next, ITEMS);
		assert_int_equal(failed, ITEMS / 7);
		dlsi_deliveries_fini(&deliveries);
	}
}

static void test_what_waits_is_destroyed(void **state)
{
	struct dlsi_deliveries deliveries;

	(void)state;
	dlsi_deliveries_init(&deliveries, unit_alloc());
	assert_int_equal(dlsi_deliveries_add(&deliveries, deliver(5, 9, 5, 9)), 0);
	assert_int_equal(dlsi_deliveries_add(&deliveries, deliver(2, 4, 2, 4)), 0);
	assert_null(dlsi_deliveries_take(&deliveries, 0));
	assert_null(dlsi_deliveries_take(&deliveries, 5)); /* not before those in front of it */
	dlsi_deliveries_fini(&deliveries);
}

static void test_what_is_no_page_gives_errors(void **state)
{
	static const uint8_t garbage[64] = "DLSP is not enough";
	struct dlsi_delivery_facts facts = {0, 3, 0, 3, 0, 0, {0}};
	struct dlsi_frame *frame = dlsi_frame_copy(unit_alloc(), garbage, sizeof garbage);
	struct dlsi_delivery *delivery;
	struct dls_result *result;

	(void)state;
	facts.worker = text_of("rabbit");
	assert_int_equal(dlsi_delivery_create(unit_alloc(), frame, &facts, &delivery), 0);
	dlsi_frame_unref(frame);
	assert_int_equal(delivery->failed, 3);
	assert_int_equal(dlsi_result_create(unit_alloc(), &delivery->page, 2, 2, "rabbit", 0, &result), 0);
	assert_int_equal(result->code, DLS_EPROTOCOL);
	assert_non_null(result->error);
	dlsi_result_destroy(result);
	dlsi_delivery_destroy(delivery, unit_alloc());
}

/* Flipped bits anywhere in a page: every row gives some result. */
static void test_damaged_pages(void **state)
{
	struct dlsi_frame *whole = write_page(0, 5);
	uint8_t bytes[1024];

	(void)state;
	assert_true(dlsi_frame_size(whole) <= sizeof bytes);
	for (size_t at = 0; at < 8 * dlsi_frame_size(whole); at++) {
		struct dlsi_delivery_facts facts = {0, 5, 0, 5, 0, 0, {0}};
		struct dlsi_delivery *delivery;
		struct dlsi_frame *frame;

		memcpy(bytes, dlsi_frame_data(whole), dlsi_frame_size(whole));
		bytes[at / 8] ^= (uint8_t)(1U << at % 8);
		frame = dlsi_frame_copy(unit_alloc(), bytes, dlsi_frame_size(whole));
		assert_int_equal(dlsi_delivery_create(unit_alloc(), frame, &facts, &delivery), 0);
		dlsi_frame_unref(frame);
		for (uint32_t row = 0; row < 5; row++) {
			struct dls_result *result;

			assert_int_equal(
				dlsi_result_create(unit_alloc(), &delivery->page, row, row, "rabbit", 0, &result), 0);
			assert_true(result->code < 0 || result->output_count);
			dlsi_result_destroy(result);
		}
		dlsi_delivery_destroy(delivery, unit_alloc());
	}
	dlsi_frame_unref(whole);
}

static void test_highest_values_have_indices(void **state)
{
	static const float values[2] = {0.75F, 0.25F};
	static const uint32_t indices[2] = {282, 967};
	struct dlsi_field field = {
		.form = DLSI_FORM_INLINE, .media = DLSI_MEDIA_TOP, .dtype = DLS_FLOAT32, .rank = 1, .dims = {2}};
	struct dlsi_page_writer writer;
	struct dlsi_buffer buffer;
	struct dlsi_page page;
	struct dls_result *result;
	uint8_t bytes[16];

	(void)state;
	memcpy(bytes, values, 8);
	memcpy(bytes + 8, indices, 8);
	field.bytes = (struct dlsi_bytes){bytes, sizeof bytes};
	dlsi_buffer_init(&buffer, unit_alloc());
	dlsi_page_begin(&writer, &buffer);
	dlsi_page_add_row(&writer, &field, 1);
	dlsi_page_end(&writer);
	assert_int_equal(dlsi_page_open(buffer.data, buffer.length, 1, &page, NULL), 0);
	assert_int_equal(dlsi_result_create(unit_alloc(), &page, 0, 0, "", 0, &result), 0);
	dlsi_buffer_fini(&buffer);
	assert_int_equal(result->outputs[0].tensor.dims[0], 2);
	assert_int_equal(result->outputs[0].tensor.bytes, sizeof values);
	assert_memory_equal(result->outputs[0].tensor.data, values, sizeof values);
	assert_memory_equal(result->outputs[0].indices, indices, sizeof indices);
	dlsi_result_destroy(result);
}

static void test_without_memory(void **state)
{
	struct dlsi_delivery_facts facts = {0, 3, 0, 3, 0, 0, {0}};
	struct dlsi_frame *frame = write_page(0, 3);
	struct dlsi_delivery *delivery;
	struct dlsi_deliveries deliveries;
	struct dls_result *result = NULL;

	(void)state;
	assert_int_equal(dlsi_delivery_create(unit_alloc_failing_at(1), frame, &facts, &delivery), DLS_ENOMEM);
	assert_int_equal(dlsi_delivery_create(unit_alloc(), frame, &facts, &delivery), 0);
	dlsi_deliveries_init(&deliveries, unit_alloc_failing_at(1));
	assert_int_equal(dlsi_deliveries_add(&deliveries, delivery), DLS_ENOMEM);
	assert_int_equal(
		dlsi_result_create(unit_alloc_failing_at(1), &delivery->page, 0, 0, "", 0, &result), DLS_ENOMEM);
	assert_null(result);
	dlsi_delivery_destroy(delivery, unit_alloc());
	dlsi_deliveries_fini(&deliveries);
	dlsi_frame_unref(frame);
}

UNIT_MAIN(test_every_item_once_and_in_order, test_what_waits_is_destroyed, test_what_is_no_page_gives_errors,
	test_damaged_pages, test_highest_values_have_indices, test_without_memory)
