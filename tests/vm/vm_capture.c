/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The v4l2 source on real drivers: two cameras, and one that gives both eyes side by side.
 *
 * guest: vivid n_devs=2 node_types=0x1,0x1 num_inputs=1,1 input_types=0x0,0x0
 */
#include "tests/vm/pairs.h"

static const struct plx_v4l2_options two = {
    .cameras.camera = {"bus=platform:vivid-000", "bus=platform:vivid-001"},
    .cameras.format = "GREY",
    .width = 320,
    .height = 180,
    .rate_hz = 15,
    .cameras.control = PAIRS_NO_CONTROLS,
};

static bool has_content(const struct plx_raw *raw)
{
    const uint8_t *first = raw->data;
    for (int x = 1; x < raw->eye_width; x++)
        if (first[raw->eye_x + x] != first[raw->eye_x])
            return true;
    return false;
}

static void test_two_cameras(void **state)
{
    (void)state;
    struct pairs pairs;
    uint32_t last = 0;

    pairs_open(&pairs, &two);
    assert_int_equal(pairs.source->width, 320);
    for (int i = 0; i < 30; i++) {
        pairs_take(&pairs, 1);
        for (int eye = 0; eye < PLX_EYES; eye++) {
            const struct plx_raw *raw = &pairs.pair[eye].raw[eye];
            assert_int_equal(raw->format, PLX_FORMAT_GREY);
            assert_int_equal(raw->width, 320);
            assert_int_equal(raw->height, 180);
            assert_true(has_content(raw));
            assert_int_equal(pairs.pair[eye].memory, PLX_MEMORY_USERPTR);
            assert_int_equal(pairs.pair[eye].clock, PLX_CLOCK_MONOTONIC);
        }
        const int64_t skew = pairs.pair[PLX_RIGHT].capture_ns - pairs.pair[PLX_LEFT].capture_ns;
        assert_true(skew <= pairs.pairing.tolerance_ns && -skew <= pairs.pairing.tolerance_ns);
        assert_true(i == 0 || pairs.pair[PLX_LEFT].sequence > last);
        last = pairs.pair[PLX_LEFT].sequence;
    }
    print_message("health %x, left sequence %u\n", pairs.health, last);
    pairs_close(&pairs);
}

static void test_side_by_side(void **state)
{
    (void)state;
    struct plx_v4l2_options options = two;
    struct pairs pairs;

    SET_TEXT(options.cameras.camera[PLX_RIGHT], "");
    options.width = 160;
    pairs_open(&pairs, &options);
    for (int i = 0; i < 5; i++) {
        pairs_take(&pairs, 1);
        for (int eye = 0; eye < PLX_EYES; eye++) {
            const struct plx_raw *raw = &pairs.pair[eye].raw[eye];
            assert_int_equal(raw->width, 320);
            assert_int_equal(raw->eye_width, 160);
            assert_int_equal(raw->eye_x, eye * 160);
        }
        assert_ptr_equal(pairs.pair[PLX_LEFT].raw[PLX_LEFT].data, pairs.pair[PLX_RIGHT].raw[PLX_RIGHT].data);
    }
    pairs_close(&pairs);
}

/* Everything that the reader may hold, over a stop and a start. */
static void test_reader_holds_pictures(void **state)
{
    (void)state;
    struct plx_capture held[2 * PLX_SOURCE_MIN_PAIRS];
    struct plx_error_message message;
    struct pairs pairs;
    int count = 0;

    pairs_open(&pairs, &two);
    struct plx_source *source = pairs.source;
    while (count < 2 * PLX_SOURCE_MIN_PAIRS) {
        assert_int_equal(source->ops->next(source, plx_now_ns() + 2 * PLX_NS_PER_S, &held[count]), 0);
        if (held[count].buffer)
            count++;
    }
    source->ops->stop(source);
    assert_int_equal(source->ops->next(source, 0, &pairs.pair[0]), PLX_ERR_LOST);
    assert_int_equal(source->ops->start(source, &message), 0);
    pairs_take(&pairs, 10);
    for (int i = 0; i < count; i++)
        source->ops->release(source, &held[i]);
    pairs_take(&pairs, 10);
    pairs_close(&pairs);
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *left, *format;
        int width, error;
    } cases[] = {
        {"card=vivid", "GREY", 320, PLX_ERR_RANGE},
        {"/dev/video0", "GREY", 320, PLX_ERR_RANGE},
        {"bus=platform:vivid-000", "H264", 320, PLX_ERR_RANGE},
        {"bus=platform:vivid-000", "GREY", 322, PLX_ERR_UNSUPPORTED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct plx_v4l2_options options = two;
        struct plx_error_message message;
        SET_TEXT(options.cameras.camera[PLX_LEFT], cases[i].left);
        SET_TEXT(options.cameras.format, cases[i].format);
        options.width = cases[i].width;
        pairs_refused(&options, cases[i].error, &message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_cameras),
        cmocka_unit_test(test_side_by_side),
        cmocka_unit_test(test_reader_holds_pictures),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests_name("capture", tests, NULL, NULL);
}
