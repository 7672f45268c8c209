/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inner loops of the matching stages. The files of cpu/simd/ are compiled once for each instruction set, each time with
 * PLX_ISA set to its name, and a table of the results is chosen when the backend is created. All give the same bits.
 */
#ifndef PLX_CPU_SIMD_KERNELS_H
#define PLX_CPU_SIMD_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/match.h"

#define PLX_BLOCK 32 /* columns that pass through cost, aggregate and winner together, in the first cache */
#define PLX_MAX_PLANES 8
#define PLX_CHUNK 32    /* disparities that share 5 bits in a right-view key */
#define PLX_VOTE_ROWS 4 /* neighbouring pixels vote in different ones, so that no load waits for a store just made */

/* One row, ready for the costs: census words cut into bytes. */
struct plx_cost_row {
    int width, disparities, planes;
    int gradient_cap;                    /* 0: no gradient */
    const uint8_t *left[PLX_MAX_PLANES]; /* [planes][width], lowest byte first */
    const uint8_t
        *right[PLX_MAX_PLANES]; /* [planes][width + disparities - 1], backwards: x's partner at d is width - 1 - x + d */
    const uint8_t *left_gradient, *right_gradient; /* the same */
};

/* The paths that come from where a sweep has been: along the row and from the row before, whose pixels behind, beside and
 * ahead of x are the three predecessors. A state is L(p, .) - min L(p, .), D bytes a pixel; the pixels -1 and WIDTH are 0. */
enum { PLX_ALONG, PLX_STRAIGHT, PLX_BEHIND, PLX_AHEAD, PLX_SWEEP_PATHS };

struct plx_sweep_row {
    int step; /* of x: 1 or -1 */
    int disparities;
    int paths; /* 4: only ALONG and STRAIGHT */
    uint8_t p1_straight, p1_diagonal;
    const uint8_t *p2[PLX_SWEEP_PATHS];   /* [width] */
    uint8_t *along;                       /* state of the pixel before */
    const uint8_t *last[PLX_SWEEP_PATHS]; /* states of the row before; not of ALONG */
    uint8_t *next[PLX_SWEEP_PATHS];       /* states of this row */
};

/* What the winner leaves of a row. */
struct plx_winner_row {
    int width, disparities, paths;
    uint16_t *raw, *s1, *s2; /* [width], as in struct plx_candidates */
    uint16_t *below, *above; /* [width], S(d - 1) and S(d + 1) of the winner d; 0 where it has no such neighbour */
    uint16_t *key; /* [PLX_VOTE_ROWS][disparities / PLX_CHUNK][width + disparities], least S << 5 | d & 31 of the right
                      view, backwards: x at width - 1 - x */
};

/* Bytes of two-path sums of one pixel, [paths / 4][disparities]: first along + straight, then behind + ahead, of L - C. */
static inline size_t plx_pairs(int paths, int disparities)
{
    return (size_t)(paths / 4) * (size_t)disparities;
}

/* A census sample: bit = row[y][x] > row[other_y][other_x], offsets from the pixel in the middle. */
struct plx_census_sample {
    int8_t x, y, other_x, other_y;
};

/* Rows that the window kernels read have this many clamped columns before and, at least, a vector and as many after. */
#define PLX_PAD 4
#define PLX_PADDED(width) ((size_t)(width) + 2 * PLX_PAD + 64)

/* Keys of one row of the right view. */
static inline size_t plx_vote_row_keys(int width, int disparities)
{
    return (size_t)PLX_VOTE_ROWS * (size_t)(disparities / PLX_CHUNK) * (size_t)(width + disparities);
}

struct plx_kernels {
    const char *name;
    /* bytes of WIDTH words of 4 or (WIDE) 8 bytes: byte k of all goes to ret_planes[k] */
    void (*split)(const void *words, int width, bool wide, int planes, uint8_t *const *ret_planes);
    /* COUNT bytes from SRC on, backwards */
    void (*reverse)(const uint8_t *src, int count, uint8_t *ret_bytes);
    /* P2 between COUNT pixels of A and their neighbours B */
    void (*penalty)(const struct plx_match *match, const uint8_t *a, const uint8_t *b, int count, uint8_t *ret_p2);
    /* C of the COUNT pixels from X -> [count][disparities] */
    void (*cost)(const struct plx_cost_row *row, int x, int count, uint8_t *ret_cost);
    /* one sweep's paths over the COUNT pixels from X, entered from the side where the sweep comes from; their costs -> sums */
    void (*aggregate)(const struct plx_sweep_row *row, int x, int count, const uint8_t *cost, uint8_t *ret_pairs);
    /* costs and both sweeps' sums of the COUNT pixels from X -> winner and right keys */
    void (*winner)(const struct plx_winner_row *row, int x, int count, const uint8_t *cost, const uint8_t *pairs_a,
                   const uint8_t *pairs_b);
    /* what the winner left of a row -> disparities of both views */
    void (*finish)(const struct plx_match *match, const struct plx_winner_row *row, uint16_t *ret_left, uint16_t *ret_right);

    /* (4c + n + s + e + w + 4) >> 3 of WIDTH pixels of a padded row and its neighbours */
    void (*smooth)(const uint8_t *above, const uint8_t *row, const uint8_t *below, int width, uint8_t *ret_row);
    /* words of WIDTH pixels, 4 or (WIDE) 8 bytes each; the first of COUNT samples is the highest bit; ROWS[y] is padded */
    void (*census)(const struct plx_census_sample *samples, int count, const uint8_t *const *rows, int width, bool wide,
                   void *ret_words);
    void (*gradient)(const uint8_t *above, const uint8_t *row, const uint8_t *below, int width, uint8_t *ret_row);
    /* medians of WIDTH pixels; ROWS[-1..1] or ROWS[-2..2] are padded */
    void (*median_3x3)(const uint16_t *const *rows, int width, uint16_t *ret_row);
    void (*median_valid_5x5)(const uint16_t *const *rows, int width, uint16_t *ret_row);
    /* ROWS[-2..2] are padded rows of raw candidates, two apart; CHECKED, S1 (times S1_SCALE) and S2 are those of the middle one
     */
    void (*confidence)(const uint16_t *const *rows, const uint16_t *checked, const uint16_t *s1, int s1_scale,
                       const uint16_t *s2, int width, uint8_t *ret_row);
};

#define PLX_PASTE_(name, isa) plx_##name##_##isa
#define PLX_PASTE(name, isa) PLX_PASTE_(name, isa)
#define PLX_KERNEL(name) PLX_PASTE(name, PLX_ISA) /* NAME as exported by a file that is compiled several times */

extern const struct plx_kernels plx_kernels_generic, plx_kernels_neon, plx_kernels_avx2, plx_kernels_avx512;

#endif
