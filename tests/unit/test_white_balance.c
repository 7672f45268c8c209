/* SPDX-License-Identifier: Apache-2.0 */
/* The white balance on a colour chart under three lights, from mosaic to greys; gains that are configured; what it does while
 * nothing is known. */
#include <math.h>

#include "core/colour/white_balance.h"
#include "tests/unit/image_cases.h"

#define PATCH 32 /* pixels a side */
#define COLUMNS 6
#define ROWS 4
#define WIDTH (COLUMNS * PATCH)
#define HEIGHT (ROWS * PATCH)
#define GREYS 18 /* the first of the six grey patches */
#define BITS 10
#define PICTURES_OF_3_S 90

/* The 24 patches of the ColorChecker in sRGB, as its maker publishes them. */
static const uint8_t chart[COLUMNS * ROWS][3] = {
    {115, 82, 68},   {194, 150, 130}, {98, 122, 157},  {87, 108, 67},   {133, 128, 177}, {103, 189, 170},
    {214, 126, 44},  {80, 91, 166},   {193, 90, 99},   {94, 60, 108},   {157, 188, 64},  {224, 163, 46},
    {56, 61, 150},   {70, 148, 73},   {175, 54, 60},   {231, 199, 31},  {187, 86, 149},  {8, 133, 161},
    {243, 243, 242}, {200, 200, 200}, {160, 160, 160}, {122, 122, 121}, {85, 85, 85},    {52, 52, 52}};

/* Chromaticities of CIE illuminant A, D50 and D75: 2,856, 5,003 and 7,504 K. */
static const double lights[][2] = {{0.44757, 0.40745}, {0.34567, 0.35850}, {0.29902, 0.31485}};

static uint8_t tone[PLX_COLOUR_FULL + 1];
static uint16_t mosaic[HEIGHT][WIDTH];

static double linear_of(double srgb)
{
    return srgb <= 0.04045 ? srgb / 12.92 : pow((srgb + 0.055) / 1.055, 2.4);
}

/* What a sensor with the primaries of sRGB says of white in LIGHT; green is 1. */
static void colour_of_light(const double light[2], double ret[3])
{
    const double x = light[0] / light[1], z = (1 - light[0] - light[1]) / light[1];
    ret[0] = 3.2406 * x - 1.5372 - 0.4986 * z;
    ret[1] = -0.9689 * x + 1.8758 + 0.0415 * z;
    ret[2] = 0.0557 * x - 0.2040 + 1.0570 * z;
    for (int i = 2; i >= 0; i--)
        ret[i] = ret[i] / (-0.9689 * x + 1.8758 + 0.0415 * z);
}

/* The chart's mosaic, RGGB, exposed so that its white is at 0.8, with noise of a real sensor. */
static void draw_chart(const double light[2])
{
    double white[3];
    colour_of_light(light, white);
    const double most = fmax(fmax(white[0], white[1]), white[2]);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            const int colour = plx_mosaic_colour(PLX_BAYER_RGGB, x, y);
            const uint8_t *patch = chart[y / PATCH * COLUMNS + x / PATCH];
            const double signal = 0.8 * linear_of(patch[colour] / 255.0) * white[colour] / most * ((1 << BITS) - 1);
            const double sample = signal + sqrt(1 + signal / 20) * random_normal(&random_state);
            mosaic[y][x] = (uint16_t)fmin(fmax(round(sample), 0), (1 << BITS) - 1);
        }
}

static struct plx_raw raw_of_chart(void)
{
    return (struct plx_raw){.data = mosaic,
                            .bytes = sizeof mosaic,
                            .width = WIDTH,
                            .height = HEIGHT,
                            .pitch = sizeof mosaic[0],
                            .format = PLX_FORMAT_BAYER10,
                            .eye_width = WIDTH};
}

static struct plx_development development_of(const struct plx_white_balance *balance)
{
    struct plx_development development = {.matrix = {PLX_COLOUR_ONE, 0, 0, 0, PLX_COLOUR_ONE, 0, 0, 0, PLX_COLOUR_ONE},
                                          .tone = tone};
    plx_white_balance_gains(balance, development.gain);
    return development;
}

/* One picture: its sums move BALANCE. */
static void look(struct plx_white_balance *balance)
{
    const struct plx_development development = development_of(balance);
    const struct plx_raw raw = raw_of_chart();
    struct plx_image sums = test_image_new(plx_colour_sum_columns(HEIGHT), PLX_COLOUR_SUMS, PLX_U64, 0);
    assert_int_equal(stages->ops->colour_sums(stages, &raw, &development, &sums), 0);
    plx_white_balance_update(balance, &sums);
    test_image_free(&sums);
}

