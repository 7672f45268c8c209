/* SPDX-License-Identifier: Apache-2.0 */
/* The end of the file: data end, summary, footer. */
#include <parallax/error.h>

#include "bridge/mcap_writer.h"

#define GROUPS 5
#define DATA_END_BYTES (PLX_MCAP_PREFIX_BYTES + 4)

static void put_statistics(struct plx_mcap_buffer *out, const struct plx_mcap_writer *writer)
{
    plx_mcap_put_prefix(out, PLX_MCAP_STATISTICS, 8 + 2 + 4 + 4 + 4 + 4 + 8 + 8 + 4 + (size_t)writer->channels * 10);
    plx_mcap_put_number(out, writer->messages, 8);
    plx_mcap_put_number(out, writer->schemas, 2);
    plx_mcap_put_number(out, writer->channels, 4);
    plx_mcap_put_number(out, 0, 4); /* attachments */
    plx_mcap_put_number(out, writer->metadata_count, 4);
    plx_mcap_put_number(out, writer->chunks, 4);
    plx_mcap_put_number(out, writer->start_ns, 8);
    plx_mcap_put_number(out, writer->end_ns, 8);
    plx_mcap_put_number(out, (size_t)writer->channels * 10, 4);
    for (uint32_t i = 0; i < writer->channels; i++) {
        plx_mcap_put_number(out, i + 1, 2);
        plx_mcap_put_number(out, writer->channel[i].messages, 8);
    }
}

/* Where each group of the summary is; those that are empty are left out. SUMMARY_AT: of the first one. */
static void put_offsets(struct plx_mcap_buffer *out, const struct iovec group[GROUPS], uint64_t summary_at)
{
    static const enum plx_mcap_opcode opcode[GROUPS] = {PLX_MCAP_SCHEMA, PLX_MCAP_CHANNEL, PLX_MCAP_STATISTICS,
                                                        PLX_MCAP_CHUNK_INDEX, PLX_MCAP_METADATA_INDEX};
    for (int i = 0; i < GROUPS; i++) {
        if (group[i].iov_len > 0) {
            plx_mcap_put_prefix(out, PLX_MCAP_SUMMARY_OFFSET, 1 + 8 + 8);
            plx_mcap_put_number(out, opcode[i], 1);
            plx_mcap_put_number(out, summary_at, 8);
            plx_mcap_put_number(out, group[i].iov_len, 8);
        }
        summary_at += group[i].iov_len;
    }
}

static struct iovec all_of(const struct plx_mcap_buffer *buffer)
{
    return (struct iovec){buffer->data, buffer->used};
}

static int write_end(struct plx_mcap_writer *writer, struct plx_error_message *message)
{
    uint8_t bytes[DATA_END_BYTES];
    struct plx_mcap_buffer data_end = {bytes, 0, sizeof bytes}, *out = &writer->index;
    const uint64_t summary_at = writer->end + DATA_END_BYTES;
    struct iovec piece[GROUPS + 2], *group = &piece[1], *tail = &piece[1 + GROUPS];

    plx_mcap_put_prefix(&data_end, PLX_MCAP_DATA_END, 4);
    plx_mcap_put_number(&data_end, writer->data_crc, 4);
    piece[0] = all_of(&data_end);
    out->used = 0;
    put_statistics(out, writer); /* reserved by mcap_reserve_index, like all that follows */
    group[0] = all_of(&writer->schema_records);
    group[1] = all_of(&writer->channel_records);
    group[2] = all_of(out);
    group[3] = all_of(&writer->chunk_indexes);
    group[4] = all_of(&writer->metadata_indexes);

    const size_t begin = out->used;
    const uint64_t offsets_at = summary_at + mcap_total(group, GROUPS);
    put_offsets(out, group, summary_at);
    plx_mcap_put_prefix(out, PLX_MCAP_FOOTER, PLX_MCAP_FOOTER_BYTES);
    plx_mcap_put_number(out, summary_at, 8);
    plx_mcap_put_number(out, offsets_at, 8);
    *tail = (struct iovec){out->data + begin, out->used - begin};
    plx_mcap_put_number(out, mcap_crc(0, group, GROUPS + 1), 4);
    plx_mcap_put(out, PLX_MCAP_MAGIC, PLX_MCAP_MAGIC_BYTES);
    tail->iov_len = out->used - begin;
    return mcap_append(writer, piece, GROUPS + 2, message);
}

int plx_mcap_finish(struct plx_mcap_writer *writer, struct plx_error_message *message)
{
    if (writer->finished)
        return mcap_check_open(writer, message);
    if (writer->error == 0)
        (void)mcap_close_chunk(writer, NULL); /* the writer keeps its error */
    writer->finished = true;
    if (writer->broken)
        return mcap_check_open(writer, message);
    if (writer->error == 0)
        return write_end(writer, message);
    const struct plx_error_message first = writer->message;
    const int error = writer->error;
    (void)write_end(writer, NULL); /* there may be room, for the chunk that failed was longer */
    writer->error = error;
    writer->message = first;
    return plx_fail(message, error, "%s", first.text);
}
