/* SPDX-License-Identifier: Apache-2.0 */
#include "app/web/wall.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "app/view/export.h"
#include "app/web/answer.h"
#include "app/web/http.h"
#include "config/text.h"

#define SILENT_NS (3 * PLX_NS_PER_S)

/* --- the request ------------------------------------------------------------------------------------------------------ */

struct number {
    const char *name, *kind;
    double min, max;
    bool is_whole;
};

/* Also where its value is missing or cannot be decoded, which plx_http_query does not tell from a name that is not there. */
static bool is_named(const char *query, const char *name)
{
    for (const char *at = query; (at = strstr(at, name)); at++)
        if (at == query || at[-1] == '&')
            return true;
    return false;
}

/* Reads NUMBER of QUERY, where it is given. RANGE. */
static int read_number(const char *query, const struct number *number, double *ret_value, struct plx_error_message *message)
{
    char text[PLX_HTTP_TEXT] = "", quoted[PLX_QUOTED_TEXT];
    double value = NAN;

    if (!is_named(query, number->name))
        return 0;
    const bool is_read = plx_http_query(query, number->name, text, sizeof text) && plx_parse_real(text, &value);
    if (!is_read || value < number->min || value > number->max || (number->is_whole && value != floor(value)))
        return plx_fail(message, PLX_ERR_RANGE, "%s: \"%s\"; expected %s from %g to %g", number->name, plx_quote(text, quoted),
                        number->kind, number->min, number->max);
    *ret_value = value;
    return 0;
}

static int read_query(const char *query, double *ret_frames, double *ret_distance_m, struct plx_error_message *message)
{
    static const struct number frames = {"frames", "a whole number", 1, PLX_WEB_WALL_MAX_FRAMES, true};
    static const struct number distance = {"distance", "metres, such as 3.00,", PLX_WALL_MIN_DISTANCE_M,
                                           PLX_WALL_MAX_DISTANCE_M, false};
    const int result = read_number(query, &frames, ret_frames, message);
    return result < 0 ? result : read_number(query, &distance, ret_distance_m, message);
}

/* The other side of a connection may be gone without its owner having noticed. */
static bool is_awaited(const struct plx_web_wall *wall)
{
    return wall->connection && wall->connection->phase == PLX_WEB_WAITING;
}

static void end(struct plx_web_wall *wall)
{
    plx_wall_measurement_end(&wall->measurement);
    wall->connection = NULL;
}

static void refuse(struct plx_web_wall *wall, int status, const char *text)
{
    plx_web_answer_text(wall->connection, status, text);
    end(wall);
}

void plx_web_wall_start(struct plx_web_wall *wall, struct plx_web_connection *connection, bool head, const char *query, bool up)
{
    struct plx_error_message message = {""};
    double frames = PLX_WALL_FRAMES, distance_m = NAN;

    if (read_query(query, &frames, &distance_m, &message) < 0)
        plx_web_answer_text(connection, 400, message.text);
    else if (is_awaited(wall))
        plx_web_answer_text(connection, 429, "another viewer measures; try again when that is done");
    else if (!up)
        plx_web_answer_text(connection, 503, "the service is not running; start parallaxd");
    else {
        end(wall);
        plx_wall_measurement_begin(distance_m, &wall->measurement);
        wall->connection = connection;
        wall->head = head;
        wall->frames = (int)frames;
        wall->measured = 0;
        wall->heard_ns = plx_now_ns();
        plx_web_defer_answer(connection);
    }
}

/* --- frames ----------------------------------------------------------------------------------------------------------- */

bool plx_web_wall_wants_frame(const struct plx_web_wall *wall)
{
    return is_awaited(wall) && plx_now_ns() >= wall->rest_ns;
}

/* NOMEM. */
static int keep_picture(struct plx_web_wall *wall)
{
    struct plx_rgb_image drawing;
    char *bytes = NULL;
    size_t count = 0;
    int result = plx_wall_measurement_draw(&wall->measurement, &drawing);

    if (result < 0)
        return result;
    result = plx_export_rgb_bytes(&drawing, &bytes, &count);
    plx_rgb_image_destroy(&drawing);
    struct plx_web_buffer *picture = result == 0 ? plx_web_buffer_copy(bytes, count) : NULL;
    free(bytes);
    if (!picture)
        return PLX_ERR_NOMEM;
    plx_web_buffer_unref(wall->picture);
    wall->picture = picture;
    return 0;
}

static void answer(struct plx_web_wall *wall)
{
    plx_wall_measurement_judge(&wall->measurement);
    if (keep_picture(wall) < 0) {
        refuse(wall, 503, "out of memory");
        return;
    }
    plx_web_answer_json(wall->connection, wall->head, plx_wall_json(&wall->measurement.result));
    end(wall);
}

void plx_web_wall_add(struct plx_web_wall *wall, struct plx_frame *frame)
{
    struct plx_error_message message = {""};
    const int64_t begun_ns = plx_now_ns();

    if (!is_awaited(wall))
        end(wall);
    else if (begun_ns < wall->rest_ns || plx_is_fresh(frame) <= 0)
        return;
    else if (plx_wall_measurement_add(&wall->measurement, frame, &message) < 0)
        refuse(wall, 503, message.text);
    else {
        wall->heard_ns = plx_now_ns();
        wall->rest_ns = 2 * wall->heard_ns - begun_ns; /* as long as this frame took */
        if (++wall->measured == wall->frames)
            answer(wall);
    }
}

void plx_web_wall_check(struct plx_web_wall *wall, int64_t now_ns)
{
    if (is_awaited(wall) && now_ns - wall->heard_ns > SILENT_NS)
        refuse(wall, 503, "no fresh picture for 3 s; see the health of the service");
}

cJSON *plx_web_wall_progress(const struct plx_web_wall *wall)
{
    if (!is_awaited(wall))
        return NULL;
    cJSON *item = cJSON_CreateObject();
    cJSON_AddNumberToObject(item, "measured", wall->measured);
    cJSON_AddNumberToObject(item, "frames", wall->frames);
    return item;
}

/* --- life ------------------------------------------------------------------------------------------------------------- */

void plx_web_wall_forget(struct plx_web_wall *wall, const struct plx_web_connection *connection)
{
    if (wall->connection == connection)
        end(wall);
}

void plx_web_wall_close(struct plx_web_wall *wall)
{
    end(wall);
    plx_web_buffer_unref(wall->picture);
    wall->picture = NULL;
}
