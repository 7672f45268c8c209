/* SPDX-License-Identifier: Apache-2.0 */
/* Tracks and pose through the real service: what the next engine continues, and what must not outlive its sight. */
#define WIDTH 320
#define HEIGHT 240
#include "tests/system/service.h"

#include <parallax/error.h>

#include "core/motion/pose.h"

#define PAIRS 50
#define GOOD 25 /* pairs before the source is silent */
#define SILENCE_S 3.0

/* Lowest and highest number of the tracks in FRAME; false if it has none. */
static bool numbers_of(const struct plx_frame *frame, uint32_t *ret_lowest, uint32_t *ret_highest)
{
    *ret_lowest = UINT32_MAX;
    *ret_highest = 0;
    for (uint32_t i = 0; i < frame->obstacle_count; i++) {
        const uint32_t track = frame->obstacle[i].track;
        assert_true(track > 0);
        *ret_lowest = track < *ret_lowest ? track : *ret_lowest;
        *ret_highest = track > *ret_highest ? track : *ret_highest;
    }
    return frame->obstacle_count > 0;
}

static void numbers_go_on_when_the_engine_is_replaced(void **state)
{
    (void)state;
    uint32_t before = 0, lowest, highest;

    daemon_start(&daemon_, small_args);
    struct plx_client *client = connect_client();
    uint64_t epoch = 0;
    for (int round = 0; round < 4; round++) {
        struct plx_frame frame;
        do {
            frame = running_frame(client, START_MS);
        } while (!numbers_of(&frame, &lowest, &highest));
        if (round > 0) {
            assert_true(frame.epoch == epoch);
            if (lowest <= before)
                fail_msg("engine %d gave out number %u, after an engine before it had come to %u", round, lowest, before);
        }
        epoch = frame.epoch;
        before = highest > before ? highest : before;
        const pid_t engine = engine_of(&daemon_);
        kill(engine, SIGSTOP); /* so that the newest frame is its last */
        struct plx_view view;
        while (plx_next(client, 100, &view) == 0) {
            numbers_of(view.frame, &lowest, &highest);
            if (plx_release(client, &view) == 0 && highest > before)
                before = highest;
        }
        kill(engine, SIGKILL);
        assert_true(is_gone(engine));
    }
    plx_disconnect(client);
    stop_daemon();
}

/* The next engine goes on from the pose of the last one, and says with `breaks` what that pose lacks. */
static void the_pose_goes_on_when_the_engine_is_replaced(void **state)
{
    (void)state;

    daemon_start(&daemon_, small_args);
    struct plx_client *client = connect_client();
    for (uint32_t round = 0; round < 3; round++) {
        struct plx_frame frame;
        do { /* also over the last frames of the engine before */
            frame = running_frame(client, START_MS);
        } while (frame.motion.breaks < round || !frame.motion.valid);
        assert_int_equal(frame.motion.breaks, round);
        assert_true(plx_pose_distance(&frame.motion.pose) < 0.1); /* the camera stands */
        const pid_t engine = engine_of(&daemon_);
        kill(engine, SIGKILL);
        assert_true(is_gone(engine));
    }
    plx_disconnect(client);
    stop_daemon();
}

/* A recording with a hole of SILENCE_S seconds. */
static void write_gap(void)
{
    char text[PAIRS * 16] = "";

    write_replay(PAIRS, NULL);
    for (int i = 0; i < PAIRS; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%.6f\n", i * PAIR_S + (i >= GOOD ? SILENCE_S : 0));
    write_text(daemon_.directory, "times.txt", text);
}

/* tracks.max_missed is as large as can be: time alone ends what is LOST. */
static void nothing_lives_through_a_silent_source(void **state)
{
    (void)state;
    char key[160];
    const char *const args[] = {SMALL, "--set", "source.type=replay",     "--set", "source.replay_rate=recorded", "--set",
                                key,   "--set", "tracks.max_missed=1000", NULL};
    uint32_t before = 0, lowest, highest;
    int after = 0, old = 0;
    struct plx_view view;

    write_gap();
    snprintf(key, sizeof key, "source.path=%s", daemon_.directory);
    daemon_start(&daemon_, args);
    struct plx_client *client = connect_client();
    while (daemon_wait(&daemon_, 0) < 0) {
        if (plx_next(client, 50, &view) < 0)
            continue;
        static struct plx_frame frame;
        frame = *view.frame;
        if (plx_release(client, &view) < 0)
            continue;
        const uint32_t pair = frame.capture[PLX_LEFT].sequence;
        for (uint32_t i = 0; i < frame.obstacle_count; i++) {
            const struct plx_obstacle *obstacle = &frame.obstacle[i];
            assert_true(obstacle->position_m[2] > 0);
            old += pair < GOOD && obstacle->age_frames > 10;
            if (pair >= GOOD && (obstacle->track <= before || obstacle->age_frames > pair - GOOD + 1))
                fail_msg("track %u, %u frames old, in pair %u: it is from before the silence", obstacle->track,
                         obstacle->age_frames, pair);
        }
        if (numbers_of(&frame, &lowest, &highest) && pair < GOOD)
            before = highest > before ? highest : before;
        after += pair >= GOOD && frame.obstacle_count > 0;
    }
    assert_true(old > 0); /* there was something to end */
    assert_true(after > 0);
    plx_disconnect(client);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make, clean)
    const struct CMUnitTest tests[] = {
        TEST(numbers_go_on_when_the_engine_is_replaced),
        TEST(the_pose_goes_on_when_the_engine_is_replaced),
        TEST(nothing_lives_through_a_silent_source),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
