/* SPDX-License-Identifier: Apache-2.0 */
/* What a map shows of a frame: free, occupied, a drop, unknown; how many looks a cell takes, and the heights of what stands
 * there. */
#include "core/geometry/stereo.h"
#include "tests/unit/map_scene.h"

#define OWN_LABEL 3

static void a_thing_stands_where_it_is(void **state)
{
    (void)state;
    see_ground(4);
    see_thing(70, 90, 2, 0.6);
    for (int i = 0; i < 4; i++)
        next(0);
    assert_true(t.frame.map.valid && t.frame.map.remembers);
    expect(1.5, 0, PLX_CELL_FREE);
    expect(2.0, 0, PLX_CELL_OCCUPIED);
    expect(3.0, 0, PLX_CELL_UNKNOWN);  /* behind it */
    expect(3.0, 1.0, PLX_CELL_FREE);   /* beside it */
    expect(0.5, 0, PLX_CELL_UNKNOWN);  /* below the picture */
    expect(-1.0, 0, PLX_CELL_UNKNOWN); /* behind the camera */
    expect(4.5, 1.0, PLX_CELL_UNKNOWN);
    assert_in_range(at(2.0, 0).top, 28, 31); /* 0.6 m */
    assert_int_equal(at(2.0, 0).foot, 0);
    assert_int_equal(at(2.0, 0).age, 0);
    assert_int_equal(at(-1.0, 0).age, 255);
    /* 21 columns of 4 pixels at 2 m are 0.34 m wide: 7 or 8 cells, in one or two rows. */
    assert_in_range(count(PLX_CELL_OCCUPIED), 6, 16);
}

static void what_went_away_is_gone_after_three_looks(void **state)
{
    (void)state;
    see_ground(4);
    see_thing(70, 90, 2, 0.6);
    for (int i = 0; i < 20; i++)
        next(0);
    expect(2.0, 0, PLX_CELL_OCCUPIED);
    see_ground(4);
    for (int i = 0; i < 3; i++)
        next(0);
    assert_int_equal(count(PLX_CELL_OCCUPIED), 0);
    next(0);
    next(0);
    next(0);
    next(0);
    expect(2.0, 0, PLX_CELL_FREE);
}

static void a_free_cell_needs_two_looks_to_be_occupied(void **state)
{
    (void)state;
    see_ground(4);
    for (int i = 0; i < 5; i++)
        next(0);
    expect(2.0, 0, PLX_CELL_FREE);
    see_thing(70, 90, 2, 0.6);
    next(0);
    assert_int_equal(count(PLX_CELL_OCCUPIED), 0); /* a match by chance */
    next(0);
    expect(2.0, 0, PLX_CELL_OCCUPIED);
}

/* True if three looks at a thing AHEAD_M, where the ground was free, outlast two free ones. An obstacle
 * with LABEL has its nearest part NEAREST_M away, with a standard deviation of SIGMA_M; the thing has OWN_LABEL, or 0 with it.
 */
static bool outlasts(double ahead_m, uint32_t label, double nearest_m, double sigma_m)
{
    t.frame.obstacle[0] =
        (struct plx_obstacle){.label = label, .nearest_m = (float)nearest_m, .nearest_sigma_m = (float)sigma_m};
    t.frame.obstacle_count = 1;
    for (int i = 0; i < 12; i++) {
        see_ground(4.8);
        if (i >= 7 && i < 10)
            see_thing(70, 90, ahead_m, 0.6);
        for (int x = 70; x <= 90; x++)
            t.stixel[x][0].label = label > 0 ? OWN_LABEL : 0;
        next(0);
        if (i == 6)
            expect(ahead_m, 0, PLX_CELL_FREE);
        if (i == 9)
            expect(ahead_m, 0, PLX_CELL_OCCUPIED);
    }
    return at(ahead_m, 0).kind == PLX_CELL_OCCUPIED;
}

static void a_thing_whose_distance_is_known_to_a_cell_lasts_longer(void **state)
{
    (void)state;
    const double far = 3.94; /* the middle of its cell is nearer */
    assert_true(outlasts(far, OWN_LABEL, far, 0.049));
    assert_false(outlasts(far, OWN_LABEL, far, 0.051));
    assert_false(outlasts(far, OWN_LABEL, far, 0)); /* not known */
    assert_false(outlasts(far, OWN_LABEL, far, (double)NAN));
    assert_false(outlasts(far, OWN_LABEL, 0, 0.01));
    assert_false(outlasts(far, OWN_LABEL + 1, far, 0.01));
    assert_false(outlasts(far, PLX_MAX_OBSTACLES + 1, far, 0.01));
    /* 1.97 times as far as the nearest part, 3.88 times as inexact */
    assert_true(outlasts(far, OWN_LABEL, 2, 0.0125));
    assert_false(outlasts(far, OWN_LABEL, 2, 0.0135));
}

/* A track that is lost has label 0, as a stixel without an obstacle. */
static void what_has_no_obstacle_is_not_exact(void **state)
{
    (void)state;
    assert_false(outlasts(3.94, 0, 3.94, 0.01));
}

/* Thin posts have no obstacle that states a deviation. */
static void within_3_m_every_thing_lasts_longer(void **state)
{
    (void)state;
    assert_true(outlasts(2.9, OWN_LABEL, 2.9, 0));
    assert_false(outlasts(3.1, OWN_LABEL, 3.1, 0));
    assert_true(outlasts(2.9, OWN_LABEL, 2.9, 0.2));
}

