/* SPDX-License-Identifier: Apache-2.0 */
/* --version prints commit, compiler, processor and CUDA, the same for both programs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka.h"
#include "tests/exec_as.h"

/* The output of PROGRAM and its arguments, in static storage that the next call for the same SLOT overwrites. */
static const char *said(int slot, const char *launcher, const char *program)
{
    static char text[2][1024];
    char command[4096];
    snprintf(command, sizeof command, "%s %s", launcher, program);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    text[slot][fread(text[slot], 1, sizeof text[slot] - 1, pipe)] = '\0';
    assert_int_equal(pclose(pipe), 0);
    return text[slot];
}

static void test_both_programs_say_the_same(void **state)
{
    (void)state;
    const char *service = said(0, emulator(), PLX_BINARY_DIR "/bin/parallaxd --version");
    const char *command = said(1, emulator(), PLX_BINARY_DIR "/bin/parallax --version");
    assert_memory_equal(service, "parallaxd 0.", 12);
    assert_memory_equal(command, "parallax 0.", 11);
    assert_string_equal(strchr(service, ' '), strchr(command, ' '));
    for (const char *const *word =
             (const char *const[]){"\ncommit     ", "\ncompiler   ", "\nprocessor  ", "\nCUDA       ", NULL};
         *word; word++) {
        const char *line = strstr(service, *word);
        assert_non_null(line);
        assert_true(strcspn(line + strlen(*word), "\n") > 2);
    }
#ifdef __x86_64__
    assert_non_null(strstr(service, "\nprocessor  x86_64, generic avx2 avx512\n"));
#elif defined __aarch64__
    assert_non_null(strstr(service, "\nprocessor  aarch64, generic neon\n"));
#endif
}

/* The commit is the newest one, where there is git. */
static void test_commit(void **state)
{
    (void)state;
    if (getenv("PLX_COMMIT"))
        skip();
    const char *head = said(1, "", "git -C " PLX_SOURCE_DIR " rev-parse --short=12 HEAD 2>/dev/null || true");
    if (strlen(head) < 12)
        skip();
    char line[64];
    snprintf(line, sizeof line, "\ncommit     %.12s", head);
    assert_non_null(strstr(said(0, emulator(), PLX_BINARY_DIR "/bin/parallaxd --version"), line));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_programs_say_the_same),
        cmocka_unit_test(test_commit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
