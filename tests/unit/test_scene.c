/* SPDX-License-Identifier: Apache-2.0 */
/* The synthetic scene: truth agrees with the pictures, and the sensor does what it says. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "tests/cmocka.h"
#include "tests/scene_truth.h"

#define WIDTH 640
#define HEIGHT 480

static uint8_t left_grey[HEIGHT][WIDTH], right_grey[HEIGHT][WIDTH];
static uint16_t disparity[HEIGHT][WIDTH];
static const struct plx_image left_image = {left_grey, WIDTH, HEIGHT, WIDTH, PLX_U8};
static const struct plx_image right_image = {right_grey, WIDTH, HEIGHT, WIDTH, PLX_U8};
static const struct plx_image disparity_image = {disparity, WIDTH, HEIGHT, 2 * WIDTH, PLX_U16};

static struct plx_scene demo(double noise)
{
    struct plx_scene scene;
    plx_scene_demo(WIDTH, HEIGHT, 7, &scene);
    scene.noise = noise;
    return scene;
}

static double mean_of(const struct plx_image *image)
{
    double sum = 0.0;
    for (int y = 0; y < image->height; y++)
        for (int x = 0; x < image->width; x++)
            sum += ((const uint8_t *)plx_row(image, y))[x];
    return sum / image->width / image->height;
}

/* The right picture, looked up where the truth says, is the left one; what differs is hidden from the right eye. */
static void test_disparity_joins_the_eyes(void **state)
{
    (void)state;
    struct plx_scene scene = demo(0.0);
    for (int look = 0; look < 3; look++) {
        const double time_s = 6.7 * look;
        assert_int_equal(plx_scene_render(&scene, time_s, 0, PLX_LEFT, 10000, 1.0, &left_image), 0);
        assert_int_equal(plx_scene_render(&scene, time_s, 0, PLX_RIGHT, 10000, 1.0, &right_image), 0);
        assert_int_equal(scene_truth(&scene, time_s, &disparity_image, NULL), 0);
        int same = 0, seen = 0, unlike_neighbour = 0;
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++) {
                double from = disparity[y][x] == PLX_DISPARITY_INVALID ? x : x - disparity[y][x] / 16.0;
                int column = (int)floor(from);
                if (column < 4 || column + 1 >= WIDTH)
                    continue;
                double part = from - column;
                double value = right_grey[y][column] * (1.0 - part) + right_grey[y][column + 1] * part;
                seen++;
                same += fabs(value - left_grey[y][x]) < 9.0;
                unlike_neighbour += abs(right_grey[y][column - 4] - left_grey[y][x]) >= 9;
            }
        assert_true(seen > WIDTH * HEIGHT * 8 / 10);
        assert_true(same > 0.95 * seen);
        assert_true(unlike_neighbour > 0.5 * seen); /* there is texture: a wrong disparity would show */
    }
}

static void test_objects_are_where_the_truth_says(void **state)
{
    (void)state;
    struct plx_scene scene = demo(0.0);
    struct scene_truth truth;
    assert_int_equal(scene_truth(&scene, 2.0, &disparity_image, &truth), 0);
    assert_int_equal(truth.object_count, scene.object_count);
    const struct plx_calibration_info *info = &scene.calibration;
    for (int i = 0; i < truth.object_count; i++) {
        const struct scene_truth_object *object = &truth.object[i];
        assert_int_equal(object->index, i);
        assert_true(object->visible_ratio > 0.5 && object->visible_ratio <= 1.0);
        double u = info->fx * object->x / object->z + info->cx, v = info->fy * object->y / object->z + info->cy;
        assert_true(fabs(u - (object->box_x + 0.5 * object->box_width)) < 0.06 * WIDTH / object->z + 1.5);
        assert_true(fabs(v - (object->box_y + 0.5 * object->box_height)) < 0.3 * info->fy / object->z);
        if (object->visible_ratio < 0.97)
            continue;
        double expected = info->fx * info->baseline_m / object->z * 16.0;
        assert_true(fabs(disparity[(int)v][(int)u] - expected) < 1.5);
        assert_true(fabs(object->box_width - info->fx * object->width / object->z) <
                    0.15 * object->box_height + 3.0); /* pitch and roll tilt what is upright */
        assert_true(object->full_x <= object->box_x && object->full_width >= object->box_width);
        assert_true(object->full_y <= object->box_y && object->full_height >= object->box_height);
    }
}

