/* SPDX-License-Identifier: Apache-2.0 */
/* Stage free_ground beside its plain scalar oracle: odd sizes, pitch unlike width, with and without ground; and what it must
 * see: narrow gaps, slopes that are no drops, low boxes. */
#include <math.h>
#include <stdio.h>

#include <parallax/error.h>

#include "core/ground/stixels.h"
#include "cpu/cpu.h"
#include "oracle/free_ground.h"
#include "oracle/test_image.h"
#include "tests/cmocka.h"
#include "tests/column_cases.h"

static struct plx_stages *stages[2]; /* with one thread, and with three */

static int set_up(void **state)
{
    (void)state;
    struct plx_limits limits = {640, 520, 256, 1};
    const int result = plx_cpu_create(&limits, &stages[0]);
    limits.threads = 3;
    return result < 0 ? result : plx_cpu_create(&limits, &stages[1]);
}

static int tear_down(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++)
        if (stages[i])
            stages[i]->ops->destroy(stages[i]);
    return 0;
}

/* Columns that end at a drop and at a rise, and gaps that are closed, of all cases. */
static int drops, rises, gaps;

static void count_ends(const struct plx_image *before, const struct plx_image *after)
{
    for (int x = 0; x < after->width; x++) {
        const struct plx_scan *was = (const struct plx_scan *)before->data + x, *is = (const struct plx_scan *)after->data + x;
        drops += (is->known & PLX_SCAN_DROP) > 0;
        rises += (is->known & PLX_SCAN_RISE) > 0;
        gaps += is->free == PLX_SCAN_NOTHING_FREE && was->free != PLX_SCAN_NOTHING_FREE;
    }
}

static void copy_scan(const struct plx_image *from, const struct plx_image *to)
{
    for (int x = 0; x < from->width; x++)
        ((struct plx_scan *)to->data)[x] = ((const struct plx_scan *)from->data)[x];
}

static void compare(const struct column_case *c, const struct plx_image *disparity, const struct plx_calibration_info *lens,
                    const struct plx_image *scan, const char *what)
{
    struct plx_image want = test_image_new(scan->width, 1, PLX_U64, 1), got = test_image_new(scan->width, 1, PLX_U64, 1);

    copy_scan(scan, &want);
    oracle_free_ground(disparity, &c->ground, &c->params, lens, &want);
    count_ends(scan, &want);
    for (int i = 0; i < 2; i++) {
        copy_scan(scan, &got);
        if (stages[i]->ops->free_ground(stages[i], disparity, &c->ground, &c->params, lens, &got) != 0 ||
            !test_image_equal(&got, &want) || !test_image_padding_intact(&got))
            fail_msg("%s, %d x %d, backend %d, PLX_TEST_SEED=%llu", what, c->width, c->height, i,
                     (unsigned long long)test_seed());
    }
    test_image_free(&want);
    test_image_free(&got);
}

/* The scan of stage stixels, and a random one. */
static void same_bits_as_the_oracle(void **state)
{
    (void)state;
    uint64_t seed = test_seed();

    drops = rises = gaps = 0;
    for (int i = 0; i < COLUMN_CASES; i++) {
        const struct column_case c = column_case(&seed, i);
        const int columns = plx_columns_of(c.width);
        struct plx_image disparity = test_image_new(c.width, c.height, PLX_U16, (int)random_below(&seed, 5));
        struct plx_image scan = test_image_new(columns, 1, PLX_U64, 0);
        struct plx_image stixels = test_image_new(PLX_COLUMN_STIXELS, columns, PLX_U128, 0);
        const struct plx_calibration_info lens = column_lens(&seed, &c.ground);
        char what[48];

        snprintf(what, sizeof what, "case %d, content %d", i, (int)c.content);
        column_draw(&seed, c.content, &c.params, &c.ground, &disparity);
        assert_int_equal(stages[1]->ops->stixels(stages[1], &disparity, &c.ground, &c.params, &scan, &stixels), 0);
        compare(&c, &disparity, &lens, &scan, what);
        column_scan(&seed, &scan);
        compare(&c, &disparity, &lens, &scan, what);
        test_image_free(&disparity);
        test_image_free(&scan);
        test_image_free(&stixels);
    }
    print_message("%d columns with a drop, %d with a rise, %d closed\n", drops, rises, gaps);
    assert_true(drops > 50 && rises > 50 && gaps > 50);
}

/* A camera 1 m above level ground, horizon in row 100, focal length 500 px. */
static const struct plx_columns_params camera = {.mask = {.min_height_um = 200000}, .min_drop_mm = 100};
static const struct plx_calibration_info lens = {
    .fx = 500, .fy = 500, .cx = 159.5, .cy = 100, .cx_right = 159.5, .baseline_m = 0.125};
