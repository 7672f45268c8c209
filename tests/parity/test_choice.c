/* SPDX-License-Identifier: Apache-2.0 */
/* Which way to launch stage sgm is taken without measuring, for GPUs of each kind; as attributes only, so that no GPU is
 * needed. */
#include <stdio.h>
#include <string.h>

#include "gpu/choice.h"
#include "tests/parity/parity.h"

#define MB (1 << 20)

/* LINES_RESIDENT: 16 warps of an Orin's SM, 32 of the others'. */
static struct plx_gpu orin = {.integrated = true,
                              .cache_bytes = 4 * MB,
                              .bands_fit = true,
                              .lines_resident = 8 * 16,
                              .choice = -1},
                      h200 = {.cache_bytes = 60 * MB, .bands_fit = true, .lines_resident = 132 * 32, .choice = -1},
                      part = {.cache_bytes = 60 * MB, .bands_fit = true, .lines_resident = 8 * 32, .choice = -1},
                      old = {.cache_bytes = 6 * MB, .bands_fit = false, .lines_resident = 80 * 32, .choice = -1};

enum set { DEFAULT, TWO_WORDS /* a census of those */, CLASSIC };

static const struct row {
    const char *name;
    struct plx_gpu *gpu;
    int width, height, paths;
    enum set set;
    int forced;
    const char *gets;
} table[] = {
    {"Orin", &orin, 640, 480, 8, DEFAULT, -1, "sweeps"},
    {"Orin", &orin, 1920, 1080, 4, DEFAULT, -1, "sweeps"},
    {"Orin", &orin, 1240, 374, 8, TWO_WORDS, -1, "together-4"},
    {"Orin, tuned", &orin, 640, 480, 8, DEFAULT, 3, "apart-4-of-16"},
    {"Orin, tuned for what cannot be", &orin, 640, 480, 8, TWO_WORDS, 5, "together-4"},
    {"H200", &h200, 1240, 374, 8, DEFAULT, -1, "together-16-of-4"},
    {"H200", &h200, 1240, 374, 8, CLASSIC, -1, "together-16-of-4"},
    {"H200", &h200, 1280, 720, 8, DEFAULT, -1, "together-16-of-4"},
    {"H200", &h200, 1280, 720, 8, CLASSIC, -1, "bands"},
    {"H200", &h200, 1920, 1080, 8, DEFAULT, -1, "bands"},
    {"H200", &h200, 1024, 768, 8, CLASSIC, -1, "together-16-of-4"},
    {"H200, no diagonals", &h200, 1920, 1080, 4, DEFAULT, -1, "together-16-of-4"},
    {"8 SMs of it", &part, 1240, 374, 8, DEFAULT, -1, "together-4"},
    {"no room for bands", &old, 1240, 374, 8, DEFAULT, -1, "together-16-of-4"},
    {"no room for bands, tuned", &old, 1240, 374, 8, DEFAULT, 6, "together-16-of-4"},
};

static int check(int index)
{
    const struct row *row = &table[index];
    struct plx_match match;

    (row->set == CLASSIC ? plx_match_classic : plx_match_default)(&match);
    match.disparities = 128;
    match.paths = row->paths;
    if (row->set == TWO_WORDS)
        match.census = PLX_CENSUS_FULL_9X7;
    row->gpu->choice = row->forced;
    const char *gets = plx_gpu_sgm_choice(row->gpu, row->width, row->height, &match)->name;
    if (strcmp(gets, row->gets) == 0)
        return 0;
    fprintf(stderr, "%s, %d x %d, %d paths: %s instead of %s\n", row->name, row->width, row->height, row->paths, gets,
            row->gets);
    return 1;
}

int main(void)
{
    return parity_rows(PARITY_COUNT(table), check);
}
