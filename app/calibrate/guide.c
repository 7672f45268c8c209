/* SPDX-License-Identifier: Apache-2.0 */
#include "app/calibrate/guide.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "app/calibrate/edges.h"
#include "app/calibrate/initial.h"

#define MISSES 8          /* pairs without the board, after which other boards are looked for, each time */
#define STILL 0.02        /* widths of the picture a second */
#define HOLD_NS 300000000 /* that it holds still before a pair is kept */
#define NEW 0.05          /* widths of the picture that the corners have moved since a kept pair */
#define TILTED 0.26       /* the sine of 15 degrees */
#define MAX_EDGE_PX 3.0   /* what is wider is blurred, ... */
#define MAX_EDGE 0.004    /* ... or this share of the picture's width, if it is more */

int plx_guide_open(struct plx_guide *guide, const struct plx_board *board, enum plx_distortion model)
{
    *guide = (struct plx_guide){.state = PLX_GUIDE_NONE};
    const int result = plx_boards_open(&guide->boards, board, model);
    if (result < 0)
        return result;
    guide->before = calloc((size_t)plx_board_corners(board), sizeof *guide->before);
    if (guide->before)
        return 0;
    plx_guide_close(guide);
    return PLX_ERR_NOMEM;
}

void plx_guide_close(struct plx_guide *guide)
{
    plx_boards_close(&guide->boards);
    plx_sighting_close(&guide->sighting);
    free(guide->before);
    guide->before = NULL;
}

/* --- the last pair --------------------------------------------------------------------------------------------------- */

/* Mean distance between the corners that both show, in widths of the picture; INFINITY: there are none. */
static double distance(const struct plx_guide *guide, const double (*one)[2], const double (*other)[2])
{
    double sum = 0;
    int count = 0;
    for (int k = 0; k < plx_board_corners(&guide->boards.board); k++)
        if (plx_board_is_found(one[k]) && plx_board_is_found(other[k])) {
            sum += hypot(one[k][0] - other[k][0], one[k][1] - other[k][1]);
            count++;
        }
    return count > 0 ? sum / count / guide->boards.options.width : INFINITY;
}

static void measure_motion(struct plx_guide *guide, int64_t capture_ns)
{
    const double(*now)[2] = (const double(*)[2])guide->boards.corner[PLX_LEFT];
    const double seconds = 1e-9 * (double)(capture_ns - guide->before_ns);
    guide->speed = guide->before_ns > 0 ? distance(guide, now, (const double(*)[2])guide->before) / seconds : INFINITY;
    if (guide->speed >= STILL)
        guide->still_ns = 0;
    else if (guide->still_ns == 0)
        guide->still_ns = guide->before_ns;
    memcpy(guide->before, now, (size_t)plx_board_corners(&guide->boards.board) * sizeof *now);
    guide->before_ns = capture_ns;
}

/* The focal length is that of the kept pairs, once there are a few. */
static enum plx_guide_tilt find_tilt(const struct plx_guide *guide)
{
    const struct plx_boards *boards = &guide->boards;
    const struct plx_board_pair pair = {{(const double(*)[2])boards->corner[PLX_LEFT], NULL}};
    struct plx_camera camera = {.width = boards->options.width, .height = boards->options.height};
    struct plx_error_message why;
    struct plx_pose pose;
    const bool kept = boards->count >= PLX_RIG_MIN_PAIRS;
    if (plx_initial_camera(&boards->board, kept ? boards->pair : &pair, kept ? boards->count : 1, PLX_LEFT, &camera, &why) <
            0 ||
        plx_initial_pose(&boards->board, &pair, PLX_LEFT, &camera, &pose) < 0)
        return PLX_TILT_NONE;
    const double right = pose.rotation[2], top = -pose.rotation[5]; /* where the board's back faces: that side is nearer */
    if (hypot(right, top) < TILTED)
        return PLX_TILT_NONE;
    if (fabs(right) > fabs(top))
        return right > 0 ? PLX_TILT_RIGHT : PLX_TILT_LEFT;
    return top > 0 ? PLX_TILT_TOP : PLX_TILT_BOTTOM;
}

/* Which of COUNT equal parts of SIZE px has AT; what lies outside counts for the nearest. */
static int part_of(double at, int size, int count)
{
    const int part = (int)(at * count / size);
    return part < 0 ? 0 : part < count ? part : count - 1;
}

