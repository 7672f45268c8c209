/* SPDX-License-Identifier: Apache-2.0 */
#include "app/web/viewer.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include <cjson/cJSON.h>

#include "app/view/export.h"
#include "app/view/json.h"
#include "app/web/boxes.h"
#include "core/base/clock.h"

#define ON_WAY 2 /* one is drawn while the next one travels */
#define MAX_KEPT_S 3600.0

struct viewer {
    struct plx_web_peer peer;
    struct plx_web_want want;
    struct plx_web_boxes boxes; /* located with each frame */
    int on_way;                 /* frames sent, without an acknowledgement */
    int64_t credit_ns;          /* a compact viewer gets no frame before */
};

static void show(struct viewer *viewer, const cJSON *names, bool compact)
{
    const cJSON *name;
    viewer->want = (struct plx_web_want){.compact = compact};
    cJSON_ArrayForEach (name, names)
        for (int id = 0; id < PLX_WEB_PLANES; id++)
            if (cJSON_IsString(name) && strcmp(name->valuestring, plx_web_plane_names[id]) == 0)
                viewer->want.planes |= 1u << id;
}

/* A whole number of 0 and more; -1: NUMBER is none. */
static int64_t whole(const cJSON *number)
{
    return cJSON_IsNumber(number) && number->valuedouble >= 0 && number->valuedouble < 1e15 ? (int64_t)number->valuedouble : -1;
}

/* What the last frame shows at a pixel of the left picture: null where nothing is known. */
static void tell_pixel(struct plx_web_connection *connection, const struct plx_web_feed *feed, const cJSON *pixel,
                       const cJSON *id)
{
    const int64_t x = whole(cJSON_GetArrayItem(pixel, 0)), y = whole(cJSON_GetArrayItem(pixel, 1));
    float point[3] = {NAN, NAN, NAN}, disparity = NAN;
    if (feed->frame && x >= 0 && y >= 0 && x < feed->frame->width && y < feed->frame->height) {
        const struct plx_view view = plx_export_view(feed->frame);
        disparity = plx_disparity_px(&view, (uint32_t)x, (uint32_t)y);
        plx_point(&view, (uint32_t)x, (uint32_t)y, point);
    }
    cJSON *item = cJSON_CreateObject(), *point_item = cJSON_CreateArray();
    cJSON_AddItemToObject(item, "pixel", cJSON_Duplicate(pixel, true));
    cJSON_AddItemToObject(item, "id", cJSON_IsNumber(id) ? cJSON_Duplicate(id, true) : cJSON_CreateNull());
    cJSON_AddItemToObject(item, "disparity_px", plx_json_number((double)disparity, 4));
    for (int i = 0; i < 3; i++)
        cJSON_AddItemToArray(point_item, plx_json_number((double)point[i], 4));
    cJSON_AddItemToObject(item, "point_m", point_item);
    plx_web_send_json(connection, item);
}

static void take_boxes(struct viewer *viewer, const cJSON *list)
{
    if (!list || plx_web_boxes_read(list, &viewer->boxes) == 0)
        return;
    cJSON *item = cJSON_CreateObject();
    cJSON_AddStringToObject(item, "refused", PLX_WEB_BOXES_EXPECTED);
    plx_web_send_json(viewer->peer.connection, item);
}

static void tell_boxes(const struct viewer *viewer, const struct plx_frame *frame)
{
    if (viewer->boxes.count == 0)
        return;
    cJSON *item = cJSON_CreateObject();
    cJSON_AddItemToObject(item, "located", plx_web_boxes_locate(&viewer->boxes, frame));
    plx_web_send_json(viewer->peer.connection, item);
}

