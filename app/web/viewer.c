/* SPDX-License-Identifier: Apache-2.0 */
#include "app/web/viewer.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include <cjson/cJSON.h>

#include "app/view/export.h"
#include "app/view/json.h"
#include "core/base/clock.h"

#define ON_WAY 2 /* one is drawn while the next one travels */

static void show(struct plx_web_viewer *viewer, const cJSON *names, bool compact)
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

static void pong(struct plx_web_connection *connection, const cJSON *ping)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now); /* the page compares it with its own wall clock */
    cJSON *item = cJSON_CreateObject();
    cJSON_AddItemToObject(item, "pong", cJSON_Duplicate(ping, true));
    cJSON_AddNumberToObject(item, "now_ms", (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6);
    plx_web_send_json(connection, item);
}

bool plx_web_viewer_message(struct plx_web_viewer *viewer, struct plx_web_connection *connection,
                            const struct plx_web_feed *feed, const char *message)
{
    cJSON *item = cJSON_Parse(message);
    const cJSON *names = cJSON_GetObjectItemCaseSensitive(item, "show"), *ack = cJSON_GetObjectItemCaseSensitive(item, "ack"),
                *pixel = cJSON_GetObjectItemCaseSensitive(item, "pixel"),
                *ping = cJSON_GetObjectItemCaseSensitive(item, "ping");
    if (cJSON_IsArray(names))
        show(viewer, names, cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(item, "compact")));
    if (cJSON_IsNumber(ack) && viewer->on_way > 0)
        viewer->on_way--;
    if (cJSON_IsArray(pixel) && cJSON_GetArraySize(pixel) == 2)
        tell_pixel(connection, feed, pixel, cJSON_GetObjectItemCaseSensitive(item, "id"));
    if (cJSON_IsNumber(ping) || cJSON_IsString(ping))
        pong(connection, ping);
    const bool is_object = cJSON_IsObject(item);
    cJSON_Delete(item);
    return is_object;
}

bool plx_web_viewer_wants(const struct plx_web_viewer *viewer, const struct plx_web_connection *connection)
{
    return viewer->want.planes != 0 && viewer->on_way < ON_WAY && !plx_web_is_behind(connection) &&
           (!viewer->want.compact || plx_now_ns() >= viewer->credit_ns);
}

void plx_web_viewer_sent(struct plx_web_viewer *viewer, const struct plx_web_buffer *buffer)
{
    const int64_t now_ns = plx_now_ns(), cost_ns = (int64_t)buffer->bytes * PLX_NS_PER_S / PLX_WEB_SLOW_BYTES_PER_S;
    viewer->on_way++;
    /* Credit for a tenth of a second may be saved, so that a late frame does not lower the rate. */
    const int64_t earliest_ns = now_ns - PLX_NS_PER_S / 10;
    viewer->credit_ns = (viewer->credit_ns > earliest_ns ? viewer->credit_ns : earliest_ns) + cost_ns;
}
