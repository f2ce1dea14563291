#include "worker/task_input.h"

#include "base/limits.h"
#include <inttypes.h>
#include <string.h>

#define NO_READ UINT32_MAX

/* Where an input lies; beside the tensor that describes it. */
struct dlsi_task_source {
	uint32_t read;   /* NO_READ: inline, the tensor has its data */
	uint64_t offset; /* in the read */
	bool is_file;
	bool is_copy; /* the tensor's data are its own */
};

struct dlsi_task_row {
	size_t first; /* input */
	unsigned count;
	uint32_t failed; /* with count 0: the read that says why */
};

int dlsi_task_inputs_init(struct dlsi_task_inputs *inputs, const struct dlsi_alloc *alloc, uint32_t rows)
{
	struct dlsi_task_row *room = dlsi_calloc(alloc, rows, sizeof *room);

	if (!room)
		return DLS_ENOMEM;
	*inputs = (struct dlsi_task_inputs){.alloc = alloc, .rows = room, .row_capacity = rows};
	return 0;
}

void dlsi_task_inputs_fini(struct dlsi_task_inputs *inputs)
{
	for (uint32_t i = 0; i < inputs->read_count; i++) {
		dlsi_frame_unref(inputs->reads[i].frame);
		dlsi_free(inputs->alloc, inputs->reads[i].sentence);
	}
	for (size_t i = 0; i < inputs->count; i++)
		if (inputs->sources[i].is_copy)
			dlsi_free(inputs->alloc, (void *)inputs->tensors[i].data);
	dlsi_free(inputs->alloc, inputs->reads);
	dlsi_free(inputs->alloc, inputs->rows);
	dlsi_free(inputs->alloc, inputs->sources);
	dlsi_free(inputs->alloc, inputs->tensors);
	*inputs = (struct dlsi_task_inputs){.alloc = inputs->alloc};
}

/* Room for `count` more inputs. */
static bool reserve(struct dlsi_task_inputs *inputs, size_t count)
{
	size_t capacity = inputs->capacity ? 2 * inputs->capacity : inputs->row_capacity;
	struct dls_tensor *tensors;
	struct dlsi_task_source *sources;

	if (inputs->count + count <= inputs->capacity)
		return true;
	if (capacity < inputs->count + count)
		capacity = inputs->count + count;
	tensors = dlsi_realloc(inputs->alloc, inputs->tensors, capacity * sizeof *tensors);
	if (!tensors)
		return false;
	inputs->tensors = tensors;
	sources = dlsi_realloc(inputs->alloc, inputs->sources, capacity * sizeof *sources);
	if (!sources)
		return false;
	inputs->sources = sources;
	inputs->capacity = capacity;
	return true;
}

/* Room for `count` more reads. */
static bool reserve_reads(struct dlsi_task_inputs *inputs, size_t count)
{
	size_t capacity = inputs->read_capacity ? 2 * inputs->read_capacity : 4;
	struct dlsi_task_read *reads;

	if (inputs->read_count + count <= inputs->read_capacity)
		return true;
	if (capacity < inputs->read_count + count)
		capacity = inputs->read_count + count;
	reads = dlsi_realloc(inputs->alloc, inputs->reads, capacity * sizeof *reads);
	if (!reads)
		return false;
	inputs->reads = reads;
	inputs->read_capacity = (uint32_t)capacity;
	return true;
}

/* Makes the last read cover the value too, if the value lies within it or right behind it. */
static bool join(struct dlsi_task_inputs *inputs, const struct dlsi_field *field)
{
	struct dlsi_task_read *last = inputs->read_count ? &inputs->reads[inputs->read_count - 1] : NULL;
	uint64_t end = field->offset + field->length;

	if (!last || last->code || !dlsi_hash_equal(&last->blob.name, &field->blob.name) ||
		field->offset < last->offset || field->offset > last->offset + last->length)
		return false;
	if (end <= last->offset + last->length)
		return true;
	if (end - last->offset > DLSI_TASK_READ_BYTES)
		return false;
	inputs->bytes += end - (last->offset + last->length);
	last->length = end - last->offset;
	return true;
}

/* Fills in the source of a value that lies in a blob; there is room for the read. */
static void locate(struct dlsi_task_inputs *inputs, const struct dlsi_field *field, struct dlsi_task_source *source)
{
	if (!join(inputs, field)) {
		inputs->reads[inputs->read_count++] =
			(struct dlsi_task_read){.blob = field->blob, .offset = field->offset, .length = field->length};
		inputs->bytes += field->length;
	}
	source->read = inputs->read_count - 1;
	source->offset = field->offset - inputs->reads[source->read].offset;
}

static struct dls_tensor describe(const struct dlsi_field *field, uint64_t length)
{
	struct dls_tensor tensor = DLS_TENSOR_INIT;

	tensor.bytes = (size_t)length;
	if (field->media == DLSI_MEDIA_FILE) {
		tensor.dtype = DLS_UINT8;
		tensor.rank = 1;
		tensor.dims[0] = (int64_t)length;
		return tensor;
	}
	tensor.dtype = field->dtype;
	tensor.rank = field->rank;
	memcpy(tensor.dims, field->dims, sizeof tensor.dims);
	return tensor;
}

static int check(const struct dlsi_field *field, struct dls_error *err)
{
	if (field->form == DLSI_FORM_ERROR || field->media == DLSI_MEDIA_TOP)
		return dlsi_fail(err, DLS_EFORMAT, "an input of the job is neither a tensor nor a file");
	if (field->form == DLSI_FORM_BLOB && field->length > SIZE_MAX / 2)
		return dlsi_fail(err, DLS_ELIMIT, "an input of the job is larger than this machine's memory");
	return 0;
}

