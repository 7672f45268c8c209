/* SPDX-License-Identifier: Apache-2.0 */
#include "app/web/websocket.h"

#include <string.h>

#include "app/web/sha1.h"
#include "core/base/text.h"

#define MAX_CONTROL 125 /* bytes of a control frame */

static void base64(const uint8_t *data, size_t bytes, char *ret_text)
{
    static const char letter[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < bytes; i += 3) {
        const size_t left = bytes - i;
        const uint32_t three =
            (uint32_t)data[i] << 16 | (uint32_t)(left > 1 ? data[i + 1] : 0) << 8 | (left > 2 ? data[i + 2] : 0);
        *ret_text++ = letter[three >> 18];
        *ret_text++ = letter[three >> 12 & 63];
        *ret_text++ = left > 1 ? letter[three >> 6 & 63] : '=';
        *ret_text++ = left > 2 ? letter[three & 63] : '=';
    }
    *ret_text = '\0';
}

void plx_ws_accept(const char *key, char ret_accept[PLX_WS_ACCEPT])
{
    static const char guid[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"; /* RFC 6455, 1.3 */
    char text[24 + sizeof guid];
    uint8_t hash[PLX_SHA1_BYTES];
    memcpy(text, key, 24);
    memcpy(text + 24, guid, sizeof guid);
    plx_sha1(text, sizeof text - 1, hash);
    base64(hash, sizeof hash, ret_accept);
}

/* The head of a client's frame. */
struct head {
    bool is_last;
    int opcode;
    size_t length; /* length of the head */
    uint64_t bytes;
    const uint8_t *mask;
};

static bool is_control(int opcode)
{
    return opcode >= PLX_WS_CLOSE;
}

/* 1, 0 (more bytes are needed), or negative as plx_ws_read. */
static int read_head(const uint8_t *bytes, size_t count, struct head *ret_head)
{
    if (count < 2)
        return 0;
    const int short_length = bytes[1] & 0x7F;
    const size_t extra = short_length == 126 ? 2 : short_length == 127 ? 8 : 0;
    struct head head = {.is_last = bytes[0] & 0x80, .opcode = bytes[0] & 0x0F, .length = 2 + extra + 4, .bytes = 0};
    const bool is_known = head.opcode <= PLX_WS_BINARY || (head.opcode >= PLX_WS_CLOSE && head.opcode <= PLX_WS_PONG);
    if ((bytes[0] & 0x70) || !(bytes[1] & 0x80) || !is_known || /* extensions; no mask */
        (is_control(head.opcode) && (!head.is_last || short_length > MAX_CONTROL)))
        return -PLX_WS_PROTOCOL_ERROR;
    if (count < head.length)
        return 0;
    for (size_t i = 0; i < extra; i++)
        head.bytes = head.bytes << 8 | bytes[2 + i];
    if (extra == 0)
        head.bytes = (uint64_t)short_length;
    if ((extra == 2 && head.bytes < 126) || (extra == 8 && head.bytes < 65536)) /* not the shortest form */
        return -PLX_WS_PROTOCOL_ERROR;
    head.mask = bytes + head.length - 4;
    *ret_head = head;
    return 1;
}

static bool is_utf8(const uint8_t *text, size_t bytes)
{
    uint32_t point;
    for (size_t i = 0; i < bytes;) {
        const int step = plx_utf8_decode((const char *)text + i, &point); /* the 0 behind the text ends a cut character */
        if (step == 0)
            return false;
        i += (size_t)step;
    }
    return true;
}

/* Adds a frame to the message, which *ret_message is when it is whole. 0, or negative as plx_ws_read. */
static int add(struct plx_ws_reader *reader, const struct head *head, const uint8_t *data, struct plx_ws_message *ret_message)
{
    if ((head->opcode == PLX_WS_CONTINUATION) == (reader->opcode == 0))
        return -PLX_WS_PROTOCOL_ERROR;
    if (head->opcode != PLX_WS_CONTINUATION)
        reader->opcode = head->opcode;
    memcpy(reader->message + reader->bytes, data, head->bytes);
    reader->bytes += head->bytes;
    if (!head->is_last)
        return 0;
    reader->message[reader->bytes] = 0;
    *ret_message = (struct plx_ws_message){(enum plx_ws_opcode)reader->opcode, reader->message, reader->bytes};
    reader->opcode = 0;
    reader->bytes = 0;
    return ret_message->opcode == PLX_WS_TEXT && !is_utf8(ret_message->data, ret_message->bytes) ? -PLX_WS_NO_TEXT : 0;
}

long plx_ws_read(struct plx_ws_reader *reader, uint8_t *bytes, size_t count, struct plx_ws_message *ret_message)
{
    struct head head;
    struct plx_ws_message message = {.data = NULL};
    int result = read_head(bytes, count, &head);
    if (result <= 0)
        return result;
    if (head.bytes > PLX_WS_MAX_MESSAGE - (is_control(head.opcode) ? 0 : reader->bytes))
        return -PLX_WS_TOO_LARGE;
    if (count - head.length < head.bytes)
        return 0;
    uint8_t *data = bytes + head.length;
    for (size_t i = 0; i < head.bytes; i++)
        data[i] ^= head.mask[i % 4];
    if (is_control(head.opcode))
        message = (struct plx_ws_message){(enum plx_ws_opcode)head.opcode, data, head.bytes};
    else if ((result = add(reader, &head, data, &message)) < 0)
        return result;
    *ret_message = message;
    return (long)(head.length + head.bytes);
}

size_t plx_ws_head(enum plx_ws_opcode opcode, uint64_t bytes, uint8_t ret_head[PLX_WS_MAX_HEAD])
{
    const int extra = bytes < 126 ? 0 : bytes < 65536 ? 2 : 8;
    ret_head[0] = 0x80 | (uint8_t)opcode;
    ret_head[1] = extra == 0 ? (uint8_t)bytes : extra == 2 ? 126 : 127;
    for (int i = 0; i < extra; i++)
        ret_head[2 + i] = (uint8_t)(bytes >> (8 * (extra - 1 - i)));
    return 2 + (size_t)extra;
}
