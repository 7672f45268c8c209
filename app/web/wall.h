/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A measurement before a wall (docs/wall.md) by the frames of the feed: one at a time, whose request waits for its answer
 * meanwhile. It takes at most half of the loop's time, so that other viewers go on. It ends with the last frame, with its
 * visitor, or after 3 s without a fresh frame, as the command.
 */
#ifndef PLX_APP_WEB_WALL_H
#define PLX_APP_WEB_WALL_H

#include "app/evaluate/wall_measurement.h"
#include "app/web/connection.h"
#include "core/base/clock.h"

#define PLX_WEB_WALL_MAX_FRAMES 300

struct plx_web_wall {
    struct plx_web_connection *connection; /* waits for the answer; NULL: nothing is measured */
    bool head;                             /* the answer has no content */
    int frames, measured;
    int64_t heard_ns; /* CLOCK_MONOTONIC: the last frame, or the start */
    int64_t rest_ns;  /* likewise: takes no frame before */
    struct plx_wall_measurement measurement;
    struct plx_web_buffer *picture; /* PNG of the newest complete measurement; NULL: none yet */
};

/* Handles a request for /wall.json?frames=N&distance=M of CONNECTION: answers what cannot be measured, such as numbers out of
 * range, or a service that is not UP, at once. */
void plx_web_wall_start(struct plx_web_wall *wall, struct plx_web_connection *connection, bool head, const char *query,
                        bool up);

/* Whether the next frame is needed whole. */
bool plx_web_wall_wants_frame(const struct plx_web_wall *wall);

/* Adds FRAME, a whole copy; the last one answers the request. Does nothing where nothing is measured. */
void plx_web_wall_add(struct plx_web_wall *wall, struct plx_frame *frame);

/* Every second: ends a measurement without frames. */
void plx_web_wall_check(struct plx_web_wall *wall, int64_t now_ns);

/* {"measured", "frames"}, the caller's; NULL: nothing is measured. */
cJSON *plx_web_wall_progress(const struct plx_web_wall *wall);

/* CONNECTION is about to be destroyed: ends its measurement, if it has one. */
void plx_web_wall_forget(struct plx_web_wall *wall, const struct plx_web_connection *connection);

void plx_web_wall_close(struct plx_web_wall *wall); /* all zeros is fine */

#endif
