/* SPDX-License-Identifier: Apache-2.0 */
/* Left-right check. */
#include <stdlib.h>

#include <parallax/error.h>

#include "cpu/internal.h"

struct check_job {
    const struct plx_image *left, *right, *grey, *disparity;
    const struct plx_match *match;
    int bands;
};

/* With an invalid outermost frame the right view's frame counts as disparity 0, as in libSGM. */
static void check_row(const struct check_job *job, int y)
{
    const int width = job->left->width, rounding = job->match->lr_round ? PLX_DISPARITY_ONE / 2 : 0;
    const int allowed = job->match->lr_max_diff;
    const bool frame = job->match->invalid_border;
    const uint16_t *left = plx_row(job->left, y), *right = plx_row(job->right, y);
    const uint8_t *grey = plx_row(job->grey, y);
    uint16_t *out = plx_row(job->disparity, y);

    for (int x = 0; x < width; x++) {
        const int d = (left[x] + rounding) / PLX_DISPARITY_ONE, partner = x - d;
        bool keep = left[x] != PLX_DISPARITY_INVALID && grey[x] != 0;
        if (keep && allowed >= 0 && partner >= 0)
            keep = abs((partner == 0 && frame ? 0 : right[partner]) - d) <= allowed;
        out[x] = keep ? left[x] : PLX_DISPARITY_INVALID;
    }
    if (frame) {
        out[0] = out[width - 1] = PLX_DISPARITY_INVALID;
        for (int x = 0; x < width && (y == 0 || y == job->left->height - 1); x++)
            out[x] = PLX_DISPARITY_INVALID;
    }
}

static void check_band(void *argument, int index)
{
    const struct check_job *job = argument;
    const struct plx_band band = plx_band(index, job->bands, job->left->height);
    for (int y = band.first; y < band.last; y++)
        check_row(job, y);
}

int plx_cpu_check(struct plx_stages *self, const struct plx_image *left, const struct plx_image *right,
                  const struct plx_image *left_grey, const struct plx_match *match, const struct plx_image *ret_disparity)
{
    struct plx_cpu *cpu = plx_cpu(self);
    if (!plx_image_ok(left, PLX_U16) || !plx_image_ok(right, PLX_U16) || !plx_image_ok(left_grey, PLX_U8) ||
        !plx_image_ok(ret_disparity, PLX_U16) || !plx_same_size(left, right) || !plx_same_size(left, left_grey) ||
        !plx_same_size(left, ret_disparity))
        return PLX_ERR_ARG;

    struct check_job job = {left, right, left_grey, ret_disparity, match, plx_band_count(cpu, left->height)};
    plx_pool_run(cpu->pool, job.bands, check_band, &job);
    return 0;
}
