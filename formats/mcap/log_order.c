/* SPDX-License-Identifier: Apache-2.0 */
/* Messages by log time: chunks are loaded when their time comes, and kept until their last message. */
#include <stdlib.h>

#include <parallax/error.h>

#include "formats/mcap/reader.h"

#define MAX_BYTES (2 * (uint64_t)PLX_MCAP_MAX_BYTES) /* chunks that overlap in time */

/* A message of a loaded chunk. */
struct entry {
    uint64_t log_ns;
    struct plx_mcap_cursor content;
};

struct slot {
    struct mcap_chunk chunk;
    struct plx_mcap_buffer entries; /* struct entry, sorted; used 0: the slot is free */
    size_t count, next;
};

struct mcap_log_order {
    struct mcap_summary summary;
    size_t next; /* chunk index */
    struct slot *slot;
    size_t slots;
    uint64_t messages; /* returned */
};

static const struct entry *first_of(const struct slot *slot)
{
    if (slot->next >= slot->count)
        return NULL;
    const struct entry *entries = (const void *)slot->entries.data;
    return &entries[slot->next];
}

/* The slot with the earliest message; NULL: all are empty. */
static struct slot *earliest(const struct mcap_log_order *order)
{
    struct slot *best = NULL;

    for (size_t i = 0; i < order->slots; i++) {
        struct slot *slot = &order->slot[i];
        const struct entry *entry = first_of(slot), *other = best ? first_of(best) : NULL;
        if (entry &&
            (!other || entry->log_ns < other->log_ns || (entry->log_ns == other->log_ns && slot->chunk.at < best->chunk.at)))
            best = slot;
    }
    return best;
}

/* A free slot; those of chunks whose messages were all returned are free. */
static int find_slot(struct plx_mcap_reader *reader, uint64_t bytes, struct slot **ret_slot, struct plx_error_message *message)
{
    struct mcap_log_order *order = reader->log_order;
    uint64_t held = 0;
    struct slot *found = NULL;

    for (size_t i = 0; i < order->slots; i++) {
        struct slot *slot = &order->slot[i];
        if (first_of(slot))
            held += slot->chunk.plain.used;
        else
            found = slot;
    }
    if (held + bytes > MAX_BYTES)
        return plx_fail(message, PLX_ERR_RANGE, "%s: more than %llu bytes of chunks overlap in time. Read it in file order",
                        reader->path, (unsigned long long)MAX_BYTES);
    if (!found) {
        struct slot *slot = realloc(order->slot, (order->slots + 1) * sizeof *slot);
        if (!slot)
            return plx_fail(message, PLX_ERR_NOMEM, "%s: out of memory for chunks", reader->path);
        order->slot = slot;
        found = &slot[order->slots++];
        *found = (struct slot){0};
    }
    *ret_slot = found;
    return 0;
}

static int by_time(const void *a, const void *b)
{
    const struct entry *left = a, *right = b;
    return left->log_ns != right->log_ns ? (left->log_ns > right->log_ns) - (left->log_ns < right->log_ns)
                                         : (left->content.at > right->content.at) - (left->content.at < right->content.at);
}

/* Lists the messages of the slot's chunk. */
static int list_messages(struct plx_mcap_reader *reader, struct slot *slot, struct plx_error_message *message)
{
    const struct mcap_chunk *chunk = &slot->chunk;
    struct plx_mcap_cursor records = {chunk->plain.data, chunk->plain.data + chunk->plain.used, false};
    struct entry entry;
    uint8_t opcode;
    int result = 0;

    slot->entries.used = 0;
    while (result == 0 && plx_mcap_left(&records) > 0) {
        struct plx_mcap_message parsed;
        result = mcap_next_record(reader, chunk->at, &records, &opcode, &entry.content, message);
        if (result < 0 || opcode != PLX_MCAP_MESSAGE)
            continue;
        result = mcap_parse_message(reader, chunk->at, entry.content, &parsed, message);
        if (result == 0 && (parsed.header.log_ns < chunk->start_ns || parsed.header.log_ns > chunk->end_ns))
            result = mcap_damaged(reader, chunk->at, "a message's log time is outside the times of its chunk", message);
        if (result == 0 && (result = plx_mcap_reserve(&slot->entries, sizeof entry)) < 0)
            plx_fail(message, result, "%s: out of memory for a list of messages", reader->path);
        if (result < 0)
            break;
        entry.log_ns = parsed.header.log_ns;
        plx_mcap_put(&slot->entries, &entry, sizeof entry);
    }
    if (result < 0)
        return result;
    slot->next = 0;
    slot->count = slot->entries.used / sizeof entry;
    if (slot->count > 0)
        qsort(slot->entries.data, slot->count, sizeof entry, by_time);
    return 0;
}

