#include "media/description.h"

#include "base/json.h"
#include "base/limits.h"
#include <stdio.h>
#include <string.h>

/* The words of the enumerations, by value. */
static const char *const colours[] = {"rgb", "bgr", "grey", NULL};
static const char *const layouts[] = {"nchw", "nhwc", NULL};
static const char *const filters[] = {"bilinear", "nearest", "bicubic", "lanczos", NULL};
static const char *const input_kinds[] = {"tensor", "image", NULL};
static const char *const output_kinds[] = {"tensor", "classes", NULL};

static const char *const file_keys[] = {"inputs", "outputs", "max_batch", NULL};
static const char *const tensor_keys[] = {"kind", NULL};
static const char *const image_keys[] = {
	"kind", "resize", "filter", "crop", "colour", "scale", "mean", "std", "layout", NULL};
static const char *const classes_keys[] = {"kind", "softmax", "top", NULL};
static const char *const resize_keys[] = {"shorter", "exact", "fit", "pad", NULL};

enum { WHAT_BYTES = 400 }; /* "model.json: inputs.NAME"; longer ones are cut */

static const struct dlsi_input_description plain_input = {.kind = DLSI_INPUT_TENSOR};
static const struct dlsi_output_description plain_output = {.kind = DLSI_OUTPUT_TENSOR};

void dlsi_description_init(struct dlsi_description *description, const struct dlsi_alloc *alloc)
{
	*description = (struct dlsi_description){.alloc = alloc};
}

void dlsi_description_fini(struct dlsi_description *description)
{
	for (size_t i = 0; i < description->input_count; i++)
		dlsi_free(description->alloc, description->inputs[i].name);
	for (size_t i = 0; i < description->output_count; i++)
		dlsi_free(description->alloc, description->outputs[i].name);
	dlsi_free(description->alloc, description->inputs);
	dlsi_free(description->alloc, description->outputs);
	dlsi_description_init(description, description->alloc);
}

static bool is_whole(const cJSON *json, uint32_t low, uint32_t high)
{
	return cJSON_IsNumber(json) && json->valuedouble >= low && json->valuedouble <= high &&
	       json->valuedouble == (uint32_t)json->valuedouble;
}

static const cJSON *find(const struct dlsi_json_reader *reader, const char *name)
{
	return reader->rc ? NULL : cJSON_GetObjectItemCaseSensitive(reader->object, name);
}

/* A member that is a whole number; stays as it is if it is absent. A text is none, unlike to dlsi_json_integer. */
static void read_whole(struct dlsi_json_reader *reader, const char *name, uint32_t low, uint32_t high, uint32_t *value)
{
	const cJSON *json = find(reader, name);

	if (!json)
		return;
	if (is_whole(json, low, high))
		*value = (uint32_t)json->valuedouble;
	else
		reader->rc = dlsi_fail(reader->err, DLS_EINVAL, "%s: \"%s\" must be a whole number from %u to %u",
			reader->what, name, low, high);
}

/* A member that is one side for a square or [height, width]; both stay as they are if it is absent. */
static void read_size(struct dlsi_json_reader *reader, const char *name, uint32_t *height, uint32_t *width)
{
	const cJSON *json = find(reader, name);
	const cJSON *first = cJSON_IsArray(json) ? json->child : json;
	const cJSON *second = cJSON_IsArray(json) && first ? first->next : json;

	if (!json)
		return;
	if (!is_whole(first, 1, DLSI_PICTURE_SIDE) || !is_whole(second, 1, DLSI_PICTURE_SIDE) ||
		(cJSON_IsArray(json) && second->next)) {
		reader->rc = dlsi_fail(reader->err, DLS_EINVAL,
			"%s: \"%s\" must be a whole number from 1 to %d, or two of them as [height, width]",
			reader->what, name, DLSI_PICTURE_SIDE);
		return;
	}
	*height = (uint32_t)first->valuedouble;
	*width = (uint32_t)second->valuedouble;
}

/* A member that is one number for all channels, alone or in an array, or one for each. */
static void read_channels(
	struct dlsi_json_reader *reader, const char *name, int channels, double otherwise, double *values)
{
	const cJSON *json = find(reader, name);
	const cJSON *number = cJSON_IsArray(json) ? json->child : json;
	int count = cJSON_IsArray(json) ? cJSON_GetArraySize(json) : 1;
	bool good = count == 1 || count == channels;

	for (int i = 0; i < 3; i++) {
		good = good && (!json || cJSON_IsNumber(number));
		values[i] = json && good ? number->valuedouble : otherwise;
		if (good && count > 1)
			number = number->next ? number->next : number;
	}
	if (!good)
		reader->rc = dlsi_fail(reader->err, DLS_EINVAL,
			"%s: \"%s\" must be a number or an array of them, 1 or one for each of %d channels",
			reader->what, name, channels);
}

