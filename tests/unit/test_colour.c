/* SPDX-License-Identifier: Apache-2.0 */
/* Stages colour and colour_sums against the oracle: every format, instruction set, Bayer order and eye window; how near a
 * mosaic and YCbCr come to the colours that they were made of. */
#include <math.h>

#include "core/colour/white_balance.h"
#include "cpu/internal.h"
#include "tests/unit/image_cases.h"

static struct plx_stages *all[PLX_ISA_COUNT]; /* a backend of each instruction set; NULL where this machine has it not */
static uint8_t tone[PLX_COLOUR_FULL + 1];

static int set_up_all(void **state)
{
    const struct plx_limits limits = {SIDE, SIDE, 64, 3};
    for (int isa = 0; isa < PLX_ISA_COUNT; isa++)
        if (plx_isa_kernels((enum plx_isa)isa))
            assert_int_equal(plx_cpu_create_isa(&limits, (enum plx_isa)isa, &all[isa]), 0);
    plx_colour_tones(tone);
    return set_up(state);
}

static int tear_down_all(void **state)
{
    for (int isa = 0; isa < PLX_ISA_COUNT; isa++)
        if (all[isa])
            all[isa]->ops->destroy(all[isa]);
    return tear_down(state);
}

static struct plx_development neutral(void)
{
    return (struct plx_development){.gain = {PLX_COLOUR_ONE, PLX_COLOUR_ONE, PLX_COLOUR_ONE},
                                    .matrix = {PLX_COLOUR_ONE, 0, 0, 0, PLX_COLOUR_ONE, 0, 0, 0, PLX_COLOUR_ONE},
                                    .tone = tone};
}

/* --- the oracle ------------------------------------------------------------------------------------------------------------
 */

static struct plx_raw raw_new(enum plx_format format, int width, int height, enum pattern pattern, uint8_t **ret_data)
{
    struct plx_raw raw = {.width = width, .height = height, .format = format, .eye_width = width};
    const size_t row = plx_raw_row_bytes(format, width), rows = plx_raw_rows(format, height);
    raw.pitch = row + 6;
    raw.bytes = (rows - 1) * raw.pitch + row;
    if (format == PLX_FORMAT_GREY_RGB)
        raw.bytes = rows * raw.pitch;
    uint8_t *data = malloc(raw.bytes);
    assert_non_null(data);
    for (size_t i = 0; i < raw.bytes; i++)
        data[i] = (uint8_t)(pattern == BLACK ? 0 : pattern == WHITE ? 0xFF : random_next(&random_state));
    raw.data = *ret_data = data;
    return raw;
}

static void compare(const struct plx_raw *raw, const struct plx_development *development, enum pattern pattern)
{
    struct plx_image want = test_image_new(raw->eye_width, raw->height, PLX_RGB, 0);
    char what[128];
    oracle_colour(raw, development, &want);
    for (int isa = 0; isa < PLX_ISA_COUNT; isa++) {
        if (!all[isa])
            continue;
        struct plx_image got = test_image_new(raw->eye_width, raw->height, PLX_RGB, PADDING), same = want;
        same.data = malloc(want.pitch * (size_t)want.height);
        assert_non_null(same.data);
        memcpy(same.data, want.data, want.pitch * (size_t)want.height);
        snprintf(what, sizeof what, "%s %s, order %d, %s, eye at %d, instruction set %d", pattern_name[pattern],
                 plx_format_layout(raw->format)->name, (int)raw->bayer, raw->msb_aligned ? "MSB" : "LSB", raw->eye_x, isa);
        assert_int_equal(all[isa]->ops->colour(all[isa], raw, development, &got), 0);
        expect_equal(&got, &same, what);
    }
    test_image_free(&want);

    const int columns = plx_colour_sum_columns(raw->height);
    struct plx_image got = test_image_new(columns, PLX_COLOUR_SUMS, PLX_U64, PADDING);
    want = test_image_new(columns, PLX_COLOUR_SUMS, PLX_U64, 0);
    assert_int_equal(stages->ops->colour_sums(stages, raw, development, &got), 0);
    oracle_colour_sums(raw, development, &want);
    expect_equal(&got, &want, "colour sums");
}

