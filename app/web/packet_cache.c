/* SPDX-License-Identifier: Apache-2.0 */
#include "app/web/packet_cache.h"

struct plx_web_buffer *plx_web_packet_get(struct plx_web_packet_cache *cache, const struct plx_web_feed *feed,
                                          const struct plx_web_want *want)
{
    struct plx_web_buffer *buffer = NULL;
    int i = 0;
    for (; i < PLX_WEB_PACKETS && cache->packet[i].buffer; i++)
        if (cache->packet[i].want.planes == want->planes && cache->packet[i].want.compact == want->compact)
            return plx_web_buffer_ref(cache->packet[i].buffer);
    if (plx_web_packet(cache->encoder, &feed->status, feed->frame, want, &buffer) < 0)
        return NULL;
    if (i < PLX_WEB_PACKETS) {
        cache->packet[i].want = *want;
        cache->packet[i].buffer = plx_web_buffer_ref(buffer);
    }
    return buffer;
}

void plx_web_packet_cache_clear(struct plx_web_packet_cache *cache)
{
    for (int i = 0; i < PLX_WEB_PACKETS; i++) {
        plx_web_buffer_unref(cache->packet[i].buffer);
        cache->packet[i].buffer = NULL;
    }
}
