/* SPDX-License-Identifier: Apache-2.0 */
#include "app/calibrate/board_grid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NEIGHBOURS 8
#define MIN_SINE 0.35 /* the least of the angle between the board's directions in the picture */
#define NEAR 0.30     /* how far from its place a corner may be, in steps */

static int *at(struct plx_board_grid *grid, int column, int row)
{
    return &grid->cell[row + PLX_BOARD_MAX_SIDE][column + PLX_BOARD_MAX_SIDE];
}

static bool is_inside(int column, int row)
{
    return abs(column) <= PLX_BOARD_MAX_SIDE && abs(row) <= PLX_BOARD_MAX_SIDE;
}

static const struct plx_corner_point *point_at(struct plx_board_grid *grid, int column, int row)
{
    const int number = is_inside(column, row) ? *at(grid, column, row) : -1;
    return number < 0 ? NULL : &grid->point[number];
}

/* The free point nearest to X, Y, not farther than MAX_DISTANCE; -1: none. */
static int nearest(const struct plx_board_grid *grid, double x, double y, double max_distance)
{
    int best = -1;
    for (int i = 0; i < grid->points; i++) {
        const double distance = hypot(grid->point[i].x - x, grid->point[i].y - y);
        if (!grid->used[i] && distance < max_distance) {
            max_distance = distance;
            best = i;
        }
    }
    return best;
}

static void put(struct plx_board_grid *grid, int column, int row, int number)
{
    *at(grid, column, row) = number;
    grid->used[number] = true;
    grid->left = column < grid->left ? column : grid->left;
    grid->right = column > grid->right ? column : grid->right;
    grid->top = row < grid->top ? row : grid->top;
    grid->bottom = row > grid->bottom ? row : grid->bottom;
}

/* Where the corner at COLUMN, ROW must be by its neighbours in direction DX, DY (behind it): along the line, else beside it. */
static bool predict(struct plx_board_grid *grid, int column, int row, int dx, int dy, double ret[2], double *ret_step)
{
    const struct plx_corner_point *one = point_at(grid, column - dx, row - dy),
                                  *two = point_at(grid, column - 2 * dx, row - 2 * dy);
    if (!one)
        return false;
    if (two) {
        ret[0] = 2 * one->x - two->x;
        ret[1] = 2 * one->y - two->y;
        *ret_step = hypot(one->x - two->x, one->y - two->y);
        return true;
    }
    for (int side = -1; side <= 1; side += 2) { /* as far from ONE as the neighbour's corner from its neighbour */
        const struct plx_corner_point *beside = point_at(grid, column + side * dy, row + side * dx);
        const struct plx_corner_point *behind = point_at(grid, column - dx + side * dy, row - dy + side * dx);
        if (!beside || !behind)
            continue;
        ret[0] = one->x + beside->x - behind->x;
        ret[1] = one->y + beside->y - behind->y;
        *ret_step = hypot(beside->x - behind->x, beside->y - behind->y);
        return true;
    }
    return false;
}

static bool add_cell(struct plx_board_grid *grid, int column, int row)
{
    static const int direction[4][2] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}};
    for (int d = 0; d < 4; d++) {
        double place[2], step;
        if (!predict(grid, column, row, direction[d][0], direction[d][1], place, &step))
            continue;
        const int found = nearest(grid, place[0], place[1], NEAR * step);
        if (found >= 0) {
            put(grid, column, row, found);
            return true;
        }
    }
    return false;
}

void plx_board_grid_grow(struct plx_board_grid *grid, int max_side)
{
    for (bool grown = true; grown;) {
        grown = false;
        const int left = grid->left, right = grid->right, top = grid->top, bottom = grid->bottom;
        if (right - left > max_side || bottom - top > max_side)
            return;
        for (int row = top - 1; row <= bottom + 1; row++)
            for (int column = left - 1; column <= right + 1; column++)
                if (is_inside(column, row) && *at(grid, column, row) < 0)
                    grown = add_cell(grid, column, row) || grown;
    }
}

