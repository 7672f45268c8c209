/* SPDX-License-Identifier: Apache-2.0 */
/* Brightness counts of the whole image and of a grid of zones. A task counts one row of zones, so that no two share a counter.
 */
#include <string.h>

#include <parallax/error.h>

#include "cpu/internal.h"

#define LANES 4 /* private counters, so that equal neighbours do not wait for each other */
#define LEVELS 256

struct histogram_job {
    const struct plx_image *grey, *bins;
};

/* First row or column of zone INDEX: pixel i of COUNT lies in zone i * PLX_ZONES / count. */
static int zone_start(int index, int count)
{
    return (int)(((int64_t)count * index + PLX_ZONES - 1) / PLX_ZONES);
}

static void count_pixels(const struct plx_image *grey, int x0, int x1, int y0, int y1, uint32_t counter[LANES][LEVELS])
{
    for (int y = y0; y < y1; y++) {
        const uint8_t *row = plx_row(grey, y);
        for (int x = x0; x < x1; x++)
            counter[x % LANES][row[x]]++;
    }
}

static void count_zone_row(void *argument, int zone_y)
{
    const struct histogram_job *job = argument;
    int y0 = zone_start(zone_y, job->grey->height), y1 = zone_start(zone_y + 1, job->grey->height);
    int levels_per_bin = LEVELS / job->bins->width;

    for (int zone_x = 0; zone_x < PLX_ZONES; zone_x++) {
        uint32_t counter[LANES][LEVELS] = {{0}};
        int x0 = zone_start(zone_x, job->grey->width), x1 = zone_start(zone_x + 1, job->grey->width);
        count_pixels(job->grey, x0, x1, y0, y1, counter);

        uint32_t *out = plx_row(job->bins, 1 + zone_y * PLX_ZONES + zone_x);
        memset(out, 0, (size_t)job->bins->width * sizeof *out);
        for (int level = 0; level < LEVELS; level++)
            for (int lane = 0; lane < LANES; lane++)
                out[level / levels_per_bin] += counter[lane][level];
    }
}

int plx_cpu_histogram(struct plx_stages *self, const struct plx_image *grey, int bins, const struct plx_image *ret_bins)
{
    if (!plx_image_ok(grey, PLX_U8) || !plx_image_ok(ret_bins, PLX_U32) || bins < 1 || LEVELS % bins != 0 ||
        ret_bins->width != bins || ret_bins->height != 1 + PLX_ZONES * PLX_ZONES)
        return PLX_ERR_ARG;
    if (!plx_cpu_holds(plx_cpu(self), grey))
        return PLX_ERR_RANGE;

    struct histogram_job job = {grey, ret_bins};
    plx_pool_run(plx_cpu(self)->pool, PLX_ZONES, count_zone_row, &job);

    uint32_t *whole = plx_row(ret_bins, 0);
    memset(whole, 0, (size_t)bins * sizeof *whole);
    for (int zone = 1; zone <= PLX_ZONES * PLX_ZONES; zone++) {
        const uint32_t *part = plx_row(ret_bins, zone);
        for (int i = 0; i < bins; i++)
            whole[i] += part[i];
    }
    return 0;
}
