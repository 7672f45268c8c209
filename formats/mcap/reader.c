/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/mcap/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <parallax/error.h>

#define BLOCK_BYTES 65536 /* block that is read only for its CRC */

int mcap_damaged(const struct plx_mcap_reader *reader, uint64_t at, const char *reason, struct plx_error_message *message)
{
    return plx_fail(message, PLX_ERR_FORMAT, "%s: damaged at byte %llu: %s", reader->path, (unsigned long long)at, reason);
}

int mcap_read_at(const struct plx_mcap_reader *reader, uint64_t at, void *ret_data, size_t bytes,
                 struct plx_error_message *message)
{
    for (uint8_t *data = ret_data; bytes > 0;) {
        const ssize_t count = pread(reader->fd, data, bytes, (off_t)at);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return plx_fail(message, PLX_ERR_IO, "%s: cannot be read at byte %llu: %s", reader->path, (unsigned long long)at,
                            strerror(errno));
        if (count == 0)
            return plx_fail(message, PLX_ERR_IO, "%s: became shorter while it was read", reader->path);
        data += count;
        at += (uint64_t)count;
        bytes -= (size_t)count;
    }
    return 0;
}

int mcap_read_content(struct plx_mcap_reader *reader, uint64_t at, uint64_t length, struct plx_error_message *message)
{
    reader->raw.used = 0;
    if (length > PLX_MCAP_MAX_BYTES)
        return plx_fail(message, PLX_ERR_RANGE, "%s: the record at byte %llu has %llu bytes; Parallax reads at most %u",
                        reader->path, (unsigned long long)at, (unsigned long long)length, PLX_MCAP_MAX_BYTES);
    if (plx_mcap_reserve(&reader->raw, length + 1) < 0) /* never NULL */
        return plx_fail(message, PLX_ERR_NOMEM, "%s: out of memory for the record at byte %llu, %llu bytes", reader->path,
                        (unsigned long long)at, (unsigned long long)length);
    const int result = mcap_read_at(reader, at + PLX_MCAP_PREFIX_BYTES, reader->raw.data, length, message);
    if (result == 0)
        reader->raw.used = length;
    return result;
}

/* --- file order --------------------------------------------------------------------------------------------------- */

/* Moves behind the bytes up to END, which have this CRC. */
static void pass(struct plx_mcap_reader *reader, uint64_t end, uint32_t crc)
{
    reader->at = end;
    reader->crc = crc;
}

static uint32_t crc_of(uint32_t crc, const void *data, size_t bytes)
{
    return bytes > 0 ? (uint32_t)crc32_z(crc, data, bytes) : crc;
}

/* Passes the bytes up to END, read only for their CRC. */
static int skip(struct plx_mcap_reader *reader, uint64_t end, struct plx_error_message *message)
{
    uint8_t block[BLOCK_BYTES];

    while (reader->at < end) {
        const size_t bytes = end - reader->at < sizeof block ? end - reader->at : sizeof block;
        const int result = mcap_read_at(reader, reader->at, block, bytes, message);
        if (result < 0)
            return result;
        pass(reader, reader->at + bytes, crc_of(reader->crc, block, bytes));
    }
    return 0;
}

/* Reads the content of a record and passes the record; too large a one is passed too. */
static int take(struct plx_mcap_reader *reader, const uint8_t prefix[PLX_MCAP_PREFIX_BYTES], uint64_t length,
                struct plx_error_message *message)
{
    const int result = mcap_read_content(reader, reader->at, length, message);
    if (result == PLX_ERR_RANGE) {
        const int skipped = skip(reader, reader->at + PLX_MCAP_PREFIX_BYTES + length, message);
        return skipped < 0 ? skipped : result;
    }
    if (result == 0)
        pass(reader, reader->at + PLX_MCAP_PREFIX_BYTES + length,
             crc_of(crc_of(reader->crc, prefix, PLX_MCAP_PREFIX_BYTES), reader->raw.data, length));
    return result;
}

/* Handles the record in RAW. 0: nothing to return yet; 1: a message. */
static int handle(struct plx_mcap_reader *reader, uint64_t at, uint8_t opcode, uint32_t crc_before,
                  struct plx_mcap_message *ret_message, struct plx_error_message *message)
{
    struct plx_mcap_cursor content = {reader->raw.data, reader->raw.data + reader->raw.used, false};
    int result;

    switch (opcode) {
    case PLX_MCAP_SCHEMA:
        return mcap_define_schema(reader, at, content, message);
    case PLX_MCAP_CHANNEL:
        return mcap_define_channel(reader, at, content, message);
    case PLX_MCAP_MESSAGE:
        result = mcap_parse_message(reader, at, content, ret_message, message);
        return result < 0 ? result : 1;
    case PLX_MCAP_CHUNK:
        result = mcap_load_chunk(reader, at, &reader->chunk, message);
        reader->record = (struct plx_mcap_cursor){0};
        if (result == 0)
            reader->record =
                (struct plx_mcap_cursor){reader->chunk.plain.data, reader->chunk.plain.data + reader->chunk.plain.used, false};
        return result;
    case PLX_MCAP_MESSAGE_INDEX: /* a damaged chunk has nothing to compare it with */
        return reader->chunk.plain.used > 0 ? mcap_check_message_index(reader, at, &reader->chunk, message) : 0;
    default: { /* the data end */
        const uint32_t crc = (uint32_t)plx_mcap_get(&content, 4);
        reader->data_is_over = true;
        if (content.failed || (crc != 0 && crc != crc_before))
            return mcap_damaged(reader, at, "the CRC of all data before it is wrong", message);
        return 0;
    }
    }
}

