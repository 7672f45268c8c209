/* SPDX-License-Identifier: Apache-2.0 */
#include "oracle/image.h"

#include <math.h>

static int64_t pixel(const struct plx_image *image, int64_t x, int64_t y)
{
    if (x < 0 || y < 0 || x >= image->width || y >= image->height)
        return 0;
    return image->type == PLX_U16 ? ((const uint16_t *)plx_row(image, (int)y))[x]
                                  : ((const uint8_t *)plx_row(image, (int)y))[x * (int)image->type];
}

/* The image at (x, y), in 1/32 px: bilinear from the four neighbours, rounded half up. */
static int64_t sample(const struct plx_image *image, int64_t x, int64_t y)
{
    int64_t x0 = (int64_t)floor((double)x / 32), y0 = (int64_t)floor((double)y / 32), fx = x - 32 * x0, fy = y - 32 * y0;
    int64_t sum = pixel(image, x0, y0) * (32 - fx) * (32 - fy) + pixel(image, x0 + 1, y0) * fx * (32 - fy) +
                  pixel(image, x0, y0 + 1) * (32 - fx) * fy + pixel(image, x0 + 1, y0 + 1) * fx * fy;
    return (sum + 512) / 1024;
}

static void put(const struct plx_image *image, int x, int y, int64_t value)
{
    if (image->type == PLX_U16)
        ((uint16_t *)plx_row(image, y))[x] = (uint16_t)value;
    else
        ((uint8_t *)plx_row(image, y))[x * (int)image->type] = (uint8_t)value;
}

void oracle_rectify(const struct plx_image *src, const struct plx_remap *map, const struct plx_image *dst, uint32_t *ret_masked)
{
    uint32_t masked = 0;
    for (int y = 0; y < dst->height; y++)
        for (int x = 0; x < dst->width; x++) {
            struct plx_remap_entry entry = map->entry[(size_t)y * (size_t)map->width + (size_t)x];
            int64_t sx = 32 * (int64_t)entry.x + entry.fx, sy = 32 * (int64_t)entry.y + entry.fy;
            for (int channel = 0; channel < (src->type == PLX_RGB ? 3 : 1); channel++) { /* of RGB each as a grey picture */
                struct plx_image from = *src, to = *dst;
                from.data = (uint8_t *)src->data + channel;
                to.data = (uint8_t *)dst->data + channel;
                put(&to, x, y, sample(&from, sx, sy));
            }
            masked += sx < 0 || sy < 0 || sx > 32 * (src->width - 1) || sy > 32 * (src->height - 1);
        }
    if (src->type != PLX_RGB)
        *ret_masked = masked;
}

void oracle_affine(const struct plx_image *src, const int32_t matrix[6], const struct plx_image *dst)
{
    for (int y = 0; y < dst->height; y++)
        for (int x = 0; x < dst->width; x++) {
            double sx = (double)matrix[0] * x + (double)matrix[1] * y + matrix[2]; /* exact in double */
            double sy = (double)matrix[3] * x + (double)matrix[4] * y + matrix[5];
            put(dst, x, y, sample(src, (int64_t)floor(sx / 2048 + 0.5), (int64_t)floor(sy / 2048 + 0.5)));
        }
}
