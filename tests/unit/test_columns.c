/* SPDX-License-Identifier: Apache-2.0 */
/* Stage columns beside its plain scalar oracle: every instruction set, odd sizes, pitch unlike width, with and without ground;
 * and what it must see in a made-up street. */
#include <stdio.h>

#include <parallax/error.h>

#include "core/ground/stixels.h"
#include "cpu/cpu.h"
#include "cpu/internal.h"
#include "oracle/columns.h"
#include "oracle/test_image.h"
#include "tests/cmocka.h"
#include "tests/column_cases.h"

#define WIDTH 640
#define HEIGHT 520

static int drops;                                    /* columns with one, of all cases */
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
        if (stages[i] && (stages[i]->ops->stixels(stages[i], disparity, ground, params, &got.scan, &got.stixels) != 0 ||
                          !test_image_equal(&got.scan, &want.scan) || !test_image_equal(&got.stixels, &want.stixels) ||
                          !test_image_padding_intact(&got.scan) || !test_image_padding_intact(&got.stixels)))
            fail_msg("%s, %d x %d, backend %d, PLX_TEST_SEED=%llu", what, disparity->width, disparity->height, i,
                     (unsigned long long)test_seed());
        outputs_free(&got);
    }
    for (int x = 0; x < want.scan.width; x++)
        found += ((const struct plx_scan *)want.scan.data)[x].stixels;
    for (int x = 0; x < want.scan.width; x++)
        drops += ((const struct plx_scan *)want.scan.data)[x].known > PLX_SCAN_KNOWN;
    outputs_free(&want);
    return found;
}

static void same_bits_as_the_oracle(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    int found = 0;

    drops = 0;
    for (int i = 0; i < COLUMN_CASES; i++) {
        const struct column_case c = column_case(&seed, i);
        struct plx_image disparity = test_image_new(c.width, c.height, PLX_U16, (int)random_below(&seed, 5));
        char what[32];

        snprintf(what, sizeof what, "case %d, content %d", i, (int)c.content);
        column_draw(&seed, c.content, &c.params, &c.ground, &disparity);
        found += compare(&disparity, &c.ground, &c.params, what);
        test_image_free(&disparity);
    }
    print_message("%d stixels, %d columns with a drop\n", found, drops);
    assert_true(found > 300 && drops > 10);
}

/* A camera 1 m above level ground, horizon in row 100, focal length 500 px. */
static const struct plx_columns_params camera = {.mask = {.near_disparity = 1023,
                                                          .far_disparity = 40,
                                                          .min_height_um = 200000,
                                                          .max_height_um = 3000000,
                                                          .focal_px = 500,
                                                          .ground_needed = true},
                                                 .disparities = 64,
                                                 .min_drop_mm = 100};
static const struct plx_ground ground = {.b = 2 << 16, .c = -(200 << 16), .camera_height_um = 1000000, .valid = 1};

/* Level ground up to row 200, 2 m ahead, and behind it ground that lies deeper by FALL mm, whose face is hidden. */
static void ground_that_falls_away(void **state)
{
    (void)state;
    static const int falls[] = {0, 40, 120, 180, 300, 1000};
    for (size_t i = 0; i < sizeof falls / sizeof *falls; i++) {
        struct plx_image disparity = test_image_new(320, 360, PLX_U16, 0);
        struct outputs got = outputs_new(320);
        for (int y = 0; y < 360; y++)
            for (int x = 0; x < 320; x++) {
                const int road = 2 * (y - 100), d = y >= 200 ? road : road * 1000 / (1000 + falls[i]);
                ((uint16_t *)plx_row(&disparity, y))[x] = (uint16_t)(d < 16 ? (int)PLX_DISPARITY_INVALID : d);
            }
        assert_int_equal(
            stages[PLX_ISA_COUNT]->ops->stixels(stages[PLX_ISA_COUNT], &disparity, &ground, &camera, &got.scan, &got.stixels),
            0);
        for (int x = 0; x < 80; x++) {
            const struct plx_scan *scan = (const struct plx_scan *)got.scan.data + x;
            const int drop = scan->known >> PLX_SCAN_DROP_SHIFT;
            assert_int_equal(scan->known & PLX_SCAN_KNOWN, 1);
            assert_in_range(drop, falls[i] >= 100 ? 190 : 0, falls[i] >= 100 ? 206 : 0);
            assert_int_equal(scan->nearest, 0);
        }
        outputs_free(&got);
        test_image_free(&disparity);
    }
}

