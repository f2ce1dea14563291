/* Ports: what a model takes and gives, one for each input and output, and whether the tensors of a run fit them. */
#ifndef DLSI_PORT_H
#define DLSI_PORT_H

#include "base/error.h"
#include <dlsched/tensor.h>
#include <stdbool.h>

struct dlsi_value;

struct dlsi_model_port {
	const char *name; /* belongs to the model */
	enum dls_dtype dtype;
	uint32_t rank;
	int64_t dims[DLS_TENSOR_RANK]; /* of one item; dims[0] is 1 in a batchable model; -1: not known (unsized) */
	uint8_t open;                  /* bit i: the file leaves dims[i] open (a symbol, nothing or 0) */
	bool bounded; /* an output whose dims are the most that there can be; each run tells how many there are */
};

/* The port that an input or output of a graph is. */
struct dlsi_model_port dlsi_model_port_of(const struct dlsi_value *value);

/* Its dimensions in a run of so many rows, which stand first; 0: of a model that is not batchable. */
void dlsi_model_port_dims(const struct dlsi_model_port *port, int64_t rows, int64_t dims_out[DLS_TENSOR_RANK]);

/* Whether the tensor is what an input takes. `model` names it in errors. Errors: DLS_EINVAL. */
int dlsi_model_port_check_input(const struct dlsi_model_port *port, const char *model, int64_t rows,
	const struct dls_tensor *tensor, struct dls_error *err);

/* Gives the tensor the type and the shape of an output, for which it must have room. Errors: DLS_EINVAL. */
int dlsi_model_port_shape_output(const struct dlsi_model_port *port, const char *model, int64_t rows,
	struct dls_tensor *tensor, struct dls_error *err);

#endif
