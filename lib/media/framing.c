#include "media/framing.h"

#include "base/limits.h"
#include <math.h>

/* Half of it, a half rounded to even: Python's round(n / 2). */
static uint32_t halve(uint32_t n)
{
	uint32_t half = n / 2;

	return half + (n & half & 1);
}

/* `side` of the one becomes `to`; the other side to the same scale, rounded to the nearest, a half upwards. */
static uint64_t scale(uint32_t other, uint32_t to, uint32_t side)
{
	return (2 * (uint64_t)other * to + side) / (2 * (uint64_t)side);
}

/* The same as Pillow reckons it in ImageOps.pad, and at least 1. */
static uint32_t scale_near(uint32_t other, uint32_t to, uint32_t side)
{
	double scaled = rint((double)other / side * to);

	return scaled < 1 ? 1 : (uint32_t)scaled;
}

static int resize_shorter(
	struct dlsi_framing *framing, uint32_t shorter, uint32_t width, uint32_t height, struct dls_error *err)
{
	bool wide = width > height;
	uint64_t longer = wide ? scale(width, shorter, height) : scale(height, shorter, width);

	if (longer > DLSI_IMAGE_PIXELS)
		return dlsi_fail(err, DLS_ELIMIT,
			"the photo is %ux%u, too narrow to make its shorter side %u: cut it first", width, height,
			shorter);
	framing->width = wide ? (uint32_t)longer : shorter;
	framing->height = wide ? shorter : (uint32_t)longer;
	return 0;
}

static void resize_inside(
	struct dlsi_framing *framing, const struct dlsi_input_description *how, uint32_t width, uint32_t height)
{
	double proportion = (double)width / height, wanted = (double)how->width / how->height;

	framing->width = proportion < wanted ? scale_near(width, how->height, height) : how->width;
	framing->height = proportion > wanted ? scale_near(height, how->width, width) : how->height;
	framing->left = halve(how->width - framing->width);
	framing->top = halve(how->height - framing->height);
}

static int crop(struct dlsi_framing *framing, const struct dlsi_input_description *how, struct dls_error *err)
{
	if (how->crop_width > framing->width || how->crop_height > framing->height)
		return dlsi_fail(err, DLS_EINVAL,
			"the photo becomes %ux%u, too small to cut %ux%u out of it; let model.json resize it to that",
			framing->width, framing->height, how->crop_width, how->crop_height);
	framing->region = (struct dlsi_region){.left = (framing->width - how->crop_width) / 2,
		.top = (framing->height - how->crop_height) / 2,
		.width = how->crop_width,
		.height = how->crop_height};
	return 0;
}

int dlsi_framing_init(struct dlsi_framing *framing, const struct dlsi_input_description *how, uint32_t width,
	uint32_t height, struct dls_error *err)
{
	struct dlsi_framing made = {.width = width, .height = height};
	int rc = 0;

	switch (how->fit) {
	case DLSI_FIT_NONE:
		break;
	case DLSI_FIT_SHORTER:
		rc = resize_shorter(&made, how->height, width, height, err);
		break;
	case DLSI_FIT_EXACT:
		made.width = how->width;
		made.height = how->height;
		break;
	case DLSI_FIT_INSIDE:
		resize_inside(&made, how, width, height);
	}
	made.region = (struct dlsi_region){.width = made.width, .height = made.height};
	if (rc == 0 && how->crop_height)
		rc = crop(&made, how, err);
	if (rc)
		return rc;
	made.full_width = how->fit == DLSI_FIT_INSIDE ? how->width : made.region.width;
	made.full_height = how->fit == DLSI_FIT_INSIDE ? how->height : made.region.height;
	*framing = made;
	return 0;
}

void dlsi_framing_size(const struct dlsi_input_description *how, uint32_t *height_out, uint32_t *width_out)
{
	bool fixed = how->fit == DLSI_FIT_EXACT || how->fit == DLSI_FIT_INSIDE;

	*height_out = how->crop_height ? how->crop_height : fixed ? how->height : 0;
	*width_out = how->crop_width ? how->crop_width : fixed ? how->width : 0;
}
