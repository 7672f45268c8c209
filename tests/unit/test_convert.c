/* SPDX-License-Identifier: Apache-2.0 */
/* Stages convert and checksum against the oracle: every format, alignment, Bayer order and eye window; and every wrong
 * descriptor. */
#include "core/base/image.h"
#include "tests/unit/image_cases.h"

/* A raw buffer of exactly the bytes that it needs, with padded rows; free *ret_data. */
static struct plx_raw raw_new(enum plx_format format, int width, int height, enum pattern pattern, uint8_t **ret_data)
{
    size_t row = plx_raw_row_bytes(format, width);
    size_t rows = plx_raw_rows(format, height);
    struct plx_raw raw = {.width = width, .height = height, .pitch = row + 6, .format = format, .eye_width = width};
    raw.bytes = (rows - 1) * raw.pitch + row;
    uint8_t *data = malloc(raw.bytes);
    assert_non_null(data);
    for (size_t i = 0; i < raw.bytes; i++)
        data[i] = (uint8_t)(pattern == BLACK ? 0 : pattern == WHITE ? 0xFF : random_next(&random_state));
    raw.data = *ret_data = data;
    return raw;
}

static void compare(const struct plx_raw *raw, enum pattern pattern)
{
    for (int type = PLX_U8; type <= PLX_U16; type++) {
        struct plx_image got = test_image_new(raw->eye_width, raw->height, (enum plx_type)type, PADDING);
        struct plx_image expected = test_image_new(raw->eye_width, raw->height, (enum plx_type)type, 0);
        char what[128];
        snprintf(what, sizeof what, "%s %s, order %d, %s, eye at %d, to U%d", pattern_name[pattern],
                 plx_format_layout(raw->format)->name, (int)raw->bayer, raw->msb_aligned ? "MSB" : "LSB", raw->eye_x, type * 8);
        assert_int_equal(stages->ops->convert(stages, raw, &got), 0);
        oracle_convert(raw, &expected);
        expect_equal(&got, &expected, what);
    }
}

static void compare_checksum(const struct plx_raw *raw)
{
    struct plx_image got = test_image_new(64, 1, PLX_U64, PADDING), expected = test_image_new(64, 1, PLX_U64, 0);
    char what[64];
    snprintf(what, sizeof what, "checksum, %s, eye at %d", plx_format_layout(raw->format)->name, raw->eye_x);
    assert_int_equal(stages->ops->checksum(stages, raw, &got), 0);
    oracle_checksum(raw, &expected);
    expect_equal(&got, &expected, what);
}

/* Whole buffer, left and right half, and an odd window. */
static void compare_windows(struct plx_raw *raw, enum pattern pattern)
{
    int least = plx_format_layout(raw->format)->bayer ? 2 : 1, half = raw->width / 2;
    const int window[][2] = {{0, raw->width}, {0, half}, {half, raw->width - half}, {1, raw->width - 2}};
    for (int i = 0; i < COUNT(window); i++) {
        raw->eye_x = window[i][0];
        raw->eye_width = window[i][1];
        if (raw->eye_width < least)
            continue;
        compare(raw, pattern);
        compare_checksum(raw);
    }
}

static void every_format_equals_the_oracle(void **state)
{
    (void)state;
    for (int format = 0; format < PLX_FORMAT_COUNT; format++) {
        const struct plx_format_layout *layout = plx_format_layout((enum plx_format)format);
        for (int variant = 0; variant < COUNT(sizes) * PATTERNS; variant++) {
            const int *size = sizes[variant / PATTERNS];
            enum pattern pattern = (enum pattern)(variant % PATTERNS);
            if (layout->bayer && (size[0] < 2 || size[1] < 2))
                continue;
            uint8_t *data;
            struct plx_raw raw = raw_new((enum plx_format)format, size[0], size[1], pattern, &data);
            for (int bayer = 0; bayer <= (layout->bayer ? PLX_BAYER_GBRG : 0); bayer++)
                for (int msb = 0; msb <= layout->words; msb++) {
                    raw.bayer = (enum plx_bayer)bayer;
                    raw.msb_aligned = msb;
                    compare_windows(&raw, pattern);
                }
            free(data);
        }
    }
}

