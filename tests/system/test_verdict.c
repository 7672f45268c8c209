/* SPDX-License-Identifier: Apache-2.0 */
/* The verdict of a real service: go where a zone is free, stop where something stands in it, and stop whenever service, engine
 * or picture fail; how long that takes is printed. */
#define WIDTH 320
#define HEIGHT 240
#include "tests/system/service.h"

#include <math.h>

#include <cjson/cJSON.h>

#include "config/config.h"
#include "drivers/files/calib_txt.h"
#include "tests/command.h"

#define REACTION_MS 1500 /* for a slow machine; else the default would be stale now and then */

/* As the camera of the demonstration scene stands. Its nearest box is about 3.2 m ahead. */
#define MOUNTED                                                                                                                \
    SMALL, "--set", "source.rate_hz=10", "--set", "mount.z_m=1", "--set", "mount.pitch_deg=5.73", "--set",                     \
        "mount.roll_deg=0.86", "--set", "verdict.reaction_ms=1500", "--set", "verdict.stop_flags=frozen,late,no_frames",       \
        "--set", "verdict.slow_flags="
#define NEAR "{name: near, polygon: [[1.7, -0.4], [2.7, -0.4], [2.7, 0.4], [1.7, 0.4]]}"
#define FAR "{name: far, polygon: [[1.7, -0.5], [4.8, -0.5], [4.8, 0.5], [1.7, 0.5]], max_unknown: 0.6}"

static const char *const near_args[] = {MOUNTED, "--set", ("zones=[" NEAR "]"), NULL};
static const char *const both_args[] = {MOUNTED, "--set", ("zones=[" NEAR ", " FAR "]"), NULL};
/* The pole that always stands 3.8 m ahead of a base one metre before the camera, and 1.9 m to the left. */
#define POLE "{name: pole, polygon: [[3.4, 1.4], [4.2, 1.4], [4.2, 2.4], [3.4, 2.4]], max_unknown: 1, min_depth: 0, frames: 10}"

static const char *const pole_args[] = {MOUNTED, "--set", "mount.x_m=-1", "--set", ("zones=[" POLE "]"), NULL};
static const char *const none_args[] = {MOUNTED, NULL};

/* Waits until the verdict is KIND with all of REASONS. */
static struct plx_verdict_now wait_for(struct plx_client *client, enum plx_verdict_kind kind, uint32_t reasons)
{
    const int64_t begin_ms = now_ms();
    struct plx_verdict_now verdict;
    char text[512];

    for (;;) {
        const int answer = plx_verdict(client, &verdict);
        assert_int_equal(answer, verdict.verdict);
        if (verdict.verdict == kind && (verdict.reasons & reasons) == reasons)
            return verdict;
        if (is_late(begin_ms, START_MS)) {
            snprintf(text, sizeof text, "%s, reasons %x, faults %x", plx_verdict_word(verdict.verdict), verdict.reasons,
                     verdict.faults);
            fail_msg("expected %s with %x, not %s; the service said: %s", plx_verdict_word(kind), reasons, text,
                     daemon_said(&daemon_));
        }
        usleep(1000);
    }
}

static void a_free_zone_is_go_and_a_box_in_one_is_stop(void **state)
{
    (void)state;
    daemon_start(&daemon_, near_args);
    struct plx_client *client = connect_client();
    struct plx_verdict_now verdict = wait_for(client, PLX_VERDICT_GO, 0);
    assert_int_equal(verdict.reasons, 0);
    assert_int_equal(verdict.zone, -1);
    assert_string_equal(verdict.name, "");
    assert_true(verdict.sequence > 0);
    const struct plx_frame frame = next_frame(client, START_MS);
    assert_true(frame.mount.measured); /* the ground, and not the plane of the mount in its place */
    assert_false(frame.health & (PLX_HEALTH_GROUND_LOST | PLX_HEALTH_CAMERA_MOVED));
    assert_true(frame.map.valid && frame.zone[0].points == 4 && frame.zone[1].points == 0);
    assert_string_equal(frame.zone[0].name, "near");
    plx_disconnect(client);
    stop_daemon();

    daemon_start(&daemon_, both_args);
    client = connect_client();
    verdict = wait_for(client, PLX_VERDICT_STOP, PLX_REASON_OCCUPIED);
    assert_int_equal(verdict.zone, 1);
    assert_string_equal(verdict.name, "far");
    assert_true(verdict.distance_m > 2.9F && verdict.distance_m < 3.5F);
    plx_disconnect(client);
    stop_daemon();
}

