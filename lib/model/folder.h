/* A model folder, opened and checked whole: the graph with its operators, model.json against the graph, the labels
 * against the classes. Nothing of it is on a device yet. */
#ifndef DLSI_MODEL_FOLDER_H
#define DLSI_MODEL_FOLDER_H

#include "base/file.h"
#include "graph/graph.h"
#include "model/data.h"
#include "model/labels.h"
#include "model/plan.h"
#include "reader/onnx.h"
#include "store/bundle.h"

struct dlsi_model_folder {
	const struct dlsi_alloc *alloc;
	char *onnx_path;
	uint8_t *onnx; /* read, not mapped: the file may be written over while the graph is in use */
	size_t onnx_length;
	struct dlsi_model_data data;
	struct dlsi_graph *graph;
	bool has_shapes; /* of the inputs: model.json says what the file leaves open */
	struct dlsi_onnx_shape shapes[DLSI_ROW_FIELDS];
	struct dlsi_description description;
	struct dlsi_model_plan plan;
	struct dlsi_labels labels;
	bool has_description, has_labels; /* model.json, labels.txt are there */
};

/* Without model.json the model takes and gives tensors; so it does where `path` is an ONNX file alone. labels.txt must
 * be there, with a line for each class, where an output is of kind classes. Errors: as dls_model_open. */
int dlsi_model_folder_open(
	struct dlsi_model_folder *folder, const struct dlsi_alloc *alloc, const char *path, struct dls_error *err);
void dlsi_model_folder_close(struct dlsi_model_folder *folder);

/* Its ONNX file with the data beside it and the shapes that model.json says. Valid as long as the folder is open. */
struct dlsi_onnx dlsi_model_folder_onnx(struct dlsi_model_folder *folder);

/* Its files, of which a bundle can be made; the names belong to the folder. To be freed before the folder is closed.
 * Errors: DLS_ENOMEM. */
int dlsi_model_folder_sources(const struct dlsi_model_folder *folder, struct dlsi_bundle_source **sources_out,
	size_t *count_out, struct dls_error *err);
void dlsi_model_folder_free_sources(
	const struct dlsi_model_folder *folder, struct dlsi_bundle_source *sources, size_t count);

/* What dls_model_describe gives; NULL when memory is exhausted. */
char *dlsi_model_folder_describe(const struct dlsi_model_folder *folder, const struct dlsi_alloc *alloc);

#endif