static int *part_at(struct plx_guide *guide, int eye, const double corner[2])
{
    const struct plx_rig_options *size = &guide->boards.options;
    return &guide->part[eye][part_of(corner[1], size->height, PLX_GUIDE_ROWS)]
                       [part_of(corner[0], size->width, PLX_GUIDE_COLUMNS)];
}

/* True if the board is tilted or lies in a part as in no kept pair, or has moved since each of them. */
static bool is_new(struct plx_guide *guide)
{
    const struct plx_boards *boards = &guide->boards;
    if (guide->tilt != PLX_TILT_NONE && guide->tilted[guide->tilt] == 0)
        return true;
    for (int eye = 0; eye < PLX_EYES; eye++)
        for (int k = 0; k < plx_board_corners(&boards->board); k++)
            if (plx_board_is_found(boards->corner[eye][k]) && *part_at(guide, eye, boards->corner[eye][k]) == 0)
                return true;
    for (int p = 0; p < boards->count; p++)
        if (distance(guide, boards->pair[p].corner[PLX_LEFT], (const double(*)[2])boards->corner[PLX_LEFT]) < NEW)
            return false;
    return true;
}

static int keep(struct plx_guide *guide)
{
    const struct plx_boards *boards = &guide->boards;
    const int result = plx_boards_keep(&guide->boards);
    if (result < 0)
        return result;
    for (int eye = 0; eye < PLX_EYES; eye++) {
        bool counted[PLX_GUIDE_ROWS * PLX_GUIDE_COLUMNS] = {false};
        for (int k = 0; k < plx_board_corners(&boards->board); k++) {
            if (!plx_board_is_found(boards->corner[eye][k]))
                continue;
            int *part = part_at(guide, eye, boards->corner[eye][k]);
            bool *once = &counted[part - &guide->part[eye][0][0]];
            *part += !*once;
            *once = true;
        }
    }
    if (guide->tilt != PLX_TILT_NONE)
        guide->tilted[guide->tilt]++;
    return 0;
}

static double max_edge_px(const struct plx_guide *guide)
{
    return fmax(MAX_EDGE_PX, MAX_EDGE * guide->boards.options.width);
}

/* After a pair without the board: sees at times what is there instead. */
static int detect_other_boards(struct plx_guide *guide, const struct plx_image image[PLX_EYES],
                               struct plx_error_message *message)
{
    guide->misses++;
    if (guide->boards.count > 0 || guide->misses % MISSES != 0)
        return 0;
    const int result = plx_sighting_detect(&guide->sighting, &image[PLX_LEFT]);
    return result < 0 ? plx_fail(message, result, "%s", plx_strerror(result)) : 0;
}

int plx_guide_judge(struct plx_guide *guide, const struct plx_image image[PLX_EYES], int64_t capture_ns,
                    struct plx_error_message *message)
{
    struct plx_boards *boards = &guide->boards;
    int result = plx_boards_detect(boards, image, message);
    for (int eye = 0; eye < PLX_EYES; eye++)
        guide->edge_px[eye] =
            boards->seen[eye] ? plx_edge_width(&image[eye], &boards->board, (const double(*)[2])boards->corner[eye]) : 0;
    guide->tilt = PLX_TILT_NONE;
    if (result < 0) {
        guide->before_ns = guide->still_ns = 0;
        guide->speed = INFINITY;
        guide->state = boards->seen[PLX_LEFT] || boards->seen[PLX_RIGHT] ? PLX_GUIDE_ONE_EYE : PLX_GUIDE_NONE;
        return result == PLX_ERR_NOT_FOUND ? detect_other_boards(guide, image, message) : result;
    }
    guide->misses = 0;
    measure_motion(guide, capture_ns);
    guide->tilt = find_tilt(guide);
    if (fmax(guide->edge_px[PLX_LEFT], guide->edge_px[PLX_RIGHT]) > max_edge_px(guide)) {
        guide->state = PLX_GUIDE_BLURRED;
    } else if (guide->still_ns == 0 || capture_ns - guide->still_ns < HOLD_NS) {
        guide->state = PLX_GUIDE_MOVING;
    } else if (!is_new(guide)) {
        guide->state = PLX_GUIDE_FAMILIAR;
    } else {
        guide->state = PLX_GUIDE_KEPT;
        result = keep(guide);
    }
    return result < 0 ? plx_fail(message, result, "%s", plx_strerror(result)) : 0;
}

/* --- what is missing ------------------------------------------------------------------------------------------------- */

