/* SPDX-License-Identifier: Apache-2.0 */
#include "app/web/connection.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <parallax/error.h>

#include "core/base/clock.h"

#define SOCKET_BYTES (PLX_WS_MAX_MESSAGE + 16) /* a whole frame of a client fits */

/* What browsers are to allow the page: itself, and nothing else. */
static const char security[] =
    "X-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\nReferrer-Policy: no-referrer\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n"
    "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' blob: data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n";

static void drop(struct plx_web_part *part)
{
    plx_web_buffer_unref(part->buffer);
    if (part->file >= 0)
        close(part->file);
}

static void end(struct plx_web_connection *connection)
{
    for (; connection->parts > 0; connection->parts--) {
        drop(&connection->part[connection->first]);
        connection->first = (connection->first + 1) % PLX_WEB_QUEUE;
    }
    connection->source = sd_event_source_disable_unref(connection->source);
    if (connection->fd >= 0)
        close(connection->fd);
    connection->fd = -1;
    connection->phase = PLX_WEB_CLOSED;
}

/* --- out -------------------------------------------------------------------------------------------------------------- */

static ssize_t send_some(const struct plx_web_connection *connection, struct plx_web_part *part)
{
    if (part->head_sent == part->head_bytes && part->file >= 0)
        return sendfile(connection->fd, part->file, NULL, part->bytes - part->offset);
    struct iovec piece[2] = {{part->head + part->head_sent, (size_t)part->head_bytes - part->head_sent}, {NULL, 0}};
    if (part->buffer)
        piece[1] = (struct iovec){part->buffer->data + part->offset, part->bytes - part->offset};
    const struct msghdr message = {.msg_iov = piece, .msg_iovlen = 2};
    const ssize_t sent = sendmsg(connection->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent <= 0)
        return sent;
    const size_t of_head = (size_t)sent < piece[0].iov_len ? (size_t)sent : piece[0].iov_len;
    part->head_sent = (uint8_t)(part->head_sent + of_head);
    return sent - (ssize_t)of_head;
}

static bool is_sent(const struct plx_web_part *part)
{
    return part->head_sent == part->head_bytes && part->offset == part->bytes;
}

