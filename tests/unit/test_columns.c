/* SPDX-License-Identifier: Apache-2.0 */
/* Stage columns beside its plain scalar oracle: every instruction set, odd sizes, pitch unlike width, with and without ground;
 * and what it must see in a made-up street. */
#include <stdio.h>

#include <parallax/error.h>

#include "cpu/cpu.h"
#include "cpu/internal.h"
#include "oracle/columns.h"
#include "oracle/test_image.h"
#include "tests/cmocka.h"

#define WIDTH 640
#define HEIGHT 520
#define CASES 192 /* each content with each size, twice */

static struct plx_stages *stages[PLX_ISA_COUNT + 1]; /* one of each instruction set, then the best with three threads */

static int set_up(void **state)
{
    (void)state;
    struct plx_limits limits = {WIDTH, HEIGHT, 256, 1};
    for (int isa = 0; isa < PLX_ISA_COUNT; isa++)
        if (plx_isa_kernels((enum plx_isa)isa) && plx_cpu_create_isa(&limits, (enum plx_isa)isa, &stages[isa]) < 0)
            return -1;
    limits.threads = 3;
    return plx_cpu_create(&limits, &stages[PLX_ISA_COUNT]);
}

static int tear_down(void **state)
{
    (void)state;
    for (int i = 0; i <= PLX_ISA_COUNT; i++)
        if (stages[i])
            stages[i]->ops->destroy(stages[i]);
    return 0;
}

/* BUMPY: a street whose things and ground are noisy. */
enum content { INVALID, EQUAL, WHITE, NOISE, WILD, SPARSE, STREET, BUMPY, CONTENTS };

static const int sizes[][2] = {{1, 1},   {2, 1},   {1, 2},    {7, 7},     {2, 513},   {513, 2},
                               {513, 7}, {7, 513}, {131, 97}, {640, 480}, {257, 513}, {66, 64}};

#define SIZES ((int)(sizeof sizes / sizeof *sizes))

/* A level ground: 0 at row HORIZON, and boxes on it. */
static int street(const struct plx_columns_params *params, const struct plx_ground *ground, int x, int y)
{
    const int road = (int)((ground->a * x + ground->b * y + ground->c) >> 16);
    const int box = params->mask.infinity + 16 * (8 + x / 40 % 7 * 5), base = x / 20 % 3;
    return base && road < box && y > 40 * base ? box : road;
}

static int value_of(uint64_t *seed, enum content content, const struct plx_columns_params *params,
                    const struct plx_ground *ground, int x, int y)
{
    const int here = street(params, ground, x, y);
    switch (content) {
    case EQUAL:
        return 320;
    case WHITE:
        return 65534;
    case NOISE:
        return (int)random_below(seed, (uint32_t)params->disparities * 16);
    case WILD:
        return (int)random_below(seed, 65536);
    case SPARSE:
        return random_below(seed, 5) ? -1 : here;
    case STREET:
        return here;
    case BUMPY:
        return random_below(seed, 9) ? here + (int)(random_normal(seed) * 6) : (int)random_below(seed, 1024);
    default:
        return -1;
    }
}

static void draw(uint64_t *seed, enum content content, const struct plx_columns_params *params, const struct plx_ground *ground,
                 const struct plx_image *disparity)
{
    for (int y = 0; y < disparity->height; y++)
        for (int x = 0; x < disparity->width; x++) {
            const int value = value_of(seed, content, params, ground, x, y);
            ((uint16_t *)plx_row(disparity, y))[x] =
                (uint16_t)(value < 0 || value > 65535 ? (int)PLX_DISPARITY_INVALID : value);
        }
}

/* Rolls a little; its horizon lies in the upper half. */
static struct plx_ground random_ground(uint64_t *seed, const struct plx_columns_params *params, int height)
{
    const int slope = 20000 + (int)random_below(seed, 300000), horizon = (int)random_below(seed, (uint32_t)height / 2 + 1);
    struct plx_ground ground = {.a = (int)random_below(seed, 8000) - 4000, .b = slope, .valid = random_below(seed, 6) > 0};
    ground.c = 65536LL * params->mask.infinity - (int64_t)slope * horizon;
    ground.camera_height_um = ground.valid ? 200000 + (int)random_below(seed, 3000000) : 0;
    return ground;
}

