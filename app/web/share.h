/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many connections one viewer may hold, so that another one always finds some. A viewer is a user of this machine, or an
 * address beyond it: all connections that have passed the checks under one name (plx_web_connection.viewer).
 */
#ifndef PLX_APP_WEB_SHARE_H
#define PLX_APP_WEB_SHARE_H

#include "app/web/connection.h"
#include "core/base/text.h"

#define PLX_WEB_MAX_CONNECTIONS 64

/* How many of LEFT connections, which other viewers leave, one viewer may hold: WebSockets last, so they leave some of these to
 * the viewer's own requests. */
static inline int plx_web_share(int left, bool is_socket)
{
    return is_socket ? (left + 1) / 2 : (3 * left + 3) / 4;
}

/* Writes the viewer's name into connection->viewer. */
void plx_web_name_viewer(struct plx_web_connection *connection);

/* 0 if CONNECTION, one of ALL, may be answered now; 429: its viewer holds its share already; with a sentence. */
int plx_web_check_share(struct plx_web_connection *const all[], int count, const struct plx_web_connection *connection,
                        bool is_socket, struct plx_error_message *message);

#endif
