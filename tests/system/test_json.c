/* SPDX-License-Identifier: Apache-2.0 */
/* docs/json.md, and app/evaluate/README.md for --truth, list all fields that the programs print, and no others. */
#include "tests/system/cli.h"

#include <regex.h>

#include "app/web/files.h"

#define PAIRS "4"
#define MAX_FIELDS 200

struct fields {
    char name[MAX_FIELDS][96];
    int count;
};

static bool has(const struct fields *fields, const char *name)
{
    for (int i = 0; i < fields->count; i++)
        if (strcmp(fields->name[i], name) == 0)
            return true;
    return false;
}

static void add(struct fields *fields, const char *name)
{
    if (has(fields, name))
        return;
    assert_true(fields->count < MAX_FIELDS && strlen(name) < sizeof fields->name[0]);
    snprintf(fields->name[fields->count++], sizeof fields->name[0], "%s", name);
}

/* --- what is printed -------------------------------------------------------------------------------------------------- */

/* How the page calls what has many names. */
static const char *page_name(const char *path, const char *key)
{
    const char *last = strrchr(path, '.');
    last = last ? last + 1 : path;
    return strcmp(last, "stage_us") == 0                 ? "STAGE"
           : strcmp(last, "labels") == 0                 ? "LABEL"
           : !*path && strncmp(key, "parallax_", 9) == 0 ? "NAME"
                                                         : key;
}

/* Adds the fields of ITEM, which is at PATH, and of all in it. */
static void collect(const cJSON *item, const char *path, struct fields *printed)
{
    const cJSON *child;
    cJSON_ArrayForEach (child, item) {
        char name[96];
        if (cJSON_IsArray(item))
            snprintf(name, sizeof name, "%s[]", path);
        else
            snprintf(name, sizeof name, "%s%s%s", path, *path ? "." : "", page_name(path, child->string));
        if (!cJSON_IsArray(item))
            add(printed, name);
        collect(child, name, printed);
    }
}

/* Collects the lines of TEXT if it has an object on each line, else TEXT as a whole. */
static void collect_text(const char *text, bool by_line, struct fields *printed)
{
    for (const char *end = NULL; *text; text = end + strspn(end, "\n")) {
        cJSON *item = cJSON_ParseWithOpts(text, &end, false);
        if (!item || (!by_line && end[strspn(end, "\n")]))
            fail_msg("no JSON: %.200s", text);
        collect(item, "", printed);
        cJSON_Delete(item);
    }
}

#define collect_command(printed, by_line, ...)                                                                                 \
    do {                                                                                                                       \
        struct command command_;                                                                                               \
        command_succeed(&command_, __VA_ARGS__);                                                                               \
        collect_text(command_.out, by_line, printed);                                                                          \
        command_free(&command_);                                                                                               \
    } while (0)

/* --- what the page lists ---------------------------------------------------------------------------------------------- */

/* "`[].motion` and what is in it": the fields of the section status, too. */
static void add_from_status(const char *name, struct fields *listed);

static void add_row(const char *row, struct fields *listed)
{
    const char *cell_end = strstr(row, " | ");
    char name[96];
    int used;
    assert_non_null(cell_end);
    for (const char *at = row; (at = strchr(at, '`')) && at < cell_end && sscanf(at, "`%95[^`]`%n", name, &used) == 1;
         at += used) {
        add(listed, name);
        if (strncmp(at + used, " and what is in it", 18) == 0)
            add_from_status(name, listed);
    }
}

static void read_page(const char *heading, struct fields *listed)
{
    char line[512];
    bool inside = false;
    const bool is_evaluation = strncmp(heading, "### run --truth ", strlen("### run --truth ")) == 0;
    const char *page = is_evaluation ? PLX_SOURCE_DIR "/app/evaluate/README.md" : PLX_SOURCE_DIR "/docs/json.md";
    FILE *in = fopen(page, "re");
    assert_non_null(in);
    while (fgets(line, sizeof line, in)) {
        if (line[0] == '#') {
            line[strcspn(line, "\n")] = '\0';
            inside = strcmp(line, heading) == 0;
        } else if (inside && strncmp(line, "| `", 3) == 0) {
            add_row(line, listed);
        }
    }
    fclose(in);
    if (listed->count == 0)
        fail_msg("%s lists no field below %s", page, heading);
}

