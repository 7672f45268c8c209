/* SPDX-License-Identifier: Apache-2.0 */
/* Dense disparity: what is invalid takes the value of the farther of the two surfaces beside it in the row. */
#include <parallax/error.h>

#include "cpu/internal.h"

struct fill_job {
    const struct plx_image *src, *dst, *filled;
    int bands;
};

static void fill_row(const uint16_t *src, int width, uint16_t *dst, uint8_t *filled)
{
    uint16_t before = PLX_DISPARITY_INVALID; /* the last valid value; invalid is larger than any */

    for (int x = 0; x < width;) {
        int end = x;
        while (end < width && src[end] == PLX_DISPARITY_INVALID)
            end++;
        const uint16_t after = end < width ? src[end] : PLX_DISPARITY_INVALID, value = before < after ? before : after;
        for (; x < end; x++) {
            dst[x] = value;
            filled[x] = value != PLX_DISPARITY_INVALID;
        }
        for (; x < width && src[x] != PLX_DISPARITY_INVALID; x++) {
            dst[x] = before = src[x];
            filled[x] = 0;
        }
    }
}

static void fill_band(void *argument, int index)
{
    const struct fill_job *job = argument;
    const struct plx_band band = plx_band(index, job->bands, job->src->height);
    for (int y = band.first; y < band.last; y++)
        fill_row(plx_row(job->src, y), job->src->width, plx_row(job->dst, y), plx_row(job->filled, y));
}

int plx_cpu_fill(struct plx_stages *self, const struct plx_image *src, const struct plx_image *dst,
                 const struct plx_image *ret_filled)
{
    struct plx_cpu *cpu = plx_cpu(self);
    if (!plx_image_ok(src, PLX_U16) || !plx_image_ok(dst, PLX_U16) || !plx_image_ok(ret_filled, PLX_U8) ||
        !plx_same_size(src, dst) || !plx_same_size(src, ret_filled))
        return PLX_ERR_ARG;

    struct fill_job job = {src, dst, ret_filled, plx_band_count(cpu, src->height)};
    plx_pool_run(cpu->pool, job.bands, fill_band, &job);
    return 0;
}
