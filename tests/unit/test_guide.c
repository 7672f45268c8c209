/* SPDX-License-Identifier: Apache-2.0 */
/* The guide of a live calibration, with pictures drawn of a board in a person's hands: what it says, what it keeps, and that
 * who does what it says has a good calibration in the end. */
#include <string.h>

#include <parallax/error.h>

#include "app/calibrate/outcome.h"
#include "tests/board_person.h"
#include "tests/cmocka.h"

#define FRAME_NS 100000000
#define PAIRS 60 /* that the guide may ask for */

static const struct plx_board chess = CHESS(9, 6, 0.02), tags = TAGS(4, 3, 0.04, 0.012);
static uint8_t blurred[HEIGHT][WIDTH];
static int64_t now_ns = 1;

static enum plx_guide_state look(void)
{
    struct plx_error_message message;
    now_ns += FRAME_NS;
    assert_int_equal(plx_guide_judge(&guide, shown, now_ns, &message), 0);
    return guide.state;
}

/* The state after the board was held for half a second. */
static enum plx_guide_state hold(const struct plx_pose *pose)
{
    draw(pose);
    enum plx_guide_state state = look();
    for (int frame = 1; frame < 5 && state != PLX_GUIDE_KEPT; frame++)
        state = look();
    return state;
}

static void assert_advises(const char *words)
{
    char advice[PLX_GUIDE_ADVICE];
    plx_guide_advice(&guide, advice);
    if (!strstr(advice, words))
        fail_msg("\"%s\" does not say \"%s\"", advice, words);
}

static int begin_chess(void **state)
{
    (void)state;
    return plx_guide_open(&guide, &chess, PLX_DISTORTION_PLUMB_BOB);
}

static int begin_tags(void **state)
{
    (void)state;
    return plx_guide_open(&guide, &tags, PLX_DISTORTION_PLUMB_BOB);
}

static int end(void **state)
{
    (void)state;
    plx_guide_close(&guide);
    return 0;
}

static void it_says_what_is_wrong(void **state)
{
    (void)state;
    struct plx_pose pose = pose_at(0, 0, 0.4, 0.1, 0.1);
    memset(pixels, 90, sizeof pixels);
    assert_int_equal(look(), PLX_GUIDE_NONE);
    assert_advises("show the whole board");

    draw(&pose);
    assert_int_equal(look(), PLX_GUIDE_MOVING);
    assert_advises("hold the board still");
    assert_int_equal(hold(&pose), PLX_GUIDE_KEPT);
    assert_int_equal(look(), PLX_GUIDE_FAMILIAR);
    assert_advises("move the board to the top left of the left picture");
    assert_int_equal(guide.boards.count, 1);
    pose = pose_at(0, 0, 0.4, 0, 0.5);
    assert_int_equal(hold(&pose), PLX_GUIDE_KEPT); /* a tilt that is missing, and its second pair, another place */
    assert_int_equal(guide.tilted[PLX_TILT_RIGHT], 1);
    assert_int_equal(look(), PLX_GUIDE_FAMILIAR);
    assert_int_equal(guide.boards.count, 2);

    memset(pixels[PLX_RIGHT], 90, sizeof pixels[PLX_RIGHT]);
    assert_int_equal(look(), PLX_GUIDE_ONE_EYE);
    assert_advises("only the left picture shows the board: move it to the right");
    assert_int_equal(guide.boards.count, 2);
}

/* A guide that looks for ASKED and is shown HELD says WORDS. */
static void assert_sees(const struct plx_board *asked, const struct plx_board *held, const char *words)
{
    static const struct plx_pose pose = {.rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}, .translation = {-0.09, -0.06, 0.35}};
    plx_guide_close(&guide);
    assert_int_equal(plx_guide_open(&guide, asked, PLX_DISTORTION_PLUMB_BOB), 0);
    draw_board(held, &pose);
    for (int i = 0; i < 20; i++)
        assert_int_equal(look(), PLX_GUIDE_NONE);
    assert_advises(words);
    assert_int_equal(guide.boards.count, 0);
}

