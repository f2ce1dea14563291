#include "media/array.h"

void dlsi_array_items(const struct dlsi_array *array, uint64_t *count_out, uint64_t *item_bytes_out)
{
	uint64_t count = array->rank ? (uint64_t)array->dims[0] : 1;

	*count_out = count;
	*item_bytes_out = count ? array->bytes / count : 0;
}
