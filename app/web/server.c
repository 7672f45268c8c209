/* SPDX-License-Identifier: Apache-2.0 */
#include "app/web/server.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <parallax/error.h>

#include "app/log.h"
#include "app/web/access.h"
#include "app/web/answer.h"
#include "app/web/connection.h"
#include "app/web/foxglove.h"
#include "app/web/listen.h"
#include "app/web/peer.h"
#include "app/web/routes.h"
#include "app/web/share.h"
#include "app/web/viewer.h"
#include "core/base/clock.h"

#define REQUEST_NS (2 * PLX_NS_PER_S) /* a request is whole by then */
#define STUCK_NS (10 * PLX_NS_PER_S)  /* who takes no byte for so long is gone */
#define PING_NS (10 * PLX_NS_PER_S)   /* a WebSocket that says nothing is asked, */
#define SILENT_NS (30 * PLX_NS_PER_S) /* and closed */
#define LINGER_NS (2 * PLX_NS_PER_S)  /* for the other side to close */
#define UNAUTHORIZED 32               /* connections that have not passed the checks: half of all */
#define UNAUTHORIZED_OF_ONE 12        /* from one address; a browser opens 6 at once */

static const struct plx_web_peer_ops *const peer_kinds[] = {&plx_web_viewer_ops, &plx_foxglove_ops};

struct plx_web_server {
    sd_event *event;
    const struct plx_config *config;
    struct plx_web_access access;
    struct plx_web_handler handler;
    struct plx_web_audience audience;
    struct plx_web_hub hub;
    struct plx_foxglove_frame foxglove;
    int fd;
    sd_event_source *listener;
    struct plx_web_connection *connection[PLX_WEB_MAX_CONNECTIONS];
    int connections;
    bool was_full;
    bool is_paused; /* accepts nothing until the next second, for want of descriptors */
};

/* --- frames ----------------------------------------------------------------------------------------------------------- */

/* Who speaks at CONNECTION. NULL: it is no WebSocket, or none any more. */
static struct plx_web_peer *peer_of(const struct plx_web_connection *connection)
{
    return connection->phase == PLX_WEB_SOCKET ? connection->peer : NULL;
}

static bool wants_frame(void *context)
{
    const struct plx_web_server *server = context;
    if (plx_web_wall_wants_frame(&server->hub.wall))
        return true;
    for (int i = 0; i < server->connections; i++) {
        const struct plx_web_peer *peer = peer_of(server->connection[i]);
        if (peer && peer->ops->wants_frame(peer))
            return true;
    }
    return false;
}

static void send_frame(void *context)
{
    struct plx_web_server *server = context;
    for (int i = 0; i < server->connections; i++) {
        struct plx_web_peer *peer = peer_of(server->connection[i]);
        if (peer && peer->ops->wants_frame(peer))
            peer->ops->send_frame(peer, &server->hub);
    }
    plx_web_packet_cache_clear(&server->hub.packets);
    plx_web_wall_add(&server->hub.wall, server->hub.feed.frame);
}

/* --- state, and every second ------------------------------------------------------------------------------------------ */

/* False: it is to be destroyed. */
static bool is_alive(struct plx_web_connection *connection, int64_t now_ns)
{
    const int64_t sent_ago = now_ns - connection->sent_ns;
    switch (connection->phase) {
    case PLX_WEB_REQUEST:
        if (now_ns - connection->begun_ns > REQUEST_NS)
            plx_web_answer(connection, false, 408, "", "text/plain", NULL);
        return now_ns - connection->begun_ns < 2 * REQUEST_NS;
    case PLX_WEB_WAITING:
        return true;
    case PLX_WEB_ANSWER:
        return sent_ago < STUCK_NS;
    case PLX_WEB_SOCKET:
        if (now_ns - connection->heard_ns > PING_NS && !plx_web_is_behind(connection)) {
            struct plx_web_buffer *empty = plx_web_buffer_create(0);
            if (empty)
                plx_web_send(connection, PLX_WS_PING, empty);
        }
        return now_ns - connection->heard_ns < SILENT_NS && !(plx_web_is_behind(connection) && sent_ago > STUCK_NS);
    case PLX_WEB_CLOSING:
        return sent_ago < LINGER_NS;
    case PLX_WEB_CLOSED:
        break;
    }
    return false;
}

static void destroy(struct plx_web_server *server, struct plx_web_connection *connection)
{
    struct plx_web_peer *peer = connection->peer;
    if (peer)
        peer->ops->close(peer, &server->hub);
    free(peer);
    plx_web_wall_forget(&server->hub.wall, connection);
    plx_web_connection_destroy(connection);
}

static void sweep(struct plx_web_server *server)
{
    const int64_t now_ns = plx_now_ns();
    int kept = 0;
    for (int i = 0; i < server->connections; i++) {
        struct plx_web_connection *connection = server->connection[i];
        if (is_alive(connection, now_ns))
            server->connection[kept++] = connection;
        else
            destroy(server, connection);
    }
    server->connections = kept;
}

