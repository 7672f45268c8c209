/* SPDX-License-Identifier: Apache-2.0 */
/* Stage segments beside its plain scalar oracle: every content of the columns stage, odd sizes, pitch unlike width, stixels and
 * predictions at random; and what it must make of a few stixels. */
#include <stdio.h>
#include <string.h>

#include <parallax/error.h>

#include "cpu/cpu.h"
#include "oracle/segments.h"
#include "oracle/test_image.h"
#include "tests/cmocka.h"
#include "tests/segment_cases.h"

#define WIDTH 640
#define HEIGHT 520

static struct plx_stages *cpu;
static const struct plx_predictions no_predictions;

static int set_up(void **state)
{
    (void)state;
    const struct plx_limits limits = {WIDTH, HEIGHT, 256, 3};
    return plx_cpu_create(&limits, &cpu);
}

static int tear_down(void **state)
{
    (void)state;
    cpu->ops->destroy(cpu);
    return 0;
}

/* The number of segments of a case without PREDICTIONS. */
static uint32_t count_unpredicted(const struct segment_case *c, const struct plx_image *disparity,
                                  const struct plx_image *stixels)
{
    struct plx_image labels = test_image_new(disparity->width, disparity->height, PLX_U32, 0);
    struct plx_image copy = test_image_new(PLX_COLUMN_STIXELS, stixels->height, PLX_U128, 0);
    uint32_t count = 0;

    for (int x = 0; x < stixels->height; x++)
        memcpy(plx_row(&copy, x), plx_row(stixels, x), PLX_COLUMN_STIXELS * sizeof(struct plx_stixel));
    assert_int_equal(cpu->ops->segments(cpu, disparity, &c->column.ground, &c->params, &no_predictions, &copy, &labels, &count),
                     0);
    test_image_free(&labels);
    test_image_free(&copy);
    return count;
}

static void same_bits_as_the_oracle(void **state)
{
    (void)state;
    uint64_t seed = test_seed(), prediction_seed = test_seed();
    uint32_t found = 0, most = 0;
    int changed = 0, full = 0;
    struct plx_predictions predictions;

    for (int i = 0; i < SEGMENT_CASES; i++) {
        const struct segment_case c = segment_case(&seed, i);
        const int width = c.column.width, height = c.column.height, columns = plx_columns_of(width);
        struct plx_image disparity = test_image_new(width, height, PLX_U16, (int)random_below(&seed, 5));
        struct plx_image want = test_image_new(width, height, PLX_U32, 0), got = test_image_new(width, height, PLX_U32, 3);
        struct plx_image want_stixels = test_image_new(PLX_COLUMN_STIXELS, columns, PLX_U128, 0),
                         got_stixels = test_image_new(PLX_COLUMN_STIXELS, columns, PLX_U128, 1);
        uint32_t want_count = 0, got_count = 77;

        assert_int_equal(segment_draw(&seed, &c, cpu, &disparity, &want_stixels), 0);
        predictions_draw(&prediction_seed, &want_stixels, &predictions);
        const uint32_t unpredicted = count_unpredicted(&c, &disparity, &want_stixels);
        for (int x = 0; x < columns; x++)
            memcpy(plx_row(&got_stixels, x), plx_row(&want_stixels, x), PLX_COLUMN_STIXELS * sizeof(struct plx_stixel));
        oracle_segments(&disparity, &c.column.ground, &c.params, &predictions, &want_stixels, &want, &want_count);
        assert_int_equal(
            cpu->ops->segments(cpu, &disparity, &c.column.ground, &c.params, &predictions, &got_stixels, &got, &got_count), 0);
        if (got_count != want_count || !test_image_equal(&got, &want) || !test_image_equal(&got_stixels, &want_stixels) ||
            !test_image_padding_intact(&got) || !test_image_padding_intact(&got_stixels))
            fail_msg("case %d, %d x %d, content %d, %d predictions, PLX_TEST_SEED=%llu: %u segments, expected %u", i, width,
                     height, (int)c.column.content, predictions.count, (unsigned long long)test_seed(), got_count, want_count);
        found += got_count;
        changed += got_count != unpredicted;
        full += predictions.count == PLX_MAX_OBSTACLES;
        most = got_count > most ? got_count : most;
        test_image_free(&disparity);
        test_image_free(&want);
        test_image_free(&got);
        test_image_free(&want_stixels);
        test_image_free(&got_stixels);
    }
    print_message("%u segments, up to %u in a picture; predictions change %d cases, %d have the most\n", found, most, changed,
                  full);
    assert_true(found > 800 && most > 100 && changed > 5 && full > 5);
}