static void pong(struct plx_web_connection *connection, const cJSON *ping)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now); /* the page compares it with its own wall clock */
    cJSON *item = cJSON_CreateObject();
    cJSON_AddItemToObject(item, "pong", cJSON_Duplicate(ping, true));
    cJSON_AddNumberToObject(item, "now_ms", (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6);
    plx_web_send_json(connection, item);
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

void plx_web_viewer_tell_snapshot(struct plx_web_connection *connection, const struct plx_recorder_answer *answer)
{
    tell_kept(connection, answer->error, answer->text, answer->pairs);
}

static void keep(struct plx_web_connection *connection, struct plx_web_hub *hub, const cJSON *seconds)
{
    struct plx_error_message message = {""};
    if (!cJSON_IsNumber(seconds) || seconds->valuedouble <= 0 || seconds->valuedouble > MAX_KEPT_S)
        return;
    const int result = plx_web_snapshot_ask(&hub->snapshot, seconds->valuedouble, &message);
    if (result < 0)
        tell_kept(connection, result, message.text, 0);
    else
        hub->snapshot_request = connection;
}

static bool handle(struct plx_web_peer *peer, struct plx_web_hub *hub, const char *text)
{
    struct viewer *viewer = (struct viewer *)peer;
    cJSON *item = cJSON_Parse(text);
    const cJSON *names = cJSON_GetObjectItemCaseSensitive(item, "show"), *ack = cJSON_GetObjectItemCaseSensitive(item, "ack"),
                *pixel = cJSON_GetObjectItemCaseSensitive(item, "pixel"),
                *ping = cJSON_GetObjectItemCaseSensitive(item, "ping");
    if (cJSON_IsArray(names))
        show(viewer, names, cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(item, "compact")));
    if (cJSON_IsNumber(ack) && viewer->on_way > 0)
        viewer->on_way--;
    if (cJSON_IsArray(pixel) && cJSON_GetArraySize(pixel) == 2)
        tell_pixel(peer->connection, &hub->feed, pixel, cJSON_GetObjectItemCaseSensitive(item, "id"));
    take_boxes(viewer, cJSON_GetObjectItemCaseSensitive(item, "boxes"));
    if (cJSON_IsNumber(ping) || cJSON_IsString(ping))
        pong(peer->connection, ping);
    keep(peer->connection, hub, cJSON_GetObjectItemCaseSensitive(item, "keep"));
    const bool is_object = cJSON_IsObject(item);
    cJSON_Delete(item);
    return is_object;
}

static bool wants_frame(const struct plx_web_peer *peer)
{
    const struct viewer *viewer = (const struct viewer *)peer;
    return viewer->want.planes != 0 && viewer->on_way < ON_WAY && !plx_web_is_behind(peer->connection) &&
           (!viewer->want.compact || plx_now_ns() >= viewer->credit_ns);
}

static void count_sent(struct viewer *viewer, size_t bytes)
{
    const int64_t now_ns = plx_now_ns(), cost_ns = (int64_t)bytes * PLX_NS_PER_S / PLX_WEB_SLOW_BYTES_PER_S;
    viewer->on_way++;
    /* Credit for a tenth of a second may be saved, so that a late frame does not lower the rate. */
    const int64_t earliest_ns = now_ns - PLX_NS_PER_S / 10;
    viewer->credit_ns = (viewer->credit_ns > earliest_ns ? viewer->credit_ns : earliest_ns) + cost_ns;
}

static void send_frame(struct plx_web_peer *peer, struct plx_web_hub *hub)
{
    struct viewer *viewer = (struct viewer *)peer;
    struct plx_web_buffer *buffer = plx_web_packet_get(&hub->packets, &hub->feed, &viewer->want);
    if (!buffer)
        return;
    tell_boxes(viewer, hub->feed.frame);
    count_sent(viewer, buffer->bytes);
    plx_web_send(peer->connection, PLX_WS_BINARY, buffer);
}

static char *state_text(const struct plx_web_hub *hub, bool is_second)
{
    cJSON *item = cJSON_CreateObject();
    cJSON_AddItemToObject(item, "service", plx_status_json(&hub->feed.status));
    cJSON_AddBoolToObject(item, "rates", is_second);
    cJSON *progress = plx_web_wall_progress(&hub->wall);
    if (progress)
        cJSON_AddItemToObject(item, "wall", progress);
    char *text = cJSON_PrintUnformatted(item);
    cJSON_Delete(item);
    return text;
}

/* Also without frames: a page that hears nothing calls everything unknown. */
static void tell_state(struct plx_web_peer *peer, struct plx_web_hub *hub, bool is_second)
{
    if (plx_web_is_behind(peer->connection))
        return;
    if (!hub->state)
        hub->state = state_text(hub, is_second);
    if (hub->state)
        plx_web_send_text(peer->connection, hub->state);
}

static void close_viewer(struct plx_web_peer *peer, struct plx_web_hub *hub)
{
    if (hub->snapshot_request == peer->connection)
        hub->snapshot_request = NULL;
}

const struct plx_web_peer_ops plx_web_viewer_ops = {
    .protocol = {PLX_WEB_PAGE_PROTOCOL},
    .bytes = sizeof(struct viewer),
    .close = close_viewer,
    .message = handle,
    .wants_frame = wants_frame,
    .send_frame = send_frame,
    .tell_state = tell_state,
};
