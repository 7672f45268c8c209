/* SPDX-License-Identifier: Apache-2.0 */
/* The service as the server sees it: its newest frame, its state, its rates. For the thread of the event loop. */
#ifndef PLX_APP_WEB_FEED_H
#define PLX_APP_WEB_FEED_H

#include <stdbool.h>

#include <systemd/sd-event.h>

#include "app/view/status.h"

/* Who receives frames and states. */
struct plx_web_audience {
    bool (*wants_frame)(void *context); /* somebody will take the next frame whole */
    void (*frame)(void *context);       /* plx_web_feed.frame is a new one */
    /* Five times a second, with a service or without: the state is that of now. The rates are new where IS_SECOND. */
    void (*state)(void *context, bool is_second);
    void *context;
};

struct plx_web_feed {
    const char *socket; /* the caller's */
    const struct plx_web_audience *audience;
    struct plx_client *client; /* NULL: no service yet */
    sd_event *event;
    sd_event_source *readable, *timer;
    struct plx_frame *frame; /* a whole copy of the last frame that was wanted; NULL: none yet */
    size_t capacity;
    struct plx_frame_stats stats; /* this second, so far */
    struct plx_status status;     /* present status; its stats are those of the last whole second */
    unsigned states;              /* reported so far */
    bool is_logged;               /* the log has said whether the service is there */
};

/* Begins to look for the service. AUDIENCE outlives the feed. NOMEM. */
int plx_web_feed_open(struct plx_web_feed *feed, const char *socket, sd_event *event, const struct plx_web_audience *audience);
void plx_web_feed_close(struct plx_web_feed *feed); /* all zeros is fine */

#endif
