/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which user of this machine is at the other end of a TCP connection, and whether that user may open the service's socket: the
 * loopback alone tells nobody apart. Linux lists the owner of each TCP socket in /proc/net/tcp and tcp6
 * (Documentation/networking/proc_net_tcp.rst).
 */
#ifndef PLX_APP_WEB_LOCAL_USER_H
#define PLX_APP_WEB_LOCAL_USER_H

#include <stdbool.h>
#include <sys/types.h>

/* The user who owns the other end of the TCP connection FD. False: it is not of this machine, or not open any more. */
bool plx_local_user(int fd, uid_t *ret_user);

/* True if USER may open the Unix socket PATH: root, its owner, its group, or others, as its mode has it. Without the socket:
 * root, this process's user, and the members of GROUP ("": none). */
bool plx_local_user_may_open(const char *path, const char *group, uid_t user);

#endif
