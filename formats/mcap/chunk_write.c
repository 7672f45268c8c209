/* SPDX-License-Identifier: Apache-2.0 */
/* Chunks with their indexes. */
#include <zlib.h>

#include <parallax/error.h>

#include "formats/mcap/writer.h"

#define MESSAGE_INDEX_BYTES (PLX_MCAP_PREFIX_BYTES + 2 + 4) /* without its entries */
#define ENTRY_BYTES (8 + 8)
#define HEAD_BYTES 64        /* at least a chunk's fields before its records */
#define CHUNK_INDEX_BYTES 96 /* at least a chunk index without its message indexes */
#define TAIL_BYTES 512       /* at least what mcap_finish writes besides channels and what is in its own buffers */

int mcap_reserve_index(struct plx_mcap_writer *writer)
{
    const size_t channels = writer->channels + (size_t)1;
    const size_t touched = channels < MCAP_ENTRIES ? channels : MCAP_ENTRIES;
    const size_t chunk = touched * MESSAGE_INDEX_BYTES + (size_t)MCAP_ENTRIES * ENTRY_BYTES;
    const size_t finish = channels * 10 + TAIL_BYTES;
    return plx_mcap_reserve(&writer->index, chunk > finish ? chunk : finish);
}

void mcap_note(struct plx_mcap_writer *writer, const struct plx_mcap_header *header)
{
    struct mcap_channel *channel = &writer->channel[header->channel - 1];
    const int number = writer->entries++;

    writer->entry[number] = (struct mcap_entry){header->log_ns, writer->chunk.used, MCAP_NONE};
    if (channel->first == MCAP_NONE) {
        channel->first = number;
        writer->touched[writer->touched_count++] = header->channel;
    } else {
        writer->entry[channel->last].next = number;
    }
    channel->last = number;
    if (number == 0 || header->log_ns < writer->first_ns)
        writer->first_ns = header->log_ns;
    if (number == 0 || header->log_ns > writer->last_ns)
        writer->last_ns = header->log_ns;
}

/* The fields of a chunk before its records. */
static void put_head(struct plx_mcap_buffer *head, const struct plx_mcap_writer *writer, const struct mcap_body *body)
{
    const size_t letters = strlen(body->compression);

    plx_mcap_put_prefix(head, PLX_MCAP_CHUNK, 8 + 8 + 8 + 4 + 4 + letters + 8 + body->stored_bytes);
    plx_mcap_put_number(head, writer->first_ns, 8);
    plx_mcap_put_number(head, writer->last_ns, 8);
    plx_mcap_put_number(head, body->plain_bytes, 8);
    plx_mcap_put_number(head, body->plain_crc, 4);
    plx_mcap_put_part(head, body->compression, letters);
    plx_mcap_put_number(head, body->stored_bytes, 8);
}

static void put_message_index(struct plx_mcap_writer *writer, uint16_t id)
{
    struct plx_mcap_buffer *index = &writer->index;
    const size_t begin = index->used;

    index->used += PLX_MCAP_PREFIX_BYTES + 2 + 4; /* filled in below, when the length is known */
    for (int i = writer->channel[id - 1].first; i != MCAP_NONE; i = writer->entry[i].next) {
        plx_mcap_put_number(index, writer->entry[i].log_ns, 8);
        plx_mcap_put_number(index, writer->entry[i].offset, 8);
    }
    const size_t end = index->used, entries = end - begin - MESSAGE_INDEX_BYTES;
    index->used = begin;
    plx_mcap_put_prefix(index, PLX_MCAP_MESSAGE_INDEX, 2 + 4 + entries);
    plx_mcap_put_number(index, id, 2);
    plx_mcap_put_number(index, entries, 4);
    index->used = end;
}

/* The message indexes, and behind those of the other chunks this chunk's index; both are reserved. Message indexes begin at
 * INDEX_AT in the file. */
