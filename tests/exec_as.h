/* SPDX-License-Identifier: Apache-2.0 */
/* Starts programs of the build in the child after fork. */
#ifndef PLX_TESTS_EXEC_AS_H
#define PLX_TESTS_EXEC_AS_H

#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

/* The emulator that starts a program of the build, "" for this machine. The tests of a cross build get it from CTest, because
 * the emulator of the test does not run the programs that the test starts. */
static inline const char *emulator(void)
{
    const char *words = getenv("PLX_EMULATOR");
    return words ? words : "";
}

/* As execv. Returns on failure only. */
static inline void exec_program(const char *path, char *const *argv)
{
    char text[4096], *word[64];
    int count = 0;

    if (!*emulator()) {
        execv(path, argv);
        return;
    }
    snprintf(text, sizeof text, "%s", emulator());
    for (char *next = strtok(text, " "); next && count < 16; next = strtok(NULL, " "))
        word[count++] = next;
    memcpy(&word[count++], &path, sizeof path); /* exec takes it without const, and does not write */
    while (count < 63 && *++argv)
        word[count++] = *argv;
    word[count] = NULL;
    execv(word[0], word);
}

/* USER 0: as the test. Another has no groups of the test's: after a login, root is a member of its own group. The file is
 * opened first: a build below a home directory is out of the other's reach. */
static inline _Noreturn void exec_as(uid_t user, const char *path, char *const *argv)
{
    const int program = open(path, O_RDONLY | O_CLOEXEC);
    if (program >= 0 && (user == 0 || (setgroups(0, NULL) == 0 && setgid(user) == 0 && setuid(user) == 0))) {
        if (*emulator())
            exec_program(path, argv);
        else
            fexecve(program, argv, environ);
    }
    _exit(127);
}

#endif
