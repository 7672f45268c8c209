/* SPDX-License-Identifier: Apache-2.0 */
/* The recorder's socket: takes one request at a time and never waits; others stay in the queue of the socket meanwhile. */
#ifndef PLX_APP_RECORDER_ASKER_H
#define PLX_APP_RECORDER_ASKER_H

#include <stdbool.h>

#include "app/recorder/request.h"
#include "app/supervisor/listener.h"

struct plx_asker {
    struct plx_listener listener;
    int fd;     /* of the connection; -1: none */
    bool asked; /* its request is RANGE_NS, and has no answer yet */
    int64_t range_ns;
    int64_t begun_ns; /* of the connection */
};

/* Serves the socket at PATH. Errors of plx_listener_open. */
int plx_asker_open(struct plx_asker *asker, const char *path, struct plx_error_message *message);
void plx_asker_close(struct plx_asker *asker);

/* The descriptor to poll for reading before plx_asker_receive; -1: nothing is to come now. */
int plx_asker_fd(const struct plx_asker *asker);

/* Takes a connection or its request, if one is there, and sets ASKED. Drops a connection that says anything else, or nothing
 * for a second. */
void plx_asker_receive(struct plx_asker *asker);

/* Answers the request and ends the connection. The magic and the version are filled in. */
void plx_asker_answer(struct plx_asker *asker, struct plx_recorder_answer *answer);

#endif
