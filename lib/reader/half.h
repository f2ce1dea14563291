/* Floats of 16 bits, widened exactly: every one of them is a float too, the subnormal and infinite ones and all that
 * are no number included. */
#ifndef DLSI_HALF_H
#define DLSI_HALF_H

#include <stddef.h>

/* ONNX's float16, IEEE 754's binary16: `count` at `from`, little-endian, `stride` bytes from one to the next. */
void dlsi_half_widen(const void *from, size_t stride, size_t count, float *to);

/* ONNX's bfloat16: the upper half of a float. */
void dlsi_bfloat_widen(const void *from, size_t stride, size_t count, float *to);

#endif
