/* SPDX-License-Identifier: Apache-2.0 */
/* Stage ground on disparity made from a known plane, with boxes on it, noise, outliers and holes: how near it comes. Its exact
 * numbers are in test_ground_bits.c. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>
#include <parallax/frame.h>

#include "core/ground/fit.h"
#include "core/ground/obstacles.h"
#include "cpu/cpu.h"
#include "oracle/test_image.h"
#include "tests/cmocka.h"

static struct plx_stages *stages;
static const struct plx_ground_prior alone; /* no earlier frames */

static int set_up(void **state)
{
    (void)state;
    const struct plx_limits limits = {1300, 720, 256, 2};
    return plx_cpu_create(&limits, &stages);
}

static int tear_down(void **state)
{
    (void)state;
    stages->ops->destroy(stages);
    return 0;
}

/* A camera over a plane. */
struct view {
    const char *name;
    int width, height, disparities, min_disparity;
    double focal, baseline, doffs; /* doffs = cx_right - cx */
    double camera_height, pitch, roll;
    int boxes;               /* standing on the ground */
    double noise;            /* px */
    double invalid, outlier; /* ratios */
    double lane;             /* walls stand so far to either side, m; 0: none */
};

static struct plx_ground_params params_of(const struct view *view)
{
    const double cx = (view->width - 1) / 2.0, cy = (view->height - 1) / 2.0;
    return (struct plx_ground_params){
        .enabled = true,
        .disparities = view->disparities,
        .min_disparity = view->min_disparity,
        .tolerance = 12,
        .horizon_min = (int)(cy - 0.7 * view->focal),
        .horizon_max = (int)(cy + 0.36 * view->focal),
        .calibration = {view->focal, view->focal, cx, cy, cx + view->doffs, view->baseline},
    };
}

/* Disparity of the plane at (u, v), pixels, true; the formula of core/ground/fit.h the other way round. */
static double plane_at(const struct view *view, double u, double v)
{
    const double n[3] = {sin(view->roll) * cos(view->pitch), cos(view->roll) * cos(view->pitch), sin(view->pitch)};
    const double x = (u - (view->width - 1) / 2.0) / view->focal, y = (v - (view->height - 1) / 2.0) / view->focal;
    return view->focal * view->baseline / view->camera_height * (n[0] * x + n[1] * y + n[2]);
}

static void render(const struct view *view, uint64_t seed, const struct plx_image *disparity)
{
    uint64_t random = seed;
    for (int v = 0; v < view->height; v++)
        for (int u = 0; u < view->width; u++) {
            double d = plane_at(view, u, v);
            for (int i = 0; i < view->boxes; i++) { /* its foot is where the ground has the box's own disparity */
                const double left = view->width * (0.03 + 0.96 * i / view->boxes);
                const double foot = view->height * (0.62 + 0.07 * (i % 5)), top = view->height * (0.30 - 0.02 * i);
                const double own = plane_at(view, view->width / 2.0, foot);
                if (u >= left && u < left + 0.7 * view->width / view->boxes && v >= top && own > d)
                    d = own;
            }
            const double wall = view->lane > 0 ? fabs(u - (view->width - 1) / 2.0) * view->baseline / view->lane : 0;
            if (wall > d)
                d = wall;
            d = d > 0 ? d - view->doffs : -1e9; /* sky has none */
            d += view->noise * random_normal(&random) - view->min_disparity;
            double value = floor(d * 16 + 0.5);
            if (random_below(&random, 1000) < view->outlier * 1000)
                value = random_below(&random, (uint32_t)view->disparities * 16);
            const bool invalid = random_below(&random, 1000) < view->invalid * 1000;
            ((uint16_t *)plx_row(disparity, v))[u] =
                !invalid && value >= 0 && value < view->disparities * 16 ? (uint16_t)value : PLX_DISPARITY_INVALID;
        }
}

