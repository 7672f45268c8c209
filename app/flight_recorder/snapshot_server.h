/* SPDX-License-Identifier: Apache-2.0 */
/* The recorder's socket: takes one request at a time and never waits; others stay in the queue of the socket meanwhile.
 * Connections that say nothing hold up nobody. */
#ifndef PLX_APP_FLIGHT_RECORDER_SNAPSHOT_SERVER_H
#define PLX_APP_FLIGHT_RECORDER_SNAPSHOT_SERVER_H

#include <stdbool.h>

#include "app/flight_recorder/request.h"
#include "app/publish/listener.h"

#define PLX_SILENT_PEERS 8 /* connections that have not asked yet; another one replaces the oldest */

struct plx_snapshot_server {
    struct plx_listener listener;
    int poll_fd; /* an epoll descriptor: the listener and the silent connections */
    struct plx_silent_peer {
        int fd; /* 0: none */
        int64_t begun_ns;
    } silent[PLX_SILENT_PEERS];
    int fd;           /* the connection that asked; -1: none */
    bool has_request; /* its request is RANGE_NS, and has no answer yet */
    int64_t range_ns;
};

/* Serves the socket at PATH. Errors of plx_listener_open; NOMEM. */
int plx_snapshot_server_open(struct plx_snapshot_server *server, const char *path, struct plx_error_message *message);
void plx_snapshot_server_close(struct plx_snapshot_server *server);

/* The descriptor to poll for reading before plx_snapshot_server_receive; -1: nothing is to come now. */
int plx_snapshot_server_fd(const struct plx_snapshot_server *server);

/* Takes connections and a request, if one is there, and sets HAS_REQUEST. Drops a connection that says anything else, or
 * nothing for a second. */
void plx_snapshot_server_receive(struct plx_snapshot_server *server);

/* Answers the request and ends the connection. The magic and the version are filled in. */
void plx_snapshot_server_answer(struct plx_snapshot_server *server, struct plx_recorder_answer *answer);

#endif
