/* Values of outputs: single elements, and the most probable classes. */
#ifndef DLSI_CLI_CLASSES_H
#define DLSI_CLI_CLASSES_H

#include <dlsched/job.h>
#include <stdbool.h>
#include <stdio.h>

enum { CLI_CLASSES_MAX = 100 };

struct cli_class {
	uint32_t index;
	double value;
};

size_t cli_tensor_elements(const struct dls_tensor *tensor);
double cli_tensor_value(const struct dls_tensor *tensor, size_t element);

/* Writes the element as JSON, exactly. */
void cli_tensor_write(FILE *to, const struct dls_tensor *tensor, size_t element);

/* Whether the output gives a value per class: it names the classes itself, or it has one float32 per label. */
bool cli_classes_are(const struct dls_output *output, uint32_t labels);

/* The `top` (at most CLI_CLASSES_MAX) classes of the highest values, the highest first; of equal ones the lower index
 * first. Returns how many there are. */
uint32_t cli_classes_best(const struct dls_output *output, uint32_t top, struct cli_class *best_out);

#endif