/* {"shorter": S}, {"exact": SIZE} or {"fit": SIZE, "pad": VALUE}. */
static int read_resize(const cJSON *json, const char *what, struct dlsi_input_description *input, struct dls_error *err)
{
	static const struct {
		const char *key;
		enum dlsi_fit fit;
	} fits[] = {{"shorter", DLSI_FIT_SHORTER}, {"exact", DLSI_FIT_EXACT}, {"fit", DLSI_FIT_INSIDE}};
	struct dlsi_json_reader reader = dlsi_json_read(json, what, resize_keys, err);
	int given = 0;

	for (size_t i = 0; i < sizeof fits / sizeof *fits; i++)
		if (cJSON_GetObjectItemCaseSensitive(json, fits[i].key)) {
			input->fit = fits[i].fit;
			given++;
		}
	read_whole(&reader, "shorter", 1, DLSI_PICTURE_SIDE, &input->height);
	read_size(&reader, "exact", &input->height, &input->width);
	read_size(&reader, "fit", &input->height, &input->width);
	read_whole(&reader, "pad", 0, 255, &input->pad);
	if (reader.rc)
		return reader.rc;
	if (given != 1)
		return dlsi_fail(err, DLS_EINVAL, "%s must have one of shorter, exact and fit", what);
	if (input->fit != DLSI_FIT_INSIDE && cJSON_GetObjectItemCaseSensitive(json, "pad"))
		return dlsi_fail(err, DLS_EINVAL, "%s: \"pad\" goes with \"fit\" only", what);
	return 0;
}

static int read_image(const cJSON *json, const char *what, struct dlsi_input_description *input, struct dls_error *err)
{
	struct dlsi_json_reader reader = dlsi_json_read(json, what, image_keys, err);
	const cJSON *resize = dlsi_json_object(&reader, "resize");
	char resize_what[WHAT_BYTES];
	int channels;

	input->filter = (enum dlsi_filter)dlsi_json_choice(&reader, "filter", filters, DLSI_FILTER_BILINEAR);
	read_size(&reader, "crop", &input->crop_height, &input->crop_width);
	input->colour = (enum dlsi_colour)dlsi_json_choice(&reader, "colour", colours, DLSI_COLOUR_RGB);
	channels = input->colour == DLSI_COLOUR_GREY ? 1 : 3;
	input->scale = dlsi_json_number(&reader, "scale", 1);
	read_channels(&reader, "mean", channels, 0, input->mean);
	read_channels(&reader, "std", channels, 1, input->std);
	input->layout = (enum dlsi_layout)dlsi_json_choice(&reader, "layout", layouts, DLSI_LAYOUT_NCHW);
	if (reader.rc)
		return reader.rc;
	for (int i = 0; i < 3; i++)
		if (input->std[i] == 0)
			return dlsi_fail(err, DLS_EINVAL, "%s: \"std\" must not be 0: values are divided by it", what);
	if (!resize)
		return 0;
	snprintf(resize_what, sizeof resize_what, "%s.resize", what);
	reader.rc = read_resize(resize, resize_what, input, err);
	if (reader.rc == 0 && input->fit == DLSI_FIT_INSIDE && input->crop_height)
		return dlsi_fail(err, DLS_EINVAL, "%s: \"crop\" cannot follow a resize to \"fit\"; remove one", what);
	return reader.rc;
}

/* Which of the words the "kind" of an object is, or a negative code; the other members are not looked at. */
static int read_kind(const cJSON *json, const char *what, const char *const *words, struct dls_error *err)
{
	struct dlsi_json_reader reader = {.object = json, .what = what, .err = err};
	int kind;

	if (!cJSON_IsObject(json))
		return dlsi_fail(err, DLS_EINVAL, "%s must be an object", what);
	dlsi_json_require(&reader, "kind");
	kind = dlsi_json_choice(&reader, "kind", words, 0);
	return reader.rc ? reader.rc : kind;
}

/* `array` with room for one more zeroed element of this size, or NULL: then it is unchanged. */
static void *extend(const struct dlsi_alloc *alloc, void *array, size_t count, size_t size)
{
	uint8_t *grown = dlsi_realloc(alloc, array, (count + 1) * size);

	if (grown)
		memset(grown + count * size, 0, size);
	return grown;
}

static int add_input(struct dlsi_description *description, const cJSON *json, const char *what, struct dls_error *err)
{
	struct dlsi_input_description *input =
		extend(description->alloc, description->inputs, description->input_count, sizeof *description->inputs);
	int kind;

	if (!input)
		return dlsi_fail_memory(err);
	description->inputs = input;
	input += description->input_count;
	input->name = dlsi_strdup(description->alloc, json->string);
	if (!input->name)
		return dlsi_fail_memory(err);
	description->input_count++;
	kind = read_kind(json, what, input_kinds, err);
	if (kind < 0)
		return kind;
	input->kind = (enum dlsi_input_kind)kind;
	if (kind == DLSI_INPUT_IMAGE)
		return read_image(json, what, input, err);
	return dlsi_json_read(json, what, tensor_keys, err).rc;
}

