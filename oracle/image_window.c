/* SPDX-License-Identifier: Apache-2.0 */
#include "oracle/image.h"

#include <math.h>
#include <stdlib.h>

static unsigned at(const struct plx_image *image, int x, int y)
{
    return ((const uint8_t *)plx_row(image, y))[x];
}

static int clamp(int value, int count)
{
    return value < 0 ? 0 : value >= count ? count - 1 : value;
}

/* The row filter at (x, y), in 1/256 grey levels. */
static uint64_t across(const struct plx_image *src, const struct plx_filter *filter, int x, int y)
{
    uint64_t sum = 0;
    for (int i = 0; i < filter->size_x; i++)
        sum += (uint64_t)filter->weight_x[i] * at(src, clamp(x + i - filter->size_x / 2, src->width), y);
    return (sum + 128) / 256;
}

void oracle_filter(const struct plx_image *src, const struct plx_filter *filter, const struct plx_image *dst)
{
    for (int y = 0; y < dst->height; y++)
        for (int x = 0; x < dst->width; x++) {
            uint64_t sum = 0;
            for (int i = 0; i < filter->size_y; i++)
                sum += filter->weight_y[i] * across(src, filter, x, clamp(y + i - filter->size_y / 2, src->height));
            ((uint8_t *)plx_row(dst, y))[x] = (uint8_t)((sum + (1 << 23)) / (1 << 24));
        }
}

static void extreme(bool highest, const struct plx_image *src, int width, int height, const struct plx_image *dst)
{
    for (int y = 0; y < dst->height; y++)
        for (int x = 0; x < dst->width; x++) {
            unsigned found = at(src, x, y);
            for (int ny = y - height / 2; ny <= y + height / 2; ny++)
                for (int nx = x - width / 2; nx <= x + width / 2; nx++) {
                    if (nx < 0 || ny < 0 || nx >= src->width || ny >= src->height)
                        continue;
                    if (highest ? at(src, nx, ny) > found : at(src, nx, ny) < found)
                        found = at(src, nx, ny);
                }
            ((uint8_t *)plx_row(dst, y))[x] = (uint8_t)found;
        }
}

void oracle_morphology(enum plx_morphology op, const struct plx_image *src, int width, int height, const struct plx_image *dst)
{
    if (op == PLX_ERODE || op == PLX_DILATE) {
        extreme(op == PLX_DILATE, src, width, height, dst);
        return;
    }
    struct plx_image intermediate = *dst;
    intermediate.data = calloc(dst->pitch, (size_t)dst->height);
    if (!intermediate.data)
        abort();
    extreme(op == PLX_CLOSE, src, width, height, &intermediate);
    extreme(op == PLX_OPEN, &intermediate, width, height, dst);
    free(intermediate.data);
}

/* In two passes and long double, unlike the backends' integer sums: first the means, then the sums about the means. */
static int correlation(const struct plx_image *image, const struct plx_image *patch, int x0, int y0)
{
    long double mean_w = 0, mean_t = 0, product = 0, w2 = 0, t2 = 0, n = (long double)patch->width * patch->height;
    for (int y = 0; y < patch->height; y++)
        for (int x = 0; x < patch->width; x++) {
            mean_w += at(image, x0 + x, y0 + y) / n;
            mean_t += at(patch, x, y) / n;
        }
    for (int y = 0; y < patch->height; y++)
        for (int x = 0; x < patch->width; x++) {
            long double w = at(image, x0 + x, y0 + y) - mean_w, t = at(patch, x, y) - mean_t;
            product += w * t;
            w2 += w * w;
            t2 += t * t;
        }
    if (w2 < 1e-9L || t2 < 1e-9L)
        return 0;
    long score = lrintl(product / sqrtl(w2 * t2) * 32768);
    return score > 32767 ? 32767 : (int)score;
}

void oracle_match_template(const struct plx_image *image, const struct plx_image *patch, struct plx_template_match *ret_best)
{
    *ret_best = (struct plx_template_match){0, 0, -32769};
    for (int y = 0; y + patch->height <= image->height; y++)
        for (int x = 0; x + patch->width <= image->width; x++) {
            int score = correlation(image, patch, x, y);
            if (score > ret_best->score)
                *ret_best = (struct plx_template_match){x, y, score};
        }
}
