/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The same faults as the stock driver vivid injects them, as a check that does not rest on a driver of ours: two cameras that
 * run free; what fails is flagged, nothing of it is handed out, and pairs come again within a second.
 *
 * guest: vivid n_devs=2 node_types=0x1,0x1 num_inputs=1,1 input_types=0x0,0x0
 */
#include "tests/vm/pairs.h"

#include <linux/videodev2.h>
#include <stdlib.h>

#include "drivers/v4l2/node.h"

#define LEFT "bus=platform:vivid-000"
#define BACK_NS PLX_NS_PER_S
#define ROUNDS 6 /* a busy host makes single rounds slow, not all of them */

static struct pairs pairs;

static int setup(void **state)
{
    const struct plx_v4l2_options options = {
        .cameras.camera = {LEFT, "bus=platform:vivid-001"},
        .cameras.format = "GREY",
        .width = 320,
        .height = 180,
        .rate_hz = 15,
        .cameras.control = PAIRS_NO_CONTROLS,
    };
    pairs_setup(state, &pairs, &options, 0);
    pairs.pairing.tolerance_ns = PLX_NS_PER_S / 30; /* half a period: each finds its nearest */
    pairs_take(&pairs, 3);
    pairs.health = 0;
    return 0;
}

/* Sets the left camera's control of that name, beside the source. Its node is not kept open: vivid plugs itself in again only
 * then. */
static void set_control(const char *name, int value)
{
    struct v4l2_queryctrl query = {.id = V4L2_CTRL_FLAG_NEXT_CTRL};
    struct plx_v4l2_rule rule;
    struct plx_v4l2_node node;

    assert_int_equal(plx_v4l2_rule_parse(LEFT, &rule, NULL), 0);
    assert_int_equal(plx_v4l2_find(&rule, &node, NULL), 0);
    while (plx_v4l2_call(&node, VIDIOC_QUERYCTRL, &query) == 0 && strcmp((const char *)query.name, name) != 0)
        query.id |= V4L2_CTRL_FLAG_NEXT_CTRL;
    assert_string_equal(query.name, name);
    struct v4l2_control control = {.id = query.id, .value = value};
    assert_int_equal(plx_v4l2_call(&node, VIDIOC_S_CTRL, &control), 0);
    plx_v4l2_close(&node);
}

static bool comes(uint32_t flag)
{
    pairs.health = 0;
    for (int i = 0; i < 60 && !(pairs.health & flag); i++)
        pairs_next(&pairs, 500);
    return pairs.health & flag;
}

static bool goes(uint32_t flag)
{
    for (int i = 0; i < 20; i++) {
        pairs.health = 0;
        if (pairs_next(&pairs, PAIRS_PATIENCE_MS) && !(pairs.health & flag))
            return true;
    }
    return false;
}

static void test_damaged(void **state)
{
    (void)state;
    set_control("Inject V4L2_BUF_FLAG_ERROR", 0);
    assert_true(comes(PLX_HEALTH_BUFFER_ERROR));
    assert_true(goes(PLX_HEALTH_BUFFER_ERROR));
}

static void test_dropped(void **state)
{
    (void)state;
    const uint64_t before = pairs.pairing.eye[PLX_LEFT].dropped;
    set_control("Percentage of Dropped Buffers", 50);
    assert_true(comes(PLX_HEALTH_DROPPED));
    pairs_take(&pairs, 10);
    set_control("Percentage of Dropped Buffers", 0);
    assert_true(pairs.pairing.eye[PLX_LEFT].dropped > before);
}

static void test_lost(void **state)
{
    (void)state;
    static const char *const faults[][2] = {
        {"Inject VIDIOC_QBUF Error", NULL},
        {"Inject Fatal Streaming Error", NULL},
        {"Disconnect", NULL},
        {"Inject Fatal Streaming Error", "Inject VIDIOC_REQBUFS Error"}, /* the way back fails once too */
        {"Inject Fatal Streaming Error", "Inject VIDIOC_STREAMON Error"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        bool in_time = false;
        for (int round = 0; round < ROUNDS && !in_time; round++) {
            if (faults[i][1])
                set_control(faults[i][1], 0);
            set_control(faults[i][0], 0);
            pairs_wait_for_flag(&pairs, PLX_HEALTH_CAMERA_LOST_LEFT);
            const int64_t back_ns = pairs_wait_for_new(&pairs);
            print_message("%s%s%s: back after %.0f ms: %s\n", faults[i][0], faults[i][1] ? ", " : "",
                          faults[i][1] ? faults[i][1] : "", (double)back_ns / PLX_NS_PER_MS, pairs.source->message.text);
            in_time = back_ns <= BACK_NS;
        }
        assert_true(in_time);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_damaged, setup, pairs_teardown),
        cmocka_unit_test_setup_teardown(test_dropped, setup, pairs_teardown),
        cmocka_unit_test_setup_teardown(test_lost, setup, pairs_teardown),
    };
    return cmocka_run_group_tests_name("source_vivid", tests, NULL, NULL);
}