static void compare_windows(struct plx_raw *raw, enum pattern pattern)
{
    const int least = plx_format_layout(raw->format)->bayer ? 2 : 1, half = raw->width / 2;
    const int window[][2] = {{0, raw->width}, {half, raw->width - half}, {1, raw->width - 2}};
    struct plx_development development = neutral();
    for (int i = 0; i < COUNT(window); i++) {
        raw->eye_x = window[i][0];
        raw->eye_width = window[i][1];
        raw->chroma = (struct plx_chroma){random_below(&random_state, 2), random_below(&random_state, 2),
                                          random_below(&random_state, 2), random_below(&random_state, 2)};
        if (raw->eye_width >= least)
            compare(raw, &development, pattern);
        development.black = 17;
        for (int k = 0; k < PLX_CHANNELS * PLX_CHANNELS; k++)
            development.matrix[k] = (int32_t)random_below(&random_state, 16 * PLX_COLOUR_ONE) - 8 * PLX_COLOUR_ONE;
        for (int k = 0; k < PLX_CHANNELS; k++)
            development.gain[k] = PLX_COLOUR_ONE * (1 + k) + (k < 2 ? 123 : PLX_COLOUR_ONE);
    }
}

static void every_format_equals_the_oracle(void **state)
{
    (void)state;
    for (int format = 0; format < PLX_FORMAT_COUNT; format++) {
        const struct plx_format_layout *layout = plx_format_layout((enum plx_format)format);
        for (int variant = 0; variant < COUNT(sizes) * PATTERNS; variant++) {
            const int *size = sizes[variant / PATTERNS];
            const enum pattern pattern = (enum pattern)(variant % PATTERNS);
            uint8_t *data;
            if (layout->bayer && (size[0] < 2 || size[1] < 2))
                continue;
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

static void rectified_colour_equals_the_oracle(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT(sizes); i++) {
        const int width = sizes[i][0], height = sizes[i][1];
        struct plx_image src = pattern_new(width + 3, height, PLX_RGB, NOISE);
        struct plx_image got = test_image_new(width, height, PLX_RGB, PADDING),
                         want = test_image_new(width, height, PLX_RGB, 0);
        struct plx_remap map = {malloc((size_t)(width * height) * sizeof *map.entry), width, height};
        assert_non_null(map.entry);
        for (int k = 0; k < width * height; k++)
            map.entry[k] =
                (struct plx_remap_entry){(int16_t)((int)random_below(&random_state, (uint32_t)width + 6) - 2),
                                         (int16_t)((int)random_below(&random_state, (uint32_t)height + 4) - 2),
                                         (uint8_t)random_below(&random_state, 32), (uint8_t)random_below(&random_state, 32)};
        assert_int_equal(stages->ops->rectify(stages, &src, &map, &got, NULL), 0);
        oracle_rectify(&src, &map, &want, NULL);
        expect_equal(&got, &want, "rectify RGB");
        free(map.entry);
        test_image_free(&src);
    }
}

static void wrong_arguments_are_refused(void **state)
{
    (void)state;
    uint8_t *data;
    struct plx_raw raw = raw_new(PLX_FORMAT_BAYER8, 8, 8, NOISE, &data), wide = raw;
    struct plx_image rgb = test_image_new(8, 8, PLX_RGB, 0), grey = test_image_new(8, 8, PLX_U8, 0),
                     sums = test_image_new(1, PLX_COLOUR_SUMS, PLX_U64, 0);
    const struct plx_development good = neutral();
    struct plx_development wrong[] = {good, good, good, good};
    wrong[0].tone = NULL;
    wrong[1].gain[PLX_BLUE] = PLX_COLOUR_ONE - 1;
    wrong[2].gain[PLX_RED] = PLX_COLOUR_MAX_GAIN * PLX_COLOUR_ONE + 1;
    wrong[3].black = -1;
    for (int i = 0; i < COUNT(wrong); i++) {
        assert_int_equal(stages->ops->colour(stages, &raw, &wrong[i], &rgb), PLX_ERR_ARG);
        assert_int_equal(stages->ops->colour_sums(stages, &raw, &wrong[i], &sums), PLX_ERR_ARG);
    }
    assert_int_equal(stages->ops->colour(stages, &raw, &good, &grey), PLX_ERR_ARG);
    assert_int_equal(stages->ops->colour(stages, &raw, NULL, &rgb), PLX_ERR_ARG);
    rgb.width = 7;
    assert_int_equal(stages->ops->colour(stages, &raw, &good, &rgb), PLX_ERR_ARG);
    sums.height--;
    assert_int_equal(stages->ops->colour_sums(stages, &raw, &good, &sums), PLX_ERR_ARG);
    wide.bytes--;
    assert_int_equal(stages->ops->colour(stages, &wide, &good, &rgb), PLX_ERR_FORMAT);
    test_image_free(&rgb);
    test_image_free(&grey);
    test_image_free(&sums);
    free(data);
}

/* --- how near it comes -----------------------------------------------------------------------------------------------------
 */

/* Numbers that anybody can look up: BT.601 of limited range. */
static void known_colours_of_ycbcr(void **state)
{
    (void)state;
    static const struct {
        uint8_t y, cb, cr, rgb[3];
    } known[] = {{16, 128, 128, {0, 0, 0}},
                 {235, 128, 128, {255, 255, 255}},
                 {81, 90, 240, {254, 0, 0}},
                 {145, 54, 34, {0, 255, 1}},
                 {41, 240, 110, {0, 0, 255}}};
    for (int i = 0; i < COUNT(known); i++) {
        const uint8_t yuyv[4] = {known[i].y, known[i].cb, known[i].y, known[i].cr};
        const struct plx_raw raw = {
            .data = yuyv, .bytes = 4, .width = 2, .height = 1, .pitch = 4, .format = PLX_FORMAT_YUYV, .eye_width = 2};
        const struct plx_development development = neutral();
        struct plx_image rgb = test_image_new(2, 1, PLX_RGB, 0);
        assert_int_equal(stages->ops->colour(stages, &raw, &development, &rgb), 0);
        for (int k = 0; k < 6; k++)
            assert_true(abs(((uint8_t *)rgb.data)[k] - known[i].rgb[k % 3]) <= 1);
        test_image_free(&rgb);
    }
}

/* Every colour of YCbCr, exactly computed, differs by at most 1. */
static void ycbcr_is_within_1_of_the_exact_answer(void **state)
{
    (void)state;
    for (int way = 0; way < 4; way++) {
        const struct plx_chroma chroma = {.bt709 = way & 1, .full_range = way & 2};
        const struct plx_yuv_factors factors = plx_yuv_factors(&chroma);
        const double kr = way & 1 ? 0.2126 : 0.299, kb = way & 1 ? 0.0722 : 0.114;
        for (int i = 0; i < 256 * 256 * 256; i += 61) {
            const double y = way & 2 ? i % 256 : (i % 256 - 16) * 255.0 / 219, scale = way & 2 ? 1 : 255.0 / 224;
            const double cb = ((i / 256 % 256) - 128) * scale, cr = (i / 65536 - 128) * scale;
            const double red = y + 2 * (1 - kr) * cr, blue = y + 2 * (1 - kb) * cb;
            const double exact[3] = {red, (y - kr * red - kb * blue) / (1 - kr - kb), blue};
            uint8_t rgb[3];
            plx_yuv_rgb(&factors, i % 256, i / 256 % 256 * PLX_CHROMA_PARTS, i / 65536 * PLX_CHROMA_PARTS, rgb);
            for (int k = 0; k < 3; k++)
                assert_true(fabs(fmin(fmax(exact[k], 0), 255) - rgb[k]) <= 1);
        }
    }
}

#define WIDTH 192
#define HEIGHT 160

/* A smooth picture with edges of all directions, in which the channels differ: a zone plate beside tinted discs. Linear, 0..1.
 */
static double scene(int channel, int x, int y)
{
    const double r2 = (double)(x * x + y * y), plate = 0.5 + 0.35 * cos(r2 * 0.004);
    const double disc = hypot(x - 120, y - 90) < 35 ? 0.8 : hypot(x - 60, y - 110) < 22 ? 0.3 : 0.55;
    static const double tint[3] = {0.9, 0.8, 0.6};
    return plate * disc * tint[channel] + 0.02 * channel;
}

/* Mean square error of the mosaic's samples given back, in samples of 8 bits; bilinear if not by the stage. */
static double mosaic_error(bool bilinear)
{
    static uint8_t mosaic[HEIGHT][WIDTH], truth[HEIGHT][WIDTH][3];
    uint8_t linear[PLX_COLOUR_FULL + 1];
    double sum = 0;
    for (int i = 0; i <= PLX_COLOUR_FULL; i++)
        linear[i] = (uint8_t)lround(i * 255.0 / PLX_COLOUR_FULL);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            for (int k = 0; k < 3; k++)
                truth[y][x][k] = (uint8_t)lround(255 * scene(k, x, y));
            mosaic[y][x] = truth[y][x][plx_mosaic_colour(PLX_BAYER_RGGB, x, y)];
        }
    const struct plx_raw raw = {.data = mosaic,
                                .bytes = sizeof mosaic,
                                .width = WIDTH,
                                .height = HEIGHT,
                                .pitch = WIDTH,
                                .format = PLX_FORMAT_BAYER8,
                                .eye_width = WIDTH};
    struct plx_development development = neutral();
    development.tone = linear;
    struct plx_image rgb = test_image_new(WIDTH, HEIGHT, PLX_RGB, 0);
    assert_int_equal(stages->ops->colour(stages, &raw, &development, &rgb), 0);
    int count = 0;
    for (int y = 2; y < HEIGHT - 2; y++)
        for (int x = 2; x < WIDTH - 2; x++)
            for (int k = 0; k < 3; k++, count++) {
                double value = ((uint8_t *)plx_row(&rgb, y))[3 * x + k];
                int found = 0, total = 0;
                for (int i = 0; i < 9 && bilinear; i++)
                    if (plx_mosaic_colour(PLX_BAYER_RGGB, x + i % 3 - 1, y + i / 3 - 1) == k) {
                        total += mosaic[y + i / 3 - 1][x + i % 3 - 1];
                        found++;
                    }
                if (bilinear)
                    value = plx_mosaic_colour(PLX_BAYER_RGGB, x, y) == k ? mosaic[y][x] : (double)total / found;
                sum += (value - truth[y][x][k]) * (value - truth[y][x][k]);
            }
    test_image_free(&rgb);
    return sum / count;
}

static void mosaics_are_3_dB_better_than_bilinear(void **state)
{
    (void)state;
    const double gained_db = 10 * log10(mosaic_error(true) / mosaic_error(false));
    if (gained_db < 3)
        fail_msg("%.2f dB better than bilinear; expected 3", gained_db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_format_equals_the_oracle),        cmocka_unit_test(rectified_colour_equals_the_oracle),
        cmocka_unit_test(wrong_arguments_are_refused),           cmocka_unit_test(known_colours_of_ycbcr),
        cmocka_unit_test(ycbcr_is_within_1_of_the_exact_answer), cmocka_unit_test(mosaics_are_3_dB_better_than_bilinear),
    };
    return cmocka_run_group_tests(tests, set_up_all, tear_down_all);
}