/* The first part that no kept pair shows; false: there is none. */
static bool find_missing(const struct plx_guide *guide, int *ret_eye, int *ret_row, int *ret_column)
{
    for (*ret_eye = 0; *ret_eye < PLX_EYES; ++*ret_eye)
        for (*ret_row = 0; *ret_row < PLX_GUIDE_ROWS; ++*ret_row)
            for (*ret_column = 0; *ret_column < PLX_GUIDE_COLUMNS; ++*ret_column)
                if (guide->part[*ret_eye][*ret_row][*ret_column] == 0)
                    return true;
    return false;
}

static enum plx_guide_tilt find_missing_tilt(const struct plx_guide *guide)
{
    int tilt = 0;
    while (tilt < PLX_TILTS && guide->tilted[tilt] >= PLX_GUIDE_TILTED)
        tilt++;
    return (enum plx_guide_tilt)tilt;
}

bool plx_guide_is_complete(const struct plx_guide *guide)
{
    int eye, row, column;
    return guide->boards.count >= PLX_GUIDE_PAIRS && !find_missing(guide, &eye, &row, &column) &&
           find_missing_tilt(guide) == PLX_TILT_NONE;
}

static void missing_text(const struct plx_guide *guide, char ret[PLX_GUIDE_ADVICE])
{
    static const char *const rows[PLX_GUIDE_ROWS] = {"top", "middle", "bottom"};
    static const char *const columns[PLX_GUIDE_COLUMNS] = {"left", "middle", "middle", "right"};
    int eye, row, column;
    const enum plx_guide_tilt tilt = find_missing_tilt(guide);
    if (find_missing(guide, &eye, &row, &column))
        snprintf(ret, PLX_GUIDE_ADVICE, "move the board to the %s %s of the %s picture", rows[row], columns[column],
                 eye == PLX_LEFT ? "left" : "right");
    else if (tilt != PLX_TILT_NONE)
        snprintf(ret, PLX_GUIDE_ADVICE, "tilt the board: its %s side nearer to the cameras", plx_guide_tilt_word(tilt));
    else
        snprintf(ret, PLX_GUIDE_ADVICE, "move the board anywhere: more pairs make it more certain");
}

void plx_guide_advice(const struct plx_guide *guide, char ret[PLX_GUIDE_ADVICE])
{
    const bool tags = guide->boards.board.kind == PLX_BOARD_TAGS, left = guide->boards.seen[PLX_LEFT];
    char seen[PLX_SIGHTING_TEXT] = "";
    const int blurred = guide->edge_px[PLX_RIGHT] > guide->edge_px[PLX_LEFT] ? PLX_RIGHT : PLX_LEFT;
    switch (guide->state) {
    case PLX_GUIDE_NONE:
        if (guide->boards.count == 0 && guide->misses >= MISSES)
            plx_boards_sighting_text(&guide->boards, &guide->sighting, seen);
        snprintf(ret, PLX_GUIDE_ADVICE, "show %s to both cameras%s%s", tags ? "at least four tags" : "the whole board",
                 *seen ? "; " : "", seen);
        return;
    case PLX_GUIDE_ONE_EYE: /* what is near lies farther to the left in the right picture */
        snprintf(ret, PLX_GUIDE_ADVICE,
                 "only the %s picture shows the board: move it to the %s in the pictures, or away from the cameras",
                 left ? "left" : "right", left ? "right" : "left");
        return;
    case PLX_GUIDE_BLURRED:
        snprintf(ret, PLX_GUIDE_ADVICE,
                 "the %s picture is blurred: edges are %.1f px wide, expected at most %.1f; hold still, add light, or focus",
                 blurred == PLX_LEFT ? "left" : "right", guide->edge_px[blurred], max_edge_px(guide));
        return;
    case PLX_GUIDE_MOVING:
        snprintf(ret, PLX_GUIDE_ADVICE, "hold the board still");
        return;
    default:
        missing_text(guide, ret);
    }
}

const char *plx_guide_state_word(enum plx_guide_state state)
{
    static const char *const words[PLX_GUIDE_STATES] = {"none", "one_eye", "blurred", "moving", "familiar", "kept"};
    return words[state];
}

const char *plx_guide_tilt_word(enum plx_guide_tilt tilt)
{
    static const char *const words[PLX_TILTS + 1] = {"left", "right", "top", "bottom", "none"};
    return words[tilt];
}
