/* SPDX-License-Identifier: Apache-2.0 */
/* The page, its socket, and what else parallax-web serves over HTTP. For the thread of the event loop. */
#ifndef PLX_APP_WEB_SERVER_H
#define PLX_APP_WEB_SERVER_H

#include <systemd/sd-event.h>

#include "config/config.h"
#include "core/base/text.h"

struct plx_web_server;

/* Listens where CONFIG says, which outlives the server, and looks for the service at publish.socket. Errors, each with a
 * sentence: ARG (web.listen is no address, or other machines reach it and there is no token), NOT_FOUND, PERMISSION, RANGE,
 * FORMAT (web.token_file), BUSY (the port is taken), IO, NOMEM. */
int plx_web_server_create(sd_event *event, const struct plx_config *config, struct plx_web_server **ret_server,
                          struct plx_error_message *message);
void plx_web_server_destroy(struct plx_web_server *server); /* NULL is fine */

/* Where a browser on this machine finds the page: "http://127.0.0.1:8765/". */
void plx_web_server_address(const struct plx_web_server *server, char *ret_text, size_t size);

#endif
