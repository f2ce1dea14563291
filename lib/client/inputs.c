#include "client/inputs.h"

#include "base/file.h"
#include "base/limits.h"
#include "base/random.h"
#include "base/tensor.h"
#include "media/idx.h"
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { INLINE_ITEMS = 4096 }; /* a batch of more is a run, small as its items may be */

void dlsi_inputs_init(struct dlsi_inputs *inputs, const struct dlsi_alloc *alloc)
{
	*inputs = (struct dlsi_inputs){.alloc = alloc};
	dlsi_manifest_writer_init(&inputs->writer, alloc);
}

static void drop_blob(struct dlsi_inputs *inputs)
{
	struct dlsi_input_blob *blob = &inputs->blobs[--inputs->blob_count];

	dlsi_frame_unref(blob->frame);
	dlsi_free(inputs->alloc, blob->path);
}

void dlsi_inputs_fini(struct dlsi_inputs *inputs)
{
	while (inputs->blob_count)
		drop_blob(inputs);
	dlsi_free(inputs->alloc, inputs->blobs);
	dlsi_manifest_writer_fini(&inputs->writer);
	dlsi_inputs_init(inputs, inputs->alloc);
}

static int reserve_blobs(struct dlsi_inputs *inputs, size_t more, struct dls_error *err)
{
	size_t needed = inputs->blob_count + more, capacity = inputs->blob_capacity ? inputs->blob_capacity : 8;
	struct dlsi_input_blob *grown;

	if (needed > DLSI_BLOBS_OFFERED)
		return dlsi_fail(err, DLS_ELIMIT, "a job has at most %d inputs of more than %d bytes",
			DLSI_BLOBS_OFFERED, DLSI_INLINE_BYTES);
	while (capacity < needed)
		capacity *= 2;
	if (capacity == inputs->blob_capacity)
		return 0;
	grown = dlsi_realloc(inputs->alloc, inputs->blobs, capacity * sizeof *grown);
	if (!grown)
		return dlsi_fail_memory(err);
	inputs->blobs = grown;
	inputs->blob_capacity = capacity;
	return 0;
}

static int check_whole(const struct dlsi_inputs *inputs, struct dls_error *err)
{
	if (inputs->broken)
		return dlsi_fail(err, inputs->broken, "an earlier input could not be added; fill a new job");
	return 0;
}

/* Room has been reserved. */
static const struct dlsi_blob *add_blob(
	struct dlsi_inputs *inputs, char *path, struct dlsi_frame *frame, uint64_t length)
{
	struct dlsi_input_blob *blob = &inputs->blobs[inputs->blob_count++];

	*blob = (struct dlsi_input_blob){.path = path, .frame = frame};
	blob->blob = (struct dlsi_blob){.length = length, .proof = DLSI_PROOF_CHECKSUM};
	dlsi_random_bytes(blob->blob.name.bytes, sizeof blob->blob.name.bytes);
	return &blob->blob;
}

/* A blob of the tensor, whose owner is told when it is dropped; NULL when memory is exhausted. */
static const struct dlsi_blob *add_tensor_blob(struct dlsi_inputs *inputs, const struct dls_tensor *tensor)
{
	struct dlsi_frame *frame =
		dlsi_frame_wrap(inputs->alloc, tensor->data, tensor->bytes, tensor->release, tensor->release_arg);

	return frame ? add_blob(inputs, NULL, frame, tensor->bytes) : NULL;
}

static struct dlsi_field describe(uint8_t media, enum dls_dtype dtype, uint32_t rank, const int64_t *dims)
{
	struct dlsi_field field = {.media = media, .dtype = (uint8_t)dtype, .rank = (uint8_t)rank};

	memcpy(field.dims, dims, rank * sizeof *dims);
	return field;
}

static void point_inline(struct dlsi_field *field, const void *data, size_t bytes)
{
	field->form = DLSI_FORM_INLINE;
	field->bytes = (struct dlsi_bytes){data, (uint32_t)bytes};
}

