#include "base/shape.h"

#include <inttypes.h>
#include <stdio.h>

struct dlsi_shape_text dlsi_shape_text(enum dls_dtype dtype, uint32_t rank, const int64_t *dims)
{
	struct dlsi_shape_text shape;
	const char *type = dls_dtype_name(dtype);
	size_t room = sizeof shape.text, used;

	used = (size_t)snprintf(shape.text, room, "%s%s[", type ? type : "", type ? " " : "");
	for (uint32_t i = 0; i < rank && i < DLS_TENSOR_RANK; i++) {
		const char *comma = i ? ", " : "";

		if (dims[i] < 0)
			used += (size_t)snprintf(shape.text + used, room - used, "%s?", comma);
		else
			used += (size_t)snprintf(shape.text + used, room - used, "%s%" PRId64, comma, dims[i]);
	}
	snprintf(shape.text + used, room - used, "]");
	return shape;
}
