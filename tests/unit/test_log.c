/* SPDX-License-Identifier: Apache-2.0 */
/* Logging to a standard error that nobody reads: never a wait, never half a line, and what was lost is said. */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/log.h"
#include "tests/cmocka.h"
#include "tests/patience.h"

#define LINES 20000 /* far more than a pipe or a socket holds */

static int go[2];   /* a byte: the reader has made room */
static int done[2]; /* a byte: all lines were written, or lost; the end: the writer was killed where it waited */

/* The body of a process whose standard error is FD. */
static _Noreturn void write_lines(int fd, bool open_first)
{
    char byte;

    alarm((unsigned)patience_ms() / 1000); /* kills it where it waits */
    dup2(fd, STDERR_FILENO);
    if (open_first)
        plx_log_open("parallaxd");
    for (int i = 0; i < LINES; i++)
        plx_log(LOG_NOTICE, "line %d", i);
    if (write(done[1], "", 1) != 1 || read(go[0], &byte, 1) != 1)
        _exit(2);
    plx_log(LOG_NOTICE, "the\nend");
    _exit(0);
}

/* Reads what is there, whole lines, into TEXT. */
static void read_all(int fd, char *text, size_t size)
{
    ssize_t bytes;
    size_t used = 0;

    fcntl(fd, F_SETFL, O_NONBLOCK);
    while (used < size - 1 && (bytes = read(fd, text + used, size - 1 - used)) > 0)
        used += (size_t)bytes;
    text[used] = '\0';
}

static void try(const int fd[2], bool open_first)
{
    static char text[1 << 20];
    char *line = text;
    int status, read_lines = 0, number;
    unsigned lost = 0;
    char byte;

    assert_int_equal(pipe(go), 0);
    assert_int_equal(pipe(done), 0);
    const pid_t writer = fork();
    assert_true(writer >= 0);
    if (writer == 0)
        write_lines(fd[1], open_first);
    close(done[1]);
    assert_int_equal(read(done[0], &byte, 1), 1); /* it has not waited, and the queue is full */
    assert_int_equal(fcntl(fd[1], F_GETFL) & O_NONBLOCK, 0);
    read_all(fd[0], text, sizeof text);
    for (; sscanf(line, "parallaxd: line %d\n", &number) == 1; line = strchr(line, '\n') + 1)
        assert_int_equal(number, read_lines++);
    assert_in_range(read_lines, 10, LINES - 1);
    assert_int_equal(write(go[1], "", 1), 1);
    assert_int_equal(waitpid(writer, &status, 0), writer);
    assert_int_equal(status, 0);
    read_all(fd[0], line, sizeof text - (size_t)(line - text));
    char *said = strstr(line, "parallaxd: "); /* a torn line may come first */
    assert_non_null(said);
    assert_int_equal(sscanf(said, "parallaxd: %u lines lost", &lost), 1);
    assert_int_equal(lost + (unsigned)read_lines, LINES);
    assert_non_null(strstr(said, "\nparallaxd: the?end\n"));
    close(go[0]);
    close(go[1]);
    close(done[0]);
    close(fd[0]);
    close(fd[1]);
}

static void a_pipe_that_nobody_reads(void **state)
{
    (void)state;
    int fd[2];
    assert_int_equal(pipe(fd), 0);
    try(fd, true);
}

/* As where the pipe is somebody else's and cannot be opened again. */
static void a_pipe_that_can_only_be_asked(void **state)
{
    (void)state;
    int fd[2];
    assert_int_equal(pipe(fd), 0);
    try(fd, false);
}

static void a_journal_that_does_not_read(void **state)
{
    (void)state;
    int fd[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
    try(fd, true);
}

static void a_file_keeps_its_position(void **state)
{
    (void)state;
    char path[] = "/tmp/plx-log-XXXXXX", text[64] = "";
    int fd = mkstemp(path), status;
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "before\n", 7), 7);
    const pid_t writer = fork();
    assert_true(writer >= 0);
    if (writer == 0) {
        dup2(fd, STDERR_FILENO);
        plx_log_open("parallaxd");
        plx_log(LOG_NOTICE, "after");
        _exit(0);
    }
    assert_int_equal(waitpid(writer, &status, 0), writer);
    assert_true(pread(fd, text, sizeof text - 1, 0) > 0);
    assert_string_equal(text, "before\nparallaxd: after\n");
    close(fd);
    unlink(path);
}

int main(void)
{
    unsetenv("JOURNAL_STREAM");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pipe_that_nobody_reads),
        cmocka_unit_test(a_pipe_that_can_only_be_asked),
        cmocka_unit_test(a_journal_that_does_not_read),
        cmocka_unit_test(a_file_keeps_its_position),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
