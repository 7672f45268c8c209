/* SPDX-License-Identifier: Apache-2.0 */
/* Stages label, speckle and regions against flood fill: every density, shape, size and pitch that hurts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>
#include <parallax/frame.h>

#include "core/ground/obstacles.h"
#include "cpu/cpu.h"
#include "oracle/components.h"
#include "oracle/test_image.h"
#include "tests/cmocka.h"

#define SIDE 520

static struct plx_stages *stages;

static int set_up(void **state)
{
    (void)state;
    const struct plx_limits limits = {SIDE, SIDE, 64, 2};
    return plx_cpu_create(&limits, &stages);
}

static int tear_down(void **state)
{
    (void)state;
    stages->ops->destroy(stages);
    return 0;
}

/* One input, and what it is called when it fails. */
struct scene {
    const char *name;
    struct plx_image mask, disparity;
};

static struct scene scene_new(const char *name, int width, int height, int padding)
{
    return (struct scene){name, test_image_new(width, height, PLX_U8, padding),
                          test_image_new(width, height, PLX_U16, padding)};
}

static void scene_free(struct scene *scene)
{
    test_image_free(&scene->mask);
    test_image_free(&scene->disparity);
}

static void put(struct scene *scene, int x, int y, int on, int disparity)
{
    ((uint8_t *)plx_row(&scene->mask, y))[x] = (uint8_t)on;
    ((uint16_t *)plx_row(&scene->disparity, y))[x] = (uint16_t)disparity;
}

static void explain(const struct scene *scene, const char *stage, const struct plx_label_params *params)
{
    print_error("%s differs from the oracle: %s, %d x %d, max_step %d, min_area %d, PLX_TEST_SEED=%llu\n", stage, scene->name,
                scene->mask.width, scene->mask.height, params->max_step, params->min_area, (unsigned long long)test_seed());
}

static uint64_t grey_state = 3;

/* Pictures that differ by less than the refinement takes for outliers, mostly. */
static void fill_alike(const struct plx_image *left, const struct plx_image *right)
{
    for (int y = 0; y < left->height; y++)
        for (int x = 0; x < left->width; x++) {
            const uint8_t grey = (uint8_t)(random_next(&grey_state) % 60 + 4 * (x % 40));
            ((uint8_t *)plx_row(left, y))[x] = grey;
            ((uint8_t *)plx_row(right, y))[x] = (uint8_t)(grey ^ (random_next(&grey_state) % 32));
        }
}

static void check_regions(const struct scene *scene, const struct plx_label_params *params, const struct plx_image *labels,
                          uint32_t count)
{
    const int width = labels->width, height = labels->height;
    struct plx_image published = test_image_new(width, height, PLX_U16, 3),
                     expected = test_image_new(width, height, PLX_U16, 0);
    static struct plx_region region[PLX_MAX_OBSTACLES], wanted[PLX_MAX_OBSTACLES];

    struct plx_image left = test_image_new(width, height, PLX_U8, 2), right = test_image_new(width, height, PLX_U8, 6);
    const struct plx_region_input input = {labels, &scene->disparity, &left, &right, (int)(count % 7) - 3};
    fill_alike(&left, &right);
    assert_int_equal(stages->ops->regions(stages, &input, &count, region, &published), 0);
    const uint32_t most = width * height <= 64 * 48 ? PLX_MAX_OBSTACLES : 12; /* the oracle looks at all pixels for each */
    oracle_regions(&input, count < most ? count : most, wanted, &expected);
    if (memcmp(region, wanted, (count < most ? (size_t)PLX_MAX_OBSTACLES : most) * sizeof *region) != 0 ||
        !test_image_equal(&published, &expected) || !test_image_padding_intact(&published)) {
        explain(scene, "regions", params);
        fail();
    }
    test_image_free(&left);
    test_image_free(&right);
    test_image_free(&published);
    test_image_free(&expected);
}

static void check_label(const struct scene *scene, int max_step, int min_area)
{
    const struct plx_label_params params = {max_step, min_area};
    const int width = scene->mask.width, height = scene->mask.height;
    struct plx_image labels = test_image_new(width, height, PLX_U32, 5), expected = test_image_new(width, height, PLX_U32, 0);
    uint32_t count = 0, wanted = 1;

    assert_int_equal(stages->ops->label(stages, &scene->mask, &scene->disparity, &params, &labels, &count), 0);
    oracle_label(&scene->mask, &scene->disparity, &params, &expected, &wanted);
    if (count != wanted || !test_image_equal(&labels, &expected) || !test_image_padding_intact(&labels)) {
        explain(scene, "label", &params);
        print_error("components: %u, expected %u\n", count, wanted);
        fail();
    }
    check_regions(scene, &params, &labels, count);
    test_image_free(&labels);
    test_image_free(&expected);
}

