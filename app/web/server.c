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
#include "app/web/connection.h"
#include "app/web/feed.h"
#include "app/web/foxglove.h"
#include "app/web/listen.h"
#include "app/web/parameters.h"
#include "app/web/routes.h"
#include "app/web/share.h"
#include "app/web/snapshot.h"
#include "app/web/viewer.h"
#include "core/base/clock.h"

#define REQUEST_NS (2 * PLX_NS_PER_S) /* a request is whole by then */
#define STUCK_NS (10 * PLX_NS_PER_S)  /* who takes no byte for so long is gone */
#define PING_NS (10 * PLX_NS_PER_S)   /* a WebSocket that says nothing is asked, */
#define SILENT_NS (30 * PLX_NS_PER_S) /* and closed */
#define LINGER_NS (2 * PLX_NS_PER_S)  /* for the other side to close */
#define PACKETS 4                     /* different wishes that share a packet of each frame */
#define MAX_KEPT_S 3600.0
#define UNAUTHORIZED 32        /* connections that have not passed the checks: half of all */
#define UNAUTHORIZED_OF_ONE 12 /* of one address; a browser opens 6 at once */

/* Who is behind a WebSocket. */
struct peer {
    bool is_foxglove;
    struct plx_web_viewer viewer;
    struct plx_foxglove foxglove;
};

struct plx_web_server {
    sd_event *event;
    const struct plx_config *config;
    struct plx_web_access access;
    struct plx_web_handler handler;
    struct plx_web_audience audience;
    struct plx_web_feed feed;
    struct plx_web_snapshot snapshot;
    struct plx_web_parameters parameters;
    struct plx_web_connection *keeper_asker; /* who waits for the snapshot's answer; NULL: nobody any more */
    struct plx_web_encoder *encoder;
    struct {
        struct plx_web_want want;
        struct plx_web_buffer *buffer; /* of the present frame; NULL: free */
    } packet[PACKETS];
    struct plx_foxglove_frame foxglove;
    int fd;
    sd_event_source *listener;
    struct plx_web_connection *connection[PLX_WEB_MAX_CONNECTIONS];
    int connections;
    bool was_full;
    bool is_paused; /* accepts nothing until the next second, for want of descriptors */
};

/* --- frames ----------------------------------------------------------------------------------------------------------- */

static bool wants_frame(void *context)
{
    const struct plx_web_server *server = context;
    for (int i = 0; i < server->connections; i++) {
        const struct plx_web_connection *connection = server->connection[i];
        const struct peer *peer = connection->peer;
        if (connection->phase == PLX_WEB_SOCKET && (peer->is_foxglove ? plx_foxglove_wants(&peer->foxglove, connection)
                                                                      : plx_web_viewer_wants(&peer->viewer, connection)))
            return true;
    }
    return false;
}

/* The packet of the present frame for WANT: made once for all who want the same. NULL: out of memory. The caller's. */
static struct plx_web_buffer *packet_for(struct plx_web_server *server, const struct plx_web_want *want)
{
    struct plx_web_buffer *buffer = NULL;
    int i = 0;
    for (; i < PACKETS && server->packet[i].buffer; i++)
        if (server->packet[i].want.planes == want->planes && server->packet[i].want.compact == want->compact)
            return plx_web_buffer_ref(server->packet[i].buffer);
    if (plx_web_packet(server->encoder, &server->feed.status, server->feed.frame, want, &buffer) < 0)
        return NULL;
    if (i < PACKETS) {
        server->packet[i].want = *want;
        server->packet[i].buffer = plx_web_buffer_ref(buffer);
    }
    return buffer;
}

static void forget_packets(struct plx_web_server *server)
{
    for (int i = 0; i < PACKETS; i++) {
        plx_web_buffer_unref(server->packet[i].buffer);
        server->packet[i].buffer = NULL;
    }
}