/* A picture 32 pixels wide and 40 high, all at disparity D, in front of a camera whose depth is 6,000 m / D. */
static void expect_predicted(const struct plx_predictions *predictions, const struct plx_stixel (*stixel)[PLX_COLUMN_STIXELS],
                             int d, int min_area, const uint16_t (*want)[PLX_COLUMN_STIXELS], uint32_t want_count)
{
    const struct plx_segments_params params = {.depth_scale = 6000000, .max_height_um = 3000000, .min_area = min_area};
    const struct plx_ground none = {0};
    struct plx_image disparity = test_image_new(32, 40, PLX_U16, 0), labels = test_image_new(32, 40, PLX_U32, 0),
                     stixels = test_image_new(PLX_COLUMN_STIXELS, 8, PLX_U128, 0);
    uint32_t count = 0;

    for (int i = 0; i < 32 * 40; i++)
        ((uint16_t *)disparity.data)[i] = (uint16_t)d;
    for (int x = 0; x < 8; x++)
        memcpy(plx_row(&stixels, x), stixel[x], sizeof *stixel);
    assert_int_equal(cpu->ops->segments(cpu, &disparity, &none, &params, predictions, &stixels, &labels, &count), 0);
    for (int x = 0; x < 8; x++)
        for (int i = 0; i < PLX_COLUMN_STIXELS; i++)
            if (((const struct plx_stixel *)plx_row(&stixels, x))[i].label != want[x][i])
                fail_msg("stixel %d of column %d is of segment %d, expected %d", i, x,
                         ((const struct plx_stixel *)plx_row(&stixels, x))[i].label, want[x][i]);
    assert_int_equal(count, want_count);
    test_image_free(&disparity);
    test_image_free(&labels);
    test_image_free(&stixels);
}

static void expect(const struct plx_stixel (*stixel)[PLX_COLUMN_STIXELS], int d, int min_area,
                   const uint16_t (*want)[PLX_COLUMN_STIXELS], uint32_t want_count)
{
    expect_predicted(&no_predictions, stixel, d, min_area, want, want_count);
}

#define STIXEL(first, last, d)                                                                                                 \
    {                                                                                                                          \
        .y0 = (first), .y1 = (last), .disparity = (d)                                                                          \
    }

static void what_is_near_in_rows_and_depth_is_one_segment(void **state)
{
    (void)state;
    const struct plx_stixel stixel[8][PLX_COLUMN_STIXELS] = {
        {STIXEL(0, 19, 320)},                      /* 18.75 m */
        {STIXEL(12, 31, 326)},                     /* 8 common rows, 0.35 m nearer, but less than 2 % */
        {STIXEL(25, 39, 326)},                     /* 7 common rows: another one */
        {STIXEL(0, 11, 320), STIXEL(15, 32, 320)}, /* the lower one has 8 rows in common, the upper one is 4 rows above it */
        {STIXEL(0, 9, 335)},                       /* 4 % nearer, 0.84 m: another one */
        {STIXEL(0, 9, 335), STIXEL(15, 20, 335)},  /* 6 rows between them: another one, with too few pixels */
        {STIXEL(0, 9, 343)},                       /* 2.3 % nearer, 0.42 m: only because both are narrow */
    };
    const uint16_t want[8][PLX_COLUMN_STIXELS] = {{2}, {2}, {1}, {1, 1}, {3}, {3, 0}, {3}};

    expect(stixel, 322, 30, want, 3);
}

/* Far away 700 mm are less than the half pixel by which matching is wrong at the side of a thing, but 1500 mm are a gap. */
static void a_far_ramp_belongs_to_what_it_leads_from(void **state)
{
    (void)state;
    const struct plx_stixel ramp[8][PLX_COLUMN_STIXELS] = {{STIXEL(0, 39, 248)}, {STIXEL(0, 39, 240)}}, /* 24.2 and 25 m */
        step[8][PLX_COLUMN_STIXELS] = {{STIXEL(0, 39, 249)}, {STIXEL(0, 39, 240)}},
                            gap[8][PLX_COLUMN_STIXELS] = {{STIXEL(0, 39, 168)}, {STIXEL(0, 39, 160)}}; /* 35.7 and 37.5 m */
    const uint16_t want_one[8][PLX_COLUMN_STIXELS] = {{1}, {1}}, want_two[8][PLX_COLUMN_STIXELS] = {{1}, {2}};

    expect(ramp, 244, 1, want_one, 1);
    expect(step, 244, 1, want_two, 2);
    expect(gap, 164, 1, want_two, 2);
}

