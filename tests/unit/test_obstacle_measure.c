/* SPDX-License-Identifier: Apache-2.0 */
/* Regions in metres: every number of an obstacle, of things whose place and size in 3-D are known. */
#include "tests/unit/obstacle_regions.h"

static void every_field_of_a_panel(void **state)
{
    (void)state;
    struct plx_region region = panel();
    struct plx_obstacle o;
    region.label = 7;
    region.p05 = 304; /* 19 px */
    region.p95 = 336; /* 21 px */
    assert_int_equal(measure(&region, &level, &o), 1);
    assert_int_equal(o.label, 7);
    assert_int_equal(o.area_px, 104 * 60);
    assert_true(o.x == 270 && o.y == 190 && o.width == 104 && o.height == 60);
    assert_near((double)o.centroid_x, 321.5);
    assert_near((double)o.centroid_y, 219.5);
    assert_near((double)o.disparity_median, 20);
    assert_near((double)o.disparity_near, 21);
    assert_near((double)o.nearest_m, 60.0 / 21);
    assert_near((double)o.position_m[0], 1.5 / 500 * 3);
    assert_near((double)o.position_m[1], -20.5 / 400 * 3);
    assert_near((double)o.position_m[2], 3);
    assert_near((double)o.extent_m[0], 99.0 / 500 * 3);
    assert_near((double)o.extent_m[1], 0.45);
    assert_near((double)o.extent_m[2], 60.0 / 19 - 60.0 / 21);
    assert_near((double)o.height_m, 1 + 50.0 / 400 * 3); /* row 190 is that much above the camera */
    assert_near((double)o.valid_ratio, 1);
    assert_near((double)o.confidence, 1);
    assert_true(o.track == 0 && o.status == 0 && o.age_frames == 0); /* tracks fill these, and the velocities */
    for (int i = 0; i < 3; i++)
        assert_true(o.velocity_mps[i] == 0 && o.velocity_variance[i] == 0);
}

/* Half of the box is the region's, a quarter is its interior, at the lower right; frayed edges are not the thing's. */
static void frayed_region(void **state)
{
    (void)state;
    struct plx_region region = panel();
    struct plx_obstacle o;
    region.x0 = 266, region.x1 = 385, region.y0 = 180, region.y1 = 279; /* 120 x 100 */
    region.area = 6000, region.sum_x = 6000 * 300, region.sum_y = 6000 * 200;
    region.interior_area = 3000, region.interior_sum_d = 3000 * 240, region.interior_sum_x = 3000 * 350,
    region.interior_sum_y = 3000 * 260;
    region.p05 = 200, region.median = 236;
    assert_int_equal(measure(&region, &level, &o), 1);
    assert_true(o.x == 266 && o.y == 180 && o.width == 120 && o.height == 100);
    assert_near((double)o.centroid_x, 300);
    assert_near((double)o.centroid_y, 200);
    assert_near((double)o.position_m[0], 30.0 / 500 * 4); /* the interior is 15 px, that is 4 m, away */
    assert_near((double)o.position_m[1], 20.0 / 400 * 4);
    assert_near((double)o.position_m[2], 4);
    assert_near((double)o.extent_m[0], 99.0 / 500 * 4); /* the inner box, there */
    assert_near((double)o.extent_m[1], 0.6);
    assert_near((double)o.height_m, 1 + 50.0 / 400 * 4);
    assert_near((double)o.disparity_median, 236.0 / 16);
    assert_near((double)o.valid_ratio, 0.5);
    assert_near((double)o.confidence, 0.25);
}

