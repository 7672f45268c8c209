/* SPDX-License-Identifier: Apache-2.0 */
#include "app/exit.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <parallax/error.h>

#include "core/base/text.h"

int plx_exit_code(int error)
{
    static const int exit_code[] = {
        [-PLX_OK] = PLX_EXIT_OK,
        [-PLX_ERR_ARG] = PLX_EXIT_FAILURE,
        [-PLX_ERR_NOMEM] = PLX_EXIT_OS,
        [-PLX_ERR_IO] = PLX_EXIT_IO,
        [-PLX_ERR_NOT_FOUND] = PLX_EXIT_NO_INPUT,
        [-PLX_ERR_FORMAT] = PLX_EXIT_DATA,
        [-PLX_ERR_RANGE] = PLX_EXIT_CONFIG,
        [-PLX_ERR_UNSUPPORTED] = PLX_EXIT_CONFIG,
        [-PLX_ERR_PERMISSION] = PLX_EXIT_PERMISSION,
        [-PLX_ERR_BUSY] = PLX_EXIT_BUSY,
        [-PLX_ERR_TIMEOUT] = PLX_EXIT_UNAVAILABLE,
        [-PLX_ERR_END] = PLX_EXIT_OK,
        [-PLX_ERR_LOST] = PLX_EXIT_UNAVAILABLE,
        [-PLX_ERR_VERSION] = PLX_EXIT_UNAVAILABLE,
        [-PLX_ERR_OVERWRITTEN] = PLX_EXIT_FAILURE,
        [-PLX_ERR_BLIND] = PLX_EXIT_UNAVAILABLE,
    };
    if (error > 0 || error < PLX_ERR_BLIND)
        return PLX_EXIT_FAILURE;
    return exit_code[-error];
}

int plx_exit_error(const char *program, int exit_code, const char *format, ...)
{
    char text[1024];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    plx_clean_text(text); /* the name of a file may hold a newline */
    fprintf(stderr, "%s: %s\n", program, text);
    return exit_code;
}

void plx_exit_allow_closed_pipe(void)
{
    signal(SIGPIPE, SIG_IGN);
}

bool plx_exit_flush_output(void)
{
    return fflush(stdout) == 0 && !ferror(stdout);
}

bool plx_exit_reader_is_gone(void)
{
    struct pollfd output = {.fd = STDOUT_FILENO};
    struct stat status;
    if (fstat(STDOUT_FILENO, &status) < 0 || !(S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode)))
        return false; /* files and devices have no reader */
    return poll(&output, 1, 0) > 0 && (output.revents & (POLLERR | POLLHUP)) != 0;
}

static void check_output(int exit_code, void *nothing)
{
    (void)nothing;
    if (plx_exit_flush_output() || plx_exit_reader_is_gone())
        return;
    plx_exit_error(program_invocation_short_name, 0, "cannot write the output: %s", strerror(errno));
    if (exit_code == PLX_EXIT_OK)
        _exit(PLX_EXIT_IO);
}

void plx_exit_check_output(void)
{
    on_exit(check_output, NULL);
}
