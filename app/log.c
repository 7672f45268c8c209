/* SPDX-License-Identifier: Apache-2.0 */
#include "app/log.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/text.h"

/* The output of all lines. Before plx_log_open: the inherited standard error. */
static struct {
    const char *program;
    int fd;
    bool is_socket;  /* the journal's: send has MSG_DONTWAIT */
    bool is_private; /* an open file description of this program alone, which does not block */
    bool is_torn;    /* the last line was written in part: the next one begins with a newline */
    unsigned lost;   /* lines since the last written one */
} output = {.program = "parallaxd", .fd = STDERR_FILENO};

static struct {
    void (*copy)(void *context, int level, const char *line);
    void *context;
} copier;

void plx_log_copy(void (*copy)(void *context, int level, const char *line), void *context)
{
    copier.copy = copy;
    copier.context = context;
}

void plx_log_open(const char *program)
{
    struct stat info;

    output.program = program;
    if (fstat(STDERR_FILENO, &info) < 0)
        return;
    output.is_socket = S_ISSOCK(info.st_mode);
    if (!S_ISFIFO(info.st_mode) && !S_ISCHR(info.st_mode))
        return;
    /* A description of its own: O_NONBLOCK on the inherited one would apply to every process that shares it, for example the
     * shell. A file keeps the inherited description, for its position and O_APPEND. */
    const int fd = open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0) /* a pipe of another user */
        return;
    output.fd = fd;
    output.is_private = true;
}

static bool has_room(void)
{
    struct pollfd writable = {.fd = output.fd, .events = POLLOUT};
    return poll(&writable, 1, 0) != 0; /* true also after a failure: the write reports it without waiting */
}

/* Never waits; false if LINE was lost. For a pipe without a private description, poll promises room for PIPE_BUF bytes, and a
 * line is shorter. */
static bool put(const char *line, size_t bytes)
{
    ssize_t written;

    do {
        if (output.is_socket)
            written = send(output.fd, line, bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
        else if (output.is_private || has_room())
            written = write(output.fd, line, bytes);
        else
            return false;
    } while (written < 0 && errno == EINTR);
    if (written > 0)
        output.is_torn = written < (ssize_t)bytes;
    return written == (ssize_t)bytes;
}

static bool put_line(int level, const char *text)
{
    char line[1200];
    const char *newline = output.is_torn ? "\n" : "";
    const int length = getenv("JOURNAL_STREAM") ? snprintf(line, sizeof line, "%s<%d>%s\n", newline, level, text)
                                                : snprintf(line, sizeof line, "%s%s: %s\n", newline, output.program, text);
    return put(line, (size_t)length);
}

void plx_log_flush(void)
{
    char text[128];

    if (output.lost == 0)
        return;
    snprintf(text, sizeof text, "%u lines lost: nobody read standard error", output.lost);
    if (put_line(LOG_WARNING, text))
        output.lost = 0;
}

void plx_log(int level, const char *format, ...)
{
    char text[1024];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    plx_clean_text(text); /* in any case: the name of a device may hold a newline */
    if (copier.copy)
        copier.copy(copier.context, level, text);
    plx_log_flush();
    if (output.lost > 0 || !put_line(level, text))
        output.lost++;
}
