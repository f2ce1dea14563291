/* Where a file keeps an array, as the header of an .npy or idx file says it, and the equal items that it is cut into.
 */
#ifndef DLSI_ARRAY_H
#define DLSI_ARRAY_H

#include <dlsched/tensor.h>

/* Row-major, little-endian and dense, and all of it inside the file. */
struct dlsi_array {
	enum dls_dtype dtype;
	uint32_t rank;
	int64_t dims[DLS_TENSOR_RANK];
	uint64_t offset; /* of the first element, from the beginning of the file */
	uint64_t bytes;  /* of all elements */
};

/* The items are the slices along the first axis: item i has *item_bytes_out bytes and begins i times as far behind
 * `offset`; its shape is dims + 1. An array of rank 0 is one item. */
void dlsi_array_items(const struct dlsi_array *array, uint64_t *count_out, uint64_t *item_bytes_out);

#endif
