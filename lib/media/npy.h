/* numpy's .npy files (format versions 1 to 3): a header that is read where it lies in memory, and one that is written.
 *
 * The header is the text of a Python dict with the element type, the order of the axes and the shape; it is scanned,
 * never evaluated. Accepted are little-endian elements of the library's types in C order; what else numpy can write is
 * refused with the sentence that says how to save the array instead. */
#ifndef DLSI_NPY_H
#define DLSI_NPY_H

#include "base/buffer.h"
#include "base/error.h"
#include "media/array.h"
#include <stdbool.h>

/* True if the bytes begin as every .npy file does. */
bool dlsi_npy_recognise(const void *data, size_t length);

/* Reads the header of a whole file. Bytes behind the array are not looked at, as numpy itself does not.
 * Errors: DLS_EFORMAT (not such a file, damaged or cut short), DLS_EUNSUPPORTED (order or type), DLS_ELIMIT. */
int dlsi_npy_parse(const void *data, size_t length, struct dlsi_array *array_out, struct dls_error *err);

/* Appends the header (version 1) of a C-ordered array; its elements are to follow at once. */
void dlsi_npy_append_header(struct dlsi_buffer *buffer, enum dls_dtype dtype, uint32_t rank, const int64_t *dims);

#endif