static struct plx_columns_params random_params(uint64_t *seed)
{
    static const int infinities[] = {0, 0, 0, 37, -160, -20000};
    const int infinity = infinities[random_below(seed, 6)];
    return (struct plx_columns_params){
        {.near_disparity = 900 + (int)random_below(seed, 4000),
         .far_disparity = infinity + (int)random_below(seed, 60) - 5,
         .infinity = infinity,
         .min_height_um = (int)random_below(seed, 400000),
         .max_height_um = 500000 + (int)random_below(seed, 3000000),
         .focal_px = random_below(seed, 9) ? 1 + (int)random_below(seed, 2000) : PLX_COLUMNS_MAX_FOCAL,
         .ground_needed = random_below(seed, 2)},
        64 << random_below(seed, 3)};
}

struct outputs {
    struct plx_image scan, stixels;
};

static struct outputs outputs_new(int width)
{
    const int columns = plx_columns_of(width);
    return (struct outputs){test_image_new(columns, 1, PLX_U64, 1), test_image_new(PLX_COLUMN_STIXELS, columns, PLX_U128, 1)};
}

static void outputs_free(struct outputs *outputs)
{
    test_image_free(&outputs->scan);
    test_image_free(&outputs->stixels);
}

static int compare(const struct plx_image *disparity, const struct plx_ground *ground, const struct plx_columns_params *params,
                   const char *what)
{
    struct outputs want = outputs_new(disparity->width);
    int found = 0;

    oracle_columns(disparity, ground, params, &want.scan, &want.stixels);
    for (int i = 0; i <= PLX_ISA_COUNT; i++) {
        struct outputs got = outputs_new(disparity->width);
        if (stages[i] && (stages[i]->ops->columns(stages[i], disparity, ground, params, &got.scan, &got.stixels) != 0 ||
                          !test_image_equal(&got.scan, &want.scan) || !test_image_equal(&got.stixels, &want.stixels) ||
                          !test_image_padding_intact(&got.scan) || !test_image_padding_intact(&got.stixels)))
            fail_msg("%s, %d x %d, backend %d, PLX_TEST_SEED=%llu", what, disparity->width, disparity->height, i,
                     (unsigned long long)test_seed());
        outputs_free(&got);
    }
    for (int x = 0; x < want.scan.width; x++)
        found += ((const struct plx_scan *)want.scan.data)[x].stixels;
    outputs_free(&want);
    return found;
}

static void same_bits_as_the_oracle(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    int found = 0;

    for (int i = 0; i < CASES; i++) {
        const int *size = sizes[i % SIZES];
        const enum content content = (enum content)(i / SIZES % CONTENTS);
        const struct plx_columns_params params = random_params(&seed);
        const struct plx_ground ground = random_ground(&seed, &params, size[1]);
        struct plx_image disparity = test_image_new(size[0], size[1], PLX_U16, (int)random_below(&seed, 5));
        char what[32];

        snprintf(what, sizeof what, "case %d, content %d", i, (int)content);
        draw(&seed, content, &params, &ground, &disparity);
        found += compare(&disparity, &ground, &params, what);
        test_image_free(&disparity);
    }
    print_message("%d stixels\n", found);
    assert_true(found > 300);
}

/* A camera 1 m above level ground, horizon in row 100, focal length 500 px, and a box 0.5 m high from the ground up at 20 px,
 * in columns 40 .. 59 of pixels 160 .. 239. */
