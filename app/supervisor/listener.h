/* SPDX-License-Identifier: Apache-2.0 */
/* A listening SOCK_SEQPACKET socket at a path that one daemon at a time may serve. */
#ifndef PLX_APP_SUPERVISOR_LISTENER_H
#define PLX_APP_SUPERVISOR_LISTENER_H

#include <sys/socket.h>
#include <sys/un.h>

#include "core/why.h"

struct plx_listener {
    struct sockaddr_un address;
    int lock, socket; /* -1: closed */
};

/* Takes the lock on PATH.lock, replaces a stale socket, binds, gives it to GROUP ("" or NULL: as it is) with mode 0660, and
 * listens without blocking. Errors: BUSY, PERMISSION, NOT_FOUND, RANGE, NOMEM, IO; then nothing is left behind but the lock
 * file. */
int plx_listener_open(const char *path, const char *group, struct plx_listener *ret_listener, struct plx_why *why);

/* Closes the descriptors and leaves the socket's file: what a forked process does. */
void plx_listener_close(struct plx_listener *listener);

/* Removes the socket's file, while the lock is held. The lock file stays: removed, it could be locked twice. */
void plx_listener_remove(const struct plx_listener *listener);

#endif