/* Two halves 4.5 % of their disparity and 0.84 m apart: the columns 0 to 7 and 8 to 15 of the picture. */
static const struct plx_stixel halves[8][PLX_COLUMN_STIXELS] = {
    {STIXEL(0, 39, 320)}, {STIXEL(0, 39, 320)}, {STIXEL(0, 39, 335)}, {STIXEL(0, 39, 335)}};
static const uint16_t want_one[8][PLX_COLUMN_STIXELS] = {{1}, {1}, {1}, {1}},
                      want_two[8][PLX_COLUMN_STIXELS] = {{1}, {1}, {2}, {2}};

static void one_predicted_box_keeps_an_obstacle_together(void **state)
{
    (void)state;
    static const struct {
        struct plx_predicted_box box;
        bool contains;
    } cases[] = {
        {{6, 10, 0, 39, 320, 335}, true}, /* the middles of both columns at the step */
        {{7, 10, 0, 39, 320, 335}, false},     {{6, 9, 0, 39, 320, 335}, false},
        {{6, 10, 20, 59, 320, 335}, true}, /* half of the rows */
        {{6, 10, 21, 59, 320, 335}, false},    {{6, 10, -40, 19, 320, 335}, true},
        {{6, 10, -40, 18, 320, 335}, false},   {{6, 10, 0, 39, 321, 335}, false},
        {{6, 10, 0, 39, 320, 334}, false},     {{-90, 90, -90, 90, -90, 990}, true},
        {{-90, -9, -90, -9, -90, 990}, false},
    };
    struct plx_predictions predictions = {.count = 1};

    expect(halves, 327, 1, want_two, 2);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        predictions.box[0] = cases[i].box;
        expect_predicted(&predictions, halves, 327, 1, cases[i].contains ? want_one : want_two, cases[i].contains ? 1 : 2);
    }
}

static void two_predicted_boxes_keep_nothing_together(void **state)
{
    (void)state;
    struct plx_predictions predictions = {.count = 2, .box = {{0, 8, 0, 39, 316, 324}, {8, 16, 0, 39, 331, 339}}};

    expect_predicted(&predictions, halves, 327, 1, want_two, 2);
    predictions = (struct plx_predictions){.count = 0, .box = {{-90, 90, -90, 90, -90, 990}}};
    expect_predicted(&predictions, halves, 327, 1, want_two, 2);
}

static void what_differs_too_much_comes_apart_in_a_predicted_box(void **state)
{
    (void)state;
    const struct plx_predictions everywhere = {.count = 1, .box = {{-90, 90, -90, 90, -90, 990}}};
    const struct plx_stixel step[8][PLX_COLUMN_STIXELS] = {{STIXEL(0, 39, 320)}, {STIXEL(0, 39, 337)}}, /* 5.04 % */
        rows[8][PLX_COLUMN_STIXELS] = {{STIXEL(0, 19, 320)}, {STIXEL(13, 39, 320)}},                    /* 7 common rows */
        one_column[8][PLX_COLUMN_STIXELS] = {{STIXEL(0, 15, 320), STIXEL(16, 39, 335)}},
                            near[8][PLX_COLUMN_STIXELS] = {{STIXEL(0, 39, 640)},
                                                           {STIXEL(0, 9, 600)}}; /* 6 %, but a join's 700 mm */
    const uint16_t want_step[8][PLX_COLUMN_STIXELS] = {{1}, {2}}, want_rows[8][PLX_COLUMN_STIXELS] = {{2}, {1}},
                   want_one_column[8][PLX_COLUMN_STIXELS] = {{2, 1}}, want_dropped[8][PLX_COLUMN_STIXELS] = {{1}, {0}},
                   want_near[8][PLX_COLUMN_STIXELS] = {{1}, {1}};

    expect_predicted(&everywhere, step, 328, 1, want_step, 2);
    expect_predicted(&everywhere, rows, 320, 1, want_rows, 2);
    expect_predicted(&everywhere, one_column, 327, 1, want_one_column, 2);
    expect(near, 620, 100, want_dropped, 1); /* too small to join */
    expect_predicted(&everywhere, near, 620, 100, want_near, 1);
}