static void test_objects_go_to_and_fro(void **state)
{
    (void)state;
    struct plx_scene scene = demo(0.0);
    scene.pitch_rad = scene.roll_rad = 0.0;
    scene.object_count = 1;
    scene.object[0] = (struct plx_scene_object){-1.0, 4.0, 0.5, 0.5, 0.5, 0.5, 0.25, 8.0};
    static const double expected[][4] = {/* time, x, z, sign of velocity */
                                         {0.0, -1.0, 4.0, 1.0}, {2.0, 0.0, 4.5, 1.0},  {3.9, 0.95, 4.975, 1.0},
                                         {6.0, 0.0, 4.5, -1.0}, {8.0, -1.0, 4.0, 1.0}, {10.0, 0.0, 4.5, 1.0}};
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        struct scene_truth truth;
        assert_int_equal(scene_truth(&scene, expected[i][0], NULL, &truth), 0);
        assert_true(fabs(truth.object[0].x - expected[i][1]) < 1e-9);
        assert_true(fabs(truth.object[0].y - (scene.camera_height_m - 0.25)) < 1e-9);
        assert_true(fabs(truth.object[0].z - expected[i][2]) < 1e-9);
        assert_true(fabs(truth.object[0].velocity[0] - 0.5 * expected[i][3]) < 1e-9);
        assert_true(fabs(truth.object[0].velocity[2] - 0.25 * expected[i][3]) < 1e-9);
    }
    scene.object[0].period_s = 0.0;
    struct scene_truth truth;
    assert_int_equal(scene_truth(&scene, 10.0, NULL, &truth), 0);
    assert_true(fabs(truth.object[0].x - 4.0) < 1e-9);
}

/* Ground disparity is fx B (n . ray) / h, n = (sin r cos p, cos r cos p, sin p): looking down and turned clockwise. */
static void test_ground_follows_pitch_and_roll(void **state)
{
    (void)state;
    struct plx_scene scene = demo(0.0);
    scene.object_count = 0;
    scene.pitch_rad = 0.15;
    scene.roll_rad = 0.07;
    assert_int_equal(scene_truth(&scene, 0.0, &disparity_image, NULL), 0);
    const struct plx_calibration_info *info = &scene.calibration;
    const double normal[3] = {sin(0.07) * cos(0.15), cos(0.07) * cos(0.15), sin(0.15)};
    int ground = 0;
    for (int y = 0; y < HEIGHT; y += 7)
        for (int x = 0; x < WIDTH; x += 11) {
            double inverse = normal[0] * (x - info->cx) / info->fx + normal[1] * (y - info->cy) / info->fy + normal[2];
            inverse /= scene.camera_height_m;
            if (inverse < 0.0039)
                assert_int_equal(disparity[y][x], PLX_DISPARITY_INVALID);
            if (inverse < 0.0041)
                continue;
            assert_true(fabs(disparity[y][x] - 16.0 * info->fx * info->baseline_m * inverse) <= 0.51);
            ground++;
        }
    assert_true(ground > 1000);
}

/* A ramp of slope t from Z0 on is the plane Y - t Z = -t Z0: there the disparity is fx B (down - t ahead) / (h - t Z0), down
 * and ahead those of the ray. What is hidden behind a crest, or nearer, is the level ground. */
static void test_ground_rises_and_falls(void **state)
{
    (void)state;
    static const double slopes[] = {0.14, -0.14, 0.6};
    for (size_t i = 0; i < sizeof slopes / sizeof slopes[0]; i++) {
        struct plx_scene scene = demo(0.0);
        const struct plx_calibration_info *info = &scene.calibration;
        const double slope = slopes[i], from = 3.0, fb = 16.0 * info->fx * info->baseline_m;
        int ramp = 0, level = 0;
        scene.object_count = 0;
        scene.pitch_rad = 0.15;
        scene.roll_rad = 0.0;
        scene.step_count = 2;
        scene.step[0] = (struct plx_scene_step){from, 0.0, slope};
        scene.step[1] = (struct plx_scene_step){5.0, 2.0 * slope, 0.0};
        assert_int_equal(scene_truth(&scene, 0.0, &disparity_image, NULL), 0);
        for (int y = 0; y < HEIGHT; y++) {
            const double v = (y - info->cy) / info->fy;
            const double down = v * cos(0.15) + sin(0.15), ahead = cos(0.15) - v * sin(0.15);
            const double flat = down / scene.camera_height_m,
                         inclined = (down - slope * ahead) / (scene.camera_height_m - slope * from);
            const double flat_z = ahead / flat, inclined_z = ahead / inclined;
            const int seen = disparity[y][(7 * y) % WIDTH];
            if (flat > 0.0 && flat_z < from - 0.02 && ++level)
                assert_true(fabs(seen - fb * flat) <= 0.51);
            else if (inclined > 0.0 && inclined_z > from + 0.02 && inclined_z < 4.98 && ++ramp)
                assert_true(fabs(seen - fb * inclined) <= 0.51);
        }
        assert_true(level > 50 && (ramp > 10) == (slope < 0.5)); /* the camera does not see down a steep one */
    }
}

