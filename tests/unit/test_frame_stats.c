/* SPDX-License-Identifier: Apache-2.0 */
/* Rate, latency, stage times and motion of frames whose numbers are known. */
#include <math.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app/cli/live/watch_screen.h"
#include "app/view/frame_stats.h"
#include "app/view/frame_text.h"
#include "core/base/clock.h"
#include "tests/cmocka.h"

static struct plx_frame frame;

/* A frame published at MS that took LATENCY_MS, and a quarter of that on the processor; the first of an engine, 10 or 1, does
 * not know. */
static const struct plx_frame *make(uint64_t epoch, uint64_t sequence, int64_t ms, int64_t latency_ms)
{
    frame.epoch = epoch;
    frame.sequence = sequence;
    frame.published_ns = ms * PLX_NS_PER_MS;
    frame.capture[PLX_LEFT].capture_ns = (ms - latency_ms) * PLX_NS_PER_MS;
    frame.stage_us[PLX_STAGE_SGM] = (uint32_t)latency_ms * 500;
    frame.cpu_us = sequence == 10 || sequence == 1 ? 0 : (uint32_t)latency_ms * 250;
    return &frame;
}

/* The text that PRINT writes for METER, in static storage. */
static const char *printed(void (*print)(const struct plx_frame_stats *meter), const struct plx_frame_stats *meter)
{
    static char text[512];
    FILE *file = tmpfile();
    assert_non_null(file);
    fflush(stdout);
    const int kept = dup(STDOUT_FILENO);
    dup2(fileno(file), STDOUT_FILENO);
    print(meter);
    fflush(stdout);
    dup2(kept, STDOUT_FILENO);
    close(kept);
    rewind(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

static void counts_published_frames_and_averages_seen_ones(void **state)
{
    (void)state;
    struct plx_frame_stats meter = {.frames = 0};
    assert_true(isnan(plx_frame_stats_rate_hz(&meter)) && isnan(plx_frame_stats_latency_ms(&meter)));
    plx_frame_stats_add(&meter, make(1, 10, 1000, 20));
    assert_true(isnan(plx_frame_stats_rate_hz(&meter)));
    plx_frame_stats_add(&meter, make(1, 15, 1500, 40)); /* four in between were not seen */
    assert_float_equal(plx_frame_stats_rate_hz(&meter), 10, 1e-9);
    assert_float_equal(plx_frame_stats_latency_ms(&meter), 30, 1e-9);
}

static void each_stage_has_its_mean_time(void **state)
{
    (void)state;
    struct plx_frame_stats meter = {.frames = 0};
    assert_true(isnan(plx_frame_stats_stage_ms(&meter, PLX_STAGE_SGM)));

    plx_frame_stats_add(&meter, make(1, 10, 1000, 20));
    plx_frame_stats_add(&meter, make(1, 15, 1500, 40));
    assert_float_equal(plx_frame_stats_stage_ms(&meter, PLX_STAGE_SGM), 15, 1e-9);
    assert_float_equal(plx_frame_stats_stage_ms(&meter, PLX_STAGE_CENSUS), 0, 1e-9);
    assert_non_null(strstr(printed(plx_frame_stats_print_stage_times, &meter), " sgm 15.00, "));
}

static void processor_time_is_the_mean_of_frames_that_know_it(void **state)
{
    (void)state;
    struct plx_frame_stats meter = {.frames = 0};
    plx_frame_stats_add(&meter, make(1, 10, 1000, 20));
    assert_true(isnan(plx_frame_stats_cpu_ms(&meter)));
    plx_frame_stats_add(&meter, make(1, 15, 1500, 40));
    plx_frame_stats_add(&meter, make(1, 16, 1600, 80));
    assert_float_equal(plx_frame_stats_cpu_ms(&meter), 15, 1e-9);
}

static void a_new_stretch_goes_on_from_the_last_frame(void **state)
{
    (void)state;
    struct plx_frame_stats meter = {.frames = 0};
    plx_frame_stats_add(&meter, make(1, 10, 1000, 20));
    plx_frame_stats_restart(&meter);
    assert_true(isnan(plx_frame_stats_latency_ms(&meter)));
    plx_frame_stats_add(&meter, make(1, 12, 1100, 50));
    assert_float_equal(plx_frame_stats_rate_hz(&meter), 20, 1e-9);
    assert_float_equal(plx_frame_stats_latency_ms(&meter), 50, 1e-9);
}

static void a_capture_time_ahead_of_the_clock_gives_no_latency(void **state)
{
    (void)state;
    struct plx_frame_stats meter = {.frames = 0};
    plx_frame_stats_add(&meter, make(1, 10, 1000, -20));
    assert_true(isnan(plx_frame_stats_latency_ms(&meter)));
    plx_frame_stats_add(&meter, make(1, 11, 1000, 60));
    assert_float_equal(plx_frame_stats_latency_ms(&meter), 20, 1e-9);
}

static void a_new_epoch_begins_anew(void **state)
{
    (void)state;
    struct plx_frame_stats meter = {.frames = 0};
    plx_frame_stats_add(&meter, make(1, 1000, 1000, 20));
    plx_frame_stats_add(&meter, make(2, 1, 5000, 60));
    assert_true(isnan(plx_frame_stats_rate_hz(&meter)));
    plx_frame_stats_add(&meter, make(2, 2, 5200, 60));
    assert_float_equal(plx_frame_stats_rate_hz(&meter), 5, 1e-9);
    assert_float_equal(plx_frame_stats_latency_ms(&meter), 60, 1e-9);
}

static void what_is_unknown_is_said_in_words(void **state)
{
    (void)state;
    struct plx_frame_stats meter = {.frames = 0};
    assert_string_equal(printed(plx_frame_stats_print_rates, &meter), "rate unknown, latency unknown, CPU unknown");
    assert_string_equal(printed(plx_frame_stats_print_stage_times, &meter), " unknown\n");
    plx_frame_stats_add(&meter, make(1, 10, 1000, 20));
    assert_string_equal(printed(plx_frame_stats_print_rates, &meter), "rate unknown, latency 20.0 ms, CPU unknown");
    plx_frame_stats_add(&meter, make(1, 11, 1050, 20));
    assert_string_equal(printed(plx_frame_stats_print_rates, &meter), "20.0 pairs/s, latency 20.0 ms, CPU 5.0 ms a frame");
    assert_null(strstr(printed(plx_frame_stats_print_stage_times, &meter), "nan"));
}

static void ages_in_words(void **state)
{
    (void)state;
    static const struct {
        int64_t age_ns;
        const char *text;
    } expected[] = {
        {0, "0 ms"},
        {48 * PLX_NS_PER_MS, "48 ms"},
        {1000 * PLX_NS_PER_MS, "1.0 s"},
        {7349 * PLX_NS_PER_MS, "7.3 s"},
        {60 * PLX_NS_PER_S, "1 min 0 s"},
        {252 * PLX_NS_PER_S, "4 min 12 s"},
        {7500 * PLX_NS_PER_S, "2 h 5 min"},
        {100 * 3600 * PLX_NS_PER_S, "4 d 4 h"},
        {INT64_MAX - 1, "106751 d 23 h"},
        {INT64_MAX, "unknown time"},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        char text[PLX_DURATION_TEXT];
        plx_duration_text(expected[i].age_ns, text, sizeof text);
        assert_string_equal(text, expected[i].text);
    }
}

static void motion_in_words(void **state)
{
    (void)state;
    const double cosine = cos(0.02), sine = sin(0.02); /* 0.04 rad in 0.1 s below */
    struct plx_motion_info motion = {
        .valid = 1,
        .source = PLX_MOTION_VISUAL,
        .corners = 280,
        .inliers = 210,
        .interval_ns = PLX_NS_PER_S / 10,
        .motion = {{cosine, 0, sine, 0, 1, 0, -sine, 0, cosine}, {0, 0.04, 0.03}},
        .pose = {{1, 0, 0, 0, 1, 0, 0, 0, 1}, {0, 3, -4}},
    };
    double speed_mps, turn_radps;
    char text[PLX_MOTION_TEXT];

    assert_true(plx_motion_rates(&motion, &speed_mps, &turn_radps));
    assert_float_equal(speed_mps, 0.5, 1e-9);
    assert_float_equal(turn_radps, 0.2, 1e-9);
    plx_motion_text(&motion, text, sizeof text);
    assert_string_equal(text, "0.50 m/s, turns 11.5 deg/s, 5.00 m from the start, 210 of 280 corners");
    plx_speed_text(&motion, text, sizeof text);
    assert_string_equal(text, "0.50 m/s");

    motion.interval_ns = 0; /* a clock that stands */
    assert_false(plx_motion_rates(&motion, &speed_mps, &turn_radps));
    motion.interval_ns = PLX_NS_PER_S / 10;
    motion.valid = 0;
    assert_false(plx_motion_rates(&motion, &speed_mps, &turn_radps));
    plx_motion_text(&motion, text, sizeof text);
    assert_string_equal(text, "unknown");
    plx_speed_text(&motion, text, sizeof text);
    assert_string_equal(text, "motion unknown");

    motion.source = PLX_MOTION_NONE;
    plx_motion_text(&motion, text, sizeof text);
    assert_string_equal(text, "not measured: motion.source is none");
    plx_speed_text(&motion, text, sizeof text);
    assert_string_equal(text, "");
}

static void obstacle_in_words(void **state)
{
    (void)state;
    struct plx_obstacle obstacle = {.track = 3,
                                    .status = PLX_TRACK_TRACKED,
                                    .nearest_m = 4.52f,
                                    .position_m = {-0.61f, 0, 4.6f},
                                    .extent_m = {0.8f, 1.21f, 0.2f},
                                    .velocity_mps = {0.1f, 0, -0.4f},
                                    .size_class = PLX_SIZE_MEDIUM};
    char text[PLX_OBSTACLE_TEXT];

    plx_obstacle_text(&obstacle, true, text, sizeof text);
    assert_string_equal(text, "#3      4.52 m ahead   0.61 m left    0.80 m wide   1.21 m high  closing 0.4 m/s");
    obstacle.world_velocity_variance[0] = 0.01f;
    plx_obstacle_text(&obstacle, true, text, sizeof text);
    assert_non_null(strstr(text, "closing 0.4 m/s, medium, stands"));
    obstacle.status = PLX_TRACK_NEW;
    plx_obstacle_text(&obstacle, true, text, sizeof text);
    assert_string_equal(text + strlen(text) - strlen("high  new"), "high  new");
    obstacle.status = PLX_TRACK_LOST;
    plx_obstacle_text(&obstacle, true, text, sizeof text);
    assert_non_null(strstr(text, "high  lost"));

    /* The longest text fits: nothing is farther or faster than six digits say. */
    obstacle = (struct plx_obstacle){.track = UINT32_MAX,
                                     .status = PLX_TRACK_TRACKED,
                                     .nearest_m = 999999,
                                     .position_m = {999999, 0, 999999},
                                     .extent_m = {999999, 999999, 0},
                                     .velocity_mps = {999999, 0, 0},
                                     .world_velocity_mps = {999999, 0, 0},
                                     .world_velocity_variance = {1, 1, 1},
                                     .moving = 1,
                                     .size_class = PLX_SIZE_LARGE};
    plx_obstacle_text(&obstacle, true, text, sizeof text);
    assert_non_null(strstr(text, "to the right 999999.0 m/s, large, moves 999999.0 m/s"));
}

static struct plx_frame list_frame; /* large */
static const struct plx_confirmed list_before = {.count = 2, .track = {9, 4}};

/* Two new tracks, two tracked and two lost ones, of which 4 was TRACKED in the frame before. A smaller number is farther. */
static void make_list(void)
{
    static const uint32_t status[] = {PLX_TRACK_NEW,  PLX_TRACK_TRACKED, PLX_TRACK_TRACKED,
                                      PLX_TRACK_LOST, PLX_TRACK_LOST,    PLX_TRACK_NEW};
    list_frame = (struct plx_frame){.obstacle_count = 6};
    for (uint32_t i = 0; i < 6; i++)
        list_frame.obstacle[i] =
            (struct plx_obstacle){.track = i + 1, .status = status[i], .disparity_near = (float)i + 1, .position_m = {0, 0, 1}};
}

static void a_list_shows_confirmed_obstacles(void **state)
{
    (void)state;
    const struct plx_confirmed none = {0};
    const struct plx_obstacle *sorted[PLX_MAX_OBSTACLES];
    make_list();
    assert_int_equal(plx_obstacles_by_distance(&list_frame, sorted), 4); /* all that one frame shows */
    assert_int_equal(plx_obstacles_confirmed(&list_frame, &list_before, sorted), 3);
    assert_true(sorted[0]->track == 4 && sorted[1]->track == 3 && sorted[2]->track == 2);
    assert_int_equal(plx_obstacles_confirmed(&list_frame, &none, sorted), 2);
    assert_true(sorted[0]->track == 3 && sorted[1]->track == 2);
}

/* Into TEXT, of SIZE bytes. */
static void read_screen(const struct plx_status *status, char *text, size_t size)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    fflush(stdout);
    const int terminal = dup(STDOUT_FILENO);
    assert_true(terminal >= 0 && dup2(fileno(file), STDOUT_FILENO) >= 0);
    plx_watch_screen(status, &list_before);
    fflush(stdout);
    assert_true(dup2(terminal, STDOUT_FILENO) >= 0);
    close(terminal);
    rewind(file);
    text[fread(text, 1, size - 1, file)] = '\0';
    fclose(file);
}

static void the_screen_shows_confirmed_obstacles(void **state)
{
    (void)state;
    static struct plx_status status; /* large */
    char text[8192];
    make_list();
    const int64_t now_ns = plx_boot_now_ns();
    list_frame.published_ns = now_ns;
    list_frame.capture[PLX_LEFT].capture_ns = now_ns;
    list_frame.fresh_ns = INT64_MAX;
    status = (struct plx_status){.any = true, .frame = list_frame, .stats.frames = 1};
    read_screen(&status, text, sizeof text);
    assert_null(strstr(text, "verdict"));
    status.frame.zone[0] = (struct plx_zone_info){.name = "front", .points = 4};
    status.verdict = (struct plx_verdict_now){.verdict = PLX_VERDICT_GO};
    read_screen(&status, text, sizeof text);
    assert_non_null(strstr(text, "\nverdict     go\033"));
    assert_non_null(strstr(text, "\n3 obstacles")); /* not the four that are seen, nor all six */
}

static void free_ground_ahead(void **state)
{
    (void)state;
    struct plx_frame header = {.calibration = {.fx = 500, .baseline_m = 0.1}}; /* 800 / disparity */
    struct plx_scan scan[90];
    struct plx_view view = {.frame = &header};

    for (int i = 0; i < 90; i++) /* nearer at both sides */
        scan[i] = i < 30 || i >= 60 ? (struct plx_scan){100, 800, 1, 1} : (struct plx_scan){0, 50, 1, 0};
    scan[45] = (struct plx_scan){90, 100, 1, 1};
    for (int i = 40; i < 43; i++)
        scan[i] = (struct plx_scan){0, PLX_SCAN_NOTHING_FREE, 0, 0};

    assert_true(isnan(plx_free_ahead(&view)));
    view.plane[PLX_PLANE_SCAN] = scan;
    view.layout[PLX_PLANE_SCAN].width = 90;
    assert_true(plx_free_ahead(&view) == 8.0); /* the sides and what is not known do not count */
    /* A camera 1 m high that looks down by 30 degrees: 8 m along its view, on the ground, are that far along the ground. */
    header.ground = (struct plx_ground_info){.valid = 1, .camera_height_m = 1, .normal = {0, (float)cos(0.5235988), 0.5F}};
    assert_true(fabs(plx_free_ahead(&view) - (8 - 0.5) / cos(0.5235988)) < 1e-5);
    header.ground = (struct plx_ground_info){.valid = 0};
    scan[45].free = PLX_SCAN_NOTHING_FREE;
    assert_true(plx_free_ahead(&view) == 0.0);
    scan[45] = scan[40]; /* now more than a tenth */
    assert_true(isnan(plx_free_ahead(&view)));
}

static void expect_drop(const struct plx_view *view, const char *words)
{
    char text[PLX_DROP_TEXT];
    const struct plx_drop drop = plx_drop_ahead(view);
    plx_drop_text(&drop, text, sizeof text);
    assert_string_equal(text, words);
}

static void the_nearest_drop(void **state)
{
    (void)state;
    struct plx_frame header = {.calibration = {.fx = 500, .baseline_m = 0.1}, .width = 358}; /* 800 / disparity */
    struct plx_scan scan[90];
    struct plx_view view = {.frame = &header};

    for (int i = 0; i < 90; i++)
        scan[i] = (struct plx_scan){0, 400, PLX_SCAN_KNOWN, 0};
    expect_drop(&view, "unknown"); /* no scan */
    view.plane[PLX_PLANE_SCAN] = scan;
    view.layout[PLX_PLANE_SCAN].width = 90;
    expect_drop(&view, "none seen");
    for (int i = 10; i < 40; i++)
        scan[i] = (struct plx_scan){0, i >= 20 && i < 23 ? 200 : 160, PLX_SCAN_KNOWN | PLX_SCAN_DROP, 0};
    for (int i = 80; i < 90; i++) /* the last column is narrower */
        scan[i] = (struct plx_scan){0, 100, PLX_SCAN_KNOWN | PLX_SCAN_DROP, 0};
    expect_drop(&view, "4.0 m ahead, columns 40 to 159 of the picture");
    scan[85].free = scan[87].free = 320;
    expect_drop(&view, "4.0 m ahead, columns 40 to 159 of the picture"); /* two columns may be wrong */
    scan[86].free = 320;
    expect_drop(&view, "2.5 m ahead, columns 320 to 357 of the picture");
    /* A camera 1 m high that looks down by 30 degrees, as for the free ground. */
    header.ground = (struct plx_ground_info){.valid = 1, .camera_height_m = 1, .normal = {0, (float)cos(0.5235988), 0.5F}};
    const double ahead_m = plx_drop_ahead(&view).ahead_m;
    assert_true(fabs(ahead_m - (2.5 - 0.5) / cos(0.5235988)) < 1e-5);
    header.blind = PLX_BLIND_OBSTACLES_OFF;
    assert_true(plx_drop_ahead(&view).known);
    header.blind = PLX_BLIND_NO_GROUND;
    expect_drop(&view, "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_published_frames_and_averages_seen_ones),
        cmocka_unit_test(each_stage_has_its_mean_time),
        cmocka_unit_test(processor_time_is_the_mean_of_frames_that_know_it),
        cmocka_unit_test(a_new_stretch_goes_on_from_the_last_frame),
        cmocka_unit_test(a_capture_time_ahead_of_the_clock_gives_no_latency),
        cmocka_unit_test(a_new_epoch_begins_anew),
        cmocka_unit_test(what_is_unknown_is_said_in_words),
        cmocka_unit_test(ages_in_words),
        cmocka_unit_test(motion_in_words),
        cmocka_unit_test(obstacle_in_words),
        cmocka_unit_test(a_list_shows_confirmed_obstacles),
        cmocka_unit_test(the_screen_shows_confirmed_obstacles),
        cmocka_unit_test(free_ground_ahead),
        cmocka_unit_test(the_nearest_drop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
