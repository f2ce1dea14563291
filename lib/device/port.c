#include "device/port.h"

#include "base/shape.h"
#include "graph/graph.h"
#include <string.h>

struct dlsi_model_port dlsi_model_port_of(const struct dlsi_value *value)
{
	struct dlsi_model_port port = {.name = value->name,
		.dtype = value->dtype,
		.rank = value->rank,
		.open = value->open,
		.bounded = value->bounded};

	memcpy(port.dims, value->dims, sizeof port.dims);
	return port;
}

void dlsi_model_port_dims(const struct dlsi_model_port *port, int64_t rows, int64_t dims_out[DLS_TENSOR_RANK])
{
	memcpy(dims_out, port->dims, sizeof port->dims);
	if (rows)
		dims_out[0] = rows;
}

int dlsi_model_port_check_input(const struct dlsi_model_port *port, const char *model, int64_t rows,
	const struct dls_tensor *tensor, struct dls_error *err)
{
	int64_t dims[DLS_TENSOR_RANK];
	size_t bytes;

	dlsi_model_port_dims(port, rows, dims);
	if (tensor->dtype != port->dtype || tensor->rank != port->rank ||
		memcmp(tensor->dims, dims, port->rank * sizeof *dims) != 0)
		return dlsi_fail(err, DLS_EINVAL, "%s: the input '%s' is %s; the model takes %s", model, port->name,
			dlsi_shape_text(tensor->dtype, tensor->rank, tensor->dims).text,
			dlsi_shape_text(port->dtype, port->rank, dims).text);
	if (dls_tensor_bytes(port->dtype, port->rank, dims, &bytes) || tensor->bytes != bytes || !tensor->data)
		return dlsi_fail(err, DLS_EINVAL, "%s: the input '%s' has %zu bytes of data; its shape %s needs %zu",
			model, port->name, tensor->data ? tensor->bytes : 0,
			dlsi_shape_text(port->dtype, port->rank, dims).text, bytes);
	return 0;
}

int dlsi_model_port_shape_output(const struct dlsi_model_port *port, const char *model, int64_t rows,
	struct dls_tensor *tensor, struct dls_error *err)
{
	size_t bytes;

	dlsi_model_port_dims(port, rows, tensor->dims);
	tensor->dtype = port->dtype;
	tensor->rank = port->rank;
	if (dls_tensor_bytes(port->dtype, port->rank, tensor->dims, &bytes) || tensor->bytes != bytes || !tensor->data)
		return dlsi_fail(err, DLS_EINVAL, "%s: there is room for %zu bytes of the output '%s'; %s needs %zu",
			model, tensor->data ? tensor->bytes : 0, port->name,
			dlsi_shape_text(port->dtype, port->rank, tensor->dims).text, bytes);
	return 0;
}