/* A box 0.5 m high from the ground up at 20 px, in columns 40 .. 59 of the scan, pixels 160 .. 239. */
static void a_box_on_the_ground(void **state)
{
    (void)state;
    struct plx_image disparity = test_image_new(320, 360, PLX_U16, 0);
    struct outputs got = outputs_new(320);

    for (int y = 0; y < 360; y++)
        for (int x = 0; x < 320; x++) {
            const int road = 2 * (y - 100), d = x >= 160 && x < 240 && y >= 180 && road < 320 ? 320 : road;
            ((uint16_t *)plx_row(&disparity, y))[x] = (uint16_t)(d < 16 ? (int)PLX_DISPARITY_INVALID : d);
        }
    assert_int_equal(
        stages[PLX_ISA_COUNT]->ops->stixels(stages[PLX_ISA_COUNT], &disparity, &ground, &camera, &got.scan, &got.stixels), 0);
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

/* A thing in columns 40 .. 59 of the scan that is too near to be matched, but for two accidents: it covers
 * the picture from row 140 down. Behind it stands a wall, and before that 2 rows of cells of ground are seen. */
static void what_is_too_near_is_not_known_to_be_free(void **state)
{
    (void)state;
    struct plx_image disparity = test_image_new(320, 360, PLX_U16, 0);
    struct outputs got = outputs_new(320);

    for (int y = 0; y < 360; y++)
        for (int x = 0; x < 320; x++) {
            const int road = 2 * (y - 100), d = y < 136 ? 72 : road;
            const bool thing = x >= 160 && x < 240 && y >= 140 && y != 200 && y != 300;
            ((uint16_t *)plx_row(&disparity, y))[x] = (uint16_t)(thing || y < 60 ? (int)PLX_DISPARITY_INVALID : d);
        }
    compare(&disparity, &ground, &camera, "too near");
    assert_int_equal(
        stages[PLX_ISA_COUNT]->ops->stixels(stages[PLX_ISA_COUNT], &disparity, &ground, &camera, &got.scan, &got.stixels), 0);
    for (int x = 10; x < 80; x++) {
        const struct plx_scan *scan = (const struct plx_scan *)got.scan.data + x;
        const bool thing = x >= 40 && x < 60;
        if (x == 39 || x == 40 || x == 59 || x == 60)
            continue;
        assert_int_equal(scan->nearest, 72); /* the wall */
        assert_int_equal(scan->known, !thing);
        if (thing)
            assert_int_equal(scan->free, PLX_SCAN_NOTHING_FREE);
        else
            assert_in_range(scan->free, 72, 76);
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
    assert_int_equal(compare(&disparity, &none, &params, "ground not needed"), 12); /* the left ones have no partner */
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

    assert_int_equal(cpu->ops->stixels(cpu, &disparity, &none, &params, &got.scan, &got.stixels), 0);
    assert_int_equal(cpu->ops->stixels(cpu, &disparity, &none, &params, &narrow.scan, &narrow.stixels), PLX_ERR_ARG);
    assert_int_equal(cpu->ops->stixels(cpu, &disparity, &none, &params, &got.stixels, &got.scan), PLX_ERR_ARG);
    params.disparities = 65;
    assert_int_equal(cpu->ops->stixels(cpu, &disparity, &none, &params, &got.scan, &got.stixels), PLX_ERR_ARG);
    params.disparities = 64;
    params.mask.focal_px = 0;
    assert_int_equal(cpu->ops->stixels(cpu, &disparity, &none, &params, &got.scan, &got.stixels), PLX_ERR_ARG);
    outputs_free(&got);
    outputs_free(&narrow);
    test_image_free(&disparity);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bits_as_the_oracle),
        cmocka_unit_test(ground_that_falls_away),
        cmocka_unit_test(a_box_on_the_ground),
        cmocka_unit_test(what_is_too_near_is_not_known_to_be_free),
        cmocka_unit_test(nothing_without_the_ground_it_needs),
        cmocka_unit_test(refuses_what_does_not_fit),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