static void without_zones_it_is_stop(void **state)
{
    (void)state;
    daemon_start(&daemon_, none_args);
    struct plx_client *client = connect_client();
    wait_for(client, PLX_VERDICT_STOP, PLX_REASON_NO_ZONES);
    plx_disconnect(client);
    stop_daemon();
    assert_int_equal(plx_verdict(NULL, NULL), PLX_VERDICT_STOP);
}

/* Go, then FAULT: the verdict is stop, says how long that took, and is go again when the service is. */
static void stop_after(const char *name, void (*fault)(void), uint32_t reasons)
{
    struct plx_client *client = connect_client();
    const struct plx_verdict_now before = wait_for(client, PLX_VERDICT_GO, 0);

    fault();
    const int64_t begin_ms = now_ms();
    wait_for(client, PLX_VERDICT_STOP, reasons);
    const int64_t took_ms = now_ms() - begin_ms;
    print_message("    %s: stop after %d ms\n", name, (int)took_ms);
    if (clock_is_exact()) /* the last capture was before the fault */
        assert_in_range(took_ms, 0, before.valid_ns / PLX_NS_PER_MS + SLACK_MS);
    plx_disconnect(client);
}

static void kill_engine(void)
{
    kill(engine_of(&daemon_), SIGKILL);
}

static void stop_engine(void)
{
    kill(engine_of(&daemon_), SIGSTOP);
}

static void kill_service(void)
{
    kill(daemon_.pid, SIGKILL);
    waitpid(daemon_.pid, NULL, 0);
    daemon_.pid = 0;
}

static void a_dead_engine_is_stop_until_the_next_one_sees(void **state)
{
    (void)state;
    daemon_start(&daemon_, near_args);
    stop_after("engine killed", kill_engine, PLX_REASON_STALE);
    stop_after("engine stopped", stop_engine, PLX_REASON_STALE); /* after it is go again */
    struct plx_client *client = connect_client();
    wait_for(client, PLX_VERDICT_GO, 0);
    plx_disconnect(client);
    stop_daemon();
}

/* Waits until a settled zone is occupied in a frame after number LAST, and returns its number. It must not be go meanwhile. */
static uint64_t see_the_pole_without_go(struct plx_client *client, uint64_t last)
{
    const int64_t begin_ms = now_ms();
    struct plx_verdict_now verdict;
    do {
        if (plx_verdict(client, &verdict) == PLX_VERDICT_GO)
            fail_msg("go, with a pole in the zone, in frame %llu", (unsigned long long)verdict.sequence);
        assert_false(is_late(begin_ms, START_MS));
        usleep(1000);
    } while (verdict.sequence <= last ||
             (verdict.reasons & (PLX_REASON_OCCUPIED | PLX_REASON_SETTLING)) != PLX_REASON_OCCUPIED);
    return verdict.sequence;
}

/* A history that begins as free would answer go until it has seen the pole in 10 frames. */
static void a_new_engine_is_not_go_before_it_has_looked(void **state)
{
    (void)state;
    daemon_start(&daemon_, pole_args);
    struct plx_client *client = connect_client();
    uint64_t last = 0;
    for (int engine = 0; engine < 3; engine++) {
        last = see_the_pole_without_go(client, last);
        kill_engine();
    }
    plx_disconnect(client);
    stop_daemon();
}

/* The client that saw the end of the service finds the next one, by plx_verdict alone. */
static void a_dead_service_is_stop_until_the_next_one(void **state)
{
    (void)state;
    daemon_start(&daemon_, near_args);
    struct plx_client *client = connect_client();
    wait_for(client, PLX_VERDICT_GO, 0);
    kill_service();
    wait_for(client, PLX_VERDICT_STOP, PLX_REASON_STALE | PLX_REASON_NO_SERVICE);
    daemon_start(&daemon_, near_args);
    wait_for(client, PLX_VERDICT_GO, 0);
    plx_disconnect(client);
    stop_daemon();
}

static void an_orderly_end_is_stop_at_once(void **state)
{
    (void)state;
    daemon_start(&daemon_, near_args);
    struct plx_client *client = connect_client();
    wait_for(client, PLX_VERDICT_GO, 0);
    stop_daemon();
    assert_int_equal(plx_verdict(client, NULL), PLX_VERDICT_STOP);
    plx_disconnect(client);
}

