/* What a model folder says about its inputs and outputs: model.json, read strictly.
 *
 * docs/model.schema.json says the same to editors and validators; a test keeps the two equal. A file may be absent, and
 * an input or output need not be described: then it is a plain tensor. */
#ifndef DLSI_DESCRIPTION_H
#define DLSI_DESCRIPTION_H

#include "base/alloc.h"
#include "base/error.h"
#include "media/resize.h"
#include <stdbool.h>

enum dlsi_input_kind {
	DLSI_INPUT_TENSOR, /* values of the model's own type and shape */
	DLSI_INPUT_IMAGE,
};

enum dlsi_fit {
	DLSI_FIT_NONE,    /* the picture keeps its size */
	DLSI_FIT_SHORTER, /* its shorter side becomes `height` */
	DLSI_FIT_EXACT,   /* it becomes height x width, whatever its proportions */
	DLSI_FIT_INSIDE,  /* as large as goes into height x width, in the middle, with `pad` around it */
};

enum dlsi_colour { DLSI_COLOUR_RGB, DLSI_COLOUR_BGR, DLSI_COLOUR_GREY };

enum dlsi_layout { DLSI_LAYOUT_NCHW, DLSI_LAYOUT_NHWC };

struct dlsi_input_description {
	char *name;
	enum dlsi_input_kind kind;
	enum dlsi_fit fit;
	uint32_t height, width; /* of the fit */
	uint32_t pad;           /* 0 to 255 */
	enum dlsi_filter filter;
	uint32_t crop_height, crop_width; /* cut from the middle; 0: all of it */
	enum dlsi_colour colour;
	double scale, mean[3], std[3]; /* (value * scale - mean) / std, by channel as the model sees them */
	enum dlsi_layout layout;
};

enum dlsi_output_kind {
	DLSI_OUTPUT_TENSOR,
	DLSI_OUTPUT_CLASSES, /* one score per class */
};

struct dlsi_output_description {
	char *name;
	enum dlsi_output_kind kind;
	bool softmax; /* is still to be applied */
	uint32_t top; /* how many of the best to give; 0: all scores */
};

struct dlsi_description {
	struct dlsi_input_description *inputs;
	size_t input_count;
	struct dlsi_output_description *outputs;
	size_t output_count;
	uint32_t max_batch; /* 0: not said */
	const struct dlsi_alloc *alloc;
};

/* That of a folder without model.json. */
void dlsi_description_init(struct dlsi_description *description, const struct dlsi_alloc *alloc);
void dlsi_description_fini(struct dlsi_description *description);

/* Reads the text of a model.json into an initialised, empty description. `what` names the file in errors.
 * Errors: DLS_EFORMAT (not JSON), DLS_EINVAL (a key that is unknown, with the nearest known one, or a value that cannot
 * be), DLS_ELIMIT, DLS_ENOMEM. The description is unchanged then. */
int dlsi_description_parse(
	struct dlsi_description *description, const char *what, const void *text, size_t length, struct dls_error *err);

/* Checks that all inputs and outputs that are described exist, given the names that the model has (NULL-terminated,
 * one each at least). Errors: DLS_EINVAL (names the nearest that exists). */
int dlsi_description_check(const struct dlsi_description *description, const char *const *inputs,
	const char *const *outputs, struct dls_error *err);

/* The description of an input or output of this name; of a plain tensor if there is none. Valid as long as
 * `description` is, never NULL. */
const struct dlsi_input_description *dlsi_description_input(
	const struct dlsi_description *description, const char *name);
const struct dlsi_output_description *dlsi_description_output(
	const struct dlsi_description *description, const char *name);

#endif
