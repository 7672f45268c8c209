/* SPDX-License-Identifier: Apache-2.0 */
/* Which way to launch stage sgm is taken without measuring, for GPUs of each kind; as attributes only, so that no GPU is
 * needed. */
#include <stdio.h>

#include "gpu/internal.h"
#include "tests/parity/parity.h"

/* LINES_RESIDENT: 16 warps of an Orin's SM, 32 of the others'. */
static struct plx_gpu orin = {.integrated = true, .lines_resident = 8 * 16}, h200 = {.lines_resident = 132 * 32},
                      part = {.lines_resident = 8 * 32};

static const struct row {
    const char *name;
    struct plx_gpu *gpu;
    int width, height, paths;
    bool fits_word; /* the features of a pixel do */
    int forced;
    enum plx_sgm_schedule gets;
} table[] = {
    {"Orin", &orin, 640, 480, 8, true, -1, PLX_SWEEPS},
    {"Orin", &orin, 1920, 1080, 8, true, -1, PLX_SWEEPS},
    {"Orin, 4 paths", &orin, 1920, 1080, 4, true, -1, PLX_LINES_REGISTERS},
    {"Orin, census of two words", &orin, 1240, 374, 8, false, -1, PLX_LINES_REGISTERS},
    {"Orin, tuned", &orin, 640, 480, 8, true, PLX_LINES_PREFETCH, PLX_LINES_PREFETCH},
    {"Orin, tuned for what cannot be", &orin, 640, 480, 8, false, PLX_SWEEPS, PLX_LINES_REGISTERS},
    {"H200", &h200, 1240, 374, 8, true, -1, PLX_LINES_PREFETCH},
    {"H200", &h200, 1920, 1080, 8, true, -1, PLX_LINES_PREFETCH},
    {"H200, tuned", &h200, 1240, 374, 8, true, PLX_SWEEPS, PLX_SWEEPS},
    {"8 SMs of it", &part, 1240, 374, 8, true, -1, PLX_LINES_REGISTERS},
};

static int check(int index)
{
    const struct row *row = &table[index];
    struct plx_match match;

    plx_match_default(&match);
    match.disparities = 128;
    match.paths = row->paths;
    if (!row->fits_word)
        match.census = PLX_CENSUS_FULL_9X7;
    row->gpu->schedule = row->forced;
    const enum plx_sgm_schedule gets = plx_gpu_sgm_schedule(row->gpu, row->width, row->height, &match);
    if (gets == row->gets)
        return 0;
    fprintf(stderr, "%s, %d x %d, %d paths: %s instead of %s\n", row->name, row->width, row->height, row->paths,
            plx_gpu_schedule_name((int)gets), plx_gpu_schedule_name((int)row->gets));
    return 1;
}

int main(void)
{
    return parity_rows(PARITY_COUNT(table), check);
}
