/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The service's side of one client's connection (messages: include/parallax/region.h). Nothing here waits.
 * A client may say HELLO, then SUBSCRIBE and CONFIG, each once; whatever else it says ends the connection.
 */
#ifndef PLX_APP_SUPERVISOR_CLIENT_SESSION_H
#define PLX_APP_SUPERVISOR_CLIENT_SESSION_H

#include <stdbool.h>
#include <sys/socket.h>

#include "app/region/region.h"

struct plx_client_session {
    int fd; /* -1: no client */
    bool welcomed, subscribed, has_config;
    int64_t deadline_ns; /* to say HELLO */
    struct ucred peer;
};

/* What a client may be handed. */
struct plx_client_offer {
    struct plx_shared_region *region;
    int (*config)(void *context); /* the descriptor for CONFIG, or a plx_error; NULL = clients may not ask */
    void *context;
};

/* Reads and answers one message. False: the connection is to be dropped; *RET_FAULT says why, or is NULL if the client left. */
bool plx_client_session_receive(struct plx_client_session *session, const struct plx_client_offer *offer,
                                const char **ret_fault);

/* Tells a subscriber of frame SEQUENCE. False: the client is gone. A full queue is no fault: its descriptor polls readable
 * anyway. */
bool plx_client_session_send_frame(const struct plx_client_session *session, uint64_t sequence);

/* Refuses the connection SOCKET with ERROR, a plx_error. If the message does not arrive, the end of the connection does. */
void plx_client_session_refuse(int socket, int error);

#endif
