/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures of a calibration board by a known camera, for tests of the calibration: with blur by sampling, and noise. */
#ifndef PLX_TESTS_BOARD_RENDER_H
#define PLX_TESTS_BOARD_RENDER_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <apriltag/apriltag.h>
#include <apriltag/tag36h11.h>

#include "app/calibrate/board.h"
#include "core/base/image.h"
#include "core/geometry/calibration.h"
#include "core/motion/pose.h"

#define BOARD_SAMPLES 3 /* samples of a pixel, along rows and columns */
#define CHESS(COLUMNS, ROWS, SQUARE_M)                                                                                         \
    {                                                                                                                          \
        COLUMNS, ROWS, SQUARE_M, PLX_BOARD_CHESS, 0                                                                            \
    }
#define TAGS(COLUMNS, ROWS, SIDE_M, GAP_M)                                                                                     \
    {                                                                                                                          \
        COLUMNS, ROWS, SIDE_M, PLX_BOARD_TAGS, GAP_M                                                                           \
    }

/* Uniform in LOW .. HIGH (Knuth's MMIX generator). */
static inline double board_uniform(uint64_t *seed, double low, double high)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * (double)(*seed >> 11) / (double)(UINT64_C(1) << 53);
}

/* Whether tag ID is black at X, Y, 0 .. 1 from its upper left corner, with a border of BITS: 1 as libapriltag draws it, or 2 as
 * Kalibr does, upside down. */
static inline bool board_tag_is_black(int id, int bits, double x, double y)
{
    static apriltag_family_t *family;
    static image_u8_t *drawn[587];
    if (!family)
        family = tag36h11_create();
    if (!drawn[id])
        drawn[id] = apriltag_to_image(family, (uint32_t)id);
    const int side = family->width_at_border, white = (family->total_width - side) / 2, wider = side + 2 * (bits - 1);
    int column = (int)(x * wider) - (bits - 1), row = (int)(y * wider) - (bits - 1);
    if (column < 0 || row < 0 || column >= side || row >= side)
        return true;
    if (bits == 2) {
        column = side - 1 - column;
        row = side - 1 - row;
    }
    return drawn[id]->buf[(row + white) * drawn[id]->stride + column + white] < 128;
}

/* True: boards of tags are Kalibr's, whose rows are numbered upwards, with small black squares between the tags. */
static bool board_is_kalibrs;

/* True: chessboards have tags in the white squares. */
static bool board_is_charuco;

/* Number of the first tag of boards of tags. */
static int board_first_tag;

/* -1 .. 1 like a sine, made of parabolas: the wall behind the board is most of a picture, and sin() took most of its time. */
static inline double board_wave(double turns)
{
    const double half = 2 * (turns - floor(turns)) - 1; /* -1 .. 1 over a turn */
    return 4 * half * (1 - fabs(half));
}

/* Grey value of the wall behind the board. */
static inline double board_wall(double x, double y)
{
    return 110 + 30 * board_wave(0.5 * x) * board_wave(0.4 * y + 0.25);
}

/* Grey value of a board of tags at X, Y, in tags from its upper left corner. */
static inline double board_tag_colour(const struct plx_board *board, double x, double y)
{
    const double gap = board->gap_m / board->square_m, step = 1 + gap;
    if (x < -2 * gap || y < -2 * gap || x > board->columns * step + gap || y > board->rows * step + gap)
        return board_wall(x, y);
    const double column = floor(x / step), row = floor(y / step), u = x - column * step, v = y - row * step;
    if (board_is_kalibrs && u > 1 && v > 1)
        return 35;
    if (u > 1 || v > 1 || column < 0 || row < 0 || column >= board->columns || row >= board->rows)
        return 215;
    const int down = board_is_kalibrs ? board->rows - 1 - (int)row : (int)row;
    return board_tag_is_black(board_first_tag + down * board->columns + (int)column, board_is_kalibrs ? 2 : 1, u, v) ? 35 : 215;
}