static void test_noise(void **state)
{
    (void)state;
    static uint8_t clean[HEIGHT][WIDTH];
    const struct plx_image clean_image = {clean, WIDTH, HEIGHT, WIDTH, PLX_U8};
    struct plx_scene scene = demo(0.0);
    assert_int_equal(plx_scene_render(&scene, 1.0, 5, PLX_LEFT, 8000, 1.0, &clean_image), 0);
    for (int sigma = 1; sigma < 9; sigma *= 2) {
        scene.noise = sigma;
        assert_int_equal(plx_scene_render(&scene, 1.0, 5, PLX_LEFT, 8000, 1.0, &left_image), 0);
        assert_int_equal(plx_scene_render(&scene, 1.0, 6, PLX_LEFT, 8000, 1.0, &right_image), 0);
        double sum = 0.0, squares = 0.0, product = 0.0, neighbours = 0.0;
        int count = 0;
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 1; x < WIDTH; x++) {
                if (clean[y][x] < 50 || clean[y][x] > 200 || clean[y][x - 1] < 50 || clean[y][x - 1] > 200)
                    continue; /* clipping would show */
                double a = left_grey[y][x] - clean[y][x], b = right_grey[y][x] - clean[y][x];
                sum += a;
                squares += a * a;
                product += a * b;
                neighbours += a * (left_grey[y][x - 1] - clean[y][x - 1]);
                count++;
            }
        assert_true(count > WIDTH * HEIGHT / 2);
        double expected = sigma * sigma + 2.0 / 12.0; /* and the rounding of both pictures */
        assert_true(fabs(sum / count) < 0.02 * sigma);
        assert_true(fabs(squares / count / expected - 1.0) < 0.03);
        assert_true(fabs(product / count) < 0.15 + 0.01 * expected); /* frames are independent, but for the rounding */
        assert_true(fabs(neighbours / count) < 0.02 * expected);
    }
}

static void test_brightness_is_linear(void **state)
{
    (void)state;
    struct plx_scene scene = demo(0.0);
    scene.light = 0.5;
    assert_int_equal(plx_scene_render(&scene, 0.0, 0, PLX_LEFT, 10000, 1.0, &left_image), 0);
    double reference = mean_of(&left_image);
    assert_true(reference > 40.0 && reference < 80.0);
    static const struct {
        uint32_t exposure_us;
        double gain, expected;
    } row[] = {{5000, 1.0, 0.5}, {5000, 2.0, 1.0}, {20000, 0.5, 1.0}, {15000, 1.0, 1.5}, {2500, 6.0, 1.5}, {0, 1.0, 0.0}};
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        assert_int_equal(plx_scene_render(&scene, 0.0, 0, PLX_LEFT, row[i].exposure_us, row[i].gain, &left_image), 0);
        assert_true(fabs(mean_of(&left_image) - row[i].expected * reference) < 0.6);
    }
    assert_int_equal(plx_scene_render(&scene, 0.0, 0, PLX_LEFT, 4000000, 1.0, &left_image), 0);
    assert_true(mean_of(&left_image) > 254.9); /* saturated */
}

static void test_same_bits_any_size_any_pitch(void **state)
{
    (void)state;
    static const int size[][2] = {{1, 1}, {2, 1}, {7, 5}, {513, 2}, {64, 513}, {1, 97}};
    for (size_t i = 0; i < sizeof size / sizeof size[0]; i++) {
        int width = size[i][0], height = size[i][1];
        size_t pitch = (size_t)width + 13, bytes = pitch * (size_t)height;
        struct plx_scene scene;
        plx_scene_demo(width, height, 3, &scene);
        assert_int_equal(plx_scene_check(&scene, NULL), 0);
        uint8_t *wide = malloc(bytes), *tight = malloc((size_t)width * (size_t)height);
        assert_non_null(wide);
        assert_non_null(tight);
        memset(wide, 0xA5, bytes);
        const struct plx_image wide_image = {wide, width, height, pitch, PLX_U8};
        const struct plx_image tight_image = {tight, width, height, (size_t)width, PLX_U8};
        assert_int_equal(plx_scene_render(&scene, 3.0, 9, PLX_RIGHT, 10000, 1.0, &wide_image), 0);
        assert_int_equal(plx_scene_render(&scene, 3.0, 9, PLX_RIGHT, 10000, 1.0, &tight_image), 0);
        for (int y = 0; y < height; y++) {
            assert_memory_equal(plx_row(&wide_image, y), plx_row(&tight_image, y), (size_t)width);
            for (size_t x = (size_t)width; x < pitch; x++)
                assert_int_equal(wide[(size_t)y * pitch + x], 0xA5);
        }
        free(tight);
        free(wide);
    }
}

