/* SPDX-License-Identifier: Apache-2.0 */
/* Which socket the programs that read the service choose: --set, else $PARALLAX_SOCKET, else the configuration's. */
#include "app/service_config.h"

#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "tests/cmocka.h"
#include "tests/unit/files.h"

static struct plx_config config;
static struct plx_error_message message;

/* Reads a file that names /from/file, with $PARALLAX_SOCKET CHOSEN and the option --set ASSIGNMENT; NULL: without. */
static int read_config(const char *chosen, const char *assignment)
{
    char text[64] = "";
    struct plx_option_list assignments = {.item = {text}, .count = assignment ? 1 : 0};

    if (chosen)
        setenv("PARALLAX_SOCKET", chosen, 1);
    else
        unsetenv("PARALLAX_SOCKET");
    snprintf(text, sizeof text, "%s", assignment ? assignment : "");
    files_text("c.yaml", "publish: {socket: /from/file, slots: 9}\n");
    memset(&config, 0, sizeof config);
    return plx_service_config_read(files_path("c.yaml"), &assignments, &config, &message);
}

static void the_command_line_wins_over_the_environment_and_that_over_the_file(void **state)
{
    (void)state;
    static const struct {
        const char *chosen, *assignment, *expected;
    } rows[] = {
        {NULL, NULL, "/from/file"},
        {"", NULL, "/from/file"},
        {"/from/environment", NULL, "/from/environment"},
        {"/from/environment", "publish.group=video", "/from/environment"},
        {"/from/environment", "publish.socket=/from/line", "/from/line"},
        {NULL, "publish.socket=/from/line", "/from/line"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(read_config(rows[i].chosen, rows[i].assignment), 0);
        assert_string_equal(config.publish.socket, rows[i].expected);
        assert_int_equal(config.publish.slots, 9);
    }
}

static void a_path_that_is_too_long_is_refused(void **state)
{
    (void)state;
    char path[256] = "/";
    memset(path + 1, 'a', sizeof config.publish.socket - 1);
    assert_int_equal(read_config(path, NULL), PLX_ERR_RANGE);
    assert_non_null(strstr(message.text, "$PARALLAX_SOCKET has 108 bytes"));
    assert_int_equal(config.publish.slots, 0); /* untouched */
    path[sizeof config.publish.socket - 1] = '\0';
    assert_int_equal(read_config(path, NULL), 0);
    assert_string_equal(config.publish.socket, path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_command_line_wins_over_the_environment_and_that_over_the_file, files_begin,
                                        files_end),
        cmocka_unit_test_setup_teardown(a_path_that_is_too_long_is_refused, files_begin, files_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
