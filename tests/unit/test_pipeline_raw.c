/* SPDX-License-Identifier: Apache-2.0 */
/* Raw frames: both pictures as stage convert gives them and their histograms, against the oracles; and nothing else. */
#include "core/base/image.h"
#include "core/pipeline/pipeline.h"
#include "tests/unit/image_cases.h"

#define GUARD 4096
#define GUARD_BYTE 0xA5

/* A pipeline for raw frames of one size, and memory for one with a guard behind it. */
struct fixture {
    struct plx_pipeline *pipeline;
    struct plx_frame *frame;
    struct plx_plane plane[PLX_PLANE_COUNT];
    uint32_t bytes;
};

static struct fixture fixture_open(int width, int height)
{
    struct fixture fixture;
    struct plx_error_message message = {""};

    fixture.bytes = plx_pipeline_layout_raw(width, height, fixture.plane);
    fixture.frame = aligned_alloc(4096, fixture.bytes + GUARD);
    assert_non_null(fixture.frame);
    memset(fixture.frame, 0, fixture.bytes);
    memset((uint8_t *)fixture.frame + fixture.bytes, GUARD_BYTE, GUARD);
    if (plx_pipeline_create_raw(stages, width, height, &fixture.pipeline, &message) < 0)
        fail_msg("%s", message.text);
    return fixture;
}

static void fixture_close(struct fixture *fixture)
{
    for (int i = 0; i < GUARD; i++)
        assert_int_equal(((uint8_t *)fixture->frame)[fixture->bytes + (uint32_t)i], GUARD_BYTE);
    plx_pipeline_destroy(fixture->pipeline);
    free(fixture->frame);
}

/* One buffer of noise with both eyes side by side, its rows padded; free *ret_data. */
static struct plx_raw both_eyes(enum plx_format format, int eye_width, int height, uint8_t **ret_data)
{
    struct plx_raw raw = {.width = 2 * eye_width, .height = height, .format = format, .eye_width = eye_width};
    const size_t rows = plx_raw_rows(format, height);

    raw.pitch = plx_raw_row_bytes(format, raw.width) + 6;
    raw.bytes = rows * raw.pitch;
    uint8_t *data = malloc(raw.bytes);
    assert_non_null(data);
    for (size_t i = 0; i < raw.bytes; i++)
        data[i] = (uint8_t)random_next(&random_state);
    raw.data = *ret_data = data;
    return raw;
}

static void expect_plane(struct plx_frame *frame, enum plx_plane_id id, int from_row, struct plx_image *expected,
                         const char *what)
{
    struct plx_image got = plx_pipeline_plane(frame, id);

    got.data = plx_row(&got, from_row);
    got.height = expected->height;
    assert_int_equal(got.width, expected->width);
    if (!test_image_equal(&got, expected))
        fail_msg("%s, plane %d from row %d: differs from the oracle; PLX_TEST_SEED=%llu", what, (int)id, from_row,
                 (unsigned long long)test_seed());
    test_image_free(expected);
}

static void expect_frame(struct fixture *fixture, const struct plx_raw raw[PLX_EYES], const char *what)
{
    static const struct plx_calibration_info none;
    static const enum plx_plane_id plane_of[PLX_EYES] = {PLX_PLANE_LEFT, PLX_PLANE_RIGHT};
    struct plx_frame *frame = fixture->frame;

    assert_int_equal(plx_pipeline_process(fixture->pipeline, raw, 1, frame), 0);
    assert_memory_equal(&frame->calibration, &none, sizeof none);
    assert_memory_equal(frame->plane, fixture->plane, sizeof fixture->plane);
    assert_int_equal(frame->bytes, fixture->bytes);
    assert_int_equal(frame->width, raw[PLX_LEFT].eye_width);
    assert_int_equal(frame->height, raw[PLX_LEFT].height);
    assert_int_equal(frame->disparities, 0);
    assert_int_equal(frame->ground.valid + frame->motion.valid + frame->motion.source, 0);
    assert_int_equal(frame->obstacle_count + frame->region_count + frame->alignment.patches, 0);
    assert_true(frame->health & PLX_HEALTH_NOT_CALIBRATED);
    assert_int_equal(frame->blind, PLX_BLIND_NOT_CALIBRATED);
    assert_false(frame->health & (PLX_HEALTH_MISALIGNED | PLX_HEALTH_GROUND_LOST));
    for (int eye = 0; eye < PLX_EYES; eye++) {
        struct plx_image grey = test_image_new(raw[eye].eye_width, raw[eye].height, PLX_U8, 0);
        struct plx_image bins = test_image_new(PLX_HISTOGRAM_BINS, PLX_HISTOGRAM_EYE_ROWS, PLX_U32, 0);
        oracle_convert(&raw[eye], &grey);
        oracle_histogram(&grey, PLX_HISTOGRAM_BINS, &bins);
        expect_plane(frame, plane_of[eye], 0, &grey, what);
        expect_plane(frame, PLX_PLANE_HISTOGRAM, eye * PLX_HISTOGRAM_EYE_ROWS, &bins, what);
    }
}

static void every_format_is_published_as_the_oracle_has_it(void **state)
{
    (void)state;
    static const int side[] = {1, 2, 7, 513};
    char what[96];

    for (int i = 0; i < COUNT(side) * COUNT(side) * PLX_FORMAT_COUNT; i++) {
        const enum plx_format format = (enum plx_format)(i % PLX_FORMAT_COUNT);
        const int size = i / PLX_FORMAT_COUNT, width = side[size / COUNT(side)], height = side[size % COUNT(side)];
        if (plx_format_layout(format)->bayer && (width < 2 || height < 2))
            continue;
        uint8_t *data;
        struct plx_raw raw[PLX_EYES];
        raw[PLX_LEFT] = raw[PLX_RIGHT] = both_eyes(format, width, height, &data);
        raw[PLX_RIGHT].eye_x = width;
        struct fixture fixture = fixture_open(width, height);
        snprintf(what, sizeof what, "%s, %d x %d", plx_format_layout(format)->name, width, height);
        expect_frame(&fixture, raw, what);
        expect_frame(&fixture, raw, what); /* and once more over the first */
        fixture_close(&fixture);
        free(data);
    }
}

