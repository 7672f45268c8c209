/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/mcap/writer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <parallax/error.h>

#define CHUNK_BYTES (1u << 20)
#define LEVEL 1        /* zstd level: fast */
#define MAX_IDS 65535u /* schemas, and channels */
#define RECORD_BYTES (PLX_MCAP_PREFIX_BYTES + PLX_MCAP_MESSAGE_BYTES)
#define GROUPS 5 /* groups of records in the summary */
#define DATA_END_BYTES (PLX_MCAP_PREFIX_BYTES + 4)

/* --- the descriptor: whole pieces are written, or the file stays as it was ----------------------------------------- */

uint32_t mcap_crc(uint32_t crc, const struct iovec *piece, int pieces)
{
    for (int i = 0; i < pieces; i++)
        if (piece[i].iov_len > 0) /* zlib takes NULL for the begin of a new sum */
            crc = (uint32_t)crc32_z(crc, piece[i].iov_base, piece[i].iov_len);
    return crc;
}

uint64_t mcap_total(const struct iovec *piece, int pieces)
{
    uint64_t bytes = 0;
    for (int i = 0; i < pieces; i++)
        bytes += piece[i].iov_len;
    return bytes;
}

int mcap_check_open(const struct plx_mcap_writer *writer, struct plx_error_message *message)
{
    if (writer->error < 0)
        return plx_fail(message, writer->error, "%s", writer->message.text);
    if (writer->finished)
        return plx_fail(message, PLX_ERR_ARG, "%s: the file is finished", writer->name);
    return 0;
}

/* 0 or an errno. */
static int write_all(int fd, struct iovec *piece, int pieces)
{
    while (pieces > 0) {
        if (piece->iov_len == 0) {
            piece++;
            pieces--;
            continue;
        }
        const ssize_t written = writev(fd, piece, pieces);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return written < 0 ? errno : EIO;
        size_t done = (size_t)written;
        for (; pieces > 0 && done >= piece->iov_len; piece++, pieces--)
            done -= piece->iov_len;
        if (done > 0)
            *piece = (struct iovec){(uint8_t *)piece->iov_base + done, piece->iov_len - done};
    }
    return 0;
}

int mcap_append(struct plx_mcap_writer *writer, struct iovec *piece, int pieces, struct plx_error_message *message)
{
    const uint64_t bytes = mcap_total(piece, pieces);
    const uint32_t crc = mcap_crc(writer->data_crc, piece, pieces);
    const int number = write_all(writer->fd, piece, pieces);

    if (number == 0) {
        writer->end += bytes;
        writer->data_crc = crc;
        return 0;
    }
    struct stat status;
    const bool is_gone = fstat(writer->fd, &status) == 0 && status.st_nlink == 0;
    writer->broken = ftruncate(writer->fd, (off_t)writer->end) < 0 || lseek(writer->fd, (off_t)writer->end, SEEK_SET) < 0;
    writer->error =
        plx_fail(&writer->message, plx_error_of_errno(number),
                 is_gone ? "%s: cannot be written: %s. It was removed meanwhile: nothing of its %llu bytes is left"
                         : "%s: cannot be written: %s. It is readable up to byte %llu. Free space and begin a new file",
                 writer->name, strerror(number), (unsigned long long)writer->end);
    return plx_fail(message, writer->error, "%s", writer->message.text);
}

/* --- create, destroy ---------------------------------------------------------------------------------------------- */

static int write_header(struct plx_mcap_writer *writer, const char *library, struct plx_error_message *message)
{
    static const char profile[] = "ros2";
    struct plx_mcap_buffer *out = &writer->compressed; /* still empty */
    const size_t letters = strnlen(library, 256);

    plx_mcap_put(out, PLX_MCAP_MAGIC, PLX_MCAP_MAGIC_BYTES);
    plx_mcap_put_prefix(out, PLX_MCAP_HEADER, 4 + strlen(profile) + 4 + letters);
    plx_mcap_put_part(out, profile, strlen(profile));
    plx_mcap_put_part(out, library, letters);
    const int result = mcap_append(writer, &(struct iovec){out->data, out->used}, 1, message);
    out->used = 0;
    return result;
}

