/* SPDX-License-Identifier: Apache-2.0 */
#include "app/web/routes.h"

#include <stdio.h>
#include <string.h>

#include <parallax/error.h>

#include "app/view/calibrating.h"
#include "app/view/metrics.h"
#include "app/web/access.h"
#include "app/web/answer.h"
#include "app/web/assets.h"
#include "app/web/files.h"
#include "core/base/words.h"

/* A request for one of the routes below. */
struct visit {
    const struct plx_web_site *site;
    struct plx_web_connection *connection;
    bool head;
    const char *name, *query; /* the path behind that of the route */
};

/* {NAME: what to do}, for each health flag. */
static cJSON *faults_json(void)
{
    cJSON *faults = cJSON_CreateObject();
    for (int bit = 0; bit < PLX_HEALTH_FLAGS; bit++)
        cJSON_AddStringToObject(faults, plx_health_name(bit), plx_health_advice(bit));
    return faults;
}

static void answer_metrics(const struct visit *visit)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    if (out)
        plx_metrics_print(out, visit->site->status);
    const bool is_whole = out && fclose(out) == 0;
    plx_web_answer(visit->connection, visit->head, is_whole ? 200 : 503, "", "text/plain; version=0.0.4; charset=utf-8",
                   is_whole ? plx_web_buffer_copy(text, bytes) : NULL);
    free(text);
}

static void answer_file(struct plx_web_connection *connection, bool head, const char *directory, const char *name)
{
    char headers[PLX_HTTP_TEXT + 64];
    int fd;
    size_t bytes;
    const int result = plx_web_file_open(directory, name, &fd, &bytes);
    if (result < 0) {
        plx_web_answer_text(connection, result == PLX_ERR_PERMISSION ? 403 : 404, plx_strerror(result));
        return;
    }
    snprintf(headers, sizeof headers, "Content-Disposition: attachment; filename=\"%s\"\r\n", name); /* a plain name */
    plx_web_answer_file(connection, head, headers, "application/octet-stream", fd, bytes);
}

/* The file beside the service's socket that a live calibration writes. */
static void answer_calibrating(const struct visit *visit)
{
    char directory[PATH_MAX], name[PATH_MAX];
    int fd;
    size_t bytes;
    plx_calibrating_path(visit->site->config->publish.socket, directory);
    char *slash = strrchr(directory, '/');
    snprintf(name, sizeof name, "%s", slash ? slash + 1 : directory);
    if (slash)
        *slash = '\0';
    if (!slash || plx_web_file_open(directory, name, &fd, &bytes) < 0)
        plx_web_answer_json(visit->connection, visit->head, cJSON_CreateNull());
    else
        plx_web_answer_file(visit->connection, visit->head, "", "application/json", fd, bytes);
}

/* Takes the token out of the address: the request had the right one. Both are relative to that address, which a proxy may have
 * put a path before: Location, and the cookie's path by its default (RFC 6265, 5.1.4). */
static void remember_token(struct plx_web_connection *connection, const char *token)
{
    char headers[256 + PLX_WEB_TOKEN];
    snprintf(headers, sizeof headers, "Location: ./\r\nSet-Cookie: " PLX_WEB_COOKIE "=%s; HttpOnly; SameSite=Strict\r\n",
             token);
    plx_web_answer(connection, false, 303, headers, "text/plain", NULL);
}

/* --- the table -------------------------------------------------------------------------------------------------------- */

static void answer_status(const struct visit *visit)
{
    plx_web_answer_json(visit->connection, visit->head, plx_status_json(visit->site->status));
}

static void answer_faults(const struct visit *visit)
{
    plx_web_answer_json(visit->connection, visit->head, faults_json());
}

static void answer_files(const struct visit *visit)
{
    const struct plx_config *config = visit->site->config;
    plx_web_answer_json(visit->connection, visit->head,
                        plx_web_files_json(config->blackbox.directory, config->recorder.directory));
}

static void answer_blackbox(const struct visit *visit)
{
    answer_file(visit->connection, visit->head, visit->site->config->blackbox.directory, visit->name);
}

static void answer_recording(const struct visit *visit)
{
    answer_file(visit->connection, visit->head, visit->site->config->recorder.directory, visit->name);
}

static void answer_wall(const struct visit *visit)
{
    plx_web_wall_start(visit->site->wall, visit->connection, visit->head, visit->query, visit->site->status->up);
}

static void answer_wall_picture(const struct visit *visit)
{
    struct plx_web_buffer *picture = visit->site->wall->picture;
    if (picture)
        plx_web_answer(visit->connection, visit->head, 200, "", "image/png", plx_web_buffer_ref(picture));
    else
        plx_web_answer_text(visit->connection, 404, "nothing is measured yet; ask for /wall.json");
}

/* clang-format off */
static const struct route {
    const char *path; /* one that ends with a slash stands for all names behind it */
    void (*answer)(const struct visit *visit);
} routes[] = {
    {"/status.json", answer_status},
    {"/metrics", answer_metrics},
    {"/faults.json", answer_faults},
    {"/files.json", answer_files},
    {"/calibrating.json", answer_calibrating},
    {"/wall.json", answer_wall},
    {"/wall.png", answer_wall_picture},
    {"/blackbox/", answer_blackbox},
    {"/recordings/", answer_recording},
};
/* clang-format on */

/* The rest of PATH behind that of ROUTE; NULL: PATH is another one. */
static const char *match(const struct route *route, const char *path)
{
    const size_t length = strlen(route->path);
    const bool is_folder = route->path[length - 1] == '/';
    return strncmp(path, route->path, length) == 0 && (is_folder || path[length] == '\0') ? path + length : NULL;
}

static void answer_asset(const struct plx_web_site *site, struct plx_web_connection *connection,
                         const struct plx_http_request *request, const struct plx_web_asset *asset)
{
    char token[PLX_WEB_TOKEN];
    if (site->has_token && plx_http_query(request->query, "token", token, sizeof token))
        remember_token(connection, token);
    else
        plx_web_answer(connection, request->head, 200, "", asset->type,
                       plx_web_buffer_copy(asset->data, (size_t)(asset->end - asset->data)));
}

void plx_web_route(const struct plx_web_site *site, struct plx_web_connection *connection,
                   const struct plx_http_request *request)
{
    const struct plx_web_asset *asset = plx_web_asset(request->path);
    if (asset) {
        answer_asset(site, connection, request, asset);
        return;
    }
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++) {
        const char *name = match(&routes[i], request->path);
        if (name) {
            routes[i].answer(&(struct visit){site, connection, request->head, name, request->query});
            return;
        }
    }
    plx_web_answer_text(connection, 404, "there is no such page; begin at /");
}
