/* A job's inputs: whatever is added in whatever order, a reader of the manifest finds every item's bytes, and
 * everything taken is given back once. */
#include "base/file.h"
#include "base/limits.h"
#include "client/inputs.h"
#include "test/unit/unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEEDS = 40, ADDS = 12, MOST_ITEMS = 40000, LARGE = 80000 };

/* The plainest model: what each item's only value must be. */
static struct {
	uint8_t media;
	uint8_t first, last; /* bytes */
	uint64_t length;
} model[MOST_ITEMS];
static uint64_t model_items;
static unsigned taken, released;

static void count_release(void *release_arg, const void *data)
{
	released++;
	assert_ptr_equal(release_arg, &released);
	free((void *)(uintptr_t)data);
}

static void expect(uint8_t media, const uint8_t *data, uint64_t length)
{
	assert_true(model_items < MOST_ITEMS);
	model[model_items].media = media;
	model[model_items].length = length;
	model[model_items].first = length ? data[0] : 0;
	model[model_items].last = length ? data[length - 1] : 0;
	model_items++;
}

static uint8_t *draw_bytes(struct dlsi_rng *rng, size_t length)
{
	uint8_t *bytes = malloc(length + 1);

	for (size_t i = 0; i < length; i++)
		bytes[i] = (uint8_t)(1 + dlsi_rng_next(rng) % 255);
	return bytes;
}

static struct dls_tensor take_tensor(const int64_t *dims, uint32_t rank, void *data)
{
	struct dls_tensor tensor = DLS_TENSOR_INIT;

	tensor.dtype = DLS_UINT8;
	tensor.rank = rank;
	memcpy(tensor.dims, dims, rank * sizeof *dims);
	tensor.data = data;
	assert_int_equal(dls_tensor_bytes(DLS_UINT8, rank, dims, &tensor.bytes), 0);
	tensor.release = count_release;
	tensor.release_arg = &released;
	taken++;
	return tensor;
}

static void write_file(const char *path, const uint8_t *data, size_t length)
{
	assert_int_equal(dlsi_file_write(&dlsi_alloc_libc, path, 0600, data, length, NULL), 0);
}

static void add_file(struct dlsi_inputs *inputs, struct dlsi_rng *rng, const char *folder, int number)
{
	size_t length = dlsi_rng_below(rng, LARGE);
	uint8_t *data = draw_bytes(rng, length);
	char path[128];

	snprintf(path, sizeof path, "%s/%d", folder, number);
	write_file(path, data, length);
	assert_int_equal(dlsi_inputs_add_file(inputs, path, NULL), 0);
	expect(DLSI_MEDIA_FILE, data, length);
	free(data);
}

static void add_idx(struct dlsi_inputs *inputs, struct dlsi_rng *rng, const char *folder, int number)
{
	uint32_t items = 1 + (uint32_t)dlsi_rng_below(rng, 200);
	size_t length = 16 + items * 28UL * 28;
	uint8_t *data = draw_bytes(rng, length);
	char path[128];

	memcpy(data, (const uint8_t[]){0, 0, 8, 3, 0, 0, 0, (uint8_t)items, 0, 0, 0, 28, 0, 0, 0, 28}, 16);
	snprintf(path, sizeof path, "%s/%d", folder, number);
	write_file(path, data, length);
	assert_int_equal(dlsi_inputs_add_file(inputs, path, NULL), 0);
	for (uint32_t i = 0; i < items; i++)
		expect(DLSI_MEDIA_TENSOR, data + 16 + i * 28UL * 28, 28UL * 28);
	free(data);
}

static void add_bytes(struct dlsi_inputs *inputs, struct dlsi_rng *rng)
{
	size_t length = dlsi_rng_below(rng, LARGE);
	uint8_t *data = draw_bytes(rng, length);

	assert_int_equal(dlsi_inputs_add_bytes(inputs, data, length, NULL), 0);
	expect(DLSI_MEDIA_FILE, data, length);
	free(data);
}

static void add_tensor(struct dlsi_inputs *inputs, struct dlsi_rng *rng)
{
	int64_t length = (int64_t)dlsi_rng_below(rng, LARGE);
	uint8_t *data = draw_bytes(rng, (size_t)length);
	struct dls_tensor tensor = take_tensor(&length, 1, data);

	expect(DLSI_MEDIA_TENSOR, data, (uint64_t)length);
	assert_int_equal(dlsi_inputs_add_tensors(inputs, &tensor, 1, NULL), 0);
}

static void add_batch(struct dlsi_inputs *inputs, struct dlsi_rng *rng)
{
	int64_t dims[2] = {(int64_t)dlsi_rng_below(rng, 300), 1 + (int64_t)dlsi_rng_below(rng, 400)};
	uint8_t *data = draw_bytes(rng, (size_t)(dims[0] * dims[1]));
	struct dls_tensor tensor = take_tensor(dims, 2, data);

	for (int64_t i = 0; i < dims[0]; i++)
		expect(DLSI_MEDIA_TENSOR, data + i * dims[1], (uint64_t)dims[1]);
	assert_int_equal(dlsi_inputs_add_batch(inputs, &tensor, NULL), 0);
}