static int add_output(struct dlsi_description *description, const cJSON *json, const char *what, struct dls_error *err)
{
	struct dlsi_output_description *output = extend(
		description->alloc, description->outputs, description->output_count, sizeof *description->outputs);
	struct dlsi_json_reader reader;
	int kind;

	if (!output)
		return dlsi_fail_memory(err);
	description->outputs = output;
	output += description->output_count;
	output->name = dlsi_strdup(description->alloc, json->string);
	if (!output->name)
		return dlsi_fail_memory(err);
	description->output_count++;
	kind = read_kind(json, what, output_kinds, err);
	if (kind < 0)
		return kind;
	output->kind = (enum dlsi_output_kind)kind;
	reader = dlsi_json_read(json, what, kind == DLSI_OUTPUT_CLASSES ? classes_keys : tensor_keys, err);
	output->softmax = dlsi_json_bool(&reader, "softmax", false);
	read_whole(&reader, "top", 1, DLSI_TOP_CLASSES, &output->top);
	return reader.rc;
}

/* The members of "inputs" or "outputs", each by `add`. */
static int add_all(struct dlsi_description *description, const char *what, const cJSON *group,
	int (*add)(struct dlsi_description *, const cJSON *, const char *, struct dls_error *), struct dls_error *err)
{
	char member_what[WHAT_BYTES];
	const cJSON *member;
	int rc = 0;

	if (cJSON_GetArraySize(group) > DLSI_ROW_FIELDS)
		return dlsi_fail(
			err, DLS_ELIMIT, "%s: %s has more than %d members", what, group->string, DLSI_ROW_FIELDS);
	cJSON_ArrayForEach (member, group) {
		if (strlen(member->string) > DLSI_NAME_BYTES)
			return dlsi_fail(err, DLS_ELIMIT, "%s: a name in %s is longer than %d bytes", what,
				group->string, DLSI_NAME_BYTES);
		snprintf(member_what, sizeof member_what, "%s: %s.%s", what, group->string, member->string);
		rc = add(description, member, member_what, err);
		if (rc)
			break;
	}
	return rc;
}

static int read_file(struct dlsi_description *description, const char *what, const cJSON *json, struct dls_error *err)
{
	struct dlsi_json_reader reader = dlsi_json_read(json, what, file_keys, err);
	const cJSON *inputs = dlsi_json_object(&reader, "inputs"), *outputs = dlsi_json_object(&reader, "outputs");

	read_whole(&reader, "max_batch", 1, DLSI_TASK_ITEMS, &description->max_batch);
	if (reader.rc == 0 && inputs)
		reader.rc = add_all(description, what, inputs, add_input, err);
	if (reader.rc == 0 && outputs)
		reader.rc = add_all(description, what, outputs, add_output, err);
	return reader.rc;
}

int dlsi_description_parse(
	struct dlsi_description *description, const char *what, const void *text, size_t length, struct dls_error *err)
{
	struct dlsi_description read;
	cJSON *json;
	int rc = dlsi_json_parse(what, text, length, DLSI_MODEL_JSON_BYTES, &json, err);

	if (rc)
		return rc;
	dlsi_description_init(&read, description->alloc);
	rc = read_file(&read, what, json, err);
	cJSON_Delete(json);
	if (rc)
		dlsi_description_fini(&read);
	else
		*description = read;
	return rc;
}

static int check_name(const char *name, const char *group, const char *const *names, struct dls_error *err)
{
	for (size_t i = 0; names[i]; i++)
		if (strcmp(names[i], name) == 0)
			return 0;
	return dlsi_fail(err, DLS_EINVAL,
		"model.json describes %s \"%s\", which the model does not have; did you mean "
		"\"%s\"?",
		group, name, dlsi_json_nearest(name, names));
}

int dlsi_description_check(const struct dlsi_description *description, const char *const *inputs,
	const char *const *outputs, struct dls_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < description->input_count && rc == 0; i++)
		rc = check_name(description->inputs[i].name, "the input", inputs, err);
	for (size_t i = 0; i < description->output_count && rc == 0; i++)
		rc = check_name(description->outputs[i].name, "the output", outputs, err);
	return rc;
}

const struct dlsi_input_description *dlsi_description_input(
	const struct dlsi_description *description, const char *name)
{
	for (size_t i = 0; i < description->input_count; i++)
		if (strcmp(description->inputs[i].name, name) == 0)
			return &description->inputs[i];
	return &plain_input;
}

const struct dlsi_output_description *dlsi_description_output(
	const struct dlsi_description *description, const char *name)
{
	for (size_t i = 0; i < description->output_count; i++)
		if (strcmp(description->outputs[i].name, name) == 0)
			return &description->outputs[i];
	return &plain_output;
}
