/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the clients' places are shared, so that no peer takes all of them from the others:
 *   - a process holds at most PLX_CLIENTS_PER_PROCESS;
 *   - a user holds at most half of what the other users leave, so that even a user who forks without end leaves places, and the
 *     next one finds half of those. Root is exempt, and the service's own user: who can end the service need not crowd it out.
 * A peer is who called connect (SO_PEERCRED): handing the descriptor on changes no count, and a child counts as itself.
 */
#ifndef PLX_APP_SUPERVISOR_CLIENT_QUOTA_H
#define PLX_APP_SUPERVISOR_CLIENT_QUOTA_H

#include <sys/socket.h>
#include <sys/types.h>

/* More than any program of ours needs: a client belongs to one thread, and one client serves all that look at frames in it. */
#define PLX_CLIENTS_PER_PROCESS 8

struct plx_client_quota {
    int capacity;
    uid_t service; /* whose service it is */
    int taken, of_process, of_user;
};

/* Counts a place that OTHER holds, for a decision on PEER. */
void plx_client_quota_count(struct plx_client_quota *places, const struct ucred *peer, const struct ucred *other);

/* NULL if PEER may have a place now; else why not, static storage. */
const char *plx_client_quota_refusal(const struct plx_client_quota *places, const struct ucred *peer);

#endif
