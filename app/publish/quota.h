/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a client may connect, by the connections that its process and its user hold. */
#ifndef PLX_APP_PUBLISH_QUOTA_H
#define PLX_APP_PUBLISH_QUOTA_H

#include <sys/socket.h>
#include <sys/types.h>

/* More than any program of ours needs: a client belongs to one thread, and one client serves all threads that read frames. */
#define PLX_CLIENTS_PER_PROCESS 8

/*
 * The limits that keep one peer from taking all connections:
 *   - a process holds at most PLX_CLIENTS_PER_PROCESS;
 *   - a user holds at most half of what the other users leave. A user who forks without end leaves connections to others, and
 *     the next user finds half of those. Root and the service's own user are exempt: they can end the service anyway.
 * A peer is the process that called connect (SO_PEERCRED): passing the descriptor on changes no count, and a child counts for
 * itself.
 */
struct plx_client_quota {
    int capacity;
    uid_t service; /* the user that runs the service */
    int taken, of_process, of_user;
};

/* Counts a connection that OTHER holds, for a decision on PEER. */
void plx_client_quota_count(struct plx_client_quota *quota, const struct ucred *peer, const struct ucred *other);

/* NULL if PEER may connect now; else the reason, static storage. */
const char *plx_client_quota_refusal(const struct plx_client_quota *quota, const struct ucred *peer);

#endif
