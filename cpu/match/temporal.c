/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recursive filter of disparity over time: where old and new are valid and differ by no more than max_step, the result is
 * (weight * new + (256 - weight) * old + 128) >> 8; elsewhere it is the new value, valid or not.
 */
#include <stdlib.h>

#include <parallax/error.h>

#include "cpu/internal.h"

struct temporal_job {
    const struct plx_image *src, *history, *dst;
    struct plx_temporal parameters;
    int bands;
};

static void temporal_band(void *argument, int index)
{
    const struct temporal_job *job = argument;
    struct plx_band band = plx_band(index, job->bands, job->src->height);
    int max_step = job->parameters.max_step, weight = job->parameters.weight;

    for (int y = band.first; y < band.last; y++) {
        const uint16_t *src = plx_row(job->src, y);
        uint16_t *history = plx_row(job->history, y), *dst = plx_row(job->dst, y);
        for (int x = 0; x < job->src->width; x++) {
            int now = src[x], old = history[x], step = abs(now - old);
            bool blend = max_step > 0 && step <= max_step && now != PLX_DISPARITY_INVALID && old != PLX_DISPARITY_INVALID;
            uint16_t value = (uint16_t)(blend ? (weight * now + (256 - weight) * old + 128) >> 8 : now);
            history[x] = value;
            dst[x] = value;
        }
    }
}

int plx_cpu_temporal(struct plx_stages *self, const struct plx_image *src, const struct plx_temporal *temporal,
                     const struct plx_image *history, const struct plx_image *dst)
{
    struct plx_cpu *cpu = plx_cpu(self);
    if (!plx_image_ok(src, PLX_U16) || !plx_image_ok(history, PLX_U16) || !plx_image_ok(dst, PLX_U16) ||
        !plx_same_size(src, history) || !plx_same_size(src, dst) || !temporal || temporal->max_step < 0 ||
        temporal->weight < 1 || temporal->weight > 256)
        return PLX_ERR_ARG;
    if (!plx_cpu_holds(cpu, src))
        return PLX_ERR_RANGE;

    struct temporal_job job = {src, history, dst, *temporal, plx_band_count(cpu, src->height)};
    plx_pool_run(cpu->pool, job.bands, temporal_band, &job);
    return 0;
}
