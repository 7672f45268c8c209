/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every format that vivid gives and the convert stage reads, in one memory plane and in several: what carries the same luma
 * becomes the same grey.
 *
 * guest: vivid n_devs=2 node_types=0x1,0x1 num_inputs=1,1 input_types=0x0,0x0 multiplanar=1,2
 */
#include "tests/vm/pairs.h"

#include <linux/videodev2.h>
#include <stdlib.h>

#include "drivers/v4l2/controls.h"
#include "drivers/v4l2/format.h"
#include "drivers/v4l2/node.h"

enum { WIDTH = 320, HEIGHT = 180 };

static uint8_t grey[HEIGHT][WIDTH], first[HEIGHT][WIDTH];

static void open_vivid(const char *bus, struct plx_v4l2_node *node)
{
    char text[64];
    struct plx_v4l2_rule rule;
    snprintf(text, sizeof text, "bus=platform:%s", bus);
    assert_int_equal(plx_v4l2_rule_parse(text, &rule, NULL), 0);
    assert_int_equal(plx_v4l2_find(&rule, node, NULL), 0);
}

/* One picture in FORMAT, side by side, as grey. */
static void take(const char *bus, const struct plx_v4l2_format *format)
{
    char name[5];
    struct pairs pairs;
    struct plx_stages *stages;
    const struct plx_limits limits = {.width = WIDTH, .height = HEIGHT, .disparities = 64, .threads = 1};

    struct plx_v4l2_options options = {
        .width = WIDTH / 2,
        .height = HEIGHT,
        .rate_hz = 15,
        .cameras.control = PAIRS_NO_CONTROLS,
    };
    plx_v4l2_fourcc_text(format->fourcc, name);
    SET_TEXT(options.cameras.format, name);
    snprintf(options.cameras.camera[PLX_LEFT], sizeof options.cameras.camera[PLX_LEFT], "bus=platform:%s", bus);
    pairs_open(&pairs, &options);
    pairs_take(&pairs, 2);
    assert_int_equal(plx_cpu_create(&limits, &stages), 0);
    for (int eye = 0; eye < PLX_EYES; eye++) {
        const struct plx_image half = {&grey[0][eye * WIDTH / 2], WIDTH / 2, HEIGHT, WIDTH, PLX_U8};
        assert_int_equal(stages->ops->convert(stages, &pairs.pair[eye].raw[eye], &half), 0);
    }
    print_message("%-4s %s, memory %u\n", name, bus, pairs.pair[PLX_LEFT].memory);
    stages->ops->destroy(stages);
    pairs_close(&pairs);
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

static int check_all(const char *bus, bool planar)
{
    struct plx_v4l2_node node;
    struct plx_v4l2_control text;
    int count = 0;

    open_vivid(bus, &node);
    assert_int_equal(node.planar, planar);
    assert_int_equal(plx_v4l2_control_find(&node, "osd_text_mode", &text, NULL), 0);
    assert_int_equal(plx_v4l2_control_set(&node, &text, 2), 0); /* pictures without text do not change */
    for (int i = 0; i < plx_v4l2_format_count; i++) {
        const struct plx_v4l2_format *format = &plx_v4l2_formats[i];
        if (!offers(&node, format->fourcc))
            continue;
        take(bus, format);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_plane),
        cmocka_unit_test(test_planes),
    };
    return cmocka_run_group_tests_name("source_formats", tests, NULL, NULL);
}
