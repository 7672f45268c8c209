/* SPDX-License-Identifier: Apache-2.0 */
#include "app/web/answer.h"

#include <stdio.h>
#include <string.h>

struct plx_web_buffer *plx_web_buffer_copy(const char *data, size_t bytes)
{
    struct plx_web_buffer *buffer = plx_web_buffer_create(bytes);
    if (buffer)
        memcpy(buffer->data, data, bytes);
    return buffer;
}

void plx_web_answer_text(struct plx_web_connection *connection, int status, const char *text)
{
    char line[640];
    snprintf(line, sizeof line, "%s\n", text);
    plx_web_answer(connection, false, status, status == 401 ? "WWW-Authenticate: Bearer\r\n" : "", "text/plain; charset=utf-8",
                   plx_web_buffer_copy(line, strlen(line)));
}

void plx_web_answer_json(struct plx_web_connection *connection, bool head, cJSON *item)
{
    char *text = cJSON_PrintUnformatted(item);
    plx_web_answer(connection, head, text ? 200 : 503, "", "application/json",
                   text ? plx_web_buffer_copy(text, strlen(text)) : NULL);
    cJSON_free(text);
    cJSON_Delete(item);
}
