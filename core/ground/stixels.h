/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The second half of the columns stage (core/ground/columns.h): from the path of a column to its stixels and its scan.
 * Everything is integers, and each step looks at one column only: plx_column_publish does them all, or a backend calls the
 * parts. Where plx_columns_blind holds, every column is plx_column_unknown instead.
 */
#ifndef PLX_CORE_GROUND_STIXELS_H
#define PLX_CORE_GROUND_STIXELS_H

#include "core/ground/columns.h"

#define PLX_BLOCKS_UM 2000000 /* what is higher above the ground is in nobody's way */
#define PLX_ROUGHNESS_MM 100  /* so much things rise above the least height and reach below PLX_BLOCKS_UM */
#define PLX_PIECE_MIN 4       /* cells that support a piece */
#define PLX_PIECE_DRIFT 8     /* a piece's states are within 1 / 8 and 1 of that of its lowest cell */
#define PLX_FREE_GAP 12       /* cells: ground seen beyond a longer gap is not known to be free */
#define PLX_SCAN_DROP_SHIFT 1 /* shift of its disparity in plx_scan.known, until it is confirmed */
#define PLX_DROP_CELLS 3      /* that show what lies below a drop */
#define PLX_DROP_NOISE 4      /* 1/16 px: standard deviation of a disparity */
#define PLX_DROP_NEVER 65535  /* mm: no point lies so deep */
#define PLX_DROP_SLOPE 140    /* per mille: ground that descends no more is no drop; 8 degrees */
#define PLX_NEAR_CELLS 24     /* the lowest cells in which disparities reach the ground: */
#define PLX_NEAR_SEEN 6       /* unless so many show it, something may stand there that is too near to be matched */
#define PLX_LOW_MM 400        /* a slope that ends below is ground */
#define PLX_PARTNER_MARGIN 64 /* 1/16 px: so far outside the right image a partner may lie */
#define PLX_NEAREST_KEPT 8    /* nearest values, for the third nearest without outliers */
#define PLX_MAX_HEIGHT_BITS 15
#define PLX_MAX_HEIGHT_MM ((1 << PLX_MAX_HEIGHT_BITS) - 1)

/* One column after the path. */
struct plx_column {
    const struct plx_columns_params *params;
    const struct plx_ground *ground;
    int x;                 /* its number */
    int rows;              /* rows of cells */
    int width, height;     /* image size, pixels */
    const int16_t *value;  /* [rows] */
    const uint16_t *state; /* [rows] of the path */
};

/* A run of cells TOP .. FOOT, row 0 at the top of the image, in which the path is on things and moves by one state at most. */
struct plx_piece {
    int top, foot;
    int k; /* state of the ground below, 0 if there is none */
};

PLX_BOTH bool plx_on_ground(const struct plx_column *column, int row)
{
    return column->state[row] >= column->params->disparities;
}

/* k of a cell on ground. */
PLX_BOTH int plx_ground_k(const struct plx_column *column, int row)
{
    return column->state[row] - column->params->disparities - PLX_PATH_MIDDLE;
}

PLX_BOTH int plx_row_ground(const struct plx_column *column, int row)
{
    return plx_cell_ground(column->params, column->ground, column->x, row);
}

/* True if a cell with state UPPER continues a piece whose cell below has LOWER and whose lowest cell has FOOT: the steps of a
 * piece are small, and all of it lies at about one distance. */
PLX_BOTH bool plx_states_connect(int upper, int lower, int foot)
{
    const int drift = upper < foot ? foot - upper : upper - foot;
    return upper - lower <= 1 && lower - upper <= 1 && drift <= foot / PLX_PIECE_DRIFT + 1;
}

/* True if the thing in a cell lies behind the ground raised by K there. */
PLX_BOTH bool plx_is_behind_ground(const struct plx_column *column, int row, int k)
{
    return column->ground->valid &&
           plx_ground_raised(plx_row_ground(column, row), k) > plx_thing_at(column->params, column->state[row]);
}

/* Finds the first piece at or above *ROW, which becomes the row above the piece. Cells at the foot that lie behind the ground
 * are left out, even all: then foot < top. False if there is no more piece. */
