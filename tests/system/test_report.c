/* SPDX-License-Identifier: Apache-2.0 */
/* `parallax report`, with a service and without: each file is there and holds what it is said to hold. */
#include "tests/system/cli.h"

#include <dirent.h>

#include <parallax/frame.h>

#include "config/config.h"

static char *read_file(const char *directory, const char *name, size_t *ret_bytes)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *in = fopen(path, "re");
    if (!in)
        fail_msg("%s is missing", path);
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    *ret_bytes = fread(text, 1, (1 << 20) - 1, in);
    fclose(in);
    return text;
}

static void assert_holds(const char *directory, const char *name, const char *what)
{
    size_t bytes;
    char *text = read_file(directory, name, &bytes);
    if (!strstr(text, what))
        fail_msg("%s does not hold %s: %s", name, what, text);
    free(text);
}

/* Empties and removes DIRECTORY; every file is the user's alone and named in contents.txt. */
static void check_and_remove(const char *directory)
{
    size_t bytes;
    char *contents = read_file(directory, "contents.txt", &bytes);
    DIR *open = opendir(directory);
    assert_non_null(open);
    for (const struct dirent *entry; (entry = readdir(open));) {
        struct stat status;
        if (entry->d_name[0] == '.')
            continue;
        assert_int_equal(fstatat(dirfd(open), entry->d_name, &status, 0), 0);
        assert_int_equal(status.st_mode & 0777, 0600);
        if (strcmp(entry->d_name, "contents.txt") != 0 && !strstr(contents, entry->d_name))
            fail_msg("contents.txt does not name %s", entry->d_name);
        unlinkat(dirfd(open), entry->d_name, 0);
    }
    closedir(open);
    free(contents);
    assert_int_equal(rmdir(directory), 0);
}

static void running_service_is_told_of(void **state)
{
    (void)state;
    const char *directory = path_of("report");
    struct command command;
    command_succeed(&command, "report", "--output", directory);
    assert_non_null(strstr(command.out, "status.json"));
    command_free(&command);

    size_t bytes;
    char *text = read_file(directory, "status.json", &bytes);
    cJSON *json = cJSON_Parse(text);
    assert_non_null(json);
    assert_true(number(json, "sequence") > 0);
    cJSON_Delete(json);
    free(text);

    text = read_file(directory, "frame-header.bin", &bytes);
    assert_int_equal(bytes, sizeof(struct plx_frame));
    struct plx_frame frame;
    memcpy(&frame, text, sizeof frame);
    assert_int_equal(frame.width, WIDTH);
    assert_int_equal(frame.height, HEIGHT);
    free(text);
    assert_holds(directory, "metrics.txt", "parallax_up 1");
    check_and_remove(directory);
}

static void works_without_a_service(void **state)
{
    (void)state;
    const char *directory = path_of("report"), *config = path_of("config.yaml");
    FILE *out = fopen(config, "we");
    assert_non_null(out);
    fputs("match:\n  paths: 4\n", out);
    fclose(out);
    struct command command;
    command_succeed(&command, "report", "--output", directory, "--config", config, "--socket", path_of("nobody"));
    assert_holds(directory, "version.txt", "parallax ");
    assert_holds(directory, "configuration-file.yaml", "paths: 4");
    assert_holds(directory, "configuration.yaml", "no service there");
    assert_holds(directory, "metrics.txt", "parallax_up 0");
    assert_holds(directory, "kernel.txt", "Linux");
    assert_holds(directory, "gpu-backend.txt", "GPU");       /* with one or without */
    assert_holds(directory, "contents.txt", "exit code 69"); /* the status, and it is said */
    assert_holds(directory, "system.txt", "NAME=");

    command_free(&command);
    check_and_remove(directory);
    command_succeed(&command, "report", "--output", directory, "--config", config, "--socket", path_of("nobody"), "--json");
    cJSON *report = cJSON_Parse(command.out);
    const cJSON *files = cJSON_GetObjectItemCaseSensitive(report, "files");
    assert_string_equal(cJSON_GetObjectItemCaseSensitive(report, "directory")->valuestring, directory);
    assert_int_equal(cJSON_GetArraySize(files), 19);
    for (const cJSON *file = files->child; file; file = file->next) { /* as contents.txt says it */
        char line[256];
        snprintf(line, sizeof line, "%-23s %-46s %s\n", cJSON_GetObjectItemCaseSensitive(file, "file")->valuestring,
                 cJSON_GetObjectItemCaseSensitive(file, "content")->valuestring,
                 cJSON_GetObjectItemCaseSensitive(file, "result")->valuestring);
        assert_holds(directory, "contents.txt", line);
    }
    cJSON_Delete(report);
    command_free(&command);

    /* An older report is never written over. */
    command_run(&command, (const char *const[]){"report", "--output", directory, NULL});
    assert_int_equal(command.code, PLX_EXIT_CANNOT_WRITE);
    assert_non_null(strstr(command.err, "cannot create"));
    command_free(&command);
    check_and_remove(directory);
    unlink(config);
}

