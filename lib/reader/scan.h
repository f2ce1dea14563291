/* The first look at an ONNX file, or at one that holds a tensor alone: walks the protobuf wire format and copies the
 * fields that the reader needs, so that protobuf-c only ever meets bytes that are well formed, bounded and few.
 *
 * protobuf-c by itself recurses as deep as the file says (114 KB of nested graphs overflow the stack), turns two bytes
 * of an empty message into hundreds of memory, keeps unknown fields, and copies all weights. Here every length lies
 * inside what surrounds it, messages nest at most DLSI_ONNX_DEPTH, their number and the memory that they will need are
 * bounded, group wire types are refused, and raw weights stay in the file: in the copy `TensorProto.raw_data` is only
 * their place. Cost: one pass, stack by depth.
 *
 * The encoding is protobuf's (https://protobuf.dev/programming-guides/encoding), the fields are those of onnx.proto. */
#ifndef DLSI_SCAN_H
#define DLSI_SCAN_H

#include "base/alloc.h"
#include "base/buffer.h"
#include "base/error.h"
#include <stdint.h>

/* What raw_data holds in the copy. */
struct dlsi_scan_place {
	uint64_t offset; /* in the file */
	uint64_t length;
};

/* Appends the copy of a ModelProto to *copy_out (whose content is undefined after a failure).
 * Errors: DLS_EFORMAT (says where and what), DLS_ELIMIT, DLS_ENOMEM. */
int dlsi_scan(const void *file, size_t length, struct dlsi_buffer *copy_out, struct dls_error *err);

/* The same of a TensorProto. */
int dlsi_scan_tensor(const void *file, size_t length, struct dlsi_buffer *copy_out, struct dls_error *err);

#endif
