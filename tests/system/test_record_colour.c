/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings with colour: a service that replays one publishes what the recorded service published, bit for bit. */
#define SCENE_HZ "5"
#include "tests/system/cli.h"

#include "formats/cdr/ros_types.h"
#include "formats/mcap/read.h"

#define FRAMES 4
#define FRAMES_TEXT "4"
#define LATER "8" /* of a replay in a loop */

enum { LEFT, RIGHT, COLOUR, DISPARITY, TOPICS };

static const struct {
    const char *topic, *encoding;
    size_t element; /* bytes of a pixel */
} topics[TOPICS] = {
    {"/parallax/left/image_rect", "mono8", 1},
    {"/parallax/right/image_rect", "mono8", 1},
    {"/parallax/left/image_rect_color", "rgb8", 3},
    {"/parallax/disparity", "32FC1", 4},
};

struct pictures {
    uint8_t of[TOPICS][WIDTH * HEIGHT * 4];
};

static struct pictures first[FRAMES], later[2 * FRAMES];

static void keep(const struct plx_mcap_message *message, int topic, uint8_t *ret_picture)
{
    static _Alignas(8) uint8_t memory[1 << 20];
    struct plx_cdr_arena arena = {.memory = memory, .capacity = sizeof memory};
    struct ros_image image;
    struct ros_disparity_image disparity;
    if (topic == DISPARITY) {
        assert_int_equal(plx_cdr_decode(&ros_disparity_image_type, message->data, message->bytes, &arena, &disparity), 0);
        image = disparity.image;
    } else {
        assert_int_equal(plx_cdr_decode(&ros_image_type, message->data, message->bytes, &arena, &image), 0);
    }
    assert_string_equal(image.encoding, topics[topic].encoding);
    assert_int_equal(image.data.count, WIDTH * HEIGHT * topics[topic].element);
    memcpy(ret_picture, image.data.data, image.data.count);
}

/* Reads the COUNT frames of an MCAP file, each of which has all topics. */
static void read_frames(const char *name, struct pictures *ret, int count)
{
    struct plx_error_message error = {""};
    struct plx_mcap_reader *reader;
    struct plx_mcap_message message;
    int seen[TOPICS] = {0};
    assert_int_equal(plx_mcap_reader_create(path_of(name), PLX_MCAP_FILE_ORDER, &reader, &error), 0);
    while (plx_mcap_next(reader, &message, &error) == 0)
        for (int topic = 0; topic < TOPICS; topic++)
            if (strcmp(message.channel->topic, topics[topic].topic) == 0) {
                assert_true(seen[topic] < count);
                keep(&message, topic, ret[seen[topic]++].of[topic]);
            }
    plx_mcap_reader_destroy(reader);
    for (int topic = 0; topic < TOPICS; topic++)
        assert_int_equal(seen[topic], count);
}

static void record_mcap(const char *name, const char *pairs)
{
    struct command command;
    command_succeed(&command, "record", path_of(name), "--pairs", pairs, "--topics", "left,right,colour,disparity");
    command_free(&command);
}

static void record_folder(const char *name, const char *pairs)
{
    struct command command;
    command_succeed(&command, "record", path_of(name), "--pairs", pairs);
    command_free(&command);
}

static void start_colourful(const char *colour)
{
    start_daemon("--set", "source.width=320", "--set", "source.height=240", "--set", "source.rate_hz=" SCENE_HZ, "--set",
                 "publish.right=true", "--set", "refine.temporal_step_px=0", "--set", colour);
}

static void start_replay(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "source.path=%s", path_of(name));
    start_daemon("--set", "source.type=replay", "--set", path, "--set", "source.loop=true", "--set", "publish.right=true",
                 "--set", "refine.temporal_step_px=0", "--set", "colour.enabled=true");
}

/* Each frame of the file is one of the first recording, in all its planes. A busy machine may lose some, but not all but one.
 */
static void assert_are_the_first(const char *name)
{
    unsigned found = 0;
    read_frames(name, later, 2 * FRAMES);
    for (int i = 0; i < 2 * FRAMES; i++) {
        int k = 0;
        while (k < FRAMES && memcmp(later[i].of[LEFT], first[k].of[LEFT], sizeof first[k].of[LEFT]) != 0)
            k++;
        if (k == FRAMES)
            fail_msg("%s: left picture %d was not recorded", name, i);
        for (int topic = 0; topic < TOPICS; topic++)
            if (memcmp(later[i].of[topic], first[k].of[topic], sizeof first[k].of[topic]) != 0)
                fail_msg("%s: frame %d differs from frame %d in %s", name, i, k, topics[topic].topic);
        found |= 1u << k;
    }
    assert_true((found & (found - 1)) != 0);
}

static void begin_with_colour(void)
{
    int coloured = 0;
    start_colourful("colour.enabled=true");
    record_mcap("first.mcap", FRAMES_TEXT);
    stop_daemon();
    read_frames("first.mcap", first, FRAMES);
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        coloured += first[0].of[COLOUR][3 * i] != first[0].of[COLOUR][3 * i + 2];
    assert_true(coloured > WIDTH * HEIGHT / 10);
    assert_memory_not_equal(first[0].of[COLOUR], first[1].of[COLOUR], (size_t)3 * WIDTH * HEIGHT); /* noise */
}

/* From a file to a folder, and back into a file. */
static void a_replay_has_the_recorded_planes(void **state)
{
    (void)state;
    begin_with_colour();
    start_replay("first.mcap");
    record_mcap("second.mcap", LATER);
    record_folder("second", FRAMES_TEXT);
    stop_daemon();
    assert_are_the_first("second.mcap");

    start_replay("second");
    record_mcap("third.mcap", LATER);
    stop_daemon();
    assert_are_the_first("third.mcap");
}

/* Colour is wanted of the recording NAME: the service says why there is none. */
static void assert_says(const char *name, const char *words)
{
    char path[512];
    const int64_t deadline = patience_end_ns();
    snprintf(path, sizeof path, "source.path=%s", path_of(name));
    daemon_start(&daemon_, (const char *const[]){"--set", "source.type=replay", "--set", path, "--set", "match.disparities=64",
                                                 "--set", "colour.enabled=true", NULL});
    while (!strstr(daemon_said(&daemon_), words)) {
        if (plx_now_ns() > deadline)
            fail_msg("expected \"%s\"; the service said: %s", words, daemon_said(&daemon_));
        usleep(5000);
    }
    kill(daemon_.pid, SIGTERM);
    assert_true(daemon_wait(&daemon_, patience_ms()) >= 0);
}

static void a_recording_without_colour_says_so(void **state)
{
    (void)state;
    start_colourful("colour.enabled=false");
    record_mcap("grey.mcap", FRAMES_TEXT);
    record_folder("grey", FRAMES_TEXT);
    stop_daemon();
    assert_int_not_equal(access(path_of("grey/image_0_color"), F_OK), 0);
    assert_says("grey.mcap", "pictures of /parallax/left/image_rect are grey, there are none of "
                             "/parallax/left/image_rect_color, and colour is wanted");
    assert_says("grey", "grey/image_0/000000.png: a grey picture, and colour is wanted");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_replay_has_the_recorded_planes),
        cmocka_unit_test(a_recording_without_colour_says_so),
    };
    cli_begin();
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    cli_end();
    return failed;
}
