/* SPDX-License-Identifier: Apache-2.0 */
/* PNG through libpng (ISO/IEC 15948). Errors are as in drivers/files/picture.h. */
#ifndef PLX_DRIVERS_FILES_PNG_H
#define PLX_DRIVERS_FILES_PNG_H

#include "drivers/files/picture.h"

int plx_png_info(const char *path, struct plx_picture_info *ret_info, struct plx_error_message *message);

/* The whole file: U16 for 16 bits a sample, else U8; colour becomes luma, palettes are resolved, transparency is ignored. The
 * data is the caller's, to be freed. */
int plx_png_read(const char *path, struct plx_image *ret_image, struct plx_error_message *message);

/* Writes IMAGE, U8 or U16, as grey. A file that cannot be finished is removed. IO, PERMISSION, NOT_FOUND, ARG, NOMEM. */
int plx_png_write(const char *path, const struct plx_image *image, struct plx_error_message *message);

/* Writes colour: IMAGE is U8 and three times as wide as the picture, R G B R G B ... */
int plx_png_write_rgb(const char *path, const struct plx_image *image, struct plx_error_message *message);

#endif
