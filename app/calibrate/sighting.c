/* SPDX-License-Identifier: Apache-2.0 */
#include "app/calibrate/sighting.h"

#include <stdio.h>

#include <parallax/error.h>

#include "app/calibrate/chessboard.h"

void plx_sighting_close(struct plx_sighting *sighting)
{
    plx_tags_destroy(sighting->tags);
    *sighting = (struct plx_sighting){.tags = NULL};
}

int plx_sighting_detect(struct plx_sighting *sighting, const struct plx_image *grey)
{
    struct plx_board board, *largest = &sighting->chess;
    int result = sighting->tags ? 0 : plx_tags_create(&sighting->tags);
    if (result == 0)
        result = plx_tags_detect(sighting->tags, grey);
    if (result == 0)
        return 0; /* tags: what looks like a chessboard beside them is none */
    if (result == PLX_ERR_NOT_FOUND)
        result = plx_chessboard_measure(grey, &board);
    if (result == 0 && plx_board_corners(&board) > plx_board_corners(largest)) /* a part looks like a smaller board */
        *largest = board.rows > board.columns ? (struct plx_board){.columns = board.rows, .rows = board.columns} : board;
    return result == PLX_ERR_NOT_FOUND ? 0 : result;
}

static void chess_text(const struct plx_board *seen, const struct plx_board *board, char ret[PLX_SIGHTING_TEXT])
{
    const bool same = board->kind == PLX_BOARD_CHESS && ((seen->columns == board->columns && seen->rows == board->rows) ||
                                                         (seen->columns == board->rows && seen->rows == board->columns));
    if (same)
        snprintf(ret, PLX_SIGHTING_TEXT,
                 "they show such a board, but not in both pictures of a pair, or bent: show all of it to both cameras, and lay "
                 "it on something flat");
    else
        snprintf(ret, PLX_SIGHTING_TEXT, "they show a chessboard of %d x %d inner corners: is it --board %dx%d?", seen->columns,
                 seen->rows, seen->columns, seen->rows);
}

/* Rows of COLUMNS tags that hold all numbers that were seen. */
static int rows_of(const struct plx_tags_sighting *seen, int columns)
{
    return (seen->max_id - seen->min_id) / columns + 1;
}

static void tags_text(const struct plx_tags_sighting *seen, const struct plx_board *board, char ret[PLX_SIGHTING_TEXT])
{
    const int all = board->columns * board->rows, rows = seen->columns > 0 ? rows_of(seen, seen->columns) : 0;
    const bool asked_tags = board->kind == PLX_BOARD_TAGS;
    if (seen->is_charuco)
        snprintf(
            ret, PLX_SIGHTING_TEXT,
            "they show a ChArUco board, with tags in the white squares of a chessboard, which is not read: use a chessboard "
            "or a grid of AprilTags 36h11");
    else if (rows > 0 && (!asked_tags || seen->columns != board->columns || rows > board->rows))
        snprintf(ret, PLX_SIGHTING_TEXT,
                 "they show tags with the numbers %d to %d in rows of %d: is it --tags %dx%d, and --square the side of a tag?",
                 seen->min_id, seen->max_id, seen->columns, seen->columns, rows);
    else if (!asked_tags)
        snprintf(ret, PLX_SIGHTING_TEXT, "they show AprilTags with the numbers %d to %d: a grid of them is given by --tags",
                 seen->min_id, seen->max_id);
    else if (seen->gap > 0 && !plx_tags_gap_fits(board, seen->gap))
        snprintf(
            ret, PLX_SIGHTING_TEXT,
            "they show tags that are %.2f of their side apart, and --gap and --square say %.2f: is it --gap %.2g? Both are "
            "metres",
            seen->gap, board->gap_m / board->square_m, seen->gap * board->square_m);
    else if (seen->max_id < all || seen->max_id - seen->min_id == all - 1 || seen->min_id / all == seen->max_id / all)
        snprintf(ret, PLX_SIGHTING_TEXT,
                 "they show up to %d tags, with the numbers %d to %d: show four or more to both cameras, not in one line",
                 seen->count, seen->min_id, seen->max_id);
    else
        snprintf(ret, PLX_SIGHTING_TEXT,
                 "they show up to %d tags, with the numbers %d to %d: where the %d numbers of --tags %dx%d begin is known once "
                 "one picture shows the first and the last",
                 seen->count, seen->min_id, seen->max_id, all, board->columns, board->rows);
}

void plx_sighting_text(const struct plx_sighting *sighting, const struct plx_board *board, const struct plx_tags_sighting *own,
                       char ret[PLX_SIGHTING_TEXT])
{
    const struct plx_tags_sighting *seen = own ? own : sighting->tags ? plx_tags_seen(sighting->tags) : NULL;
    *ret = '\0';
    if (seen && seen->count > 0)
        tags_text(seen, board, ret);
    else if (sighting->chess.columns > 0)
        chess_text(&sighting->chess, board, ret);
}
