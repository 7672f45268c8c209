/* SPDX-License-Identifier: Apache-2.0 */
/* PGM, the binary kind "P5" of Netpbm, 8 and 16 bits. Errors are as in drivers/files/picture.h. */
#ifndef PLX_DRIVERS_FILES_PGM_H
#define PLX_DRIVERS_FILES_PGM_H

#include "drivers/files/picture.h"

int plx_pgm_info(const char *path, struct plx_picture_info *ret_info, struct plx_error_message *message);

/* The whole file: U16 where the largest value is above 255, else U8; values as they are in the file. The data is the caller's,
 * to be freed. */
int plx_pgm_read(const char *path, struct plx_image *ret_image, struct plx_error_message *message);

/* Writes IMAGE, U8 or U16. A file that cannot be finished is removed. IO, PERMISSION, NOT_FOUND, ARG, NOMEM. */
int plx_pgm_write(const char *path, const struct plx_image *image, struct plx_error_message *message);

#endif
