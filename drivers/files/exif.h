/* SPDX-License-Identifier: Apache-2.0 */
/* How a JPEG picture is to be turned for showing: the tag Orientation of its EXIF block (CIPA DC-008, TIFF 6.0). */
#ifndef PLX_DRIVERS_FILES_EXIF_H
#define PLX_DRIVERS_FILES_EXIF_H

#include <stddef.h>
#include <stdint.h>

/* 1 (as it is) to 8. 1 also where the file has no such tag, or none that can be read. Any BYTES of DATA are fine. */
int plx_exif_orientation(const uint8_t *data, size_t bytes);

#endif