static void a_box_on_the_ground(void **state)
{
    (void)state;
    const struct plx_columns_params params = {.mask = {.near_disparity = 1023,
                                                       .far_disparity = 40,
                                                       .min_height_um = 200000,
                                                       .max_height_um = 3000000,
                                                       .focal_px = 500,
                                                       .ground_needed = true},
                                              .disparities = 64};
    const struct plx_ground ground = {.b = 2 << 16, .c = -(200 << 16), .camera_height_um = 1000000, .valid = 1};
    struct plx_image disparity = test_image_new(320, 360, PLX_U16, 0);
    struct outputs got = outputs_new(320);

    for (int y = 0; y < 360; y++)
        for (int x = 0; x < 320; x++) {
            const int road = 2 * (y - 100), d = x >= 160 && x < 240 && y >= 180 && road < 320 ? 320 : road;
            ((uint16_t *)plx_row(&disparity, y))[x] = (uint16_t)(d < 16 ? (int)PLX_DISPARITY_INVALID : d);
        }
    assert_int_equal(
        stages[PLX_ISA_COUNT]->ops->columns(stages[PLX_ISA_COUNT], &disparity, &ground, &params, &got.scan, &got.stixels), 0);
    for (int x = 0; x < 80; x++) {
        const struct plx_scan *scan = (const struct plx_scan *)got.scan.data + x;
        const struct plx_stixel *stixel = plx_row(&got.stixels, x);
        const bool box = x >= 40 && x < 60;
        if (x == 39 || x == 40 || x == 59 || x == 60) /* the veils of its sides */
            continue;
        assert_int_equal(scan->known, 1);
        assert_int_equal(scan->stixels, box);
        assert_int_equal(scan->nearest, box ? 320 : 0);
        assert_in_range(scan->free, box ? 320 : 16, box ? 330 : 20);
        if (!box)
            continue;
        assert_int_equal(stixel->disparity, 320);
        assert_in_range(stixel->y0, 178, 182);
        assert_in_range(stixel->y1, 250, 264);
        assert_in_range(stixel->top_mm, 480, 520);
        assert_in_range(stixel->foot_mm + 100, 70, 170);
    }
    outputs_free(&got);
    test_image_free(&disparity);
}

static void nothing_without_the_ground_it_needs(void **state)
{
    (void)state;
    struct plx_columns_params params = {
        .mask = {.near_disparity = 1023, .far_disparity = 40, .focal_px = 500, .ground_needed = true}, .disparities = 64};
    const struct plx_ground none = {0};
    struct plx_image disparity = test_image_new(64, 64, PLX_U16, 0);

    for (int i = 0; i < 64 * 64; i++)
        ((uint16_t *)disparity.data)[i] = 320;
    assert_int_equal(compare(&disparity, &none, &params, "ground needed"), 0);
    params.mask.ground_needed = false;
    assert_int_equal(compare(&disparity, &none, &params, "ground not needed"), 16);
    test_image_free(&disparity);
}

static void refuses_what_does_not_fit(void **state)
{
    (void)state;
    struct plx_columns_params params = {.mask = {.focal_px = 500}, .disparities = 64};
    const struct plx_ground none = {0};
    struct plx_image disparity = test_image_new(65, 64, PLX_U16, 0);
    struct outputs got = outputs_new(65), narrow = outputs_new(64);
    struct plx_stages *cpu = stages[PLX_ISA_COUNT];

    assert_int_equal(cpu->ops->columns(cpu, &disparity, &none, &params, &got.scan, &got.stixels), 0);
    assert_int_equal(cpu->ops->columns(cpu, &disparity, &none, &params, &narrow.scan, &narrow.stixels), PLX_ERR_ARG);
    assert_int_equal(cpu->ops->columns(cpu, &disparity, &none, &params, &got.stixels, &got.scan), PLX_ERR_ARG);
    params.disparities = 65;
    assert_int_equal(cpu->ops->columns(cpu, &disparity, &none, &params, &got.scan, &got.stixels), PLX_ERR_ARG);
    params.disparities = 64;
    params.mask.focal_px = 0;
    assert_int_equal(cpu->ops->columns(cpu, &disparity, &none, &params, &got.scan, &got.stixels), PLX_ERR_ARG);
    outputs_free(&got);
    outputs_free(&narrow);
    test_image_free(&disparity);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bits_as_the_oracle),
        cmocka_unit_test(a_box_on_the_ground),
        cmocka_unit_test(nothing_without_the_ground_it_needs),
        cmocka_unit_test(refuses_what_does_not_fit),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