static void tell_state(void *context, bool is_second)
{
    struct plx_web_server *server = context;
    if (is_second) {
        plx_web_wall_check(&server->hub.wall, plx_now_ns());
        sweep(server);
        sd_event_source_set_enabled(server->listener, SD_EVENT_ON);
    }
    for (int i = 0; i < server->connections; i++) {
        struct plx_web_peer *peer = peer_of(server->connection[i]);
        if (peer)
            peer->ops->tell_state(peer, &server->hub, is_second);
    }
    cJSON_free(server->hub.state);
    server->hub.state = NULL;
}

/* --- what clients say ------------------------------------------------------------------------------------------------- */

/* The kind of peer that speaks the first of our subprotocols that REQUEST lists, *ret_protocol. NULL: it lists none. */
static const struct plx_web_peer_ops *choose_kind(const struct plx_http_request *request, const char **ret_protocol)
{
    for (size_t i = 0; i < sizeof peer_kinds / sizeof *peer_kinds; i++)
        for (int k = 0; k < PLX_WEB_PEER_PROTOCOLS && peer_kinds[i]->protocol[k]; k++)
            if (plx_http_lists(request->protocols, peer_kinds[i]->protocol[k])) {
                *ret_protocol = peer_kinds[i]->protocol[k];
                return peer_kinds[i];
            }
    return NULL;
}

static void upgrade(struct plx_web_server *server, struct plx_web_connection *connection,
                    const struct plx_http_request *request)
{
    const char *protocol = NULL;
    const struct plx_web_peer_ops *ops = choose_kind(request, &protocol);
    if (!ops) {
        plx_web_answer_text(connection, 400, "expected a subprotocol: " PLX_WEB_PAGE_PROTOCOL " or foxglove.websocket.v1");
        return;
    }
    struct plx_web_peer *peer = calloc(1, ops->bytes);
    if (!peer || plx_web_upgrade(connection, request->key, protocol) < 0) {
        free(peer);
        plx_web_answer_text(connection, 503, "out of memory");
        return;
    }
    *peer = (struct plx_web_peer){ops, connection};
    connection->peer = peer;
    if (ops->open)
        ops->open(peer, &server->hub);
}

static void on_request(void *context, struct plx_web_connection *connection, const struct plx_http_request *request)
{
    struct plx_web_server *server = context;
    struct plx_error_message message = {""};
    int status = plx_web_check(&server->access, request, connection->local, &message);
    if (status == 0)
        status = plx_web_check_user(&server->access, connection->fd, &message);
    if (status == 0) {
        plx_web_name_viewer(connection);
        status = plx_web_check_share(server->connection, server->connections, connection, request->key[0] != '\0', &message);
    }
    connection->authorized = status == 0;
    if (status != 0) {
        plx_clean_text(message.text);
        plx_web_answer_text(connection, status, message.text);
    } else if (request->key[0] != '\0')
        upgrade(server, connection, request);
    else {
        const struct plx_web_site site = {server->config, &server->hub.feed.status, &server->hub.wall,
                                          server->access.token[0] != '\0'};
        plx_web_route(&site, connection, request);
    }
}

static void on_snapshot(void *context, const struct plx_recorder_answer *answer)
{
    struct plx_web_server *server = context;
    if (server->hub.snapshot_request)
        plx_web_viewer_tell_snapshot(server->hub.snapshot_request, answer);
    server->hub.snapshot_request = NULL;
}

static void on_message(void *context, struct plx_web_connection *connection, const struct plx_ws_message *message)
{
    struct plx_web_server *server = context;
    struct plx_web_peer *peer = connection->peer;
    if (message->opcode != PLX_WS_TEXT || !peer->ops->message(peer, &server->hub, (const char *)message->data))
        plx_web_close(connection, PLX_WS_PROTOCOL_ERROR);
}

static void on_parameters(void *context, const struct plx_config *config)
{
    struct plx_web_server *server = context;
    for (int i = 0; i < server->connections; i++) {
        struct plx_web_peer *peer = peer_of(server->connection[i]);
        if (peer && peer->ops->tell_parameters)
            peer->ops->tell_parameters(peer, config);
    }
}

/* --- listening -------------------------------------------------------------------------------------------------------- */

/* True if CONNECTION counts against the limits; of the address of LIKE only, unless LIKE is NULL. */
static bool is_unauthorized(const struct plx_web_connection *connection, const struct plx_web_connection *like)
{
    return !connection->authorized && connection->phase != PLX_WEB_CLOSED &&
           (!like || strcmp(connection->remote, like->remote) == 0);
}

/* If more than MAX_COUNT connections are unauthorized, closes the oldest of them. Counts those of the address of LIKE only,
 * unless LIKE is NULL. */
