/* SPDX-License-Identifier: Apache-2.0 */
/* The port that parallax-web listens at. */
#ifndef PLX_APP_WEB_LISTEN_H
#define PLX_APP_WEB_LISTEN_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/text.h"

/* Listens at TEXT: "ADDRESS:PORT", "[ADDRESS]:PORT", or "PORT" of the loopback. *ret_fd is the caller's. ARG: TEXT is none of
 * these, or an address that other machines reach while there is no token; BUSY: somebody listens there; PERMISSION, IO. */
int plx_web_listen(const char *text, bool has_token, int *ret_fd, struct plx_error_message *message);

/* Where a browser on this machine finds it: "http://127.0.0.1:8765/". */
void plx_web_listen_address(int fd, char *ret_text, size_t size);

#endif
