/* Along an axis: rows whose elements lie one behind the other, and columns, of which a vector holds DLSI_LANES. What is
 * left of the columns is done by a vector that ends with the last of them. */
#include "kernel/along.h"
#include "kernel/vector.h"

enum {
	GROUP = 4,  /* vectors of columns at once */
	PIECE = 256 /* elements of a sum before it joins the whole */
};

/* Does `group` for all columns: by GROUP vectors while there are as many, then by single ones. */
#define FOR_COLUMNS(width, group)                                                                                      \
	do {                                                                                                           \
		int64_t at = 0;                                                                                        \
                                                                                                                       \
		for (; at + GROUP * DLSI_LANES <= (width); at += GROUP * DLSI_LANES)                                   \
			group(GROUP);                                                                                  \
		for (; at + DLSI_LANES <= (width); at += DLSI_LANES)                                                   \
			group(1);                                                                                      \
		if (at < (width)) {                                                                                    \
			at = (width)-DLSI_LANES;                                                                       \
			group(1);                                                                                      \
		}                                                                                                      \
	} while (0)

/* ---- reductions */

INLINE float first_of(enum dlsi_reduction reduction)
{
	return reduction == DLSI_REDUCE_MAX ? -INFINITY : reduction == DLSI_REDUCE_MIN ? INFINITY : 0;
}

/* A NaN stays one. */
INLINE vec combine(enum dlsi_reduction reduction, vec sum, vec x)
{
	if (reduction == DLSI_REDUCE_MAX)
		return vec_select((x > sum) | (x != x), x, sum);
	if (reduction == DLSI_REDUCE_MIN)
		return vec_select((x < sum) | (x != x), x, sum);
	return sum + x;
}

INLINE float combine_one(enum dlsi_reduction reduction, float sum, float x)
{
	if (reduction == DLSI_REDUCE_MAX)
		return x > sum || x != x ? x : sum;
	if (reduction == DLSI_REDUCE_MIN)
		return x < sum || x != x ? x : sum;
	return sum + x;
}

INLINE void reduce_group(
	enum dlsi_reduction reduction, int vectors, const float *source, int64_t count, ptrdiff_t step, float *target)
{
	vec total[GROUP];

	for (int v = 0; v < vectors; v++)
		total[v] = vec_all(first_of(reduction));
	for (int64_t begin = 0; begin < count; begin += PIECE) {
		const int64_t end = begin + PIECE < count ? begin + PIECE : count;
		vec sum[GROUP];

		for (int v = 0; v < vectors; v++)
			sum[v] = vec_all(first_of(reduction));
		for (int64_t i = begin; i < end; i++) {
			UNROLL
			for (int v = 0; v < vectors; v++) {
				const vec x = vec_load(source + i * step + v * DLSI_LANES);

				sum[v] = combine(reduction, sum[v], reduction == DLSI_REDUCE_SQUARES ? x * x : x);
			}
		}
		for (int v = 0; v < vectors; v++)
			total[v] = combine(reduction, total[v], sum[v]);
	}
	for (int v = 0; v < vectors; v++)
		vec_store(target + v * DLSI_LANES, total[v]);
}

INLINE void reduce_all(
	enum dlsi_reduction reduction, const float *source, int64_t count, ptrdiff_t step, int64_t width, float *target)
{
#define REDUCE(vectors) reduce_group(reduction, (vectors), source + at, count, step, target + at)
	FOR_COLUMNS(width, REDUCE);
#undef REDUCE
}

void VARIANT(dlsi_reduce_columns)(
	enum dlsi_reduction reduction, const float *source, int64_t count, ptrdiff_t step, int64_t width, float *target)
{
	switch (reduction) {
	case DLSI_REDUCE_MAX:
		reduce_all(DLSI_REDUCE_MAX, source, count, step, width, target);
		return;
	case DLSI_REDUCE_MIN:
		reduce_all(DLSI_REDUCE_MIN, source, count, step, width, target);
		return;
	case DLSI_REDUCE_SQUARES:
		reduce_all(DLSI_REDUCE_SQUARES, source, count, step, width, target);
		return;
	default:
		reduce_all(DLSI_REDUCE_SUM, source, count, step, width, target);
	}
}

/* Vector `i` of a row, of whose elements `minus` is taken. */
INLINE vec row_vector(enum dlsi_reduction reduction, const float *source, int64_t i, float minus)
{
	const vec x = vec_load(source + i * DLSI_LANES) - minus;

	return reduction == DLSI_REDUCE_SQUARES ? x * x : x;
}