bool plx_board_grid_begin(struct plx_board_grid *grid, int seed)
{
    const struct plx_corner_point *origin = &grid->point[seed];
    int neighbour[NEIGHBOURS], count = 0;
    memset(grid->cell, -1, sizeof grid->cell);
    memset(grid->used, 0, (size_t)grid->points * sizeof *grid->used);
    grid->left = grid->right = grid->top = grid->bottom = 0;
    put(grid, 0, 0, seed);
    while (count < NEIGHBOURS) { /* nearest first */
        const int next = nearest(grid, origin->x, origin->y, INFINITY);
        if (next < 0)
            break;
        grid->used[next] = true;
        neighbour[count++] = next;
    }
    for (int i = 0; i < count; i++)
        grid->used[neighbour[i]] = false;
    for (int i = 1; i < count; i++) {
        const double ax = grid->point[neighbour[0]].x - origin->x, ay = grid->point[neighbour[0]].y - origin->y;
        const double bx = grid->point[neighbour[i]].x - origin->x, by = grid->point[neighbour[i]].y - origin->y;
        const double sine = (ax * by - ay * bx) / (hypot(ax, ay) * hypot(bx, by));
        if (fabs(sine) < MIN_SINE)
            continue;
        put(grid, 1, 0, neighbour[0]);
        put(grid, 0, sine > 0 ? 1 : -1, neighbour[i]); /* seen from the front */
        return true;
    }
    return false;
}

/* How many corners the line from COLUMN, ROW on has, LENGTH long. */
static int count_line(struct plx_board_grid *grid, int column, int row, int dx, int dy, int length)
{
    int count = 0;
    for (int i = 0; i < length; i++)
        count += point_at(grid, column + i * dx, row + i * dy) != NULL;
    return count;
}

void plx_board_grid_trim(struct plx_board_grid *grid)
{
    for (bool trimmed = true; trimmed && grid->left < grid->right && grid->top < grid->bottom;) {
        const int columns = grid->right - grid->left + 1, rows = grid->bottom - grid->top + 1;
        trimmed = true;
        if (2 * count_line(grid, grid->left, grid->top, 0, 1, rows) < rows)
            grid->left++;
        else if (2 * count_line(grid, grid->right, grid->top, 0, 1, rows) < rows)
            grid->right--;
        else if (2 * count_line(grid, grid->left, grid->top, 1, 0, columns) < columns)
            grid->top++;
        else if (2 * count_line(grid, grid->left, grid->bottom, 1, 0, columns) < columns)
            grid->bottom--;
        else
            trimmed = false;
    }
}

static double brightness(const struct plx_image *grey, const struct plx_corner_point *a, const struct plx_corner_point *b,
                         const struct plx_corner_point *c, const struct plx_corner_point *d)
{
    const int x = (int)lround((a->x + b->x + c->x + d->x) / 4), y = (int)lround((a->y + b->y + c->y + d->y) / 4);
    return ((const uint8_t *)plx_row(grey, y))[x];
}

/* Each square differs from its neighbour like the first two. */
bool plx_board_grid_is_chequered(struct plx_board_grid *grid, const struct plx_image *grey)
{
    double sign = 0;
    for (int row = grid->top; row < grid->bottom; row++)
        for (int column = grid->left; column + 1 < grid->right; column++) {
            const struct plx_corner_point *p[6];
            for (int i = 0; i < 6; i++)
                p[i] = point_at(grid, column + i % 3, row + i / 3);
            const double step = brightness(grey, p[0], p[1], p[3], p[4]) - brightness(grey, p[1], p[2], p[4], p[5]);
            const double turned = (row + column) % 2 == 0 ? step : -step;
            sign = sign == 0 ? turned : sign;
            if (!(turned * sign > 0))
                return false;
        }
    return true;
}

bool plx_board_grid_copy_out(struct plx_board_grid *grid, const struct plx_board *board, double (*ret_corner)[2])
{
    const int columns = grid->right - grid->left + 1, rows = grid->bottom - grid->top + 1;
    const bool turned = columns != board->columns;
    if (turned ? columns != board->rows || rows != board->columns : rows != board->rows)
        return false;
    for (int row = 0; row < board->rows; row++)
        for (int column = 0; column < board->columns; column++) {
            const struct plx_corner_point *point = turned ? point_at(grid, grid->right - row, grid->top + column)
                                                          : point_at(grid, grid->left + column, grid->top + row);
            if (!point)
                return false;
            ret_corner[row * board->columns + column][0] = point->x;
            ret_corner[row * board->columns + column][1] = point->y;
        }
    return true;
}