static void test_seed_changes_the_picture(void **state)
{
    (void)state;
    struct plx_scene scene = demo(0.0);
    assert_int_equal(plx_scene_render(&scene, 0.0, 0, PLX_LEFT, 10000, 1.0, &left_image), 0);
    scene.seed++;
    assert_int_equal(plx_scene_render(&scene, 0.0, 0, PLX_LEFT, 10000, 1.0, &right_image), 0);
    assert_memory_not_equal(left_grey, right_grey, sizeof left_grey);
}

static void test_bad_scenes_are_refused(void **state)
{
    (void)state;
    struct plx_scene bad[9];
    for (size_t i = 0; i < 9; i++)
        bad[i] = demo(1.0);
    bad[0].width = 0;
    bad[1].height = PLX_MAX_SIDE + 1;
    bad[2].calibration.baseline_m = 0.0;
    bad[3].calibration.fx = NAN;
    bad[4].camera_height_m = -1.0;
    bad[5].object_count = PLX_SCENE_MAX_OBJECTS + 1;
    bad[6].object[2].width = INFINITY;
    bad[7].object[0].period_s = -1.0;
    bad[8].step_count = 1;
    bad[8].step[0] = (struct plx_scene_step){3.0, 0.0, NAN};
    for (size_t i = 0; i < 9; i++) {
        struct plx_error_message message = {""};
        assert_int_equal(plx_scene_check(&bad[i], &message), PLX_ERR_RANGE);
        assert_true(message.text[0] != '\0');
    }
    struct plx_scene scene = demo(1.0);
    assert_int_equal(plx_scene_render(&bad[3], 0.0, 0, PLX_LEFT, 10000, 1.0, &left_image), PLX_ERR_RANGE);
    assert_int_equal(plx_scene_render(&scene, NAN, 0, PLX_LEFT, 10000, 1.0, &left_image), PLX_ERR_RANGE);
    assert_int_equal(plx_scene_render(&scene, 0.0, 0, PLX_LEFT, 10000, NAN, &left_image), PLX_ERR_RANGE);
    assert_int_equal(plx_scene_render(&scene, 0.0, 0, PLX_LEFT, 10000, 1.0, &disparity_image), PLX_ERR_ARG);
    assert_int_equal(scene_truth(&scene, 0.0, &left_image, NULL), PLX_ERR_ARG);
    assert_int_equal(scene_truth(NULL, 0.0, NULL, NULL), PLX_ERR_ARG);
}

/* A camera inside a box, or with boxes behind it, sees something finite and does not crash. */
static void test_camera_among_objects(void **state)
{
    (void)state;
    struct plx_scene scene = demo(1.0);
    scene.object[0] = (struct plx_scene_object){0.0, -0.2, 1.0, 2.0, 1.0, 0.0, 0.0, 0.0}; /* around the camera */
    scene.object[1] = (struct plx_scene_object){0.0, 0.0, 1.0, 2.0, 1.0, 0.0, 0.0, 0.0};  /* touches it */
    scene.object[2] = (struct plx_scene_object){0.0, -5.0, 1.0, 2.0, 1.0, 0.0, 0.0, 0.0}; /* behind */
    struct scene_truth truth;
    assert_int_equal(plx_scene_render(&scene, 0.0, 0, PLX_LEFT, 10000, 1.0, &left_image), 0);
    assert_int_equal(scene_truth(&scene, 0.0, &disparity_image, &truth), 0);
    assert_true(truth.object[0].visible_ratio == 0.0 && truth.object[2].visible_ratio == 0.0);
    assert_int_equal(truth.object[2].box_width, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_disparity_joins_the_eyes), cmocka_unit_test(test_objects_are_where_the_truth_says),
        cmocka_unit_test(test_objects_go_to_and_fro),    cmocka_unit_test(test_ground_follows_pitch_and_roll),
        cmocka_unit_test(test_ground_rises_and_falls),   cmocka_unit_test(test_noise),
        cmocka_unit_test(test_brightness_is_linear),     cmocka_unit_test(test_same_bits_any_size_any_pitch),
        cmocka_unit_test(test_seed_changes_the_picture), cmocka_unit_test(test_bad_scenes_are_refused),
        cmocka_unit_test(test_camera_among_objects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
