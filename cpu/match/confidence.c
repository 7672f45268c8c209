/* SPDX-License-Identifier: Apache-2.0 */
/* Confidence of each pixel: how many neighbours have a similar winner, how sharp the minimum is, and the left-right check. */
#include <parallax/error.h>

#include "cpu/image/padded.h"

#define REACH 4 /* rows, up and down; every second one is a sample */
#define ROWS (2 * REACH + 1)

struct confidence_job {
    const struct plx_kernels *kernels;
    const struct plx_candidates *candidates;
    const struct plx_image *checked, *confidence;
    int s1_scale; /* so that four paths count as eight */
    int bands;
};

static void confidence_band(void *argument, int index)
{
    const struct confidence_job *job = argument;
    const struct plx_candidates *candidates = job->candidates;
    const struct plx_band band = plx_band(index, job->bands, job->checked->height);
    uint16_t lines[ROWS][PLX_PADDED(PLX_MAX_SIDE)];

    for (int y = band.first - REACH; y < band.last + REACH; y++) {
        plx_padded_row(&candidates->raw, y, lines[(y + ROWS) % ROWS]);
        const int middle = y - REACH;
        if (middle < band.first)
            continue;
        const uint16_t *rows[REACH + 1];
        for (int i = 0; i <= REACH; i++)
            rows[i] = lines[(middle - REACH + 2 * i + ROWS) % ROWS] + PLX_PAD;
        job->kernels->confidence(rows + REACH / 2, plx_row(job->checked, middle), plx_row(&candidates->s1, middle),
                                 job->s1_scale, plx_row(&candidates->s2, middle), job->checked->width,
                                 plx_row(job->confidence, middle));
    }
}

int plx_cpu_confidence(struct plx_stages *self, const struct plx_candidates *candidates, const struct plx_image *checked,
                       const struct plx_match *match, const struct plx_image *ret_confidence)
{
    struct plx_cpu *cpu = plx_cpu(self);
    if (!plx_image_ok(&candidates->raw, PLX_U16) || !plx_image_ok(&candidates->s1, PLX_U16) ||
        !plx_image_ok(&candidates->s2, PLX_U16) || !plx_image_ok(checked, PLX_U16) || !plx_image_ok(ret_confidence, PLX_U8) ||
        !plx_same_size(checked, &candidates->raw) || !plx_same_size(checked, &candidates->s1) ||
        !plx_same_size(checked, &candidates->s2) || !plx_same_size(checked, ret_confidence))
        return PLX_ERR_ARG;

    struct confidence_job job = {.kernels = cpu->kernels,
                                 .candidates = candidates,
                                 .checked = checked,
                                 .confidence = ret_confidence,
                                 .s1_scale = match->paths == 4 ? 2 : 1,
                                 .bands = plx_band_count(cpu, checked->height)};
    plx_pool_run(cpu->pool, job.bands, confidence_band, &job);
    return 0;
}
