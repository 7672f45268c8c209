/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures of cameras that compress them: JPEG to grey through libturbojpeg. */
#ifndef PLX_V4L2_JPEG_H
#define PLX_V4L2_JPEG_H

#include "core/error_message.h"
#include "core/image.h"

struct plx_jpeg;

int plx_jpeg_create(struct plx_jpeg **ret_jpeg); /* NOMEM */
void plx_jpeg_destroy(struct plx_jpeg *jpeg);    /* NULL is fine */

/* The luma of DATA into GREY, U8, which must have its size. FORMAT if it is no whole JPEG picture, or of another size; what
 * GREY then holds is open. One thread at a time. */
int plx_jpeg_decode(struct plx_jpeg *jpeg, const void *data, size_t bytes, const struct plx_image *grey,
                    struct plx_error_message *message);

#endif
