/* SPDX-License-Identifier: Apache-2.0 */
/* JPEG files through libturbojpeg. Errors are as in drivers/files/picture.h. */
#ifndef PLX_DRIVERS_FILES_JPEG_FILE_H
#define PLX_DRIVERS_FILES_JPEG_FILE_H

#include "drivers/files/picture.h"

int plx_jpeg_info(const char *path, struct plx_picture_info *ret_info, struct plx_error_message *message);

/* The whole file: U8, the luma of a colour picture. A file that is cut off is an error. The data is the caller's, to be freed.
 */
int plx_jpeg_read(const char *path, struct plx_image *ret_image, struct plx_error_message *message);

#endif
