/* SPDX-License-Identifier: Apache-2.0 */
/* The files of `calibrate --install`, and of its undo: killed before and after each step, the service starts with the old
 * calibration or the new one, and no file of anybody is lost. */
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <parallax/error.h>

#include "app/cli/calibrate/install_files.h"
#include "tests/cmocka.h"

#define CONFIG "# my robot\nsource: {type: synthetic}\nmatch: {disparities: 64}" /* no end of line */
#define OLDER "an older calibration\n"
#define DRAFT "my draft\n"

static char directory[64];
static int steps_left = -1; /* until the process is killed; < 0: never */
static bool is_synced;      /* a file since the last rename */

/* --- system calls that change files: killed before or after --------------------------------------------------------------- */

static void step(void)
{
    if (steps_left >= 0 && steps_left-- == 0)
        kill(getpid(), SIGKILL);
}

#define REAL(NAME) ((__typeof__(&(NAME)))(uintptr_t)dlsym(RTLD_NEXT, #NAME))
#define WITH_STEPS(CALL)                                                                                                       \
    step();                                                                                                                    \
    const int result = (CALL);                                                                                                 \
    step();                                                                                                                    \
    return result

int link(const char *from, const char *to)
{
    WITH_STEPS(REAL(link)(from, to));
}

int rename(const char *from, const char *to)
{
    WITH_STEPS(REAL(rename)(from, to));
}

int renameat(int from_directory, const char *from, int to_directory, const char *to)
{
    assert_true(is_synced); /* a power loss must not leave an empty file under the old name */
    is_synced = false;
    WITH_STEPS(REAL(renameat)(from_directory, from, to_directory, to));
}

int fsync(int fd)
{
    is_synced = true;
    WITH_STEPS(REAL(fsync)(fd));
}

int unlink(const char *path)
{
    WITH_STEPS(REAL(unlink)(path));
}

int unlinkat(int in, const char *path, int flags)
{
    WITH_STEPS(REAL(unlinkat)(in, path, flags));
}

/* --- files ---------------------------------------------------------------------------------------------------------------- */

static const char *path_of(const char *name)
{
    static char path[8][160];
    static unsigned turn;
    char *here = path[turn++ % 8];
    snprintf(here, sizeof path[0], "%s/%s", directory, name);
    return here;
}

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(path_of(name), "we");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0 && fclose(file) == 0);
}

static bool file_is(const char *name, const char *text)
{
    static char found[8192];
    FILE *file = fopen(path_of(name), "re");
    if (!file)
        return false;
    found[fread(found, 1, sizeof found - 1, file)] = '\0';
    fclose(file);
    return strcmp(found, text) == 0;
}

static struct plx_stereo_calibration rig(double baseline_m)
{
    const struct plx_camera camera = {
        .width = 640, .height = 480, .fx = 500, .fy = 500, .cx = 320, .cy = 240, .model = PLX_DISTORTION_PLUMB_BOB};
    return (struct plx_stereo_calibration){
        .camera = {camera, camera}, .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}, .translation = {-baseline_m, 0, 0}};
}

/* -1 if it cannot be read. */
static double baseline_of(const char *path)
{
    struct plx_stereo_calibration calibration;
    struct plx_error_message message;
    const struct plx_calibration_options options = {.scale = 1, .width = 640, .height = 480};
    return plx_calibration_read(path, &options, &calibration, &message) < 0 ? -1 : -calibration.translation[0];
}

/* What the service starts with: the baseline, 0 in raw mode, or -1 if it would not start. */
static double baseline_of_service(void)
{
    static struct plx_config config;
    struct plx_error_message message;
    if (plx_config_load(path_of("c.yaml"), &config, &message) < 0)
        return -1;
    return *config.calibration ? baseline_of(config.calibration) : 0;
}

/* --- tests ---------------------------------------------------------------------------------------------------------------- */

static void make_files(bool named)
{
    const struct plx_stereo_calibration old = rig(0.1);
    struct plx_error_message message;
    char text[512];
    snprintf(text, sizeof text, named ? CONFIG "\ncalibration: %s" : CONFIG, path_of("stereo.yaml"));
    assert_int_equal(plx_calibration_save(path_of("stereo.yaml"), &old, &message), 0);
    write_file("c.yaml", text);
    write_file("stereo.yaml.old", OLDER);
    write_file("stereo.yaml.new", DRAFT);
    write_file("stereo.yaml.part", DRAFT);
    write_file("c.yaml.new", DRAFT);
}