static void a_longer_baseline_makes_far_things_last_longer(void **state)
{
    (void)state;
    for (int longer = 0; longer < 2; longer++) {
        struct plx_calibration_info *calibration = &t.frame.calibration;
        calibration->baseline_m = longer ? 0.3 : BASELINE;
        const double sigma_m = plx_depth_sigma(calibration, 3.94, 0.25); /* 7.8 and 2.6 cm */
        assert_int_equal(outlasts(3.94, OWN_LABEL, 3.94, sigma_m), longer);
    }
}

/* The list of a column's stixels ends at the first without a disparity, not at the farthest thing there is. */
static void a_far_stixel_does_not_hide_the_next_one(void **state)
{
    (void)state;
    see_ground(4);
    see_thing(70, 90, 2, 0.6);
    for (int x = 70; x <= 90; x++) {
        t.stixel[x][1] = t.stixel[x][0];
        t.stixel[x][0].disparity = 1; /* 1/16 px */
    }
    next(0);
    expect(2.0, 0, PLX_CELL_OCCUPIED);
    for (int x = 70; x <= 90; x++) {
        t.stixel[x][0].disparity = 0;
        t.scan[x].free = disparity_at(4);
    }
    for (int i = 0; i < 3; i++)
        next(0);
    assert_int_equal(count(PLX_CELL_OCCUPIED), 0);
}

static void a_drop_is_a_kind_of_its_own(void **state)
{
    (void)state;
    see_ground(1.5);
    for (int x = 0; x < COLUMNS; x++)
        t.scan[x].known |= PLX_SCAN_DROP;
    for (int i = 0; i < 4; i++)
        next(0);
    expect(1.4, 0, PLX_CELL_FREE);
    expect(1.58, 0, PLX_CELL_DROP);
    expect(2.0, 0, PLX_CELL_UNKNOWN);
    assert_int_equal(count(PLX_CELL_OCCUPIED), 0);
}

/* What has no stixel may be a match by chance: it must be seen again and again. */
static void something_low_needs_more_looks(void **state)
{
    (void)state;
    for (int chance = 0; chance < 2; chance++) {
        for (int i = 0; i < 12; i++) {
            see_ground(4);
            if (i >= 4 && (!chance || i % 2 == 0))
                for (int x = 70; x <= 90; x++)
                    t.scan[x] = (struct plx_scan){.free = disparity_at(2), .known = PLX_SCAN_KNOWN | PLX_SCAN_RISE};
            next(0);
            if (chance || i < 7)
                assert_int_equal(count(PLX_CELL_OCCUPIED), 0);
        }
        if (!chance) {
            expect(2.03, 0, PLX_CELL_OCCUPIED);
            assert_int_equal(at(2.03, 0).top, 5);
            see_ground(4);
            for (int i = 0; i < 3; i++)
                next(0);
        }
    }
}

/* Pictures that show nothing add nothing; without mount and ground there is no map. */
static void blind_frames_add_nothing(void **state)
{
    (void)state;
    see_ground(4);
    see_thing(70, 90, 2, 0.6);
    t.frame.blind = PLX_BLIND_NO_PICTURE;
    next(0);
    assert_true(t.frame.map.valid);
    assert_int_equal(count(PLX_CELL_UNKNOWN), PLX_MAP_CELLS * PLX_MAP_CELLS);
    t.frame.blind = 0;
    next(0);
    expect(2.0, 0, PLX_CELL_OCCUPIED);
    memset(&t.frame.mount, 0, sizeof t.frame.mount);
    next(0);
    assert_false(t.frame.map.valid);
    assert_int_equal(count(PLX_CELL_UNKNOWN), PLX_MAP_CELLS * PLX_MAP_CELLS);
}

/* A thing that is seen alike keeps its extent; one that grew has the new one at once, and one that shrank loses 2 cm a look. */
static void an_extent_widens_at_once_and_narrows_slowly(void **state)
{
    (void)state;
    static const struct {
        int foot_mm, top_mm;
        uint8_t foot, top;
    } looks[] = {{100, 600, 5, 30}, {100, 600, 5, 30}, {100, 800, 5, 40},  {100, 800, 5, 40}, {100, 780, 5, 39},
                 {100, 600, 5, 38}, {100, 600, 5, 37}, {0, 600, 0, 36},    {100, 600, 1, 35}, {100, 600, 2, 34},
                 {60, 600, 3, 33},  {60, 600, 3, 32},  {-50, 6000, 0, 255}};
    see_ground(4);
    see_thing(70, 90, 2, 0.6);
    for (size_t i = 0; i < sizeof looks / sizeof *looks; i++) {
        for (int x = 70; x <= 90; x++) {
            t.stixel[x][0].foot_mm = (int16_t)looks[i].foot_mm;
            t.stixel[x][0].top_mm = (int16_t)looks[i].top_mm;
        }
        next(0);
        const struct plx_cell cell = at(2.0, 0);
        if (cell.foot != looks[i].foot || cell.top != looks[i].top)
            fail_msg("look %zu: %d to %d, expected %d to %d", i, cell.foot, cell.top, looks[i].foot, looks[i].top);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_thing_stands_where_it_is),
        CASE(what_went_away_is_gone_after_three_looks),
        CASE(a_free_cell_needs_two_looks_to_be_occupied),
        CASE(a_thing_whose_distance_is_known_to_a_cell_lasts_longer),
        CASE(what_has_no_obstacle_is_not_exact),
        CASE(within_3_m_every_thing_lasts_longer),
        CASE(a_longer_baseline_makes_far_things_last_longer),
        CASE(a_far_stixel_does_not_hide_the_next_one),
        CASE(a_drop_is_a_kind_of_its_own),
        CASE(something_low_needs_more_looks),
        CASE(blind_frames_add_nothing),
        CASE(an_extent_widens_at_once_and_narrows_slowly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
