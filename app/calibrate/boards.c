/* SPDX-License-Identifier: Apache-2.0 */
#include "app/calibrate/boards.h"

#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "app/calibrate/chessboard.h"
#include "app/calibrate/tags.h"

int plx_boards_open(struct plx_boards *boards, const struct plx_board *board, enum plx_distortion model)
{
    if (!plx_board_is_valid(board))
        return PLX_ERR_RANGE;
    *boards = (struct plx_boards){.board = *board, .options.model = model};
    int result = board->kind == PLX_BOARD_TAGS ? plx_tags_create(&boards->tags) : 0;
    for (int eye = 0; eye < PLX_EYES; eye++) {
        boards->corner[eye] = calloc((size_t)plx_board_corners(board), sizeof *boards->corner[eye]);
        result = boards->corner[eye] ? result : PLX_ERR_NOMEM;
    }
    boards->before = calloc((size_t)plx_board_corners(board), sizeof *boards->before);
    result = boards->before ? result : PLX_ERR_NOMEM;
    if (result < 0)
        plx_boards_close(boards);
    return result;
}

void plx_boards_close(struct plx_boards *boards)
{
    for (int p = 0; p < boards->count; p++)
        free((void *)(uintptr_t)boards->pair[p].corner[PLX_LEFT]); /* that of the right eye lies behind it */
    free(boards->pair);
    for (int eye = 0; eye < PLX_EYES; eye++)
        free(boards->corner[eye]);
    free(boards->before);
    plx_tags_destroy(boards->tags);
    *boards = (struct plx_boards){.count = 0};
}

static int check_size(struct plx_boards *boards, const struct plx_image *image, struct plx_error_message *message)
{
    struct plx_rig_options *options = &boards->options;
    if (options->width == 0) {
        options->width = image->width;
        options->height = image->height;
    }
    if (image->width == options->width && image->height == options->height)
        return 0;
    return plx_fail(message, PLX_ERR_FORMAT, "%d x %d pixels, expected %d x %d as in the first pair", image->width,
                    image->height, options->width, options->height);
}

int plx_boards_detect(struct plx_boards *boards, const struct plx_image image[PLX_EYES], struct plx_error_message *message)
{
    const size_t bytes = (size_t)plx_board_corners(&boards->board) * sizeof *boards->before;
    const bool follows = boards->seen[PLX_LEFT] && boards->seen[PLX_RIGHT];
    memcpy(boards->before, boards->corner[PLX_LEFT], bytes);
    for (int eye = 0; eye < PLX_EYES; eye++) {
        boards->seen[eye] = false;
        int result = check_size(boards, &image[eye], message);
        if (result < 0)
            return result;
        result = boards->tags ? plx_tags_find(boards->tags, &image[eye], &boards->board, boards->corner[eye])
                              : plx_chessboard_find(&image[eye], &boards->board, boards->corner[eye]);
        if (result < 0 && result != PLX_ERR_NOT_FOUND)
            return plx_fail(message, result, "%s", plx_strerror(result));
        boards->seen[eye] = result == 0;
    }
    if (!boards->seen[PLX_LEFT] || !boards->seen[PLX_RIGHT])
        return PLX_ERR_NOT_FOUND;
    if (boards->board.kind == PLX_BOARD_CHESS) { /* its corners have no numbers */
        if (boards->count > 0 || follows)
            plx_chessboard_turn(&boards->board,
                                boards->count > 0 ? boards->pair[0].corner[PLX_LEFT] : (const double(*)[2])boards->before,
                                boards->corner[PLX_LEFT]);
        plx_chessboard_turn(&boards->board, (const double(*)[2])boards->corner[PLX_LEFT], boards->corner[PLX_RIGHT]);
    }
    return 0;
}

void plx_boards_sighting_text(const struct plx_boards *boards, const struct plx_sighting *sighting, char ret[PLX_SIGHTING_TEXT])
{
    const struct plx_tags_sighting *own = boards->tags ? plx_tags_seen(boards->tags) : NULL;
    plx_sighting_text(sighting, &boards->board, own && own->count > 0 ? own : NULL, ret);
}

int plx_boards_keep(struct plx_boards *boards)
{
    const size_t corners = (size_t)plx_board_corners(&boards->board);
    if (boards->count == boards->room) {
        const int room = boards->room > 0 ? 2 * boards->room : 32;
        struct plx_board_pair *larger = realloc(boards->pair, (size_t)room * sizeof *larger);
        if (!larger)
            return PLX_ERR_NOMEM;
        boards->pair = larger;
        boards->room = room;
    }
    double(*copy)[2] = malloc(PLX_EYES * corners * sizeof *copy);
    if (!copy)
        return PLX_ERR_NOMEM;
    for (int eye = 0; eye < PLX_EYES; eye++) {
        memcpy(copy + (size_t)eye * corners, boards->corner[eye], corners * sizeof *copy);
        boards->pair[boards->count].corner[eye] = (const double(*)[2])(copy + (size_t)eye * corners);
    }
    boards->count++;
    return 0;
}
