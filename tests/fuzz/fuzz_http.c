/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer: any bytes as a request to parallax-web. What is accepted names a plain path, and may be cut anywhere without being
 * accepted too early. */
#include <stdlib.h>
#include <string.h>

#include "app/web/access.h"
#include "app/web/http.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct plx_web_access access = {.token = "0123456789abcdef", .names = "robot", .origins = "https://x.example"};
    struct plx_http_request request, shorter;
    struct plx_error_message message;
    char value[PLX_HTTP_TEXT];
    const int result = plx_http_parse((const char *)data, size, &request);
    if (result != 1)
        return 0;
    if (request.path[0] != '/' || strstr(request.path, "/../") || strchr(request.path, '\\') || request.host[0] == '\0')
        abort();
    const char *end = memmem(data, size, "\r\n\r\n", 4);
    if (!end || plx_http_parse((const char *)data, (size_t)(end - (const char *)data) + 3, &shorter) != 0)
        abort();
    plx_http_query(request.query, "token", value, sizeof value);
    plx_http_lists(request.protocols, "parallax.v1");
    plx_web_check(&access, &request, "127.0.0.1", &message);
    return 0;
}