/* Reserves what messages need. zstd takes its own memory with the first chunk, so that a chunk of zeros is compressed here. */
static int reserve(struct plx_mcap_writer *writer, size_t chunk_bytes, size_t message_bytes)
{
    const size_t one = message_bytes + RECORD_BYTES, capacity = one > chunk_bytes ? one : chunk_bytes;
    struct plx_mcap_buffer *chunk = &writer->chunk, *compressed = &writer->compressed;

    writer->chunk_bytes = chunk_bytes;
    writer->zstd = ZSTD_createCCtx();
    if (!writer->zstd || plx_mcap_reserve(chunk, capacity) < 0 ||
        plx_mcap_reserve(compressed, ZSTD_compressBound(capacity) + 1024) < 0 || mcap_reserve_index(writer) < 0)
        return PLX_ERR_NOMEM;
    memset(chunk->data, 0, capacity);
    ZSTD_CCtx_setParameter(writer->zstd, ZSTD_c_compressionLevel, LEVEL);
    const size_t bytes = ZSTD_compress2(writer->zstd, compressed->data, compressed->capacity, chunk->data, capacity);
    return ZSTD_isError(bytes) ? PLX_ERR_NOMEM : 0;
}

int plx_mcap_writer_create(const struct plx_mcap_writer_options *options, struct plx_mcap_writer **ret_writer,
                           struct plx_error_message *message)
{
    const size_t chunk_bytes = options->chunk_bytes ? options->chunk_bytes : CHUNK_BYTES;

    if (chunk_bytes > PLX_MCAP_MAX_BYTES - RECORD_BYTES || options->message_bytes > PLX_MCAP_MAX_BYTES - RECORD_BYTES)
        return plx_fail(message, PLX_ERR_ARG, "%s: chunks of %zu bytes for messages of %zu; at most %u bytes are possible",
                        options->name, chunk_bytes, options->message_bytes, PLX_MCAP_MAX_BYTES - RECORD_BYTES);
    struct plx_mcap_writer *writer = calloc(1, sizeof *writer);
    int result = writer ? 0 : PLX_ERR_NOMEM;
    if (result == 0) {
        writer->fd = options->fd;
        snprintf(writer->name, sizeof writer->name, "%s", options->name);
        result = reserve(writer, chunk_bytes, options->message_bytes);
    }
    if (result < 0)
        plx_fail(message, result, "%s: out of memory for chunks of %zu bytes", options->name, chunk_bytes);
    else
        result = write_header(writer, options->library, message);
    if (result < 0) {
        plx_mcap_writer_destroy(writer);
        return result;
    }
    *ret_writer = writer;
    return 0;
}

void plx_mcap_writer_destroy(struct plx_mcap_writer *writer)
{
    if (!writer)
        return;
    struct plx_mcap_buffer *buffer[] = {&writer->chunk,           &writer->compressed,      &writer->index,
                                        &writer->schema_records,  &writer->channel_records, &writer->chunk_indexes,
                                        &writer->metadata_indexes};
    for (size_t i = 0; i < sizeof buffer / sizeof buffer[0]; i++)
        free(buffer[i]->data);
    ZSTD_freeCCtx(writer->zstd);
    free(writer->channel);
    free(writer);
}

/* --- schemas, channels, metadata ---------------------------------------------------------------------------------- */

/* Bytes of PAIRS as a map, without its length. */
static uint64_t map_bytes(const struct plx_mcap_pair *pair, size_t count)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += 4 + strlen(pair[i].key) + 4 + strlen(pair[i].value);
    return bytes;
}

static void put_map(struct plx_mcap_buffer *out, const struct plx_mcap_pair *pair, size_t count)
{
    plx_mcap_put_number(out, map_bytes(pair, count), 4);
    for (size_t i = 0; i < count; i++) {
        plx_mcap_put_part(out, pair[i].key, strlen(pair[i].key));
        plx_mcap_put_part(out, pair[i].value, strlen(pair[i].value));
    }
}

/* Room for a record of BYTES in OUT; ARG if it is too long. */
static int reserve_record(struct plx_mcap_writer *writer, struct plx_mcap_buffer *out, uint64_t bytes, const char *what,
                          struct plx_error_message *message)
{
    int result = mcap_check_open(writer, message);
    if (result < 0)
        return result;
    if (bytes > PLX_MCAP_MAX_BYTES)
        return plx_fail(message, PLX_ERR_ARG, "%s: %s has %llu bytes; at most %u are possible", writer->name, what,
                        (unsigned long long)bytes, PLX_MCAP_MAX_BYTES);
    if (plx_mcap_reserve(out, PLX_MCAP_PREFIX_BYTES + bytes) < 0)
        return plx_fail(message, PLX_ERR_NOMEM, "%s: out of memory for %s", writer->name, what);
    return 0;
}

