/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A page that looks: which planes it wants, and how many frames are on their way to it. It acknowledges each frame, so a slow
 * one gets the newest frame and none of those in between. Its messages are JSON:
 *   {"show": ["left", ...], "compact": false}   what it wants to see from now on
 *   {"ack": SEQUENCE}                           a frame is shown
 *   {"pixel": [X, Y], "id": N}                  what is there? -> {"pixel": [X, Y], "id": N, "disparity_px", "point_m": [x, y,
 * z]}
 *   {"ping": ANYTHING}                          -> {"pong": ANYTHING, "now_ms": wall clock}; what comes after the answer is
 *                                               newer than the ping: so the page knows how old it may be
 */
#ifndef PLX_APP_WEB_VIEWER_H
#define PLX_APP_WEB_VIEWER_H

#include "app/web/connection.h"
#include "app/web/feed.h"
#include "app/web/packet.h"

#define PLX_WEB_SLOW_BYTES_PER_S 2500000 /* what a compact viewer gets at most */

struct plx_web_viewer {
    struct plx_web_want want;
    int on_way;        /* frames sent, without an acknowledgement */
    int64_t credit_ns; /* a compact viewer gets no frame before */
};

/* Handles MESSAGE, a JSON text of the page. False: it is none. */
bool plx_web_viewer_message(struct plx_web_viewer *viewer, struct plx_web_connection *connection,
                            const struct plx_web_feed *feed, const char *message);

/* True if the next frame is for VIEWER. */
bool plx_web_viewer_wants(const struct plx_web_viewer *viewer, const struct plx_web_connection *connection);

/* Notes that BUFFER, a frame, was sent. */
void plx_web_viewer_sent(struct plx_web_viewer *viewer, const struct plx_web_buffer *buffer);

#endif
