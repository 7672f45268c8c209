/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/mcap/topic_names.h"

#include <stdio.h>
#include <string.h>

#define COMPRESSED "/compressed"

const char *plx_topic_transport(const char *topic)
{
    const char *end = topic + strlen(topic);
    const size_t added = strlen(COMPRESSED);
    return (size_t)(end - topic) > added && strcmp(end - added, COMPRESSED) == 0 ? end - added : end;
}

/* The last part of TOPIC, behind its last slash, without the transport. */
static const char *last_part(const char *topic)
{
    const char *part = plx_topic_transport(topic);
    while (part > topic && part[-1] != '/')
        part--;
    return part;
}

/* "rect" is a word of the last part. */
bool plx_topic_is_rectified(const char *topic)
{
    const char *end = plx_topic_transport(topic);
    for (const char *word = last_part(topic); word < end; word += strcspn(word, "_/") + 1) {
        const size_t length = strcspn(word, "_/");
        if ((length == 4 && strncmp(word, "rect", 4) == 0) || (length == 9 && strncmp(word, "rectified", 9) == 0))
            return true;
    }
    return false;
}

void plx_topic_beside(const char *topic, const char *name, const char *transport, char *ret_topic, size_t size)
{
    snprintf(ret_topic, size, "%.*s%s%s", (int)(last_part(topic) - topic), topic, name, transport);
}
