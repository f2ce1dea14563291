/* The bytes of a model: those of its ONNX file, and how to come by the files in which it keeps the data of constants
 * (TensorProto.external_data). The reader opens nothing itself. */
#ifndef DLSI_READER_ONNX_H
#define DLSI_READER_ONNX_H

#include "base/alloc.h"
#include "base/error.h"
#include <dlsched/tensor.h>
#include <stdbool.h>
#include <stdint.h>

/* What the file may leave open of an input: its sizes. */
struct dlsi_onnx_shape {
	uint32_t rank;
	int64_t dims[DLS_TENSOR_RANK];
};

/* The same number of shapes each. */
bool dlsi_onnx_shapes_equal(const struct dlsi_onnx_shape *a, const struct dlsi_onnx_shape *b, size_t count);

/* A copy, freed by the caller; NULL when memory is exhausted. */
struct dlsi_onnx_shape *dlsi_onnx_shapes_copy(
	const struct dlsi_alloc *alloc, const struct dlsi_onnx_shape *shapes, size_t count);

struct dlsi_onnx {
	const void *file;
	size_t length;

	/* The shapes of one item's inputs, in the order of the file and without those that it gives a value itself.
	 * NULL: a first dimension that is open is 1. */
	const struct dlsi_onnx_shape *shapes;
	size_t shape_count;

	/* The whole content of the file of this name, which the model says and which may be anything; asked for once
	 * per constant. NULL: there are no such files. Errors: its own. */
	int (*find)(
		void *find_arg, const char *name, const uint8_t **data_out, size_t *length_out, struct dls_error *err);
	void *find_arg;
};

/* Refuses a file of so many bytes if protobuf cannot have that many. Errors: DLS_ELIMIT. */
int dlsi_onnx_check_length(uint64_t length, struct dls_error *err);

#endif