/* CIEDE2000 (Sharma, Wu, Dalal, 2005) between a colour and the grey of the same lightness: only chroma differs. */
static double difference_to_grey(const double srgb[3])
{
    const double r = linear_of(srgb[0]), g = linear_of(srgb[1]), b = linear_of(srgb[2]);
    const double xyz[3] = {(0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505, 0.2126 * r + 0.7152 * g + 0.0722 * b,
                           (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089};
    double f[3];
    for (int i = 0; i < 3; i++)
        f[i] = xyz[i] > 216.0 / 24389 ? cbrt(xyz[i]) : (24389.0 / 27 * xyz[i] + 16) / 116;
    const double a = 500 * (f[0] - f[1]), bb = 200 * (f[1] - f[2]), mean7 = pow(hypot(a, bb) / 2, 7);
    const double chroma = hypot(a * (1.5 - 0.5 * sqrt(mean7 / (mean7 + pow(25, 7)))), bb);
    return chroma / (1 + 0.045 * chroma / 2);
}

/* The largest difference of the grey patches but the darkest, and in *RET_LEVELS the mean of each patch's channels. */
static double worst_grey(const struct plx_white_balance *balance, double ret_levels[5][3])
{
    const struct plx_development development = development_of(balance);
    const struct plx_raw raw = raw_of_chart();
    struct plx_image rgb = test_image_new(WIDTH, HEIGHT, PLX_RGB, 0);
    double worst = 0;
    assert_int_equal(stages->ops->colour(stages, &raw, &development, &rgb), 0);
    for (int patch = GREYS; patch < COLUMNS * ROWS - 1; patch++) {
        double mean[3] = {0};
        for (int i = 0; i < PATCH * PATCH; i++) {
            const int x = patch % COLUMNS * PATCH + i % PATCH, y = patch / COLUMNS * PATCH + i / PATCH;
            for (int k = 0; k < 3; k++)
                mean[k] += ((uint8_t *)plx_row(&rgb, y))[3 * x + k] / 255.0 / (PATCH * PATCH);
        }
        memcpy(ret_levels[patch - GREYS], mean, sizeof mean);
        worst = fmax(worst, difference_to_grey(mean));
    }
    test_image_free(&rgb);
    return worst;
}

static void greys_are_grey_under_three_lights(void **state)
{
    (void)state;
    const struct plx_colour_params params = {.enabled = true};
    plx_colour_tones(tone);
    for (int light = 0; light < COUNT(lights); light++) {
        struct plx_white_balance balance;
        double before[5][3], level[5][3];
        plx_white_balance_init(&params, &balance);
        assert_false(balance.is_known);
        for (int i = 0; i < PICTURES_OF_3_S; i++) {
            draw_chart(lights[light]);
            look(&balance);
        }
        assert_true(balance.is_known);
        const double worst = worst_grey(&balance, before);
        if (worst > 4)
            fail_msg("light %d: greys differ by %.2f; expected 4 at most; PLX_TEST_SEED=%llu", light, worst,
                     (unsigned long long)test_seed());
        double moved = 0; /* of one picture, whatever its noise */
        for (int i = 0; i < 30; i++) {
            draw_chart(lights[light]);
            look(&balance);
        }
        worst_grey(&balance, before);
        look(&balance);
        worst_grey(&balance, level);
        for (int i = 0; i < 15; i++)
            moved = fmax(moved, 255 * fabs(level[i / 3][i % 3] - before[i / 3][i % 3]));
        assert_true(moved <= 0.5);
    }
}

/* The light changes: after 3 s greys are grey again, and no picture's gains differ from the last ones by more than 1 %. */
static void a_change_of_light_is_followed_slowly(void **state)
{
    (void)state;
    const struct plx_colour_params params = {.enabled = true};
    struct plx_white_balance balance;
    double level[5][3];
    plx_colour_tones(tone);
    plx_white_balance_init(&params, &balance);
    draw_chart(lights[1]);
    for (int i = 0; i < PICTURES_OF_3_S; i++)
        look(&balance);
    draw_chart(lights[2]);
    for (int i = 0; i < PICTURES_OF_3_S; i++) {
        const struct plx_white_balance last = balance;
        look(&balance);
        for (int k = 0; k < PLX_CHANNELS; k++)
            assert_true(fabs((double)balance.ratio[k] / last.ratio[k] - 1) <= 0.01);
    }
    assert_true(worst_grey(&balance, level) <= 4);
}

static void configured_gains_stay(void **state)
{
    (void)state;
    struct plx_white_balance balance;
    int32_t gain[3];
    draw_chart(lights[0]);
    plx_white_balance_init(&(struct plx_colour_params){.red_gain = 2, .blue_gain = 0.5}, &balance);
    for (int i = 0; i < 5; i++)
        look(&balance);
    plx_white_balance_gains(&balance, gain);
    assert_true(balance.is_fixed);
    assert_int_equal(gain[PLX_BLUE], PLX_COLOUR_ONE); /* the least is 1 */
    assert_int_equal(gain[PLX_GREEN], 2 * PLX_COLOUR_ONE);
    assert_int_equal(gain[PLX_RED], 4 * PLX_COLOUR_ONE);

    /* the colour of a temperature makes white in that light grey */
    static const double kelvin[] = {2856, 5003, 7504};
    for (int light = 0; light < COUNT(lights); light++) {
        double white[3];
        colour_of_light(lights[light], white);
        plx_white_balance_init(&(struct plx_colour_params){.temperature_k = kelvin[light]}, &balance);
        plx_white_balance_gains(&balance, gain);
        assert_true(fabs(white[0] * gain[0] / (white[1] * gain[1]) - 1) < 0.05);
        assert_true(fabs(white[2] * gain[2] / (white[1] * gain[1]) - 1) < 0.08);
    }
}

/* A dark picture, and one without a mosaic, say nothing. */
static void nothing_is_learned_from_nothing(void **state)
{
    (void)state;
    struct plx_white_balance balance;
    plx_white_balance_init(&(struct plx_colour_params){.enabled = true}, &balance);
    memset(mosaic, 0, sizeof mosaic);
    look(&balance);
    assert_false(balance.is_known);
    memset(mosaic, 0xFF, sizeof mosaic);
    look(&balance);
    assert_false(balance.is_known);
    for (int i = 0; i < PLX_CHANNELS; i++)
        assert_int_equal(balance.ratio[i], 65536);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(greys_are_grey_under_three_lights),
        cmocka_unit_test(a_change_of_light_is_followed_slowly),
        cmocka_unit_test(configured_gains_stay),
        cmocka_unit_test(nothing_is_learned_from_nothing),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
