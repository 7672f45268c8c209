/* SPDX-License-Identifier: Apache-2.0 */
/* The recorder's socket: takes one request at a time and never waits; others stay in the queue of the socket meanwhile.
 * Connections that say nothing hold up nobody. */
#ifndef PLX_APP_RECORDER_ASKER_H
#define PLX_APP_RECORDER_ASKER_H

#include <stdbool.h>

#include "app/publish/listener.h"
#include "app/recorder/request.h"

#define PLX_ASKER_SILENT 8 /* connections that have not asked yet; another one replaces the oldest */

struct plx_asker {
    struct plx_listener listener;
    int poll_fd; /* an epoll descriptor: the listener and the silent connections */
    struct plx_asker_silent {
        int fd; /* 0: none */
        int64_t begun_ns;
    } silent[PLX_ASKER_SILENT];
    int fd;     /* of the connection that asked; -1: none */
    bool asked; /* its request is RANGE_NS, and has no answer yet */
    int64_t range_ns;
};

/* Serves the socket at PATH. Errors of plx_listener_open; NOMEM. */
int plx_asker_open(struct plx_asker *asker, const char *path, struct plx_error_message *message);
void plx_asker_close(struct plx_asker *asker);

/* The descriptor to poll for reading before plx_asker_receive; -1: nothing is to come now. */
int plx_asker_fd(const struct plx_asker *asker);

/* Takes connections and a request, if one is there, and sets ASKED. Drops a connection that says anything else, or nothing for
 * a second. */
void plx_asker_receive(struct plx_asker *asker);

/* Answers the request and ends the connection. The magic and the version are filled in. */
void plx_asker_answer(struct plx_asker *asker, struct plx_recorder_answer *answer);

#endif
