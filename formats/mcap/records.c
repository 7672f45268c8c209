/* SPDX-License-Identifier: Apache-2.0 */
/* Records in memory: schemas, channels, messages. */
#include <stdlib.h>

#include <parallax/error.h>

#include "formats/mcap/reader.h"

#define MAX_BYTES (64u << 20) /* all schemas and channels: a small file could claim any number, compressed */

/* A schema or channel with its texts behind it, and the content of its record, by which a second one is compared. */
struct mcap_definition {
    struct mcap_definition *next;
    union {
        struct plx_mcap_schema schema;
        struct plx_mcap_channel channel;
    } what;
    size_t bytes;
    uint8_t content[];
};

int mcap_next_record(const struct plx_mcap_reader *reader, uint64_t at, struct plx_mcap_cursor *records, uint8_t *ret_opcode,
                     struct plx_mcap_cursor *ret_content, struct plx_error_message *message)
{
    const uint8_t opcode = (uint8_t)plx_mcap_get(records, 1);
    const struct plx_mcap_cursor content = plx_mcap_get_part(records, 8);

    if (records->failed)
        return mcap_damaged(reader, at, "a record in it is longer than what it is in", message);
    if (opcode == 0)
        return mcap_damaged(reader, at, "a record in it has opcode 0", message);
    *ret_opcode = opcode;
    *ret_content = content;
    return 0;
}

char *mcap_new_text(const struct plx_mcap_cursor *text)
{
    const size_t bytes = plx_mcap_left(text);
    char *copy = malloc(bytes + 1);
    if (!copy)
        return NULL;
    if (bytes > 0)
        memcpy(copy, text->at, bytes);
    copy[bytes] = '\0';
    plx_clean_text(copy);
    return copy;
}

/* A definition with a copy of CONTENT, and room for two texts behind it. */
static int new_definition(struct plx_mcap_reader *reader, uint64_t at, const struct plx_mcap_cursor *content, size_t text_bytes,
                          struct mcap_definition **ret_definition, struct plx_error_message *message)
{
    const size_t bytes = plx_mcap_left(content), all = sizeof **ret_definition + bytes + text_bytes + 2;

    if (all > MAX_BYTES - reader->definition_bytes)
        return plx_fail(message, PLX_ERR_RANGE, "%s: schemas and channels up to byte %llu have more than %u bytes",
                        reader->path, (unsigned long long)at, MAX_BYTES);
    struct mcap_definition *definition = calloc(1, all);
    if (!definition)
        return plx_fail(message, PLX_ERR_NOMEM, "%s: out of memory for schemas and channels", reader->path);
    memcpy(definition->content, content->at, bytes);
    definition->bytes = bytes;
    definition->next = reader->definitions;
    reader->definitions = definition;
    reader->definition_bytes += all;
    *ret_definition = definition;
    return 0;
}

/* True if the record of WHAT (a schema or channel in a definition) had this CONTENT. */
static bool is_same(const void *what, const struct plx_mcap_cursor *content)
{
    const struct mcap_definition *definition = (const void *)((const uint8_t *)what - offsetof(struct mcap_definition, what));
    return definition->bytes == plx_mcap_left(content) && memcmp(definition->content, content->at, definition->bytes) == 0;
}

/* Copies the text to *END, ends it with a zero and moves *END behind it. */
static const char *put_text(char **end, const struct plx_mcap_cursor *text)
{
    char *copy = *end;
    const size_t bytes = plx_mcap_left(text);
    memcpy(copy, text->at, bytes);
    copy[bytes] = '\0';
    plx_clean_text(copy);
    *end += bytes + 1;
    return copy;
}

int mcap_define_schema(struct plx_mcap_reader *reader, uint64_t at, struct plx_mcap_cursor content,
                       struct plx_error_message *message)
{
    struct plx_mcap_cursor rest = content;
    struct mcap_definition *definition;
    const uint16_t id = (uint16_t)plx_mcap_get(&rest, 2);
    const struct plx_mcap_cursor name = plx_mcap_get_part(&rest, 4), encoding = plx_mcap_get_part(&rest, 4);
    const struct plx_mcap_cursor data = plx_mcap_get_part(&rest, 4);