/* Loads the next chunk; a damaged one is passed. */
static int load_next(struct plx_mcap_reader *reader, struct plx_error_message *message)
{
    struct mcap_log_order *order = reader->log_order;
    const struct mcap_chunk_index *index = &order->summary.index[order->next];
    uint8_t prefix[PLX_MCAP_PREFIX_BYTES];
    struct plx_mcap_cursor cursor = {prefix, prefix + sizeof prefix, false};
    struct slot *slot = NULL;
    int result = mcap_read_at(reader, index->at, prefix, sizeof prefix, message);

    if (result == 0)
        result = find_slot(reader, index->plain_bytes < PLX_MCAP_MAX_BYTES ? index->plain_bytes : 0, &slot, message);
    if (result == PLX_ERR_IO || result == PLX_ERR_NOMEM)
        return result;
    order->next++;
    if (result < 0 || !slot)
        return result;
    const bool is_chunk = plx_mcap_get(&cursor, 1) == PLX_MCAP_CHUNK;
    if (!is_chunk || plx_mcap_get(&cursor, 8) != index->length - sizeof prefix)
        return mcap_damaged(reader, index->at, "there is no chunk of the length that its index states", message);
    slot->count = slot->next = 0;
    result = mcap_read_content(reader, index->at, index->length - sizeof prefix, message);
    if (result == 0)
        result = mcap_load_chunk(reader, index->at, &slot->chunk, message);
    if (result == 0 && (slot->chunk.start_ns != index->start_ns || slot->chunk.end_ns != index->end_ns ||
                        slot->chunk.plain.used != index->plain_bytes))
        result = mcap_damaged(reader, index->at, "the chunk is not what its index states", message);
    return result < 0 ? result : list_messages(reader, slot, message);
}

/* Behind the last message. */
static int end(struct plx_mcap_reader *reader, struct plx_error_message *message)
{
    struct mcap_log_order *order = reader->log_order;
    const bool is_short = order->summary.has_statistics && order->messages != order->summary.messages;

    order->summary.has_statistics = false; /* said once */
    if (is_short)
        return plx_fail(message, PLX_ERR_FORMAT,
                        "%s: its index leads to %llu messages, and its statistics state %llu. Read it in "
                        "file order",
                        reader->path, (unsigned long long)order->messages, (unsigned long long)order->summary.messages);
    return PLX_ERR_END;
}

int mcap_next_in_log_order(struct plx_mcap_reader *reader, struct plx_mcap_message *ret_message,
                           struct plx_error_message *message)
{
    struct mcap_log_order *order = reader->log_order;
    struct slot *slot = earliest(order);

    while (order->next < order->summary.count &&
           (!slot || order->summary.index[order->next].start_ns <= first_of(slot)->log_ns)) {
        const int result = load_next(reader, message);
        if (result < 0)
            return result;
        slot = earliest(order);
    }
    if (!slot)
        return end(reader, message);
    const struct entry *entry = first_of(slot);
    slot->next++;
    order->messages++;
    return mcap_parse_message(reader, slot->chunk.at, entry->content, ret_message, message);
}

int mcap_begin_log_order(struct plx_mcap_reader *reader, struct plx_error_message *message)
{
    struct mcap_summary summary;

    if (!reader->whole || reader->summary_at == 0)
        return 0;
    const int result = mcap_read_summary(reader, &summary, message);
    if (result < 0)
        return result;
    struct mcap_log_order *order = summary.is_complete ? calloc(1, sizeof *order) : NULL;
    if (!order) {
        free(summary.index);
        return summary.is_complete ? plx_fail(message, PLX_ERR_NOMEM, "%s: out of memory for the index", reader->path) : 0;
    }
    order->summary = summary;
    reader->log_order = order;
    reader->order = PLX_MCAP_LOG_ORDER;
    return 0;
}

void mcap_end_log_order(struct plx_mcap_reader *reader)
{
    struct mcap_log_order *order = reader->log_order;
    if (!order)
        return;
    for (size_t i = 0; i < order->slots; i++) {
        free(order->slot[i].chunk.plain.data);
        free(order->slot[i].entries.data);
    }
    free(order->slot);
    free(order->summary.index);
    free(order);
}