static void send_frame(void *context)
{
    struct plx_web_server *server = context;
    for (int i = 0; i < server->connections; i++) {
        struct plx_web_connection *connection = server->connection[i];
        struct peer *peer = connection->peer;
        if (connection->phase != PLX_WEB_SOCKET)
            continue;
        if (peer->is_foxglove && plx_foxglove_wants(&peer->foxglove, connection))
            plx_foxglove_send(&peer->foxglove, connection, &server->feed, &server->foxglove);
        if (peer->is_foxglove || !plx_web_viewer_wants(&peer->viewer, connection))
            continue;
        struct plx_web_buffer *buffer = packet_for(server, &peer->viewer.want);
        if (!buffer)
            continue;
        plx_web_viewer_sent(&peer->viewer, buffer);
        plx_web_send(connection, PLX_WS_BINARY, buffer);
    }
    forget_packets(server);
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

static void destroy(struct plx_web_connection *connection)
{
    if (!connection)
        return;
    struct peer *peer = connection->peer;
    if (peer)
        plx_foxglove_close(&peer->foxglove);
    free(peer);
    plx_web_connection_destroy(connection);
}

static void sweep(struct plx_web_server *server)
{
    const int64_t now_ns = plx_now_ns();
    int kept = 0;
    for (int i = 0; i < server->connections; i++) {
        struct plx_web_connection *connection = server->connection[i];
        if (is_alive(connection, now_ns)) {
            server->connection[kept++] = connection;
            continue;
        }
        if (server->keeper_asker == connection)
            server->keeper_asker = NULL;
        destroy(connection);
    }
    server->connections = kept;
}

/* {"service": as `parallax status --json`, "rates": whether they are new} */
static char *state_text(const struct plx_web_feed *feed, bool is_second)
{
    cJSON *item = cJSON_CreateObject();
    cJSON_AddItemToObject(item, "service", plx_status_json(&feed->status));
    cJSON_AddBoolToObject(item, "rates", is_second);
    char *text = cJSON_PrintUnformatted(item);
    cJSON_Delete(item);
    return text;
}

/* Tells the pages the state of the service, also without frames: a page that hears nothing calls everything unknown. */
static void tell_state(void *context, bool is_second)
{
    struct plx_web_server *server = context;
    if (is_second) {
        sweep(server);
        sd_event_source_set_enabled(server->listener, SD_EVENT_ON);
    }
    char *text = NULL;
    for (int i = 0; i < server->connections; i++) {
        struct plx_web_connection *connection = server->connection[i];
        const struct peer *peer = connection->peer;
        if (is_second && connection->phase == PLX_WEB_SOCKET && peer->is_foxglove)
            plx_foxglove_tell_second(&peer->foxglove, connection, &server->feed);
        if (connection->phase != PLX_WEB_SOCKET || peer->is_foxglove || plx_web_is_behind(connection))
            continue;
        if (!text)
            text = state_text(&server->feed, is_second);
        if (text)
            plx_web_send_text(connection, text);
    }
    cJSON_free(text);
}

/* --- what clients say ------------------------------------------------------------------------------------------------- */

static void upgrade(struct plx_web_server *server, struct plx_web_connection *connection,
                    const struct plx_http_request *request)
{
    static const char *const protocols[] = {PLX_WEB_PAGE_PROTOCOL, PLX_FOXGLOVE_PROTOCOLS};
    const char *protocol = NULL;
    for (size_t i = 0; i < sizeof protocols / sizeof *protocols && !protocol; i++)
        if (plx_http_lists(request->protocols, protocols[i]))
            protocol = protocols[i];
    if (!protocol) {
        plx_web_answer_text(connection, 400, "expected a subprotocol: " PLX_WEB_PAGE_PROTOCOL " or foxglove.websocket.v1");
        return;
    }
    struct peer *peer = calloc(1, sizeof *peer);
    if (!peer || plx_web_upgrade(connection, request->key, protocol) < 0) {
        free(peer);
        plx_web_answer_text(connection, 503, "out of memory");
        return;
    }
    connection->peer = peer;
    peer->is_foxglove = protocol != protocols[0];
    if (peer->is_foxglove)
        plx_foxglove_open(&peer->foxglove, connection, &server->feed);
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
        const struct plx_web_site site = {server->config, &server->feed.status, server->access.token[0] != '\0'};
        plx_web_route(&site, connection, request);
    }
}

static void tell_kept(struct plx_web_connection *connection, int error, const char *text, uint32_t pairs)
{
    const char *slash = strrchr(text, '/');
    cJSON *item = cJSON_CreateObject(), *kept = cJSON_AddObjectToObject(item, "kept");
    cJSON_AddStringToObject(kept, error < 0 ? "error" : "name", error < 0 || !slash ? text : slash + 1);
    if (error == 0)
        cJSON_AddNumberToObject(kept, "pairs", pairs);
    plx_web_send_json(connection, item);
}