static void point_into_blob(struct dlsi_field *field, const struct dlsi_blob *blob, uint64_t offset, uint64_t length)
{
	field->form = DLSI_FORM_BLOB;
	field->blob = *blob;
	field->offset = offset;
	field->length = length;
}

/* Without memory the manifest may have lost what was in it before. */
static int add_row(struct dlsi_inputs *inputs, const struct dlsi_field *fields, unsigned count, struct dls_error *err)
{
	int rc = dlsi_manifest_add_row(&inputs->writer, fields, count, err);

	if (rc == DLS_ENOMEM)
		inputs->broken = rc;
	return rc;
}

static int add_run(struct dlsi_inputs *inputs, uint64_t items, uint64_t bytes, const struct dlsi_field *field,
	struct dls_error *err)
{
	int rc = dlsi_manifest_add_equal(&inputs->writer, items, bytes, field, err);

	if (rc == DLS_ENOMEM)
		inputs->broken = rc;
	return rc;
}

/* Every item lies behind the last one, and all are copied. */
static int add_inline_items(struct dlsi_inputs *inputs, struct dlsi_field field, const uint8_t *data, uint64_t items,
	size_t bytes, struct dls_error *err)
{
	int rc = 0;

	for (uint64_t i = 0; rc == 0 && i < items; i++) {
		point_inline(&field, bytes ? data + i * bytes : NULL, bytes);
		rc = add_row(inputs, &field, 1, err);
	}
	if (rc)
		inputs->broken = rc; /* some of the items may be there */
	return rc;
}

/* The items of an idx file: how many, the shape of each, and where in the file the first one lies. */
static int read_idx(const char *path, const void *data, size_t length, uint64_t *items_out,
	struct dlsi_field *field_out, struct dls_error *err)
{
	struct dlsi_array array;
	uint64_t bytes;
	int rc = dlsi_idx_parse(data, length, &array, err);

	if (rc)
		return dlsi_fail_in(err, rc, "%s", path);
	dlsi_array_items(&array, items_out, &bytes);
	if (!bytes)
		return dlsi_fail(err, DLS_EFORMAT, "%s holds no values", path);
	*field_out = describe(DLSI_MEDIA_TENSOR, array.dtype, array.rank ? array.rank - 1 : 0, array.dims + 1);
	field_out->offset = array.offset;
	field_out->length = bytes;
	return 0;
}

static int add_small_file(struct dlsi_inputs *inputs, const char *path, struct dls_error *err)
{
	struct dlsi_field field = {.media = DLSI_MEDIA_FILE};
	uint64_t items;
	uint8_t *data;
	size_t length;
	int rc = dlsi_file_read(inputs->alloc, path, DLSI_INLINE_BYTES, &data, &length, err);

	if (rc)
		return rc;
	if (dlsi_idx_recognise(data, length)) {
		rc = read_idx(path, data, length, &items, &field, err);
		if (rc == 0)
			rc = add_inline_items(inputs, field, data + field.offset, items, field.length, err);
	} else {
		point_inline(&field, data, length);
		rc = add_row(inputs, &field, 1, err);
	}
	dlsi_free(inputs->alloc, data);
	return rc;
}

/* Adds what the file holds, of which the blob has been added. */
static int add_file_items(struct dlsi_inputs *inputs, const char *path, const uint8_t *head,
	const struct dlsi_blob *blob, struct dls_error *err)
{
	struct dlsi_field field = {.media = DLSI_MEDIA_FILE};
	uint64_t items;
	int rc;

	if (!dlsi_idx_recognise(head, blob->length)) {
		point_into_blob(&field, blob, 0, blob->length);
		return add_row(inputs, &field, 1, err);
	}
	rc = read_idx(path, head, blob->length, &items, &field, err);
	if (rc)
		return rc;
	point_into_blob(&field, blob, field.offset, field.length);
	return add_run(inputs, items, field.length, &field, err);
}

