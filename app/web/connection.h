/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One TCP connection: a request and its answer, or a WebSocket. Nothing here waits: what cannot be sent now is queued, and who
 * does not read is cut off after a while. For the thread of the event loop.
 */
#ifndef PLX_APP_WEB_CONNECTION_H
#define PLX_APP_WEB_CONNECTION_H

#include <stdbool.h>
#include <stdint.h>

#include <cjson/cJSON.h>
#include <systemd/sd-event.h>

#include "app/web/buffer.h"
#include "app/web/http.h"
#include "app/web/websocket.h"

#define PLX_WEB_QUEUE 32 /* parts that wait to be sent */

struct plx_web_connection;
struct plx_web_peer;

/* Receives what a connection has read. None of these functions may close it. */
struct plx_web_handler {
    void (*request)(void *context, struct plx_web_connection *connection, const struct plx_http_request *request);
    void (*message)(void *context, struct plx_web_connection *connection, const struct plx_ws_message *message);
    void *context;
};

enum plx_web_phase {
    PLX_WEB_REQUEST, /* a request is awaited */
    PLX_WEB_WAITING, /* its answer takes a while: the handler answers later, and ends that wait itself */
    PLX_WEB_ANSWER,  /* it is answered; then the connection ends */
    PLX_WEB_SOCKET,  /* a WebSocket */
    PLX_WEB_CLOSING, /* what is queued is sent, then the connection ends */
    PLX_WEB_CLOSED   /* to be destroyed by its owner */
};

struct plx_web_part {
    struct plx_web_buffer *buffer; /* or NULL: the file */
    int file;                      /* owned; -1: none */
    size_t offset, bytes;          /* sent so far, of all */
    uint8_t head_bytes, head_sent;
    uint8_t head[PLX_WS_MAX_HEAD];
};

struct plx_web_connection {
    int fd;
    sd_event_source *source;
    const struct plx_web_handler *handler;
    enum plx_web_phase phase;
    int64_t begun_ns, heard_ns, sent_ns; /* CLOCK_MONOTONIC: accepted; last bytes in and out */
    char local[64], remote[64];          /* our address and the other side's, as in a URL */
    bool authorized;                     /* the handler's: it has passed the checks */
    char viewer[80];                     /* the handler's: who looks; "": nobody has asked */
    uint8_t *in;                         /* what is not read yet */
    size_t in_bytes, in_capacity;
    struct plx_ws_reader *reader; /* reads a WebSocket; NULL before */
    struct plx_web_part part[PLX_WEB_QUEUE];
    int parts, first;          /* queue length and start: PART is a ring */
    struct plx_web_peer *peer; /* the handler's: who is behind a WebSocket; NULL: nobody yet */
};

/* Serves FD, which belongs to the connection from then on, also on failure. HANDLER outlives it. NOMEM, IO. */
int plx_web_connection_create(sd_event *event, int fd, const struct plx_web_handler *handler,
                              struct plx_web_connection **ret_connection);
void plx_web_connection_destroy(struct plx_web_connection *connection);

/* Answers the request with STATUS, further HEADERS (each ends with CRLF) and CONTENT of TYPE, whose reference is taken; NULL:
 * none. HEAD sends no content. */
void plx_web_answer(struct plx_web_connection *connection, bool head, int status, const char *headers, const char *type,
                    struct plx_web_buffer *content);

/* Likewise with BYTES of FILE from its present offset, which is closed afterwards. */
void plx_web_answer_file(struct plx_web_connection *connection, bool head, const char *headers, const char *type, int file,
                         size_t bytes);

/* The request that is being handled is answered later, if its connection is PLX_WEB_WAITING by then. */
static inline void plx_web_defer_answer(struct plx_web_connection *connection)
{
    connection->phase = PLX_WEB_WAITING;
}

/* Makes it a WebSocket that speaks PROTOCOL; NULL: none was agreed on. NOMEM. */
int plx_web_upgrade(struct plx_web_connection *connection, const char *key, const char *protocol);

/* Sends a message: a reference to BUFFER is taken from the caller. BUSY: the queue is full, or the connection ends; the
 * reference is dropped. */
int plx_web_send(struct plx_web_connection *connection, enum plx_ws_opcode opcode, struct plx_web_buffer *buffer);

/* Copies TEXT into a message. BUSY, NOMEM. */
int plx_web_send_text(struct plx_web_connection *connection, const char *text);

/* The same with ITEM on one line, which it deletes. What cannot be sent is lost. */
void plx_web_send_json(struct plx_web_connection *connection, cJSON *item);

/* Ends the connection at once; its owner destroys it. */
void plx_web_abort(struct plx_web_connection *connection);

/* Ends a WebSocket for REASON (enum plx_ws_close). */
void plx_web_close(struct plx_web_connection *connection, int reason);

/* True if a message waits to be sent: the viewer is slower than we are. */
static inline bool plx_web_is_behind(const struct plx_web_connection *connection)
{
    return connection->parts > 0;
}

#endif