/* Counts the tiles whose checksums two pictures of 120 x 64 pixels, of which all rows are read, have in common. */
static int count_common(const uint8_t *a, const uint8_t *b, int width, int height)
{
    uint64_t sum[2][64];
    int common = 0;
    for (int i = 0; i < 2; i++) {
        const struct plx_image sums = {sum[i], 64, 1, sizeof sum[i], PLX_U64};
        const size_t pitch = (size_t)width;
        const struct plx_raw raw = {
            i ? b : a, pitch * (size_t)height, width, height, pitch, PLX_FORMAT_GREY, PLX_BAYER_RGGB, false, 0, width, {0}};
        assert_int_equal(stages->ops->checksum(stages, &raw, &sums), 0);
    }
    for (int tile = 0; tile < 64; tile++)
        common += sum[0][tile] == sum[1][tile];
    return common;
}

static void another_picture_has_another_checksum(void **state)
{
    (void)state;
    enum { WIDTH = 120, HEIGHT = 64, BYTES = WIDTH * HEIGHT };
    uint8_t a[BYTES], b[BYTES];

    for (int i = 0; i < BYTES; i++)
        a[i] = b[i] = (uint8_t)random_next(&random_state);
    assert_int_equal(count_common(a, b, WIDTH, HEIGHT), 64);
    for (int i = 0; i < BYTES; i += 7) {
        b[i] ^= (uint8_t)(1 << i % 8);
        assert_int_equal(count_common(a, b, WIDTH, HEIGHT), 63);
        b[i] = a[i];
    }
    memcpy(b, a + 4, BYTES - 4); /* moved by a word, and by a row */
    assert_int_equal(count_common(a, b, WIDTH, HEIGHT), 0);
    memcpy(b, a + WIDTH, BYTES - WIDTH);
    assert_int_equal(count_common(a, b, WIDTH, HEIGHT), 0);
    memset(a, 0, BYTES);
    memset(b, 0xFF, BYTES);
    assert_int_equal(count_common(a, b, WIDTH, HEIGHT), 0);
}

/* Numbers worked out by hand, so that stage and oracle cannot be wrong together. */
static void known_pixels(void **state)
{
    (void)state;
    const uint8_t rgb[6] = {255, 0, 0, 10, 20, 30};
    struct plx_raw raw = {rgb, 6, 2, 1, 6, PLX_FORMAT_RGB24, PLX_BAYER_RGGB, false, 0, 2, {0}};
    struct plx_image grey = test_image_new(2, 1, PLX_U8, 0);
    assert_int_equal(stages->ops->convert(stages, &raw, &grey), 0);
    assert_int_equal(((uint8_t *)grey.data)[0], 77);                                         /* 77 * 255 / 256 = 76.7 */
    assert_int_equal(((uint8_t *)grey.data)[1], (77 * 10 + 150 * 20 + 29 * 30 + 128) / 256); /* 18 */
    test_image_free(&grey);

    const uint16_t words[2] = {0x03FF, 0x0155};
    struct plx_raw y10 = {words, 4, 2, 1, 4, PLX_FORMAT_Y10, PLX_BAYER_RGGB, false, 0, 2, {0}};
    grey = test_image_new(2, 1, PLX_U16, 0);
    assert_int_equal(stages->ops->convert(stages, &y10, &grey), 0);
    assert_int_equal(((uint16_t *)grey.data)[0], 0xFFC0);
    assert_int_equal(((uint16_t *)grey.data)[1], 0x5540);
    test_image_free(&grey);

    /* a red wall: red samples 200, all others 0; every pixel of every order is luma(200, 0, 0) */
    const uint8_t mosaic[16] = {200, 0, 200, 0, 0, 0, 0, 0, 200, 0, 200, 0, 0, 0, 0, 0};
    struct plx_raw bayer = {mosaic, 16, 4, 4, 4, PLX_FORMAT_BAYER8, PLX_BAYER_RGGB, false, 0, 4, {0}};
    grey = test_image_new(4, 4, PLX_U8, 0);
    assert_int_equal(stages->ops->convert(stages, &bayer, &grey), 0);
    for (int i = 0; i < 16; i++)
        assert_int_equal(((uint8_t *)grey.data)[i], (77 * 200 + 128) / 256);
    test_image_free(&grey);
}

