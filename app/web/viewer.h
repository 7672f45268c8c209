/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A page that looks: which planes it wants, and how many frames are on their way to it. It acknowledges each frame, so a slow
 * one gets the newest frame and none of those in between. Its messages are JSON:
 *   {"show": ["left", ...], "compact": false}   what it wants to see from now on
 *   {"ack": SEQUENCE}                           a frame is shown
 *   {"pixel": [X, Y], "id": N}                  what is there? -> {"pixel": [X, Y], "id": N, "disparity_px", "point_m": [x, y,
 * z]}
 *   {"boxes": [[X, Y, WIDTH, HEIGHT], ...]}     where are the things in these boxes of the left picture? Before each frame from
 *                                               now on comes its {"located": {"sequence", "boxes": [...]}} (app/web/boxes.h);
 *                                               [] ends that. {"refused": words}: the boxes are not as expected, and those
 *                                               before still count
 *   {"ping": ANYTHING}                          -> {"pong": ANYTHING, "now_ms": wall clock}; what comes after the answer is
 *                                               newer than the ping: so the page knows how old it may be
 *   {"keep": SECONDS}                           the flight recorder writes the last seconds -> {"kept": {"name", "pairs"}}, or
 *                                               {"kept": {"error"}}
 * It hears {"service": as `parallax status --json`, "rates": whether they are new} five times a second, with "wall":
 * {"measured", "frames"} while somebody measures (app/web/wall.h).
 */
#ifndef PLX_APP_WEB_VIEWER_H
#define PLX_APP_WEB_VIEWER_H

#include "app/web/peer.h"

#define PLX_WEB_SLOW_BYTES_PER_S 2500000 /* what a compact viewer gets at most */

extern const struct plx_web_peer_ops plx_web_viewer_ops;

/* Tells the page at CONNECTION what the flight recorder answered to its request. */
void plx_web_viewer_tell_snapshot(struct plx_web_connection *connection, const struct plx_recorder_answer *answer);

#endif
