/* SPDX-License-Identifier: Apache-2.0 */
/* `parallax record FILE.mcap` beside a real parallaxd: all messages of each frame are in the file, and its ends are clean. */
#include <math.h>
#include <sys/resource.h>

#define SCENE_HZ "3"
#include "tests/system/cli.h"

#include <parallax/error.h>
#include <parallax/frame.h>

#include "drivers/mcap/bag.h"
#include "formats/cdr/ros_types.h"
#include "formats/mcap/read.h"

#define ARENA (1 << 20)
#define PAIRS "8"
#define DISPARITIES 64

struct contents {
    int images, depths, infos, disparities, clouds, scans, maps, verdicts, markers, obstacles, odometry,
        frame_infos; /* messages */
    int transforms, static_transforms, diagnostics;
    uint64_t first_ns, last_ns;
    bool cut;
};

static void check_image(const struct ros_image *image, const char *encoding, uint32_t element)
{
    assert_true(image->width == WIDTH && image->height == HEIGHT && image->step == WIDTH * element);
    assert_int_equal(image->data.count, WIDTH * HEIGHT * element);
    assert_string_equal(image->encoding, encoding);
    assert_string_equal(image->header.frame_id, "parallax_left_optical_frame");
}

static void check_disparity(const struct ros_disparity_image *disparity)
{
    int known = 0;
    check_image(&disparity->image, "32FC1", sizeof(float));
    for (uint32_t i = 0; i < WIDTH * HEIGHT; i++) {
        float value;
        memcpy(&value, disparity->image.data.data + i * sizeof value, sizeof value);
        known += value >= disparity->min_disparity && value <= disparity->max_disparity;
        assert_true(value == -1 || (value >= 0 && value < DISPARITIES));
    }
    assert_true(known > WIDTH * HEIGHT / 2);
    assert_true(disparity->f == 256 && disparity->min_disparity == 0 && disparity->max_disparity == DISPARITIES - 1);
}

static void check_frame_info(const struct ros_diagnostic_status *status)
{
    int found = 0;
    assert_string_equal(status->name, "parallax: frame");
    for (uint32_t i = 0; i < status->values.count; i++) {
        const struct ros_key_value *value = &status->values.data[i];
        found += strcmp(value->key, "left_exposure_us") == 0 && atoi(value->value) > 0;
        found += strcmp(value->key, "source") == 0 && strcmp(value->value, "synthetic") == 0;
        found += strcmp(value->key, "sequence") == 0 && atoi(value->value) > 0;
    }
    assert_int_equal(found, 3);
}

/* Something is free, something is occupied, and the ground is 1 m below the camera. */
static void check_map(const struct ros_occupancy_grid *map)
{
    int count[3] = {0}; /* unknown, free, occupied */
    assert_true(map->info.width == PLX_MAP_CELLS && map->data.count == PLX_MAP_CELLS * PLX_MAP_CELLS);
    for (uint32_t i = 0; i < map->data.count; i++) {
        assert_true(map->data.data[i] == -1 || map->data.data[i] == 0 || map->data.data[i] == 100);
        count[map->data.data[i] == -1 ? 0 : map->data.data[i] == 0 ? 1 : 2]++;
    }
    assert_true(count[0] > 0 && count[1] > 0 && count[2] > 0);
    assert_true(fabs(map->info.origin.position.z + 1) < 0.1);
}

