/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/mcap/buffer.h"

#include <stdlib.h>

#include <parallax/error.h>

int plx_mcap_reserve(struct plx_mcap_buffer *buffer, size_t more)
{
    if (more <= buffer->capacity - buffer->used)
        return 0;
    if (more > SIZE_MAX / 2 - buffer->used || buffer->capacity > SIZE_MAX / 2)
        return PLX_ERR_NOMEM;
    size_t capacity = 2 * buffer->capacity;
    if (capacity < buffer->used + more)
        capacity = buffer->used + more;
    uint8_t *data = realloc(buffer->data, capacity);
    if (!data)
        return PLX_ERR_NOMEM;
    buffer->data = data;
    buffer->capacity = capacity;
    return 0;
}

void plx_mcap_put(struct plx_mcap_buffer *buffer, const void *data, size_t bytes)
{
    if (bytes > 0)
        memcpy(buffer->data + buffer->used, data, bytes);
    buffer->used += bytes;
}

void plx_mcap_put_number(struct plx_mcap_buffer *buffer, uint64_t value, size_t bytes)
{
    const uint64_t little = htole64(value);
    plx_mcap_put(buffer, &little, bytes);
}

void plx_mcap_put_prefix(struct plx_mcap_buffer *buffer, enum plx_mcap_opcode opcode, uint64_t length)
{
    plx_mcap_put_number(buffer, opcode, 1);
    plx_mcap_put_number(buffer, length, 8);
}

void plx_mcap_put_part(struct plx_mcap_buffer *buffer, const void *data, size_t bytes)
{
    plx_mcap_put_number(buffer, bytes, 4);
    plx_mcap_put(buffer, data, bytes);
}