static void check_speckle(const struct scene *scene, int max_step, int max_size)
{
    const struct plx_speckle speckle = {max_size, max_step};
    struct plx_image dst = test_image_new(scene->mask.width, scene->mask.height, PLX_U16, 2);
    struct plx_image expected = test_image_new(scene->mask.width, scene->mask.height, PLX_U16, 0);

    assert_int_equal(stages->ops->speckle(stages, &scene->disparity, &speckle, &dst), 0);
    oracle_speckle(&scene->disparity, max_size, max_step, &expected);
    if (!test_image_equal(&dst, &expected) || !test_image_padding_intact(&dst)) {
        explain(scene, "speckle", &(struct plx_label_params){max_step, max_size});
        fail();
    }
    test_image_free(&dst);
    test_image_free(&expected);
}

static void check_all(const struct scene *scene)
{
    static const int step[] = {0, 1, 16, 70000};
    static const int area[] = {1, 2, 30};
    for (size_t i = 0; i < sizeof step / sizeof step[0]; i++)
        for (size_t k = 0; k < sizeof area / sizeof area[0]; k++) {
            check_label(scene, step[i], area[k]);
            check_speckle(scene, step[i], area[k]);
        }
}

static const struct {
    int width, height;
} sizes[] = {{1, 1}, {1, 513}, {513, 1}, {2, 2}, {2, 7}, {7, 7}, {64, 48}, {65, 33}, {513, 97}, {130, 513}};

#define SIZES (sizeof sizes / sizeof sizes[0])

/* Masks of every density over disparities that vary by 0, a little and a lot. */
static void random_masks(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    for (size_t i = 0; i < SIZES; i++)
        for (unsigned density = 0; density <= 100; density += 20) {
            struct scene scene = scene_new("random mask", sizes[i].width, sizes[i].height, (int)random_below(&random, 20));
            const uint32_t spread[] = {1, 24, 1024};
            const uint32_t range = spread[random_below(&random, 3)];
            for (int y = 0; y < scene.mask.height; y++)
                for (int x = 0; x < scene.mask.width; x++) {
                    const bool on = random_below(&random, 100) < density;
                    const bool invalid = random_below(&random, 100) < 10;
                    put(&scene, x, y, on ? 1 + (int)random_below(&random, 255) : 0,
                        invalid ? (int)PLX_DISPARITY_INVALID : (int)(300 + random_below(&random, range)));
                }
            check_all(&scene);
            scene_free(&scene);
        }
}

/* Patches of smooth disparity, as matching gives them. */
static void smooth_patches(void **state)
{
    (void)state;
    uint64_t random = test_seed() + 1;
    for (size_t i = 0; i < SIZES; i++) {
        struct scene scene = scene_new("smooth patches", sizes[i].width, sizes[i].height, 1);
        for (int y = 0; y < scene.mask.height; y++)
            for (int x = 0; x < scene.mask.width; x++) {
                const int patch = x / 9 * 7 + y / 11 * 3;
                put(&scene, x, y, patch % 5 != 0, 64 + patch % 9 * 12 + x % 9 + (int)random_below(&random, 4));
            }
        check_all(&scene);
        scene_free(&scene);
    }
}

static int all_on(int x, int y)
{
    (void)x;
    (void)y;
    return 1;
}

static int all_off(int x, int y)
{
    (void)x;
    (void)y;
    return 0;
}

static int checkerboard(int x, int y)
{
    return (x + y) & 1;
}

static int dots(int x, int y)
{
    return (x & 1) && (y & 1);
}

/* Nested squares, each joined to the next one in at a corner: one long way inwards. */
static int spiral(int x, int y)
{
    const int cx = x - 256, cy = y - 256;
    const int ring = abs(cx) > abs(cy) ? abs(cx) : abs(cy);
    return ring % 2 == 0 || (cx == ring && cy == -ring + 1);
}

/* Combs whose teeth meet in the last row only: many unions late. */
static int comb(int x, int y)
{
    return x % 2 == 0 || y % 97 == 96;
}

static int diagonals(int x, int y)
{
    return (x + 2 * y) % 5 == 0 || (x - y) % 7 == 0;
}

