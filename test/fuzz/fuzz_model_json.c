/* Any bytes as a model.json: a description that is accepted holds only values that the library acts on. */
#include "base/limits.h"
#include "media/description.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

static void check(const struct dlsi_input_description *input)
{
	if (input->height > DLSI_PICTURE_SIDE || input->width > DLSI_PICTURE_SIDE ||
		input->crop_height > DLSI_PICTURE_SIDE || input->crop_width > DLSI_PICTURE_SIDE || input->pad > 255)
		abort();
	for (int i = 0; i < 3 && input->kind == DLSI_INPUT_IMAGE; i++)
		if (input->std[i] == 0)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	struct dlsi_description description;
	struct dls_error err;

	dlsi_description_init(&description, &dlsi_alloc_libc);
	if (dlsi_description_parse(&description, "model.json", data, length, &err) == 0)
		for (size_t i = 0; i < description.input_count; i++)
			check(&description.inputs[i]);
	dlsi_description_fini(&description);
	return 0;
}
