/* SPDX-License-Identifier: Apache-2.0 */
/* What a nearer obstacle hides of another one, on records that are made up, and where the visible sides say that it is. */
#include "core/tracks/sides.h"

#include <math.h>
#include <string.h>

#include "tests/cmocka.h"

static const struct plx_calibration_info calibration = {512, 512, 320, 240, 320, 0.12};

/* 4 m ahead, where the disparity is 15.36 px; columns 300 to 400, rows 100 to 300. */
static const struct plx_obstacle near_thing = {.x = 300, .y = 100, .width = 100, .height = 200, .position_m = {0, 0, 4}};

static void assert_cover(const struct plx_track_cover *cover, bool any, bool left, bool right)
{
    assert_int_equal(cover->any, any);
    assert_int_equal(cover->hidden[PLX_TRACK_LEFT], left);
    assert_int_equal(cover->hidden[PLX_TRACK_RIGHT], right);
    assert_int_equal(plx_track_cover_hides(cover), left || right);
}

static void a_nearer_thing_covers_what_it_borders(void **state)
{
    (void)state;
    static const struct {
        int x, y, width, height;
        float z;
        bool any, left, right;
    } cases[] = {
        /* 2 m behind it, and not less */
        {350, 100, 100, 200, 6.01F, true, true, false},
        {350, 100, 100, 200, 5.99F, false, false, false},
        {350, 100, 100, 200, 6, false, false, false},
        {350, 100, 100, 200, 3, false, false, false},
        /* up to 8 px to the right */
        {408, 100, 50, 200, 8, true, true, false},
        {409, 100, 50, 200, 8, false, false, false},
        /* to the left 8 px and the difference of the disparities, 7.68 px */
        {235, 100, 50, 200, 8, true, false, true},
        {234, 100, 50, 200, 8, false, false, false},
        /* common rows: one is enough to touch, and half of the far thing's to hide a side */
        {350, 299, 100, 200, 8, true, false, false},
        {350, 300, 100, 200, 8, false, false, false},
        {350, -99, 100, 200, 8, true, false, false},
        {350, -100, 100, 200, 8, false, false, false},
        {350, 250, 100, 100, 8, true, true, false},
        {350, 251, 100, 100, 8, true, false, false},
        {350, 50, 100, 100, 8, true, true, false},
        {350, 49, 100, 100, 8, true, false, false},
        {350, 0, 100, 400, 8, true, true, false},
        {350, 0, 100, 402, 8, true, false, false},
        /* a side counts as hidden if it lies in the half that faces it */
        {349, 100, 100, 200, 8, true, false, false},
        {250, 100, 100, 200, 8, true, false, true},
        {251, 100, 100, 200, 8, true, false, false},
        {200, 100, 300, 200, 8, true, false, false},
        /* without a box or a depth there is nothing to hide */
        {350, 100, 0, 200, 8, false, false, false},
        {350, 100, 1, 200, 8, true, true, false},
        {350, 100, 100, 200, 0, false, false, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct plx_obstacle far = {.x = cases[i].x,
                                         .y = cases[i].y,
                                         .width = cases[i].width,
                                         .height = cases[i].height,
                                         .position_m = {0, 0, cases[i].z}};
        for (int order = 0; order < 2; order++) {
            const struct plx_obstacle list[2] = {order ? near_thing : far, order ? far : near_thing};
            struct plx_track_cover cover[2];
            memset(cover, 0xFF, sizeof cover);
            plx_track_cover_find(&calibration, list, 2, cover);
            if (cover[order].any != cases[i].any)
                fail_msg("case %zu: covered %d", i, cover[order].any);
            assert_cover(&cover[order], cases[i].any, cases[i].left, cases[i].right);
            if (cases[i].z >= 4)
                assert_cover(&cover[1 - order], false, false, false);
        }
    }
}

static void a_deep_thing_ends_where_its_depth_does(void **state)
{
    (void)state;
    static const struct {
        float depth, z;
        bool any;
    } cases[] = {{1, 7.01F, true}, {1, 6.99F, false}, {-1, 6.01F, true}, {-1, 5.5F, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct plx_obstacle list[2] = {near_thing, near_thing};
        struct plx_track_cover cover[2];
        list[0].extent_m[2] = cases[i].depth;
        list[1].position_m[2] = cases[i].z;
        plx_track_cover_find(&calibration, list, 2, cover);
        assert_int_equal(cover[1].any, cases[i].any);
    }
    struct plx_obstacle close[2] = {near_thing, near_thing}; /* as near as it gets */
    struct plx_track_cover cover[2];
    close[0].position_m[2] = 0.5F;
    plx_track_cover_find(&calibration, close, 2, cover);
    assert_true(cover[1].any);
    close[0].width = 0;
    plx_track_cover_find(&calibration, close, 2, cover);
    assert_false(cover[1].any);
}

/* Between two things both sides are hidden, whichever is listed last. */
static void two_things_hide_a_side_each(void **state)
{
    (void)state;
    struct plx_obstacle list[3] = {near_thing, near_thing, near_thing};
    struct plx_track_cover cover[3];
    list[0].x = 200;
    list[1] = (struct plx_obstacle){.x = 270, .y = 100, .width = 80, .height = 200, .position_m = {0, 0, 8}};
    list[2].x = 330;
    for (int i = 0; i < 2; i++) {
        plx_track_cover_find(&calibration, list, 3, cover);
        assert_cover(&cover[1], true, true, true);
        const struct plx_obstacle first = list[0];
        list[0] = list[2];
        list[2] = first;
    }
}

/* 5.12 m ahead a pixel is 1 cm: a box of 1.2 m from 0.4 m to the left on, whose tracked point was 0.5 m and 0.7 m from its
 * sides.
 */
static const struct plx_obstacle thing = {.x = 280, .width = 120, .height = 50, .position_m = {0.25F, 0, 5.12F}};

static void the_visible_sides_say_where_it_is(void **state)
{
    (void)state;
    static const struct {
        bool any, hidden[2], known[2], located;
        double x;
    } cases[] = {
        {false, {false, false}, {true, true}, true, 0.25}, /* seen whole: its centroid */
        {false, {false, false}, {false, false}, true, 0.25},
        {true, {false, false}, {true, true}, true, 0.15}, /* the mean of 0.2 and 0.1 */
        {true, {true, false}, {true, true}, true, 0.1},
        {true, {false, true}, {true, true}, true, 0.2},
        {true, {false, false}, {true, false}, true, 0.2},
        {true, {false, false}, {false, true}, true, 0.1},
        {true, {true, true}, {true, true}, false, 0.25},
        {true, {false, true}, {false, true}, false, 0.25},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct plx_track_cover cover = {cases[i].any, {cases[i].hidden[0], cases[i].hidden[1]}};
        const struct plx_track_sides sides = {{0.6, 0.7}, {cases[i].known[0], cases[i].known[1]}};
        double x;
        assert_int_equal(plx_track_sides_locate(&sides, &calibration, &thing, &cover, &x), cases[i].located);
        if (!(fabs(x - cases[i].x) < 1e-6))
            fail_msg("case %zu: %g m, expected %g m", i, x, cases[i].x);
        /* Both sides say 0.05 m more or less than their mean, a single one nothing else than itself. */
        const bool both = i == 2;
        assert_int_equal(plx_track_sides_differ(&sides, &calibration, &thing, &cover, 0.049), both || i == 0);
        assert_int_equal(plx_track_sides_differ(&sides, &calibration, &thing, &cover, 0.051), i == 0);
        assert_false(plx_track_sides_differ(&sides, &calibration, &thing, &cover, 0.151));
    }
}

/* Seen whole, each known side alone says whether it is where the centroid says: the left one 0.05 m, the right one 0.15 m off.
 */
static void one_side_is_enough_to_differ(void **state)
{
    (void)state;
    static const double off[2] = {0.05, 0.15};
    for (int side = 0; side < 2; side++)
        for (int hidden = 0; hidden < 2; hidden++) {
            struct plx_track_sides sides = {{0.6, 0.7}, {false, false}};
            struct plx_track_cover cover = {.any = false};
            sides.known[side] = true;
            cover.hidden[side] = hidden;
            assert_int_equal(plx_track_sides_differ(&sides, &calibration, &thing, &cover, off[side] - 0.001), !hidden);
            assert_false(plx_track_sides_differ(&sides, &calibration, &thing, &cover, off[side] + 0.001));
        }
}

static void a_reach_is_a_mean_of_what_was_seen_whole(void **state)
{
    (void)state;
    const struct plx_track_cover open_view = {0}, touched = {.any = true}, left_hidden = {true, {true, false}};
    struct plx_track_sides sides;
    memset(&sides, 0x55, sizeof sides);
    plx_track_sides_begin(&sides, &calibration, &thing, &left_hidden);
    assert_true(!sides.known[PLX_TRACK_LEFT] && sides.known[PLX_TRACK_RIGHT]);
    assert_true(sides.reach_m[PLX_TRACK_LEFT] == 0 && fabs(sides.reach_m[PLX_TRACK_RIGHT] - 0.55) < 1e-6);
    plx_track_sides_update(&sides, &calibration, &thing, &touched, 0.1); /* the first sight of the left side */
    assert_true(sides.known[PLX_TRACK_LEFT] && fabs(sides.reach_m[PLX_TRACK_LEFT] - 0.5) < 1e-6);
    assert_true(fabs(sides.reach_m[PLX_TRACK_RIGHT] - 0.55) < 1e-6);
    plx_track_sides_update(&sides, &calibration, &thing, &open_view, 0.02); /* an eighth of the change */
    assert_true(fabs(sides.reach_m[PLX_TRACK_LEFT] - (0.5 - 0.01)) < 1e-6);
    assert_true(fabs(sides.reach_m[PLX_TRACK_RIGHT] - (0.55 + 0.23 / 8)) < 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_nearer_thing_covers_what_it_borders), cmocka_unit_test(a_deep_thing_ends_where_its_depth_does),
        cmocka_unit_test(two_things_hide_a_side_each),           cmocka_unit_test(the_visible_sides_say_where_it_is),
        cmocka_unit_test(one_side_is_enough_to_differ),          cmocka_unit_test(a_reach_is_a_mean_of_what_was_seen_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