/* Decodes MESSAGE by the type that its schema names, and counts it. */
static void check_message(const struct plx_mcap_message *message, struct contents *contents)
{
    static _Alignas(8) uint8_t memory[ARENA];
    struct plx_cdr_arena arena = {.memory = memory, .capacity = ARENA};
    union {
        struct ros_image image;
        struct ros_camera_info info;
        struct ros_disparity_image disparity;
        struct ros_point_cloud2 cloud;
        struct ros_laser_scan scan;
        struct ros_occupancy_grid map;
        struct ros_string verdict;
        struct ros_marker_array markers;
        struct ros_detection_3d_array obstacles;
        struct ros_odometry odometry;
        struct ros_diagnostic_array frame_info;
        struct ros_tf_message transforms;
    } content;
    const struct plx_cdr_type *type = NULL;

    for (int i = 0; ros_message_types[i]; i++)
        if (strcmp(ros_message_types[i]->name, message->channel->schema->name) == 0)
            type = ros_message_types[i];
    assert_non_null(type);
    assert_int_equal(plx_cdr_decode(type, message->data, message->bytes, &arena, &content), 0);
    if (strcmp(message->channel->topic, "/parallax/depth/image_rect") == 0) {
        check_image(&content.image, "32FC1", sizeof(float));
        contents->depths++;
    } else if (type == &ros_image_type) {
        check_image(&content.image, "mono8", 1);
        contents->images++;
    } else if (type == &ros_camera_info_type) {
        const bool right = strstr(message->channel->topic, "right") != NULL;
        assert_true(content.info.k[0] == 256 && content.info.k[2] == 159.5 && content.info.p[3] == (right ? -256 * 0.12 : 0));
        contents->infos++;
    } else if (type == &ros_disparity_image_type) {
        check_disparity(&content.disparity);
        contents->disparities++;
    } else if (type == &ros_point_cloud2_type) {
        assert_true(content.cloud.width > 50 && content.cloud.data.count == 16 * content.cloud.width);
        contents->clouds++;
    } else if (type == &ros_laser_scan_type) {
        assert_true(content.scan.ranges.count >= WIDTH / 4 && content.scan.range_max == 10);
        contents->scans++;
    } else if (type == &ros_occupancy_grid_type) {
        check_map(&content.map);
        contents->maps++;
    } else if (type == &ros_string_type) {
        const char *word = content.verdict.data;
        assert_true(strcmp(word, "go") == 0 || strcmp(word, "slow") == 0 || strcmp(word, "stop") == 0);
        contents->verdicts++;
    } else if (type == &ros_marker_array_type) {
        assert_true(content.markers.markers.count > 0 && content.markers.markers.count % 2 == 0);
        contents->markers++;
    } else if (type == &ros_detection_3d_array_type) {
        contents->obstacles++;
    } else if (type == &ros_tf_message_type) {
        const bool is_static = strcmp(message->channel->topic, "/tf_static") == 0;
        const struct ros_transform_stamped *transform = content.transforms.transforms.data;
        assert_true(is_static || strcmp(message->channel->topic, "/tf") == 0);
        assert_string_equal(transform->header.frame_id, "parallax_link");
        assert_string_equal(transform->child_frame_id, is_static ? "parallax_left_optical_frame" : "parallax_scan");
        contents->transforms += !is_static;
        contents->static_transforms += is_static;
    } else if (strcmp(message->channel->topic, "/diagnostics") == 0) {
        assert_string_equal(content.frame_info.status.data->name, "parallax: service");
        contents->diagnostics++;
    } else if (type == &ros_diagnostic_array_type) {
        check_frame_info(content.frame_info.status.data);
        contents->frame_infos++;
    } else {
        assert_true(type == &ros_odometry_type);
        contents->odometry++;
    }
    contents->first_ns = contents->first_ns ? contents->first_ns : message->header.log_ns;
    assert_true(message->header.log_ns >= contents->last_ns);
    contents->last_ns = message->header.log_ns;
}

static struct contents contents_of(const char *name)
{
    struct contents contents = {.images = 0};
    struct plx_error_message error = {""};
    struct plx_mcap_reader *reader;
    struct plx_mcap_message message;
    int result;

    if (plx_mcap_reader_create(path_of(name), PLX_MCAP_FILE_ORDER, &reader, &error) < 0)
        fail_msg("%s", error.text);
    while ((result = plx_mcap_next(reader, &message, &error)) == 0)
        check_message(&message, &contents);
    if (result != PLX_ERR_END)
        fail_msg("%s", error.text);
    assert_string_equal(plx_mcap_profile(reader), "ros2");
    contents.cut = plx_mcap_is_cut(reader);
    plx_mcap_reader_destroy(reader);
    return contents;
}

static void all_topics_of_every_frame(void **state)
{
    (void)state;
    struct command command;
    command_succeed(&command, "record", path_of("all.mcap"), "--pairs", PAIRS);
    assert_non_null(strstr(command.out, "all.mcap: " PAIRS " pairs, 0 missed"));
    command_free(&command);
    const struct contents all = contents_of("all.mcap");
    assert_true(all.images == 16 && all.infos == 16 && all.obstacles == 8 && all.disparities == 0 && all.frame_infos == 8 &&
                !all.cut);
    assert_true(all.transforms == 8 && all.static_transforms == 8);
    assert_true(all.diagnostics >= 1 && all.diagnostics < 8);                /* one a second */
    assert_true(all.odometry >= 7);                                          /* the first frame of a service has no motion */
    assert_true(all.last_ns - all.first_ns > 7 * UINT64_C(1000000000) / 16); /* at most 15 Hz */

    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    assert_true(llabs(now.tv_sec - (int64_t)(all.last_ns / 1000000000)) < 30);
}

