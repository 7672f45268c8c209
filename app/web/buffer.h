/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes that several connections send, and the last one frees. For one thread. */
#ifndef PLX_APP_WEB_BUFFER_H
#define PLX_APP_WEB_BUFFER_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

struct plx_web_buffer {
    int references;
    size_t bytes;
    _Alignas(8) uint8_t data[];
};

/* Creates a buffer for BYTES, with one reference, the caller's. NULL: out of memory. */
static inline struct plx_web_buffer *plx_web_buffer_create(size_t bytes)
{
    struct plx_web_buffer *buffer = malloc(sizeof *buffer + bytes);
    if (buffer)
        *buffer = (struct plx_web_buffer){.references = 1, .bytes = bytes};
    return buffer;
}

static inline struct plx_web_buffer *plx_web_buffer_ref(struct plx_web_buffer *buffer)
{
    buffer->references++;
    return buffer;
}

static inline void plx_web_buffer_unref(struct plx_web_buffer *buffer) /* NULL is fine */
{
    if (buffer && --buffer->references == 0)
        free(buffer);
}

#endif
