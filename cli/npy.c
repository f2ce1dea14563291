#include "cli/npy.h"

#include "cli/failure.h"
#include "cli/file.h"
#include <inttypes.h>
#include <string.h>

enum { ALIGNMENT = 64, PREFIX_BYTES = 10, HEADER_BYTES = 512 };

/* numpy's names of the types, on a little-endian machine. */
static const char *const spellings[] = {
	[DLS_FLOAT32] = "<f4",
	[DLS_FLOAT64] = "<f8",
	[DLS_INT8] = "|i1",
	[DLS_UINT8] = "|u1",
	[DLS_INT16] = "<i2",
	[DLS_UINT16] = "<u2",
	[DLS_INT32] = "<i4",
	[DLS_UINT32] = "<u4",
	[DLS_INT64] = "<i8",
	[DLS_UINT64] = "<u8",
	[DLS_BOOL] = "|b1",
};

int cli_npy_init(const char *path, uint64_t items, struct cli_npy *npy_out, struct dls_error *err)
{
	struct cli_npy npy = {.items = items};
	int rc = cli_file_begin(path, &npy.file, err);

	if (rc == 0)
		*npy_out = npy;
	return rc;
}

static void write_header(FILE *to, enum dls_dtype dtype, uint32_t rank, const int64_t *dims)
{
	char text[HEADER_BYTES];
	unsigned char prefix[PREFIX_BYTES] = "\x93NUMPY\x01\x00";
	int length, padding;

	length = sprintf(text, "{'descr': '%s', 'fortran_order': False, 'shape': (", spellings[dtype]);
	for (uint32_t i = 0; i < rank; i++)
		length +=
			sprintf(text + length, "%s%" PRId64 "%s", i ? " " : "", dims[i], i + 1 < rank || !i ? "," : "");
	length += sprintf(text + length, "), }");
	padding = ALIGNMENT - 1 - (PREFIX_BYTES + length) % ALIGNMENT;
	length += sprintf(text + length, "%*s\n", padding, "");
	prefix[8] = (unsigned char)(length & 0xff);
	prefix[9] = (unsigned char)(length >> 8);
	fwrite(prefix, 1, sizeof prefix, to);
	fwrite(text, 1, (size_t)length, to);
}

static void write_stack_header(struct cli_npy *npy)
{
	int64_t dims[DLS_TENSOR_RANK + 1] = {(int64_t)npy->items};

	memcpy(dims + 1, npy->shape.dims, sizeof npy->shape.dims);
	write_header(npy->file.stream, npy->shape.dtype, npy->shape.rank + 1, dims);
}

static void write_missing(struct cli_npy *npy, uint64_t items)
{
	for (uint64_t i = 0; i < items; i++)
		for (size_t k = 0; k < npy->shape.bytes; k++)
			putc(0xff, npy->file.stream);
}

static int check_shape(struct cli_npy *npy, const struct dls_tensor *tensor, struct dls_error *err)
{
	if (!npy->shape.dtype) {
		npy->shape = *tensor;
		npy->shape.data = NULL;
		write_stack_header(npy);
		write_missing(npy, npy->missing);
	}
	if (tensor->dtype != npy->shape.dtype || tensor->rank != npy->shape.rank ||
		memcmp(tensor->dims, npy->shape.dims, tensor->rank * sizeof *tensor->dims) != 0)
		return cli_fail(err, DLS_EFORMAT, "%s: results of different shapes cannot be stacked", npy->file.path);
	return 0;
}

int cli_npy_add(struct cli_npy *npy, const struct dls_tensor *tensor, struct dls_error *err)
{
	int rc = tensor ? check_shape(npy, tensor, err) : 0;

	if (rc)
		return rc;
	if (tensor)
		fwrite(tensor->data, 1, tensor->bytes, npy->file.stream);
	else if (npy->shape.dtype)
		write_missing(npy, 1);
	else
		npy->missing++;
	return ferror(npy->file.stream) ? cli_fail_errno(err, DLS_EIO, "cannot write %s", npy->file.path) : 0;
}

int cli_npy_finish(struct cli_npy *npy, struct dls_error *err)
{
	return npy->shape.dtype ? cli_file_finish(&npy->file, err) : 0;
}

void cli_npy_fini(struct cli_npy *npy)
{
	cli_file_fini(&npy->file);
	*npy = (struct cli_npy){0};
}

int cli_npy_write(const char *path, const struct dls_tensor *tensor, struct dls_error *err)
{
	struct cli_new_file file;
	int rc = cli_file_begin(path, &file, err);

	if (rc)
		return rc;
	write_header(file.stream, tensor->dtype, tensor->rank, tensor->dims);
	if (tensor->bytes)
		fwrite(tensor->data, 1, tensor->bytes, file.stream);
	rc = cli_file_finish(&file, err);
	cli_file_fini(&file);
	return rc;
}
