/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer: any bytes as what a client sends over a WebSocket. */
#include <stdlib.h>
#include <string.h>

#include "app/web/websocket.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct plx_ws_reader reader;
    uint8_t *bytes = malloc(size ? size : 1); /* the exact size: reading past the end is seen */
    long used = 1;
    memset(&reader, 0, sizeof reader);
    memcpy(bytes, data, size);
    for (size_t at = 0; used > 0; at += (size_t)used) {
        struct plx_ws_message message = {.data = NULL};
        used = plx_ws_read(&reader, bytes + at, size - at, &message);
        if (used > (long)(size - at) || (message.data && message.bytes > PLX_WS_MAX_MESSAGE))
            abort();
        if (used <= 0)
            break;
    }
    free(bytes);
    return 0;
}