static void topics_by_name(void **state)
{
    (void)state;
    struct command command;
    command_succeed(&command, "record", path_of("some.mcap"), "--pairs", PAIRS, "--topics", "disparity,left");
    command_free(&command);
    const struct contents some = contents_of("some.mcap");
    assert_true(some.images == 8 && some.infos == 8 && some.disparities == 8 && some.obstacles == 0 && some.odometry == 0);
}

static void what_is_computed_from_a_frame(void **state)
{
    (void)state;
    struct command command;
    command_succeed(&command, "record", path_of("more.mcap"), "--pairs", PAIRS, "--topics",
                    "depth,points,points_obstacles,scan,drops,map,verdict,markers");
    command_free(&command);
    const struct contents more = contents_of("more.mcap");
    assert_true(more.depths == 8 && more.infos == 8 && more.clouds == 16 && more.markers == 8 && more.images == 0);
    assert_int_equal(more.scans, 16); /* scans and drops */
    assert_true(more.maps == 8 && more.verdicts == 8);
}

static void wrong_words(void **state)
{
    (void)state;
    static const struct {
        const char *path, *topics, *said;
        int code;
    } cases[] = {
        {"all.mcap", "left", "all.mcap: exists already", PLX_EXIT_CANNOT_WRITE},
        {"nowhere/new.mcap", "left", "nowhere/new.mcap: No such file", PLX_EXIT_CANNOT_WRITE},
        {"new.mcap", "left,deep", "there is no \"deep\"; expected some of left,", PLX_EXIT_USAGE},
        {"new.mcap", "", "there is no \"\"", PLX_EXIT_USAGE},
        {"folder", "left", "--topics is for an MCAP file", PLX_EXIT_USAGE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct command command;
        command_run(&command, (const char *const[]){"record", path_of(cases[i].path), "--topics", cases[i].topics, NULL});
        if (command.code != cases[i].code || !strstr(command.err, cases[i].said))
            fail_msg("exit %d: %s", command.code, command.err);
        command_free(&command);
    }
    assert_int_not_equal(access(path_of("new.mcap"), F_OK), 0);
}

/* As on a full disk: the recorder ends and says so, and what it wrote can be read. */
static void a_full_disk_ends_it_cleanly(void **state)
{
    (void)state;
    struct command command;
    struct rlimit before, small = {.rlim_cur = 3000000};
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small.rlim_max = before.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    command_run(&command, (const char *const[]){"record", path_of("full.mcap"), "--seconds", "20", NULL});
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(command.code, PLX_EXIT_CANNOT_WRITE);
    assert_non_null(strstr(command.err, "full.mcap"));
    command_free(&command);
    assert_true(contents_of("full.mcap").images > 8);
    command_succeed(&command, "status"); /* the service goes on */
    command_free(&command);
}

/* Until the file NAME, which is being written, has so many bytes. */
static void wait_for_bytes(const char *name, off_t bytes)
{
    const int64_t end_ns = patience_end_ns();
    struct stat status;

    while (stat(path_of(name), &status) != 0 || status.st_size < bytes) {
        assert_true(plx_now_ns() < end_ns);
        usleep(10000);
    }
}

static void a_signal_or_a_kill_leaves_what_can_be_read(void **state)
{
    (void)state;
    static const int signals[] = {SIGINT, SIGKILL};
    for (int i = 0; i < 2; i++) {
        struct command command;
        char name[32];
        snprintf(name, sizeof name, "ended_%d.mcap", i);
        command_begin(&command, (const char *const[]){"record", path_of(name), NULL}, 0);
        wait_for_bytes(name, 2000000); /* some 26 pictures */
        kill(command.pid, signals[i]);
        command_end(&command);
        command_free(&command);
        const struct contents contents = contents_of(name);
        assert_true(contents.images > 20 && contents.cut == (signals[i] == SIGKILL));
    }
}

#define REPLAYED 5

/* Disparities of recorded frames, in the order of the file; 1/16 px, as published. */
static int recorded_disparities(const char *name, uint16_t (*ret)[HEIGHT][WIDTH])
{
    static _Alignas(8) uint8_t memory[ARENA];
    struct plx_error_message error = {""};
    struct plx_mcap_reader *reader;
    struct plx_mcap_message message;
    int count = 0;
    assert_int_equal(plx_mcap_reader_create(path_of(name), PLX_MCAP_FILE_ORDER, &reader, &error), 0);
    while (plx_mcap_next(reader, &message, &error) == 0) {
        struct plx_cdr_arena arena = {.memory = memory, .capacity = ARENA};
        struct ros_disparity_image disparity;
        if (strcmp(message.channel->topic, "/parallax/disparity") != 0)
            continue;
        assert_true(count < REPLAYED);
        assert_int_equal(plx_cdr_decode(&ros_disparity_image_type, message.data, message.bytes, &arena, &disparity), 0);
        for (int i = 0; i < WIDTH * HEIGHT; i++) {
            float value;
            memcpy(&value, disparity.image.data.data + (size_t)i * sizeof value, sizeof value);
            ret[count][i / WIDTH][i % WIDTH] = value < disparity.min_disparity ? PLX_DISPARITY_INVALID : (uint16_t)(16 * value);
        }
        count++;
    }
    plx_mcap_reader_destroy(reader);
    return count;
}

/* The pictures show the corrections of the service that recorded them: no replay corrects them again. */
static void assert_is_corrected(const char *name)
{
    const struct plx_bag_options options = {.path = path_of(name), .topic = {"", ""}};
    struct plx_stereo_calibration calibration;
    struct plx_error_message error;
    struct plx_bag *bag;
    assert_int_equal(plx_bag_open(&options, &bag, &error), 0);
    assert_int_equal(plx_bag_calibration(bag, &calibration, &error), 0);
    assert_true(calibration.corrected);
    plx_bag_close(bag);
}

/* `parallax run` and a service that replays the file compute what the recorded service computed, bit for bit. */
static void a_recording_is_computed_again(void **state)
{
    (void)state;
    static uint16_t first[REPLAYED][HEIGHT][WIDTH], second[REPLAYED][HEIGHT][WIDTH];
    struct command command;
    char words[512];
    start_daemon("--set", "source.width=320", "--set", "source.height=240", "--set", "source.rate_hz=10", "--set",
                 "publish.right=true", "--set", "refine.temporal_step_px=0");
    command_succeed(&command, "record", path_of("first.mcap"), "--pairs", "5", "--topics", "left,right,disparity");
    command_free(&command);
    stop_daemon();
    assert_int_equal(recorded_disparities("first.mcap", first), REPLAYED);
    assert_is_corrected("first.mcap");

    command_succeed(&command, "run", path_of("first.mcap"), "--raw", "--output", path_of("again"), "--max-disparity", "64",
                    "--set", "refine.temporal_step_px=0");
    command_free(&command);
    for (int k = 0; k < REPLAYED; k++) {
        struct plx_error_message error;
        struct plx_image image;
        char name[64];
        snprintf(name, sizeof name, "again/%06d.png", k);
        if (plx_picture_read(path_of(name), PLX_U16, &image, &error) < 0)
            fail_msg("%s", error.text);
        assert_memory_equal(image.data, first[k], sizeof first[k]);
        free(image.data);
    }

    snprintf(words, sizeof words, "source.path=%s", path_of("first.mcap"));
    start_daemon("--set", "source.type=replay", "--set", words, "--set", "source.loop=true", "--set", "publish.right=true",
                 "--set", "refine.temporal_step_px=0");
    command_succeed(&command, "record", path_of("second.mcap"), "--pairs", "5", "--topics", "left,right,disparity");
    command_free(&command);
    stop_daemon();
    assert_int_equal(recorded_disparities("second.mcap", second), REPLAYED);
    for (int k = 0; k < REPLAYED; k++) { /* the recording began somewhere in the loop */
        int match = 0;
        while (match < REPLAYED && memcmp(second[k], first[match], sizeof first[match]) != 0)
            match++;
        assert_true(match < REPLAYED);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_topics_of_every_frame),     cmocka_unit_test(topics_by_name),
        cmocka_unit_test(what_is_computed_from_a_frame), cmocka_unit_test(wrong_words),
        cmocka_unit_test(a_full_disk_ends_it_cleanly),   cmocka_unit_test(a_signal_or_a_kill_leaves_what_can_be_read),
    };
    const struct CMUnitTest others[] = {cmocka_unit_test(a_recording_is_computed_again)};
    cli_begin();
    int failed = cmocka_run_group_tests(tests, start_scene, stop_scene);
    failed += cmocka_run_group_tests(others, NULL, NULL);
    cli_end();
    return failed;
}