static bool is_handled(uint8_t opcode)
{
    return (opcode >= PLX_MCAP_SCHEMA && opcode <= PLX_MCAP_MESSAGE_INDEX) || opcode == PLX_MCAP_DATA_END;
}

/* The file is cut, or what should be its next record is damaged: nothing behind it can be found. */
static int stop(struct plx_mcap_reader *reader, const char *reason, struct plx_error_message *message)
{
    const uint64_t at = reader->at;
    reader->at = reader->size;
    reader->data_is_over = true;
    return reader->whole && reason ? mcap_damaged(reader, at, reason, message) : PLX_ERR_END;
}

/* Reads the next record of the data section. 0: nothing to return yet; 1: a message. */
static int step(struct plx_mcap_reader *reader, struct plx_mcap_message *ret_message, struct plx_error_message *message)
{
    uint8_t prefix[PLX_MCAP_PREFIX_BYTES];
    struct plx_mcap_cursor cursor = {prefix, prefix + sizeof prefix, false};
    const uint64_t at = reader->at, left = reader->footer_at - at;
    const uint32_t crc_before = reader->crc;

    if (left < sizeof prefix)
        return stop(reader, "the data section has no end", message);
    int result = mcap_read_at(reader, at, prefix, sizeof prefix, message);
    if (result < 0)
        return result;
    const uint8_t opcode = (uint8_t)plx_mcap_get(&cursor, 1);
    const uint64_t length = plx_mcap_get(&cursor, 8);
    if (opcode == 0 || length > left - sizeof prefix) /* a file that lost its end with the power may end with zeros */
        return stop(reader, opcode == 0 ? "there is no record" : "a record is longer than the rest of the file", message);
    if (!is_handled(opcode))
        return skip(reader, at + sizeof prefix + length, message);
    result = take(reader, prefix, length, message);
    return result < 0 ? result : handle(reader, at, opcode, crc_before, ret_message, message);
}

/* Behind the data end: the CRC of the summary, and where the footer says that it is. */
static int check_summary(struct plx_mcap_reader *reader, struct plx_error_message *message)
{
    const uint64_t at = reader->at;

    if (!reader->whole || at == reader->size)
        return stop(reader, NULL, message);
    reader->crc = 0;
    const int result = skip(reader, reader->footer_at + PLX_MCAP_PREFIX_BYTES + 16, message);
    if (result < 0)
        return result;
    reader->at = reader->size;
    if (reader->summary_crc != 0 && reader->crc != reader->summary_crc)
        return mcap_damaged(reader, at, "the CRC of the summary is wrong", message);
    if (reader->summary_at != at && (reader->summary_at != 0 || at != reader->footer_at))
        return mcap_damaged(reader, reader->footer_at, "the summary is not where the footer says", message);
    return PLX_ERR_END;
}

/* Reads the next record of the chunk. 0: nothing to return yet; 1: a message. */
static int step_in_chunk(struct plx_mcap_reader *reader, struct plx_mcap_message *ret_message,
                         struct plx_error_message *message)
{
    const uint64_t at = reader->chunk.at;
    struct plx_mcap_cursor content;
    uint8_t opcode;
    int result = mcap_next_record(reader, at, &reader->record, &opcode, &content, message);

    if (result == 0 && opcode == PLX_MCAP_SCHEMA)
        result = mcap_define_schema(reader, at, content, message);
    else if (result == 0 && opcode == PLX_MCAP_CHANNEL)
        result = mcap_define_channel(reader, at, content, message);
    else if (result == 0 && opcode == PLX_MCAP_MESSAGE) {
        result = mcap_parse_message(reader, at, content, ret_message, message);
        if (result == 0)
            return 1;
    }
    if (result < 0)
        reader->record.at = reader->record.end;
    return result;
}

int plx_mcap_next(struct plx_mcap_reader *reader, struct plx_mcap_message *ret_message, struct plx_error_message *message)
{
    int result = 0;

    if (reader->order == PLX_MCAP_LOG_ORDER)
        return mcap_next_in_log_order(reader, ret_message, message);
    while (result == 0) {
        if (plx_mcap_left(&reader->record) > 0)
            result = step_in_chunk(reader, ret_message, message);
        else if (reader->data_is_over)
            result = check_summary(reader, message);
        else
            result = step(reader, ret_message, message);
    }
    return result < 0 ? result : 0;
}
