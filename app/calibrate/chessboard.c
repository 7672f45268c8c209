/* SPDX-License-Identifier: Apache-2.0 */
#include "app/calibrate/chessboard.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "app/calibrate/board_grid.h"
#include "app/calibrate/corner_points.h"

#define SEEDS 60
#define BEND 0.25 /* share of a step between two corners */
#define MAX_REFINE 11
#define SMALLEST 160 /* px: halves of pictures are searched down to this width */

/* Distance of corner K to the nearest of its neighbours on the board. */
static double reach(const struct plx_board *board, const double (*corner)[2], int k)
{
    const int column = k % board->columns, row = k / board->columns;
    const int other[4] = {column > 0 ? k - 1 : k + 1, column + 1 < board->columns ? k + 1 : k - 1,
                          row > 0 ? k - board->columns : k + board->columns,
                          row + 1 < board->rows ? k + board->columns : k - board->columns};
    double least = INFINITY;
    for (int i = 0; i < 4; i++)
        least = fmin(least, hypot(corner[other[i]][0] - corner[k][0], corner[other[i]][1] - corner[k][1]));
    return least;
}

/* True if the grid is a whole board of BOARD's size, whose corners are copied. A board without columns gets the grid's size. */
static bool accept(struct plx_board_grid *grid, const struct plx_image *grey, struct plx_board *board, double (*ret_corner)[2])
{
    struct plx_board size = *board;
    if (size.columns == 0) {
        size.columns = grid->right - grid->left + 1;
        size.rows = grid->bottom - grid->top + 1;
        if (size.columns < 3 || size.rows < 3)
            return false;
    }
    if (!plx_board_grid_copy_out(grid, &size, ret_corner) || !plx_board_grid_is_chequered(grid, grey))
        return false;
    *board = size;
    return true;
}

/* Points, then grids around the strongest of them. Whole pixels. */
static int find_at_size(const struct plx_image *grey, struct plx_board *board, double (*ret_corner)[2])
{
    const int most = board->columns == 0 ? PLX_BOARD_MAX_SIDE - 2 : board->columns > board->rows ? board->columns : board->rows;
    int result = PLX_ERR_NOT_FOUND;
    struct plx_corner_point *point = malloc(PLX_CORNER_POINTS * sizeof *point);
    struct plx_board_grid *grid = malloc(sizeof *grid);
    const int count = point && grid ? plx_corner_points_find(grey, point) : PLX_ERR_NOMEM;
    bool *used = count > 0 ? malloc((size_t)count * sizeof *used) : NULL;
    if (count < 0 || (count > 0 && !used)) {
        result = PLX_ERR_NOMEM;
        goto done;
    }
    for (int seed = 0; seed < count && seed < SEEDS && count >= plx_board_corners(board); seed++) {
        grid->point = point;
        grid->points = count;
        grid->used = used;
        if (!plx_board_grid_begin(grid, seed))
            continue;
        plx_board_grid_grow(grid, most + 2);
        plx_board_grid_trim(grid);
        if (accept(grid, grey, board, ret_corner)) {
            result = 0;
            break;
        }
    }

done:
    free(used);
    free(grid);
    free(point);
    return result;
}

/* Means of 2 x 2 pixels; its data is the caller's. */
static int halve(const struct plx_image *grey, struct plx_image *ret)
{
    const int width = grey->width / 2, height = grey->height / 2;
    uint8_t *data = malloc((size_t)width * (size_t)height);
    if (!data)
        return PLX_ERR_NOMEM;
    for (int y = 0; y < height; y++) {
        const uint8_t *a = plx_row(grey, 2 * y), *b = plx_row(grey, 2 * y + 1);
        for (int x = 0; x < width; x++)
            data[y * width + x] = (uint8_t)((a[2 * x] + a[2 * x + 1] + b[2 * x] + b[2 * x + 1] + 2) / 4);
    }
    *ret = (struct plx_image){data, width, height, (size_t)width, PLX_U8};
    return 0;
}

/* In GREY, else in its half, and so on: large squares and blur become small and sharp. */
static int find_in_pyramid(const struct plx_image *grey, struct plx_board *board, double (*ret_corner)[2])
{
    struct plx_image half;
    int result = find_at_size(grey, board, ret_corner);
    if (result != PLX_ERR_NOT_FOUND || grey->width < 2 * SMALLEST)
        return result;
    result = halve(grey, &half);
    if (result < 0)
        return result;
    result = find_in_pyramid(&half, board, ret_corner);
    free(half.data);
    for (int k = 0; k < plx_board_corners(board) && result == 0; k++)
        for (int i = 0; i < 2; i++)
            ret_corner[k][i] = 2 * ret_corner[k][i] + 0.5;
    return result;
}