static void limit_unauthorized(struct plx_web_server *server, const struct plx_web_connection *like, int max_count)
{
    struct plx_web_connection *oldest = NULL;
    int count = 0;
    for (int i = 0; i < server->connections; i++) {
        struct plx_web_connection *each = server->connection[i];
        if (!is_unauthorized(each, like))
            continue;
        count++;
        oldest = !oldest || each->begun_ns < oldest->begun_ns ? each : oldest;
    }
    if (count > max_count)
        plx_web_abort(oldest);
}

/* No descriptor is left: the next second tries again, instead of a loop that takes a processor. */
static void pause_listening(struct plx_web_server *server)
{
    if (!server->is_paused)
        plx_log(LOG_WARNING, "no connection can be accepted: %s; raise LimitNOFILE", strerror(errno));
    server->is_paused = true;
    sd_event_source_set_enabled(server->listener, SD_EVENT_OFF);
}

static int on_connection(sd_event_source *source, int fd, uint32_t events, void *context)
{
    struct plx_web_server *server = context;
    (void)source;
    (void)events;
    const int accepted = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (accepted < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM))
        pause_listening(server);
    if (accepted < 0)
        return 0;
    server->is_paused = false;
    if (server->connections == PLX_WEB_MAX_CONNECTIONS) {
        limit_unauthorized(server, NULL, 0);
        sweep(server);
    }
    const bool is_full = server->connections == PLX_WEB_MAX_CONNECTIONS;
    if (is_full && !server->was_full)
        plx_log(LOG_WARNING, "%d connections are open; further ones are refused", PLX_WEB_MAX_CONNECTIONS);
    server->was_full = is_full;
    if (is_full)
        close(accepted);
    else if (plx_web_connection_create(server->event, accepted, &server->handler, &server->connection[server->connections]) ==
             0) {
        server->connections++;
        limit_unauthorized(server, server->connection[server->connections - 1], UNAUTHORIZED_OF_ONE);
        limit_unauthorized(server, NULL, UNAUTHORIZED);
    }
    return 0;
}

/* --- life ------------------------------------------------------------------------------------------------------------- */

/* The hub as plx_web_server_destroy can take it, before anything is opened. */
static void open_hub(struct plx_web_server *server)
{
    server->hub.foxglove = &server->foxglove;
    server->hub.snapshot = (struct plx_web_snapshot){.socket = server->config->recorder.socket,
                                                     .event = server->event,
                                                     .answered = on_snapshot,
                                                     .context = server,
                                                     .fd = -1};
    server->hub.parameters = (struct plx_web_parameters){
        .socket = server->config->publish.socket, .answered = on_parameters, .context = server, .done_fd = -1};
}

int plx_web_server_create(sd_event *event, const struct plx_config *config, struct plx_web_server **ret_server,
                          struct plx_error_message *message)
{
    int result = 0;
    struct plx_web_server *server = calloc(1, sizeof *server);
    if (!server)
        return plx_fail(message, PLX_ERR_NOMEM, "%s", plx_strerror(PLX_ERR_NOMEM));
    server->event = event;
    server->config = config;
    server->access.names = config->web.names;
    server->access.origins = config->web.origins;
    server->access.socket = config->publish.socket;
    server->access.group = config->publish.group;
    server->handler = (struct plx_web_handler){on_request, on_message, server};
    server->audience = (struct plx_web_audience){wants_frame, send_frame, tell_state, server};
    open_hub(server);
    server->fd = -1;
    if (config->web.token_file[0] != '\0')
        result = plx_web_token_read(config->web.token_file, server->access.token, message);
    if (result == 0)
        result = plx_web_listen(config->web.listen, server->access.token[0] != '\0', &server->fd, message);
    if (result == 0 && (sd_event_add_io(event, &server->listener, server->fd, EPOLLIN, on_connection, server) < 0 ||
                        plx_web_encoder_create(&server->hub.packets.encoder) < 0 ||
                        plx_web_parameters_open(&server->hub.parameters, event) < 0 ||
                        plx_web_feed_open(&server->hub.feed, config->publish.socket, event, &server->audience) < 0))
        result = plx_fail(message, PLX_ERR_NOMEM, "%s", plx_strerror(PLX_ERR_NOMEM));
    if (result < 0)
        plx_web_server_destroy(server);
    else
        *ret_server = server;
    return result;
}

void plx_web_server_destroy(struct plx_web_server *server)
{
    if (!server)
        return;
    for (int i = 0; i < server->connections; i++)
        destroy(server, server->connection[i]);
    plx_web_snapshot_close(&server->hub.snapshot);
    plx_web_parameters_close(&server->hub.parameters);
    plx_web_feed_close(&server->hub.feed);
    plx_web_wall_close(&server->hub.wall);
    plx_foxglove_frame_close(&server->foxglove);
    plx_web_encoder_destroy(server->hub.packets.encoder);
    sd_event_source_disable_unref(server->listener);
    if (server->fd >= 0)
        close(server->fd);
    free(server);
}

void plx_web_server_address(const struct plx_web_server *server, char *ret_text, size_t size)
{
    plx_web_listen_address(server->fd, ret_text, size);
}