/* Sends what goes without waiting. */
static void flush(struct plx_web_connection *connection)
{
    while (connection->parts > 0) {
        struct plx_web_part *part = &connection->part[connection->first];
        const uint8_t head_sent = part->head_sent;
        const ssize_t sent = is_sent(part) ? 0 : send_some(connection, part);
        if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            break;
        if (sent < 0 && errno == EINTR)
            continue;
        part->offset += sent > 0 ? (size_t)sent : 0;
        if (sent < 0 || (sent == 0 && part->head_sent == head_sent && !is_sent(part))) { /* gone, or the file became shorter */
            end(connection);
            return;
        }
        connection->sent_ns = plx_now_ns();
        if (!is_sent(part))
            continue;
        drop(part);
        connection->first = (connection->first + 1) % PLX_WEB_QUEUE;
        connection->parts--;
    }
    if (connection->parts == 0 && (connection->phase == PLX_WEB_ANSWER || connection->phase == PLX_WEB_CLOSING)) {
        shutdown(connection->fd, SHUT_WR);
        connection->phase = PLX_WEB_CLOSING;
    }
    if (connection->source)
        sd_event_source_set_io_events(connection->source, connection->parts > 0 ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

static int enqueue(struct plx_web_connection *connection, const struct plx_web_part *part)
{
    struct plx_web_part copy = *part;
    if (connection->parts == PLX_WEB_QUEUE || connection->phase >= PLX_WEB_CLOSING) {
        drop(&copy);
        return PLX_ERR_BUSY;
    }
    if (connection->parts == 0) {
        connection->sent_ns = plx_now_ns(); /* from now on it is waited for */
        sd_event_source_set_io_events(connection->source, EPOLLIN | EPOLLOUT);
    }
    connection->part[(connection->first + connection->parts++) % PLX_WEB_QUEUE] = copy;
    return 0;
}

static int enqueue_buffer(struct plx_web_connection *connection, struct plx_web_buffer *buffer)
{
    return enqueue(connection, &(struct plx_web_part){.buffer = buffer, .file = -1, .bytes = buffer->bytes});
}

static struct plx_web_buffer *text_buffer(const char *text)
{
    const size_t bytes = strlen(text);
    struct plx_web_buffer *buffer = plx_web_buffer_create(bytes);
    if (buffer)
        memcpy(buffer->data, text, bytes);
    return buffer;
}

/* The head of an answer, in the queue. */
static int answer_head(struct plx_web_connection *connection, int status, const char *headers, const char *type, size_t bytes)
{
    char text[2048];
    connection->phase = PLX_WEB_ANSWER;
    snprintf(
        text, sizeof text,
        "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\nConnection: close\r\nCache-Control: no-store\r\n%s%s\r\n",
        status, plx_http_reason(status), type, bytes, security, headers);
    struct plx_web_buffer *buffer = text_buffer(text);
    return buffer ? enqueue_buffer(connection, buffer) : PLX_ERR_NOMEM;
}

void plx_web_answer(struct plx_web_connection *connection, bool head, int status, const char *headers, const char *type,
                    struct plx_web_buffer *content)
{
    const int result = answer_head(connection, status, headers, type, content ? content->bytes : 0);
    if (result == 0 && content && !head)
        enqueue_buffer(connection, content);
    else
        plx_web_buffer_unref(content);
}

void plx_web_answer_file(struct plx_web_connection *connection, bool head, const char *headers, const char *type, int file,
                         size_t bytes)
{
    const int result = answer_head(connection, 200, headers, type, bytes);
    if (result == 0 && !head)
        enqueue(connection, &(struct plx_web_part){.file = file, .bytes = bytes});
    else
        close(file);
}

int plx_web_upgrade(struct plx_web_connection *connection, const char *key, const char *protocol)
{
    char accept[PLX_WS_ACCEPT], text[512];
    uint8_t *larger = realloc(connection->in, SOCKET_BYTES);
    if (!larger)
        return PLX_ERR_NOMEM;
    connection->in = larger;
    connection->in_capacity = SOCKET_BYTES;
    connection->reader = calloc(1, sizeof *connection->reader);
    if (!connection->reader)
        return PLX_ERR_NOMEM;
    plx_ws_accept(key, accept);
    snprintf(text, sizeof text,
             "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: "
             "%s\r\n%s%s%s\r\n",
             accept, protocol ? "Sec-WebSocket-Protocol: " : "", protocol ? protocol : "", protocol ? "\r\n" : "");
    struct plx_web_buffer *buffer = text_buffer(text);
    if (!buffer)
        return PLX_ERR_NOMEM;
    connection->phase = PLX_WEB_SOCKET;
    return enqueue_buffer(connection, buffer);
}

int plx_web_send(struct plx_web_connection *connection, enum plx_ws_opcode opcode, struct plx_web_buffer *buffer)
{
    struct plx_web_part part = {.buffer = buffer, .file = -1, .bytes = buffer->bytes};
    part.head_bytes = (uint8_t)plx_ws_head(opcode, buffer->bytes, part.head);
    const bool was_idle = connection->parts == 0;
    const int result = enqueue(connection, &part);
    if (result == 0 && was_idle)
        flush(connection);
    return result;
}

int plx_web_send_text(struct plx_web_connection *connection, const char *text)
{
    struct plx_web_buffer *buffer = text_buffer(text);
    return buffer ? plx_web_send(connection, PLX_WS_TEXT, buffer) : PLX_ERR_NOMEM;
}

void plx_web_send_json(struct plx_web_connection *connection, cJSON *item)
{
    char *text = cJSON_PrintUnformatted(item);
    if (text)
        plx_web_send_text(connection, text);
    cJSON_free(text);
    cJSON_Delete(item);
}

void plx_web_close(struct plx_web_connection *connection, int reason)
{
    const uint8_t code[2] = {(uint8_t)(reason >> 8), (uint8_t)reason};
    struct plx_web_buffer *buffer = plx_web_buffer_create(sizeof code);
    if (buffer && connection->phase == PLX_WEB_SOCKET) {
        memcpy(buffer->data, code, sizeof code);
        plx_web_send(connection, PLX_WS_CLOSE, buffer);
    } else
        plx_web_buffer_unref(buffer);
    if (connection->phase != PLX_WEB_CLOSED)
        connection->phase = PLX_WEB_CLOSING;
}

/* --- in --------------------------------------------------------------------------------------------------------------- */

static void consume(struct plx_web_connection *connection, size_t bytes)
{
    connection->in_bytes -= bytes;
    memmove(connection->in, connection->in + bytes, connection->in_bytes);
}

static void read_request(struct plx_web_connection *connection)
{
    struct plx_http_request request;
    const int result = plx_http_parse((const char *)connection->in, connection->in_bytes, &request);
    if (result < 0) {
        const char *headers = result == -405 ? "Allow: GET, HEAD\r\n" : result == -426 ? "Sec-WebSocket-Version: 13\r\n" : "";
        plx_web_answer(connection, false, -result, headers, "text/plain", text_buffer(plx_http_reason(-result)));
    } else if (result > 0) {
        connection->in_bytes = 0; /* what was sent behind it, before its answer, is not understood */
        connection->handler->request(connection->handler->context, connection, &request);
    }
}

static void handle(struct plx_web_connection *connection, const struct plx_ws_message *message)
{
    if (message->opcode == PLX_WS_CLOSE)
        plx_web_close(connection, 1000);
    else if (message->opcode == PLX_WS_PING) {
        struct plx_web_buffer *buffer = plx_web_buffer_create(message->bytes);
        if (!buffer)
            return;
        memcpy(buffer->data, message->data, message->bytes);
        plx_web_send(connection, PLX_WS_PONG, buffer);
    } else if (message->opcode != PLX_WS_PONG)
        connection->handler->message(connection->handler->context, connection, message);
}

static void read_messages(struct plx_web_connection *connection)
{
    size_t used = 0;
    long bytes = 1;
    while (bytes > 0 && connection->phase == PLX_WEB_SOCKET) {
        struct plx_ws_message message = {.data = NULL};
        bytes = plx_ws_read(connection->reader, connection->in + used, connection->in_bytes - used, &message);
        used += bytes > 0 ? (size_t)bytes : 0;
        if (bytes > 0 && message.data)
            handle(connection, &message);
    }
    consume(connection, used);
    if (bytes < 0)
        plx_web_close(connection, (int)-bytes);
}

static void receive(struct plx_web_connection *connection)
{
    const bool is_read = connection->phase == PLX_WEB_REQUEST || connection->phase == PLX_WEB_SOCKET;
    connection->in_bytes = is_read ? connection->in_bytes : 0; /* the rest is thrown away */
    const size_t room = connection->in_capacity - connection->in_bytes;
    const ssize_t received = recv(connection->fd, connection->in + connection->in_bytes, room, MSG_DONTWAIT);
    if (received < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (received <= 0) {
        end(connection);
        return;
    }
    connection->heard_ns = plx_now_ns();
    connection->in_bytes += is_read ? (size_t)received : 0;
    if (connection->phase == PLX_WEB_REQUEST)
        read_request(connection);
    else if (connection->phase == PLX_WEB_SOCKET)
        read_messages(connection);
}

static int on_event(sd_event_source *source, int fd, uint32_t events, void *context)
{
    struct plx_web_connection *connection = context;
    (void)source;
    (void)fd;
    if (events & (EPOLLIN | EPOLLHUP | EPOLLERR))
        receive(connection);
    if (connection->phase != PLX_WEB_CLOSED)
        flush(connection);
    return 0;
}

/* --- life ------------------------------------------------------------------------------------------------------------- */

/* The address that GET, getsockname or getpeername, has for FD. */
static void write_address(int fd, int (*get)(int fd, struct sockaddr *address, socklen_t *length), char *ret_text, size_t size)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } address = {.any = {.sa_family = AF_UNSPEC}};
    socklen_t length = sizeof address;
    char text[INET6_ADDRSTRLEN] = "";
    get(fd, &address.any, &length);
    if (address.any.sa_family == AF_INET)
        inet_ntop(AF_INET, &address.v4.sin_addr, text, sizeof text);
    else if (address.any.sa_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&address.v6.sin6_addr))
        inet_ntop(AF_INET, &address.v6.sin6_addr.s6_addr[12], text, sizeof text);
    else if (address.any.sa_family == AF_INET6)
        inet_ntop(AF_INET6, &address.v6.sin6_addr, text, sizeof text);
    snprintf(ret_text, size, strchr(text, ':') ? "[%s]" : "%s", text);
}

