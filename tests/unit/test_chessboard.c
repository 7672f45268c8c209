/* SPDX-License-Identifier: Apache-2.0 */
/* Chessboards in drawn pictures: all are found, where they are; none where there is none, or not all of one. */
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "app/calibrate/chessboard.h"
#include "core/geometry/matrix3.h"
#include "tests/board_render.h"
#include "tests/cmocka.h"

#define WIDTH 640
#define HEIGHT 480
#define PICTURES 60

static uint8_t pixels[HEIGHT][WIDTH];
static const struct plx_image picture = {pixels, WIDTH, HEIGHT, WIDTH, PLX_U8};
static const struct plx_camera camera = {
    WIDTH, HEIGHT, 520, 522, 315, 236, PLX_DISTORTION_PLUMB_BOB, {-0.2, 0.05, 0.0005, -0.0005}};
static uint64_t seed = 1;

static void project(const struct plx_board *board, const struct plx_pose *pose, int k, double ret[2])
{
    double point[3], in[3];
    plx_board_point(board, k, point);
    plx_pose_apply(pose, point, in);
    plx_camera_project(&camera, in[0] / in[2], in[1] / in[2], &ret[0], &ret[1]);
}

/* Anywhere in the picture, tilted up to 45 degrees, turned about the view by up to TURN. */
static void random_pose(const struct plx_board *board, double turn, struct plx_pose *ret)
{
    for (bool inside = false; !inside;) {
        const double v[3] = {board_uniform(&seed, -0.75, 0.75), board_uniform(&seed, -0.75, 0.75),
                             board_uniform(&seed, -turn, turn)};
        const double middle[3] = {-board->square_m * (board->columns - 1) / 2, -board->square_m * (board->rows - 1) / 2, 0};
        const double depth = board_uniform(&seed, 0.3, 0.9);
        plx_mat3_from_vector(v, ret->rotation);
        plx_mat3_apply(ret->rotation, middle, ret->translation);
        ret->translation[0] += board_uniform(&seed, -0.5, 0.5) * depth;
        ret->translation[1] += board_uniform(&seed, -0.4, 0.4) * depth;
        ret->translation[2] += depth;
        inside = true;
        for (int k = 0; k < plx_board_corners(board); k++) {
            double corner[2];
            project(board, ret, k, corner);
            inside = inside && corner[0] > 12 && corner[1] > 12 && corner[0] < WIDTH - 13 && corner[1] < HEIGHT - 13;
        }
    }
}

/* Root mean square distance of CORNER from the truth, in the order or in the reverse order. */
static double error_of(const struct plx_board *board, const struct plx_pose *pose, const double (*corner)[2])
{
    const int count = plx_board_corners(board);
    double sum[2] = {0};
    for (int k = 0; k < count; k++) {
        double truth[2];
        project(board, pose, k, truth);
        for (int turned = 0; turned < 2; turned++) {
            const double *at = corner[turned ? count - 1 - k : k];
            sum[turned] += (at[0] - truth[0]) * (at[0] - truth[0]) + (at[1] - truth[1]) * (at[1] - truth[1]);
        }
    }
    return sqrt((sum[0] < sum[1] ? sum[0] : sum[1]) / count);
}

static void all_boards_are_found(void **state)
{
    (void)state;
    static const struct plx_board boards[] = {CHESS(9, 6, 0.03), CHESS(8, 5, 0.04), CHESS(6, 9, 0.03), CHESS(7, 6, 0.035)};
    static double corner[PLX_BOARD_MAX_SIDE * PLX_BOARD_MAX_SIDE][2];
    int found = 0;
    double sum = 0;
    for (int i = 0; i < PICTURES; i++) {
        const struct plx_board *board = &boards[i % 4];
        struct plx_pose pose;
        random_pose(board, i % 2 ? 3.1 : 0.3, &pose);
        board_render(board, &pose, &camera, 3, &seed, &picture);
        if (plx_chessboard_find(&picture, board, corner) < 0)
            continue;
        const double error = error_of(board, &pose, (const double(*)[2])corner);
        if (!(error < 0.3))
            fail_msg("picture %d: corners are %.2f px from the truth", i, error);
        sum += error;
        found++;
    }
    print_message("%d of %d found, %.3f px from the truth\n", found, PICTURES, sum / found);
    assert_true(found * 100 >= PICTURES * 98);
    assert_true(sum / found < 0.08);
}

