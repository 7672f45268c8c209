/* SPDX-License-Identifier: Apache-2.0 */
/* Grids of AprilTags in drawn pictures: every corner is near its true place, and has its true number. */
#include <string.h>

#include <parallax/error.h>

#include "app/calibrate/tags.h"
#include "core/geometry/matrix3.h"
#include "tests/board_render.h"
#include "tests/cmocka.h"

#define WIDTH 640
#define HEIGHT 480
#define PICTURES 24

static const struct plx_camera camera = {WIDTH, HEIGHT, 520, 522, 315, 236, PLX_DISTORTION_PLUMB_BOB, {-0.2, 0.05, 0.0005}};
static const struct plx_board board = TAGS(4, 3, 0.05, 0.015);
static uint8_t pixels[HEIGHT][WIDTH];
static const struct plx_image picture = {pixels, WIDTH, HEIGHT, WIDTH, PLX_U8};
static double corner[4 * 6 * 6][2]; /* corners of the largest board that is looked for */
static uint64_t seed = 5;
static struct plx_tags *tags;

static void random_pose(double max_turn, double depth, struct plx_pose *ret)
{
    const double turn[3] = {board_uniform(&seed, -0.7, 0.7), board_uniform(&seed, -0.7, 0.7),
                            board_uniform(&seed, -max_turn, max_turn)};
    const double middle[3] = {-0.125, -0.09, 0};
    plx_mat3_from_vector(turn, ret->rotation);
    plx_mat3_apply(ret->rotation, middle, ret->translation);
    ret->translation[0] += board_uniform(&seed, -0.15, 0.15) * depth;
    ret->translation[1] += board_uniform(&seed, -0.1, 0.1) * depth;
    ret->translation[2] += depth;
}

/* Where corner K is; returns how far from there it was found. */
static double error_of(const struct plx_pose *pose, int k)
{
    double point[3], in[3], u, v;
    plx_board_point(&board, k, point);
    plx_pose_apply(pose, point, in);
    plx_camera_project(&camera, in[0] / in[2], in[1] / in[2], &u, &v);
    return hypot(corner[k][0] - u, corner[k][1] - v);
}

static int begin(void **state)
{
    (void)state;
    return plx_tags_create(&tags);
}

static int end(void **state)
{
    (void)state;
    plx_tags_destroy(tags);
    return 0;
}

/* Tags as libapriltag draws them and as Kalibr does, however the board is turned. */
static void corners_are_found_under_their_numbers(void **state)
{
    (void)state;
    for (int kalibr = 0; kalibr < 2; kalibr++) {
        double sum = 0;
        int found = 0;
        board_is_kalibrs = kalibr;
        for (int i = 0; i < PICTURES; i++) {
            struct plx_pose pose;
            random_pose(i % 2 ? 3.1 : 0.3, 0.5, &pose);
            board_render(&board, &pose, &camera, 3, &seed, &picture);
            if (plx_tags_find(tags, &picture, &board, corner) < 0)
                continue;
            assert_float_equal(plx_tags_seen(tags)->gap, 0.3, 0.03);
            for (int k = 0; k < plx_board_corners(&board); k++) {
                if (!plx_board_is_found(corner[k]))
                    continue;
                const double error = error_of(&pose, k);
                if (!(error < 1.5))
                    fail_msg("picture %d, corner %d: %.2f px from the truth", i, k, error);
                sum += error;
                found++;
            }
        }
        print_message("%s: %d of %d found, %.3f px from the truth\n", kalibr ? "Kalibr's" : "libapriltag's", found,
                      PICTURES * plx_board_corners(&board), sum / found);
        assert_true(found * 100 >= PICTURES * plx_board_corners(&board) * (kalibr ? 80 : 98)); /* Kalibr's bits are smaller */
        assert_true(sum / found < 0.12);
    }
    board_is_kalibrs = false;
}

/* The tags that a picture shows, and no others. */
static void hidden_tags_are_not_found(void **state)
{
    (void)state;
    const struct plx_pose pose = {.rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}, .translation = {-0.125, -0.09, 0.4}};
    board_render(&board, &pose, &camera, 1, &seed, &picture);
    for (int y = 0; y < HEIGHT; y++)
        memset(pixels[y], 120, WIDTH / 2);
    assert_int_equal(plx_tags_find(tags, &picture, &board, corner), 0);
    for (int k = 0; k < plx_board_corners(&board); k++)
        assert_int_equal(plx_board_is_found(corner[k]), k / 4 % 4 >= 2);
}

