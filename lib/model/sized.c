#include "model/sized.h"

#include <string.h>

bool dlsi_sized_wanted(const struct dlsi_model *model, const struct dls_tensor *inputs)
{
	int64_t items = 1;

	if (dlsi_model_unsized(model))
		return true;
	if (!dlsi_model_unbatchable(model) && inputs[0].rank)
		items = inputs[0].dims[0];
	for (size_t i = 0; i < dlsi_model_input_count(model); i++)
		if (dlsi_model_input(model, i)->open & 1 && inputs[i].rank && (inputs[i].dims[0] != items || items < 1))
			return true;
	return false;
}

static void forget(struct dlsi_sized *sized, int place)
{
	dlsi_model_destroy(sized->at[place].model);
	dlsi_free(sized->alloc, sized->at[place].shapes);
	sized->at[place].model = NULL;
	sized->at[place].shapes = NULL;
	sized->at[place].used = 0;
}

void dlsi_sized_fini(struct dlsi_sized *sized)
{
	for (int i = 0; i < DLSI_SIZES_PER_MODEL; i++)
		if (sized->at[i].model)
			forget(sized, i);
}

/* NULL if it is not there. */
static struct dlsi_model *look_up(struct dlsi_sized *sized, const struct dlsi_onnx_shape *shapes, size_t count)
{
	for (int i = 0; i < DLSI_SIZES_PER_MODEL; i++) {
		if (!sized->at[i].model || sized->at[i].count != count ||
			!dlsi_onnx_shapes_equal(sized->at[i].shapes, shapes, count))
			continue;
		sized->at[i].used = ++sized->finds;
		return sized->at[i].model;
	}
	return NULL;
}

/* Loads it in the place of the one that was not used for longest. */
static int load(struct dlsi_sized *sized, const char *name, const struct dlsi_onnx *onnx,
	const struct dlsi_onnx_shape *shapes, size_t count, struct dlsi_model **model_out, struct dls_error *err)
{
	struct dlsi_onnx shaped = *onnx;
	int place = 0, rc;

	for (int i = 1; i < DLSI_SIZES_PER_MODEL; i++)
		if (sized->at[i].used < sized->at[place].used)
			place = i;
	if (sized->at[place].model)
		forget(sized, place);
	shaped.shapes = shapes;
	shaped.shape_count = count;
	rc = dlsi_model_load(sized->alloc, sized->device, name, &shaped, model_out, err);
	if (rc)
		return rc;
	sized->at[place].shapes = dlsi_onnx_shapes_copy(sized->alloc, shapes, count);
	if (!sized->at[place].shapes) {
		dlsi_model_destroy(*model_out);
		return dlsi_fail_memory(err);
	}
	sized->at[place].count = count;
	sized->at[place].model = *model_out;
	sized->at[place].used = ++sized->finds;
	return 0;
}

/* How many items the tensors could be: their first dimension if they have the same, else 1. */
static int64_t count_items(const struct dls_tensor *inputs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!inputs[i].rank || inputs[i].dims[0] != inputs[0].dims[0])
			return 1;
	return count && inputs[0].dims[0] > 0 ? inputs[0].dims[0] : 1;
}

static void take_shapes(
	const struct dls_tensor *inputs, size_t count, int64_t items, struct dlsi_onnx_shape *shapes_out)
{
	for (size_t i = 0; i < count; i++) {
		shapes_out[i].rank = inputs[i].rank;
		memcpy(shapes_out[i].dims, inputs[i].dims, inputs[i].rank * sizeof *inputs[i].dims);
		if (items > 1)
			shapes_out[i].dims[0] = 1;
	}
}

static int find(struct dlsi_sized *sized, const char *name, const struct dlsi_onnx *onnx,
	const struct dlsi_onnx_shape *shapes, size_t count, struct dlsi_model **model_out, struct dls_error *err)
{
	*model_out = look_up(sized, shapes, count);
	return *model_out ? 0 : load(sized, name, onnx, shapes, count, model_out, err);
}

int dlsi_sized_find(struct dlsi_sized *sized, const char *name, const struct dlsi_onnx *onnx,
	const struct dls_tensor *inputs, size_t count, struct dlsi_model **model_out, int64_t *batch_out,
	struct dls_error *err)
{
	struct dlsi_onnx_shape whole[DLSI_ROW_FIELDS] = {{0}}, item[DLSI_ROW_FIELDS] = {{0}};
	int64_t items;

	if (count > DLSI_ROW_FIELDS)
		return dlsi_fail(err, DLS_ELIMIT, "%s has %zu inputs; %d are the most of a model whose sizes are open",
			name, count, DLSI_ROW_FIELDS);
	items = count_items(inputs, count);
	take_shapes(inputs, count, 1, whole);
	*batch_out = 1;
	*model_out = look_up(sized, whole, count);
	if (*model_out)
		return 0;
	take_shapes(inputs, count, items, item);
	if (items > 1 && find(sized, name, onnx, item, count, model_out, NULL) == 0 &&
		!dlsi_model_unbatchable(*model_out)) {
		*batch_out = items;
		return 0;
	}
	return find(sized, name, onnx, whole, count, model_out, err);
}
