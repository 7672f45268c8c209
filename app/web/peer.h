/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who is behind a WebSocket: the page (app/web/viewer.h) or Foxglove (app/web/foxglove.h). The server knows peers by these
 * functions alone, so a further kind of client is one file and a row of the server's table.
 */
#ifndef PLX_APP_WEB_PEER_H
#define PLX_APP_WEB_PEER_H

#include "app/web/connection.h"
#include "app/web/feed.h"
#include "app/web/packet_cache.h"
#include "app/web/parameters.h"
#include "app/web/snapshot.h"
#include "app/web/wall.h"
#include "config/config.h"

#define PLX_WEB_PEER_PROTOCOLS 2

struct plx_foxglove_frame;

/* What all peers of a server share. */
struct plx_web_hub {
    struct plx_web_feed feed;
    struct plx_web_packet_cache packets;         /* packets of the present frame, for pages */
    struct plx_foxglove_frame *foxglove;         /* messages of the present frame */
    char *state;                                 /* the present state, for pages, by cJSON; NULL: nobody has asked for it */
    struct plx_web_parameters parameters;        /* the configuration in force */
    struct plx_web_snapshot snapshot;            /* a request to the flight recorder */
    struct plx_web_connection *snapshot_request; /* the page that waits for its answer; NULL: none */
    struct plx_web_wall wall;                    /* a measurement before a wall */
};

/* The first member of every kind of peer. */
struct plx_web_peer {
    const struct plx_web_peer_ops *ops;
    struct plx_web_connection *connection;
};

/* The connection of a peer that is called is a WebSocket, but for CLOSE. */
struct plx_web_peer_ops {
    const char *protocol[PLX_WEB_PEER_PROTOCOLS]; /* the subprotocols that it speaks; NULL: no further one */
    size_t bytes;                                 /* sizeof its structure, which begins as all zeros */

    /* Greets a client that has just connected. NULL: the client speaks first. */
    void (*open)(struct plx_web_peer *peer, struct plx_web_hub *hub);
    /* Frees what the peer holds, and withdraws its requests. */
    void (*close)(struct plx_web_peer *peer, struct plx_web_hub *hub);
    /* Handles a text message. False: it is no JSON object. */
    bool (*message)(struct plx_web_peer *peer, struct plx_web_hub *hub, const char *text);
    /* True if the next frame is for this peer, who must not be behind. */
    bool (*wants_frame)(const struct plx_web_peer *peer);
    /* Sends hub->feed.frame to a peer who wants it. */
    void (*send_frame)(struct plx_web_peer *peer, struct plx_web_hub *hub);
    /* Tells the state of the service, five times a second; with new rates where IS_SECOND. */
    void (*tell_state)(struct plx_web_peer *peer, struct plx_web_hub *hub, bool is_second);
    /* Answers all requests for parameters with CONFIG, the configuration in force; NULL: no service has one. The function is
     * NULL where the peer has no such requests. */
    void (*tell_parameters)(struct plx_web_peer *peer, const struct plx_config *config);
};

#endif
