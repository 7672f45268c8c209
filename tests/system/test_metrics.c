/* SPDX-License-Identifier: Apache-2.0 */
/* `parallax metrics` beside a real parallaxd: every line parsed as Prometheus text is defined. */
#include "tests/system/cli.h"

#include <math.h>
#include <regex.h>

#define FAMILIES 48

struct families {
    char name[FAMILIES][64], type[FAMILIES][16];
    int count;
};

static bool matches(const char *line, const char *pattern, regmatch_t *group, size_t groups)
{
    regex_t regex;
    assert_int_equal(regcomp(&regex, pattern, REG_EXTENDED), 0);
    const bool is = regexec(&regex, line, groups, group, 0) == 0;
    regfree(&regex);
    return is;
}

/* HELP, TYPE, then the samples of that family alone, each with a number. */
static void parse_line(const char *line, struct families *families)
{
    char name[64], type[16];
    regmatch_t group[5];
    if (matches(line, "^# HELP ([a-z_]+) [A-Z0-9].*\\.$", group, 2)) {
        assert_true(families->count < FAMILIES);
        snprintf(name, sizeof name, "%.*s", (int)(group[1].rm_eo - group[1].rm_so), line + group[1].rm_so);
        for (int i = 0; i < families->count; i++)
            assert_string_not_equal(families->name[i], name); /* once */
        memcpy(families->name[families->count++], name, sizeof name);
        return;
    }
    assert_true(families->count > 0);
    const int last = families->count - 1;
    if (sscanf(line, "# TYPE %63s %15s", name, type) == 2) {
        assert_string_equal(name, families->name[last]);
        assert_true(strcmp(type, "gauge") == 0 || strcmp(type, "counter") == 0);
        const size_t length = strlen(name);
        const bool total = length > 6 && strcmp(name + length - 6, "_total") == 0;
        assert_int_equal(total, strcmp(type, "counter") == 0);
        memcpy(families->type[last], type, sizeof type);
        return;
    }
    if (!matches(line, "^([a-z_]+)(\\{[a-z]+=\"([^\"\\]|\\\\[\\\"])*\"\\})? ([-+0-9.einf]+)$", group, 5))
        fail_msg("not Prometheus text: %s", line);
    snprintf(name, sizeof name, "%.*s", (int)group[1].rm_eo, line);
    assert_string_equal(name, families->name[last]);
    assert_true(families->type[last][0] != '\0');
    char *end;
    assert_false(isnan(strtod(line + group[4].rm_so, &end)));
    assert_true(*end == '\0');
}

/* Parses all of TEXT, which ends with a newline. */
static void parse(const char *text)
{
    static struct families families;
    memset(&families, 0, sizeof families);
    char *copy = strdup(text);
    assert_non_null(copy);
    assert_true(*copy && copy[strlen(copy) - 1] == '\n');
    for (char *rest = copy, *line; (line = strsep(&rest, "\n")) && rest;)
        parse_line(line, &families);
    free(copy);
}

/* The value of the sample that is named so, with its label. */
static double sample(const char *text, const char *name)
{
    char wanted[128];
    snprintf(wanted, sizeof wanted, "\n%s ", name);
    const char *at = strstr(text, wanted);
    if (!at)
        fail_msg("no sample %s", name);
    return at ? strtod(at + strlen(wanted), NULL) : NAN;
}

static void a_running_service_in_numbers(void **state)
{
    (void)state;
    struct command command;
    command_succeed(&command, "metrics");
    parse(command.out);
    assert_true(sample(command.out, "parallax_up") == 1);
    const double first = sample(command.out, "parallax_frames_total");
    assert_true(first >= 1);
    assert_true(sample(command.out, "parallax_stage_seconds{stage=\"sgm\"}") > 0);
    assert_true(sample(command.out, "parallax_frame_age_seconds") > 0);
    assert_true(sample(command.out, "parallax_frame_age_seconds") < 10);
    assert_true(sample(command.out, "parallax_latency_seconds") > 0);
    assert_true(sample(command.out, "parallax_fresh") == 1);
    assert_true(sample(command.out, "parallax_simulated") == 1);
    assert_true(sample(command.out, "parallax_source_info{source=\"synthetic\"}") == 1);
    assert_true(sample(command.out, "parallax_obstacles") >= 0);
    assert_true(sample(command.out, "parallax_camera_exposure_seconds{eye=\"right\"}") > 0);
    double states = 0;
    const char *const word[] = {"starting", "running", "degraded", "recovering", "failed", "stopped"};
    for (size_t i = 0; i < sizeof word / sizeof word[0]; i++) {
        char name[64];
        snprintf(name, sizeof name, "parallax_state{state=\"%s\"}", word[i]);
        states += sample(command.out, name);
    }
    assert_true(states == 1);
    assert_true(sample(command.out, "parallax_state{state=\"stopped\"}") == 0);
    command_free(&command);

    usleep(500000);
    command_succeed(&command, "metrics");
    assert_true(sample(command.out, "parallax_frames_total") > first);
    assert_true(sample(command.out, "parallax_motion_valid") == 1); /* not in the first frame */
    assert_true(sample(command.out, "parallax_motion_inliers") > 12);
    assert_true(sample(command.out, "parallax_motion_breaks_total") == 0);
    assert_true(sample(command.out, "parallax_motion_speed_meters_per_second") < 0.2); /* the camera stands */
    assert_true(sample(command.out, "parallax_motion_turn_radians_per_second") < 0.1);
    command_free(&command);
}

static void a_file_is_replaced_whole(void **state)
{
    (void)state;
    struct command command;
    struct stat status;
    write_text(daemon_.directory, "parallax.prom", "old\n");
    command_succeed(&command, "metrics", "--output", path_of("parallax.prom"));
    assert_string_equal(command.out, "");
    command_free(&command);
    char text[8192];
    FILE *file = fopen(path_of("parallax.prom"), "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    assert_int_equal(fstat(fileno(file), &status), 0);
    assert_int_equal(status.st_mode & 0777, 0644);
    fclose(file);
    parse(text);

    command_run(&command, (const char *const[]){"metrics", "--output", path_of("none/parallax.prom"), NULL});
    assert_int_equal(command.code, PLX_EXIT_CANNOT_WRITE);
    assert_non_null(strstr(command.err, "none/parallax.prom"));
    command_free(&command);
}

static void no_service_is_said_too(void **state)
{
    (void)state;
    struct command command;
    command_succeed(&command, "metrics");
    parse(command.out);
    assert_true(sample(command.out, "parallax_up") == 0);
    assert_true(sample(command.out, "parallax_state{state=\"stopped\"}") == 1);
    assert_true(sample(command.out, "parallax_fault{fault=\"no_frames\"}") == 1);
    assert_true(sample(command.out, "parallax_reason_info{reason=\"\"}") == 1);
    assert_true(sample(command.out, "parallax_fresh") == 0);
    assert_null(strstr(command.out, "parallax_frames_total"));
    command_free(&command);
}

int main(void)
{
    const struct CMUnitTest running[] = {
        cmocka_unit_test(a_running_service_in_numbers),
        cmocka_unit_test(a_file_is_replaced_whole),
    };
    const struct CMUnitTest away[] = {cmocka_unit_test(no_service_is_said_too)};
    cli_begin();
    int failed = cmocka_run_group_tests(running, start_scene, stop_scene);
    failed += cmocka_run_group_tests(away, NULL, NULL);
    cli_end();
    return failed;
}