static void a_pixel_lies_on_what_has_its_depth(void **state)
{
    (void)state;
    const struct plx_stixel far[8][PLX_COLUMN_STIXELS] = {
        {STIXEL(0, 39, 92)},
        {{0}},               /* 66.7 and 65.2 m: an eighth of a pixel */
        {STIXEL(0, 39, 93)}, /* 12 + 93 / 16 hold more, but these are 2.1 m */
    };
    const struct plx_stixel near[8][PLX_COLUMN_STIXELS] = {
        {STIXEL(0, 39, 518)}, {{0}}, /* 12.5 and 11.6 m: 38 of 44 / 16 px */
        {STIXEL(0, 39, 528)}, {{0}}, /* 11.4 m: 48 of 45 / 16 px */
        {STIXEL(0, 39, 521)},        /* 41 of 44 */
    };
    const uint16_t want_far[8][PLX_COLUMN_STIXELS] = {{1}}, want_near[8][PLX_COLUMN_STIXELS] = {{1}, {0}, {0}, {0}, {2}};

    expect(far, 90, 1, want_far, 1);
    expect(near, 480, 1, want_near, 2);
}

static void segments_that_cannot_be_published_say_so(void **state)
{
    (void)state;
    struct plx_image disparity = test_image_new(640, 480, PLX_U16, 0), labels = test_image_new(640, 480, PLX_U32, 0),
                     stixels = test_image_new(PLX_COLUMN_STIXELS, 160, PLX_U128, 0);
    const struct plx_segments_params params = {.depth_scale = 6000000, .max_height_um = 3000000, .min_area = 1};
    const struct plx_ground none = {0};
    uint32_t count = 0;

    for (int i = 0; i < 640 * 480; i++)
        ((uint16_t *)disparity.data)[i] = 320;
    for (int x = 0; x < 160; x += 2) /* four in every other column, each smaller than the one before */
        for (int i = 0; i < 4; i++)
            ((struct plx_stixel *)plx_row(&stixels, x))[i] =
                (struct plx_stixel)STIXEL((uint16_t)(100 * i), (uint16_t)(100 * i + 90 - i - x / 2 % 80), 320);
    assert_int_equal(cpu->ops->segments(cpu, &disparity, &none, &params, &no_predictions, &stixels, &labels, &count), 0);
    assert_int_equal(count, 320);
    int unpublished = 0;
    for (int x = 0; x < 160; x += 2)
        for (int i = 0; i < 4; i++)
            unpublished += ((const struct plx_stixel *)plx_row(&stixels, x))[i].label == 0xFFFF;
    assert_int_equal(unpublished, 320 - PLX_MAX_OBSTACLES);
    test_image_free(&disparity);
    test_image_free(&labels);
    test_image_free(&stixels);
}

static void refuses_what_does_not_fit(void **state)
{
    (void)state;
    struct plx_segments_params params = {.depth_scale = 1, .min_area = 1};
    const struct plx_ground none = {0};
    struct plx_image disparity = test_image_new(65, 64, PLX_U16, 0), labels = test_image_new(65, 64, PLX_U32, 0),
                     stixels = test_image_new(PLX_COLUMN_STIXELS, 17, PLX_U128, 0), few = stixels;
    uint32_t count = 7;

#define SEGMENTS(disparity, stixels, labels)                                                                                   \
    cpu->ops->segments(cpu, disparity, &none, &params, &no_predictions, stixels, labels, &count)
    few.height = 16;
    assert_int_equal(SEGMENTS(&disparity, &few, &labels), PLX_ERR_ARG);
    assert_int_equal(SEGMENTS(&disparity, &stixels, &disparity), PLX_ERR_ARG);
    params.depth_scale = PLX_SEGMENTS_MAX_SCALE + 1;
    assert_int_equal(SEGMENTS(&disparity, &stixels, &labels), PLX_ERR_ARG);
    params.depth_scale = PLX_SEGMENTS_MAX_SCALE;
    params.min_area = 0;
    assert_int_equal(SEGMENTS(&disparity, &stixels, &labels), PLX_ERR_ARG);
    assert_int_equal(count, 7);
    params.min_area = 1;
    assert_int_equal(SEGMENTS(&disparity, &stixels, &labels), 0);
    assert_int_equal(count, 0);
    test_image_free(&disparity);
    test_image_free(&labels);
    test_image_free(&stixels);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bits_as_the_oracle),
        cmocka_unit_test(what_is_near_in_rows_and_depth_is_one_segment),
        cmocka_unit_test(a_far_ramp_belongs_to_what_it_leads_from),
        cmocka_unit_test(one_predicted_box_keeps_an_obstacle_together),
        cmocka_unit_test(two_predicted_boxes_keep_nothing_together),
        cmocka_unit_test(what_differs_too_much_comes_apart_in_a_predicted_box),
        cmocka_unit_test(a_pixel_lies_on_what_has_its_depth),
        cmocka_unit_test(segments_that_cannot_be_published_say_so),
        cmocka_unit_test(refuses_what_does_not_fit),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
