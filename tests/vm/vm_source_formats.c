/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every format that vivid gives and the convert stage reads, in one memory plane and in several: what carries the same luma
 * becomes the same grey, and what carries colour shows the colour bars in their colours.
 *
 * guest: vivid n_devs=2 node_types=0x1,0x1 num_inputs=1,1 input_types=0x0,0x0 multiplanar=1,2
 */
#include "tests/vm/pairs.h"

#include <linux/videodev2.h>
#include <stdlib.h>

#include "core/colour/colour.h"
#include "drivers/v4l2/controls.h"
#include "drivers/v4l2/format.h"
#include "drivers/v4l2/node.h"

enum { WIDTH = 320, HEIGHT = 180 };

#define BARS 8
#define TOLERANCE 4        /* levels of 255: vivid cuts fractions off, and full-range samples to 1 .. 254 */
#define PATTERN_100_BARS 1 /* vivid's colour bars of 100 % in its control test_pattern */

static uint8_t grey[HEIGHT][WIDTH], first[HEIGHT][WIDTH], colour[HEIGHT][WIDTH][3];
static uint8_t tone[PLX_COLOUR_FULL + 1];

/* White, yellow, cyan, green, magenta, red, blue, black. */
static const uint8_t bars[BARS][3] = {{255, 255, 255}, {255, 255, 0}, {0, 255, 255}, {0, 255, 0},
                                      {255, 0, 255},   {255, 0, 0},   {0, 0, 255},   {0, 0, 0}};

/* As vivid makes mosaics: of sRGB's values, not of light. */
static struct plx_development plain_development(void)
{
    for (int i = 0; i <= PLX_COLOUR_FULL; i++)
        tone[i] = (uint8_t)((i * 255 + PLX_COLOUR_FULL / 2) / PLX_COLOUR_FULL);
    return (struct plx_development){.gain = {PLX_COLOUR_ONE, PLX_COLOUR_ONE, PLX_COLOUR_ONE},
                                    .matrix = {PLX_COLOUR_ONE, 0, 0, 0, PLX_COLOUR_ONE, 0, 0, 0, PLX_COLOUR_ONE},
                                    .tone = tone};
}

static void open_vivid(const char *bus, struct plx_v4l2_node *node)
{
    char text[64];
    struct plx_v4l2_rule rule;
    snprintf(text, sizeof text, "bus=platform:%s", bus);
    assert_int_equal(plx_v4l2_rule_parse(text, &rule, NULL), 0);
    assert_int_equal(plx_v4l2_find(&rule, node, NULL), 0);
}

/* One picture, side by side, as grey and in COLOUR; FORMAT: "" is the source's choice. Returns the format. */
static enum plx_format take(const char *bus, const char *format, bool in_colour)
{
    struct pairs pairs;
    struct plx_stages *stages;
    const struct plx_limits limits = {.width = WIDTH, .height = HEIGHT, .disparities = 64, .threads = 1};
    const struct plx_development development = plain_development();
    struct plx_v4l2_options options = {
        .width = WIDTH / 2,
        .height = HEIGHT,
        .rate_hz = 15,
        .cameras.control = PAIRS_NO_CONTROLS,
        .colour = in_colour,
    };
    SET_TEXT(options.cameras.format, format);
    snprintf(options.cameras.camera[PLX_LEFT], sizeof options.cameras.camera[PLX_LEFT], "bus=platform:%s", bus);
    pairs_open(&pairs, &options);
    pairs_take(&pairs, 2);
    assert_int_equal(plx_cpu_create(&limits, &stages), 0);
    for (int eye = 0; eye < PLX_EYES; eye++) {
        const struct plx_raw *raw = &pairs.pair[eye].raw[eye];
        const struct plx_image half = {&grey[0][eye * WIDTH / 2], WIDTH / 2, HEIGHT, WIDTH, PLX_U8};
        const struct plx_image rgb = {colour[0][eye * WIDTH / 2], WIDTH / 2, HEIGHT, sizeof colour[0], PLX_RGB};
        assert_int_equal(stages->ops->convert(stages, raw, &half), 0);
        if (in_colour)
            assert_int_equal(stages->ops->colour(stages, raw, &development, &rgb), 0);
    }
    const enum plx_format got = pairs.pair[PLX_LEFT].raw[PLX_LEFT].format;
    print_message("%-4s %s, memory %u%s\n", format, bus, pairs.pair[PLX_LEFT].memory, in_colour ? ", in colour" : "");
    stages->ops->destroy(stages);
    pairs_close(&pairs);
    return got;
}

/* Each bar has its colour at its centre. */
static void check_bars(const char *format)
{
    for (int bar = 0; bar < BARS; bar++) {
        const uint8_t *rgb = colour[HEIGHT / 2][(2 * bar + 1) * WIDTH / (2 * BARS)];
        for (int i = 0; i < 3; i++)
            if (abs(rgb[i] - bars[bar][i]) > TOLERANCE)
                fail_msg("%s: bar %d is %d %d %d, expected %d %d %d", format, bar, rgb[0], rgb[1], rgb[2], bars[bar][0],
                         bars[bar][1], bars[bar][2]);
    }
}

