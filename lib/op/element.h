/* Code that is written once for all element types: lists of types for macros, and arithmetic that is defined for each
 * of them. An operator is given its list, and the bits that its row needs come from the same list. */
#ifndef DLSI_ELEMENT_H
#define DLSI_ELEMENT_H

#include "graph/op.h"
#include <tgmath.h>

/* X(dtype, type of C, ...) */
#define DLSI_FLOATS(X, ...) X(DLS_FLOAT32, float, __VA_ARGS__) X(DLS_FLOAT64, double, __VA_ARGS__)
#define DLSI_SIGNED(X, ...)                                                                                            \
	X(DLS_INT8, int8_t, __VA_ARGS__)                                                                               \
	X(DLS_INT16, int16_t, __VA_ARGS__) X(DLS_INT32, int32_t, __VA_ARGS__) X(DLS_INT64, int64_t, __VA_ARGS__)
#define DLSI_UNSIGNED(X, ...)                                                                                          \
	X(DLS_UINT8, uint8_t, __VA_ARGS__)                                                                             \
	X(DLS_UINT16, uint16_t, __VA_ARGS__) X(DLS_UINT32, uint32_t, __VA_ARGS__) X(DLS_UINT64, uint64_t, __VA_ARGS__)
#define DLSI_BOOLS(X, ...)           X(DLS_BOOL, uint8_t, __VA_ARGS__)
#define DLSI_INTEGERS(X, ...)        DLSI_SIGNED(X, __VA_ARGS__) DLSI_UNSIGNED(X, __VA_ARGS__)
#define DLSI_POSITIVE_OR_NOT(X, ...) DLSI_FLOATS(X, __VA_ARGS__) DLSI_SIGNED(X, __VA_ARGS__)
#define DLSI_NUMBERS(X, ...)         DLSI_FLOATS(X, __VA_ARGS__) DLSI_INTEGERS(X, __VA_ARGS__)
#define DLSI_ALL_TYPES(X, ...)       DLSI_NUMBERS(X, __VA_ARGS__) DLSI_BOOLS(X, __VA_ARGS__)

/* A list as bits, for the row of an operator. */
#define DLSI_TYPE_BIT(dtype, type, ...) | DLSI_OP_TYPE(dtype)
#define DLSI_TYPES(LIST)                (0U LIST(DLSI_TYPE_BIT, 0))

/* One of two expressions: floating point, or integers, which are computed as uint64_t so that they wrap around like the
 * type of the result does. The other one must compile too. */
#define DLSI_CHOOSE(x, floating, integer) _Generic((x), float : (floating), double : (floating), default : (integer))
#define DLSI_SUM(x, y)                    DLSI_CHOOSE(x, (x) + (y), (uint64_t)(x) + (uint64_t)(y))
#define DLSI_DIFFERENCE(x, y)             DLSI_CHOOSE(x, (x) - (y), (uint64_t)(x) - (uint64_t)(y))
#define DLSI_PRODUCT(x, y)                DLSI_CHOOSE(x, (x) * (y), (uint64_t)(x) * (uint64_t)(y))
#define DLSI_MAGNITUDE(x)                 DLSI_CHOOSE(x, fabs(x), (x) > 0 ? (uint64_t)(x) : 0 - (uint64_t)(x))

/* A NaN stays one. */
#define DLSI_GREATER(x, y)   ((x) > (y) || (x) != (x) ? (x) : (y))
#define DLSI_SMALLER(x, y)   ((x) < (y) || (x) != (x) ? (x) : (y))

#define DLSI_IS_SIGNED(type) ((type)-1 < (type)1)

/* The least and the greatest number of a type; infinities for floating point. */
#define DLSI_LEAST(type)                                                                                               \
	DLSI_CHOOSE((type)0, -INFINITY, DLSI_IS_SIGNED(type) ? (type)(1ULL << (8 * sizeof(type) - 1)) : (type)0)
#define DLSI_GREATEST(type)                                                                                            \
	DLSI_CHOOSE(                                                                                                   \
		(type)0, INFINITY, (type)(DLSI_IS_SIGNED(type) ? UINT64_MAX >> (65 - 8 * sizeof(type)) : UINT64_MAX))

/* `x` within these bounds, 0 for what is no number: what may be cast to a type of integers that has them. */
static inline double dlsi_saturate(double x, double low, double high)
{
	return x < low ? low : x > high ? high : x == x ? x : 0;
}

/* A scaled number as an integer of 8 or 16 bits: rounded to the nearest (even) one, plus the zero point, cut to what
 * the type can hold; the least of that for a NaN. */
static inline float dlsi_quantized(float x, float zero, float low, float high)
{
	const float number = rintf(x) + zero;

	return number >= high ? high : number > low ? number : low;
}

/* A number as an element of the type; the greatest of 64 bits are no doubles, so it stays a little below them. */
#define DLSI_ELEMENT(type, x)                                                                                          \
	DLSI_CHOOSE((type)0, (type)(x),                                                                                \
		(type)dlsi_saturate((double)(x), (double)DLSI_LEAST(type),                                             \
			(double)(DLSI_GREATEST(type) - (type)(sizeof(type) == 8 ? 2047 : 0))))

#endif