PLX_BOTH bool plx_piece_next(const struct plx_column *column, int *row, struct plx_piece *ret_piece)
{
    int y = *row;
    while (y >= 0 && plx_on_ground(column, y))
        y--;
    if (y < 0)
        return false;
    int foot = y;
    ret_piece->k = y + 1 < column->rows && plx_on_ground(column, y + 1) ? plx_ground_k(column, y + 1) : 0;
    while (y > 0 && !plx_on_ground(column, y - 1) &&
           plx_states_connect(column->state[y - 1], column->state[y], column->state[foot]))
        y--;
    while (foot >= y && plx_is_behind_ground(column, foot, ret_piece->k))
        foot--;
    ret_piece->top = y;
    ret_piece->foot = foot;
    *row = y - 1;
    return true;
}

/* True if the cell's value lies near its state on the path. */
PLX_BOTH bool plx_cell_supports(const struct plx_column *column, int row)
{
    const int at = plx_thing_at(column->params, column->state[row]), value = column->value[row];
    const int step = value < at ? at - value : value - at;
    return value != PLX_CELL_UNKNOWN && step <= 24 + at / PLX_DISPARITY_ONE;
}

/* Cells of the piece that support it. */
PLX_BOTH int plx_piece_support(const struct plx_column *column, const struct plx_piece *piece)
{
    int support = 0;
    for (int y = piece->top; y <= piece->foot; y++)
        support += plx_cell_supports(column, y);
    return support;
}

/* Cells of the piece that support it with a value of at most LIMIT. */
PLX_BOTH int plx_piece_count(const struct plx_column *column, const struct plx_piece *piece, int limit)
{
    int count = 0;
    for (int y = piece->top; y <= piece->foot; y++)
        count += plx_cell_supports(column, y) && column->value[y] <= limit;
    return count;
}