static void shapes(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int (*on)(int x, int y);
    } shape[] = {{"all on", all_on}, {"all off", all_off}, {"checkerboard", checkerboard}, {"dots", dots},
                 {"spiral", spiral}, {"comb", comb},       {"diagonals", diagonals}};
    for (size_t s = 0; s < sizeof shape / sizeof shape[0]; s++)
        for (size_t i = 0; i < SIZES; i++) {
            struct scene scene = scene_new(shape[s].name, sizes[i].width, sizes[i].height, (int)i);
            for (int y = 0; y < scene.mask.height; y++)
                for (int x = 0; x < scene.mask.width; x++)
                    put(&scene, x, y, shape[s].on(x, y) ? 255 : 0, shape[s].on(x, y) ? 500 : 900);
            check_all(&scene);
            scene_free(&scene);
        }
}

static void nothing_is_valid(void **state)
{
    (void)state;
    struct scene scene = scene_new("all invalid", 33, 9, 0);
    for (int y = 0; y < scene.mask.height; y++)
        for (int x = 0; x < scene.mask.width; x++)
            put(&scene, x, y, 255, PLX_DISPARITY_INVALID);
    check_all(&scene);
    scene_free(&scene);
}

/* plx_refine_step, as it is defined. */
static int step_by_division(int64_t gg, int64_t ge)
{
    const int64_t twice = -4 * ge; /* twice the step times gg */
    const int64_t step = gg > 0 ? (twice < 0 ? twice - gg : twice + gg) / (2 * gg) : 0;
    return (int)(step > PLX_REFINE_STEP ? PLX_REFINE_STEP : step < -PLX_REFINE_STEP ? -PLX_REFINE_STEP : step);
}

static void check_step(int64_t gg, int64_t ge)
{
    for (int sign = -1; sign <= 1; sign += 2) {
        const struct plx_refine_sums sums = {gg, sign * ge, 0};
        assert_int_equal(plx_refine_step(&sums), step_by_division(gg, sign * ge));
    }
}

static void a_step_is_the_rounded_quotient(void **state)
{
    (void)state;
    uint64_t seed = test_seed();

    for (int64_t gg = 0; gg < 200; gg++)
        for (int64_t ge = 0; ge < 8 * gg + 8; ge++)
            check_step(gg, ge);
    for (int i = 0; i < 200000; i++) {
        const int64_t gg = (int64_t)(random_next(&seed) >> (18 + random_below(&seed, 40)));
        check_step(gg, (int64_t)(random_next(&seed) >> (18 + random_below(&seed, 40))));
        check_step(gg, gg / 4 * random_below(&seed, 28) + random_below(&seed, 8)); /* about where it changes */
    }
}

static void bad_arguments(void **state)
{
    (void)state;
    struct scene scene = scene_new("", SIDE + 1, 4, 0), small = scene_new("", 8, 8, 0);
    struct plx_image labels = test_image_new(SIDE + 1, 4, PLX_U32, 0), dst = test_image_new(SIDE + 1, 4, PLX_U16, 0);
    const struct plx_label_params params = {16, 1};
    const struct plx_speckle speckle = {10, 16};
    struct plx_region region[1];
    uint32_t count = 77;

    assert_int_equal(stages->ops->label(stages, &scene.mask, &scene.disparity, &params, &labels, &count), PLX_ERR_RANGE);
    assert_int_equal(stages->ops->label(stages, &small.mask, &scene.disparity, &params, &labels, &count), PLX_ERR_ARG);
    assert_int_equal(stages->ops->label(stages, &scene.disparity, &scene.mask, &params, &labels, &count), PLX_ERR_ARG);
    assert_int_equal(stages->ops->speckle(stages, &scene.disparity, &speckle, &dst), PLX_ERR_RANGE);
    assert_int_equal(stages->ops->speckle(stages, &small.disparity, &speckle, &dst), PLX_ERR_ARG);
    const struct plx_region_input input = {&labels, &small.disparity, &scene.mask, &scene.mask, 0};
    assert_int_equal(stages->ops->regions(stages, &input, &count, region, &dst), PLX_ERR_ARG);
    assert_int_equal(count, 77);
    test_image_free(&labels);
    test_image_free(&dst);
    scene_free(&scene);
    scene_free(&small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_masks),     cmocka_unit_test(smooth_patches), cmocka_unit_test(shapes),
        cmocka_unit_test(nothing_is_valid), cmocka_unit_test(bad_arguments),  cmocka_unit_test(a_step_is_the_rounded_quotient),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
