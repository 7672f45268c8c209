/* SPDX-License-Identifier: Apache-2.0 */
/* WebSocket (RFC 6455), the server's side, without extensions. */
#ifndef PLX_APP_WEB_WEBSOCKET_H
#define PLX_APP_WEB_WEBSOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLX_WS_MAX_MESSAGE 65536 /* bytes of a client's message */
#define PLX_WS_MAX_HEAD 10       /* bytes of a frame's head from the server */
#define PLX_WS_ACCEPT 29         /* bytes of Sec-WebSocket-Accept, with its 0 */

enum plx_ws_opcode {
    PLX_WS_CONTINUATION = 0,
    PLX_WS_TEXT = 1,
    PLX_WS_BINARY = 2,
    PLX_WS_CLOSE = 8,
    PLX_WS_PING = 9,
    PLX_WS_PONG = 10
};

/* Why a connection is closed (RFC 6455, 7.4.1). */
enum plx_ws_close { PLX_WS_GOING_AWAY = 1001, PLX_WS_PROTOCOL_ERROR = 1002, PLX_WS_NO_TEXT = 1007, PLX_WS_TOO_LARGE = 1009 };

/* The answer to KEY, 24 characters. */
void plx_ws_accept(const char *key, char ret_accept[PLX_WS_ACCEPT]);

/* Puts fragments together. All zeros to begin with. */
struct plx_ws_reader {
    int opcode; /* kind of the message that is being put together; 0: none */
    size_t bytes;
    uint8_t message[PLX_WS_MAX_MESSAGE + 1]; /* a text ends with a 0 */
};

/* What plx_ws_read found. */
struct plx_ws_message {
    enum plx_ws_opcode opcode; /* TEXT, BINARY, CLOSE, PING or PONG */
    const uint8_t *data;       /* until the next call; of a text, a 0 follows */
    size_t bytes;
};

/*
 * Reads one frame of a client at the begin of COUNT BYTES, which it unmasks in place. Returns the bytes that it used; 0: more
 * are needed. ret_message->data is NULL while a message goes on. Negative: the connection is to be closed for this enum
 * plx_ws_close: PROTOCOL_ERROR (an unmasked frame too), TOO_LARGE (also before its bytes are there), NO_TEXT (not UTF-8).
 */
long plx_ws_read(struct plx_ws_reader *reader, uint8_t *bytes, size_t count, struct plx_ws_message *ret_message);

/* Writes the head of an unfragmented frame of BYTES. Returns its length. */
size_t plx_ws_head(enum plx_ws_opcode opcode, uint64_t bytes, uint8_t ret_head[PLX_WS_MAX_HEAD]);

#endif