int plx_web_connection_create(sd_event *event, int fd, const struct plx_web_handler *handler,
                              struct plx_web_connection **ret_connection)
{
    const int on = 1;
    struct plx_web_connection *connection = calloc(1, sizeof *connection);
    if (!connection) {
        close(fd);
        return PLX_ERR_NOMEM;
    }
    connection->fd = fd;
    connection->handler = handler;
    connection->begun_ns = connection->heard_ns = connection->sent_ns = plx_now_ns();
    connection->in_capacity = PLX_HTTP_MAX_BYTES;
    connection->in = malloc(connection->in_capacity);
    write_address(fd, getsockname, connection->local, sizeof connection->local);
    write_address(fd, getpeername, connection->remote, sizeof connection->remote);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on); /* a frame's last bytes do not wait */
    if (!connection->in || sd_event_add_io(event, &connection->source, fd, EPOLLIN, on_event, connection) < 0) {
        plx_web_connection_destroy(connection);
        return PLX_ERR_NOMEM;
    }
    *ret_connection = connection;
    return 0;
}

void plx_web_abort(struct plx_web_connection *connection)
{
    end(connection);
}

void plx_web_connection_destroy(struct plx_web_connection *connection)
{
    if (!connection)
        return;
    end(connection);
    free(connection->in);
    free(connection->reader);
    free(connection);
}
