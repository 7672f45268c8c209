/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is served over HTTP beside the socket:
 *   /                   the page and its files
 *   /status.json        as `parallax status --json`
 *   /metrics            as `parallax metrics`
 *   /faults.json        {NAME: what to do}, for each health flag
 *   /files.json         {"blackbox": [...], "recordings": [...]}, see app/web/files.h
 *   /calibrating.json   how `parallax calibrate --live` goes; null: none runs
 *   /wall.json          as `parallax wall --json`, after ?frames=N (30) frames, with ?distance=M; see app/web/wall.h
 *   /wall.png           the picture of the newest such measurement
 *   /blackbox/NAME      one of them
 *   /recordings/NAME    likewise
 */
#ifndef PLX_APP_WEB_ROUTES_H
#define PLX_APP_WEB_ROUTES_H

#include "app/view/status.h"
#include "app/web/connection.h"
#include "app/web/wall.h"
#include "config/config.h"

struct plx_web_site {
    const struct plx_config *config;
    const struct plx_status *status;
    struct plx_web_wall *wall;
    bool has_token; /* a token in a URL becomes a cookie, so that it does not stay in the address bar */
};

/* Answers REQUEST, which may look. */
void plx_web_route(const struct plx_web_site *site, struct plx_web_connection *connection,
                   const struct plx_http_request *request);

#endif