static void none_where_none_is(void **state)
{
    (void)state;
    static double corner[9 * 6][2];
    const struct plx_board board = CHESS(9, 6, 0.03), larger = CHESS(10, 7, 0.027);
    struct plx_pose pose;
    memset(pixels, 0, sizeof pixels);
    assert_int_equal(plx_chessboard_find(&picture, &board, corner), PLX_ERR_NOT_FOUND);
    memset(pixels, 255, sizeof pixels);
    assert_int_equal(plx_chessboard_find(&picture, &board, corner), PLX_ERR_NOT_FOUND);
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        pixels[i / WIDTH][i % WIDTH] = (uint8_t)board_uniform(&seed, 0, 256);
    assert_int_equal(plx_chessboard_find(&picture, &board, corner), PLX_ERR_NOT_FOUND);
    for (int i = 0; i < WIDTH * HEIGHT; i++) /* texture */
        pixels[i / WIDTH][i % WIDTH] = (uint8_t)(128 + 100 * sin(i % WIDTH / 7.0) * cos(i / WIDTH / 5.0));
    assert_int_equal(plx_chessboard_find(&picture, &board, corner), PLX_ERR_NOT_FOUND);
    random_pose(&larger, 0.3, &pose); /* another board */
    board_render(&larger, &pose, &camera, 3, &seed, &picture);
    assert_int_equal(plx_chessboard_find(&picture, &board, corner), PLX_ERR_NOT_FOUND);
    random_pose(&board, 0.3, &pose); /* a hand covers a corner and what is around it */
    board_render(&board, &pose, &camera, 3, &seed, &picture);
    double covered[2], next[2];
    project(&board, &pose, 20, covered);
    project(&board, &pose, 21, next);
    const int half = (int)hypot(next[0] - covered[0], next[1] - covered[1]);
    for (int y = -half; y <= half; y++)
        for (int x = -half; x <= half; x++)
            if ((int)covered[1] + y >= 0 && (int)covered[1] + y < HEIGHT && (int)covered[0] + x >= 0 &&
                (int)covered[0] + x < WIDTH)
                pixels[(int)covered[1] + y][(int)covered[0] + x] = 120;
    assert_int_equal(plx_chessboard_find(&picture, &board, corner), PLX_ERR_NOT_FOUND);
}

static void small_and_odd_pictures(void **state)
{
    (void)state;
    static double corner[9 * 6][2];
    const struct plx_board board = CHESS(9, 6, 0.03);
    static const int sizes[][2] = {{1, 1}, {2, 7}, {7, 2}, {18, 18}, {19, 477}, {513, 21}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const struct plx_image small = {pixels, sizes[i][0], sizes[i][1], WIDTH, PLX_U8};
        assert_int_equal(plx_chessboard_find(&small, &board, corner), PLX_ERR_NOT_FOUND);
    }
}

/* The other eye sees the board moved; its corners may come from the other end, those of a square board from any corner. */
static void the_other_eye_gets_the_same_order(void **state)
{
    (void)state;
    static const struct plx_board boards[] = {CHESS(4, 3, 0.03), CHESS(4, 4, 0.03)};
    for (int b = 0; b < 2; b++)
        for (int quarters = 0; quarters < 4; quarters += 2 - b) {
            const int columns = 4, rows = boards[b].rows, count = columns * rows;
            double left[16][2], right[16][2];
            for (int k = 0; k < count; k++) {
                int to = k;
                for (int i = 0; i < quarters; i += 2 - b) /* by a quarter, or by a half */
                    to = b ? to % columns * columns + columns - 1 - to / columns : count - 1 - to;
                left[k][0] = 100 + 20 * (k % columns);
                left[k][1] = 100 + 21 * (k / columns);
                right[to][0] = left[k][0] - 30 + 0.1 * k;
                right[to][1] = left[k][1] + 2;
            }
            plx_chessboard_turn(&boards[b], (const double(*)[2])left, right);
            for (int k = 0; k < count; k++)
                assert_true(fabs(right[k][0] - left[k][0] + 30 - 0.1 * k) < 1e-9 && right[k][1] == left[k][1] + 2);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_boards_are_found),
        cmocka_unit_test(none_where_none_is),
        cmocka_unit_test(small_and_odd_pictures),
        cmocka_unit_test(the_other_eye_gets_the_same_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
