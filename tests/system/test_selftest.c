/* SPDX-License-Identifier: Apache-2.0 */
/* `parallax selftest`: its report is well-formed and complete, and its checks find a wrong golden frame, cameras that are not
 * synchronized or ignore the exposure, and overheating. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <parallax/error.h>

#include "app/machine_files.h"
#include "app/selftest/check.h"
#include "core/base/clock.h"
#include "cpu/cpu.h"
#include "drivers/synthetic/synthetic.h"
#include "tests/cmocka.h"
#include "tests/exec_as.h"

static char directory[] = "/tmp/plx-selftest-XXXXXX";

static int set_up(void **state)
{
    (void)state;
    return mkdtemp(directory) ? 0 : -1;
}

static int tear_down(void **state)
{
    char command[64];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", directory);
    return system(command);
}

static const char *path_of(const char *name)
{
    static char path[2][256];
    static int turn;
    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/%s", directory, name);
    return path[turn];
}

static char *read_file(const char *name)
{
    static char text[1 << 16];
    FILE *file = fopen(path_of(name), "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

/* Writes a file below the directory, with the directories on its way. */
static void write_file(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s", path_of(name));
    for (char *slash = path + strlen(directory) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
        *slash = '\0';
        mkdir(path, 0755);
    }
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static int run_program(const char *program, const char *arguments)
{
    char command[4096];
    snprintf(command, sizeof command, "%s " PLX_BINARY_DIR "/bin/%s %s >%s 2>%s", emulator(), program, arguments,
             path_of("tap"), path_of("err"));
    const int status = system(command);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int count(const char *text, const char *word)
{
    int n = 0;
    for (const char *at = text; (at = strstr(at, word)); at++)
        n++;
    return n;
}

/* One plan, and as many lines as it says, numbered from 1. */
static void assert_tap(const char *tap)
{
    int planned = 0, next = 1;
    assert_memory_equal(tap, "TAP version 14\n1..", 18);
    assert_int_equal(sscanf(tap, "TAP version 14\n1..%d\n", &planned), 1);
    assert_int_equal(planned, check_count);
    for (const char *line = strchr(strchr(tap, '\n') + 1, '\n') + 1; *line; line = strchr(line, '\n') + 1) {
        int number = 0;
        assert_non_null(strchr(line, '\n'));
        if (line[0] == '#')
            continue;
        assert_true(sscanf(line, "ok %d - ", &number) == 1 || sscanf(line, "not ok %d - ", &number) == 1);
        assert_int_equal(number, next++);
    }
    assert_int_equal(next - 1, planned);
}

static void passes_here_and_skips_by_name(void **state)
{
    (void)state;
    write_file("config.yaml", "source: {type: synthetic}\n");
    char arguments[256];
    snprintf(arguments, sizeof arguments, "--quick --config %s --junit %s", path_of("config.yaml"), path_of("junit.xml"));
    if (run_program("parallax-selftest", arguments) != 0)
        fail_msg("%s", read_file("tap"));
    const char *tap = read_file("tap");
    assert_tap(tap);
    assert_non_null(strstr(tap, "\nok 1 - stages/cpu against oracles\n"));
    assert_non_null(strstr(tap, "\nok 3 - frames/cpu against golden hashes\n"));
    assert_non_null(strstr(tap, " - cameras/exposure # SKIP no cameras are configured"));
    assert_non_null(strstr(tap, "p99.9 "));
    const int skipped = count(tap, "# SKIP") + count(tap, "# TODO");
    const char *xml = read_file("junit.xml");
    assert_int_equal(count(xml, "<testcase "), check_count);
    assert_int_equal(count(xml, "</testcase>"), check_count);
    assert_int_equal(count(xml, "<skipped "), skipped);
    assert_int_equal(count(xml, "<failure "), 0);
    assert_non_null(strstr(xml, "failures=\"0\""));
}

static void a_wrong_hash_fails(void **state)
{
    (void)state;
    assert_int_equal(run_program("selftest_mutant", "selftest --config /none"), 1);
    const char *tap = read_file("tap");
    assert_tap(tap);
    assert_non_null(strstr(tap, "\nnot ok 3 - frames/cpu against golden hashes\n# "));
    assert_non_null(strstr(tap, "the frames are not the golden ones"));
    assert_int_equal(count(tap, "\nnot ok "), count(tap, "against golden hashes\n# ") + count(tap, "# TODO"));
}

static void wrong_arguments(void **state)
{
    (void)state;
    assert_int_equal(run_program("parallax", "selftest --slow"), 64);
    assert_int_equal(run_program("parallax-selftest", "--slow"), 64);
    assert_int_equal(run_program("parallax-selftest", "now"), 64);
    assert_int_equal(run_program("parallax-selftest", "--version"), 0);
    assert_memory_equal(read_file("tap"), "parallax selftest 0.", 20);
}

/* A sentence may hold characters that have a meaning in XML or TAP. */
static void reports_any_text(void **state)
{
    (void)state;
    const struct check_result result[] = {
        {"a", {CHECK_PASSED, "", "1 < 2 & \"3\"\nline two\n"}, 0.5},
        {"b", {CHECK_FAILED, "<&>\"\x01", ""}, 0},
        {"c", {CHECK_SKIPPED, "no GPU", ""}, 0},
        {"d", {CHECK_DOUBTED, "slow", ""}, 0},
    };
    struct plx_error_message message;
    FILE *file = fopen(path_of("tap"), "w");
    for (int i = 0; i < 4; i++)
        results_tap(file, i + 1, &result[i]);
    fclose(file);
    assert_string_equal(read_file("tap"), "ok 1 - a\n#   1 < 2 & \"3\"\n#   line two\n"
                                          "not ok 2 - b\n# <&>\"\x01\nok 3 - c # SKIP no GPU\nnot ok 4 - d # TODO slow\n");
    assert_int_equal(results_junit(path_of("x.xml"), result, 4, &message), 0);
    const char *xml = read_file("x.xml");
    assert_non_null(strstr(xml, "tests=\"4\" failures=\"1\" errors=\"0\" skipped=\"2\" time=\"0.500\""));
    assert_non_null(strstr(xml, "<failure message=\"&lt;&amp;&gt;&quot;?\"/>"));
    assert_non_null(strstr(xml, "<system-out>1 &lt; 2 &amp; &quot;3&quot;\nline two\n</system-out>"));
    assert_true(results_junit("/nowhere/x.xml", result, 4, &message) < 0);
}

static struct plx_source *synthetic(struct plx_stages **ret_stages, double rate_hz)
{
    const struct plx_limits limits = {320, 240, 64, 1};
    struct plx_synthetic_options options = {.rate_hz = rate_hz, .exposure_delay = 2, .gain_delay = 1};
    struct plx_source *source;
    struct plx_error_message message;

    assert_int_equal(plx_cpu_create(&limits, ret_stages), 0);
    plx_scene_demo(320, 240, 1, &options.scene);
    assert_int_equal(plx_synthetic_create(*ret_stages, &options, &source, &message), 0);
    return source;
}

static void cameras_in_step_pass(void **state)
{
    (void)state;
    struct plx_stages *stages;
    struct plx_source *source = synthetic(&stages, 20);
    struct check_outcome outcome = {0};
    check_source_pairs(source, 5 * PLX_NS_PER_MS, 1, &outcome);
    assert_string_equal(outcome.message, "");
    assert_non_null(strstr(outcome.note, "(expected: 20.00)"));
    check_source_control(source, stages, &outcome);
    assert_string_equal(outcome.message, "");
    assert_non_null(strstr(outcome.note, "mean grey"));

    source->rate_hz = 30; /* what it does not keep */
    check_source_pairs(source, 5 * PLX_NS_PER_MS, 1, &outcome);
    assert_int_equal(outcome.verdict, CHECK_FAILED);
    source->ops->destroy(source);
    stages->ops->destroy(stages);
}

/* A camera's ops with one replaced. */
static const struct plx_source_ops *true_ops;

static int late_right_eye(struct plx_source *source, int64_t deadline_ns, struct plx_capture *ret)
{
    const int result = true_ops->next(source, deadline_ns, ret);
    if (result == 0 && ret->raw[PLX_RIGHT].data)
        ret->capture_ns += 10 * PLX_NS_PER_MS;
    return result;
}

static int deaf(struct plx_source *source, uint32_t exposure_us, float gain)
{
    (void)source;
    (void)exposure_us;
    (void)gain;
    return 0;
}

static int taken(struct plx_source *source, struct plx_error_message *message)
{
    (void)source;
    (void)message;
    return PLX_ERR_BUSY;
}

static void bad_cameras_fail(void **state)
{
    (void)state;
    struct plx_stages *stages;
    struct plx_source *source = synthetic(&stages, 20);
    struct plx_source_ops broken = *(true_ops = source->ops);
    struct check_outcome sync = {0}, control = {0}, busy = {0};
    broken.next = late_right_eye;
    source->ops = &broken;
    check_source_pairs(source, 5 * PLX_NS_PER_MS, 1, &sync);
    assert_int_equal(sync.verdict, CHECK_FAILED);
    broken = *true_ops;
    broken.control = deaf;
    check_source_control(source, stages, &control);
    assert_int_equal(control.verdict, CHECK_FAILED);
    assert_non_null(strstr(control.message, "times as bright"));
    broken.start = taken;
    check_source_pairs(source, 5 * PLX_NS_PER_MS, 1, &busy);
    assert_int_equal(busy.verdict, CHECK_SKIPPED);
    source->ops = true_ops;
    source->ops->destroy(source);
    stages->ops->destroy(stages);
}

static void tells_heat_and_power(void **state)
{
    (void)state;
    const struct check_options options = {.root = directory};
    struct check_outcome cool = {0}, hot = {0}, power = {0}, nothing = {0};
    char model[64];

    check_temperature(&options, &nothing);
    assert_int_equal(nothing.verdict, CHECK_SKIPPED);
    write_file("sys/class/thermal/thermal_zone0/type", "cpu-thermal\n");
    write_file("sys/class/thermal/thermal_zone0/temp", "51500\n");
    write_file("sys/class/thermal/thermal_zone0/trip_point_0_type", "passive\n");
    write_file("sys/class/thermal/thermal_zone0/trip_point_0_temp", "50000\n");
    write_file("sys/class/thermal/thermal_zone0/trip_point_1_type", "critical\n");
    write_file("sys/class/thermal/thermal_zone0/trip_point_1_temp", "104500\n");
    check_temperature(&options, &cool);
    assert_int_equal(cool.verdict, CHECK_PASSED);
    assert_string_equal(cool.note, "cpu-thermal 51.5 C, slowed down by its temperature\n");
    write_file("sys/class/thermal/thermal_zone0/temp", "105000\n");
    check_temperature(&options, &hot);
    assert_int_equal(hot.verdict, CHECK_FAILED);

    write_file("var/lib/nvpmodel/status", "pmode:0002\n");
    write_file("etc/nvpmodel.conf", "< POWER_MODEL ID=0 NAME=MAXN >\n< POWER_MODEL ID=2 NAME=MODE_30W >\n");
    check_power(&options, &power);
    assert_string_equal(power.note, "nvpmodel mode 2, MODE_30W\n");
    write_file("proc/device-tree/model", "NVIDIA Jetson AGX Orin Developer Kit");
    plx_machine_model(options.root, model, sizeof model);
    assert_string_equal(model, "NVIDIA Jetson AGX Orin Developer Kit");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passes_here_and_skips_by_name),
        cmocka_unit_test(a_wrong_hash_fails),
        cmocka_unit_test(wrong_arguments),
        cmocka_unit_test(reports_any_text),
        cmocka_unit_test(cameras_in_step_pass),
        cmocka_unit_test(bad_cameras_fail),
        cmocka_unit_test(tells_heat_and_power),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
