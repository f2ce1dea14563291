/* ONNX files for tests, out of a few lines of text, written to the wire format by hand so that no code under test takes
 * part. One statement a line:
 *
 *   opset N                                    13 if left out
 *   in NAME DIM...                             a float32 input; `?` is an open dimension
 *   out NAME
 *   const NAME DIM...                          float32, random from the seed, of a size that keeps sums near 1
 *   positive NAME DIM...                       the same between 0.5 and 1.5 (variances, say)
 *   floats NAME NUMBER...    ints NAME NUMBER...   a vector of float32 or int64
 *   float16 NAME HEX...   bfloat16 NAME HEX...   a vector of the floats with these bits; in int32_data where the name
 * ends in `_typed` away NAME FILE OFFSET LENGTH DIM...        float32 in another file; `-` says nothing of it node
 * OPERATOR INPUT... > OUTPUT... [ATTRIBUTE...]    `-` leaves an input or output out
 *
 * An attribute is NAME:KIND=VALUE with KIND i, f, s, or I for integers between commas. A node is named after its first
 * output with `node_` before it. */
#ifndef DLSI_UNIT_ONNX_H
#define DLSI_UNIT_ONNX_H

#include "base/buffer.h"
#include "base/rng.h"
#include "graph/graph.h"

/* Writes the file into *file_out, which the caller finishes. Fails the test on a statement that it does not know. */
void unit_onnx(struct dlsi_buffer *file_out, struct dlsi_rng *rng, const char *text);

/* dlsi_graph_load of a file that has no others beside it. */
int unit_onnx_load(const struct dlsi_alloc *alloc, const struct dlsi_buffer *file, struct dlsi_graph **graph_out,
	struct dls_error *err);

/* Pieces of the wire format, for files that are wrong on purpose. */
void unit_onnx_varint(struct dlsi_buffer *buffer, uint64_t value);
void unit_onnx_bytes(struct dlsi_buffer *buffer, unsigned field, const void *data, size_t length);
void unit_onnx_number(struct dlsi_buffer *buffer, unsigned field, uint64_t value);

/* A float between -1 and 1. */
float unit_random_float(struct dlsi_rng *rng);

#endif
