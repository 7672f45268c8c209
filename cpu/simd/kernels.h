/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inner loops of the matching stages and of those after them. The files of cpu/simd/ are compiled once for each
 * instruction set, each time with PLX_ISA set to its name, and a table of the results is chosen when the backend is created.
 * All give the same bits.
 */
#ifndef PLX_CPU_SIMD_KERNELS_H
#define PLX_CPU_SIMD_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/colour/colour.h"
#include "core/ground/columns.h"
#include "core/pipeline/facing.h"
#include "core/pipeline/match.h"

struct plx_pyramid;
struct plx_ground_gate;
struct plx_ground_sums;

/* A census sample: bit = row[y][x] > row[other_y][other_x], offsets from the pixel in the middle. */
struct plx_census_sample {
    int8_t x, y, other_x, other_y;
};

/* Rows that the window kernels read have this many clamped columns before and, at least, a vector and as many after. */
#define PLX_PAD 4
#define PLX_PADDED(width) ((size_t)(width) + 2 * PLX_PAD + 64)

#define PLX_LOCAL_MEAN_REACH 3
#define PLX_LOCAL_MEAN_BEYOND                                                                                                  \
    0x8000u /* differs by more than PLX_LOCAL_MEAN_STEP from every disparity, also where 16 bits overflow */

/* facing.c: strips of so many columns, and the columns that their windows reach. */
#define PLX_FACING_STRIP 128
#define PLX_FACING_COLUMNS (PLX_FACING_STRIP + 2 * PLX_FACING_REACH + 64) /* and a vector more */

/* Of rows, for each column: sums of struct plx_facing. */
struct plx_facing_sums {
    int32_t move[PLX_FACING_COLUMNS], slope2[PLX_FACING_COLUMNS], slope[PLX_FACING_COLUMNS], pairs[PLX_FACING_COLUMNS];
};

/* A row of a strip. */
struct plx_facing_row {
    int x, width; /* the strip's first column, which may lie outside the image, and the image's width */
    int min_disparity;
    const uint16_t *disparity; /* of the strip; invalid outside the image */
    const uint8_t *left;       /* of the strip, and a pixel more at each side */
    const uint8_t *right;      /* the whole row */
};

#define PLX_BLOCK 32 /* columns that go through cost, aggregate and argmin together, in the first-level cache */
#define PLX_MAX_PLANES 8
#define PLX_GRADIENTS 2 /* horizontal, vertical */
#define PLX_CHUNK 32    /* disparities that share 5 bits in a key of the right view */
#define PLX_KEY_ROWS 4  /* neighbouring pixels write to different ones, so that no load waits for a store just made */

/* The paths that come from where a sweep has been: along the row and from the row before, whose pixels behind, beside and
 * ahead of x are the three predecessors. A state is L(p, .) - min L(p, .), D bytes a pixel; the pixels -1 and WIDTH are 0. */
enum { PLX_ALONG, PLX_STRAIGHT, PLX_BEHIND, PLX_AHEAD, PLX_SWEEP_PATHS };

/* One row of one sweep of semi-global matching. */
struct plx_sgm_row {
    int width, disparities, paths; /* 4 paths: only ALONG and STRAIGHT */

    /* costs: the census words cut into bytes, lowest first, and the two gradients */
    int planes, gradient_cap, gradient_cap_y; /* gradient_cap 0: no gradients */
    uint8_t *left[PLX_MAX_PLANES];            /* [planes][width] */
    uint8_t *right[PLX_MAX_PLANES]; /* [planes][width + disparities - 1], backwards: x's partner at d is width - 1 - x + d */
    uint8_t *left_gradient[PLX_GRADIENTS];  /* [width] */
    uint8_t *right_gradient[PLX_GRADIENTS]; /* [width + disparities - 1], backwards */

    /* paths */
    int step; /* step of x: 1 or -1 */
    uint8_t p1_straight, p1_diagonal;
    uint8_t *p2[PLX_SWEEP_PATHS];         /* [width] */
    uint8_t *along;                       /* state of the pixel before */
    const uint8_t *last[PLX_SWEEP_PATHS]; /* states of the row before; not of ALONG */
    uint8_t *next[PLX_SWEEP_PATHS];       /* states of this row */
    bool streams;                         /* sums of paths are read much later: they go past the caches */

    /* candidates */
    uint16_t *raw, *s1, *s2; /* [width], as in struct plx_candidates */
    uint16_t *below, *above; /* [width], S(d - 1) and S(d + 1) of the candidate d; 0 where it has no such neighbour */
    uint16_t *key; /* [PLX_KEY_ROWS][disparities / PLX_CHUNK][width + disparities], least S << 5 | d & 31 of the right view,
                      backwards: x at width - 1 - x */
};

/* Bytes of two-path sums of one pixel, [paths / 4][disparities]: first along + straight, then behind + ahead, of L - C. */
static inline size_t plx_pairs(int paths, int disparities)
{
    return (size_t)(paths / 4) * (size_t)disparities;
}

