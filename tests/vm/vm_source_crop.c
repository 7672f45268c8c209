/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cropping, on vivid's HDMI inputs: what is published of a part of the picture is what the pipeline makes of that part of the
 * whole, and a camera that crops otherwise than asked is refused with what it does.
 *
 * guest: vivid n_devs=3 node_types=0x1,0x1,0x1 num_inputs=1,1,1 input_types=0x3,0x3,0x0 ccs_cap_mode=1,1,1
 */
#include "tests/vm/pairs.h"
#include "tests/vm/published.h"
#include "tests/vm/service.h"

#include <linux/videodev2.h>

#include "drivers/v4l2/node.h"

enum { WHOLE_WIDTH = 1280, WHOLE_HEIGHT = 720, X = 410, Y = 132, WIDTH = 320, HEIGHT = 200, FRAMES = 3 };

#define STILL "test_pattern=4,osd_text_mode=2" /* coloured squares, without the running clock */

static struct plx_v4l2_options inputs(int width, int height)
{
    struct plx_v4l2_options options = {
        .cameras.camera = {"bus=platform:vivid-000", "bus=platform:vivid-001"},
        .cameras.format = "GREY",
        .width = width,
        .height = height,
        .cameras.control = PAIRS_NO_CONTROLS,
    };
    SET_TEXT(options.cameras.control.controls, STILL);
    return options;
}

/* 1280x720p24, format 60 of CTA-861. The kernel's own macro for it leaves fields out, which compilers warn of. */
static const struct v4l2_dv_timings signal_24_hz = {
    .type = V4L2_DV_BT_656_1120,
    .bt = {.width = WHOLE_WIDTH,
           .height = WHOLE_HEIGHT,
           .polarities = V4L2_DV_VSYNC_POS_POL | V4L2_DV_HSYNC_POS_POL,
           .pixelclock = 59400000,
           .hfrontporch = 1760,
           .hsync = 40,
           .hbackporch = 220,
           .vfrontporch = 5,
           .vsync = 5,
           .vbackporch = 20},
};

/* Both inputs get a signal of 24 Hz: they are too much for the guest at the 60 that they begin with. */
static int setup(void **state)
{
    (void)state;
    static const char *const bus[] = {"bus=platform:vivid-000", "bus=platform:vivid-001"};
    for (int eye = 0; eye < PLX_EYES; eye++) {
        struct v4l2_dv_timings timings = signal_24_hz;
        struct plx_v4l2_rule rule;
        struct plx_v4l2_node node;
        assert_int_equal(plx_v4l2_rule_parse(bus[eye], &rule, NULL), 0);
        assert_int_equal(plx_v4l2_find(&rule, &node, NULL), 0);
        assert_int_equal(plx_v4l2_call(&node, VIDIOC_S_DV_TIMINGS, &timings), 0);
        plx_v4l2_close(&node);
    }
    return 0;
}

static uint8_t whole[PLX_EYES][WHOLE_WIDTH * WHOLE_HEIGHT];

static void read_whole(void)
{
    const struct plx_v4l2_options options = inputs(WHOLE_WIDTH, WHOLE_HEIGHT);
    struct pairs pairs;

    pairs_open(&pairs, &options);
    pairs.pairing.tolerance_ns = PLX_NS_PER_S; /* nothing moves */
    pairs_take(&pairs, 3);
    for (int eye = 0; eye < PLX_EYES; eye++)
        for (int y = 0; y < WHOLE_HEIGHT; y++)
            memcpy(whole[eye] + (size_t)y * WHOLE_WIDTH,
                   (const uint8_t *)pairs.pair[eye].raw[eye].data + (size_t)y * pairs.pair[eye].raw[eye].pitch, WHOLE_WIDTH);
    pairs_close(&pairs);
}

/* The part of the whole picture at (x, y), in its rows. */
static struct plx_raw part(int eye, int x, int y)
{
    return (struct plx_raw){
        .data = whole[eye] + (size_t)y * WHOLE_WIDTH + x,
        .bytes = (size_t)(HEIGHT - 1) * WHOLE_WIDTH + WIDTH,
        .width = WIDTH,
        .height = HEIGHT,
        .pitch = WHOLE_WIDTH,
        .format = PLX_FORMAT_GREY,
        .eye_width = WIDTH,
    };
}

static bool equal(const struct plx_raw *a, const struct plx_raw *b)
{
    for (int y = 0; y < HEIGHT; y++)
        if (memcmp((const uint8_t *)a->data + (size_t)y * a->pitch, (const uint8_t *)b->data + (size_t)y * b->pitch, WIDTH) !=
            0)
            return false;
    return true;
}

static void test_published(void **state)
{
    (void)state;
    static const char still[] = "source.controls=" STILL;
    struct published published;

    read_whole();
    const struct plx_raw raw[PLX_EYES] = {part(PLX_LEFT, X, Y), part(PLX_RIGHT, X, Y)};
    const struct plx_raw aside = part(PLX_LEFT, X + 1, Y), below = part(PLX_LEFT, X, Y + 1);
    assert_false(equal(&raw[PLX_LEFT], &aside) || equal(&raw[PLX_LEFT], &below)); /* one pixel off would be seen */
    write_calibration(WIDTH, HEIGHT);
    published_open(&published,
                   (const char *const[]){"source.type=v4l2", "source.left=bus=platform:vivid-000",
                                         "source.right=bus=platform:vivid-001", "source.format=GREY", "source.width=320",
                                         "source.height=200", "source.crop_x=410", "source.crop_y=132", "source.crop_width=320",
                                         "source.crop_height=200", still, "source.pair_tolerance_ms=40", CALIBRATION_SETTING,
                                         "exposure.enabled=false", "match.disparities=64", "publish.right=true",
                                         "obstacles.enabled=false", NULL});
    for (int i = 0; i < FRAMES; i++) {
        published_take_newest(&published);
        published_compare(&published, raw);
    }
    published_close(&published);
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *left;
        int x, y, width, height;
        bool at_start; /* the camera does not say before it is set */
        const char *sentence;
    } cases[] = {
        {"bus=platform:vivid-000", 411, 133, 320, 200, true, "crops to 320x200 at 410,132 instead of 320x200 at 411,133"},
        {"bus=platform:vivid-000", 1200, 132, 320, 200, false,
         "crops within 1280x720 at 0,0; 320x200 at 1200,132 lies outside"},
        {"bus=platform:vivid-000", 0, 0, 4000, 200, false, "crops within 1280x720 at 0,0; 4000x200 at 0,0 lies outside"},
        {"bus=platform:vivid-000", 100, 100, 640, 400, true, "instead of 640x400 at 100,100 for pictures of 320x200"},
        {"bus=platform:vivid-002", 0, 0, 320, 200, false, "the camera cannot crop; remove source.crop_width"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct plx_v4l2_options options = inputs(WIDTH, HEIGHT);
        struct plx_error_message message;

        SET_TEXT(options.cameras.camera[PLX_LEFT], cases[i].left);
        options.cameras.crop_x = cases[i].x;
        options.cameras.crop_y = cases[i].y;
        options.cameras.crop_width = cases[i].width;
        options.cameras.crop_height = cases[i].height;
        if (cases[i].at_start) {
            pairs_refused_at_start(&options, cases[i].sentence);
            continue;
        }
        pairs_refused(&options, PLX_ERR_UNSUPPORTED, &message);
        if (!strstr(message.text, cases[i].sentence))
            fail_msg("\"%s\", expected \"%s\"", message.text, cases[i].sentence);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests_name("source_crop", tests, setup, NULL);
}