/* The same panel through cameras whose disparities begin elsewhere: the same metres. */
static void where_disparity_begins_does_not_matter(void **state)
{
    (void)state;
    static const struct {
        int min_disparity;
        double doffs; /* cx_right - cx */
    } cameras[] = {{0, 0}, {3, 0}, {-10, 0}, {0, -4.5}, {19, 0}, {-6, 7.25}};
    for (size_t i = 0; i < sizeof cameras / sizeof *cameras; i++) {
        struct plx_calibration_info c = camera;
        struct plx_region region = panel();
        struct plx_obstacle o;
        c.cx_right += cameras[i].doffs;
        const double shift = 16 * (-cameras[i].doffs - cameras[i].min_disparity);
        region = rectangle(270, 190, 373, 249, (uint32_t)(320 + shift));
        region.left = region.right = agree_at(320 + shift);
        assert_int_equal(plx_obstacles_measure(&region, 1, &c, cameras[i].min_disparity, 480, &level, &params, &o), 1);
        assert_near((double)o.position_m[2], 3);
        assert_near((double)o.nearest_m, 3);
        assert_near((double)o.extent_m[0], 99.0 / 500 * 3);
        assert_near((double)o.extent_m[2], 0);
        assert_near((double)o.disparity_median, 20 - cameras[i].doffs);
    }
}

/* The images move the interior from 20 px to 20.25 px if they have texture and stay within half a pixel of the percentiles. */
static void face_is_refined(void **state)
{
    (void)state;
    const int64_t enough = 16 * 104 * 60;
    const struct {
        struct plx_refined interior;
        double disparity; /* that is used, 1/16 px */
    } cases[] = {
        {{0, 0}, 320},
        {{enough, enough * 324}, 324},
        {{enough - 1, (enough - 1) * 324}, 320},
        {{enough, enough * 328 - 1}, 328.0 - 1.0 / (double)enough},
        {{enough, enough * 328}, 320},
        {{enough, enough * 312}, 320},
        {{enough, enough * 312 + 1}, 312.0 + 1.0 / (double)enough},
        {{enough, 0}, 320},
        {{enough, -enough * 5000}, 320},
        {{enough, enough * 90000}, 320},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct plx_region region = panel();
        struct plx_obstacle o;
        region.interior = cases[i].interior;
        assert_int_equal(measure(&region, &no_ground, &o), 1);
        assert_near((double)o.position_m[2], 960 / cases[i].disparity);
        assert_near((double)o.extent_m[0], 99.0 / 500 * 960 / cases[i].disparity);
        assert_near((double)o.disparity_median, 20);                /* not refined */
        assert_near((double)o.nearest_m, 960 / cases[i].disparity); /* a face: its nearest part moves with it */
        assert_near((double)o.disparity_near, cases[i].disparity / 16);
        assert_near((double)o.extent_m[2], 0);
    }
}

/* A wall seen at an angle: left end 3 m, right end 4 m away. */
static void sides_are_refined(void **state)
{
    (void)state;
    const double left = -49.5 / 500, right = 49.5 / 500; /* tangents, fattening taken off */
    const struct {
        struct plx_refined left, right;
        double z0, z1;
    } cases[] = {
        {agree_at(320), agree_at(240), 3, 4},
        {{0, 0}, agree_at(240), 960.0 / 280, 4}, /* nothing to see at that side: the interior's depth */
        {agree_at(320), {0, 0}, 3, 960.0 / 280},
        {agree_at(328), agree_at(232), 960.0 / 280, 960.0 / 280}, /* half a pixel off the percentiles: no */
        {agree_at(327.5), agree_at(232.5), 960 / 327.5, 960 / 232.5},
        {{1, -80}, {1, 90000}, 960.0 / 280, 960.0 / 280},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct plx_region region = rectangle(268, 190, 371, 249, 280);
        struct plx_obstacle o;
        region.p05 = 240, region.p95 = 320;
        region.left = cases[i].left, region.right = cases[i].right;
        assert_int_equal(measure(&region, &no_ground, &o), 1);
        assert_near((double)o.extent_m[0],
                    hypot((right - 0.5 / 500) * cases[i].z1 - (left - 0.5 / 500) * cases[i].z0, cases[i].z1 - cases[i].z0));
        assert_near((double)o.position_m[2], 960.0 / 280);
    }
}