static void assert_nothing_is_lost(void)
{
    assert_true(file_is("stereo.yaml.old", OLDER));
    assert_true(file_is("stereo.yaml.new", DRAFT));
    assert_true(file_is("stereo.yaml.part", DRAFT));
    assert_true(file_is("c.yaml.new", DRAFT));
}

static int install(double baseline_m, struct plx_installed_files *ret_files, struct plx_error_message *message)
{
    static struct plx_config config;
    const struct plx_stereo_calibration fresh = rig(baseline_m);
    const int result = plx_config_load(path_of("c.yaml"), &config, message);
    return result < 0 ? result
                      : plx_installed_files_put(path_of("c.yaml"), &config, path_of("stereo.yaml"), &fresh, ret_files, message);
}

/* Installs, and undoes it if UNDOES, in a child that is killed at STEP. True if the child came to its end. */
static bool install_until(int number, bool undoes)
{
    int status;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct plx_installed_files files;
        struct plx_error_message message;
        steps_left = number;
        if (install(0.2, &files, &message) < 0)
            _exit(1);
        if (undoes)
            plx_installed_files_undo(&files);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : WEXITSTATUS(status) == 0);
    return !WIFSIGNALED(status);
}

static void killed_at_each_step_the_service_starts(void **state)
{
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        const bool named = kind & 1, undoes = kind & 2;
        const double before = named ? 0.1 : 0;
        int number = 0, old = 0;
        bool ended = false;
        for (; !ended; number++) {
            make_files(named);
            ended = install_until(number, undoes);
            const double now = baseline_of_service();
            if (now != before && now != 0.2)
                fail_msg("killed at step %d of kind %d: baseline %g", number, kind, now);
            old += now == before;
            assert_nothing_is_lost();
            assert_true(baseline_of(path_of("stereo.yaml")) == 0.1 || baseline_of(path_of("stereo.yaml.old.1")) == 0.1);
            unlink(path_of("stereo.yaml.old.1"));
        }
        assert_true(number > 8 && old > 0 && (ended && baseline_of_service() == (undoes ? before : 0.2)));
        print_message("    %d steps, %d with the old calibration\n", number, old);
    }
}

static void an_undo_brings_the_bytes_back(void **state)
{
    (void)state;
    struct plx_installed_files files;
    struct plx_error_message message;
    make_files(false);
    assert_int_equal(install(0.2, &files, &message), 0);
    assert_string_equal(files.old, path_of("stereo.yaml.old.1"));
    assert_false(file_is("c.yaml", CONFIG));
    plx_installed_files_undo(&files);
    assert_true(file_is("c.yaml", CONFIG));
    assert_nothing_is_lost();
    assert_int_equal(access(path_of("stereo.yaml.old.1"), F_OK), -1);

    assert_int_equal(install(0.2, &files, &message), 0); /* what a person writes meanwhile stays */
    write_file("c.yaml", CONFIG "\n# a note\n");
    plx_installed_files_undo(&files);
    FILE *file = fopen(path_of("c.yaml"), "re");
    char text[512] = "";
    assert_true(file && fread(text, 1, sizeof text - 1, file) > 0 && fclose(file) == 0);
    assert_non_null(strstr(text, "# a note"));
}

/* A configuration that works raw, and is refused with a calibration: nothing is changed in the first place. */
static void what_the_service_would_refuse_is_not_installed(void **state)
{
    (void)state;
    static const char *const texts[] = {"match: {disparities: 64, min_disparity: 1000}",
                                        "match: {disparities: 64, min_disparity: 400}"};
    struct plx_installed_files files;
    struct plx_error_message message;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        make_files(false);
        write_file("c.yaml", texts[i]);
        assert_int_equal(install(0.2, &files, &message), PLX_ERR_RANGE);
        assert_non_null(strstr(message.text, "disparity"));
        assert_true(file_is("c.yaml", texts[i]));
        assert_int_equal(access(path_of("stereo.yaml.old.1"), F_OK), -1);
        assert_nothing_is_lost();
    }
}

static int begin(void **state)
{
    (void)state;
    snprintf(directory, sizeof directory, "/tmp/plx-install-XXXXXX");
    return mkdtemp(directory) ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    char command[96];
    snprintf(command, sizeof command, "rm -rf %s", directory);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(killed_at_each_step_the_service_starts, begin, end),
        cmocka_unit_test_setup_teardown(an_undo_brings_the_bytes_back, begin, end),
        cmocka_unit_test_setup_teardown(what_the_service_would_refuse_is_not_installed, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
