/* Where a photo lies in the picture that a model sees: the arithmetic of sizes, without pixels. */
#ifndef DLSI_FRAMING_H
#define DLSI_FRAMING_H

#include "media/description.h"

struct dlsi_framing {
	uint32_t width, height;           /* the whole photo is resized to this */
	struct dlsi_region region;        /* of that, this part is shown */
	uint32_t left, top;               /* its place in the picture; more than 0 only where there is padding */
	uint32_t full_width, full_height; /* of the picture */
};

/* For a photo of this size. `shorter` rounds the longer side to the nearest, a crop leaves its odd pixel at the right
 * and at the bottom, `fit` rounds as Pillow's ImageOps.pad does. Errors: DLS_EINVAL (too small for the crop),
 * DLS_ELIMIT (so narrow that its longer side grows beyond all measure). */
int dlsi_framing_init(struct dlsi_framing *framing, const struct dlsi_input_description *how, uint32_t width,
	uint32_t height, struct dls_error *err);

/* The size of the picture as far as it does not depend on the photo; 0 where it does. */
void dlsi_framing_size(const struct dlsi_input_description *how, uint32_t *height_out, uint32_t *width_out);

#endif
