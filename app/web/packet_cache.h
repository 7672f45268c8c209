/* SPDX-License-Identifier: Apache-2.0 */
/* Packets of the present frame: made once for all pages that want the same. */
#ifndef PLX_APP_WEB_PACKET_CACHE_H
#define PLX_APP_WEB_PACKET_CACHE_H

#include "app/web/feed.h"
#include "app/web/packet.h"

#define PLX_WEB_PACKETS 4 /* different wishes that share a packet of each frame */

struct plx_web_packet_cache {
    struct plx_web_encoder *encoder; /* the owner's */
    struct {
        struct plx_web_want want;
        struct plx_web_buffer *buffer; /* NULL: free */
    } packet[PLX_WEB_PACKETS];
};

/* The packet of feed->frame for WANT, a reference that the caller drops. NULL: out of memory. */
struct plx_web_buffer *plx_web_packet_get(struct plx_web_packet_cache *cache, const struct plx_web_feed *feed,
                                          const struct plx_web_want *want);

/* Forgets the frame's packets. */
void plx_web_packet_cache_clear(struct plx_web_packet_cache *cache);

#endif