/* True if corner K lies about in the middle of A and B. */
static bool is_between(const double (*corner)[2], int a, int k, int b)
{
    const double bend = hypot(corner[a][0] - 2 * corner[k][0] + corner[b][0], corner[a][1] - 2 * corner[k][1] + corner[b][1]);
    return bend < BEND * hypot(corner[b][0] - corner[a][0], corner[b][1] - corner[a][1]) / 2;
}

/* True if all lines of the board are about straight and even: perspective and lenses bend them a little, a wrong corner more.
 */
static bool is_even(const struct plx_board *board, const double (*corner)[2])
{
    for (int k = 0; k < plx_board_corners(board); k++) {
        const int column = k % board->columns, row = k / board->columns;
        if (column > 0 && column + 1 < board->columns && !is_between(corner, k - 1, k, k + 1))
            return false;
        if (row > 0 && row + 1 < board->rows && !is_between(corner, k - board->columns, k, k + board->columns))
            return false;
    }
    return true;
}

int plx_chessboard_find(const struct plx_image *grey, const struct plx_board *board, double (*ret_corner)[2])
{
    const int corners = plx_board_corners(board);
    struct plx_board same = *board;
    double(*found)[2] = calloc((size_t)corners, sizeof *found);
    if (!found)
        return PLX_ERR_NOMEM;
    int result = find_in_pyramid(grey, &same, found);
    for (int k = 0; k < corners && result == 0; k++) {
        const int radius = (int)(0.4 * reach(board, (const double(*)[2])found, k));
        memcpy(ret_corner[k], found[k], sizeof found[k]);
        plx_corner_point_refine(grey, radius < 2 ? 2 : radius > MAX_REFINE ? MAX_REFINE : radius, ret_corner[k]);
    }
    free(found);
    if (result == 0 && !is_even(board, (const double(*)[2])ret_corner))
        result = PLX_ERR_NOT_FOUND;
    return result;
}

int plx_chessboard_measure(const struct plx_image *grey, struct plx_board *ret_board)
{
    struct plx_board board = {.columns = 0};
    double(*found)[2] = calloc((size_t)PLX_BOARD_MAX_SIDE * PLX_BOARD_MAX_SIDE, sizeof *found);
    if (!found)
        return PLX_ERR_NOMEM;
    const int result = find_in_pyramid(grey, &board, found);
    free(found);
    if (result == 0)
        *ret_board = board;
    return result;
}

/* Index of the corner that comes to place K when the board turns by QUARTERS of a circle; odd ones for square boards only. */
static int turned(const struct plx_board *board, int k, int quarters)
{
    if (quarters >= 2)
        k = plx_board_corners(board) - 1 - k;
    return quarters % 2 == 0 ? k : k % board->columns * board->columns + board->columns - 1 - k / board->columns;
}

/* Sum of squares of how differently the corners moved, in the order of that turn. */
static double spread(const struct plx_board *board, const double (*left)[2], const double (*corner)[2], int quarters)
{
    const int count = plx_board_corners(board);
    double sum[2] = {0}, squares = 0;
    for (int k = 0; k < count; k++)
        for (int i = 0; i < 2; i++) {
            const double move = corner[turned(board, k, quarters)][i] - left[k][i];
            sum[i] += move;
            squares += move * move;
        }
    return squares - (sum[0] * sum[0] + sum[1] * sum[1]) / count;
}

void plx_chessboard_turn(const struct plx_board *board, const double (*left)[2], double (*corner)[2])
{
    const size_t count = (size_t)plx_board_corners(board);
    const int step = board->columns == board->rows ? 1 : 2;
    double found[PLX_BOARD_MAX_SIDE * PLX_BOARD_MAX_SIDE][2], least = INFINITY;
    int best = 0;
    for (int quarters = 0; quarters < 4; quarters += step) {
        const double here = spread(board, left, (const double(*)[2])corner, quarters);
        if (here < least) {
            least = here;
            best = quarters;
        }
    }
    memcpy(found, corner, count * sizeof *found);
    for (size_t k = 0; k < count; k++)
        memcpy(corner[k], found[turned(board, (int)k, best)], sizeof *found);
}
