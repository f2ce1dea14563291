/* The one thing of EXIF that changes what a photo shows: how the camera was held. */
#ifndef DLSI_EXIF_H
#define DLSI_EXIF_H

#include <stddef.h>
#include <stdint.h>

/* The orientation (1 to 8, TIFF tag 274) of a TIFF block, as PNG's eXIf holds it and JPEG's APP1 after "Exif\0\0".
 * 1, which changes nothing, when there is none or the block is malformed: a photo is not refused for its EXIF. */
unsigned dlsi_exif_orientation(const void *tiff, size_t length);

#endif
