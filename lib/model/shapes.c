#include "model/shapes.h"

#include "base/shape.h"
#include "media/framing.h"

/* Puts a side of the picture, or its channels, where the size is open. */
static void fill(int64_t *dim, int64_t size)
{
	if (*dim < 0 && size)
		*dim = size;
}

static void fill_picture(const struct dlsi_input_description *how, struct dlsi_onnx_shape *shape)
{
	bool nchw = how->layout == DLSI_LAYOUT_NCHW;
	int64_t *dims = shape->dims + (shape->rank == 4);
	uint32_t height, width;

	if (shape->rank != 3 && shape->rank != 4)
		return;
	dlsi_framing_size(how, &height, &width);
	fill(&dims[nchw ? 0 : 2], how->colour == DLSI_COLOUR_GREY ? 1 : 3);
	fill(&dims[nchw ? 1 : 0], height);
	fill(&dims[nchw ? 2 : 1], width);
}

/* What the file and model.json say; false if that leaves anything open. */
static bool describe(
	const struct dlsi_model_port *port, const struct dlsi_input_description *how, struct dlsi_onnx_shape *shape_out)
{
	struct dlsi_onnx_shape shape = {.rank = port->rank};
	bool known = true;

	for (uint32_t i = 0; i < port->rank; i++)
		shape.dims[i] = !(port->open >> i & 1) ? port->dims[i] : i ? -1 : 1;
	if (how->kind == DLSI_INPUT_IMAGE)
		fill_picture(how, &shape);
	for (uint32_t i = 0; i < port->rank; i++)
		known &= shape.dims[i] >= 0;
	*shape_out = shape;
	return known;
}

/* Where the file leaves the first dimension open, a tensor that fits but for that says how long it is. */
static void take_rows(
	const struct dlsi_model_port *port, uint32_t rank, const int64_t *dims, struct dlsi_onnx_shape *shape)
{
	bool fits = port->open & 1 && rank && rank == port->rank;

	for (uint32_t i = 1; fits && i < rank; i++)
		fits = shape->dims[i] == dims[i];
	if (fits)
		shape->dims[0] = dims[0];
}

bool dlsi_model_shapes_described(const struct dlsi_description *description, const struct dlsi_model_port *inputs,
	size_t count, struct dlsi_onnx_shape *shapes_out)
{
	bool known = true;

	for (size_t i = 0; i < count; i++)
		known &= describe(&inputs[i], dlsi_description_input(description, inputs[i].name), &shapes_out[i]);
	return known;
}

int dlsi_model_shape_of_item(const struct dlsi_model_port *port, const struct dlsi_input_description *how,
	enum dls_dtype dtype, uint32_t rank, const int64_t *dims, struct dlsi_onnx_shape *shape_out,
	struct dls_error *err)
{
	const int64_t *whole = dims;
	uint32_t whole_rank = rank, batch;
	bool fits;

	if (describe(port, how, shape_out)) {
		if (how->kind == DLSI_INPUT_TENSOR)
			take_rows(port, rank, dims, shape_out);
		return 0;
	}
	if (how->kind == DLSI_INPUT_IMAGE && dtype == DLS_UINT8)
		return dlsi_model_shape_of_photo(port, how, shape_out, err);
	for (; rank > port->rank && *dims == 1; rank--)
		dims++;
	batch = rank + 1 == port->rank && shape_out->dims[0] == 1;
	fits = rank + batch == port->rank;
	for (uint32_t i = 0; fits && i < rank; i++) {
		bool open = port->open >> (i + batch) & 1;

		fits = open || shape_out->dims[i + batch] == dims[i];
		shape_out->dims[i + batch] = dims[i];
	}
	if (fits)
		return 0;
	describe(port, how, shape_out);
	return dlsi_fail(err, DLS_EINVAL, "the input \"%s\" is %s, and this item is %s", port->name,
		dlsi_shape_text(port->dtype, port->rank, shape_out->dims).text,
		dlsi_shape_text(dtype, whole_rank, whole).text);
}

int dlsi_model_shape_of_photo(const struct dlsi_model_port *port, const struct dlsi_input_description *how,
	struct dlsi_onnx_shape *shape_out, struct dls_error *err)
{
	if (describe(port, how, shape_out))
		return 0;
	if (how->kind != DLSI_INPUT_IMAGE)
		return dlsi_fail(err, DLS_EINVAL,
			"the input \"%s\" takes tensors and .npy files; for photos, describe it as kind image in "
			"model.json",
			port->name);
	return dlsi_fail(err, DLS_EINVAL,
		"the input \"%s\" is %s, and model.json does not say how large a photo becomes: give it resize or crop",
		port->name, dlsi_shape_text(port->dtype, port->rank, shape_out->dims).text);
}