static void write_configuration(const char *text)
{
    write_text(daemon_.directory, "new.yaml", text);
    assert_int_equal(rename(path_of("new.yaml"), path_of("parallax.yaml")), 0);
}

/* The report holds the configuration in force: file and --set of the start, even after the file changed; then that of a reload.
 */
static void what_is_in_force_is_asked_from_the_service(void **state)
{
    (void)state;
    char directory[128];
    struct command command;
    snprintf(directory, sizeof directory, "%s", path_of("report"));
    write_configuration("source:\n  width: 320\n  height: 240\n  rate_hz: 15\nmatch:\n  min_disparity: 5\n");
    start_daemon("--config", path_of("parallax.yaml"), "--set", "source.noise_levels=3.25");
    write_configuration("match:\n  min_disparity: 7\n");
    command_succeed(&command, "config");
    assert_non_null(strstr(command.out, "\n  noise_levels: 3.25\n"));
    assert_non_null(strstr(command.out, "\n  min_disparity: 5\n"));
    assert_non_null(strstr(command.out, "\n  disparities: 64\n"));
    write_text(daemon_.directory, "read-back.yaml", command.out); /* it is a configuration */
    command_free(&command);

    command_succeed(&command, "report", "--output", directory, "--config", path_of("parallax.yaml"));
    command_free(&command);
    assert_holds(directory, "configuration.yaml", "\n  noise_levels: 3.25\n");
    assert_holds(directory, "configuration.yaml", "\n  min_disparity: 5\n");
    assert_holds(directory, "configuration-file.yaml", "\n  min_disparity: 7\n");
    check_and_remove(directory);

    write_configuration(
        "source:\n  width: 320\n  height: 240\n  rate_hz: 15\nexposure:\n  target: 0.25\nmatch:\n  min_disparity: 5\n");
    kill(daemon_.pid, SIGHUP);
    const int64_t deadline = patience_end_ns();
    while (!strstr(daemon_said(&daemon_), "configuration reloaded") && plx_now_ns() < deadline)
        usleep(5000);
    command_succeed(&command, "config");
    assert_non_null(strstr(command.out, "\n  target: 0.25\n"));
    command_free(&command);
    write_configuration("nonsense: 1\n"); /* refused, and what was in force still is */
    kill(daemon_.pid, SIGHUP);
    while (!strstr(daemon_said(&daemon_), "configuration kept as it was") && plx_now_ns() < deadline)
        usleep(5000);
    command_succeed(&command, "config");
    assert_non_null(strstr(command.out, "\n  target: 0.25\n"));
    command_free(&command);
    stop_daemon();
    int code = system(PLX_BINARY_DIR "/bin/parallax config 2>/dev/null");
    assert_int_equal(WEXITSTATUS(code), PLX_EXIT_UNAVAILABLE);
    struct plx_config config;
    assert_int_equal(plx_config_load(path_of("read-back.yaml"), &config, NULL), 0);
    assert_true(config.source.noise == 3.25);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(running_service_is_told_of, start_scene, stop_scene),
        cmocka_unit_test(works_without_a_service),
        cmocka_unit_test(what_is_in_force_is_asked_from_the_service),
    };
    cli_begin();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    cli_end();
    return failed;
}