static void on_kept(void *context, const struct plx_recorder_answer *answer)
{
    struct plx_web_server *server = context;
    if (server->keeper_asker)
        tell_kept(server->keeper_asker, answer->error, answer->text, answer->pairs);
    server->keeper_asker = NULL;
}

/* {"keep": SECONDS}: the flight recorder writes the last seconds -> {"kept": {"name", "pairs"}}, or {"kept": {"error"}}. */
static void keep(struct plx_web_server *server, struct plx_web_connection *connection, const char *text)
{
    struct plx_error_message message = {""};
    cJSON *item = cJSON_Parse(text);
    const cJSON *seconds = cJSON_GetObjectItemCaseSensitive(item, "keep");
    if (cJSON_IsNumber(seconds) && seconds->valuedouble > 0 && seconds->valuedouble <= MAX_KEPT_S) {
        const int result = plx_web_snapshot_ask(&server->snapshot, seconds->valuedouble, &message);
        if (result < 0)
            tell_kept(connection, result, message.text, 0);
        else
            server->keeper_asker = connection;
    }
    cJSON_Delete(item);
}

static void on_message(void *context, struct plx_web_connection *connection, const struct plx_ws_message *message)
{
    struct plx_web_server *server = context;
    struct peer *peer = connection->peer;
    const char *text = (const char *)message->data;
    bool is_json = message->opcode == PLX_WS_TEXT;
    if (is_json && peer->is_foxglove)
        is_json = plx_foxglove_message(&peer->foxglove, connection, text);
    else if (is_json) {
        is_json = plx_web_viewer_message(&peer->viewer, connection, &server->feed, text);
        keep(server, connection, text);
    }
    if (peer->is_foxglove && peer->foxglove.asked)
        plx_web_parameters_ask(&server->parameters);
    if (!is_json)
        plx_web_close(connection, PLX_WS_PROTOCOL_ERROR);
}

static void on_parameters(void *context, const struct plx_config *config)
{
    struct plx_web_server *server = context;
    for (int i = 0; i < server->connections; i++) {
        struct peer *peer = server->connection[i]->peer;
        if (server->connection[i]->phase == PLX_WEB_SOCKET && peer->is_foxglove)
            plx_foxglove_tell_parameters(&peer->foxglove, server->connection[i], config);
    }
}

/* --- listening -------------------------------------------------------------------------------------------------------- */

/* True if CONNECTION counts against the limits; of the address of LIKE only, unless LIKE is NULL. */
static bool is_unauthorized(const struct plx_web_connection *connection, const struct plx_web_connection *like)
{
    return !connection->authorized && connection->phase != PLX_WEB_CLOSED &&
           (!like || strcmp(connection->remote, like->remote) == 0);
}

/* If more than MOST connections are unauthorized, closes the oldest of them; of the address of LIKE only, unless LIKE is NULL.
 */
static void limit_unauthorized(struct plx_web_server *server, const struct plx_web_connection *like, int most)
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
    if (count > most)
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
    server->snapshot = (struct plx_web_snapshot){
        .socket = config->recorder.socket, .event = event, .answered = on_kept, .context = server, .fd = -1};
    server->parameters = (struct plx_web_parameters){
        .socket = config->publish.socket, .answered = on_parameters, .context = server, .done_fd = -1};
    server->fd = -1;
    if (config->web.token_file[0] != '\0')
        result = plx_web_token_read(config->web.token_file, server->access.token, message);
    if (result == 0)
        result = plx_web_listen(config->web.listen, server->access.token[0] != '\0', &server->fd, message);
    if (result == 0 &&
        (sd_event_add_io(event, &server->listener, server->fd, EPOLLIN, on_connection, server) < 0 ||
         plx_web_encoder_create(&server->encoder) < 0 || plx_web_parameters_open(&server->parameters, event) < 0 ||
         plx_web_feed_open(&server->feed, config->publish.socket, event, &server->audience) < 0))
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
    for (int i = 0; i < server->connections; i++) {
        destroy(server->connection[i]);
    }
    plx_web_snapshot_close(&server->snapshot);
    plx_web_parameters_close(&server->parameters);
    plx_web_feed_close(&server->feed);
    plx_foxglove_frame_close(&server->foxglove);
    plx_web_encoder_destroy(server->encoder);
    sd_event_source_disable_unref(server->listener);
    if (server->fd >= 0)
        close(server->fd);
    free(server);
}

void plx_web_server_address(const struct plx_web_server *server, char *ret_text, size_t size)
{
    plx_web_listen_address(server->fd, ret_text, size);
}
