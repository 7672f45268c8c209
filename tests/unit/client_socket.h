/* SPDX-License-Identifier: Apache-2.0 */
/* Fixture of the client library's tests: sockets that the test serves itself, and the checks of a refusal. */
#ifndef PLX_TESTS_UNIT_CLIENT_SOCKET_H
#define PLX_TESTS_UNIT_CLIENT_SOCKET_H

#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <parallax/client.h>

#include "tests/cmocka.h"
#include "tests/socket_folder.h"

/* An error, and nothing written where a client would have been. */
static inline void assert_refused(const char *socket_path, int error)
{
    struct plx_client *client = (struct plx_client *)&client;
    int result = plx_connect(socket_path, &client);
    if (result != error)
        fail_msg("%s: expected \"%s\", not \"%s\"", socket_path ? socket_path : "default socket", plx_strerror(error),
                 plx_strerror(result));
    assert_ptr_equal(client, &client);
}

/* A socket of this process at PATH: a service that the test plays itself, badly. */
static inline int listen_here(int type)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    unlink(path);
    int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(fd, 4), 0);
    return fd;
}

#endif
