/* SPDX-License-Identifier: Apache-2.0 */
/* A program as another user, in the child after fork. */
#ifndef PLX_TESTS_EXEC_AS_H
#define PLX_TESTS_EXEC_AS_H

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

/* USER 0: as the test. The file is opened first: a build below a home directory is out of the other's reach. */
static inline _Noreturn void exec_as(uid_t user, const char *path, char *const *argv)
{
    const int program = open(path, O_RDONLY | O_CLOEXEC);
    if (program >= 0 && (user == 0 || (setgid(user) == 0 && setuid(user) == 0)))
        fexecve(program, argv, environ);
    _exit(127);
}

#endif
