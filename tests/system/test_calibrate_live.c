/* SPDX-License-Identifier: Apache-2.0 */
/* `parallax calibrate --live` beside a real parallaxd in raw mode, on a recording of a person who holds a board as the guide
 * asks; then --install: the file, the configuration, the reload, and everything as before where that fails. */
#include <cjson/cJSON.h>

#include <parallax/client.h>
#include <parallax/error.h>

#include "app/exit.h"
#include "config/config.h"
#include "tests/board_person.h"
#include "tests/command.h"
#include "tests/pgm_write.h"
#include "tests/system/daemon.h"

#define HELD 7 /* pairs of a pose, a tenth of a second apart */
#define BASELINE_M 0.10003

static struct daemon daemon_;
static char *config, *calibration, *recording;

static const char *path_of(const char *name)
{
    static char path[8][160];
    static unsigned turn;
    char *here = path[turn++ % 8];
    snprintf(here, sizeof path[0], "%s/%s", daemon_.directory, name);
    return here;
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0 && fclose(file) == 0);
}

/* Writes the pictures with noise of a level, so that no two are the same. */
static void write_pair(int number)
{
    static uint8_t noisy[HEIGHT][WIDTH];
    const struct plx_image picture = {noisy, WIDTH, HEIGHT, WIDTH, PLX_U8};
    struct plx_error_message message;
    for (int eye = 0; eye < PLX_EYES; eye++) {
        char name[64];
        snprintf(name, sizeof name, "board/image_%d/%06d.pgm", eye, number);
        for (int i = 0; i < WIDTH * HEIGHT; i++) {
            const int value = pixels[eye][i / WIDTH][i % WIDTH] + (int)board_uniform(&seed, -1, 2);
            noisy[i / WIDTH][i % WIDTH] = (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
        }
        assert_int_equal(plx_pgm_write(path_of(name), &picture, &message), 0);
    }
}

/* What the guide of the test asks for, the one of the command will ask for too. */
static void draw_recording(void)
{
    static const struct plx_board board = CHESS(9, 6, 0.02);
    struct plx_error_message message;
    int number = 0;
    assert_int_equal(mkdir(recording, 0755), 0);
    assert_int_equal(mkdir(path_of("board/image_0"), 0755), 0);
    assert_int_equal(mkdir(path_of("board/image_1"), 0755), 0);
    write_file(path_of("board/calib.txt"), "rectified: 0\n");
    assert_int_equal(plx_guide_open(&guide, &board, PLX_DISTORTION_PLUMB_BOB), 0);
    while (!plx_guide_is_complete(&guide)) {
        const struct plx_pose pose = obey();
        draw(&pose);
        for (int held = 0; held < HELD; held++) {
            write_pair(number++);
            assert_int_equal(plx_guide_judge(&guide, shown, (int64_t)number * 100000000, &message), 0);
        }
    }
    plx_guide_close(&guide);
}

static void write_config(const char *calibration_line)
{
    char text[512];
    snprintf(text, sizeof text, "# written by hand\nsource:\n  type: replay\n  path: %s\n  loop: true   # for ever\n%s",
             recording, calibration_line);
    write_file(config, text);
}

static void assert_config_says(const char *words, bool says)
{
    char text[1024] = "";
    FILE *file = fopen(config, "re");
    assert_non_null(file);
    assert_true(fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    if ((strstr(text, words) != NULL) != says)
        fail_msg("%s: %s", config, text);
}

static void start(void)
{
    daemon_start(&daemon_, (const char *const[]){"--config", config, NULL});
    const int64_t deadline = patience_end_ns();
    while (access(daemon_.socket, F_OK) != 0) {
        if (daemon_wait(&daemon_, 0) >= 0 || plx_now_ns() > deadline)
            fail_msg("parallaxd does not serve: %s", daemon_said(&daemon_));
        usleep(5000);
    }
}

static void stop(void)
{
    kill(daemon_.pid, SIGTERM);
    assert_int_equal(daemon_wait(&daemon_, patience_ms()), 0);
}

static int begin(void **state)
{
    (void)state;
    daemon_make(&daemon_);
    config = strdup(path_of("robot.yaml"));
    calibration = strdup(path_of("stereo.yaml"));
    recording = strdup(path_of("board"));
    draw_recording();
    return 0;
}

static int end(void **state)
{
    (void)state;
    daemon_remove(&daemon_);
    free(config);
    free(calibration);
    free(recording);
    return 0;
}

static void run_live(struct command *command, const char *const *more)
{
    const char *args[COMMAND_ARGS] = {"calibrate", "--live",   "--board",      "9x6",      "--square", "0.02",
                                      "--json",    "--socket", daemon_.socket, "--config", config};
    for (int count = 11; *more; more++)
        args[count++] = *more;
    command_run(command, args);
}

static double number_of(const cJSON *item, const char *name)
{
    const cJSON *number = cJSON_GetObjectItem(item, name);
    assert_true(cJSON_IsNumber(number));
    return number->valuedouble;
}

/* Baseline of the newest frame; 0 in raw mode. */
static double baseline_of_service(void)
{
    struct plx_client *client;
    struct plx_view view;
    assert_int_equal(plx_connect(daemon_.socket, &client), 0);
    const int64_t deadline = patience_end_ns();
    while (plx_next(client, 100, &view) < 0)
        assert_true(plx_now_ns() < deadline);
    const double baseline_m = (double)view.frame->calibration.baseline_m;
    plx_release(client, &view);
    plx_disconnect(client);
    return baseline_m;
}

static void a_person_with_a_board_calibrates_the_service(void **state)
{
    (void)state;
    struct command command;
    write_config("calibration: none # later\n");
    start();
    run_live(&command, (const char *const[]){"--install", NULL});
    if (command.code != 0)
        fail_msg("exit %d: %s%s", command.code, command.out, command.err);
    cJSON *json = cJSON_Parse(command.out);
    const cJSON *installed = cJSON_GetObjectItem(json, "installed"), *camera = cJSON_GetObjectItem(json, "camera");
    print_message("    %g boards, rows %.3f px, held out %.3f px, baseline %.2f mm, rows of the service %s\n",
                  number_of(json, "boards"), number_of(json, "epipolar_error_px"),
                  number_of(json, "epipolar_error_held_out_px"), 1000 * number_of(json, "baseline_m"),
                  cJSON_IsNull(cJSON_GetObjectItem(cJSON_GetObjectItem(installed, "after"), "service_epipolar_error_px"))
                      ? "unknown"
                      : "known");
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(json, "verdict")), "good");
    assert_true(fabs(number_of(json, "baseline_m") / BASELINE_M - 1) < 3e-3);
    assert_true(fabs(number_of(cJSON_GetArrayItem(camera, 0), "fx") / cameras[0].fx - 1) < 3e-3);
    assert_true(number_of(json, "boards") >= PLX_GUIDE_PAIRS);
    assert_true(cJSON_IsNull(cJSON_GetObjectItem(installed, "before")));
    assert_non_null(strstr(command.err, "move the board to the"));
    assert_true(fabs(baseline_of_service() / number_of(json, "baseline_m") - 1) < 1e-5);
    assert_config_says("# written by hand", true);
    assert_config_says("# later", true);
    assert_config_says("loop: true   # for ever", true);
    assert_config_says(calibration, true);
    assert_int_equal(access(path_of("s.calibrating"), F_OK), -1); /* what the page showed has ended with the command */
    cJSON_Delete(json);
    command_free(&command);

    run_live(&command, (const char *const[]){NULL}); /* rectified pictures calibrate nothing */
    assert_int_equal(command.code, PLX_EXIT_CONFIG);
    assert_non_null(strstr(command.err, "set calibration: none"));
    command_free(&command);
    stop();
}