static void run_command(struct command *command, const char *option)
{
    const char *const args[] = {"verdict", "--socket", daemon_.socket, option, NULL};
    command_begin(command, args, 0);
    command_end(command);
}

static void the_command_says_it_by_its_exit_code(void **state)
{
    (void)state;
    struct command command;
    run_command(&command, NULL);
    assert_int_equal(command.code, 3);
    assert_string_equal(command.out, "stop: the newest verdict is too old, the service is not there\n");
    command_free(&command);

    daemon_start(&daemon_, near_args);
    struct plx_client *client = connect_client();
    wait_for(client, PLX_VERDICT_GO, 0);
    run_command(&command, NULL);
    assert_int_equal(command.code, 0);
    assert_string_equal(command.out, "go\n");
    command_free(&command);
    run_command(&command, "--json");
    cJSON *json = cJSON_Parse(command.out);
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(json, "verdict")), "go");
    assert_true(cJSON_IsNull(cJSON_GetObjectItem(json, "zone")));
    cJSON_Delete(json);
    command_free(&command);
    plx_disconnect(client);
    stop_daemon();

    daemon_start(&daemon_, both_args);
    client = connect_client();
    wait_for(client, PLX_VERDICT_STOP, PLX_REASON_OCCUPIED);
    run_command(&command, NULL);
    assert_int_equal(command.code, 3);
    assert_non_null(strstr(command.out, "stop: something stands in a zone (far, 3."));
    command_free(&command);
    plx_disconnect(client);
    stop_daemon();
}

/* Waits until what COMMAND has written holds WORDS. */
static void wait_for_output(const struct command *command, const char *words)
{
    const int64_t begin_ms = now_ms();
    char text[4096];

    for (;;) {
        const ssize_t bytes = pread(fileno(command->file[0]), text, sizeof text - 1, 0);
        assert_true(bytes >= 0);
        text[bytes] = '\0';
        if (strstr(text, words))
            return;
        if (is_late(begin_ms, START_MS))
            fail_msg("expected \"%s\" of the command, which said: %s", words, text);
        usleep(2000);
    }
}

/* --watch prints a line for each change, and finds a service that starts later. */
static void the_command_watches(void **state)
{
    (void)state;
    static const char none[] = "stop: the newest verdict is too old, the service is not there\n";
    const char *const args[] = {"verdict", "--socket", daemon_.socket, "--watch", NULL};
    struct command command;
    command_begin(&command, args, 0);
    wait_for_output(&command, none);
    daemon_start(&daemon_, near_args);
    struct plx_client *client = connect_client();
    wait_for(client, PLX_VERDICT_GO, 0);
    wait_for_output(&command, "\ngo\n");
    kill_service();
    wait_for(client, PLX_VERDICT_STOP, PLX_REASON_NO_SERVICE);
    wait_for_output(&command, "\ngo\nstop: ");
    kill(command.pid, SIGINT);
    command_end(&command);
    assert_int_equal(command.code, 3);
    assert_int_equal(strncmp(command.out, none, strlen(none)), 0);
    command_free(&command);
    plx_disconnect(client);
}

/* The pictures freeze: a picture that repeats is stop. */
static void freeze(int pair, enum plx_eye eye, uint8_t pixels[HEIGHT][WIDTH])
{
    static uint8_t kept[PLX_EYES][HEIGHT][WIDTH];
    if (pair < 60)
        memcpy(kept[eye], pixels, sizeof kept[eye]);
    else
        memcpy(pixels, kept[eye], sizeof kept[eye]);
}

static void a_frozen_picture_is_stop(void **state)
{
    (void)state;
    char path[128];
    write_replay(120, freeze);
    snprintf(path, sizeof path, "source.path=%s", daemon_.directory);
    const char *const args[] = {MOUNTED, "--set", ("zones=[" NEAR "]"), "--set", "source.type=replay", "--set", path, NULL};
    daemon_start(&daemon_, args);
    struct plx_client *client = connect_client();
    wait_for(client, PLX_VERDICT_GO, 0);
    const struct plx_verdict_now verdict = wait_for(client, PLX_VERDICT_STOP, PLX_REASON_FAULT);
    assert_int_equal(verdict.faults, PLX_HEALTH_FROZEN);
    /* Its pair is the 61st, or a later one where this machine skipped pairs. */
    struct plx_frame frame;
    do
        frame = next_frame(client, START_MS);
    while (!(frame.health & PLX_HEALTH_FROZEN));
    if (frame.capture[PLX_LEFT].sequence < 60)
        fail_msg("pair %u is frozen; the service said: %s", frame.capture[PLX_LEFT].sequence, daemon_said(&daemon_));
    plx_disconnect(client);
    stop_daemon();
}