static const struct plx_ground ground = {.b = 2 << 16, .c = -(200 << 16), .camera_height_um = 1000000, .valid = 1};

/* Runs the stage on SCAN [COUNT] of DISPARITY, over the ground SEEN. */
static void end_free_ground_on(const struct plx_ground *seen, const struct plx_image *disparity,
                               const struct plx_columns_params *params, struct plx_scan *scan, int count)
{
    const struct plx_image image = {scan, count, 1, (size_t)count * sizeof *scan, PLX_U64};
    assert_int_equal(stages[1]->ops->free_ground(stages[1], disparity, seen, params, &lens, &image), 0);
}

static void end_free_ground(const struct plx_image *disparity, const struct plx_columns_params *params, struct plx_scan *scan,
                            int count)
{
    end_free_ground_on(&ground, disparity, params, scan, count);
}

static void a_gap_between_unknown_columns_is_closed(void **state)
{
    (void)state;
    struct plx_image disparity = test_image_new(80, 60, PLX_U16, 0);
    struct plx_scan scan[20];

    column_draw(NULL, INVALID, &camera, &ground, &disparity);
    for (int x = 0; x < 20; x++)
        scan[x] = (struct plx_scan){40, 50, 1, 1};
    scan[4].free = scan[9].free = scan[15].free = PLX_SCAN_NOTHING_FREE;
    end_free_ground(&disparity, &camera, scan, 20);
    test_image_free(&disparity);
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
        end_free_ground(&disparity, &camera, scan, 80);
        for (int x = 0; x < 80; x++)
            assert_int_equal(scan[x].known, slopes[i] > 0.2 ? PLX_SCAN_KNOWN | PLX_SCAN_DROP : PLX_SCAN_KNOWN);
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
        scan[x] = (struct plx_scan){0, 50, PLX_SCAN_KNOWN, 0};
    end_free_ground(&disparity, &params, scan, 80);
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
            assert_int_equal(scan[x].known, ends ? PLX_SCAN_KNOWN | PLX_SCAN_RISE : PLX_SCAN_KNOWN);
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
        end_free_ground(&disparity, &params, scan, 80);
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
        end_free_ground_on(&tilted, &disparity, &params, scan, 80);
        const bool has_risen = scan[40].known & PLX_SCAN_RISE;
        if (has_risen != (slope > 0.2))
            fail_msg("pitch %g, slope %g: %s", pitch, slope, has_risen ? "a rise" : "no rise");
        if (!has_risen)
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
        end_free_ground_on(&none[i], &disparity, &camera, scan, 80);
        for (int x = 0; x < 80; x++)
            assert_true(scan[x].free == 50 && scan[x].known == PLX_SCAN_KNOWN);
    }
    test_image_free(&disparity);
}

static void refuses_what_does_not_fit(void **state)
{
    (void)state;
    struct plx_image disparity = test_image_new(65, 64, PLX_U16, 0), scan = test_image_new(17, 1, PLX_U64, 0);
    struct plx_image narrow = test_image_new(16, 1, PLX_U64, 0), wide = test_image_new(641, 8, PLX_U16, 0);
    struct plx_image wide_scan = test_image_new(161, 1, PLX_U64, 0);
    struct plx_stages *cpu = stages[0];

    assert_int_equal(cpu->ops->free_ground(cpu, &disparity, &ground, &camera, &lens, &scan), 0);
    assert_int_equal(cpu->ops->free_ground(cpu, &disparity, &ground, &camera, &lens, &narrow), PLX_ERR_ARG);
    assert_int_equal(cpu->ops->free_ground(cpu, &scan, &ground, &camera, &lens, &disparity), PLX_ERR_ARG);
    assert_int_equal(cpu->ops->free_ground(cpu, &wide, &ground, &camera, &lens, &wide_scan), PLX_ERR_RANGE);
    test_image_free(&disparity);
    test_image_free(&scan);
    test_image_free(&narrow);
    test_image_free(&wide);
    test_image_free(&wide_scan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bits_as_the_oracle),
        cmocka_unit_test(a_gap_between_unknown_columns_is_closed),
        cmocka_unit_test(a_slope_is_no_drop),
        cmocka_unit_test(free_ground_ends_at_a_low_box),
        cmocka_unit_test(a_rise_is_as_high_as_what_is_looked_for),
        cmocka_unit_test(a_ramp_is_no_rise),
        cmocka_unit_test(without_a_ground_nothing_rises),
        cmocka_unit_test(refuses_what_does_not_fit),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
