/* SPDX-License-Identifier: Apache-2.0 */
#include "core/image.h"

bool plx_image_ok(const struct plx_image *image, enum plx_type type)
{
    return image && image->data && image->type == type && image->width >= 1 && image->width <= PLX_MAX_SIDE &&
           image->height >= 1 && image->height <= PLX_MAX_SIDE && image->pitch >= (size_t)image->width * (size_t)type &&
           image->pitch % (size_t)type == 0;
}

bool plx_same_size(const struct plx_image *a, const struct plx_image *b)
{
    return a->width == b->width && a->height == b->height;
}
