/* SPDX-License-Identifier: Apache-2.0 */
/* Grey left pictures of MCAP files and their colours, which are on a topic of their own. */
#include "tests/unit/bag_write.h"

#define PITCH 64
#define LEFT_TOPIC "/cam/left/image_rect"
#define RIGHT_TOPIC "/cam/right/image_rect"
#define COLOUR_TOPIC "/cam/left/image_rect_color"

/* A picture of COLUMNS columns and BYTES bytes a pixel, which count up from VALUE. */
static void put_colour(int64_t stamp_ms, const char *encoding, uint32_t bytes, uint32_t columns, uint8_t value)
{
    uint8_t data[4 * WIDTH * HEIGHT];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(value + i);
    struct ros_image colour = bag_image(encoding, bytes, data);
    colour.width = columns;
    colour.header.stamp.nanosec = (uint32_t)(stamp_ms * MS);
    bag_put(BAG_COLOUR, &ros_image_type, &colour);
}

static void put_pair(int64_t stamp_ms, uint8_t value)
{
    bag_put_grey(PLX_LEFT, stamp_ms, value);
    bag_put_grey(PLX_RIGHT, stamp_ms, (uint8_t)(100 + value));
}

static int open_colour(struct plx_bag **ret_bag, struct plx_error_message *message)
{
    const struct plx_bag_options options = {.path = bag_path, .topic = {LEFT_TOPIC, RIGHT_TOPIC}, .colour = true};
    return plx_bag_open(&options, ret_bag, message);
}

static void assert_no_colour(int error, const char *said)
{
    struct plx_error_message message = {""};
    struct plx_bag *pairs;
    const int got = open_colour(&pairs, &message);
    if (got != error || !strstr(message.text, said) || strncmp(message.text, bag_path, strlen(bag_path)) != 0)
        fail_msg("%d: %s", got, message.text);
}

static int read_colour(struct plx_bag *pairs, int k, uint8_t left[4 * HEIGHT][PITCH], struct plx_error_message *message)
{
    uint8_t right[HEIGHT][PITCH];
    struct plx_raw raw;
    const struct plx_image both[PLX_EYES] = {{left, WIDTH, HEIGHT, PITCH, PLX_U8}, {right, WIDTH, HEIGHT, PITCH, PLX_U8}};
    const int result = plx_bag_read_colour(pairs, k, both, (size_t)4 * HEIGHT * PITCH, &raw, message);
    if (result == 0) {
        assert_true(raw.format == PLX_FORMAT_GREY_RGB && raw.data == left && raw.pitch == PITCH && raw.width == WIDTH);
        assert_int_equal(plx_raw_check(&raw, message), 0);
        assert_int_equal(right[HEIGHT - 1][WIDTH - 1], 100 + left[0][0]);
    }
    return result;
}

/* The pixel of row 1, column 1 of a picture that put_colour wrote. */
static void assert_pixel(uint8_t left[4 * HEIGHT][PITCH], uint8_t red, uint8_t green, uint8_t blue)
{
    const uint8_t *rgb = (const uint8_t *)left + (size_t)HEIGHT * PITCH + (size_t)3 * PITCH + 3;
    assert_true(rgb[0] == red && rgb[1] == green && rgb[2] == blue);
}

static void colours_join_their_left_picture(void **state)
{
    (void)state;
    uint8_t left[4 * HEIGHT][PITCH];
    struct plx_error_message message = {""};
    struct plx_bag *pairs;
    bag_begin(LEFT_TOPIC, RIGHT_TOPIC);
    put_colour(100, "rgb8", 3, WIDTH, 10); /* first, behind, out of order, and one of nobody's */
    put_pair(100, 1);
    put_pair(200, 2);
    put_pair(300, 3);
    put_colour(300, "bgra8", 4, WIDTH, 30);
    put_colour(250, "rgb8", 3, WIDTH, 99);
    put_colour(200, "bgr8", 3, WIDTH, 20);
    bag_finish();
    if (open_colour(&pairs, &message) < 0)
        fail_msg("%s", message.text);
    assert_int_equal(plx_bag_info(pairs)->count, 3);
    for (int turn = 0; turn < 2; turn++) { /* and back to the first */
        assert_int_equal(read_colour(pairs, 0, left, &message), 0);
        assert_int_equal(left[0][0], 1);
        assert_pixel(left, 10 + 12, 10 + 13, 10 + 14);
        assert_int_equal(read_colour(pairs, 1, left, &message), 0);
        assert_int_equal(left[0][0], 2);
        assert_pixel(left, 20 + 14, 20 + 13, 20 + 12);
        assert_int_equal(read_colour(pairs, 2, left, &message), 0);
        assert_int_equal(left[0][0], 3);
        assert_pixel(left, 30 + 18, 30 + 17, 30 + 16);
    }
    plx_bag_close(pairs);
}