    if (rest.failed)
        return mcap_damaged(reader, at, "a schema is shorter than its texts", message);
    if (id == 0) /* the format says that readers ignore it */
        return 0;
    if (reader->schema[id])
        return is_same(reader->schema[id], &content)
                   ? 0
                   : mcap_damaged(reader, at, "two different schemas have the same id", message);
    int result = new_definition(reader, at, &content, plx_mcap_left(&name) + plx_mcap_left(&encoding), &definition, message);
    if (result < 0)
        return result;
    char *end = (char *)definition->content + definition->bytes;
    struct plx_mcap_schema *schema = &definition->what.schema;
    schema->id = id;
    schema->name = put_text(&end, &name);
    schema->encoding = put_text(&end, &encoding);
    schema->data = definition->content + (data.at - content.at);
    schema->bytes = plx_mcap_left(&data);
    reader->schema[id] = schema;
    return 0;
}

/* The map is pairs of texts to its end. */
static bool is_map(struct plx_mcap_cursor map)
{
    while (!map.failed && plx_mcap_left(&map) > 0) {
        plx_mcap_get_part(&map, 4);
        plx_mcap_get_part(&map, 4);
    }
    return !map.failed;
}

bool plx_mcap_channel_has(const struct plx_mcap_channel *channel, const char *key)
{
    struct plx_mcap_cursor map = {.at = channel->metadata, .end = channel->metadata + channel->metadata_bytes};
    while (!map.failed && plx_mcap_left(&map) > 0) {
        const struct plx_mcap_cursor found = plx_mcap_get_part(&map, 4);
        plx_mcap_get_part(&map, 4);
        if (!map.failed && plx_mcap_left(&found) == strlen(key) && memcmp(found.at, key, strlen(key)) == 0)
            return true;
    }
    return false;
}

int mcap_define_channel(struct plx_mcap_reader *reader, uint64_t at, struct plx_mcap_cursor content,
                        struct plx_error_message *message)
{
    struct plx_mcap_cursor rest = content;
    struct mcap_definition *definition;
    const uint16_t id = (uint16_t)plx_mcap_get(&rest, 2), schema = (uint16_t)plx_mcap_get(&rest, 2);
    const struct plx_mcap_cursor topic = plx_mcap_get_part(&rest, 4), encoding = plx_mcap_get_part(&rest, 4);
    const struct plx_mcap_cursor metadata = plx_mcap_get_part(&rest, 4);

    if (rest.failed || !is_map(metadata))
        return mcap_damaged(reader, at, "a channel is shorter than its texts", message);
    if (reader->channel[id])
        return is_same(reader->channel[id], &content)
                   ? 0
                   : mcap_damaged(reader, at, "two different channels have the same id", message);
    if (schema != 0 && !reader->schema[schema])
        return mcap_damaged(reader, at, "a channel has a schema that is not in the file before it", message);
    int result = new_definition(reader, at, &content, plx_mcap_left(&topic) + plx_mcap_left(&encoding), &definition, message);
    if (result < 0)
        return result;
    char *end = (char *)definition->content + definition->bytes;
    struct plx_mcap_channel *channel = &definition->what.channel;
    channel->id = id;
    channel->schema = reader->schema[schema];
    channel->metadata = definition->content + (metadata.at - content.at);
    channel->metadata_bytes = plx_mcap_left(&metadata);
    channel->topic = put_text(&end, &topic);
    channel->encoding = put_text(&end, &encoding);
    reader->channel[id] = channel;
    return 0;
}

void mcap_free_definitions(struct plx_mcap_reader *reader)
{
    for (struct mcap_definition *next; reader->definitions; reader->definitions = next) {
        next = reader->definitions->next;
        free(reader->definitions);
    }
}

int mcap_parse_message(const struct plx_mcap_reader *reader, uint64_t at, struct plx_mcap_cursor content,
                       struct plx_mcap_message *ret_message, struct plx_error_message *message)
{
    struct plx_mcap_header header;

    header.channel = (uint16_t)plx_mcap_get(&content, 2);
    header.sequence = (uint32_t)plx_mcap_get(&content, 4);
    header.log_ns = plx_mcap_get(&content, 8);
    header.publish_ns = plx_mcap_get(&content, 8);
    if (content.failed)
        return mcap_damaged(reader, at, "a message is shorter than its fields", message);
    if (!reader->channel[header.channel])
        return mcap_damaged(reader, at, "a message has a channel that is not in the file before it", message);
    *ret_message = (struct plx_mcap_message){header, reader->channel[header.channel], content.at, plx_mcap_left(&content)};
    return 0;
}
