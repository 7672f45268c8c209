/* SPDX-License-Identifier: Apache-2.0 */
/* A person who holds a board before a stereo camera and does what the guide of a live calibration says, in drawn pictures. */
#ifndef PLX_TESTS_BOARD_PERSON_H
#define PLX_TESTS_BOARD_PERSON_H

#include "app/calibrate/guide.h"
#include "core/geometry/matrix3.h"
#include "tests/board_render.h"

#define WIDTH 640
#define HEIGHT 480

static const struct plx_camera cameras[PLX_EYES] = {
    {WIDTH, HEIGHT, 520, 522, 315, 236, PLX_DISTORTION_PLUMB_BOB, {-0.2, 0.05, 0.0005, -0.0005}},
    {WIDTH, HEIGHT, 525, 523, 326, 244, PLX_DISTORTION_PLUMB_BOB, {-0.18, 0.04, -0.0003, 0.0004}}};
static const struct plx_pose right_from_left = {.rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}, .translation = {-0.1, 0.001, -0.002}};
static uint8_t pixels[PLX_EYES][HEIGHT][WIDTH];
static const struct plx_image shown[PLX_EYES] = {{pixels[0], WIDTH, HEIGHT, WIDTH, PLX_U8},
                                                 {pixels[1], WIDTH, HEIGHT, WIDTH, PLX_U8}};
static uint64_t seed = 7;
static struct plx_guide guide;

static inline struct plx_pose pose_at(double x, double y, double z, double about_x, double about_y)
{
    struct plx_pose pose;
    const double turn[3] = {about_x, about_y, 0}, middle[3] = {-0.08, -0.05, 0};
    plx_mat3_from_vector(turn, pose.rotation);
    plx_mat3_apply(pose.rotation, middle, pose.translation);
    pose.translation[0] += x;
    pose.translation[1] += y;
    pose.translation[2] += z;
    return pose;
}

static inline void draw_board(const struct plx_board *board, const struct plx_pose *pose)
{
    struct plx_pose right;
    plx_pose_compose(&right_from_left, pose, &right);
    board_render(board, pose, &cameras[PLX_LEFT], 1, &seed, &shown[PLX_LEFT]);
    board_render(board, &right, &cameras[PLX_RIGHT], 1, &seed, &shown[PLX_RIGHT]);
}

static inline void draw(const struct plx_pose *pose)
{
    draw_board(&guide.boards.board, pose);
}

/* Whether a board at POSE is whole in both pictures, and has a corner in that part of one. */
static inline bool shows(const struct plx_pose *pose, int eye, int row, int column)
{
    struct plx_pose in_eye[PLX_EYES] = {*pose};
    bool there = false;
    plx_pose_compose(&right_from_left, pose, &in_eye[PLX_RIGHT]);
    for (int e = 0; e < PLX_EYES; e++)
        for (int k = 0; k < plx_board_corners(&guide.boards.board); k++) {
            double point[3], in[3], u, v;
            plx_board_point(&guide.boards.board, k, point);
            plx_pose_apply(&in_eye[e], point, in);
            plx_camera_project(&cameras[e], in[0] / in[2], in[1] / in[2], &u, &v);
            if (!(u > 15 && v > 15 && u < WIDTH - 16 && v < HEIGHT - 16))
                return false;
            there = there ||
                    (e == eye && (int)(u * PLX_GUIDE_COLUMNS / WIDTH) == column && (int)(v * PLX_GUIDE_ROWS / HEIGHT) == row);
        }
    return there;
}

/* Does what the guide asks for: the first missing part, else the first missing tilt, else anything. */
static inline struct plx_pose obey(void)
{
    static const double about[PLX_TILTS + 1][2] = {{0, -0.5}, {0, 0.5}, {0.5, 0}, {-0.5, 0}, {0, 0}};
    int eye = 0, row = 1, column = 1, tilt = 0;
    for (int part = 0; part < PLX_EYES * PLX_GUIDE_ROWS * PLX_GUIDE_COLUMNS; part++)
        if ((&guide.part[0][0][0])[part] == 0) {
            eye = part / (PLX_GUIDE_ROWS * PLX_GUIDE_COLUMNS);
            row = part / PLX_GUIDE_COLUMNS % PLX_GUIDE_ROWS;
            column = part % PLX_GUIDE_COLUMNS;
            break;
        }
    while (tilt < PLX_TILTS && guide.tilted[tilt] >= PLX_GUIDE_TILTED)
        tilt++;
    for (;;) {
        const double z = board_uniform(&seed, 0.3, 0.6);
        const struct plx_pose pose =
            pose_at(board_uniform(&seed, -0.5, 0.6) * z, board_uniform(&seed, -0.4, 0.4) * z, z,
                    about[tilt][0] + board_uniform(&seed, -0.15, 0.15), about[tilt][1] + board_uniform(&seed, -0.15, 0.15));
        if (shows(&pose, eye, row, column))
            return pose;
    }
}

#endif
