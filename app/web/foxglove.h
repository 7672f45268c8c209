/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Foxglove and Lichtblick: the Foxglove WebSocket protocol, version 1 (github.com/foxglove/ws-protocol, docs/spec.md). Channels
 * are the topics of bridge/topics.h, as ROS 2 messages in CDR; parameters are the keys of the configuration in force, read
 * only.
 */
#ifndef PLX_APP_WEB_FOXGLOVE_H
#define PLX_APP_WEB_FOXGLOVE_H

#include "app/web/connection.h"
#include "app/web/feed.h"
#include "bridge/topics.h"
#include "config/config.h"

/* The subprotocols that we speak, which differ in name alone: those of Foxglove's older and newer libraries. */
#define PLX_FOXGLOVE_PROTOCOLS "foxglove.websocket.v1", "foxglove.sdk.v1"

struct plx_foxglove {
    int advertised;                    /* -1: no channels yet; 0: those of rectified frames; 1: of raw ones */
    bool subscribed[PLX_TOPICS];       /* a channel has one subscription of each client */
    uint32_t subscription[PLX_TOPICS]; /* its number, the client's choice */
    cJSON *asked;                      /* requests for parameters that have no answer yet, an array; NULL: none */
};

/* Frees what a client has asked; fine for zeros. */
void plx_foxglove_close(struct plx_foxglove *foxglove);

/* The messages of one frame, each encoded once for all viewers. All zeros before the first frame. */
struct plx_foxglove_frame {
    uint64_t epoch, sequence;
    struct plx_web_buffer *message[PLX_TOPICS]; /* with room for the number of the subscription; NULL: not made yet */
    bool missing[PLX_TOPICS];                   /* the frame has none */
    int64_t realtime_ns;
    struct plx_confirmed confirmed, before; /* in this frame, and in the last one that was sent */
    void *scratch;
    size_t scratch_bytes;
};
void plx_foxglove_frame_close(struct plx_foxglove_frame *frame);

/* Greets a client that has just connected. */
void plx_foxglove_open(struct plx_foxglove *foxglove, struct plx_web_connection *connection, const struct plx_web_feed *feed);

/* Handles a JSON text of the client. False: it is none. Requests for parameters wait for plx_foxglove_tell_parameters. */
bool plx_foxglove_message(struct plx_foxglove *foxglove, struct plx_web_connection *connection, const char *message);

/* Answers all requests for parameters with CONFIG, the configuration in force; NULL: no service has one. */
void plx_foxglove_tell_parameters(struct plx_foxglove *foxglove, struct plx_web_connection *connection,
                                  const struct plx_config *config);

/* True if the next frame is for this client, who must not be behind. */
bool plx_foxglove_wants(const struct plx_foxglove *foxglove, const struct plx_web_connection *connection);

/* Sends what the client subscribed to of feed->frame. */
void plx_foxglove_send(struct plx_foxglove *foxglove, struct plx_web_connection *connection, const struct plx_web_feed *feed,
                       struct plx_foxglove_frame *frame);

/* Sends the diagnostics, if the client subscribed to them: every second, with a service or without. */
void plx_foxglove_tell_second(const struct plx_foxglove *foxglove, struct plx_web_connection *connection,
                              const struct plx_web_feed *feed);

#endif