struct wrong {
    const char *what;
    int error;
    struct plx_raw raw;
};

static void wrong_descriptors_are_refused(void **state)
{
    (void)state;
    static uint8_t data[4096] __attribute__((aligned(8)));
    const struct wrong cases[] = {
        {"no data", PLX_ERR_ARG, {NULL, 64, 8, 8, 8, PLX_FORMAT_GREY, PLX_BAYER_RGGB, false, 0, 8, {0}}},
        {"unknown format", PLX_ERR_ARG, {data, 64, 8, 8, 8, PLX_FORMAT_COUNT, PLX_BAYER_RGGB, false, 0, 8, {0}}},
        {"unknown order", PLX_ERR_ARG, {data, 64, 8, 8, 8, PLX_FORMAT_BAYER8, (enum plx_bayer)4, false, 0, 8, {0}}},
        {"no width", PLX_ERR_RANGE, {data, 64, 0, 8, 8, PLX_FORMAT_GREY, PLX_BAYER_RGGB, false, 0, 8, {0}}},
        {"negative height", PLX_ERR_RANGE, {data, 64, 8, -8, 8, PLX_FORMAT_GREY, PLX_BAYER_RGGB, false, 0, 8, {0}}},
        {"too wide", PLX_ERR_RANGE, {data, 4096, 8193, 1, 8193, PLX_FORMAT_GREY, PLX_BAYER_RGGB, false, 0, 8, {0}}},
        {"pitch below a row", PLX_ERR_RANGE, {data, 64, 8, 8, 7, PLX_FORMAT_GREY, PLX_BAYER_RGGB, false, 0, 8, {0}}},
        {"pitch below a row of pairs", PLX_ERR_RANGE, {data, 64, 7, 2, 14, PLX_FORMAT_YUYV, PLX_BAYER_RGGB, false, 0, 7, {0}}},
        {"odd pitch of words", PLX_ERR_RANGE, {data, 400, 8, 8, 17, PLX_FORMAT_Y10, PLX_BAYER_RGGB, false, 0, 8, {0}}},
        {"odd address of words", PLX_ERR_RANGE, {data + 1, 400, 8, 8, 16, PLX_FORMAT_Y16, PLX_BAYER_RGGB, false, 0, 8, {0}}},
        {"one byte short", PLX_ERR_FORMAT, {data, 63, 8, 8, 8, PLX_FORMAT_GREY, PLX_BAYER_RGGB, false, 0, 8, {0}}},
        {"no chroma plane", PLX_ERR_FORMAT, {data, 64, 8, 8, 8, PLX_FORMAT_NV12, PLX_BAYER_RGGB, false, 0, 8, {0}}},
        {"pitch that overflows",
         PLX_ERR_FORMAT,
         {data, 64, 8, 8, SIZE_MAX / 4, PLX_FORMAT_GREY, PLX_BAYER_RGGB, false, 0, 8, {0}}},
        {"eye before the buffer", PLX_ERR_RANGE, {data, 64, 8, 8, 8, PLX_FORMAT_GREY, PLX_BAYER_RGGB, false, -1, 4, {0}}},
        {"eye beyond the buffer", PLX_ERR_RANGE, {data, 64, 8, 8, 8, PLX_FORMAT_GREY, PLX_BAYER_RGGB, false, 5, 4, {0}}},
        {"eye that overflows", PLX_ERR_RANGE, {data, 64, 8, 8, 8, PLX_FORMAT_GREY, PLX_BAYER_RGGB, false, 2147483647, 4, {0}}},
        {"no eye", PLX_ERR_RANGE, {data, 64, 8, 8, 8, PLX_FORMAT_GREY, PLX_BAYER_RGGB, false, 0, 0, {0}}},
        {"Bayer of one column", PLX_ERR_RANGE, {data, 64, 8, 8, 8, PLX_FORMAT_BAYER8, PLX_BAYER_RGGB, false, 3, 1, {0}}},
        {"Bayer of one row", PLX_ERR_RANGE, {data, 64, 8, 1, 8, PLX_FORMAT_BAYER8, PLX_BAYER_RGGB, false, 0, 8, {0}}},
    };
    struct plx_image grey = test_image_new(8, 8, PLX_U8, 0), untouched = test_image_new(8, 8, PLX_U8, 0);
    struct plx_image sums = test_image_new(64, 1, PLX_U64, 0);
    for (int i = 0; i < COUNT(cases); i++) {
        struct plx_error_message message = {""};
        if (plx_raw_check(&cases[i].raw, &message) != cases[i].error || message.text[0] == '\0' ||
            stages->ops->convert(stages, &cases[i].raw, &grey) != cases[i].error ||
            stages->ops->checksum(stages, &cases[i].raw, &sums) != cases[i].error)
            fail_msg("%s: not refused as it should be: \"%s\"", cases[i].what, message.text);
    }
    assert_true(test_image_equal(&grey, &untouched));

    struct plx_raw good = {data, 64, 8, 8, 8, PLX_FORMAT_GREY, PLX_BAYER_RGGB, false, 0, 8, {0}};
    assert_int_equal(plx_raw_check(&good, NULL), 0);
    struct plx_image narrow = test_image_new(7, 8, PLX_U8, 0), deep = test_image_new(8, 8, PLX_U32, 0);
    assert_int_equal(stages->ops->convert(stages, &good, &narrow), PLX_ERR_ARG);
    assert_int_equal(stages->ops->convert(stages, &good, &deep), PLX_ERR_ARG);
    assert_int_equal(stages->ops->checksum(stages, &good, &deep), PLX_ERR_ARG);
    test_image_free(&sums);
    test_image_free(&grey);
    test_image_free(&untouched);
    test_image_free(&narrow);
    test_image_free(&deep);
}