/* Element SUPPORT / 2 of the SUPPORT supporting values in ascending order: the least limit that more than that many meet. */
PLX_BOTH int plx_piece_median(const struct plx_column *column, const struct plx_piece *piece, int support)
{
    int low = PLX_CELL_LIMIT, high = -PLX_CELL_LIMIT;
    for (int y = piece->top; y <= piece->foot; y++) {
        const int value = column->value[y];
        low = plx_cell_supports(column, y) && value < low ? value : low;
        high = plx_cell_supports(column, y) && value > high ? value : high;
    }
    while (low < high) {
        const int middle = (low + high) >> 1;
        if (plx_piece_count(column, piece, middle) > support / 2)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* A / UNIT, not negative, or PLX_MAX_HEIGHT_MM if that is less. Bit by bit on a GPU, which calls a function for a division of
 * 64 bits. */
PLX_BOTH int plx_height_divide(int64_t a, int64_t unit)
{
#ifdef __CUDA_ARCH__
    int height = 0;
    for (int bit = PLX_MAX_HEIGHT_BITS - 1; bit >= 0; bit--)
        if (a >= unit << bit) {
            a -= unit << bit;
            height |= 1 << bit;
        }
    return height;
#else
    const int64_t height = a / unit;
    return height < PLX_MAX_HEIGHT_MM ? (int)height : PLX_MAX_HEIGHT_MM;
#endif
}

/* Height above the plane, mm, of a point with disparity D > 0 where the ground has G: camera height times (D - G) / D, towards
 * 0, within PLX_MAX_HEIGHT_MM. 0 without ground. */
PLX_BOTH int plx_height_mm(const struct plx_ground *ground, int d, int g)
{
    const int64_t above = (int64_t)ground->camera_height_um * (d - g);
    const int height = plx_height_divide(above < 0 ? -above : above, (int64_t)1000 * d);
    return above < 0 ? -height : height;
}

/* True if the cell supports its piece at most PLX_BLOCKS_UM above the plane. */
PLX_BOTH bool plx_cell_blocks(const struct plx_column *column, int row)
{
    const int64_t value = column->value[row];
    return plx_cell_supports(column, row) &&
           (!column->ground->valid ||
            column->ground->camera_height_um * (value - plx_row_ground(column, row)) <= value * PLX_BLOCKS_UM);
}

/* Puts VALUE into NEAREST, descending. */
PLX_BOTH void plx_nearest_add(int nearest[PLX_NEAREST_KEPT], int value)
{
    for (int i = 0; i < PLX_NEAREST_KEPT; i++) {
        const int other = nearest[i];
        nearest[i] = value > other ? value : other;
        value = value > other ? other : value;
    }
}

/* Picks from the largest values, descending and NONE where there are fewer: the third, after leading ones more than a tenth
 * nearer than the one two places on; if there is none, the last. */
PLX_BOTH int plx_nearest_pick(const int nearest[PLX_NEAREST_KEPT], int none)
{
    int i = 0, last = 0;
    while (last + 1 < PLX_NEAREST_KEPT && nearest[last + 1] != none)
        last++;
    while (i + 2 < last && 10 * nearest[i + 2] < 9 * nearest[i])
        i++;
    return nearest[i + 2 < last ? i + 2 : last];
}

/* Disparity of the piece's nearest part; OTHERWISE if no cell of it is low enough. */
PLX_BOTH int plx_piece_near(const struct plx_column *column, const struct plx_piece *piece, int otherwise)
{
    int nearest[PLX_NEAREST_KEPT];
    for (int i = 0; i < PLX_NEAREST_KEPT; i++)
        nearest[i] = PLX_CELL_UNKNOWN;
    for (int y = piece->top; y <= piece->foot; y++)
        if (plx_cell_blocks(column, y))
            plx_nearest_add(nearest, column->value[y]);
    return nearest[0] == PLX_CELL_UNKNOWN ? otherwise : plx_nearest_pick(nearest, PLX_CELL_UNKNOWN);
}

/* True if the heights of a stixel are those of a thing; K: of the ground it stands on. */
PLX_BOTH bool plx_heights_hold(const struct plx_column *column, const struct plx_piece *piece, int top_mm, int foot_mm)
{
    const struct plx_mask_params *mask = &column->params->mask;
    const int own = top_mm - (int)((int64_t)column->ground->camera_height_um * piece->k / 32000);
    const int step = column->state[piece->top] - column->state[piece->foot];
    const bool slope = 2 * (step < 0 ? -step : step) > piece->foot - piece->top;
    return own >= mask->min_height_um / 1000 + PLX_ROUGHNESS_MM && foot_mm <= mask->max_height_um / 1000 &&
           !(slope && own < PLX_LOW_MM);
}

/* True if enough cells SUPPORT a piece. */
PLX_BOTH bool plx_piece_holds(const struct plx_piece *piece, int support)
{
    return support >= PLX_PIECE_MIN && 3 * support >= piece->foot - piece->top + 1;
}

/* Describes a piece that holds, with median disparity D and NEAR that of its nearest part; false if it is no stixel. */
PLX_BOTH bool plx_piece_describe(const struct plx_column *column, const struct plx_piece *piece, int support, int d, int near,
                                 struct plx_stixel *ret_stixel)
{
    const struct plx_mask_params *mask = &column->params->mask;
    if (d < 1 || near < 1 || near < mask->far_disparity - mask->infinity || d > mask->near_disparity - mask->infinity)
        return false;
    const int last = PLX_CELL_HEIGHT * piece->foot + PLX_CELL_HEIGHT - 1;
    const int top_mm = plx_height_mm(column->ground, d, plx_row_ground(column, piece->top));
    const int foot_mm = plx_height_mm(column->ground, d, plx_row_ground(column, piece->foot));
    if (column->ground->valid && !plx_heights_hold(column, piece, top_mm, foot_mm))
        return false;
    ret_stixel->y0 = (uint16_t)(PLX_CELL_HEIGHT * piece->top);
    ret_stixel->y1 = (uint16_t)(last < column->height ? last : column->height - 1);
    ret_stixel->disparity = (uint16_t)d;
    ret_stixel->near_disparity = (uint16_t)near;
    ret_stixel->top_mm = (int16_t)top_mm;
    ret_stixel->foot_mm = (int16_t)foot_mm;
    ret_stixel->support = (uint16_t)support;
    ret_stixel->label = 0; /* later, by the stage segments */
    return true;
}

/* Measures PIECE; false if it is no stixel. */
PLX_BOTH bool plx_piece_measure(const struct plx_column *column, const struct plx_piece *piece, struct plx_stixel *ret_stixel)
{
    const int support = plx_piece_support(column, piece);
    if (!plx_piece_holds(piece, support))
        return false;
    const int d = plx_piece_median(column, piece, support), near = plx_piece_near(column, piece, d);
    return plx_piece_describe(column, piece, support, d, near, ret_stixel);
}

/* True if the stixel stands in the way, and so counts in the scan. */
PLX_BOTH bool plx_stixel_blocks(const struct plx_stixel *stixel)
{
    return stixel->foot_mm + PLX_ROUGHNESS_MM <= PLX_BLOCKS_UM / 1000;
}

/* True if the partner of the stixel's middle lies in the right image, or hardly outside: else no match confirms it. */
PLX_BOTH bool plx_stixel_has_partner(const struct plx_column *column, const struct plx_stixel *stixel)
{
    const struct plx_mask_params *mask = &column->params->mask;
    const int middle = PLX_COLUMN_WIDTH * column->x + PLX_COLUMN_WIDTH / 2;
    const int partner = PLX_DISPARITY_ONE * (middle - mask->min_disparity) - (stixel->disparity + mask->infinity);
    return partner >= -PLX_PARTNER_MARGIN && partner <= PLX_DISPARITY_ONE * (column->width - 1) + PLX_PARTNER_MARGIN;
}

/* Puts STIXEL among the COUNT of RET_STIXELS, nearest first, later ones behind equals; the farthest one beyond
 * PLX_COLUMN_STIXELS goes. Returns how many there are. */
PLX_BOTH int plx_stixel_insert(struct plx_stixel stixel, int count, struct plx_stixel *ret_stixels)
{
    int i = count < PLX_COLUMN_STIXELS ? count : PLX_COLUMN_STIXELS;
    while (i > 0 && ret_stixels[i - 1].near_disparity < stixel.near_disparity) {
        if (i < PLX_COLUMN_STIXELS)
            ret_stixels[i] = ret_stixels[i - 1];
        i--;
    }
    if (i < PLX_COLUMN_STIXELS)
        ret_stixels[i] = stixel;
    return count < PLX_COLUMN_STIXELS ? count + 1 : PLX_COLUMN_STIXELS;
}

/* Disparity of the ground that is seen in a cell on the path, PLX_SCAN_NOTHING_FREE if none is. */
PLX_BOTH int plx_seen_ground(const struct plx_column *column, int row)
{
    if (!plx_on_ground(column, row) || column->value[row] == PLX_CELL_UNKNOWN)
        return PLX_SCAN_NOTHING_FREE;
    const int g = plx_row_ground(column, row), k = plx_ground_k(column, row), raised = plx_ground_raised(g, k);
    const bool fits = plx_ground_cost(column->ground->valid, column->value[row], g, k) < PLX_PATH_WRONG;
    return fits && raised >= 1 ? raised : PLX_SCAN_NOTHING_FREE;
}

/* True if the disparities reach the ground in a cell. */
PLX_BOTH bool plx_reaches_ground(const struct plx_column *column, int row)
{
    return plx_row_ground(column, row) <= plx_thing_at(column->params, column->params->disparities - 1);
}

/* The lowest row of cells in which the disparities reach the ground; -1 if there is none. */
PLX_BOTH int plx_column_begin(const struct plx_column *column)
{
    int y = column->rows - 1;
    while (y >= 0 && !plx_reaches_ground(column, y))
        y--;
    return y;
}

/* How far ground that descends by PLX_DROP_SLOPE per mille falls from one cell to the next, mm. */
PLX_BOTH int plx_cell_fall_mm(const struct plx_column *column, int row)
{
    const int64_t rows = (int64_t)plx_row_ground(column, row) * 65536 / column->ground->b; /* below the horizon */
    const int64_t scale = (int64_t)column->ground->camera_height_um / 1000 * column->params->mask.focal_px;
    const int64_t fall = rows < 1 ? PLX_MAX_HEIGHT_MM : PLX_CELL_HEIGHT * PLX_DROP_SLOPE * scale / (1000 * rows * rows);
    return fall < PLX_MAX_HEIGHT_MM ? (int)fall : PLX_MAX_HEIGHT_MM;
}

/* What a cell says of drops; all 0 where nothing is known. */
struct plx_drop_cell {
    int height; /* height of its point above the plane, mm */
    int fall;   /* plx_cell_fall_mm */
    int need; /* mm: a point that lies so much deeper than the ground is no noise: three standard deviations of its height, and
                 three quarters of what is looked for; 1 .. PLX_DROP_NEVER */
    int ground; /* 1: ground is seen */
};

PLX_BOTH struct plx_drop_cell plx_drop_cell_of(const struct plx_column *column, int row)
{
    struct plx_drop_cell cell = {0, 0, 0, 0};
    const int value = column->value[row], looked_for = (3 * column->params->min_drop_mm + 3) / 4;
    if (value == PLX_CELL_UNKNOWN || value < 1)
        return cell;
    const int64_t deviations = (int64_t)column->ground->camera_height_um * (3 * PLX_DROP_NOISE), unit = (int64_t)1000 * value;
    const int64_t noise = (deviations + unit - 1) / unit, need = noise > looked_for ? noise : looked_for;
    cell.height = plx_height_mm(column->ground, value, plx_row_ground(column, row));
    cell.fall = plx_cell_fall_mm(column, row);
    cell.need = need < PLX_DROP_NEVER ? (int)need : PLX_DROP_NEVER;
    cell.ground = plx_seen_ground(column, row) < PLX_SCAN_NOTHING_FREE;
    return cell;
}

/* The search for a drop, up a column. */
struct plx_drop_search {
    int last;  /* row of the last ground that goes on from below; -1: none yet */
    int level; /* its height, smoothed, mm */
    int deep;  /* cells above that lie deep below it */
};

/* Looks at CELL of ROW, rows from the bottom up. True if the search is over: then there is a drop behind search->last where
 * search->deep is PLX_DROP_CELLS. LEAST: min_drop_mm. */
PLX_BOTH bool plx_drop_look(struct plx_drop_search *search, const struct plx_drop_cell *cell, int row, int least)
{
    if (search->last >= 0 && search->last - row > PLX_FREE_GAP)
        return true;
    if (cell->need == 0 || (search->last < 0 && !cell->ground))
        return false;
    if (search->last < 0) {
        search->last = row;
        search->level = cell->height;
        return false;
    }
    const int slope = cell->fall * (search->last - row), step = cell->height - search->level;
    if (cell->ground && 2 * (step + slope) >= -least && step - slope <= least) {
        search->last = row;
        search->level += step / 4;
        search->deep = 0;
        return false;
    }
    search->deep += -step - slope >= cell->need;
    return step - slope >= cell->need /* a thing stands there */ || search->deep == PLX_DROP_CELLS;
}

/* The disparity of the ground at the edge, 0 if the search has found no drop. */
PLX_BOTH int plx_drop_edge(const struct plx_column *column, const struct plx_drop_search *search)
{
    return search->deep == PLX_DROP_CELLS ? plx_seen_ground(column, search->last) : 0;
}

PLX_BOTH bool plx_drops_are_looked_for(const struct plx_column *column)
{
    return column->params->min_drop_mm > 0 && column->ground->valid && column->ground->b > 0;
}

/* The disparity of the last ground before a drop, 0 if there is none: going up from the bottom, at least PLX_DROP_CELLS of the
 * next PLX_FREE_GAP cells show what lies deep below the level of that ground, before any of ground that goes on from there, or
 * of a thing. The path itself is of no use: it bends down with the ground. */
PLX_BOTH int plx_column_drop(const struct plx_column *column)
{
    struct plx_drop_search search = {-1, 0, 0};
    for (int y = column->rows - 1; y >= 0 && plx_drops_are_looked_for(column); y--) {
        const struct plx_drop_cell cell = plx_drop_cell_of(column, y);
        if (plx_drop_look(&search, &cell, y, column->params->min_drop_mm))
            break;
    }
    return plx_drop_edge(column, &search);
}

/* True if a thing in PIECE stands where the column BEGINs (plx_column_begin), or hides that. */
PLX_BOTH bool plx_piece_is_near(const struct plx_column *column, const struct plx_piece *piece, int begin)
{
    return !column->ground->valid || piece->foot > begin - PLX_NEAR_CELLS;
}

/* Disparity of the farthest ground that is seen on the path without a longer gap, PLX_SCAN_NOTHING_FREE if none is, or too
 * little of it where the column BEGINs. */
PLX_BOTH int plx_column_free(const struct plx_column *column, int begin)
{
    int least = PLX_SCAN_NOTHING_FREE, last = -1, near = 0;
    for (int y = column->rows - 1; y >= 0 && (last < 0 || last - y <= PLX_FREE_GAP); y--) {
        const int seen = plx_seen_ground(column, y);
        last = seen < PLX_SCAN_NOTHING_FREE ? y : last;
        least = seen < least ? seen : least;
    }
    for (int y = begin; y >= 0 && y > begin - PLX_NEAR_CELLS; y--)
        near += plx_seen_ground(column, y) < PLX_SCAN_NOTHING_FREE;
    return near >= PLX_NEAR_SEEN ? least : PLX_SCAN_NOTHING_FREE;
}

/* The scan of a column of COUNT stixels, one of which is NEAR_THING (plx_piece_is_near): NEAREST, the disparity of the nearest
 * that blocks, NEARER, the same with those that have no partner, which nothing behind is free for, GROUND, plx_column_free, and
 * DROP, plx_column_drop, which waits above KNOWN for what the columns beside it show (core/ground/free_ground.h). */
PLX_BOTH struct plx_scan plx_column_scan(int count, bool near_thing, int nearest, int nearer, int ground, int drop)
{
    const bool known = near_thing || ground < PLX_SCAN_NOTHING_FREE;
    const struct plx_scan scan = {(uint16_t)nearest, (uint16_t)(ground > nearer ? ground : nearer),
                                  (uint16_t)((known ? PLX_SCAN_KNOWN : 0) | (unsigned)drop << PLX_SCAN_DROP_SHIFT),
                                  (uint16_t)count};
    return scan;
}

/* Writes all of *RET_SCAN and of RET_STIXELS [PLX_COLUMN_STIXELS]; unused ones are 0. */
PLX_BOTH void plx_column_publish(const struct plx_column *column, struct plx_scan *ret_scan, struct plx_stixel *ret_stixels)
{
    const struct plx_stixel none = {0, 0, 0, 0, 0, 0, 0, 0};
    struct plx_stixel stixel;
    struct plx_piece piece;
    const int begin = plx_column_begin(column);
    int count = 0, nearest = 0, nearer = 0, row = column->rows - 1;
    bool near_thing = false;

    for (int i = 0; i < PLX_COLUMN_STIXELS; i++)
        ret_stixels[i] = none;
    while (plx_piece_next(column, &row, &piece))
        if (plx_piece_measure(column, &piece, &stixel)) {
            const int near = plx_stixel_blocks(&stixel) ? stixel.near_disparity : 0;
            nearer = near > nearer ? near : nearer;
            if (!plx_stixel_has_partner(column, &stixel))
                continue;
            nearest = near > nearest ? near : nearest;
            near_thing = near_thing || plx_piece_is_near(column, &piece, begin);
            count = plx_stixel_insert(stixel, count, ret_stixels);
        }
    *ret_scan = plx_column_scan(count, near_thing, nearest, nearer, plx_column_free(column, begin), plx_column_drop(column));
}

/* True if ground is needed and none is found: everything would look like a thing. */
PLX_BOTH bool plx_columns_blind(const struct plx_columns_params *params, const struct plx_ground *ground)
{
    return params->mask.ground_needed && !ground->valid;
}

/* Publishes nothing. */
PLX_BOTH void plx_column_unknown(struct plx_scan *ret_scan, struct plx_stixel *ret_stixels)
{
    const struct plx_stixel none = {0, 0, 0, 0, 0, 0, 0, 0};
    const struct plx_scan unknown = {0, PLX_SCAN_NOTHING_FREE, 0, 0};
    for (int i = 0; i < PLX_COLUMN_STIXELS; i++)
        ret_stixels[i] = none;
    *ret_scan = unknown;
}

#endif