/* So many vectors of a row, at most PIECE, in one. */
INLINE vec reduce_piece(enum dlsi_reduction reduction, const float *source, int64_t count, float minus)
{
	vec sum[GROUP];
	int64_t i = 0;

	for (int v = 0; v < GROUP; v++)
		sum[v] = vec_all(first_of(reduction));
	for (; i + GROUP <= count; i += GROUP) {
		UNROLL
		for (int v = 0; v < GROUP; v++)
			sum[v] = combine(reduction, sum[v], row_vector(reduction, source, i + v, minus));
	}
	for (; i < count; i++)
		sum[0] = combine(reduction, sum[0], row_vector(reduction, source, i, minus));
	return combine(reduction, combine(reduction, sum[0], sum[1]), combine(reduction, sum[2], sum[3]));
}

INLINE float reduce_line(enum dlsi_reduction reduction, const float *source, int64_t count, float minus)
{
	const int64_t whole = count / DLSI_LANES;
	vec total = vec_all(first_of(reduction));

	for (int64_t begin = 0; begin < whole; begin += PIECE) {
		const int64_t length = begin + PIECE < whole ? PIECE : whole - begin;

		total = combine(reduction, total, reduce_piece(reduction, source + begin * DLSI_LANES, length, minus));
	}
	for (int half = DLSI_LANES / 2; half > 0; half /= 2)
		for (int i = 0; i < half; i++)
			total[i] = combine_one(reduction, total[i], total[i + half]);
	for (int64_t i = whole * DLSI_LANES; i < count; i++) {
		const float x = source[i] - minus;

		total[0] = combine_one(reduction, total[0], reduction == DLSI_REDUCE_SQUARES ? x * x : x);
	}
	return total[0];
}

float VARIANT(dlsi_reduce_row)(enum dlsi_reduction reduction, const float *source, int64_t count, float minus)
{
	switch (reduction) {
	case DLSI_REDUCE_MAX:
		return reduce_line(DLSI_REDUCE_MAX, source, count, minus);
	case DLSI_REDUCE_MIN:
		return reduce_line(DLSI_REDUCE_MIN, source, count, minus);
	case DLSI_REDUCE_SQUARES:
		return reduce_line(DLSI_REDUCE_SQUARES, source, count, minus);
	default:
		return reduce_line(DLSI_REDUCE_SUM, source, count, minus);
	}
}

/* ---- places */

/* Where x takes the place of the best so far, which was met before it. */
INLINE vec_mask beats(enum dlsi_arg arg, vec x, vec best)
{
	switch (arg) {
	case DLSI_ARG_MAX:
		return (x > best) | ((x != x) & (best == best));
	case DLSI_ARG_MAX_LAST:
		return (x >= best) | (x != x);
	case DLSI_ARG_MIN:
		return (x < best) | ((x == x) & (best != best));
	default:
		return (x <= best) | (best != best);
	}
}

INLINE void arg_group(
	enum dlsi_arg arg, int vectors, const float *source, int64_t count, ptrdiff_t step, int64_t *target)
{
	vec best[GROUP];
	vec_mask places[GROUP];

	for (int v = 0; v < vectors; v++) {
		best[v] = vec_load(source + v * DLSI_LANES);
		places[v] = (vec_mask){0};
	}
	for (int64_t i = 1; i < count; i++) {
		UNROLL
		for (int v = 0; v < vectors; v++) {
			const vec x = vec_load(source + i * step + v * DLSI_LANES);
			const vec_mask mask = beats(arg, x, best[v]);

			best[v] = vec_select(mask, x, best[v]);
			places[v] = ((int32_t)i & mask) | (places[v] & ~mask);
		}
	}
	for (int v = 0; v < vectors; v++)
		for (int i = 0; i < DLSI_LANES; i++)
			target[v * DLSI_LANES + i] = places[v][i];
}

INLINE void arg_all(
	enum dlsi_arg arg, const float *source, int64_t count, ptrdiff_t step, int64_t width, int64_t *target)
{
#define ARG(vectors) arg_group(arg, (vectors), source + at, count, step, target + at)
	FOR_COLUMNS(width, ARG);
#undef ARG
}

