/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests of HTTP/1.1 (RFC 9112) as far as a viewer needs them: GET and HEAD without content, one for each connection, and the
 * upgrade to WebSocket (RFC 6455). Whatever is ambiguous is refused, so that no proxy reads a request otherwise than we do.
 */
#ifndef PLX_APP_WEB_HTTP_H
#define PLX_APP_WEB_HTTP_H

#include <stdbool.h>
#include <stddef.h>

#define PLX_HTTP_MAX_BYTES 8192 /* longest request */
#define PLX_HTTP_TEXT 512
#define PLX_WEB_PAGE_PROTOCOL "parallax.v1" /* the WebSocket of the page, which can ask for recordings */

/* Texts end with a 0, and are empty where the request has none. */
struct plx_http_request {
    bool head;                 /* HEAD: the answer has no content */
    char path[PLX_HTTP_TEXT];  /* decoded; begins with '/', without segments "." and "..", control characters and zeros */
    char query[PLX_HTTP_TEXT]; /* as sent, behind the '?' */
    char host[PLX_HTTP_TEXT];
    char origin[PLX_HTTP_TEXT];
    char cookie[PLX_HTTP_TEXT];
    char authorization[PLX_HTTP_TEXT];
    char key[32]; /* Sec-WebSocket-Key; with a text, this is a valid upgrade */
    char protocols[PLX_HTTP_TEXT];
};

/* Reads the request at the begin of COUNT BYTES. 1: it is whole and in *ret_request; 0: more bytes are needed; negative: it is
 * refused, with this HTTP status, such as -400. Outputs are untouched otherwise. */
int plx_http_parse(const char *bytes, size_t count, struct plx_http_request *ret_request);

/* Copies the value of NAME in QUERY ("a=1&b=2"), decoded, into RET_VALUE. False: it is not there, or longer than SIZE. */
bool plx_http_query(const char *query, const char *name, char *ret_value, size_t size);

/* Likewise of a Cookie ("a=1; b=2"), as it is. */
bool plx_http_cookie(const char *cookie, const char *name, char *ret_value, size_t size);

/* True if WORD is in the comma-separated LIST, as of a header. */
bool plx_http_lists(const char *list, const char *word);

/* "Not Found" for 404. */
const char *plx_http_reason(int status);

#endif
