/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the flight recorder to keep the last seconds as a file; one request at a time, without waiting for the answer. */
#ifndef PLX_APP_WEB_SNAPSHOT_H
#define PLX_APP_WEB_SNAPSHOT_H

#include <systemd/sd-event.h>

#include "app/flight_recorder/request.h"
#include "core/base/text.h"

struct plx_web_snapshot {
    const char *socket; /* the recorder's socket; the caller's */
    sd_event *event;
    /* ANSWER: as struct plx_recorder_answer says; its text is clean. */
    void (*answered)(void *context, const struct plx_recorder_answer *answer);
    void *context;
    int fd; /* the request's connection; -1: none */
    sd_event_source *readable, *limit;
};

/* Asks for the last SECONDS. BUSY: another request has no answer yet; NOT_FOUND and others: no recorder answers, with a
 * sentence.
 */
int plx_web_snapshot_ask(struct plx_web_snapshot *snapshot, double seconds, struct plx_error_message *message);
void plx_web_snapshot_close(struct plx_web_snapshot *snapshot);

#endif
