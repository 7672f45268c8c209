/* SPDX-License-Identifier: Apache-2.0 */
/* Exit codes of parallaxd and parallax: sysexits(3) where it has a fitting one. docs/exit-codes.md is the table for users. */
#ifndef PLX_APP_EXIT_H
#define PLX_APP_EXIT_H

#include <stdbool.h>
#include <sysexits.h>

enum plx_exit {
    PLX_EXIT_OK = 0,
    PLX_EXIT_FAILURE = 1,                  /* an internal error; selftest, doctor: something is bad */
    PLX_EXIT_SLOW = 2,                     /* parallax verdict: slow */
    PLX_EXIT_STOP = 3,                     /* parallax verdict: stop */
    PLX_EXIT_DOUBT = 4,                    /* parallax doctor: nothing is bad, but something is doubtful or unknown */
    PLX_EXIT_USAGE = EX_USAGE,             /* 64: wrong arguments */
    PLX_EXIT_DATA = EX_DATAERR,            /* 65: a file is damaged or does not fit (size, format) */
    PLX_EXIT_NO_INPUT = EX_NOINPUT,        /* 66: a file or directory is missing */
    PLX_EXIT_UNAVAILABLE = EX_UNAVAILABLE, /* 69: no service to talk to, or it went away */
    PLX_EXIT_OS = EX_OSERR,                /* 71: out of memory, processes, descriptors */
    PLX_EXIT_CANNOT_WRITE = EX_CANTCREAT,  /* 73: an output file cannot be made */
    PLX_EXIT_IO = EX_IOERR,                /* 74 */
    PLX_EXIT_BUSY = EX_TEMPFAIL,           /* 75: another daemon runs here */
    PLX_EXIT_PERMISSION = EX_NOPERM,       /* 77 */
    PLX_EXIT_CONFIG = EX_CONFIG            /* 78: configuration or calibration; systemd does not restart */
};

/* The exit code for a plx_error that ends the program. */
int plx_exit_code(int error);

/* Prints `PROGRAM: ...` as one line on standard error and returns EXIT_CODE. */
int plx_exit_error(const char *program, int exit_code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* From now on the program fails with PLX_EXIT_IO if its standard output could not be written, for example to a full disk. */
void plx_exit_check_output(void);

/* For commands that write until somebody stops them: from now on the program ignores SIGPIPE. */
void plx_exit_allow_closed_pipe(void);

/* Flushes standard output. False if it cannot be written: the command then ends with PLX_EXIT_OK. That stays its exit code if
 * the reader has closed the pipe, as `head -1` does. */
bool plx_exit_flush_output(void);

/* The reader of standard output has closed the pipe. */
bool plx_exit_reader_is_gone(void);

#endif
