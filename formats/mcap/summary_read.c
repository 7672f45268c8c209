/* SPDX-License-Identifier: Apache-2.0 */
/* The summary: schemas, channels, statistics, the index of the chunks. */
#include <stdlib.h>
#include <zlib.h>

#include <parallax/error.h>

#include "formats/mcap/reader.h"

/* What the summary says, to be compared with the statistics. */
struct counts {
    uint64_t messages;
    uint32_t channels, chunks;
};

static int parse_statistics(const struct plx_mcap_reader *reader, struct plx_mcap_cursor content, struct counts *ret_counts,
                            struct plx_error_message *message)
{
    struct counts counts;

    counts.messages = plx_mcap_get(&content, 8);
    plx_mcap_get(&content, 2); /* schemas */
    counts.channels = (uint32_t)plx_mcap_get(&content, 4);
    plx_mcap_take(&content, 4 + 4); /* attachments, metadata */
    counts.chunks = (uint32_t)plx_mcap_get(&content, 4);
    if (content.failed)
        return mcap_damaged(reader, reader->summary_at, "the statistics are shorter than their fields", message);
    *ret_counts = counts;
    return 0;
}

static int parse_chunk_index(const struct plx_mcap_reader *reader, struct plx_mcap_cursor content,
                             struct mcap_chunk_index *ret_index, struct plx_error_message *message)
{
    struct mcap_chunk_index index = {.start_ns = plx_mcap_get(&content, 8)};

    index.end_ns = plx_mcap_get(&content, 8);
    index.at = plx_mcap_get(&content, 8);
    index.length = plx_mcap_get(&content, 8);
    plx_mcap_get_part(&content, 4); /* offsets of the message indexes */
    plx_mcap_get(&content, 8);      /* their length */
    plx_mcap_get_part(&content, 4); /* compression */
    plx_mcap_get(&content, 8);      /* compressed bytes */
    index.plain_bytes = plx_mcap_get(&content, 8);
    if (content.failed)
        return mcap_damaged(reader, reader->summary_at, "a chunk index is shorter than its fields", message);
    if (index.at < PLX_MCAP_MAGIC_BYTES || index.at > reader->summary_at || index.length > reader->summary_at - index.at ||
        index.length < PLX_MCAP_PREFIX_BYTES)
        return mcap_damaged(reader, reader->summary_at, "a chunk index points outside the data section", message);
    *ret_index = index;
    return 0;
}

static int by_place(const void *a, const void *b)
{
    const struct mcap_chunk_index *left = a, *right = b;
    return (left->at > right->at) - (left->at < right->at);
}

static int by_start(const void *a, const void *b)
{
    const struct mcap_chunk_index *left = a, *right = b;
    return left->start_ns != right->start_ns ? (left->start_ns > right->start_ns) - (left->start_ns < right->start_ns)
                                             : by_place(a, b);
}

/* No two indexes may share bytes: a small file could claim any number of chunks. */
static int sort(const struct plx_mcap_reader *reader, struct mcap_summary *summary, struct plx_error_message *message)
{
    struct mcap_chunk_index *index = summary->index;

    if (summary->count == 0)
        return 0;
    qsort(index, summary->count, sizeof *index, by_place);
    for (size_t i = 1; i < summary->count; i++)
        if (index[i].at - index[i - 1].at < index[i - 1].length)
            return mcap_damaged(reader, reader->summary_at, "two chunk indexes overlap", message);
    qsort(index, summary->count, sizeof *index, by_start);
    return 0;
}

/* Reads the records of the summary, without the offsets of its groups, into RAW and checks the CRC of the whole. */
static int load(struct plx_mcap_reader *reader, struct plx_error_message *message)
{
    const uint64_t at = reader->summary_at, bytes = reader->footer_at + PLX_MCAP_PREFIX_BYTES + 16 - at;
    const int result = mcap_read_content(reader, at - PLX_MCAP_PREFIX_BYTES, bytes, message); /* the content lies AT */

    if (result < 0)
        return result;
    if (reader->summary_crc != 0 && (uint32_t)crc32_z(0, reader->raw.data, bytes) != reader->summary_crc)
        return mcap_damaged(reader, at, "the CRC of the summary is wrong; the data may still be read in file order", message);
    reader->raw.used = (reader->offsets_at != 0 ? reader->offsets_at : reader->footer_at) - at;
    return 0;
}

static int parse(struct plx_mcap_reader *reader, struct mcap_summary *summary, struct counts *counts,
                 struct plx_error_message *message)
{
    struct plx_mcap_cursor records = {reader->raw.data, reader->raw.data + reader->raw.used, false}, content;
    const uint64_t at = reader->summary_at;
    struct plx_mcap_buffer index = {0};
    struct mcap_chunk_index one;
    uint8_t opcode;
    int result = 0;

    while (result == 0 && plx_mcap_left(&records) > 0) {
        result = mcap_next_record(reader, at, &records, &opcode, &content, message);
        if (result == 0 && opcode == PLX_MCAP_SCHEMA) {
            result = mcap_define_schema(reader, at, content, message);
        } else if (result == 0 && opcode == PLX_MCAP_CHANNEL) {
            result = mcap_define_channel(reader, at, content, message);
        } else if (result == 0 && opcode == PLX_MCAP_STATISTICS) {
            result = parse_statistics(reader, content, counts, message);
            summary->has_statistics = true;
        } else if (result == 0 && opcode == PLX_MCAP_CHUNK_INDEX) {
            result = parse_chunk_index(reader, content, &one, message);
            if (result == 0 && (result = plx_mcap_reserve(&index, sizeof one)) < 0)
                plx_fail(message, result, "%s: out of memory for the index", reader->path);
            if (result == 0)
                plx_mcap_put(&index, &one, sizeof one);
        }
    }
    summary->index = (struct mcap_chunk_index *)(void *)index.data; /* realloc aligned it */
    summary->count = index.used / sizeof one;
    return result;
}

int mcap_read_summary(struct plx_mcap_reader *reader, struct mcap_summary *ret_summary, struct plx_error_message *message)
{
    struct mcap_summary summary = {0};
    struct counts counts = {0};
    uint32_t channels = 0;
    int result = load(reader, message);

    if (result == 0)
        result = parse(reader, &summary, &counts, message);
    if (result == 0)
        result = sort(reader, &summary, message);
    if (result < 0) {
        free(summary.index);
        return result;
    }
    for (int id = 0; id < MCAP_IDS; id++)
        channels += reader->channel[id] != NULL;
    summary.messages = counts.messages;
    summary.is_complete = summary.count > 0 && channels > 0 &&
                          (!summary.has_statistics || (counts.channels == channels && counts.chunks == summary.count));
    *ret_summary = summary;
    return 0;
}