/* The byte of a value, wherever it lies. */
static uint8_t byte_at(const struct dlsi_inputs *inputs, const struct dlsi_field *field, uint64_t at)
{
	uint8_t *data, byte;
	size_t length;

	if (field->form == DLSI_FORM_INLINE)
		return field->bytes.data[at];
	for (size_t i = 0; i < inputs->blob_count; i++) {
		const struct dlsi_input_blob *blob = &inputs->blobs[i];

		if (!dlsi_hash_equal(&blob->blob.name, &field->blob.name))
			continue;
		if (!blob->path)
			return dlsi_frame_data(blob->frame)[field->offset + at];
		assert_int_equal(dlsi_file_read(&dlsi_alloc_libc, blob->path, 1 << 30, &data, &length, NULL), 0);
		assert_int_equal(length, blob->blob.length);
		byte = data[field->offset + at];
		free(data);
		return byte;
	}
	fail_msg("a blob of the manifest is not among the inputs");
	return 0;
}

static void check_value(const struct dlsi_inputs *inputs, const struct dlsi_field *field, uint64_t item)
{
	uint64_t length = field->form == DLSI_FORM_INLINE ? field->bytes.length : field->length;

	assert_int_equal(field->media, model[item].media);
	assert_int_equal(length, model[item].length);
	if (length > DLSI_INLINE_BYTES)
		assert_int_equal(field->form, DLSI_FORM_BLOB);
	if (length) {
		assert_int_equal(byte_at(inputs, field, 0), model[item].first);
		assert_int_equal(byte_at(inputs, field, length - 1), model[item].last);
	}
}

static void check_all(struct dlsi_inputs *inputs)
{
	struct dlsi_manifest manifest;
	struct dlsi_run run = {0};
	uint8_t *data;
	size_t length;
	uint32_t head;
	uint64_t item = 0;

	assert_int_equal(dlsi_manifest_finish(&inputs->writer, &data, &length, &head, NULL), 0);
	assert_int_equal(dlsi_manifest_open(data, head, length, model_items, &manifest, NULL), 0);
	while (dlsi_manifest_next(&manifest, &run)) {
		struct dlsi_page page;

		if (run.kind == DLSI_RUN_PAGE)
			assert_int_equal(dlsi_page_open(data + run.page_offset, run.page_length, (uint32_t)run.items,
						 &page, NULL),
				0);
		for (uint64_t i = 0; i < run.items; i++, item++) {
			struct dlsi_field fields[DLSI_ROW_FIELDS];
			unsigned count = 1;

			if (run.kind == DLSI_RUN_PAGE)
				assert_int_equal(dlsi_page_row(&page, (uint32_t)i, fields, &count, NULL), 0);
			else
				fields[0] = dlsi_run_field(&run, item);
			assert_int_equal(count, 1);
			check_value(inputs, &fields[0], item);
		}
	}
	assert_int_equal(item, model_items);
	dlsi_free(inputs->alloc, data);
}

static void test_a_reader_finds_every_item(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct dlsi_rng rng = unit_rng(seed);
		const char *folder = seed == 1 ? unit_folder() : NULL;
		static char path[64];
		struct dlsi_inputs inputs;

		if (folder)
			snprintf(path, sizeof path, "%s", folder);
		model_items = taken = released = 0;
		dlsi_inputs_init(&inputs, unit_alloc());
		for (int i = 0; i < ADDS; i++) {
			switch (dlsi_rng_below(&rng, 5)) {
			case 0:
				add_file(&inputs, &rng, path, i);
				break;
			case 1:
				add_idx(&inputs, &rng, path, i);
				break;
			case 2:
				add_bytes(&inputs, &rng);
				break;
			case 3:
				add_tensor(&inputs, &rng);
				break;
			default:
				add_batch(&inputs, &rng);
			}
			assert_int_equal(dlsi_inputs_count(&inputs), model_items);
		}
		check_all(&inputs);
		dlsi_inputs_fini(&inputs);
		assert_int_equal(released, taken);
	}
}

static void test_items_of_several_tensors(void **state)
{
	const int64_t small = 10, large = LARGE;
	struct dlsi_rng rng = unit_rng(1);
	struct dlsi_inputs inputs;
	struct dls_tensor tensors[2];

	(void)state;
	taken = released = 0;
	tensors[0] = take_tensor(&small, 1, draw_bytes(&rng, 10));
	tensors[1] = take_tensor(&large, 1, draw_bytes(&rng, LARGE));
	dlsi_inputs_init(&inputs, unit_alloc());
	assert_int_equal(dlsi_inputs_add_tensors(&inputs, tensors, 2, NULL), 0);
	assert_int_equal(released, 1); /* the small one was copied */
	assert_int_equal(inputs.blob_count, 1);
	dlsi_inputs_fini(&inputs);
	assert_int_equal(released, 2);
}