static void add_from_status(const char *name, struct fields *listed)
{
    static struct fields status;
    const char *what = name + strlen("[].");
    status.count = 0;
    read_page("## status", &status);
    for (int i = 0; i < status.count; i++) {
        char inner[100];
        snprintf(inner, sizeof inner, "[].%s", status.name[i]);
        if (strncmp(status.name[i], what, strlen(what)) == 0)
            add(listed, inner);
    }
}

static bool is_all_printed(const struct fields *listed, const struct fields *printed)
{
    for (int i = 0; i < listed->count; i++)
        if (!has(printed, listed->name[i]))
            return false;
    return true;
}

static void expect_same(const char *heading, const struct fields *printed)
{
    static struct fields listed;
    listed.count = 0;
    read_page(heading, &listed);
    for (int i = 0; i < printed->count; i++)
        if (!has(&listed, printed->name[i]))
            fail_msg("docs/json.md does not list %s below %s", printed->name[i], heading);
    for (int i = 0; i < listed.count; i++)
        if (!has(printed, listed.name[i]))
            fail_msg("docs/json.md lists %s below %s, which is not printed", listed.name[i], heading);
}

/* --- the tests -------------------------------------------------------------------------------------------------------- */

static struct fields printed;

static int begin(void **state)
{
    printed.count = 0;
    return start_scene(state);
}

static void status_and_watch(void **state)
{
    (void)state;
    static struct fields listed;
    const int64_t deadline = patience_end_ns();
    listed.count = 0;
    read_page("## status", &listed);
    collect_command(&printed, false, "status", "--json");
    do /* the first frames have no motion, and no alignment */
        collect_command(&printed, true, "watch", "--json", "--seconds", "1");
    while (!is_all_printed(&listed, &printed) && plx_now_ns() < deadline);
    expect_same("## status", &printed);
}

/* Its exit code says the verdict. */
static void verdict(void **state)
{
    (void)state;
    struct command command;
    command_run(&command, (const char *const[]){"verdict", "--json", NULL});
    assert_true(command.code == 0 || command.code == 2 || command.code == 3);
    collect_text(command.out, true, &printed);
    command_free(&command);
    expect_same("## verdict", &printed);
}

static void locate(void **state)
{
    (void)state;
    collect_command(&printed, false, "locate", "--json", "140", "100", "40", "40");
    expect_same("## locate", &printed);
}

/* The scene is no wall, so the exit code is 4; a wall that is not there is joined. */
static void wall(void **state)
{
    (void)state;
    struct command command;
    command_run(&command, (const char *const[]){"wall", "--json", "--frames", "2", "--distance", "3", NULL});
    collect_text(command.out, false, &printed);
    write_text(daemon_.directory, "wall.json", command.out);
    command_free(&command);
    expect_same("## wall", &printed);
    printed.count = 0;
    command_run(&command, (const char *const[]){"wall", "--json", path_of("wall.json"), NULL});
    collect_text(command.out, false, &printed);
    command_free(&command);
    expect_same("### wall FILE.json", &printed);
}

static void metrics(void **state)
{
    (void)state;
    collect_command(&printed, false, "metrics", "--json");
    expect_same("## metrics", &printed);
}

static void report(void **state)
{
    (void)state;
    collect_command(&printed, false, "report", "--json", "--output", path_of("report"));
    expect_same("## report", &printed);
}

/* Its exit code says what is worst on this machine. */
static void doctor(void **state)
{
    (void)state;
    struct command command;
    command_run(&command, (const char *const[]){"doctor", "--json", NULL});
    collect_text(command.out, false, &printed);
    command_free(&command);
    expect_same("## doctor", &printed);
}

