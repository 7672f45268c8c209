/* SPDX-License-Identifier: Apache-2.0 */
/* Confidence of each pixel: how many winners around agree, how sharp the minimum is, and the left-right check. */
#include <stdlib.h>

#include <parallax/error.h>

#include "cpu/band.h"

#define REACH 4 /* samples at -4, -2, 0, 2, 4 */

struct confidence_job {
    const struct plx_winners *winners;
    const struct plx_image *checked, *confidence;
    int s1_scale; /* so that four paths count as eight */
    int bands;
};

static int clamp(int value, int low, int high)
{
    return value < low ? low : value > high ? high : value;
}

static void confidence_row(const struct confidence_job *job, int y)
{
    const struct plx_image *raw = &job->winners->raw;
    const uint16_t *here = plx_row(raw, y), *s1 = plx_row(&job->winners->s1, y), *s2 = plx_row(&job->winners->s2, y);
    const uint16_t *checked = plx_row(job->checked, y);
    uint8_t *out = plx_row(job->confidence, y);

    for (int x = 0; x < raw->width; x++) {
        int agree = 0;
        for (int dy = -REACH; dy <= REACH; dy += 2) {
            const uint16_t *row = plx_row(raw, clamp(y + dy, 0, raw->height - 1));
            for (int dx = -REACH; dx <= REACH; dx += 2)
                agree += abs(row[clamp(x + dx, 0, raw->width - 1)] - here[x]) <= 1;
        }
        const int peak = s2[x] > 0 ? (s2[x] - s1[x]) * 256 / s2[x] : 0, holds = checked[x] != PLX_DISPARITY_INVALID;
        const int value = (4 * agree + peak / 4 + 16 * holds) * 256 / (s1[x] * job->s1_scale + 128);
        out[x] = (uint8_t)(value < 255 ? value : 255);
    }
}

static void confidence_band(void *argument, int index)
{
    const struct confidence_job *job = argument;
    const struct plx_band band = plx_band(index, job->bands, job->checked->height);
    for (int y = band.first; y < band.last; y++)
        confidence_row(job, y);
}

int plx_cpu_confidence(struct plx_stages *self, const struct plx_winners *winners, const struct plx_image *checked,
                       const struct plx_match *match, const struct plx_image *ret_confidence)
{
    struct plx_cpu *cpu = plx_cpu(self);
    if (!plx_image_ok(&winners->raw, PLX_U16) || !plx_image_ok(&winners->s1, PLX_U16) || !plx_image_ok(&winners->s2, PLX_U16) ||
        !plx_image_ok(checked, PLX_U16) || !plx_image_ok(ret_confidence, PLX_U8) || !plx_same_size(checked, &winners->raw) ||
        !plx_same_size(checked, &winners->s1) || !plx_same_size(checked, &winners->s2) ||
        !plx_same_size(checked, ret_confidence))
        return PLX_ERR_ARG;

    struct confidence_job job = {winners, checked, ret_confidence, match->paths == 4 ? 2 : 1,
                                 plx_band_count(cpu, checked->height)};
    plx_pool_run(cpu->pool, job.bands, confidence_band, &job);
    return 0;
}
