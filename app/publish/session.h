/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The service's side of the connection of one client (messages: include/parallax/shm.h). Nothing here waits. A client may send
 * HELLO, then SUBSCRIBE and CONFIG, each once, and HINT; any other message ends the connection.
 */
#ifndef PLX_APP_PUBLISH_SESSION_H
#define PLX_APP_PUBLISH_SESSION_H

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "app/publish/shm.h"

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
