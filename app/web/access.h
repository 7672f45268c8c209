/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who may look. A browser that visits another site must not read the robot's pictures for it: Host is checked against DNS
 * rebinding, Origin against sockets of other sites (RFC 6455, 10.2); file:// may open Foxglove's socket alone. Beyond this
 * machine a token is needed as well. Within it, and without a token, those users may look who may open the service's socket.
 */
#ifndef PLX_APP_WEB_ACCESS_H
#define PLX_APP_WEB_ACCESS_H

#include "app/web/http.h"
#include "core/base/text.h"

#define PLX_WEB_TOKEN 128    /* bytes, with its 0 */
#define PLX_WEB_MIN_TOKEN 16 /* characters */
#define PLX_WEB_COOKIE "parallax_token"

struct plx_web_access {
    char token[PLX_WEB_TOKEN];  /* "": none is needed */
    const char *names;          /* further names of this machine, separated by commas */
    const char *origins;        /* other sites that may open a socket, likewise; the caller's */
    const char *socket, *group; /* the service's socket and publish.group; the caller's */
};

/* Reads the first line of the file PATH as the token. Errors: NOT_FOUND, PERMISSION (also where others may read it), IO, RANGE
 * (too short or too long), FORMAT (no file; letters, digits, '-', '_' and '.' are a token's). */
int plx_web_token_read(const char *path, char ret_token[PLX_WEB_TOKEN], struct plx_error_message *message);

/* 0, or the HTTP status with which REQUEST is refused: 421 (Host), 403 (Origin), 401 (token), with a sentence that says what to
 * do. LOCAL: the address that the client connected to, as in a URL, such as "192.168.1.7" or "[::1]". */
int plx_web_check(const struct plx_web_access *access, const struct plx_http_request *request, const char *local,
                  struct plx_error_message *message);

/* Where no token is asked for: 0 if the user at the other end of the connection FD may open the service's socket, else 403,
 * with a sentence. */
int plx_web_check_user(const struct plx_web_access *access, int fd, struct plx_error_message *message);

#endif
