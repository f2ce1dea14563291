#include "cli/outputs.h"

#include "cli/classes.h"
#include "cli/json.h"
#include "cli/text.h"
#include <inttypes.h>

enum { VALUES_SHOWN = 6 };

uint32_t cli_labels_count(const struct dls_model *model)
{
	uint32_t count = 0;

	while (model && dls_model_label(model, count))
		count++;
	return count;
}

void cli_tensor_write_shape(FILE *to, const struct dls_tensor *tensor)
{
	fprintf(to, "%s [", dls_dtype_name(tensor->dtype));
	for (uint32_t i = 0; i < tensor->rank; i++)
		fprintf(to, "%s%" PRId64, i ? ", " : "", tensor->dims[i]);
	fputc(']', to);
}

void cli_tensor_print(const struct dls_tensor *tensor)
{
	size_t count = cli_tensor_elements(tensor);

	cli_tensor_write_shape(stdout, tensor);
	for (size_t i = 0; i < count && i < VALUES_SHOWN; i++)
		printf(" %.6g", cli_tensor_value(tensor, i));
	printf("%s\n", count > VALUES_SHOWN ? " ..." : "");
}

void cli_class_print(const struct dls_model *model, uint32_t index)
{
	const char *label = model ? dls_model_label(model, index) : NULL;

	if (label)
		cli_text_print(label, 0);
	else
		printf("class %" PRIu32, index);
	putchar('\n');
}

void cli_tensor_write_members(const struct dls_tensor *tensor)
{
	size_t count = cli_tensor_elements(tensor);

	printf("\"dtype\":\"%s\",\"dims\":[", dls_dtype_name(tensor->dtype));
	for (uint32_t i = 0; i < tensor->rank; i++)
		printf("%s%" PRId64, i ? "," : "", tensor->dims[i]);
	printf("],\"values\":[");
	for (size_t i = 0; i < count; i++) {
		if (i)
			putchar(',');
		cli_tensor_write(stdout, tensor, i);
	}
	putchar(']');
}

void cli_classes_write(const struct dls_model *model, const struct dls_output *output, uint32_t top)
{
	struct cli_class best[CLI_CLASSES_MAX];
	uint32_t count = cli_classes_best(output, top, best);

	putchar('[');
	for (uint32_t i = 0; i < count; i++) {
		const char *label = model ? dls_model_label(model, best[i].index) : NULL;

		printf("%s{\"index\":%" PRIu32, i ? "," : "", best[i].index);
		if (label) {
			printf(",\"label\":");
			cli_json_text(stdout, label);
		}
		printf(",\"value\":");
		cli_json_float(stdout, (float)best[i].value);
		putchar('}');
	}
	putchar(']');
}
