#include "cli/classes.h"

#include "cli/json.h"
#include <inttypes.h>

size_t cli_tensor_elements(const struct dls_tensor *tensor)
{
	size_t element = dls_dtype_bytes(tensor->dtype);

	return element ? tensor->bytes / element : 0;
}

double cli_tensor_value(const struct dls_tensor *tensor, size_t element)
{
	const void *data = tensor->data;

	switch (tensor->dtype) {
	case DLS_FLOAT32:
		return (double)((const float *)data)[element];
	case DLS_FLOAT64:
		return ((const double *)data)[element];
	case DLS_INT8:
		return ((const int8_t *)data)[element];
	case DLS_UINT8:
	case DLS_BOOL:
		return ((const uint8_t *)data)[element];
	case DLS_INT16:
		return ((const int16_t *)data)[element];
	case DLS_UINT16:
		return ((const uint16_t *)data)[element];
	case DLS_INT32:
		return ((const int32_t *)data)[element];
	case DLS_UINT32:
		return ((const uint32_t *)data)[element];
	case DLS_INT64:
		return (double)((const int64_t *)data)[element];
	case DLS_UINT64:
		return (double)((const uint64_t *)data)[element];
	}
	return 0;
}

void cli_tensor_write(FILE *to, const struct dls_tensor *tensor, size_t element)
{
	switch (tensor->dtype) {
	case DLS_FLOAT32:
		cli_json_float(to, ((const float *)tensor->data)[element]);
		break;
	case DLS_FLOAT64:
		cli_json_double(to, ((const double *)tensor->data)[element]);
		break;
	case DLS_INT64:
		fprintf(to, "%" PRId64, ((const int64_t *)tensor->data)[element]);
		break;
	case DLS_UINT64:
		fprintf(to, "%" PRIu64, ((const uint64_t *)tensor->data)[element]);
		break;
	case DLS_BOOL:
		fputs(((const uint8_t *)tensor->data)[element] ? "true" : "false", to);
		break;
	default:
		fprintf(to, "%.0f", cli_tensor_value(tensor, element));
	}
}

bool cli_classes_are(const struct dls_output *output, uint32_t labels)
{
	if (output->indices)
		return true;
	return labels && output->tensor.dtype == DLS_FLOAT32 && cli_tensor_elements(&output->tensor) == labels;
}

/* Puts the class into its place among the `count` best, of which the last may fall out. */
static uint32_t insert(struct cli_class *best, uint32_t count, uint32_t top, struct cli_class class)
{
	uint32_t at = count < top ? count : top;

	while (at > 0 && best[at - 1].value < class.value) {
		if (at < top)
			best[at] = best[at - 1];
		at--;
	}
	if (at < top)
		best[at] = class;
	return count < top ? count + 1 : top;
}

uint32_t cli_classes_best(const struct dls_output *output, uint32_t top, struct cli_class *best_out)
{
	size_t elements = cli_tensor_elements(&output->tensor);
	uint32_t count = 0;

	for (size_t i = 0; i < elements; i++) {
		struct cli_class class = {
			.index = output->indices ? output->indices[i] : (uint32_t)i,
			.value = cli_tensor_value(&output->tensor, i),
		};
		count = insert(best_out, count, top, class);
	}
	return count;
}