/* The topic beside it does not count then. */
static void a_left_picture_in_colour_stays_as_it_was_sent(void **state)
{
    (void)state;
    static const uint8_t sent[3 * WIDTH * HEIGHT] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18};
    uint8_t left[4 * HEIGHT][PITCH], right[HEIGHT][PITCH];
    struct plx_error_message message = {""};
    struct plx_raw raw;
    struct plx_bag *pairs;
    const struct plx_image both[PLX_EYES] = {{left, WIDTH, HEIGHT, PITCH, PLX_U8}, {right, WIDTH, HEIGHT, PITCH, PLX_U8}};
    const struct ros_image picture = bag_image("bgr8", 3, sent);
    bag_begin(LEFT_TOPIC, RIGHT_TOPIC);
    bag_put(PLX_LEFT, &ros_image_type, &picture);
    put_colour(0, "rgb8", 3, WIDTH - 1, 99);
    bag_put_grey(PLX_RIGHT, 0, 7);
    bag_finish();
    if (open_colour(&pairs, &message) < 0)
        fail_msg("%s", message.text);
    assert_int_equal(plx_bag_read_colour(pairs, 0, both, sizeof left, &raw, &message), 0);
    assert_true(raw.format == PLX_FORMAT_BGR24 && raw.data == left && raw.pitch == 3 * WIDTH && raw.bytes == sizeof sent);
    assert_memory_equal(left, sent, sizeof sent);
    assert_int_equal(right[0][0], 7);
    assert_int_equal(plx_bag_read_colour(pairs, 0, both, sizeof sent - 1, &raw, &message), PLX_ERR_RANGE);
    plx_bag_close(pairs);
}

static void a_pair_without_its_colours_is_refused(void **state)
{
    (void)state;
    uint8_t left[4 * HEIGHT][PITCH];
    struct plx_error_message message = {""};
    struct plx_bag *pairs;
    bag_begin(LEFT_TOPIC, RIGHT_TOPIC);
    for (int k = 1; k < 4; k++)
        put_pair(100 * k, (uint8_t)k);
    bag_finish();
    assert_no_colour(PLX_ERR_UNSUPPORTED, "pictures of " LEFT_TOPIC " are grey, there are none of " COLOUR_TOPIC);

    for (int missing = 1; missing < 4; missing++) {
        bag_begin(LEFT_TOPIC, RIGHT_TOPIC);
        for (int k = 1; k < 4; k++) {
            put_pair(100 * k, (uint8_t)k);
            put_colour(100 * k + (k == missing), "rgb8", 3, WIDTH, 0);
        }
        bag_finish();
        if (missing < 3) {
            assert_no_colour(PLX_ERR_NOT_FOUND, "no picture of " COLOUR_TOPIC " has the stamp of pair ");
            continue;
        }
        assert_int_equal(open_colour(&pairs, &message), 0); /* as a file that was cut off ends */
        assert_int_equal(plx_bag_info(pairs)->count, 2);
        assert_non_null(strstr(plx_bag_info(pairs)->note.text, "the last pair has no picture of " COLOUR_TOPIC));
        assert_int_equal(read_colour(pairs, 1, left, &message), 0);
        plx_bag_close(pairs);
    }
}

static void colours_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *encoding;
        uint32_t bytes, columns;
        int error;
        const char *said;
    } cases[] = {
        {"rgb8", 3, WIDTH - 1, PLX_ERR_FORMAT, "a picture of " COLOUR_TOPIC " has 2 x 2 pixels"},
        {"mono8", 1, WIDTH, PLX_ERR_UNSUPPORTED, COLOUR_TOPIC " has the encoding \"mono8\"; expected rgb8"},
    };
    uint8_t left[4 * HEIGHT][PITCH];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct plx_error_message message = {""};
        struct plx_bag *pairs;
        bag_begin(LEFT_TOPIC, RIGHT_TOPIC);
        put_pair(100, 1);
        put_pair(200, 2);
        put_colour(100, "rgb8", 3, WIDTH, 0);
        put_colour(200, cases[i].encoding, cases[i].bytes, cases[i].columns, 0);
        bag_finish();
        assert_int_equal(open_colour(&pairs, &message), 0);
        assert_int_equal(read_colour(pairs, 0, left, &message), 0);
        assert_int_equal(read_colour(pairs, 1, left, &message), cases[i].error);
        if (!strstr(message.text, cases[i].said))
            fail_msg("%s", message.text);
        plx_bag_close(pairs);
    }
    bag_begin(LEFT_TOPIC, RIGHT_TOPIC);
    put_pair(100, 1);
    put_colour(100, "rgb8", 3, WIDTH - 1, 0);
    bag_finish();
    assert_no_colour(PLX_ERR_FORMAT, LEFT_TOPIC " has 3 x 2 pixels, " COLOUR_TOPIC " 2 x 2; expected the same");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(colours_join_their_left_picture),
        cmocka_unit_test(a_left_picture_in_colour_stays_as_it_was_sent),
        cmocka_unit_test(a_pair_without_its_colours_is_refused),
        cmocka_unit_test(colours_that_do_not_fit_are_refused),
    };
    return cmocka_run_group_tests(tests, bag_make_file, bag_remove_file);
}
