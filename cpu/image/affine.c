/* SPDX-License-Identifier: Apache-2.0 */
/* Affine resampling: the Q16 source position, rounded half up to 1/32 px, then bilinear. */
#include <parallax/error.h>

#include "cpu/image/bilinear.h"
#include "cpu/internal.h"

struct affine_job {
    const struct plx_image *src, *dst;
    const int32_t *matrix;
    int bands;
};

static int64_t to_parts(int64_t q16)
{
    return (q16 + (1 << 10)) >> 11;
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
            out[x] = (uint8_t)plx_sample(
                job->src, plx_remap_at(to_parts(source_x + (int64_t)m[0] * x), to_parts(source_y + (int64_t)m[3] * x)));
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
