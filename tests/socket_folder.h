/* SPDX-License-Identifier: Apache-2.0 */
/* Fixture: a socket's path in a folder of this test's own. */
#ifndef PLX_TESTS_SOCKET_FOLDER_H
#define PLX_TESTS_SOCKET_FOLDER_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char directory[] = "/tmp/plx-socket-XXXXXX";
static char path[64]; /* path of the socket in it */

static inline int set_up(void **state)
{
    (void)state;
    if (!mkdtemp(directory))
        return -1;
    snprintf(path, sizeof path, "%s/socket", directory);
    return 0;
}

/* Fails if the socket, or another file but its lock, was left behind. */
static inline int tear_down(void **state)
{
    (void)state;
    char lock[80];
    snprintf(lock, sizeof lock, "%s.lock", path);
    unlink(lock);
    return rmdir(directory);
}

#endif