/* Writes the record that was put into OUT behind BEGIN; takes it back if that fails. */
static int write_record(struct plx_mcap_writer *writer, struct plx_mcap_buffer *out, size_t begin,
                        struct plx_error_message *message)
{
    const int result = mcap_append(writer, &(struct iovec){out->data + begin, out->used - begin}, 1, message);
    if (result < 0)
        out->used = begin;
    return result;
}

int plx_mcap_add_schema(struct plx_mcap_writer *writer, const char *name, const char *encoding, const void *data, size_t bytes,
                        uint16_t *ret_schema, struct plx_error_message *message)
{
    struct plx_mcap_buffer *out = &writer->schema_records;
    const size_t begin = out->used;
    const uint64_t length = 2 + 4 + strlen(name) + 4 + strlen(encoding) + 4 + (uint64_t)bytes;
    int result = reserve_record(writer, out, length, name, message);

    if (result < 0)
        return result;
    if (writer->schemas == MAX_IDS)
        return plx_fail(message, PLX_ERR_RANGE, "%s: a file has at most %u schemas", writer->name, MAX_IDS);
    plx_mcap_put_prefix(out, PLX_MCAP_SCHEMA, length);
    plx_mcap_put_number(out, writer->schemas + 1, 2);
    plx_mcap_put_part(out, name, strlen(name));
    plx_mcap_put_part(out, encoding, strlen(encoding));
    plx_mcap_put_part(out, data, bytes);
    result = write_record(writer, out, begin, message);
    if (result == 0)
        *ret_schema = (uint16_t)++writer->schemas;
    return result;
}

/* Room for one channel more. */
static int grow_channels(struct plx_mcap_writer *writer)
{
    struct mcap_channel *channel = realloc(writer->channel, (writer->channels + (size_t)1) * sizeof *channel);
    if (!channel)
        return PLX_ERR_NOMEM;
    writer->channel = channel;
    channel[writer->channels] = (struct mcap_channel){0, MCAP_NONE, MCAP_NONE};
    writer->index.used = 0;
    return mcap_reserve_index(writer);
}

int plx_mcap_add_channel(struct plx_mcap_writer *writer, uint16_t schema, const char *topic, const char *encoding,
                         const struct plx_mcap_pair *metadata, size_t count, uint16_t *ret_channel,
                         struct plx_error_message *message)
{
    struct plx_mcap_buffer *out = &writer->channel_records;
    const size_t begin = out->used;
    const uint64_t length = 2 + 2 + 4 + strlen(topic) + 4 + strlen(encoding) + 4 + map_bytes(metadata, count);
    int result = reserve_record(writer, out, length, topic, message);

    if (result < 0)
        return result;
    if (schema > writer->schemas)
        return plx_fail(message, PLX_ERR_ARG, "%s: %s: there is no schema %u", writer->name, topic, schema);
    if (writer->channels == MAX_IDS)
        return plx_fail(message, PLX_ERR_RANGE, "%s: a file has at most %u channels", writer->name, MAX_IDS);
    if (grow_channels(writer) < 0)
        return plx_fail(message, PLX_ERR_NOMEM, "%s: out of memory for %s", writer->name, topic);
    plx_mcap_put_prefix(out, PLX_MCAP_CHANNEL, length);
    plx_mcap_put_number(out, writer->channels + 1, 2);
    plx_mcap_put_number(out, schema, 2);
    plx_mcap_put_part(out, topic, strlen(topic));
    plx_mcap_put_part(out, encoding, strlen(encoding));
    put_map(out, metadata, count);
    result = write_record(writer, out, begin, message);
    if (result == 0)
        *ret_channel = (uint16_t)++writer->channels;
    return result;
}

int plx_mcap_add_metadata(struct plx_mcap_writer *writer, const char *name, const struct plx_mcap_pair *metadata, size_t count,
                          struct plx_error_message *message)
{
    struct plx_mcap_buffer record = {0}, *index = &writer->metadata_indexes;
    const uint64_t length = 4 + strlen(name) + 4 + map_bytes(metadata, count), index_length = 8 + 8 + 4 + strlen(name);
    const uint64_t at = writer->end;
    int result = reserve_record(writer, &record, length, name, message);