static bool offers(const struct plx_v4l2_node *node, uint32_t fourcc)
{
    struct v4l2_fmtdesc offer = {.type = plx_v4l2_buffer_type(node)};
    for (; plx_v4l2_call(node, VIDIOC_ENUM_FMT, &offer) == 0; offer.index++)
        if (offer.pixelformat == fourcc)
            return true;
    return false;
}

/* Largest difference of grey to the first picture. */
static int difference(void)
{
    int largest = 0;
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            int apart = abs(grey[y][x] - first[y][x]);
            largest = apart > largest ? apart : largest;
        }
    return largest;
}

static bool has_own_luma(enum plx_format format)
{
    return format == PLX_FORMAT_GREY || format == PLX_FORMAT_YUYV || format == PLX_FORMAT_UYVY || format == PLX_FORMAT_NV12 ||
           format == PLX_FORMAT_NV21 || format == PLX_FORMAT_NV16;
}

static void set_control(struct plx_v4l2_node *node, const char *name, int value)
{
    struct plx_v4l2_control control;
    assert_int_equal(plx_v4l2_control_find(node, name, &control, NULL), 0);
    assert_int_equal(plx_v4l2_control_set(node, &control, value), 0);
}

/* Colour bars that do not change. */
static void open_bars(const char *bus, struct plx_v4l2_node *node)
{
    open_vivid(bus, node);
    set_control(node, "osd_text_mode", 2);
    set_control(node, "test_pattern", PATTERN_100_BARS);
}

static int check_all(const char *bus, bool planar)
{
    struct plx_v4l2_node node;
    int count = 0, colours = 0;

    open_bars(bus, &node);
    assert_int_equal(node.planar, planar);
    for (int i = 0; i < plx_v4l2_format_count; i++) {
        const struct plx_v4l2_format *format = &plx_v4l2_formats[i];
        if (!offers(&node, format->fourcc))
            continue;
        char name[5];
        const bool in_colour = plx_v4l2_format_has_colour(format);
        plx_v4l2_fourcc_text(format->fourcc, name);
        assert_int_equal(take(bus, name, in_colour), format->format);
        if (in_colour)
            check_bars(name);
        colours += in_colour;
        bool varied = false;
        for (int x = 1; x < WIDTH; x++)
            varied |= grey[HEIGHT / 2][x] != grey[HEIGHT / 2][0];
        assert_true(varied);
        if (has_own_luma(format->format) && format->fourcc != V4L2_PIX_FMT_GREY) {
            if (count++ == 0 && !planar)
                memcpy(first, grey, sizeof first);
            assert_int_equal(difference(), 0);
        }
    }
    plx_v4l2_close(&node);
    assert_true(colours >= 21); /* 7 of YCbCr, 12 mosaics, RGB and BGR */
    return count;
}

static void test_one_plane(void **state)
{
    (void)state;
    assert_true(check_all("vivid-000", false) >= 10);
}

static void test_planes(void **state)
{
    (void)state;
    assert_true(check_all("vivid-001", true) >= 12); /* the same, and those in several planes */
}

/* The driver says which matrix and range its YCbCr has. */
static void test_matrix_and_range(void **state)
{
    (void)state;
    static const char *const formats[] = {"YUYV", "NV12"};
    struct plx_v4l2_node node;
    open_bars("vivid-000", &node);
    for (int matrix = 1; matrix < 3; matrix++) /* vivid's menus: 1 is BT.601, or full range; 2 is BT.709, or limited range */
        for (int range = 1; range < 3; range++)
            for (int i = 0; i < 2; i++) {
                set_control(&node, "y_cbcr_encoding", matrix);
                set_control(&node, "quantization", range);
                print_message("matrix %d, range %d: ", matrix, range);
                take("vivid-000", formats[i], true);
                check_bars(formats[i]);
            }
    set_control(&node, "y_cbcr_encoding", 0);
    set_control(&node, "quantization", 0);
    plx_v4l2_close(&node);
}

/* vivid offers GREY, which is the best format without colour. */
static void test_choice(void **state)
{
    (void)state;
    struct plx_v4l2_node node;
    open_bars("vivid-000", &node);
    assert_true(offers(&node, V4L2_PIX_FMT_GREY));
    assert_int_equal(take("vivid-000", "", false), PLX_FORMAT_GREY);
    assert_int_equal(take("vivid-000", "", true), PLX_FORMAT_NV12);
    check_bars("the chosen format");
    plx_v4l2_close(&node);
}

static void test_grey_is_refused(void **state)
{
    (void)state;
    struct plx_error_message message = {""};
    struct plx_v4l2_options options = {
        .width = WIDTH / 2,
        .height = HEIGHT,
        .rate_hz = 15,
        .cameras = {.control = PAIRS_NO_CONTROLS, .camera = {"bus=platform:vivid-000"}, .format = "GREY"},
        .colour = true,
    };
    pairs_refused(&options, PLX_ERR_UNSUPPORTED, &message);
    assert_non_null(strstr(message.text, "source.format GREY has no colour"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_plane), cmocka_unit_test(test_planes),          cmocka_unit_test(test_matrix_and_range),
        cmocka_unit_test(test_choice),    cmocka_unit_test(test_grey_is_refused),
    };
    return cmocka_run_group_tests_name("source_formats", tests, NULL, NULL);
}