static void larger_than_the_limits_is_refused(void **state)
{
    (void)state;
    uint8_t *data;
    struct plx_raw raw = raw_new(PLX_FORMAT_GREY, SIDE + 1, 2, NOISE, &data);
    struct plx_image grey = test_image_new(SIDE + 1, 2, PLX_U8, 0);
    assert_int_equal(stages->ops->convert(stages, &raw, &grey), PLX_ERR_RANGE);
    free(data);
    test_image_free(&grey);
}

/* The limits are of one eye. */
static void a_buffer_with_both_eyes_may_be_wider_than_the_limits(void **state)
{
    (void)state;
    uint8_t *data;
    struct plx_raw raw = raw_new(PLX_FORMAT_YUYV, 2 * SIDE, 3, NOISE, &data);
    raw.eye_width = SIDE;
    compare(&raw, NOISE);
    raw.eye_x = SIDE;
    compare(&raw, NOISE);
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_format_equals_the_oracle),
        cmocka_unit_test(another_picture_has_another_checksum),
        cmocka_unit_test(known_pixels),
        cmocka_unit_test(wrong_descriptors_are_refused),
        cmocka_unit_test(larger_than_the_limits_is_refused),
        cmocka_unit_test(a_buffer_with_both_eyes_may_be_wider_than_the_limits),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
