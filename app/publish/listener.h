/* SPDX-License-Identifier: Apache-2.0 */
/* A listening SOCK_SEQPACKET socket at a path that one daemon at a time may serve. */
#ifndef PLX_APP_PUBLISH_LISTENER_H
#define PLX_APP_PUBLISH_LISTENER_H

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#include "core/base/text.h"

struct plx_listener {
    struct sockaddr_un address;
    gid_t group;      /* group of the socket's file; -1 = as it is */
    int lock, socket; /* -1: closed */
    dev_t device;     /* the socket's file */
    ino_t inode;      /* likewise */
};

/* Takes the lock on PATH.lock, replaces a stale socket, binds, gives it to GROUP ("" or NULL: unchanged) with mode 0660, and
 * listens without blocking. A socket that another process serves is not replaced: BUSY. Errors: BUSY, PERMISSION, NOT_FOUND,
 * RANGE, NOMEM, IO; then nothing is left behind but the lock file. */
int plx_listener_open(const char *path, const char *group, struct plx_listener *ret_listener,
                      struct plx_error_message *message);

/* Checks that the files at PATH and PATH.lock are still this listener's, and makes again what is not; also a socket that is
 * UNREACHABLE although its file is there. Connections stay open. Returns 0 if nothing changed, 1 if the socket is new. BUSY:
 * another daemon has the lock or listens there, and this one has lost the path. Other errors as plx_listener_open: nothing
 * changed, try again later. */
int plx_listener_repair(struct plx_listener *listener, bool unreachable, struct plx_error_message *message);

/* Closes the descriptors and leaves the socket's file, for a forked process. */
void plx_listener_close(struct plx_listener *listener);

/* Removes the socket's file if it is this listener's, while the lock is held. The lock file stays: two daemons could lock a
 * file that is removed and made again. */
void plx_listener_remove(const struct plx_listener *listener);

#endif
