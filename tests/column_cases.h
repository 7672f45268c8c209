/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of the columns stage, for the unit test and the parity test: disparities of many kinds, grounds and parameters. */
#ifndef PLX_TESTS_COLUMN_CASES_H
#define PLX_TESTS_COLUMN_CASES_H

#include "core/ground/columns.h"
#include "oracle/test_image.h"

/* BUMPY: a street whose things and ground are noisy. EDGES: ground that falls away, more from column to column. */
enum column_content { INVALID, EQUAL, WHITE, NOISE, WILD, SPARSE, STREET, BUMPY, CONTENTS, EDGES = CONTENTS };

static const int column_sizes[][2] = {{1, 1},   {2, 1},   {1, 2},    {7, 7},     {2, 513},   {513, 2},
                                      {513, 7}, {7, 513}, {131, 97}, {640, 480}, {257, 513}, {66, 64}};

#define COLUMN_SIZES ((int)(sizeof column_sizes / sizeof *column_sizes))

/* A level ground: 0 at row HORIZON, and boxes on it. */
static inline int column_street(const struct plx_columns_params *params, const struct plx_ground *ground, int x, int y)
{
    const int road = (int)((ground->a * x + ground->b * y + ground->c) >> 16);
    const int box = params->mask.infinity + 16 * (8 + x / 40 % 7 * 5), base = x / 20 % 3;
    return base && road < box && y > 40 * base ? box : road;
}

/* The ground, and above a row that differs from place to place, lower ground with some noise. */
static inline int column_edge(uint64_t *seed, const struct plx_columns_params *params, const struct plx_ground *ground, int x,
                              int y)
{
    const int road = (int)((ground->a * x + ground->b * y + ground->c) >> 16), edge = 100 + x / 16 * 37 % 200;
    const int above = road - params->mask.infinity;
    return y >= edge ? road : road - above * (x % 160) / 320 + (int)(random_normal(seed) * 2);
}

static inline int column_value(uint64_t *seed, enum column_content content, const struct plx_columns_params *params,
                               const struct plx_ground *ground, int x, int y)
{
    const int here = column_street(params, ground, x, y);
    switch (content) {
    case EQUAL:
        return 320;
    case WHITE:
        return 65534;
    case NOISE:
        return (int)random_below(seed, (uint32_t)params->disparities * 16);
    case WILD:
        return (int)random_below(seed, 65536);
    case SPARSE:
        return random_below(seed, 5) ? -1 : here;
    case STREET:
        return here;
    case BUMPY:
        return random_below(seed, 9) ? here + (int)(random_normal(seed) * 6) : (int)random_below(seed, 1024);
    case EDGES:
        return column_edge(seed, params, ground, x, y);
    default:
        return -1;
    }
}

static inline void column_draw(uint64_t *seed, enum column_content content, const struct plx_columns_params *params,
                               const struct plx_ground *ground, const struct plx_image *disparity)
{
    for (int y = 0; y < disparity->height; y++)
        for (int x = 0; x < disparity->width; x++) {
            const int value = column_value(seed, content, params, ground, x, y);
            ((uint16_t *)plx_row(disparity, y))[x] =
                (uint16_t)(value < 0 || value > 65535 ? (int)PLX_DISPARITY_INVALID : value);
        }
}

/* Rolls a little; its horizon lies in the upper half. */
static inline struct plx_ground column_ground(uint64_t *seed, const struct plx_columns_params *params, int height)
{
    const int slope = 20000 + (int)random_below(seed, 300000), horizon = (int)random_below(seed, (uint32_t)height / 2 + 1);
    struct plx_ground ground = {.a = (int)random_below(seed, 8000) - 4000, .b = slope, .valid = random_below(seed, 6) > 0};
    ground.c = 65536LL * params->mask.infinity - (int64_t)slope * horizon;
    ground.camera_height_um = ground.valid ? 200000 + (int)random_below(seed, 3000000) : 0;
    return ground;
}

static inline struct plx_columns_params column_params(uint64_t *seed)
{
    static const int infinities[] = {0, 0, 0, 37, -160, -20000};
    static const int minima[] = {0, 0, 0, -300, 7, 4096};
    const int infinity = infinities[random_below(seed, 6)];
    return (struct plx_columns_params){
        {.near_disparity = 900 + (int)random_below(seed, 4000),
         .far_disparity = infinity + (int)random_below(seed, 60) - 5,
         .infinity = infinity,
         .min_disparity = minima[random_below(seed, 6)],
         .min_height_um = (int)random_below(seed, 400000),
         .max_height_um = 500000 + (int)random_below(seed, 3000000),
         .focal_px = random_below(seed, 9) ? 1 + (int)random_below(seed, 2000) : PLX_COLUMNS_MAX_FOCAL,
         .ground_needed = random_below(seed, 2)},
        64 << random_below(seed, 3),
        *seed >> 40 & 3 ? 30 + (int)(*seed >> 44 & 127) : 0};
}

/* The lens with which GROUND, whose camera looks down on it a little, has its slope. */
static inline struct plx_calibration_info column_lens(uint64_t *seed, const struct plx_ground *ground)
{
    const double fx = 100 + random_below(seed, 2000), height = ground->valid ? ground->camera_height_um / 1e6 : 1;
    const double look_down = 0.95 + random_below(seed, 400) / 1000.0;
    return (struct plx_calibration_info){.fx = fx,
                                         .fy = fx * (0.9 + random_below(seed, 200) / 1000.0),
                                         .baseline_m = (double)ground->b / (1 << 20) * height * look_down};
}

/* A scan with long and short runs of free ground, of drops, and of things before them. */
static inline void column_scan(uint64_t *seed, const struct plx_image *scan)
{
    struct plx_scan here = {0};
    for (int x = 0; x < scan->width; x++) {
        if (x == 0 || random_below(seed, 8) == 0)
            here.free = (uint16_t)(random_below(seed, 4) ? 1 + random_below(seed, 900) : (uint32_t)PLX_SCAN_NOTHING_FREE);
        if (x == 0 || random_below(seed, 12) == 0)
            here.known = (uint16_t)(random_below(seed, 3) ? 1 + 2 * random_below(seed, 1000) : random_below(seed, 2));
        here.nearest = (uint16_t)(random_below(seed, 30) ? 0 : random_below(seed, 900));
        here.stixels = (uint16_t)random_below(seed, 9);
        ((struct plx_scan *)scan->data)[x] = here;
    }
}

/* Case INDEX of COLUMN_CASES, each content with each size, twice, and then the edges. */
#define COLUMN_CASES (2 * (CONTENTS + 1) * COLUMN_SIZES)

struct column_case {
    int width, height;
    enum column_content content;
    struct plx_columns_params params;
    struct plx_ground ground;
};

static inline struct column_case column_case(uint64_t *seed, int index)
{
    struct column_case ret = {.width = column_sizes[index % COLUMN_SIZES][0],
                              .height = column_sizes[index % COLUMN_SIZES][1],
                              .content = index % COLUMN_CASES < 2 * CONTENTS * COLUMN_SIZES
                                             ? (enum column_content)(index / COLUMN_SIZES % CONTENTS)
                                             : EDGES,
                              .params = column_params(seed)};
    ret.ground = column_ground(seed, &ret.params, ret.height);
    return ret;
}

#endif