static void zones_are_drawn_by_the_check_of_the_configuration(void **state)
{
    (void)state;
    char calibration[128], config[1024], command_line[256], line[512];
    int drawn = 0, listed = 0, warned = 0;

    static struct plx_stereo_calibration rig;
    write_replay(1, NULL); /* for its calibration */
    snprintf(calibration, sizeof calibration, "%s/stereo.yaml", daemon_.directory);
    assert_true(plx_calib_txt_find(daemon_.directory, 0, WIDTH, HEIGHT, &rig, NULL) >= 0);
    assert_int_equal(plx_calibration_save(calibration, &rig, NULL), 0);
    snprintf(config, sizeof config,
             "calibration: %s\nmount: {z_m: 1.2, pitch_deg: 8}\nmap: {front_m: 0.5, width_m: 1}\nmatch: {disparities: "
             "64}\nzones:\n  - " NEAR
             "\n  - {name: behind, polygon: [[-1, -0.5], [-2, -0.5], [-2, 0.5], [-1, 0.5]], unknown: go}\n"
             "  - {name: half, polygon: [[0, -0.3], [1, -0.3], [1, 0.3], [0, 0.3]]}\n",
             calibration);
    write_config(config);
    snprintf(command_line, sizeof command_line, PLX_BINARY_DIR "/bin/parallaxd --check-config %s/parallax.yaml 2>&1",
             daemon_.directory);
    FILE *out = popen(command_line, "r");
    assert_non_null(out);
    while (fgets(line, sizeof line, out)) {
        print_message("    %s", line);
        drawn += strstr(line, "AAAAAAA") != NULL || strstr(line, "bbbbbbb") != NULL;
        listed +=
            strcmp(line, "A  zone near: the cameras can see 88 % of it; it begins at 1.7 m, and they see ground from 1.8 m "
                         "on\n") == 0;
        listed += strncmp(line, "B  zone behind: the cameras can see 0 % of it; ", 46) == 0 &&
                  strstr(line, "`unknown: go` calls it free until then\n"); /* nothing of it is ahead */
        listed +=
            strstr(line, "zone half: the cameras can see 0 % of it; ") && strstr(line, "; it begins at 0.0 m, and they see ");
        warned += strstr(line, "zone half: 50 % of it lies in the rectangle of the robot itself") != NULL;
        warned += strstr(line, "zone near: ") && strstr(line, "robot itself");
    }
    assert_int_equal(pclose(out), 0);
    assert_true(drawn > 5);
    assert_int_equal(listed, 3);
    assert_int_equal(warned, 1);
}

static const char *const covered_args[] = {MOUNTED,         "--set", "map.front_m=2.2",    "--set",
                                           "map.width_m=1", "--set", ("zones=[" NEAR "]"), NULL};

static void the_log_names_a_zone_that_lies_partly_in_the_robot(void **state)
{
    (void)state;
    daemon_start(&daemon_, covered_args);
    struct plx_client *client = connect_client();
    next_frame(client, START_MS);
    assert_non_null(strstr(daemon_said(&daemon_), "zone near: 50 % of it lies in the rectangle of the robot itself"));
    plx_disconnect(client);
    stop_daemon();
}

int main(void)
{
#define CASE(function) cmocka_unit_test_setup_teardown(function, make, clean)
    const struct CMUnitTest tests[] = {
        CASE(a_free_zone_is_go_and_a_box_in_one_is_stop),
        CASE(without_zones_it_is_stop),
        CASE(a_dead_engine_is_stop_until_the_next_one_sees),
        CASE(a_new_engine_is_not_go_before_it_has_looked),
        CASE(a_dead_service_is_stop_until_the_next_one),
        CASE(an_orderly_end_is_stop_at_once),
        CASE(the_command_says_it_by_its_exit_code),
        CASE(the_command_watches),
        CASE(a_frozen_picture_is_stop),
        CASE(the_log_names_a_zone_that_lies_partly_in_the_robot),
        CASE(zones_are_drawn_by_the_check_of_the_configuration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