static void put_indexes(struct plx_mcap_writer *writer, const struct mcap_body *body, uint64_t index_at)
{
    struct plx_mcap_buffer *out = &writer->chunk_indexes;
    const size_t letters = strlen(body->compression), offsets = (size_t)writer->touched_count * 10;

    plx_mcap_put_prefix(out, PLX_MCAP_CHUNK_INDEX, 8 + 8 + 8 + 8 + 4 + offsets + 8 + 4 + letters + 8 + 8);
    plx_mcap_put_number(out, writer->first_ns, 8);
    plx_mcap_put_number(out, writer->last_ns, 8);
    plx_mcap_put_number(out, writer->end, 8);
    plx_mcap_put_number(out, index_at - writer->end, 8);
    plx_mcap_put_number(out, offsets, 4);
    writer->index.used = 0;
    for (int i = 0; i < writer->touched_count; i++) {
        plx_mcap_put_number(out, writer->touched[i], 2);
        plx_mcap_put_number(out, index_at + writer->index.used, 8);
        put_message_index(writer, writer->touched[i]);
    }
    plx_mcap_put_number(out, writer->index.used, 8);
    plx_mcap_put_part(out, body->compression, letters);
    plx_mcap_put_number(out, body->stored_bytes, 8);
    plx_mcap_put_number(out, body->plain_bytes, 8);
}

/* The chunk's messages now count, or are lost if they are not IN_FILE; a new chunk begins. */
static void end_chunk(struct plx_mcap_writer *writer, bool in_file)
{
    for (int i = 0; i < writer->touched_count; i++) {
        struct mcap_channel *channel = &writer->channel[writer->touched[i] - 1];
        for (int k = channel->first; in_file && k != MCAP_NONE; k = writer->entry[k].next)
            channel->messages++;
        channel->first = MCAP_NONE;
    }
    if (in_file) {
        if (writer->messages == 0 || writer->first_ns < writer->start_ns)
            writer->start_ns = writer->first_ns;
        if (writer->messages == 0 || writer->last_ns > writer->end_ns)
            writer->end_ns = writer->last_ns;
        writer->messages += (uint64_t)writer->entries;
        writer->chunks++;
    }
    writer->entries = 0;
    writer->touched_count = 0;
    writer->chunk.used = 0;
}

int mcap_write_chunk(struct plx_mcap_writer *writer, struct mcap_body *body, struct plx_error_message *message)
{
    uint8_t bytes[HEAD_BYTES];
    struct plx_mcap_buffer head = {bytes, 0, sizeof bytes};
    struct iovec piece[PLX_MCAP_MAX_PIECES + 3];
    const size_t indexed = writer->chunk_indexes.used;

    if (plx_mcap_reserve(&writer->chunk_indexes, CHUNK_INDEX_BYTES + (size_t)writer->touched_count * 10) < 0) {
        writer->error = plx_fail(&writer->message, PLX_ERR_NOMEM, "%s: out of memory for the index", writer->name);
        end_chunk(writer, false);
        return plx_fail(message, PLX_ERR_NOMEM, "%s", writer->message.text);
    }
    put_head(&head, writer, body);
    put_indexes(writer, body, writer->end + head.used + body->stored_bytes);
    piece[0] = (struct iovec){head.data, head.used};
    memcpy(&piece[1], body->piece, (size_t)body->pieces * sizeof piece[0]);
    piece[1 + body->pieces] = (struct iovec){writer->index.data, writer->index.used};
    const int result = mcap_append(writer, piece, body->pieces + 2, message);
    if (result < 0)
        writer->chunk_indexes.used = indexed;
    end_chunk(writer, result == 0);
    return result;
}

int mcap_close_chunk(struct plx_mcap_writer *writer, struct plx_error_message *message)
{
    const struct plx_mcap_buffer *chunk = &writer->chunk;
    struct plx_mcap_buffer *out = &writer->compressed;

    if (writer->entries == 0)
        return 0;
    const size_t bytes = ZSTD_compress2(writer->zstd, out->data, out->capacity, chunk->data, chunk->used);
    if (ZSTD_isError(bytes)) { /* the room is that of the worst case, so only memory can be missing */
        writer->error = plx_fail(&writer->message, PLX_ERR_NOMEM, "%s: zstd: %s", writer->name, ZSTD_getErrorName(bytes));
        end_chunk(writer, false);
        return plx_fail(message, PLX_ERR_NOMEM, "%s", writer->message.text);
    }
    struct mcap_body body = {.compression = "zstd",
                             .piece = {{out->data, bytes}},
                             .pieces = 1,
                             .stored_bytes = bytes,
                             .plain_bytes = chunk->used,
                             .plain_crc = (uint32_t)crc32_z(0, chunk->data, chunk->used)};
    return mcap_write_chunk(writer, &body, message);
}