static void only_the_pictures_and_histograms_have_planes(void **state)
{
    (void)state;
    struct plx_plane plane[PLX_PLANE_COUNT];
    static const bool on[PLX_PLANE_COUNT] = {[PLX_PLANE_LEFT] = true, [PLX_PLANE_RIGHT] = true, [PLX_PLANE_HISTOGRAM] = true};

    for (int i = 0; i < COUNT(sizes); i++) {
        const uint32_t bytes = plx_pipeline_layout_raw(sizes[i][0], sizes[i][1], plane);
        for (int id = 0; id < PLX_PLANE_COUNT; id++) {
            assert_int_equal(plane[id].width > 0, on[id]);
            assert_true(plane[id].offset + plane[id].pitch * plane[id].height <= bytes);
        }
        assert_int_equal(plane[PLX_PLANE_RIGHT].width, sizes[i][0]);
        assert_int_equal(plane[PLX_PLANE_RIGHT].height, sizes[i][1]);
    }
}

/* Runs COUNT grey frames; returns the health of the last. */
static uint32_t health_of(const uint8_t *left, const uint8_t *right, int side, bool changing, int count)
{
    const size_t bytes = (size_t)side * (size_t)side;
    struct fixture fixture = fixture_open(side, side);
    uint8_t *copy[PLX_EYES] = {malloc(bytes), malloc(bytes)};

    assert_true(copy[PLX_LEFT] && copy[PLX_RIGHT]);
    memcpy(copy[PLX_LEFT], left, bytes);
    memcpy(copy[PLX_RIGHT], right, bytes);
    for (int i = 0; i < count; i++) {
        struct plx_raw raw[PLX_EYES];
        for (int eye = 0; eye < PLX_EYES; eye++) {
            for (size_t byte = 0; changing && byte < bytes; byte++)
                copy[eye][byte] ^= random_next(&random_state) % 4 == 0;
            raw[eye] = (struct plx_raw){.data = copy[eye],
                                        .bytes = bytes,
                                        .width = side,
                                        .height = side,
                                        .pitch = (size_t)side,
                                        .format = PLX_FORMAT_GREY,
                                        .eye_width = side};
        }
        assert_int_equal(plx_pipeline_process(fixture.pipeline, raw, i, fixture.frame), 0);
    }
    const uint32_t health = fixture.frame->health;
    fixture_close(&fixture);
    free(copy[PLX_LEFT]);
    free(copy[PLX_RIGHT]);
    return health;
}

/* Checks that need only the pictures also run in raw mode. */
static void pictures_are_judged(void **state)
{
    (void)state;
    enum { SIDE_PX = 128, FRAMES = 200 };
    static uint8_t noise[SIDE_PX * SIDE_PX], black[SIDE_PX * SIDE_PX], white[SIDE_PX * SIDE_PX];

    for (int i = 0; i < SIDE_PX * SIDE_PX; i++)
        noise[i] = (uint8_t)(64 + random_next(&random_state) % 128);
    memset(white, 0xFF, sizeof white);
    assert_int_equal(health_of(noise, noise, SIDE_PX, true, FRAMES), PLX_HEALTH_NOT_CALIBRATED);
    assert_true(health_of(noise, noise, SIDE_PX, false, FRAMES) & PLX_HEALTH_FROZEN);
    assert_true(health_of(black, black, SIDE_PX, true, FRAMES) & PLX_HEALTH_DARK);
    assert_true(health_of(white, white, SIDE_PX, true, FRAMES) & PLX_HEALTH_OVEREXPOSED);
    assert_true(health_of(noise, white, SIDE_PX, true, FRAMES) & PLX_HEALTH_BRIGHTNESS_MISMATCH);
}

static void wrong_sizes_and_pictures_are_refused(void **state)
{
    (void)state;
    static const int wrong[][2] = {{0, 1}, {1, 0}, {-1, 8}, {PLX_MAX_SIDE + 1, 8}, {8, PLX_MAX_SIDE + 1}};
    static uint8_t pixels[64];
    struct plx_pipeline *pipeline = NULL;

    for (int i = 0; i < COUNT(wrong); i++) {
        struct plx_error_message message = {""};
        assert_int_equal(plx_pipeline_create_raw(stages, wrong[i][0], wrong[i][1], &pipeline, &message), PLX_ERR_RANGE);
        assert_true(message.text[0] != '\0' && !pipeline);
    }
    struct fixture fixture = fixture_open(8, 8);
    const struct plx_raw good = {pixels, 64, 8, 8, 8, PLX_FORMAT_GREY, PLX_BAYER_RGGB, false, 0, 8, {0}};
    struct plx_raw pair[PLX_EYES] = {good, good};
    pair[PLX_RIGHT].height = 7;
    assert_int_equal(plx_pipeline_process(fixture.pipeline, pair, 1, fixture.frame), PLX_ERR_ARG);
    pair[PLX_RIGHT] = good;
    assert_int_equal(plx_pipeline_process(fixture.pipeline, pair, 1, fixture.frame), 0);
    fixture_close(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_format_is_published_as_the_oracle_has_it),
        cmocka_unit_test(only_the_pictures_and_histograms_have_planes),
        cmocka_unit_test(pictures_are_judged),
        cmocka_unit_test(wrong_sizes_and_pictures_are_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