static const struct view views[] = {
    /* name, size, D, min, focal, baseline, doffs, height, pitch, roll, boxes, noise, invalid, outlier, lane */
    {"clean", 640, 480, 64, 0, 512, 0.12, 0, 1.0, 0.1, 0.0, 0, 0.0, 0.0, 0.0, 0},
    {"boxes", 640, 480, 64, 0, 512, 0.12, 0, 1.0, 0.1, 0.015, 4, 0.25, 0.3, 0.02, 0},
    {"crowded", 640, 480, 64, 0, 512, 0.12, 0, 1.0, 0.05, 0.0, 7, 0.3, 0.3, 0.05, 0},
    {"rolled", 640, 480, 64, 0, 512, 0.12, 0, 0.8, 0.1, 0.08, 3, 0.25, 0.3, 0.02, 0},
    {"rolled the other way", 640, 480, 128, 0, 512, 0.12, 0, 0.5, 0.2, -0.06, 3, 0.25, 0.3, 0.02, 0},
    {"looks down", 640, 480, 64, 0, 512, 0.12, 0, 1.2, 0.5, 0.01, 2, 0.25, 0.3, 0.02, 0},
    {"looks up", 640, 480, 64, 0, 512, 0.12, 0, 0.6, -0.1, 0.0, 2, 0.25, 0.3, 0.02, 0},
    {"low camera", 640, 480, 64, 0, 512, 0.12, 0, 0.25, 0.05, 0.0, 2, 0.25, 0.3, 0.02, 0},
    {"car", 1242, 375, 128, 0, 707, 0.537, 0, 1.65, 0.01, 0.01, 4, 0.3, 0.3, 0.05, 0},
    {"minimum", 640, 480, 64, 3, 512, 0.12, 0, 1.0, 0.1, 0.015, 4, 0.25, 0.3, 0.02, 0},
    {"negative minimum", 640, 480, 64, -5, 512, 0.12, 0, 1.0, 0.1, 0.015, 4, 0.25, 0.3, 0.02, 0},
    {"unlike centres", 640, 480, 64, -10, 512, 0.12, 7.25, 1.0, 0.1, 0.015, 4, 0.25, 0.3, 0.02, 0},
    {"large", 1280, 720, 256, 0, 1000, 0.25, 0, 0.9, 0.15, 0.02, 5, 0.3, 0.3, 0.02, 0},
    {"lane", 640, 480, 64, 0, 512, 0.12, 0, 1.0, 0.1, 0.0, 0, 0.25, 0.3, 0.02, 0.25},
    {"wide lane", 640, 480, 64, 0, 512, 0.12, 0, 1.0, 0.1, 0.01, 0, 0.25, 0.3, 0.02, 1.5},
    {"small", 160, 120, 64, 0, 128, 0.2, 0, 0.7, 0.1, 0.0, 2, 0.25, 0.3, 0.02, 0},
};

static void known_planes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof views / sizeof views[0]; i++) {
        const struct view *view = &views[i];
        const struct plx_ground_params params = params_of(view);
        struct plx_image disparity = test_image_new(view->width, view->height, PLX_U16, 7);
        struct plx_ground ground;
        struct plx_ground_info info;

        render(view, test_seed() + i, &disparity);
        assert_int_equal(stages->ops->ground(stages, &disparity, &params, &alone, &ground), 0);
        plx_ground_geometry(&ground, &params.calibration, view->min_disparity, &info);
        const double height = info.camera_height_m / view->camera_height - 1, pitch = info.pitch_rad - view->pitch;
        const double roll = info.roll_rad - view->roll;
        const double length =
            sqrt((double)info.normal[0] * (double)info.normal[0] + (double)info.normal[1] * (double)info.normal[1] +
                 (double)info.normal[2] * (double)info.normal[2]);
        print_message("%-22s height %+5.2f %%, pitch %+.4f, roll %+.4f rad, inliers %.2f\n", view->name, 100 * height, pitch,
                      roll, (double)info.inlier_ratio);
        if (!info.valid || fabs(height) > 0.03 || fabs(pitch) > 0.006 || fabs(roll) > 0.006 || fabs(length - 1) > 1e-6 ||
            fabs(ground.camera_height_um * 1e-6 - (double)info.camera_height_m) > 1e-5) {
            print_error("ground of view \"%s\" is wrong, PLX_TEST_SEED=%llu\n", view->name, (unsigned long long)test_seed());
            fail();
        }
        test_image_free(&disparity);
    }
}

