#include "client/result.h"

#include <string.h>

enum { ALIGNMENT = 16 };

/* The head of the block; the outputs, texts and values follow. */
struct block {
	struct dls_result result;
	struct dlsi_alloc alloc;
	struct dls_output outputs[];
};

static size_t align(size_t bytes)
{
	return (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
}

/* Fills in what stands for a row that is no result. */
static void replace_row(struct dlsi_field *fields, unsigned *count, const char *sentence)
{
	fields[0] = dlsi_field_error(DLS_EPROTOCOL, sentence);
	*count = 1;
}

static void read_row(const struct dlsi_page *page, uint32_t row, struct dlsi_field *fields, unsigned *count)
{
	if (row >= page->rows || dlsi_page_row(page, row, fields, count, NULL))
		replace_row(fields, count, "the worker sent a result that cannot be read");
	for (unsigned i = 0; i < *count; i++)
		if (fields[i].form == DLSI_FORM_BLOB)
			replace_row(fields, count, "the worker sent a result that lies somewhere else");
}

static size_t block_bytes(const struct dlsi_field *fields, unsigned count, size_t worker_bytes)
{
	size_t bytes = sizeof(struct block) + count * sizeof(struct dls_output) + worker_bytes;

	for (unsigned i = 0; i < count; i++)
		if (fields[i].form == DLSI_FORM_ERROR)
			bytes += (size_t)fields[i].sentence.length + 1;
		else
			bytes += align(fields[i].bytes.length);
	return align(bytes) + ALIGNMENT;
}

static void fill_error(struct block *block, const struct dlsi_field *field, char *text)
{
	if (field->sentence.length)
		memcpy(text, field->sentence.data, field->sentence.length);
	text[field->sentence.length] = '\0';
	block->result.code = field->code < 0 ? field->code : DLS_EPROTOCOL;
	block->result.error = text;
}

static void fill_output(struct dls_output *output, const struct dlsi_field *field, uint8_t *values)
{
	struct dls_tensor *tensor = &output->tensor;

	*tensor = (struct dls_tensor){.size = sizeof *tensor, .dtype = DLS_UINT8, .rank = 1, .data = values};
	tensor->bytes = field->bytes.length;
	if (field->bytes.length)
		memcpy(values, field->bytes.data, field->bytes.length);
	if (field->media == DLSI_MEDIA_FILE) {
		tensor->dims[0] = field->bytes.length;
		return;
	}
	tensor->dtype = (enum dls_dtype)field->dtype;
	tensor->rank = field->rank;
	memcpy(tensor->dims, field->dims, field->rank * sizeof *field->dims);
	if (field->media == DLSI_MEDIA_TOP) {
		tensor->bytes /= 2; /* as many indices follow, of the same size */
		output->indices = (const uint32_t *)(const void *)(values + tensor->bytes);
	}
}

static void fill(struct block *block, const struct dlsi_field *fields, unsigned count, const char *worker)
{
	size_t worker_bytes = strlen(worker) + 1;
	char *texts = (char *)&block->outputs[count];
	uint8_t *values = (uint8_t *)align((uintptr_t)texts + worker_bytes);

	block->result.worker = memcpy(texts, worker, worker_bytes);
	if (fields[0].form == DLSI_FORM_ERROR) {
		fill_error(block, &fields[0], texts + worker_bytes);
		return;
	}
	block->result.output_count = count;
	block->result.outputs = block->outputs;
	for (unsigned i = 0; i < count; i++) {
		fill_output(&block->outputs[i], &fields[i], values);
		values += align(fields[i].bytes.length);
	}
}

int dlsi_result_create(const struct dlsi_alloc *alloc, const struct dlsi_page *page, uint32_t row, uint64_t item,
	const char *worker, uint64_t elapsed_ns, struct dls_result **result_out)
{
	struct dlsi_field fields[DLSI_ROW_FIELDS];
	unsigned count;
	struct block *block;

	read_row(page, row, fields, &count);
	block = dlsi_calloc(alloc, 1, block_bytes(fields, count, strlen(worker) + 1));
	if (!block)
		return DLS_ENOMEM;
	block->result.size = sizeof block->result;
	block->result.item = item;
	block->result.elapsed_ns = elapsed_ns;
	block->alloc = *alloc;
	fill(block, fields, count, worker);
	*result_out = &block->result;
	return 0;
}

void dlsi_result_destroy(struct dls_result *result)
{
	if (result) {
		struct dlsi_alloc alloc = ((struct block *)result)->alloc;

		dlsi_free(&alloc, result);
	}
}
