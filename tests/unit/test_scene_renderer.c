/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures of all scenes are, bit for bit, those of the plain renderer: drawn alone or by a renderer that keeps what stands
 * still. */
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "tests/cmocka.h"
#include "tests/scene_plain.h"

#define PADDING 13 /* bytes beside each row, which nobody may touch */
#define FILL 0xA5

typedef void make_scene(int width, int height, uint64_t seed, struct plx_scene *ret_scene);

static make_scene *const scenes[] = {plx_scene_demo, plx_scene_street, plx_scene_wall};

#define SCENES (sizeof scenes / sizeof scenes[0])

static void expect_plain(const uint8_t *plain, const struct plx_image *image)
{
    const size_t width = (size_t)image->width;
    for (int y = 0; y < image->height; y++) {
        const uint8_t *row = plx_row(image, y);
        assert_memory_equal(row, plain + (size_t)y * width, width);
        for (size_t x = width; x < image->pitch; x++)
            assert_int_equal(row[x], FILL);
    }
}

/* Compares both eyes at TIME_S, drawn alone and by RENDERER. */
static void compare(const struct plx_scene *scene, const struct plx_scene_renderer *renderer, double time_s, uint32_t frame)
{
    const size_t pitch = (size_t)scene->width + PADDING, height = (size_t)scene->height;
    uint8_t *plain = malloc((size_t)scene->width * height), *drawn = malloc(pitch * height);
    assert_non_null(plain);
    assert_non_null(drawn);
    const struct plx_image image = {drawn, scene->width, scene->height, pitch, PLX_U8};
    const uint32_t exposure_us = 3000 + 2500 * (frame % 7);
    const double gain = 1.0 + frame % 3;
    for (int eye = 0; eye < PLX_EYES; eye++) {
        scene_plain(scene, time_s, frame, (enum plx_eye)eye, exposure_us, gain, plain);
        memset(drawn, FILL, pitch * height);
        assert_int_equal(plx_scene_render(scene, time_s, frame, (enum plx_eye)eye, exposure_us, gain, &image), 0);
        expect_plain(plain, &image);
        memset(drawn, FILL, pitch * height);
        assert_int_equal(plx_scene_renderer_draw(renderer, time_s, frame, (enum plx_eye)eye, exposure_us, gain, &image), 0);
        expect_plain(plain, &image);
    }
    free(drawn);
    free(plain);
}

static void compare_scene(const struct plx_scene *scene, const double *time_s, size_t count)
{
    struct plx_scene_renderer *renderer = NULL;
    assert_int_equal(plx_scene_renderer_create(scene, &renderer), 0);
    for (size_t i = 0; i < count; i++)
        compare(scene, renderer, time_s[i], (uint32_t)(5 * i));
    plx_scene_renderer_destroy(renderer);
}

static void test_odd_sizes(void **state)
{
    (void)state;
    static const int size[][2] = {{1, 1}, {2, 1}, {1, 7}, {7, 2}, {513, 7}, {7, 513}, {130, 97}};
    static const double time_s[] = {0.0, 3.1, 11.7};
    for (size_t i = 0; i < sizeof size / sizeof size[0]; i++)
        for (size_t kind = 0; kind < SCENES; kind++) {
            struct plx_scene scene;
            scenes[kind](size[i][0], size[i][1], 3, &scene);
            compare_scene(&scene, time_s, sizeof time_s / sizeof time_s[0]);
        }
}

/* Over the periods of all objects and of the drive. */
static void test_many_times(void **state)
{
    (void)state;
    double time_s[24];
    for (size_t i = 0; i < sizeof time_s / sizeof time_s[0]; i++)
        time_s[i] = 2.61 * (double)i;
    for (size_t kind = 0; kind < SCENES; kind++) {
        struct plx_scene scene;
        scenes[kind](513, 387, 11, &scene);
        compare_scene(&scene, time_s, sizeof time_s / sizeof time_s[0]);
    }
}

static double within(uint64_t *random, double low, double high)
{
    *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return low + (high - low) * (double)(*random >> 40) / 16777216.0;
}

/* Boxes around, beside, behind and far from a camera that looks anywhere: faces seen edge-on, and cut by the picture. */
static void test_any_scene(void **state)
{
    (void)state;
    static const double time_s[] = {0.0, 4.3};
    uint64_t random = 1;
    for (int round = 0; round < 60; round++) {
        struct plx_scene scene;
        plx_scene_demo(96, 61, (uint64_t)round, &scene);
        scene.object_count = PLX_SCENE_MAX_OBJECTS;
        scene.pitch_rad = within(&random, -1.2, 1.2);
        scene.roll_rad = within(&random, -3.0, 3.0);
        scene.camera_height_m = round % 4 ? within(&random, 0.05, 3.0) : 1000.0;
        scene.noise = round % 3;
        scene.step_count = round % 4;
        for (int i = 0; i < scene.step_count; i++)
            scene.step[i] = (struct plx_scene_step){1.0 + i, within(&random, -0.05, 0.5), within(&random, -1.0, 1.0)};
        const double reach = round % 5 ? 8.0 : 9000.0;
        for (int i = 0; i < scene.object_count; i++)
            scene.object[i] = (struct plx_scene_object){
                .x = i % 5 ? within(&random, -reach, reach) : 0.25, /* some of them share their planes */
                .z = i % 3 ? within(&random, -2.0, reach) : 4.0,
                .width = i % 2 ? 0.5 : within(&random, 0.001, 0.5 * reach < 100.0 ? 0.5 * reach : 100.0),
                .height = i % 4 ? within(&random, 0.001, 4.0) : 1.0,
                .depth = within(&random, 0.001, 2.0),
                .vx = i % 2 ? 0.0 : within(&random, -1.0, 1.0),
                .vz = i % 7 ? 0.0 : within(&random, -1.0, 1.0),
                .period_s = 6.0,
            };
        compare_scene(&scene, time_s, sizeof time_s / sizeof time_s[0]);
    }
}

static void test_bad_arguments(void **state)
{
    (void)state;
    uint8_t grey[7 * 5];
    const struct plx_image image = {grey, 7, 5, 7, PLX_U8}, other = {grey, 5, 7, 5, PLX_U8};
    struct plx_scene scene;
    struct plx_scene_renderer *renderer = NULL;
    plx_scene_demo(7, 5, 1, &scene);
    assert_int_equal(plx_scene_renderer_create(NULL, &renderer), PLX_ERR_ARG);
    scene.noise = -1.0;
    assert_int_equal(plx_scene_renderer_create(&scene, &renderer), PLX_ERR_RANGE);
    assert_null(renderer);
    scene.noise = 1.0;
    assert_int_equal(plx_scene_renderer_create(&scene, &renderer), 0);
    assert_int_equal(plx_scene_renderer_draw(NULL, 0.0, 0, PLX_LEFT, 10000, 1.0, &image), PLX_ERR_ARG);
    assert_int_equal(plx_scene_renderer_draw(renderer, 0.0, 0, PLX_EYES, 10000, 1.0, &image), PLX_ERR_ARG);
    assert_int_equal(plx_scene_renderer_draw(renderer, 0.0, 0, PLX_LEFT, 10000, 1.0, &other), PLX_ERR_ARG);
    assert_int_equal(plx_scene_renderer_draw(renderer, 0.0, 0, PLX_LEFT, 10000, -1.0, &image), PLX_ERR_RANGE);
    plx_scene_renderer_destroy(renderer);
    plx_scene_renderer_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_odd_sizes),
        cmocka_unit_test(test_many_times),
        cmocka_unit_test(test_any_scene),
        cmocka_unit_test(test_bad_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
