/* Outputs of models and handlers, spelled out: for people a line each, for programs JSON. */
#ifndef DLSI_CLI_OUTPUTS_H
#define DLSI_CLI_OUTPUTS_H

#include <dlsched/job.h>
#include <dlsched/model.h>
#include <stdio.h>

/* How many classes the model has names for; 0 for NULL. */
uint32_t cli_labels_count(const struct dls_model *model);

/* Writes type and shape ("float32 [2, 3]"). */
void cli_tensor_write_shape(FILE *to, const struct dls_tensor *tensor);

/* Prints type, shape and the first values, and ends the line. */
void cli_tensor_print(const struct dls_tensor *tensor);

/* Prints the name of the class, or its number where the model (NULL is allowed) has none, and ends the line. */
void cli_class_print(const struct dls_model *model, uint32_t index);

/* Writes `"dtype":...,"dims":[...],"values":[...]`, the members of an object. */
void cli_tensor_write_members(const struct dls_tensor *tensor);

/* Writes a list of the best `top` classes, each an object. */
void cli_classes_write(const struct dls_model *model, const struct dls_output *output, uint32_t top);

#endif