static void files(void **state)
{
    (void)state;
    write_text(daemon_.directory, "a.box", "a black box\n");
    cJSON *item = plx_web_files_json(daemon_.directory, daemon_.directory);
    collect(item, "", &printed);
    cJSON_Delete(item);
    expect_same("## files", &printed);
}

/* A sequence of the scene, with its own disparity as ground truth, and a camera that stands still. */
static void run_and_its_tables(void **state)
{
    (void)state;
    char drive[192], truth[192], poses[256] = "\xEF\xBB\xBF"; /* a byte order mark, as editors write it */
    struct command command;
    snprintf(drive, sizeof drive, "%s", path_of("drive"));
    snprintf(truth, sizeof truth, "%s", path_of("truth"));
    command_succeed(&command, "record", drive, "--pairs", PAIRS);
    command_free(&command);
    command_succeed(&command, "run", drive, "--output", truth);
    command_free(&command);
    for (int i = 0; i < atoi(PAIRS); i++)
        snprintf(poses + strlen(poses), sizeof poses - strlen(poses), "1 0 0 0 0 1 0 0 0 0 1 0\n");
    write_text(drive, "poses.txt", poses);

    collect_command(&printed, false, "run", drive, "--gt", truth, "--output", path_of("again"), "--obstacles", "--json");
    expect_same("## run", &printed);
    printed.count = 0;
    collect_command(&printed, false, "run", drive, "--gt", truth, "--json");
    expect_same("### run DIR --gt", &printed);
    printed.count = 0;
    collect_command(&printed, false, "run", drive, "--truth", "poses", "--json");
    expect_same("### run --truth poses", &printed);
    printed.count = 0;
    collect_command(&printed, false, "run", drive, "--gt", truth, "--truth", "lidar", "--json");
    expect_same("### run --truth lidar", &printed);
}

/* The last part of each name, from the source: there is no camera here. */
static void cameras(void **state)
{
    (void)state;
    static struct fields listed, last;
    char line[512];
    regex_t regex;
    regmatch_t group[2];
    FILE *in = fopen(PLX_SOURCE_DIR "/app/cli/live/cameras.c", "re");
    assert_non_null(in);
    assert_int_equal(regcomp(&regex, "cJSON_Add[A-Za-z]+ToObject\\([a-z]+, \"([a-z_]+)\"", REG_EXTENDED), 0);
    while (fgets(line, sizeof line, in))
        if (regexec(&regex, line, 2, group, 0) == 0) {
            line[group[1].rm_eo] = '\0';
            add(&printed, line + group[1].rm_so);
        }
    regfree(&regex);
    fclose(in);
    listed.count = last.count = 0;
    read_page("## cameras", &listed);
    for (int i = 0; i < listed.count; i++) {
        const char *dot = strrchr(listed.name[i], '.');
        add(&last, dot ? dot + 1 : listed.name[i]);
    }
    for (int i = 0; i < printed.count; i++)
        if (!has(&last, printed.name[i]))
            fail_msg("docs/json.md does not list %s below ## cameras", printed.name[i]);
    assert_int_equal(last.count, printed.count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(status_and_watch, begin, stop_scene),
        cmocka_unit_test_setup_teardown(verdict, begin, stop_scene),
        cmocka_unit_test_setup_teardown(locate, begin, stop_scene),
        cmocka_unit_test_setup_teardown(wall, begin, stop_scene),
        cmocka_unit_test_setup_teardown(metrics, begin, stop_scene),
        cmocka_unit_test_setup_teardown(report, begin, stop_scene),
        cmocka_unit_test_setup_teardown(doctor, begin, stop_scene),
        cmocka_unit_test_setup_teardown(files, begin, stop_scene),
        cmocka_unit_test_setup_teardown(run_and_its_tables, begin, stop_scene),
        cmocka_unit_test_setup_teardown(cameras, begin, stop_scene),
    };
    cli_begin();
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    cli_end();
    return failed;
}