static int add_large_file(struct dlsi_inputs *inputs, const char *path, struct dls_error *err)
{
	uint8_t head[DLSI_IDX_HEADER_BYTES] = {0};
	size_t length;
	char *copy;
	int rc = reserve_blobs(inputs, 1, err);

	if (rc == 0)
		rc = dlsi_file_read_head(path, DLSI_BLOB_BYTES, head, sizeof head, &length, err);
	if (rc)
		return rc;
	copy = dlsi_strdup(inputs->alloc, path);
	if (!copy)
		return dlsi_fail_memory(err);
	rc = add_file_items(inputs, path, head, add_blob(inputs, copy, NULL, length), err);
	if (rc)
		drop_blob(inputs);
	return rc;
}

int dlsi_inputs_add_file(struct dlsi_inputs *inputs, const char *path, struct dls_error *err)
{
	struct stat status;
	int rc = check_whole(inputs, err);

	if (rc)
		return rc;
	/* a file that cannot be examined cannot be read either, and then the reason is told */
	if (stat(path, &status) < 0 || status.st_size <= DLSI_INLINE_BYTES)
		return add_small_file(inputs, path, err);
	return add_large_file(inputs, path, err);
}

static int add_large_bytes(struct dlsi_inputs *inputs, const void *data, size_t bytes, struct dls_error *err)
{
	struct dlsi_field field = {.media = DLSI_MEDIA_FILE};
	struct dlsi_frame *frame;
	int rc = reserve_blobs(inputs, 1, err);

	if (rc)
		return rc;
	frame = dlsi_frame_copy(inputs->alloc, data, bytes);
	if (!frame)
		return dlsi_fail_memory(err);
	point_into_blob(&field, add_blob(inputs, NULL, frame, bytes), 0, bytes);
	rc = add_row(inputs, &field, 1, err);
	if (rc)
		drop_blob(inputs);
	return rc;
}

int dlsi_inputs_add_bytes(struct dlsi_inputs *inputs, const void *data, size_t bytes, struct dls_error *err)
{
	struct dlsi_field field = {.media = DLSI_MEDIA_FILE};
	int rc = check_whole(inputs, err);

	if (rc)
		return rc;
	if (bytes && !data)
		return dlsi_fail(err, DLS_EINVAL, "data is NULL");
	if (bytes > DLSI_BLOB_BYTES)
		return dlsi_fail(err, DLS_ELIMIT, "an input has at most %llu bytes", DLSI_BLOB_BYTES);
	if (bytes > DLSI_INLINE_BYTES)
		return add_large_bytes(inputs, data, bytes, err);
	point_inline(&field, data, bytes);
	return add_row(inputs, &field, 1, err);
}

/* Describes an item's tensors; larger ones become blobs, which *held_out counts. */
static int describe_tensors(struct dlsi_inputs *inputs, const struct dls_tensor *tensors, uint32_t count,
	struct dlsi_field *fields, uint32_t *held_out)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct dls_tensor *tensor = &tensors[i];
		const struct dlsi_blob *blob;

		fields[i] = describe(DLSI_MEDIA_TENSOR, tensor->dtype, tensor->rank, tensor->dims);
		if (tensor->bytes <= DLSI_INLINE_BYTES) {
			point_inline(&fields[i], tensor->data, tensor->bytes);
			continue;
		}
		blob = add_tensor_blob(inputs, tensor);
		if (!blob)
			return DLS_ENOMEM;
		point_into_blob(&fields[i], blob, 0, tensor->bytes);
		++*held_out;
	}
	return 0;
}

static int check_tensors(const struct dls_tensor *tensors, uint32_t count, size_t *blobs_out, struct dls_error *err)
{
	char what[32];

	*blobs_out = 0;
	for (uint32_t i = 0; i < count; i++) {
		int rc;

		snprintf(what, sizeof what, "tensor %u", i);
		rc = dlsi_tensor_check(&tensors[i], what, err);
		if (rc)
			return rc;
		if (tensors[i].bytes > DLSI_BLOB_BYTES)
			return dlsi_fail(err, DLS_ELIMIT, "%s has more than %llu bytes", what, DLSI_BLOB_BYTES);
		*blobs_out += tensors[i].bytes > DLSI_INLINE_BYTES;
	}
	return 0;
}

