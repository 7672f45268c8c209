/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a child of a test lives. */
#ifndef PLX_TESTS_CHILD_ALIVE_H
#define PLX_TESTS_CHILD_ALIVE_H

#include <signal.h>
#include <sys/wait.h>

#include "tests/cmocka.h"

/* Stops CHILD and lets it go on: a process that SIGKILL has reached is no longer stopped, but dead. */
static inline void expect_alive(pid_t child)
{
    int status;
    assert_int_equal(kill(child, SIGSTOP), 0);
    assert_int_equal(waitpid(child, &status, WUNTRACED), child);
    assert_true(WIFSTOPPED(status));
    assert_int_equal(kill(child, SIGCONT), 0);
}

#endif
