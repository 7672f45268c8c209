/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One client: whether it may connect, and the service's side of its connection (messages: include/parallax/shm.h).
 * Nothing here waits. A client may send HELLO, then SUBSCRIBE and CONFIG, each once, and HINT; any other message ends the
 * connection.
 */
#ifndef PLX_APP_PUBLISH_CLIENT_H
#define PLX_APP_PUBLISH_CLIENT_H

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "app/publish/shm.h"

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

struct plx_client_session {
    int fd; /* -1: no client */
    bool welcomed, subscribed, has_config, may_not_hint;
    int64_t deadline_ns; /* for its HELLO */
    struct ucred peer;
};

/* What a client may receive. */
struct plx_client_offer {
    struct plx_shm *shm;
    int (*config)(void *context); /* the descriptor for CONFIG, or a plx_error; NULL = clients may not ask */
    int (*hint)(void *context, const struct plx_motion_hint *hint); /* a valid HINT; 0 or BUSY; NULL = nobody may */
    uid_t hint_user;                                                /* who may */
    void *context;
};

/* Reads and answers one message. False: the caller drops the connection; *RET_FAULT is the reason, or NULL if the client left.
 */
bool plx_client_session_receive(struct plx_client_session *session, const struct plx_client_offer *offer,
                                const char **ret_fault);

/* Tells a subscriber of frame SEQUENCE. False: the client is gone. A full queue is no fault: its descriptor polls readable
 * anyway. */
bool plx_client_session_send_frame(const struct plx_client_session *session, uint64_t sequence);

/* Refuses the connection SOCKET with ERROR, a plx_error. A client that does not get the message sees the connection end. */
void plx_client_session_refuse(int socket, int error);

#endif
