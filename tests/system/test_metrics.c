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

/* The metrics of a frame with motion and drift, which the first frames have not; to be freed. */
static void with_all(struct command *ret_command)
{
    const int64_t end_ns = patience_end_ns();

    for (;;) {
        command_succeed(ret_command, "metrics");
        if (sample(ret_command->out, "parallax_motion_valid") == 1 &&
            strstr(ret_command->out, "\nparallax_drift_epipolar_error_pixels "))
            return;
        command_free(ret_command);
        assert_true(plx_now_ns() < end_ns);
    }
}

static void a_running_service_in_numbers(void **state)
{
    (void)state;
    struct command command;
    command_succeed(&command, "metrics");
    const int64_t deadline = patience_end_ns();
    while (!strstr(command.out, "parallax_frame_cpu_seconds ")) { /* the engine's first frame has none */
        assert_true(plx_now_ns() < deadline);
        command_free(&command);
        command_succeed(&command, "metrics");
    }
    parse(command.out);
    assert_true(sample(command.out, "parallax_up") == 1);
    assert_true(sample(command.out, "parallax_frame_cpu_seconds") > 0);
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

    with_all(&command);
    assert_true(sample(command.out, "parallax_drift_epipolar_error_pixels") < 0.2); /* rendered pictures have no drift */
    assert_true(fabs(sample(command.out, "parallax_drift_pitch_radians")) < 0.001);
    assert_null(strstr(command.out, "parallax_drift_disparity_offset_pixels")); /* the camera stands */
    assert_true(sample(command.out, "parallax_frames_total") > first);
    assert_true(sample(command.out, "parallax_motion_inliers") > 12);
    assert_true(sample(command.out, "parallax_motion_breaks_total") == 0);
    assert_true(sample(command.out, "parallax_motion_speed_meters_per_second") < 0.2); /* the camera stands */
    assert_true(sample(command.out, "parallax_motion_turn_radians_per_second") < 0.1);
    command_free(&command);
}

/* The samples of a metric in JSON have lines in TEXT; returns how many there are. */
static int count_samples(const cJSON *metric, const char *text)
{
    int count = 0;
    for (const cJSON *sample = cJSON_GetObjectItemCaseSensitive(metric, "samples")->child; sample; sample = sample->next) {
        const cJSON *label = cJSON_GetObjectItemCaseSensitive(sample, "labels")->child;
        char line[512];
        if (label)
            snprintf(line, sizeof line, "\n%s{%s=\"%s\"} ", metric->string, label->string, label->valuestring);
        else
            snprintf(line, sizeof line, "\n%s ", metric->string);
        if (!strstr(text, line))
            fail_msg("only JSON has%s", line);
        assert_true(cJSON_IsNumber(cJSON_GetObjectItemCaseSensitive(sample, "value")));
        count++;
    }
    return count;
}

static void json_holds_the_same_metrics(void **state)
{
    (void)state;
    struct command text, json;
    int samples = 0, lines = 0;
    with_all(&text);
    command_succeed(&json, "metrics", "--json");
    cJSON *metrics = cJSON_Parse(json.out);
    assert_non_null(metrics);
    for (const cJSON *metric = metrics->child; metric; metric = metric->next) {
        char help[256], type[128];
        snprintf(help, sizeof help, "# HELP %s %s\n", metric->string,
                 cJSON_GetObjectItemCaseSensitive(metric, "help")->valuestring);
        snprintf(type, sizeof type, "# TYPE %s %s\n", metric->string,
                 cJSON_GetObjectItemCaseSensitive(metric, "type")->valuestring);
        assert_true(strstr(text.out, help) && strstr(text.out, type));
        samples += count_samples(metric, text.out);
    }
    for (const char *at = text.out; at && *at; at = strchr(at, '\n') + 1)
        lines += *at != '#';
    assert_int_equal(samples, lines);
    const cJSON *up = cJSON_GetObjectItemCaseSensitive(metrics, "parallax_up");
    assert_true(number(cJSON_GetObjectItemCaseSensitive(up, "samples")->child, "value") == 1);
    cJSON_Delete(metrics);
    command_free(&text);
    command_free(&json);
    command_run(&json, (const char *const[]){"metrics", "--json", "--output", path_of("x.prom"), NULL});
    assert_int_equal(json.code, PLX_EXIT_USAGE);
    command_free(&json);
}

/* Adds to QUERIES what the dashboard asks for, wherever it stands. */
static int list_queries(const cJSON *item, const char *queries[], int count, int most)
{
    for (const cJSON *child = item->child; child; child = child->next) {
        if (cJSON_IsString(child) && child->string &&
            (strcmp(child->string, "expr") == 0 || strcmp(child->string, "query") == 0)) {
            assert_true(count < most);
            queries[count++] = child->valuestring;
        }
        count = list_queries(child, queries, count, most);
    }
    return count;
}

/* The first name in QUERIES that begins with parallax_ and is no metric in TEXT, NULL if there is none. */
static const char *missing_metric(const char *const queries[], int count, const char *text)
{
    static char wanted[96];
    for (int i = 0; i < count; i++)
        for (const char *name = queries[i]; (name = strstr(name, "parallax_")) != NULL; name++) {
            snprintf(wanted, sizeof wanted, "# TYPE %.*s ", (int)strspn(name, "abcdefghijklmnopqrstuvwxyz_"), name);
            if (!strstr(text, wanted))
                return wanted + strlen("# TYPE ");
        }
    return NULL;
}

/* Every metric of the example is one of a running service, some of which need a few frames. */
static void the_dashboard_shows_what_there_is(void **state)
{
    (void)state;
    enum { MAX_QUERIES = 64 };
    const char *queries[MAX_QUERIES], *missing;
    FILE *file = fopen(PLX_SOURCE_DIR "/docs/examples/grafana/parallax.json", "re");
    assert_non_null(file);
    char *text = command_text(file);
    cJSON *dashboard = cJSON_Parse(text);
    assert_non_null(dashboard);
    const int count = list_queries(dashboard, queries, 0, MAX_QUERIES);
    assert_true(count >= 16);
    const int64_t deadline = patience_end_ns();
    do {
        struct command command;
        command_succeed(&command, "metrics");
        missing = missing_metric(queries, count, command.out);
        command_free(&command);
    } while (missing && plx_now_ns() < deadline);
    if (missing)
        fail_msg("the dashboard asks for %s, which there is not", missing);
    cJSON_Delete(dashboard);
    free(text);
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
    char text[32768];
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
        cmocka_unit_test(json_holds_the_same_metrics),
        cmocka_unit_test(the_dashboard_shows_what_there_is),
        cmocka_unit_test(a_file_is_replaced_whole),
    };
    const struct CMUnitTest away[] = {cmocka_unit_test(no_service_is_said_too)};
    cli_begin();
    int failed = cmocka_run_group_tests(running, start_scene, stop_scene);
    failed += cmocka_run_group_tests(away, NULL, NULL);
    cli_end();
    return failed;
}
