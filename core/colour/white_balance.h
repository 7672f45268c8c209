/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The white balance of a mosaic: which gains make grey things grey. The stage colour_sums adds cells of 2 x 2 samples up in
 * some rows, those that look grey with the gains in force apart from the rest; once after each frame these sums move the gains.
 * All in integers, so that the same pictures give the same gains everywhere.
 */
#ifndef PLX_CORE_COLOUR_WHITE_BALANCE_H
#define PLX_CORE_COLOUR_WHITE_BALANCE_H

#include <parallax/error.h>

#include "core/colour/colour.h"

#define PLX_COLOUR_SUM_ROWS 16 /* of so many rows two are read, in their middle */

/* A row of the sums that the stage makes, U64 [PLX_COLOUR_SUMS][plx_colour_sum_columns]. */
enum plx_colour_sum {
    PLX_SUM_ALL,                                     /* the three channels of all cells that are neither dark nor bright */
    PLX_SUM_GREY = PLX_SUM_ALL + PLX_CHANNELS,       /* of those that look grey */
    PLX_SUM_ALL_CELLS = PLX_SUM_GREY + PLX_CHANNELS, /* their numbers */
    PLX_SUM_GREY_CELLS,
    PLX_COLOUR_SUMS
};

/* Columns of the sums for a picture HEIGHT high. */
static inline int plx_colour_sum_columns(int height)
{
    return (height + PLX_COLOUR_SUM_ROWS - 1) / PLX_COLOUR_SUM_ROWS;
}

/* The first of the two rows that column INDEX of the sums is made of; an even one. */
PLX_BOTH int plx_colour_sum_row(int index)
{
    return PLX_COLOUR_SUM_ROWS * index + PLX_COLOUR_SUM_ROWS / 2;
}

/* As plx_colour_check, of the stage colour_sums. */
static inline int plx_colour_sums_check(const struct plx_raw *raw, const struct plx_development *development,
                                        const struct plx_image *ret_sums)
{
    const int result = plx_development_check(raw, development);
    if (result < 0)
        return result;
    return plx_image_ok(ret_sums, PLX_U64) && ret_sums->height == PLX_COLOUR_SUMS &&
                   ret_sums->width == plx_colour_sum_columns(raw->height)
               ? 0
               : PLX_ERR_ARG;
}

/* How cells are judged. */
struct plx_cell_gate {
    int dark, bright; /* sums of two samples above black */
    int32_t gain[PLX_CHANNELS];
};

/* LARGEST: sample of white above black. */
static inline struct plx_cell_gate plx_cell_gate(int largest, const int32_t gain[PLX_CHANNELS])
{
    const struct plx_cell_gate gate = {largest / 16, largest / 8 * 15, {gain[PLX_RED], gain[PLX_GREEN], gain[PLX_BLUE]}};
    return gate;
}

/* CELL: twice red, both greens, twice blue. */
PLX_BOTH bool plx_cell_counts(const struct plx_cell_gate *gate, const int cell[PLX_CHANNELS])
{
    int least = cell[0], most = cell[0];
    for (int i = 1; i < PLX_CHANNELS; i++) {
        least = cell[i] < least ? cell[i] : least;
        most = cell[i] > most ? cell[i] : most;
    }
    return cell[PLX_GREEN] >= gate->dark && least > 0 && most <= gate->bright;
}

/* Whether balanced channels differ by less than two fifths of the largest: wide enough that grey things count while the gains
 * are still wrong, narrow enough that few others do. */
PLX_BOTH bool plx_cell_is_grey(const struct plx_cell_gate *gate, const int cell[PLX_CHANNELS])
{
    int64_t least = INT64_MAX, most = 0;
    for (int i = 0; i < PLX_CHANNELS; i++) {
        const int64_t value = (int64_t)cell[i] * gate->gain[i];
        least = value < least ? value : least;
        most = value > most ? value : most;
    }
    return 5 * (most - least) < 2 * most;
}

struct plx_white_balance {
    bool is_fixed;                /* by the configuration; the picture does not move it */
    bool is_known;                /* since the first picture with cells that count */
    uint32_t ratio[PLX_CHANNELS]; /* of green to each channel, in 1 / 65536 */
};

void plx_white_balance_init(const struct plx_colour_params *params, struct plx_white_balance *ret_balance);

/* Moves the gains by the SUMS of a picture. */
void plx_white_balance_update(struct plx_white_balance *balance, const struct plx_image *sums);

/* The gains of the next picture, in 1 / PLX_COLOUR_ONE: at least 1, at most PLX_COLOUR_MAX_GAIN. */
void plx_white_balance_gains(const struct plx_white_balance *balance, int32_t ret_gain[PLX_CHANNELS]);

#endif
