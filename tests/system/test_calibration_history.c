/* SPDX-License-Identifier: Apache-2.0 */
/* A real parallaxd on pictures whose right camera is turned: the correction, its history, undo and accept by the command, and
 * starts of engine and service. */
#define WIDTH 320
#define HEIGHT 240
#include "tests/system/service.h"

#include "tests/command.h"

#define PAIRS 12

static char history[128];

/* Lays the right picture half a row too low. */
static void turn(int pair, enum plx_eye eye, uint8_t pixels[HEIGHT][WIDTH])
{
    (void)pair;
    for (int y = HEIGHT - 1; y > 0 && eye == PLX_RIGHT; y--)
        for (int x = 0; x < WIDTH; x++)
            pixels[y][x] = (uint8_t)((pixels[y][x] + pixels[y - 1][x] + 1) / 2);
}

static void start(void)
{
    char path[96], file[160];
    snprintf(path, sizeof path, "source.path=%s", daemon_.directory);
    snprintf(file, sizeof file, "calibration_history=%s", history);
    daemon_start(&daemon_, (const char *const[]){"--set", "source.type=replay", "--set", path, "--set", "source.loop=true",
                                                 "--set", "match.disparities=64", "--set", file, NULL});
}

/* Waits for a frame with a correction in force, or without one. */
static struct plx_frame wait_for(struct plx_client *client, bool corrected)
{
    const int64_t begin_ms = now_ms();
    struct plx_frame frame;

    do {
        if (is_late(begin_ms, START_MS))
            fail_msg("no such frame; the service said: %s", daemon_said(&daemon_));
        frame = running_frame(client, START_MS);
    } while ((frame.correction.number > 0) != corrected);
    return frame;
}

/* Through the service: the command returns when the service does what it says. */
static void change(const char *action)
{
    struct command command;
    command_succeed(&command, "calibration", action, "--socket", daemon_.socket);
    command_free(&command);
}

static void a_correction_lasts_until_it_is_taken_back(void **state)
{
    (void)state;
    snprintf(history, sizeof history, "%s/history.json", daemon_.directory);
    write_replay(PAIRS, turn);
    start();
    struct plx_client *client = connect_client();
    struct plx_frame frame = wait_for(client, true);
    /* half a row at this focal length, within a tenth */
    const double rows = (double)frame.correction.applied.pitch_rad * frame.calibration.fy;
    print_message("    %.3f rows (0.5)\n", rows);
    assert_true(rows > 0.4 && rows < 0.6);
    wait_until_said("is in force (`parallax calibration undo` takes it back)", START_MS);

    kill(engine_of(&daemon_), SIGKILL); /* the next engine begins with it */
    const uint64_t last = frame.sequence;
    do
        frame = running_frame(client, START_MS);
    while (frame.sequence <= last + 3);
    assert_int_equal(frame.correction.number, 1);

    change("undo");
    wait_for(client, false);
    plx_disconnect(client);
    stop_daemon();
    start(); /* the undo lasts too */
    client = connect_client();
    const int64_t begin_ms = now_ms();
    do {
        assert_false(is_late(begin_ms, START_MS));
        frame = running_frame(client, START_MS);
        assert_int_equal(frame.correction.number, 0);
    } while (frame.correction.proposed_number == 0);
    change("accept");
    wait_for(client, true);
    plx_disconnect(client);
    stop_daemon();
}

/* As with a read-only root: what is shown is in force, and it can be taken back. */
static void a_history_that_cannot_be_written_is_undone_too(void **state)
{
    (void)state;
    struct command command;
    snprintf(history, sizeof history, "%s/nowhere/history.json", daemon_.directory);
    write_replay(PAIRS, turn);
    start();
    struct plx_client *client = connect_client();
    wait_for(client, true);
    wait_until_said("is lost with the next restart", START_MS);
    change("undo");
    for (int i = 0; i < 3; i++)
        assert_int_equal(running_frame(client, START_MS).correction.number, 0);
    command_succeed(&command, "calibration", "show", "--socket", daemon_.socket);
    assert_non_null(strstr(command.out, "no correction is in force"));
    command_free(&command);
    change("accept");
    wait_for(client, true);
    command_succeed(&command, "calibration", "show", "--socket", daemon_.socket);
    assert_non_null(strstr(command.out, ", in force"));
    command_free(&command);
    plx_disconnect(client);
    stop_daemon();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_correction_lasts_until_it_is_taken_back, make, clean),
        cmocka_unit_test_setup_teardown(a_history_that_cannot_be_written_is_undone_too, make, clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
