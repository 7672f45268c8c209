/* SPDX-License-Identifier: Apache-2.0 */
/* Median of disparities over a window with clamped coordinates. */
#include <parallax/error.h>

#include "cpu/image/padded.h"

#define ROWS 5 /* of the larger window */

struct median_job {
    const struct plx_image *src, *dst;
    void (*kernel)(const uint16_t *const *rows, int width, uint16_t *ret_row);
    int bands;
};

static void median_band(void *argument, int index)
{
    const struct median_job *job = argument;
    const struct plx_band band = plx_band(index, job->bands, job->src->height);
    uint16_t lines[ROWS][PLX_PADDED(PLX_MAX_SIDE)];
    const uint16_t *rows[ROWS];

    for (int y = band.first - ROWS / 2; y < band.last + ROWS / 2; y++) {
        uint16_t *line = lines[(y + ROWS) % ROWS];
        plx_padded_row(job->src, y, line);
        memmove(rows, rows + 1, sizeof rows - sizeof rows[0]);
        rows[ROWS - 1] = line + PLX_PAD;
        if (y - ROWS / 2 >= band.first)
            job->kernel(rows + ROWS / 2, job->src->width, plx_row(job->dst, y - ROWS / 2));
    }
}

static void copy_band(void *argument, int index)
{
    const struct median_job *job = argument;
    const struct plx_band band = plx_band(index, job->bands, job->src->height);

    for (int y = band.first; y < band.last; y++)
        memcpy(plx_row(job->dst, y), plx_row(job->src, y), (size_t)job->src->width * sizeof(uint16_t));
}

int plx_cpu_median(struct plx_stages *self, const struct plx_image *src, enum plx_median kind, const struct plx_image *dst)
{
    struct plx_cpu *cpu = plx_cpu(self);
    if (!plx_image_ok(src, PLX_U16) || !plx_image_ok(dst, PLX_U16) || !plx_same_size(src, dst) || kind < PLX_MEDIAN_NONE ||
        kind > PLX_MEDIAN_VALID_5X5)
        return PLX_ERR_ARG;

    struct median_job job = {src, dst, NULL, plx_band_count(cpu, src->height)};
    job.kernel = kind == PLX_MEDIAN_3X3 ? cpu->kernels->median_3x3 : cpu->kernels->median_valid_5x5;
    plx_pool_run(cpu->pool, job.bands, kind == PLX_MEDIAN_NONE ? copy_band : median_band, &job);
    return 0;
}
