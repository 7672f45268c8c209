/* SPDX-License-Identifier: Apache-2.0 */
/* Stage columns beside its plain scalar oracle: every instruction set, odd sizes, pitch unlike width, with and without ground;
 * and what it must see in a made-up street. */
#include <math.h>
#include <stdio.h>

#include <parallax/error.h>

#include "core/ground/scan.h"
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
static const struct plx_calibration_info lens = {
    .fx = 500, .fy = 500, .cx = 159.5, .cy = 100, .cx_right = 159.5, .baseline_m = 0.125};
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
        plx_scan_confirm_drops(got.scan.data, 80);
        for (int x = 0; x < 80; x++) {
            const struct plx_scan *scan = (const struct plx_scan *)got.scan.data + x;
            assert_int_equal(scan->known, falls[i] >= 100 ? PLX_SCAN_KNOWN | PLX_SCAN_DROP : PLX_SCAN_KNOWN);
            assert_in_range(scan->free, falls[i] >= 100 ? 190 : 16, falls[i] >= 100 ? 206 : 20);
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

static void a_gap_between_unknown_columns_is_closed(void **state)
{
    (void)state;
    struct plx_scan scan[20];

    for (int x = 0; x < 20; x++)
        scan[x] = (struct plx_scan){40, 50, 1, 1};
    scan[4].free = scan[9].free = scan[15].free = PLX_SCAN_NOTHING_FREE;
    plx_scan_close(scan, 20);
    for (int x = 0; x < 20; x++) {
        const bool closed = x < 10 || x >= 15; /* 4, 4, 5 and 4 columns */
        assert_int_equal(scan[x].free, closed ? PLX_SCAN_NOTHING_FREE : 50);
        assert_int_equal(scan[x].known, !closed || x == 4 || x == 9 || x == 15); /* these may show a thing that is near */
        assert_int_equal(scan[x].nearest, 40);
    }
}

/* For the camera above: level ground, and from FROM m on it falls by SLOPE. Disparity is 1000 / depth. */
static void draw_slope(double from, double slope, const struct plx_image *disparity)
{
    for (int y = 0; y < disparity->height; y++) {
        const double down = (y - 100) / 500.0, level = down > 0 ? 1 / down : 1e9;
        const double fallen = down > slope ? (1 - slope * from) / (down - slope) : 1e9, z = level > from ? fallen : level;
        for (int x = 0; x < disparity->width; x++)
            ((uint16_t *)plx_row(disparity, y))[x] = z < 60 ? (uint16_t)lround(1000 / z) : PLX_DISPARITY_INVALID;
    }
}

static void a_slope_is_no_drop(void **state)
{
    (void)state;
    static const double slopes[] = {0, 0.08, 0.14, 0.3};
    struct plx_image disparity = test_image_new(320, 360, PLX_U16, 0);
    for (size_t i = 0; i < sizeof slopes / sizeof *slopes; i++) {
        const unsigned drop = PLX_SCAN_KNOWN | 400u << PLX_SCAN_DROP_SHIFT;
        struct plx_scan scan[80];
        draw_slope(2.5, slopes[i], &disparity);
        for (int x = 0; x < 80; x++)
            scan[x] = (struct plx_scan){0, 50, (uint16_t)drop, 0};
        plx_scan_refuse_slopes(&disparity, &ground, &lens, &camera, scan);
        for (int x = 0; x < 80; x++)
            assert_int_equal(scan[x].known, slopes[i] > 0.2 ? drop : PLX_SCAN_KNOWN);
    }
    test_image_free(&disparity);
}

/* A box 2.5 m ahead, from column BEGIN to END, and HEIGHT_MM high. */
static void end_at_box(int begin, int end, int height_mm, struct plx_scan scan[80])
{
    struct plx_columns_params params = camera;
    struct plx_image disparity = test_image_new(320, 360, PLX_U16, 0);
    params.mask.min_height_um = 0;
    draw_slope(2.5, 0, &disparity);
    for (int y = 300 - height_mm / 5; y < 300; y++)
        for (int x = 4 * begin; x < 4 * end; x++)
            ((uint16_t *)plx_row(&disparity, y))[x] = 400;
    for (int x = 0; x < 80; x++)
        scan[x] = (struct plx_scan){0, 50, PLX_SCAN_KNOWN | PLX_SCAN_DROP, 0};
    plx_scan_end_at_rises(&disparity, &ground, &lens, &params, scan);
    test_image_free(&disparity);
}

static void free_ground_ends_at_a_low_box(void **state)
{
    (void)state;
    static const int boxes[][3] = {{20, 24, 100}, {20, 60, 100}, {20, 23, 100}, {20, 60, 50}}; /* too narrow; too low */
    for (size_t i = 0; i < sizeof boxes / sizeof *boxes; i++) {
        struct plx_scan scan[80];
        end_at_box(boxes[i][0], boxes[i][1], boxes[i][2], scan);
        for (int x = 0; x < 80; x++) {
            const bool ends = i < 2 && x >= boxes[i][0] && x < boxes[i][1];
            assert_in_range(scan[x].free, ends ? 398 : 50, ends ? 406 : 50);
            assert_int_equal(scan[x].known, ends ? PLX_SCAN_KNOWN | PLX_SCAN_RISE : PLX_SCAN_KNOWN | PLX_SCAN_DROP);
        }
    }
}

/* Higher things only where higher things are looked for: the bend must have three quarters of that, and of the roughness,
 * in three cells of 10 mm here. */
static void a_rise_is_as_high_as_what_is_looked_for(void **state)
{
    (void)state;
    static const struct {
        int min_height_mm, height_mm;
        bool ends;
    } cases[] = {{0, 80, false}, {0, 100, true}, {100, 150, false}, {100, 180, true}, {300, 300, false}, {300, 330, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct plx_columns_params params = camera;
        struct plx_image disparity = test_image_new(320, 360, PLX_U16, 0);
        struct plx_scan scan[80];
        params.mask.min_height_um = 1000 * cases[i].min_height_mm;
        draw_slope(2.5, 0, &disparity);
        for (int y = 300 - cases[i].height_mm / 5; y < 300; y++)
            for (int x = 0; x < 320; x++)
                ((uint16_t *)plx_row(&disparity, y))[x] = 400;
        for (int x = 0; x < 80; x++)
            scan[x] = (struct plx_scan){0, 50, PLX_SCAN_KNOWN, 0};
        plx_scan_end_at_rises(&disparity, &ground, &lens, &params, scan);
        for (int x = 0; x < 80; x++)
            if (((scan[x].known & PLX_SCAN_RISE) != 0) != cases[i].ends)
                fail_msg("a box of %d mm, things from %d mm on: %s", cases[i].height_mm, cases[i].min_height_mm,
                         cases[i].ends ? "no rise" : "a rise");
        test_image_free(&disparity);
    }
}

/* Level ground, and from FROM m on it rises by SLOPE; the camera, 1 m above it, looks down by PITCH. Disparity is 1000 / depth.
 */
static struct plx_ground draw_ramp(double from, double slope, double pitch, const struct plx_image *disparity)
{
    const double c = cos(pitch), s = sin(pitch);
    for (int y = 0; y < disparity->height; y++) {
        const double t = (y + 0.5 - 100) / 500.0, ahead = c - t * s, down = s + t * c;
        const double level = down > 0 ? 1 / down : 1e9, up = (1 + slope * from) / fmax(down + slope * ahead, 1e-9);
        const double z = level * ahead > from ? up : level;
        for (int x = 0; x < disparity->width; x++)
            ((uint16_t *)plx_row(disparity, y))[x] = z < 60 ? (uint16_t)lround(1000 / z) : PLX_DISPARITY_INVALID;
    }
    struct plx_ground tilted = ground;
    tilted.a = 0;
    tilted.b = llround(65536 * 2 * c);
    tilted.c = llround(65536 * (1000 * s - 200 * c));
    return tilted;
}

/* A robot drives up a ramp of up to 11 degrees; a steeper one is no ground to drive on. */
static void a_ramp_is_no_rise(void **state)
{
    (void)state;
    static const double pitches[] = {0, 0.15, 0.35}, slopes[] = {0, 0.1, 0.18, 0.4, 1};
    struct plx_image disparity = test_image_new(320, 360, PLX_U16, 0);
    for (size_t i = 0; i < 15; i++) {
        const double pitch = pitches[i % 3], slope = slopes[i / 3];
        const struct plx_ground tilted = draw_ramp(2.5, slope, pitch, &disparity);
        struct plx_columns_params params = camera;
        struct plx_scan scan[80];
        params.mask.min_height_um = 0;
        for (int x = 0; x < 80; x++)
            scan[x] = (struct plx_scan){0, 50, PLX_SCAN_KNOWN, 0};
        plx_scan_end_at_rises(&disparity, &tilted, &lens, &params, scan);
        const bool rises = scan[40].known & PLX_SCAN_RISE;
        if (rises != (slope > 0.2))
            fail_msg("pitch %g, slope %g: %s", pitch, slope, rises ? "a rise" : "no rise");
        if (!rises)
            continue;
        const double edge = 1000 / (2.5 * cos(pitch) + sin(pitch)); /* the ramp begins there, and shows a little later */
        assert_true(scan[40].free <= edge + 8 && scan[40].free >= edge * 0.8);
    }
    test_image_free(&disparity);
}

static void without_a_ground_nothing_rises(void **state)
{
    (void)state;
    static const struct plx_ground none[] = {{.b = 1 << 17, .camera_height_um = 1000000, .valid = 0},
                                             {.b = 0, .camera_height_um = 1000000, .valid = PLX_GROUND_FOUND},
                                             {.b = -(1 << 17), .camera_height_um = 1000000, .valid = PLX_GROUND_FOUND}};
    struct plx_image disparity = test_image_new(320, 360, PLX_U16, 0);
    draw_ramp(2.5, 1, 0, &disparity);
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        struct plx_scan scan[80];
        for (int x = 0; x < 80; x++)
            scan[x] = (struct plx_scan){0, 50, PLX_SCAN_KNOWN, 0};
        plx_scan_end_at_rises(&disparity, &none[i], &lens, &camera, scan);
        for (int x = 0; x < 80; x++)
            assert_true(scan[x].free == 50 && scan[x].known == PLX_SCAN_KNOWN);
    }
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
        cmocka_unit_test(a_gap_between_unknown_columns_is_closed),
        cmocka_unit_test(a_slope_is_no_drop),
        cmocka_unit_test(a_rise_is_as_high_as_what_is_looked_for),
        cmocka_unit_test(a_ramp_is_no_rise),
        cmocka_unit_test(without_a_ground_nothing_rises),
        cmocka_unit_test(free_ground_ends_at_a_low_box),
        cmocka_unit_test(nothing_without_the_ground_it_needs),
        cmocka_unit_test(refuses_what_does_not_fit),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
