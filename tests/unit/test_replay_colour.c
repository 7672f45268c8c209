/* SPDX-License-Identifier: Apache-2.0 */
/* Replay of grey directories that have the left pictures in colour beside them. */
#include "tests/unit/replay_files.h"

#define COUNT 3

static uint8_t sample(int number, int i, int y)
{
    return (uint8_t)(50 * number + 3 * i + 7 * y);
}

/* A picture of FOLDER in colour. */
static void put_colour(const char *folder, int number, int width)
{
    static uint8_t rgb[HEIGHT][3 * WIDTH];
    char name[64];
    for (int y = 0; y < HEIGHT; y++)
        for (int i = 0; i < 3 * WIDTH; i++)
            rgb[y][i] = sample(number, i, y);
    const struct plx_image image = {rgb, 3 * width, HEIGHT, sizeof rgb[0], PLX_U8};
    snprintf(name, sizeof name, "%s/%06d.png", folder, number);
    assert_int_equal(plx_png_write_rgb(files_path(name), &image, &message), 0);
}

static void put_all(const char *left, const char *right, const char *colour)
{
    put_sequence(left, right, COUNT);
    files_folder(colour);
    for (int k = 0; k < COUNT; k++)
        put_colour(colour, k, WIDTH);
}

static struct plx_replay_options in_colour(void)
{
    struct plx_replay_options options = at(PLX_TIMING_MAXIMUM);
    options.colour = true;
    return options;
}

static void expect_colours(const struct plx_raw *left, int number)
{
    assert_int_equal(left->format, PLX_FORMAT_GREY_RGB);
    assert_int_equal(plx_raw_check(left, &message), 0);
    for (int y = 0; y < HEIGHT; y++) {
        const uint8_t *grey = (const uint8_t *)left->data + (size_t)y * left->pitch;
        const uint8_t *rgb = (const uint8_t *)left->data + (size_t)(HEIGHT + 3 * y) * left->pitch;
        for (int x = 0; x < WIDTH; x++)
            assert_int_equal(grey[x], pixel(number, PLX_LEFT, x, y));
        for (int i = 0; i < 3 * WIDTH; i++)
            assert_int_equal(rgb[i], sample(number, i, y));
    }
}

static void colours_lie_behind_the_grey_picture(void **state)
{
    (void)state;
    const struct plx_replay_options options = in_colour();
    put_all("left", "right", "left_color");
    struct plx_source *source = opened(&options);
    for (int k = 0; k < COUNT; k++) {
        struct plx_capture left = take(source), right = take(source);
        expect_colours(&left.raw[PLX_LEFT], k);
        assert_int_equal(right.raw[PLX_RIGHT].format, PLX_FORMAT_GREY);
        source->ops->release(source, &left);
        source->ops->release(source, &right);
    }
    expect_end(source);
}

static void without_colour_they_are_not_read(void **state)
{
    (void)state;
    const struct plx_replay_options options = at(PLX_TIMING_MAXIMUM);
    put_all("image_0", "image_1", "image_0_color");
    unlink(files_path("image_0_color/000001.png"));
    unlink(files_path("image_0_color/000002.png"));
    struct plx_source *source = opened(&options);
    for (int k = 0; k < COUNT; k++)
        expect_pair(source, (uint32_t)k, k);
    expect_end(source);
}

/* Pair 1 is read, and pair 2 is refused. */
static void refused_at_two(int error, const char *said)
{
    const struct plx_replay_options options = in_colour();
    struct plx_source *source = opened(&options);
    struct plx_capture capture;
    for (int eye = 0; eye < PLX_EYES; eye++) {
        capture = take(source);
        source->ops->release(source, &capture);
    }
    assert_int_equal(source->ops->next(source, SOON, &capture), error);
    if (!strstr(source->message.text, said))
        fail_msg("%s", source->message.text);
    source->ops->destroy(source);
}

static void refused_in_colour(int error, const char *said)
{
    const struct plx_replay_options options = in_colour();
    struct plx_source *source;
    assert_int_equal(plx_replay_create(stages, &options, &source, &message), error);
    if (!strstr(message.text, said))
        fail_msg("%s", message.text);
}

static void what_is_missing_or_odd_is_named(void **state)
{
    (void)state;
    put_sequence("left", "right", COUNT);
    refused_in_colour(PLX_ERR_UNSUPPORTED, "left/000000.png: a grey picture, and colour is wanted");
    put_all("left", "right", "left_color");
    unlink(files_path("left_color/000001.png"));
    refused_at_two(PLX_ERR_NOT_FOUND, "left_color/000001.png");
    put_colour("left_color", 1, WIDTH - 1);
    refused_at_two(PLX_ERR_FORMAT, "left_color/000001.png: 20x7 pixels, expected 21x7");
    put_picture("left_color/000001.png", 1, PLX_LEFT, WIDTH, HEIGHT);
    refused_at_two(PLX_ERR_UNSUPPORTED, "left_color/000001.png: a grey picture");
    put_colour("left_color", 0, WIDTH - 1);
    refused_in_colour(PLX_ERR_FORMAT, "left_color/000000.png: 20x7 pixels, expected 21x7 as in ");
    put_picture("left_color/000000.png", 1, PLX_LEFT, WIDTH, HEIGHT);
    refused_in_colour(PLX_ERR_UNSUPPORTED, "left_color/000000.png: a grey picture");
}

static void an_incomplete_last_picture_is_left_out(void **state)
{
    (void)state;
    const struct plx_replay_options options = in_colour();
    put_all("left", "right", "left_color");
    files_cut("left_color/000002.png", -20);
    struct plx_source *source = opened(&options);
    assert_non_null(strstr(source->note.text, "left_color/000002.png"));
    for (int i = 0; i < 2 * (COUNT - 1); i++) {
        struct plx_capture capture = take(source);
        source->ops->release(source, &capture);
    }
    expect_end(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(colours_lie_behind_the_grey_picture, files_begin, files_end),
        cmocka_unit_test_setup_teardown(without_colour_they_are_not_read, files_begin, files_end),
        cmocka_unit_test_setup_teardown(what_is_missing_or_odd_is_named, files_begin, files_end),
        cmocka_unit_test_setup_teardown(an_incomplete_last_picture_is_left_out, files_begin, files_end),
    };
    return cmocka_run_group_tests(tests, begin_all, end_all);
}