/* Who asked for another board than the one in view is told which one that is. */
static void it_says_what_other_board_is_there(void **state)
{
    (void)state;
    static const struct plx_board nine = CHESS(9, 6, 0.02), ten = CHESS(10, 7, 0.02), grid = TAGS(4, 3, 0.04, 0.012),
                                  swapped = TAGS(3, 4, 0.04, 0.012), wide = TAGS(4, 3, 0.04, 0.02);
    assert_sees(&ten, &nine, "they show a chessboard of 9 x 6 inner corners: is it --board 9x6?");
    assert_sees(&grid, &nine, "they show a chessboard of 9 x 6 inner corners: is it --board 9x6?");
    assert_sees(&nine, &grid, "tags with the numbers 0 to 11 in rows of 4: is it --tags 4x3");
    assert_sees(&swapped, &grid, "tags with the numbers 0 to 11 in rows of 4: is it --tags 4x3");
    assert_sees(&wide, &grid, "0.30 of their side apart, and --gap and --square say 0.50: is it --gap 0.012?");
    board_is_charuco = true;
    assert_sees(&ten, &nine, "a ChArUco board");
    assert_sees(&grid, &nine, "a ChArUco board");
    board_is_charuco = false;
    memset(pixels, 90, sizeof pixels);
    plx_guide_close(&guide);
    assert_int_equal(plx_guide_open(&guide, &nine, PLX_DISTORTION_PLUMB_BOB), 0);
    for (int i = 0; i < 20; i++)
        assert_int_equal(look(), PLX_GUIDE_NONE);
    char advice[PLX_GUIDE_ADVICE];
    plx_guide_advice(&guide, advice);
    assert_string_equal(advice, "show the whole board to both cameras");
}

/* Means of nine pixels along rows, as a fast hand makes them. */
static void what_is_blurred_is_not_kept(void **state)
{
    (void)state;
    const struct plx_pose pose = pose_at(0.03, 0.02, 0.35, 0.1, 0.1);
    draw(&pose);
    assert_int_equal(look(), PLX_GUIDE_MOVING);
    assert_true(guide.edge_px[PLX_LEFT] > 0.9 && guide.edge_px[PLX_LEFT] < 2);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            int sum = 0;
            for (int u = -4; u <= 4; u++)
                sum += pixels[PLX_RIGHT][y][x + u < 0 ? 0 : x + u >= WIDTH ? WIDTH - 1 : x + u];
            blurred[y][x] = (uint8_t)(sum / 9);
        }
    memcpy(pixels[PLX_RIGHT], blurred, sizeof blurred);
    for (int frame = 0; frame < 6; frame++)
        assert_int_equal(look(), PLX_GUIDE_BLURRED);
    print_message("    edges %.1f and %.1f px wide\n", guide.edge_px[PLX_LEFT], guide.edge_px[PLX_RIGHT]);
    assert_true(guide.edge_px[PLX_RIGHT] > 5 && guide.edge_px[PLX_RIGHT] < 12);
    assert_advises("the right picture is blurred");
    assert_int_equal(guide.boards.count, 0);
}

/* 4 % of the picture's width a second: 2.5 px from frame to frame. */
static void what_moves_is_not_kept(void **state)
{
    (void)state;
    for (int frame = 0; frame < 12; frame++) {
        const struct plx_pose pose = pose_at(0.002 * frame, 0, 0.4, 0.1, 0.1);
        draw(&pose);
        assert_int_equal(look(), PLX_GUIDE_MOVING);
    }
    assert_true(guide.speed > 0.03 && guide.speed < 0.05);
}

static void who_obeys_gets_a_good_calibration(void **state)
{
    (void)state;
    struct plx_error_message message;
    struct plx_outcome outcome;
    int asked = 0;
    for (; !plx_guide_is_complete(&guide) && asked < PAIRS; asked++) {
        const struct plx_pose pose = obey();
        hold(&pose);
    }
    if (plx_outcome_find(&guide.boards, &outcome, &message) < 0)
        fail_msg("%s", message.text);
    print_message("    %d poses, %d kept: rows %.3f px, held out %.3f, baseline %.2f mm, fx %.1f\n", asked, guide.boards.count,
                  outcome.rows, outcome.held_out, 1000 * outcome.baseline_m, outcome.calibration.camera[0].fx);
    assert_true(plx_guide_is_complete(&guide));
    assert_true(asked <= 2 * guide.boards.count);
    assert_string_equal(plx_outcome_verdict(&outcome), "good");
    assert_true(fabs(outcome.baseline_m / 0.10003 - 1) < 2e-3);
    assert_true(fabs(outcome.calibration.camera[0].fx / 520 - 1) < 3e-3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(it_says_what_is_wrong, begin_chess, end),
        cmocka_unit_test_setup_teardown(what_is_blurred_is_not_kept, begin_chess, end),
        cmocka_unit_test_setup_teardown(what_is_blurred_is_not_kept, begin_tags, end),
        cmocka_unit_test_setup_teardown(it_says_what_other_board_is_there, begin_chess, end),
        cmocka_unit_test_setup_teardown(what_moves_is_not_kept, begin_chess, end),
        cmocka_unit_test_setup_teardown(who_obeys_gets_a_good_calibration, begin_chess, end),
        cmocka_unit_test_setup_teardown(who_obeys_gets_a_good_calibration, begin_tags, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