/* A facade left of the way: its left side, in the picture, is near and its right side far, so that both have the same x. */
static void wall_along_the_way(void **state)
{
    (void)state;
    struct plx_region region = rectangle(120 - 2, 190, 220 + 1, 249, 280);
    struct plx_obstacle o;
    region.p05 = 180, region.p95 = 360;
    region.left = agree_at(360), region.right = agree_at(180); /* 2.67 m and 5.33 m away, at x = -1.07 m */
    assert_int_equal(measure(&region, &no_ground, &o), 1);
    assert_near((double)o.extent_m[0], hypot(-101.0 / 500 * 960 / 180 + 200.0 / 500 * 960 / 360, 960.0 / 180 - 960.0 / 360));
}

/* From a width of 28 px on, each side has a depth of its own. */
static void narrow_things_have_one_depth(void **state)
{
    (void)state;
    for (int width = 27; width <= 28; width++) {
        struct plx_region region = rectangle(400, 190, 400 + width - 1, 249, 280);
        struct plx_obstacle o;
        region.p05 = 240, region.p95 = 320;
        region.left = agree_at(320), region.right = agree_at(240);
        const double z0 = width < 28 ? 960.0 / 280 : 3, z1 = width < 28 ? 960.0 / 280 : 4;
        assert_int_equal(measure(&region, &no_ground, &o), 1);
        assert_near((double)o.extent_m[0], hypot((80 + width - 3.0) / 500 * z1 - 82.0 / 500 * z0, z1 - z0));
    }
}

/* Percentiles below half a pixel, as with a min_disparity of 2 px: that is 30 m away, not infinity. */
static void far_things_are_refined_too(void **state)
{
    (void)state;
    struct plx_region region = rectangle(270, 190, 373, 249, 4);
    struct plx_obstacle o;
    region.interior = agree_at(3), region.left = agree_at(2), region.right = agree_at(6);
    assert_int_equal(plx_obstacles_measure(&region, 1, &camera, 2, 480, &no_ground, &params, &o), 1);
    assert_near((double)o.position_m[2], 960.0 / 35);
    assert_near((double)o.extent_m[0], hypot(51.0 / 500 * 960 / 38 + 48.0 / 500 * 960 / 34, 960.0 / 38 - 960.0 / 34));
    assert_near((double)o.disparity_median, 2.25);
}

/* The camera looks down by atan(3/4) from 2 m: a point 4 m ahead on its axis is 2 - 4 sin = -0.4 m, 2 m ahead 0.8 m high. */
static void height_over_tilted_ground(void **state)
{
    (void)state;
    const struct plx_ground_info tilted = {.valid = 1, .camera_height_m = 2, .normal = {0, 0.8f, 0.6f}};
    struct plx_region region = rectangle(270, 240, 373, 299, 480); /* its top is the middle row, 2 m away */
    struct plx_obstacle o;
    assert_int_equal(measure(&region, &tilted, &o), 1);
    assert_near((double)o.height_m, 0.8);
    region = rectangle(270, 240, 373, 299, 240); /* 4 m */
    assert_int_equal(measure(&region, &tilted, &o), 0);
    assert_int_equal(measure(&region, &no_ground, &o), 1); /* nobody knows its height */
    assert_true(o.height_m == 0);
    const struct plx_ground_info rolled = {.valid = 1, .camera_height_m = 1, .normal = {0.6f, 0.8f, 0}};
    region = rectangle(370, 240, 473, 299, 320); /* mean column 421.5: x = 0.609 m */
    assert_int_equal(measure(&region, &rolled, &o), 1);
    assert_near((double)o.height_m, 1 - 0.6 * 0.609);
}

