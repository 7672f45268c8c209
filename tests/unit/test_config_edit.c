/* SPDX-License-Identifier: Apache-2.0 */
/* A key that is changed in a file of a person's hand: the new value is there, and every other byte is as it was. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <parallax/error.h>

#include "config/config.h"
#include "tests/cmocka.h"

static char path[] = "/tmp/plx-edit-XXXXXX";

static int begin(void **state)
{
    (void)state;
    const int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int end(void **state)
{
    (void)state;
    return unlink(path);
}

static void write_text(const char *text)
{
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0 && fclose(file) == 0);
}

static const char *read_text(void)
{
    static char text[1024];
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

static void only_the_value_changes(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"calibration: none\n", "calibration: \"/a b/c.yaml\"\n"},
        {"calibration: none # later\nbackend: cpu\n", "calibration: \"/a b/c.yaml\" # later\nbackend: cpu\n"},
        {"calibration: none\t# later\n", "calibration: \"/a b/c.yaml\"\t# later\n"},
        {"calibration: none \t \n", "calibration: \"/a b/c.yaml\" \t \n"},
        {"# höher # größer\n\"calibration\":   'a#b''c'   # é\n",
         "# höher # größer\n\"calibration\":   \"/a b/c.yaml\"   # é\n"},
        {"calibration: \"a\\\"b\"\r\nbackend: cpu\r\n", "calibration: \"/a b/c.yaml\"\r\nbackend: cpu\r\n"},
        {"backend: cpu", "backend: cpu\ncalibration: \"/a b/c.yaml\"\n"},
        {"", "calibration: \"/a b/c.yaml\"\n"},
        {"# nothing\n", "# nothing\ncalibration: \"/a b/c.yaml\"\n"},
    };
    struct plx_error_message message = {""};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_text(cases[i][0]);
        if (plx_config_edit(path, "calibration", "/a b/c.yaml", &message) < 0)
            fail_msg("%s: %s", cases[i][0], message.text);
        assert_string_equal(read_text(), cases[i][1]);
    }
}

/* What cannot be changed without changing more stays, and so do rights. */
static void nothing_is_lost(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "calibration: |\n  none\n", /* in lines of its own */
        "{calibration: none, backend: cpu}\n",
        "{backend: cpu}\n",                    /* no line can follow */
        "backend: cpu\n...\n",                 /* likewise */
        "calibration: [none]\n",               /* wrong before */
        "calibration: none\nbackend: steam\n", /* likewise */
    };
    struct plx_error_message message;
    struct stat file;
    char fresh[64];
    snprintf(fresh, sizeof fresh, "%s.new", path);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_text(cases[i]);
        assert_true(plx_config_edit(path, "calibration", "/c.yaml", &message) < 0);
        assert_string_equal(read_text(), cases[i]);
        assert_int_equal(access(fresh, F_OK), -1);
    }
    write_text("calibration: none\n");
    assert_int_equal(plx_config_edit(path, "calibration", "a\"b", &message), PLX_ERR_ARG);
    assert_int_equal(plx_config_edit("/nowhere/at/all", "calibration", "a", &message), PLX_ERR_NOT_FOUND);
    assert_int_equal(chmod(path, 0640), 0);
    assert_int_equal(plx_config_edit(path, "calibration", "/c.yaml", &message), 0);
    assert_int_equal(stat(path, &file), 0);
    assert_int_equal(file.st_mode & 07777, 0640);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_the_value_changes),
        cmocka_unit_test(nothing_is_lost),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
