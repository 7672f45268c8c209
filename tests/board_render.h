/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures of a chessboard by a known camera, for tests of the calibration: with blur by sampling, and noise. */
#ifndef PLX_TESTS_BOARD_RENDER_H
#define PLX_TESTS_BOARD_RENDER_H

#include <math.h>
#include <stdint.h>

#include "app/calibrate/board.h"
#include "core/base/image.h"
#include "core/geometry/calibration.h"
#include "core/motion/pose.h"

#define BOARD_SAMPLES 3 /* of a pixel, along rows and columns */

/* Uniform in LOW .. HIGH (Knuth's MMIX generator). */
static inline double board_uniform(uint64_t *seed, double low, double high)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * (double)(*seed >> 11) / (double)(UINT64_C(1) << 53);
}

/* Grey value of the plane of the board at X, Y, in squares from the first inner corner: squares, a white margin, a wall. */
static inline double board_colour(const struct plx_board *board, double x, double y)
{
    if (x < -2 || y < -2 || x > board->columns + 1 || y > board->rows + 1)
        return 110 + 30 * sin(3.1 * x) * cos(2.3 * y);
    if (x < -1 || y < -1 || x > board->columns || y > board->rows)
        return 215;
    return ((int)floor(x) + (int)floor(y)) % 2 == 0 ? 35 : 215;
}

/* The board at POSE (camera_from_board), seen by CAMERA, into IMAGE (U8, of the camera's size), with NOISE grey levels. */
static inline void board_render(const struct plx_board *board, const struct plx_pose *pose, const struct plx_camera *camera,
                                double noise, uint64_t *seed, const struct plx_image *image)
{
    struct plx_pose board_from_camera;
    plx_pose_invert(pose, &board_from_camera);
    const double *origin = board_from_camera.translation, *r = board_from_camera.rotation;
    for (int y = 0; y < image->height; y++) {
        uint8_t *row = plx_row(image, y);
        for (int x = 0; x < image->width; x++) {
            double sum = 0;
            for (int s = 0; s < BOARD_SAMPLES * BOARD_SAMPLES; s++) {
                double a, b;
                plx_camera_unproject(camera, x + (s % BOARD_SAMPLES + 0.5) / BOARD_SAMPLES - 0.5,
                                     y + (s / BOARD_SAMPLES + 0.5) / BOARD_SAMPLES - 0.5, &a, &b);
                const double down = r[6] * a + r[7] * b + r[8], along = -origin[2] / down;
                const double u = origin[0] + along * (r[0] * a + r[1] * b + r[2]),
                             v = origin[1] + along * (r[3] * a + r[4] * b + r[5]);
                sum += along > 0 ? board_colour(board, u / board->square_m, v / board->square_m) : 110;
            }
            double normal = -6; /* of twelve uniform numbers */
            for (int i = 0; i < 12; i++)
                normal += board_uniform(seed, 0, 1);
            const double value = sum / (BOARD_SAMPLES * BOARD_SAMPLES) + noise * normal;
            row[x] = (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : lround(value));
        }
    }
}

#endif