/* Keys of one row of the right view. */
static inline size_t plx_key_count(int width, int disparities)
{
    return (size_t)PLX_KEY_ROWS * (size_t)(disparities / PLX_CHUNK) * (size_t)(width + disparities);
}

/* The costs of things, of all values of a cell: [17][PLX_THING_TABLE], by the value's sixteenths of a pixel, the last row for
 * unknown ones. A value of q whole pixels reads state s in column PLX_THING_TABLE / 2 + s - q. */
#define PLX_THING_ROWS 17
#define PLX_THING_TABLE 768
#define PLX_THING_MARGIN 8 /* pixels: so far beyond the states all costs are the same */
#define PLX_PATHS 4 /* columns that are followed together: while one waits for the least cost of its row, the others go on */
#define PLX_PATH_PADDING 64 /* bytes of the ground's states, of which the first PLX_PATH_GROUNDS count */

/* One column of the columns stage. */
struct plx_path {
    int rows, disparities, lift, valid; /* valid: there is ground */
    const uint8_t *thing_cost;          /* the table */
    const int16_t *value, *ground;      /* [rows] cells, bottom row last */
    uint8_t *ground_cost;               /* [rows][PLX_PATH_PADDING] scratch; 255 beyond the states */
    uint8_t *p;                         /* [rows][disparities + PLX_PATH_PADDING] P - M of each row, things first */
};

/* Costs of all things in cell Y. */
static inline const uint8_t *plx_thing_costs(const struct plx_path *path, int y)
{
    const int value = path->value[y], above = value - path->lift, least = -PLX_THING_MARGIN;
    int whole = above >> 4;
    if (value == PLX_CELL_UNKNOWN)
        return path->thing_cost + (PLX_THING_ROWS - 1) * PLX_THING_TABLE;
    whole = whole < least ? least : whole > path->disparities - least ? path->disparities - least : whole;
    return path->thing_cost + (above & 15) * PLX_THING_TABLE + PLX_THING_TABLE / 2 - whole;
}

#define PLX_MOSAIC_BLOCK 256 /* pixels that are made at once: what is between stays in the first cache */
#define PLX_MOSAIC_ROWS 5

/* A row of a mosaic, and those around it. */
struct plx_mosaic_rows {
    const uint16_t *row[PLX_MOSAIC_ROWS]; /* samples above black; two mirrored ones stand before each row, and two behind */
    int green;                            /* parity of the green columns in the middle row */
    bool red_row;                         /* which has red */
    int largest;                          /* sample of white */
    uint32_t ratio[PLX_CHANNELS];         /* of plx_colour_ratio */
};

struct plx_kernels {
    const char *name;

    /* census.c. (4c + n + s + e + w + 4) >> 3 of WIDTH pixels of a padded row and its neighbours */
    void (*smooth)(const uint8_t *above, const uint8_t *row, const uint8_t *below, int width, uint8_t *ret_row);
    /* the horizontal gradient in the lower byte, the vertical one in the upper */
    void (*gradients)(const uint8_t *above, const uint8_t *row, const uint8_t *below, int width, uint16_t *ret_row);
    /* words of WIDTH pixels, 4 or (WIDE) 8 bytes each; the first of COUNT samples is the highest bit; ROWS[y] is padded */
    void (*census)(const struct plx_census_sample *samples, int count, const uint8_t *const *rows, int width, bool wide,
                   void *ret_words);
    /* bytes of WIDTH words of 2, 4 or 8 bytes: byte k of all goes to ret_planes[k] */
    void (*split)(const void *words, int width, int word_bytes, int planes, uint8_t *const *ret_planes);
    /* partners of the WIDTH pixels of SRC at all disparities, as in plx_sgm_row.right; BEFORE and AFTER beside the image */
    void (*partners)(const struct plx_match *match, const uint8_t *src, int width, uint8_t before, uint8_t after,
                     uint8_t *ret_bytes);

    /* sgm.c. P2 of the steps from the pixels DX columns beside, in row BEFORE, to those of ROW; 0 where a path starts. P2
     * [PLX_P2_STEPS] tells it for each step and never rises */
    void (*penalties)(const uint8_t *p2, const uint8_t *row, const uint8_t *before, int dx, int width, uint8_t *ret_p2);
    /* C of the COUNT pixels from X -> [count][disparities] */
    void (*cost)(const struct plx_sgm_row *row, int x, int count, uint8_t *ret_cost);
    /* one sweep's paths over the COUNT pixels from X, entered from the side where the sweep comes from; their costs -> sums */
    void (*aggregate)(const struct plx_sgm_row *row, int x, int count, const uint8_t *cost, uint8_t *ret_pairs);
    /* costs and both sweeps' sums of the COUNT pixels from X -> candidates and right keys */
    void (*argmin)(const struct plx_sgm_row *row, int x, int count, const uint8_t *cost, const uint8_t *pairs_a,
                   const uint8_t *pairs_b);

