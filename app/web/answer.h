/* SPDX-License-Identifier: Apache-2.0 */
/* Answers to a request: a line of text, JSON, bytes. */
#ifndef PLX_APP_WEB_ANSWER_H
#define PLX_APP_WEB_ANSWER_H

#include "app/web/connection.h"

/* Answers with TEXT as a line. */
void plx_web_answer_text(struct plx_web_connection *connection, int status, const char *text);

/* Answers with ITEM, which it deletes. HEAD sends no content, here and below. */
void plx_web_answer_json(struct plx_web_connection *connection, bool head, cJSON *item);

/* A buffer with BYTES of DATA and one reference, the caller's. NULL: out of memory. */
struct plx_web_buffer *plx_web_buffer_copy(const char *data, size_t bytes);

#endif