    if (result == 0)
        result = reserve_record(writer, index, index_length, name, message);
    if (result == 0) {
        plx_mcap_put_prefix(&record, PLX_MCAP_METADATA, length);
        plx_mcap_put_part(&record, name, strlen(name));
        put_map(&record, metadata, count);
        result = write_record(writer, &record, 0, message);
    }
    if (result == 0) {
        plx_mcap_put_prefix(index, PLX_MCAP_METADATA_INDEX, index_length);
        plx_mcap_put_number(index, at, 8);
        plx_mcap_put_number(index, PLX_MCAP_PREFIX_BYTES + length, 8);
        plx_mcap_put_part(index, name, strlen(name));
        writer->metadata_count++;
    }
    free(record.data);
    return result;
}

/* --- messages ----------------------------------------------------------------------------------------------------- */

static void put_message(struct plx_mcap_buffer *out, const struct plx_mcap_header *header, uint64_t bytes)
{
    plx_mcap_put_prefix(out, PLX_MCAP_MESSAGE, PLX_MCAP_MESSAGE_BYTES + bytes);
    plx_mcap_put_number(out, header->channel, 2);
    plx_mcap_put_number(out, header->sequence, 4);
    plx_mcap_put_number(out, header->log_ns, 8);
    plx_mcap_put_number(out, header->publish_ns, 8);
}

/* A message that is larger than the chunk's room: an uncompressed chunk, written from the caller's memory. */
static int write_alone(struct plx_mcap_writer *writer, const struct plx_mcap_header *header, const struct iovec *piece,
                       int pieces, uint64_t bytes, struct plx_error_message *message)
{
    uint8_t head[RECORD_BYTES];
    struct plx_mcap_buffer out = {head, 0, sizeof head};
    struct mcap_body body = {.compression = "",
                             .piece = {{head, sizeof head}},
                             .pieces = pieces + 1,
                             .stored_bytes = sizeof head + bytes,
                             .plain_bytes = sizeof head + bytes};

    put_message(&out, header, bytes);
    memcpy(&body.piece[1], piece, (size_t)pieces * sizeof *piece);
    body.plain_crc = mcap_crc(0, body.piece, body.pieces);
    mcap_note(writer, header);
    return mcap_write_chunk(writer, &body, message);
}

/* False if the chunk must be written before this message of BYTES. */
static bool fits(const struct plx_mcap_writer *writer, const struct plx_mcap_header *header, uint64_t bytes)
{
    const uint64_t first = header->log_ns < writer->first_ns ? header->log_ns : writer->first_ns;
    const uint64_t last = header->log_ns > writer->last_ns ? header->log_ns : writer->last_ns;

    return writer->entries == 0 || (writer->chunk.used + RECORD_BYTES + bytes <= writer->chunk_bytes &&
                                    writer->entries < MCAP_ENTRIES && last - first <= PLX_MCAP_CHUNK_NS);
}

int plx_mcap_write(struct plx_mcap_writer *writer, const struct plx_mcap_header *header, const struct iovec *piece, int pieces,
                   struct plx_error_message *message)
{
    struct plx_mcap_buffer *chunk = &writer->chunk;
    int result = mcap_check_open(writer, message);

    if (result < 0)
        return result;
    if (pieces < 0 || pieces > PLX_MCAP_MAX_PIECES || header->channel == 0 || header->channel > writer->channels)
        return plx_fail(message, PLX_ERR_ARG,
                        "%s: a message of %d pieces for channel %u; there are %u channels, at most %d pieces", writer->name,
                        pieces, header->channel, writer->channels, PLX_MCAP_MAX_PIECES);
    const uint64_t bytes = mcap_total(piece, pieces);
    if (bytes > PLX_MCAP_MAX_BYTES - RECORD_BYTES)
        return plx_fail(message, PLX_ERR_ARG, "%s: a message of %llu bytes; at most %u are possible", writer->name,
                        (unsigned long long)bytes, PLX_MCAP_MAX_BYTES - RECORD_BYTES);
    if (!fits(writer, header, bytes) && (result = mcap_close_chunk(writer, message)) < 0)
        return result;
    if (RECORD_BYTES + bytes > chunk->capacity)
        return write_alone(writer, header, piece, pieces, bytes, message);
    mcap_note(writer, header);
    put_message(chunk, header, bytes);
    for (int i = 0; i < pieces; i++)
        plx_mcap_put(chunk, piece[i].iov_base, piece[i].iov_len);
    return chunk->used >= writer->chunk_bytes ? mcap_close_chunk(writer, message) : 0;
}

int plx_mcap_flush(struct plx_mcap_writer *writer, struct plx_error_message *message)
{
    const int result = mcap_check_open(writer, message);
    return result < 0 ? result : mcap_close_chunk(writer, message);
}

/* --- the end of the file: data end, summary, footer ---------------------------------------------------------------- */

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