/* Level ground 1 m below the camera: 3 m away it begins at row 240 + 400 / 3 = 373.3, 0.3 m above it 40 rows higher. */
static void boxes_reach_the_ground(void **state)
{
    (void)state;
    static const struct {
        int y1, foot;
        int disparity;
    } cases[] = {
        {349, 373, 320},                  /* 0.18 m above the ground: it stands there */
        {327, 373, 320},                  /* 0.347 m */
        {326, 326, 320},                  /* 0.355 m: it hangs */
        {373, 373, 320}, {380, 380, 320}, /* nothing is taken away */
        {479, 479, 240},                  /* 4 m: contact far above */
        {460, 479, 800},                  /* 1.2 m away, 0.34 m above the ground: contact below the picture */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct plx_region region = rectangle(270, 190, 373, cases[i].y1, (uint32_t)cases[i].disparity);
        struct plx_obstacle o;
        assert_int_equal(measure(&region, &level, &o), 1);
        assert_int_equal(o.y + o.height - 1, cases[i].foot);
        assert_near((double)o.extent_m[1], (cases[i].foot - 189) / 400.0 * 960 / cases[i].disparity);
        assert_int_equal(measure(&region, &no_ground, &o), 1);
        assert_int_equal(o.y + o.height - 1, cases[i].y1);
    }
}

/* Two things of 8 columns of stixels: one steps back in its right half, the other ends above the reach of robots there. */
static void outlines_come_from_stixels(void **state)
{
    (void)state;
    static struct plx_stixel stixel[16][PLX_COLUMN_STIXELS];
    const struct plx_image stixels = {
        .data = stixel, .width = PLX_COLUMN_STIXELS, .height = 16, .pitch = sizeof stixel[0], .type = PLX_U128};
    struct plx_obstacle o[3] = {{.label = 1, .x = 0, .width = 32, .disparity_near = 12},
                                {.label = 2, .x = 32, .width = 30, .disparity_near = 12},
                                {.label = 3, .x = 2, .width = 5, .disparity_near = 12}};

    for (int x = 0; x < 16; x++) {
        const bool right = x % 8 >= 4;
        stixel[x][0] = (struct plx_stixel){.disparity = 1,
                                           .near_disparity = (uint16_t)(right && x < 8 ? 300 : 400),
                                           .foot_mm = (int16_t)(right && x >= 8 ? 1901 : 1900),
                                           .label = (uint16_t)(1 + x / 8)};
        stixel[x][1] = (struct plx_stixel){.disparity = 1, .near_disparity = 200, .label = (uint16_t)(1 + x / 8)};
        stixel[x][2] = (struct plx_stixel){.disparity = 1, .near_disparity = 999, .label = 0xFFFF};
        stixel[x][3] = (struct plx_stixel){.disparity = 1, .near_disparity = 999, .label = 4}; /* belongs to no obstacle */
    }
    plx_obstacles_outline(&stixels, 0, 0, o, 3);
    for (int part = 0; part < PLX_OUTLINE_PARTS; part++) {
        assert_int_equal(o[0].outline[part], part < 8 ? 400 : 300);
        assert_int_equal(o[1].outline[part], part < 9 ? 400 : 200); /* column 15 of it still meets part 8 */
        assert_int_equal(o[2].outline[part], 0);
    }
    plx_obstacles_outline(NULL, 2, 48, o, 1); /* regions: as near as the whole */
    for (int part = 0; part < PLX_OUTLINE_PARTS; part++)
        assert_int_equal(o[0].outline[part], (12 - 2) * 16 - 48);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field_of_a_panel),
        cmocka_unit_test(frayed_region),
        cmocka_unit_test(where_disparity_begins_does_not_matter),
        cmocka_unit_test(face_is_refined),
        cmocka_unit_test(sides_are_refined),
        cmocka_unit_test(wall_along_the_way),
        cmocka_unit_test(narrow_things_have_one_depth),
        cmocka_unit_test(far_things_are_refined_too),
        cmocka_unit_test(height_over_tilted_ground),
        cmocka_unit_test(boxes_reach_the_ground),
        cmocka_unit_test(outlines_come_from_stixels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