static void none_where_none_is(void **state)
{
    (void)state;
    const struct plx_board line = TAGS(12, 2, 0.02, 0.006);
    const struct plx_pose pose = {.rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}, .translation = {-0.125, -0.09, 0.4}};
    const struct plx_image tiny = {pixels, 7, 5, WIDTH, PLX_U8}, one = {pixels, 1, 1, WIDTH, PLX_U8};
    for (int fill = 0; fill < 256; fill += 255) {
        memset(pixels, fill, sizeof pixels);
        assert_int_equal(plx_tags_find(tags, &picture, &board, corner), PLX_ERR_NOT_FOUND);
    }
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        pixels[i / WIDTH][i % WIDTH] = (uint8_t)board_uniform(&seed, 0, 256);
    assert_int_equal(plx_tags_find(tags, &picture, &board, corner), PLX_ERR_NOT_FOUND);
    assert_int_equal(plx_tags_find(tags, &tiny, &board, corner), PLX_ERR_NOT_FOUND);
    assert_int_equal(plx_tags_find(tags, &one, &board, corner), PLX_ERR_NOT_FOUND);

    const struct plx_board chess = CHESS(9, 6, 0.03);
    board_render(&chess, &pose, &camera, 1, &seed, &picture);
    assert_int_equal(plx_tags_find(tags, &picture, &board, corner), PLX_ERR_NOT_FOUND);

    board_render(&line, &pose, &camera, 1, &seed, &picture); /* from its upper row alone nobody knows how the rows go */
    for (int y = 0; y < HEIGHT; y++)
        if (y > 140)
            memset(pixels[y], 120, WIDTH);
    static double corners[4 * 12 * 2][2];
    assert_int_equal(plx_tags_find(tags, &picture, &line, corners), PLX_ERR_NOT_FOUND);
}

/* The corners of a board whose numbers begin at FIRST; returns how many are where they belong, or an error. */
static int find_from(int first, const struct plx_board *asked)
{
    const struct plx_pose pose = {.rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}, .translation = {-0.125, -0.09, 0.4}};
    int right = 0;
    board_first_tag = first;
    board_render(&board, &pose, &camera, 1, &seed, &picture);
    board_first_tag = 0;
    plx_tags_destroy(tags);
    assert_int_equal(plx_tags_create(&tags), 0);
    const int result = plx_tags_find(tags, &picture, asked, corner);
    for (int k = 0; k < plx_board_corners(&board) && result == 0; k++)
        right += plx_board_is_found(corner[k]) && error_of(&pose, k) < 1.5;
    return result < 0 ? result : right;
}

static void numbers_may_begin_anywhere(void **state)
{
    (void)state;
    static const int firsts[] = {0, 12, 3, 36, 41, 575};
    for (size_t i = 0; i < sizeof firsts / sizeof *firsts; i++) {
        assert_int_equal(find_from(firsts[i], &board), plx_board_corners(&board));
        assert_int_equal(plx_tags_seen(tags)->min_id, firsts[i]);
        assert_int_equal(plx_tags_seen(tags)->max_id, firsts[i] + 11);
    }
}

/* Sides that are swapped, and other sizes: the picture tells the rows that it shows. */
static void another_arrangement_is_not_found_but_seen(void **state)
{
    (void)state;
    static const struct plx_board others[] = {TAGS(3, 4, 0.05, 0.015), TAGS(6, 6, 0.05, 0.015), TAGS(2, 2, 0.05, 0.015)};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_int_equal(find_from(0, &others[i]), PLX_ERR_NOT_FOUND);
        assert_int_equal(plx_tags_seen(tags)->columns, 4);
        assert_int_equal(plx_tags_seen(tags)->max_id, 11);
        assert_false(plx_tags_seen(tags)->is_charuco);
    }
}

static void a_wrong_gap_is_not_found_but_measured(void **state)
{
    (void)state;
    static const double gaps_m[] = {0.005, 0.022, 0.3};
    for (size_t i = 0; i < sizeof gaps_m / sizeof *gaps_m; i++) {
        const struct plx_board other = TAGS(4, 3, 0.05, gaps_m[i]);
        assert_int_equal(find_from(0, &other), PLX_ERR_NOT_FOUND);
        assert_float_equal(plx_tags_seen(tags)->gap, 0.3, 0.02);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(corners_are_found_under_their_numbers),
        cmocka_unit_test(hidden_tags_are_not_found),
        cmocka_unit_test(none_where_none_is),
        cmocka_unit_test(numbers_may_begin_anywhere),
        cmocka_unit_test(a_wrong_gap_is_not_found_but_measured),
        cmocka_unit_test(another_arrangement_is_not_found_but_seen),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