void VARIANT(dlsi_arg_columns)(
	enum dlsi_arg arg, const float *source, int64_t count, ptrdiff_t step, int64_t width, int64_t *target)
{
	switch (arg) {
	case DLSI_ARG_MAX:
		arg_all(DLSI_ARG_MAX, source, count, step, width, target);
		return;
	case DLSI_ARG_MAX_LAST:
		arg_all(DLSI_ARG_MAX_LAST, source, count, step, width, target);
		return;
	case DLSI_ARG_MIN:
		arg_all(DLSI_ARG_MIN, source, count, step, width, target);
		return;
	default:
		arg_all(DLSI_ARG_MIN_LAST, source, count, step, width, target);
	}
}

/* Where the row has this number, or a NaN if it is none: the first or the last place. */
INLINE int64_t find_value(const float *source, int64_t count, float value, bool last)
{
	const int64_t step = last ? -1 : 1;
	int64_t place = last ? count - 1 : 0;

	if (value == value)
		while (source[place] != value)
			place += step;
	else
		while (source[place] == source[place])
			place += step;
	return place;
}

/* A NaN is never the least, unless there is nothing else. */
INLINE float least_number(const float *source, int64_t count)
{
	float least = NAN;

	for (int64_t i = 0; i < count; i++)
		least = source[i] < least || least != least ? source[i] : least;
	return least;
}

int64_t VARIANT(dlsi_arg_row)(enum dlsi_arg arg, const float *source, int64_t count)
{
	const bool greatest = arg == DLSI_ARG_MAX || arg == DLSI_ARG_MAX_LAST;
	float value = VARIANT(dlsi_reduce_row)(greatest ? DLSI_REDUCE_MAX : DLSI_REDUCE_MIN, source, count, 0);

	if (!greatest && value != value)
		value = least_number(source, count);
	return find_value(source, count, value, arg == DLSI_ARG_MAX_LAST || arg == DLSI_ARG_MIN_LAST);
}

/* ---- Softmax */

INLINE void softmax_group(bool log, int vectors, const float *source, int64_t count, ptrdiff_t step, float *target)
{
	vec most[GROUP], sum[GROUP];

	for (int v = 0; v < vectors; v++) {
		most[v] = vec_load(source + v * DLSI_LANES);
		sum[v] = vec_all(0);
	}
	for (int64_t i = 1; i < count; i++) {
		UNROLL
		for (int v = 0; v < vectors; v++)
			most[v] = vec_max(vec_load(source + i * step + v * DLSI_LANES), most[v]);
	}
	for (int64_t i = 0; i < count; i++) {
		UNROLL
		for (int v = 0; v < vectors; v++) {
			const vec x = vec_load(source + i * step + v * DLSI_LANES) - most[v], power = vec_exp(x);

			sum[v] += power;
			vec_store(target + i * step + v * DLSI_LANES, log ? x : power);
		}
	}
	for (int v = 0; v < vectors; v++)
		for (int i = 0; i < DLSI_LANES; i++)
			sum[v][i] = log ? logf(sum[v][i]) : 1 / sum[v][i];
	for (int64_t i = 0; i < count; i++) {
		UNROLL
		for (int v = 0; v < vectors; v++) {
			float *at = target + i * step + v * DLSI_LANES;

			vec_store(at, log ? vec_load(at) - sum[v] : vec_load(at) * sum[v]);
		}
	}
}

void VARIANT(dlsi_softmax_columns)(
	bool log, const float *source, int64_t count, ptrdiff_t step, int64_t width, float *target)
{
#define SOFTMAX(vectors) softmax_group(log, (vectors), source + at, count, step, target + at)
	FOR_COLUMNS(width, SOFTMAX);
#undef SOFTMAX
}

/* ---- standardising */

void VARIANT(dlsi_standardise)(const struct dlsi_line *line, const float *source, float *target)
{
	int64_t i = 0;

	for (; i + DLSI_LANES <= line->count; i += DLSI_LANES) {
		const vec scale = line->step ? vec_load(line->scale + i) : vec_all(*line->scale);
		vec x = (vec_load(source + i) - line->mean) * line->factor * scale;

		if (line->shift)
			x += line->step ? vec_load(line->shift + i) : vec_all(*line->shift);
		vec_store(target + i, x);
	}
	for (; i < line->count; i++)
		target[i] = (source[i] - line->mean) * line->factor * line->scale[i * line->step] +
			    (line->shift ? line->shift[i * line->step] : 0);
}
