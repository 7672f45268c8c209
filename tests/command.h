/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the real `parallax` as a process of a test. */
#ifndef PLX_TESTS_COMMAND_H
#define PLX_TESTS_COMMAND_H

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/exec_as.h"

#define COMMAND_ARGS 24

struct command {
    pid_t pid;
    FILE *file[2]; /* what it writes on standard output and standard error goes here */
    int code;      /* exit code, or 128 + signal */
    char *out, *err;
};

/* ARGS end with NULL; the first is the subcommand. USER 0: as the test. */
static inline void command_begin(struct command *command, const char *const *args, uid_t user)
{
    static char name[] = "parallax";
    char *argv[COMMAND_ARGS + 2] = {name};
    for (int i = 0; i < COMMAND_ARGS && args[i]; i++)
        memcpy(&argv[i + 1], &args[i], sizeof args[i]); /* exec takes them without const, and does not write */
    memset(command, 0, sizeof *command);
    for (int i = 0; i < 2; i++)
        if (!(command->file[i] = tmpfile()))
            abort();
    command->pid = fork();
    if (command->pid < 0)
        abort();
    if (command->pid > 0)
        return;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails leaves nothing behind */
    dup2(fileno(command->file[0]), STDOUT_FILENO);
    dup2(fileno(command->file[1]), STDERR_FILENO);
    exec_as(user, PLX_BINARY_DIR "/bin/parallax", argv);
}

static inline char *command_text(FILE *file)
{
    long bytes = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : 0;
    char *text = calloc(1, (size_t)bytes + 1);
    rewind(file);
    if (!text || fread(text, 1, (size_t)bytes, file) != (size_t)bytes)
        abort();
    fclose(file);
    return text;
}

/* Waits for its end. */
static inline void command_end(struct command *command)
{
    int status;
    if (waitpid(command->pid, &status, 0) < 0)
        abort();
    command->code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    command->out = command_text(command->file[0]);
    command->err = command_text(command->file[1]);
}

static inline void command_free(struct command *command)
{
    free(command->out);
    free(command->err);
}

static inline void command_run(struct command *command, const char *const *args)
{
    command_begin(command, args, 0);
    command_end(command);
}

/* The same, and the test fails if the command does. */
#define command_succeed(command, ...)                                                                                          \
    do {                                                                                                                       \
        command_run(command, (const char *const[]){__VA_ARGS__, NULL});                                                        \
        if ((command)->code != 0)                                                                                              \
            fail_msg("exit code %d: %s", (command)->code, (command)->err);                                                     \
    } while (0)

#endif
