/* idx files, the plain format of MNIST and its kin: two zero bytes, a type, a rank, big-endian dimensions, elements. */
#ifndef DLSI_IDX_H
#define DLSI_IDX_H

#include "base/error.h"
#include "media/array.h"
#include <stdbool.h>

enum { DLSI_IDX_HEADER_BYTES = 4 + 4 * DLS_TENSOR_RANK }; /* at most */

/* True if the bytes may be the beginning of an idx file: zero, zero, a type that exists, a rank that fits. */
bool dlsi_idx_recognise(const void *data, size_t length);

/* Reads the header of a file of `length` bytes, of which the first DLSI_IDX_HEADER_BYTES are enough. Elements of more
 * than one byte are big-endian in this format and are refused: the items are sent as they lie in the file. Errors:
 * DLS_EFORMAT (not such a file, or its length is not what the header says), DLS_EUNSUPPORTED, DLS_ELIMIT. */
int dlsi_idx_parse(const void *data, size_t length, struct dlsi_array *array_out, struct dls_error *err);

#endif
