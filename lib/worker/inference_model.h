/* A model that is ready to run: on a device, with its plan and the memory of its batches. One thread at a time. */
#ifndef DLSI_INFERENCE_MODEL_H
#define DLSI_INFERENCE_MODEL_H

#include "base/hash.h"
#include "base/list.h"
#include "graph/arena.h"
#include "model/plan.h"
#include "worker/inference.h"

struct dlsi_inference_model {
	struct dlsi_list node;
	struct dlsi_hash id;
	struct dlsi_loaded *loaded;
	struct dlsi_loaded_model *shared; /* with other devices */
	struct dlsi_description description;
	struct dlsi_model *model;
	bool by_items; /* its sizes are those of the items that it is for */
	struct dlsi_onnx_shape
		*shapes; /* if so; NULL: those of the file, and if it has not all only ports to look at */
	struct dlsi_model_plan plan;
	struct dls_tensor *inputs;  /* of a run of all `capacity` places */
	struct dls_tensor *outputs; /* with the dims that those which are bounded had in the last run */
	uint32_t capacity;
	float *best; /* room for the highest values and indices of all outputs of an item */
	struct dlsi_arena buffers;
	const struct dlsi_alloc *alloc;
};

/* For inputs of these shapes. NULL: for those that the files say, and if they leave something open there is no more
 * than dlsi_inference_model_shape to be had. Errors: those of dlsi_description_parse, dlsi_loaded_take and
 * dlsi_model_plan_init. */
int dlsi_inference_model_create(const struct dlsi_alloc *alloc, struct dlsi_loaded *loaded,
	const struct dlsi_model_files *files, const struct dlsi_onnx_shape *shapes,
	struct dlsi_inference_model **model_out, struct dls_error *err);
void dlsi_inference_model_destroy(struct dlsi_inference_model *model);

/* Whether it is for inputs of these shapes. */
bool dlsi_inference_model_has(const struct dlsi_inference_model *model, const struct dlsi_onnx_shape *shapes);

/* The shape that input `i` has with this item. Errors: as dlsi_model_shape_of_item, dlsi_npy_parse. */
int dlsi_inference_model_shape(const struct dlsi_inference_model *model, size_t i, const struct dlsi_task_input *item,
	struct dlsi_onnx_shape *shape_out, struct dls_error *err);

/* The most items of one run. */
uint32_t dlsi_inference_model_batch(const struct dlsi_inference_model *model);

/* Makes room for `items` (at most dlsi_inference_model_batch). Errors: DLS_ENOMEM. */
int dlsi_inference_model_reserve(struct dlsi_inference_model *model, uint32_t items, struct dls_error *err);

/* Where the item in this place has its input, and its output after a run. */
void *dlsi_inference_model_input(struct dlsi_inference_model *model, size_t input, uint32_t place);
void *dlsi_inference_model_output(struct dlsi_inference_model *model, size_t output, uint32_t place);

/* Copies the inputs from one place to another. */
void dlsi_inference_model_move(struct dlsi_inference_model *model, uint32_t from, uint32_t to);

/* Makes ready for runs of so many items, which takes long the first time. Errors: as dlsi_model_prepare. */
int dlsi_inference_model_prepare(struct dlsi_inference_model *model, uint32_t items, struct dls_error *err);

/* Runs `items` places from `first` on. Errors: as dlsi_model_run. */
int dlsi_inference_model_run(struct dlsi_inference_model *model, uint32_t first, uint32_t items, struct dls_error *err);

#endif