    /* refine.c. Candidates and keys of a row -> disparities of both views */
    void (*disparities)(const struct plx_match *match, const struct plx_sgm_row *row, uint16_t *ret_left, uint16_t *ret_right);
    /* medians of WIDTH pixels; ROWS[-1..1] or ROWS[-2..2] are padded */
    void (*median_3x3)(const uint16_t *const *rows, int width, uint16_t *ret_row);
    void (*median_valid_5x5)(const uint16_t *const *rows, int width, uint16_t *ret_row);
    /* facing.c. What COUNT pixels of ROW add -> OLDEST, whose content is taken out of SUMS as theirs is added */
    void (*facing_sums)(const struct plx_facing_row *row, int count, struct plx_facing_sums *oldest,
                        struct plx_facing_sums *sums);
    /* Steps of COUNT pixels. ROWS: PLX_FACING_FAR rows before theirs, it, and as many after it, with clamped columns at both
     * sides; SUMS: of the rows of the window, from PLX_FACING_REACH columns before the first pixel on */
    void (*facing)(const uint16_t *const *rows, const struct plx_facing_sums *sums, int count, uint16_t *ret_row);
    /* refine.c. Local means of WIDTH pixels; ROWS[-3..3] are padded, PLX_LOCAL_MEAN_BEYOND where invalid, but not so RET_ROW */
    void (*local_mean)(const uint16_t *const *rows, int width, uint16_t *ret_row);
    /* left-right check, without the outermost frame; RET_ROW is not RIGHT */
    void (*check)(const struct plx_match *match, const uint16_t *left, const uint16_t *right, const uint8_t *grey, int width,
                  uint16_t *ret_row);
    void (*cross_validate)(const uint16_t *strict, const uint16_t *dense, const uint16_t *raw, const uint8_t *grey, int width,
                           uint16_t *ret_row);
    /* ROWS[-2..2] are padded rows of raw candidates, two apart; CHECKED, S1 (times S1_SCALE) and S2 are those of ROWS[0] */
    void (*confidence)(const uint8_t *const *rows, const uint16_t *checked, const uint16_t *s1, int s1_scale,
                       const uint16_t *s2, int width, uint8_t *ret_row);

    /* columns.c. Values of a row of cells from two rows of disparities, SECOND NULL below the image; SCRATCH: PLX_CELL_SCRATCH
     * words */
    void (*cells)(const struct plx_columns_params *params, const uint16_t *first, const uint16_t *second, int width,
                  uint16_t *scratch, int16_t *ret_values);
    /* fills ground_cost and p of COUNT columns, at most PLX_PATHS */
    void (*paths)(const struct plx_path *path, int count);

    /* ground.c. Adds row Y: plx_ground_add_pixel of its pixels, with the plane GROUND */
    void (*ground_sums)(const struct plx_ground_gate *gate, const struct plx_ground *ground, const struct plx_image *disparity,
                        int y, struct plx_ground_sums *sums);

    /* corners.c. Finds those of a ROW of CELLS */
    void (*corners)(const struct plx_image *left, const struct plx_image *cells, int row);

    /* colour.c. COUNT pixels, at most PLX_MOSAIC_BLOCK, from X on, as linear light after the white balance:
     * ret_linear[PLX_CHANNELS][PLX_MOSAIC_BLOCK] */
    void (*mosaic)(const struct plx_mosaic_rows *rows, int x, int count, int32_t *ret_linear);

    /* flow.c. As plx_flow_track */
    bool (*flow_track)(const struct plx_pyramid *key, const struct plx_pyramid *now, int levels, const double from[2],
                       double ret_to[2]);
};

#define PLX_CELL_SCRATCH(width) ((size_t)PLX_CELL_PIXELS * ((size_t)plx_columns_of(width) + 32))

extern const struct plx_kernels plx_kernels_generic, plx_kernels_neon, plx_kernels_avx2, plx_kernels_avx512;

#ifdef PLX_ISA /* the kernels by name, as exported by the files that are compiled several times: plx_cost_avx2 */
#    define PLX_PASTE_(name, isa) plx_##name##_##isa
#    define PLX_PASTE(name, isa) PLX_PASTE_(name, isa)
#    define PLX_KERNEL(name) PLX_PASTE(name, PLX_ISA)
#    define PLX_DECLARE(name) __typeof__(*((struct plx_kernels *)NULL)->name) PLX_KERNEL(name)

PLX_DECLARE(smooth);
PLX_DECLARE(gradients);
PLX_DECLARE(census);
PLX_DECLARE(split);
PLX_DECLARE(partners);
PLX_DECLARE(penalties);
PLX_DECLARE(cost);
PLX_DECLARE(aggregate);
PLX_DECLARE(argmin);
PLX_DECLARE(disparities);
PLX_DECLARE(median_3x3);
PLX_DECLARE(median_valid_5x5);
PLX_DECLARE(facing_sums);
PLX_DECLARE(facing);
PLX_DECLARE(local_mean);
PLX_DECLARE(check);
PLX_DECLARE(cross_validate);
PLX_DECLARE(confidence);
PLX_DECLARE(cells);
PLX_DECLARE(paths);
PLX_DECLARE(ground_sums);
PLX_DECLARE(mosaic);
PLX_DECLARE(corners);
PLX_DECLARE(flow_track);
#endif

#endif
