/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Foxglove and Lichtblick: the Foxglove WebSocket protocol, version 1 (github.com/foxglove/ws-protocol, docs/spec.md). Channels
 * are the topics of bridge/topics.h, as ROS 2 messages in CDR; parameters are the keys of the configuration in force, read
 * only.
 */
#ifndef PLX_APP_WEB_FOXGLOVE_H
#define PLX_APP_WEB_FOXGLOVE_H

#include "app/web/peer.h"
#include "bridge/topics.h"

extern const struct plx_web_peer_ops plx_foxglove_ops;

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

#endif