int dlsi_task_inputs_add(
	struct dlsi_task_inputs *inputs, const struct dlsi_field *fields, unsigned count, struct dls_error *err)
{
	unsigned blobs = 0;
	int rc = 0;

	for (unsigned i = 0; i < count && rc == 0; i++) {
		rc = check(&fields[i], err);
		blobs += fields[i].form == DLSI_FORM_BLOB;
	}
	if (rc)
		return rc;
	if (!reserve(inputs, count) || !reserve_reads(inputs, blobs))
		return dlsi_fail_memory(err);
	inputs->rows[inputs->row_count++] = (struct dlsi_task_row){.first = inputs->count, .count = count};
	for (unsigned i = 0; i < count; i++) {
		const struct dlsi_field *field = &fields[i];
		bool is_inline = field->form == DLSI_FORM_INLINE;
		struct dlsi_task_source *source = &inputs->sources[inputs->count];
		struct dls_tensor *tensor = &inputs->tensors[inputs->count++];

		*source = (struct dlsi_task_source){.read = NO_READ, .is_file = field->media == DLSI_MEDIA_FILE};
		*tensor = describe(field, is_inline ? field->bytes.length : field->length);
		if (is_inline)
			tensor->data = field->bytes.data;
		else if (field->length)
			locate(inputs, field, source);
	}
	return 0;
}

int dlsi_task_inputs_add_failed(struct dlsi_task_inputs *inputs, uint32_t rows, const struct dls_error *why)
{
	if (!reserve_reads(inputs, 1))
		return DLS_ENOMEM;
	inputs->reads[inputs->read_count++] = (struct dlsi_task_read){0};
	dlsi_task_inputs_fail(inputs, inputs->read_count - 1, why);
	for (uint32_t i = 0; i < rows; i++)
		inputs->rows[inputs->row_count++] = (struct dlsi_task_row){.failed = inputs->read_count - 1};
	return 0;
}

void dlsi_task_inputs_fill(struct dlsi_task_inputs *inputs, uint32_t read, struct dlsi_frame *frame_take)
{
	inputs->reads[read].frame = frame_take;
}

void dlsi_task_inputs_fail(struct dlsi_task_inputs *inputs, uint32_t read, const struct dls_error *why)
{
	inputs->reads[read].code = why->code;
	inputs->reads[read].sentence = dlsi_strdup(inputs->alloc, why->text);
}

void dlsi_task_inputs_limit(struct dlsi_task_inputs *inputs, uint64_t most, const char *worker)
{
	struct dls_error why;

	for (uint32_t i = 0; i < inputs->read_count; i++) {
		uint64_t length = inputs->reads[i].length;

		if (inputs->reads[i].code || length <= most)
			continue;
		dlsi_fail(&why, DLS_ELIMIT,
			"the input has %" PRIu64 " bytes, and the worker %s may use %" PRIu64 "; make it smaller",
			length, worker, most);
		dlsi_task_inputs_fail(inputs, i, &why);
		inputs->bytes -= length;
	}
}

static int explain(const struct dlsi_task_read *read, struct dls_error *err)
{
	return dlsi_fail(err, read->code, "%s", read->sentence ? read->sentence : dls_error_meaning(read->code));
}

unsigned dlsi_task_inputs_of(const struct dlsi_task_inputs *inputs, uint32_t row, struct dls_error *err)
{
	const struct dlsi_task_row *at = &inputs->rows[row];

	if (!at->count) {
		explain(&inputs->reads[at->failed], err);
		return 0;
	}
	for (size_t i = at->first; i < at->first + at->count; i++) {
		uint32_t read = inputs->sources[i].read;

		if (read != NO_READ && inputs->reads[read].code) {
			explain(&inputs->reads[read], err);
			return 0;
		}
	}
	return at->count;
}

struct dlsi_task_input dlsi_task_inputs_at(struct dlsi_task_inputs *inputs, uint32_t row, unsigned i)
{
	size_t at = inputs->rows[row].first + i;
	const struct dlsi_task_source *source = &inputs->sources[at];
	struct dls_tensor *tensor = &inputs->tensors[at];

	if (!tensor->data && source->read != NO_READ)
		tensor->data = dlsi_frame_data(inputs->reads[source->read].frame) + source->offset;
	return (struct dlsi_task_input){tensor, source->is_file};
}

/* Moves a value that does not lie as its type must to memory of its own. */
static int align(struct dlsi_task_inputs *inputs, size_t at, struct dls_error *err)
{
	struct dls_tensor *tensor = &inputs->tensors[at];
	void *copy;

	if (!tensor->bytes || (uintptr_t)tensor->data % dls_dtype_bytes(tensor->dtype) == 0)
		return 0;
	copy = dlsi_malloc(inputs->alloc, tensor->bytes);
	if (!copy)
		return dlsi_fail_memory(err);
	memcpy(copy, tensor->data, tensor->bytes);
	tensor->data = copy;
	inputs->sources[at].is_copy = true;
	return 0;
}

int dlsi_task_inputs_row(struct dlsi_task_inputs *inputs, uint32_t row, const struct dls_tensor **tensors_out,
	uint32_t *count_out, struct dls_error *err)
{
	const struct dlsi_task_row *at = &inputs->rows[row];
	struct dls_error why = {0};
	int rc = 0;

	if (!dlsi_task_inputs_of(inputs, row, &why))
		return dlsi_fail(err, why.code, "%s", why.text);
	for (unsigned i = 0; i < at->count && rc == 0; i++) {
		dlsi_task_inputs_at(inputs, row, i);
		rc = align(inputs, at->first + i, err);
	}
	if (rc == 0) {
		*tensors_out = inputs->tensors + at->first;
		*count_out = at->count;
	}
	return rc;
}
