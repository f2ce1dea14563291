/* A row of max pooling. */
#include "kernel/vector.h"

/* The maximum of the window's columns [first, end); where one is not a number, neither is the result. */
INLINE vec window(const struct dlsi_pool_row *row, const float *source, int64_t first, int64_t end)
{
	vec most = vec_all(-INFINITY), sick = {0};

	for (int64_t y = 0; y < row->rows; y++) {
		const float *at = source + (y * row->source_width + first) * row->pixel;

		for (int64_t x = first; x < end; x++, at += row->pixel) {
			const vec pixel = vec_load(at);

			most = vec_max(pixel, most); /* a NaN is passed over here */
			sick = (vec)((vec_mask)sick | (pixel != pixel));
		}
	}
	return (vec)((vec_mask)most | (vec_mask)sick); /* all bits set is a NaN */
}

void VARIANT(dlsi_max_pool_row)(const struct dlsi_pool_row *row, float *target)
{
	for (int64_t i = 0; i < row->count; i++, target += row->pixel) {
		int64_t first = i * row->stride - row->pad, end = first + row->kernel;

		first = first > 0 ? first : 0;
		end = end < row->source_width ? end : row->source_width;
		if (end - first == 3 && row->rows == 3) {
			const struct dlsi_pool_row three = {
				.rows = 3, .source_width = row->source_width, .pixel = row->pixel};

			vec_store(target, window(&three, row->source + first * row->pixel, 0, 3));
		} else {
			vec_store(target, window(row, row->source, first, end));
		}
	}
}