/* No ground: a wall, noise, nothing at all, only zeros, the walls of a lane, a single pixel. */
static void no_ground(void **state)
{
    (void)state;
    const struct view view = {"", 640, 480, 64, 0, 512, 0.12, 0, 1.0, 0.1, 0.0, 0, 0.0, 0.0, 0.0, 0};
    const struct plx_ground_params params = params_of(&view);
    struct plx_image disparity = test_image_new(view.width, view.height, PLX_U16, 0), one = test_image_new(1, 1, PLX_U16, 0);
    uint64_t random = test_seed();

    for (int kind = 0; kind < 5; kind++) {
        struct plx_ground ground = {.valid = 1};
        struct plx_ground_info info;
        for (int v = 0; v < view.height; v++)
            for (int u = 0; u < view.width; u++) {
                const uint16_t value[] = {(uint16_t)(300 + random_below(&random, 8)), (uint16_t)random_below(&random, 1024),
                                          PLX_DISPARITY_INVALID, 0, (uint16_t)(abs(u - 320) * 16 * 12 / 60)};
                ((uint16_t *)plx_row(&disparity, v))[u] = value[kind];
            }
        assert_int_equal(stages->ops->ground(stages, &disparity, &params, &alone, &ground), 0);
        if (ground.valid)
            print_error("found ground in kind %d\n", kind);
        assert_false(ground.valid);
        assert_true(ground.a == 0 && ground.b == 0 && ground.c == 0 && ground.camera_height_um == 0);
        plx_ground_geometry(&ground, &params.calibration, 0, &info);
        assert_false(info.valid);
    }
    *(uint16_t *)one.data = 17;
    struct plx_ground ground = {.valid = 1};
    assert_int_equal(stages->ops->ground(stages, &one, &params, &alone, &ground), 0);
    assert_false(ground.valid);
    test_image_free(&disparity);
    test_image_free(&one);
}

/* A ground 1 m below the camera, a part of which mirrors something above. */
static void render_mirrors(const struct view *view, const struct plx_image *disparity)
{
    const struct view mirrored = {"", 640, 480, 64, 0, 512, 0.12, 0, 2.0, 0.1, 0.0, 0, 0.0, 0.0, 0.0, 0};
    for (int v = 0; v < view->height; v++)
        for (int u = 0; u < view->width; u++) {
            const double d = plane_at(u % 10 < 3 ? &mirrored : view, u, v) * 16 + 0.5;
            ((uint16_t *)plx_row(disparity, v))[u] = d >= 0 && d < 1024 ? (uint16_t)d : PLX_DISPARITY_INVALID;
        }
}

/* The height of earlier frames tells the ground from other planes; a plane that is held stands in where none is allowed. */
static void a_prior_decides(void **state)
{
    (void)state;
    const struct view *view = &views[0];
    const struct plx_ground_params params = params_of(view);
    struct plx_image disparity = test_image_new(view->width, view->height, PLX_U16, 0);
    struct plx_ground mirrored, ground, held;
    struct plx_ground_prior prior = {.height_min_um = 750000,
                                     .height_max_um = 1250000,
                                     .slope_min = plx_ground_slope(&params, 1.25),
                                     .slope_max = plx_ground_slope(&params, 0.75)};

    render_mirrors(view, &disparity);
    assert_int_equal(stages->ops->ground(stages, &disparity, &params, &alone, &mirrored), 0);
    assert_true(mirrored.valid == PLX_GROUND_FOUND && mirrored.camera_height_um > 1900000);
    assert_int_equal(stages->ops->ground(stages, &disparity, &params, &prior, &ground), 0);
    assert_int_equal(ground.valid, PLX_GROUND_FOUND);
    assert_in_range(ground.camera_height_um, 970000, 1030000);

    prior.held = ground;
    prior.held.valid = PLX_GROUND_HELD;
    prior.held.c += (int64_t)(16 * 65536 * 0.12 * 512 * 0.2); /* 0.2 rad of pitch */
    assert_int_equal(stages->ops->ground(stages, &disparity, &params, &prior, &held), 0);
    assert_int_equal(held.valid, PLX_GROUND_HELD);
    assert_true(held.a == prior.held.a && held.b == prior.held.b && held.c == prior.held.c);
    assert_true(held.camera_height_um == ground.camera_height_um && held.inliers == ground.inliers);
    test_image_free(&disparity);
}

static void bad_arguments(void **state)
{
    (void)state;
    struct plx_ground_params params = params_of(&views[0]);
    struct plx_image wide = test_image_new(1301, 2, PLX_U16, 0), small = test_image_new(8, 8, PLX_U16, 0);
    struct plx_image bytes = test_image_new(8, 9, PLX_U8, 0);
    struct plx_ground ground = {.pixels = 77};

    assert_int_equal(stages->ops->ground(stages, &wide, &params, &alone, &ground), PLX_ERR_RANGE);
    assert_int_equal(stages->ops->ground(stages, &bytes, &params, &alone, &ground), PLX_ERR_ARG);
    assert_int_equal(ground.pixels, 77);
    params.enabled = false;
    assert_int_equal(stages->ops->ground(stages, &small, &params, &alone, &ground), 0);
    assert_int_equal(ground.valid, 0);
    test_image_free(&wide);
    test_image_free(&small);
    test_image_free(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_planes),
        cmocka_unit_test(no_ground),
        cmocka_unit_test(a_prior_decides),
        cmocka_unit_test(bad_arguments),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