/* The recording calibrates too, and replaces the calibration that is in force. */
static void a_better_calibration_replaces_another(void **state)
{
    (void)state;
    const char *const args[] = {"calibrate", recording,  "--board", "9x6",      "--square",     "0.02", "--json",
                                "--install", "--config", config,    "--socket", daemon_.socket, NULL};
    struct command command;
    start();
    command_run(&command, args);
    if (command.code != 0)
        fail_msg("exit %d: %s%s", command.code, command.out, command.err);
    cJSON *json = cJSON_Parse(command.out);
    const cJSON *before = cJSON_GetObjectItem(cJSON_GetObjectItem(json, "installed"), "before");
    assert_true(number_of(before, "epipolar_error_px") < 0.3);
    assert_true(fabs(number_of(before, "baseline_m") / BASELINE_M - 1) < 3e-3);
    assert_int_equal(access(path_of("stereo.yaml.old"), F_OK), 0);
    cJSON_Delete(json);
    command_free(&command);
    stop();
}

static void install_recording(struct command *command, const char *file)
{
    command_run(command,
                (const char *const[]){"calibrate", recording, "--board", "9x6", "--square", "0.02", "--install", "--config",
                                      file, "--socket", daemon_.socket, "--output", path_of("new.yaml"), NULL});
}

static void what_the_service_does_not_take_is_undone(void **state)
{
    (void)state;
    struct command command;
    write_config("calibration: none\n");
    start();

    write_file(path_of("other.yaml"), "match:\n  paths: 4\n"); /* not the service's */
    install_recording(&command, path_of("other.yaml"));
    assert_int_not_equal(command.code, 0);
    assert_non_null(strstr(command.err, "the service runs with calibration \"none\""));
    assert_int_equal(access(path_of("new.yaml"), F_OK), -1);
    command_free(&command);

    write_file(config, "source: {type: replay, path: /nowhere}\ncalibration: none\n"); /* it cannot be reloaded */
    install_recording(&command, config);
    assert_int_not_equal(command.code, 0);
    assert_non_null(strstr(command.err, "the service does not take it"));
    assert_config_says("new.yaml", false);
    assert_int_equal(access(path_of("new.yaml"), F_OK), -1);
    command_free(&command);
    assert_true(baseline_of_service() == 0);
    stop();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_person_with_a_board_calibrates_the_service),
        cmocka_unit_test(a_better_calibration_replaces_another),
        cmocka_unit_test(what_the_service_does_not_take_is_undone),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
