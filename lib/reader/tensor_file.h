/* A file that holds one tensor: a serialised TensorProto, as the test data of ONNX is kept (.pb). Pure. */
#ifndef DLSI_TENSOR_FILE_H
#define DLSI_TENSOR_FILE_H

#include "base/alloc.h"
#include "base/error.h"
#include <dlsched/tensor.h>
#include <stdbool.h>

/* True if the bytes begin as the serialisers of protobuf begin such a file: dimensions, then an element type. The
 * format has no mark of its own. */
bool dlsi_tensor_file_recognise(const void *data, size_t length);

/* Reads a whole file. The data of *tensor_out are freed by the caller (NULL where there are none) and aligned to their
 * elements. Memory for the time of the call is bounded by the file's length.
 * Errors: DLS_EFORMAT (not such a file, damaged, cut short), DLS_EUNSUPPORTED (an element type, data in another file),
 * DLS_ELIMIT, DLS_ENOMEM. */
int dlsi_tensor_file_read(const struct dlsi_alloc *alloc, const void *data, size_t length,
	struct dls_tensor *tensor_out, struct dls_error *err);

#endif