static void test_many_small_items_are_one_run(void **state)
{
	const int64_t dims[2] = {1000000, 0};
	struct dls_tensor tensor;
	struct dlsi_inputs inputs;
	uint8_t *data;
	size_t length;
	uint32_t head;

	(void)state;
	taken = released = 0;
	tensor = take_tensor(dims, 2, malloc(1));
	dlsi_inputs_init(&inputs, unit_alloc());
	assert_int_equal(dlsi_inputs_add_batch(&inputs, &tensor, NULL), 0);
	assert_int_equal(dlsi_inputs_count(&inputs), 1000000);
	assert_int_equal(dlsi_manifest_finish(&inputs.writer, &data, &length, &head, NULL), 0);
	assert_true(length < 1000);
	dlsi_free(inputs.alloc, data);
	dlsi_inputs_fini(&inputs);
	assert_int_equal(released, 1);
}

static void test_what_is_refused(void **state)
{
	const int64_t dim = 4;
	struct dls_tensor tensor;
	struct dls_error err;
	struct dlsi_inputs inputs;

	(void)state;
	taken = released = 0;
	dlsi_inputs_init(&inputs, unit_alloc());
	assert_int_equal(dlsi_inputs_add_file(&inputs, "/no/such/photo.jpg", &err), DLS_ENOTFOUND);
	assert_non_null(strstr(err.text, "/no/such/photo.jpg"));
	assert_int_equal(dlsi_inputs_add_file(&inputs, "/tmp", &err), DLS_EINVAL);
	assert_int_equal(dlsi_inputs_add_bytes(&inputs, NULL, 1, &err), DLS_EINVAL);
	assert_int_equal(dlsi_inputs_add_tensors(&inputs, NULL, 0, &err), DLS_EINVAL);

	tensor = take_tensor(&dim, 1, malloc(4));
	tensor.bytes = 5;
	assert_int_equal(dlsi_inputs_add_tensors(&inputs, &tensor, 1, &err), DLS_EINVAL);
	assert_int_equal(released, 1);
	tensor = take_tensor(&dim, 0, malloc(4));
	tensor.rank = 0;
	assert_int_equal(dlsi_inputs_add_batch(&inputs, &tensor, &err), DLS_EINVAL);
	assert_int_equal(released, 2);
	tensor.size = 3;
	assert_int_equal(dlsi_inputs_add_batch(&inputs, &tensor, &err), DLS_EINVAL);
	assert_int_equal(released, 2); /* what follows size cannot be believed */
	assert_int_equal(dlsi_inputs_count(&inputs), 0);
	dlsi_inputs_fini(&inputs);
}

/* One input of each kind; the first error that is met. */
static int add_some(struct dlsi_inputs *inputs, const char *path)
{
	const int64_t large = LARGE;
	static uint8_t bytes[LARGE];
	struct dlsi_rng rng = unit_rng(3);
	struct dls_tensor tensor;
	int rc = dlsi_inputs_add_file(inputs, path, NULL);

	if (rc == 0)
		rc = dlsi_inputs_add_bytes(inputs, bytes, sizeof bytes, NULL);
	tensor = take_tensor(&large, 1, draw_bytes(&rng, LARGE));
	if (rc == 0)
		rc = dlsi_inputs_add_tensors(inputs, &tensor, 1, NULL);
	else
		dlsi_inputs_add_tensors(inputs, &tensor, 1, NULL);
	tensor = take_tensor(&large, 1, draw_bytes(&rng, LARGE));
	if (rc == 0)
		rc = dlsi_inputs_add_batch(inputs, &tensor, NULL);
	else
		dlsi_inputs_add_batch(inputs, &tensor, NULL);
	return rc;
}

static void test_without_memory(void **state)
{
	char path[128];
	uint8_t data[LARGE] = {7};
	unsigned n = 1;
	int rc;

	(void)state;
	snprintf(path, sizeof path, "%s/file", unit_folder());
	write_file(path, data, sizeof data);
	do {
		struct dlsi_inputs inputs;

		taken = released = 0;
		dlsi_inputs_init(&inputs, unit_alloc_failing_at(n++));
		rc = add_some(&inputs, path);
		dlsi_inputs_fini(&inputs);
		assert_int_equal(released, taken);
	} while (rc == DLS_ENOMEM);
	assert_int_equal(rc, 0);
	assert_true(n > 4);
}

UNIT_MAIN(test_a_reader_finds_every_item, test_items_of_several_tensors, test_many_small_items_are_one_run,
	test_what_is_refused, test_without_memory)