/* *held_out: how many of the larger tensors belong to blobs now, which tell their owners. */
static int add_tensors(struct dlsi_inputs *inputs, const struct dls_tensor *tensors, uint32_t count, uint32_t *held_out,
	struct dls_error *err)
{
	struct dlsi_field fields[DLSI_ROW_FIELDS];
	size_t blobs, before = inputs->blob_count;
	int rc = check_whole(inputs, err);

	if (rc == 0)
		rc = check_tensors(tensors, count, &blobs, err);
	if (rc == 0)
		rc = reserve_blobs(inputs, blobs, err);
	if (rc)
		return rc;
	if (describe_tensors(inputs, tensors, count, fields, held_out))
		rc = dlsi_fail_memory(err);
	else
		rc = add_row(inputs, fields, count, err);
	while (rc && inputs->blob_count > before)
		drop_blob(inputs);
	return rc;
}

int dlsi_inputs_add_tensors(
	struct dlsi_inputs *inputs, const struct dls_tensor *tensors, uint32_t count, struct dls_error *err)
{
	uint32_t held = 0;
	int rc;

	if (!count || !tensors)
		return dlsi_fail(err, DLS_EINVAL, "an item needs at least one tensor");
	if (count > DLSI_ROW_FIELDS)
		rc = dlsi_fail(err, DLS_ELIMIT, "an item has at most %d tensors, not %u", DLSI_ROW_FIELDS, count);
	else
		rc = add_tensors(inputs, tensors, count, &held, err);
	for (uint32_t i = 0; i < count; i++) {
		if (held && tensors[i].bytes > DLSI_INLINE_BYTES)
			held--;
		else
			dlsi_tensors_release(&tensors[i], 1);
	}
	return rc;
}

/* A batch that is taken: one blob, one run. */
static int add_large_batch(struct dlsi_inputs *inputs, const struct dls_tensor *tensor, struct dlsi_field field,
	bool *held_out, struct dls_error *err)
{
	uint64_t items = (uint64_t)tensor->dims[0], bytes = tensor->bytes / items;
	const struct dlsi_blob *blob;
	int rc = reserve_blobs(inputs, 1, err);

	if (rc)
		return rc;
	blob = add_tensor_blob(inputs, tensor);
	if (!blob)
		return dlsi_fail_memory(err);
	*held_out = true;
	point_into_blob(&field, blob, 0, bytes);
	rc = add_run(inputs, items, bytes, &field, err);
	if (rc)
		drop_blob(inputs);
	return rc;
}

static int add_batch(struct dlsi_inputs *inputs, const struct dls_tensor *tensor, bool *held_out, struct dls_error *err)
{
	uint64_t items;
	struct dlsi_field field;

	if (!tensor->rank)
		return dlsi_fail(err, DLS_EINVAL, "the batch has rank 0; its first dimension is the number of items");
	if (tensor->bytes > DLSI_BLOB_BYTES)
		return dlsi_fail(err, DLS_ELIMIT, "the batch has more than %llu bytes", DLSI_BLOB_BYTES);
	items = (uint64_t)tensor->dims[0];
	field = describe(DLSI_MEDIA_TENSOR, tensor->dtype, tensor->rank - 1, tensor->dims + 1);
	if (tensor->bytes > DLSI_INLINE_BYTES || items > INLINE_ITEMS)
		return add_large_batch(inputs, tensor, field, held_out, err);
	return add_inline_items(inputs, field, tensor->data, items, items ? tensor->bytes / items : 0, err);
}

int dlsi_inputs_add_batch(struct dlsi_inputs *inputs, const struct dls_tensor *tensor, struct dls_error *err)
{
	bool held = false;
	int rc = dlsi_tensor_check(tensor, "the batch", err);

	if (rc == 0)
		rc = check_whole(inputs, err);
	if (rc == 0)
		rc = add_batch(inputs, tensor, &held, err);
	if (!held)
		dlsi_tensors_release(tensor, 1);
	return rc;
}
