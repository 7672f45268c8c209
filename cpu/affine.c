/* SPDX-License-Identifier: Apache-2.0 */
/* Affine resampling: the Q16 source position, rounded half up to 1/32 px, then bilinear. */
#include <parallax/error.h>

#include "cpu/band.h"
#include "cpu/bilinear.h"

struct affine_job {
    const struct plx_image *src, *dst;
    const int32_t *matrix;
    int bands;
};

/* Positions that no 16-bit entry holds lie outside of every image. */
static struct plx_remap_entry entry_at(int64_t x_q16, int64_t y_q16)
{
    int64_t x = (x_q16 + (1 << 10)) >> 11, y = (y_q16 + (1 << 10)) >> 11;
    int64_t limit = (int64_t)INT16_MAX * PLX_FRACTION_ONE;
    if (x < -limit || x > limit || y < -limit || y > limit)
        return (struct plx_remap_entry){INT16_MIN, INT16_MIN, 0, 0};
    return (struct plx_remap_entry){(int16_t)(x >> 5), (int16_t)(y >> 5), (uint8_t)(x & 31), (uint8_t)(y & 31)};
}

static void affine_band(void *argument, int index)
{
    const struct affine_job *job = argument;
    struct plx_band band = plx_band(index, job->bands, job->dst->height);
    const int32_t *m = job->matrix;
    for (int y = band.first; y < band.last; y++) {
        uint8_t *out = plx_row(job->dst, y);
        int64_t source_x = (int64_t)m[1] * y + m[2], source_y = (int64_t)m[4] * y + m[5];
        for (int x = 0; x < job->dst->width; x++)
            out[x] = (uint8_t)plx_sample(job->src, entry_at(source_x + (int64_t)m[0] * x, source_y + (int64_t)m[3] * x));
    }
}

int plx_cpu_affine(struct plx_stages *self, const struct plx_image *src, const int32_t matrix[6], const struct plx_image *dst)
{
    struct plx_cpu *cpu = plx_cpu(self);
    if (!plx_image_ok(src, PLX_U8) || !plx_image_ok(dst, PLX_U8) || !matrix)
        return PLX_ERR_ARG;
    if (!plx_cpu_holds(cpu, src) || !plx_cpu_holds(cpu, dst))
        return PLX_ERR_RANGE;
    struct affine_job job = {src, dst, matrix, plx_band_count(cpu, dst->height)};
    plx_pool_run(cpu->pool, job.bands, affine_band, &job);
    return 0;
}