/* Grey value of the plane of the board at X, Y, in squares from the first corner: squares, a white margin, a wall. */
static inline double board_colour(const struct plx_board *board, double x, double y)
{
    if (board->kind == PLX_BOARD_TAGS)
        return board_tag_colour(board, x, y);
    if (x < -2 || y < -2 || x > board->columns + 1 || y > board->rows + 1)
        return board_wall(x, y);
    if (x < -1 || y < -1 || x > board->columns || y > board->rows)
        return 215;
    const int column = (int)floor(x), row = (int)floor(y);
    const double u = (x - column - 0.15) / 0.7, v = (y - row - 0.15) / 0.7;
    if ((column + row) % 2 == 0)
        return 35;
    if (!board_is_charuco || u < 0 || v < 0 || u >= 1 || v >= 1)
        return 215;
    return board_tag_is_black((row + 1) * (board->columns + 1) + column + 1, 1, u, v) ? 35 : 215;
}

/* The directions of a camera's samples, [height][width][BOARD_SAMPLES²][2], kept for the cameras used last: to find them takes
 * most of the time of a picture. */
static inline const double *board_rays(const struct plx_camera *camera)
{
    enum { KEPT = 4, SAMPLES = BOARD_SAMPLES * BOARD_SAMPLES };
    static struct {
        struct plx_camera camera;
        double *ray;
    } kept[KEPT];
    static int next;
    for (int i = 0; i < KEPT; i++)
        if (kept[i].ray && memcmp(&kept[i].camera, camera, sizeof *camera) == 0)
            return kept[i].ray;
    double *ray = realloc(kept[next].ray, (size_t)(camera->width * camera->height * SAMPLES) * 2 * sizeof *ray);
    if (!ray)
        abort();
    memcpy(&kept[next].camera, camera, sizeof *camera);
    kept[next].ray = ray;
    next = (next + 1) % KEPT;
    for (int i = 0; i < camera->width * camera->height * SAMPLES; i++) {
        const int pixel = i / SAMPLES, s = i % SAMPLES;
        plx_camera_unproject(camera, pixel % camera->width + (s % BOARD_SAMPLES + 0.5) / BOARD_SAMPLES - 0.5,
                             pixel / camera->width + (s / BOARD_SAMPLES + 0.5) / BOARD_SAMPLES - 0.5, &ray[2 * i],
                             &ray[2 * i + 1]);
    }
    return ray;
}

/* The board at POSE (camera_from_board), seen by CAMERA, into IMAGE (U8, of the camera's size), with NOISE grey levels. */
static inline void board_render(const struct plx_board *board, const struct plx_pose *pose, const struct plx_camera *camera,
                                double noise, uint64_t *seed, const struct plx_image *image)
{
    struct plx_pose board_from_camera;
    plx_pose_invert(pose, &board_from_camera);
    const double *origin = board_from_camera.translation, *r = board_from_camera.rotation;
    const double *ray = board_rays(camera);
    for (int y = 0; y < image->height; y++) {
        uint8_t *row = plx_row(image, y);
        for (int x = 0; x < image->width; x++) {
            double sum = 0;
            for (int s = 0; s < BOARD_SAMPLES * BOARD_SAMPLES; s++, ray += 2) {
                const double a = ray[0], b = ray[1];
                const double down = r[6] * a + r[7] * b + r[8], along = -origin[2] / down;
                const double u = origin[0] + along * (r[0] * a + r[1] * b + r[2]),
                             v = origin[1] + along * (r[3] * a + r[4] * b + r[5]);
                sum += along > 0 ? board_colour(board, u / board->square_m, v / board->square_m) : 110;
            }
            double normal = -6; /* sum of twelve uniform numbers */
            for (int i = 0; i < 12; i++)
                normal += board_uniform(seed, 0, 1);
            const double value = sum / (BOARD_SAMPLES * BOARD_SAMPLES) + noise * normal;
            row[x] = (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : lround(value));
        }
    }
}

#endif
