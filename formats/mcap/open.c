/* SPDX-License-Identifier: Apache-2.0 */
/* Opening and closing: magic, header, footer. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <parallax/error.h>

#include "formats/mcap/reader.h"

#define END_BYTES (PLX_MCAP_PREFIX_BYTES + PLX_MCAP_FOOTER_BYTES + PLX_MCAP_MAGIC_BYTES)

static int open_file(struct plx_mcap_reader *reader, struct plx_error_message *message)
{
    struct stat status;

    reader->fd = open(reader->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* without it a FIFO without a writer waits for ever */
    if (reader->fd < 0 || fstat(reader->fd, &status) < 0) {
        const int number = errno;
        return plx_fail(message, plx_error_of_errno(number), "%s: %s", reader->path, strerror(number));
    }
    if (!S_ISREG(status.st_mode))
        return plx_fail(message, PLX_ERR_FORMAT, "%s: not a regular file", reader->path);
    reader->size = (uint64_t)status.st_size;
    return 0;
}

int mcap_read_footer(struct plx_mcap_reader *reader, struct plx_error_message *message)
{
    uint8_t end[END_BYTES];
    struct plx_mcap_cursor cursor = {end, end + sizeof end, false};

    reader->footer_at = reader->size;
    if (reader->size < PLX_MCAP_MAGIC_BYTES + sizeof end)
        return 0;
    const uint64_t at = reader->size - sizeof end;
    const int result = mcap_read_at(reader, at, end, sizeof end, message);
    if (result < 0)
        return result;
    const bool is_footer = plx_mcap_get(&cursor, 1) == PLX_MCAP_FOOTER && plx_mcap_get(&cursor, 8) == PLX_MCAP_FOOTER_BYTES;
    if (!is_footer || memcmp(end + sizeof end - PLX_MCAP_MAGIC_BYTES, PLX_MCAP_MAGIC, PLX_MCAP_MAGIC_BYTES) != 0)
        return 0; /* cut */
    reader->whole = true;
    reader->footer_at = at;
    reader->summary_at = plx_mcap_get(&cursor, 8);
    reader->offsets_at = plx_mcap_get(&cursor, 8);
    reader->summary_crc = (uint32_t)plx_mcap_get(&cursor, 4);
    const uint64_t least = reader->summary_at != 0 ? reader->summary_at : at;
    if ((reader->summary_at != 0 && reader->summary_at < PLX_MCAP_MAGIC_BYTES) || reader->summary_at > at ||
        (reader->offsets_at != 0 && (reader->offsets_at < least || reader->offsets_at > at)))
        return mcap_damaged(reader, at, "the footer points outside the file", message);
    return 0;
}

static int read_magic(struct plx_mcap_reader *reader, struct plx_error_message *message)
{
    char magic[PLX_MCAP_MAGIC_BYTES] = "";
    const size_t bytes = reader->size < sizeof magic ? reader->size : sizeof magic;
    const int result = mcap_read_at(reader, 0, magic, bytes, message);

    if (result < 0)
        return result;
    if (memcmp(magic, PLX_MCAP_MAGIC, bytes) != 0)
        return plx_fail(message, PLX_ERR_FORMAT, "%s: not an MCAP file: it does not begin with MCAP's magic bytes",
                        reader->path);
    reader->at = bytes;
    reader->crc = (uint32_t)crc32_z(0, (const uint8_t *)magic, bytes);
    return 0;
}

static int read_header(struct plx_mcap_reader *reader, struct plx_error_message *message)
{
    uint8_t prefix[PLX_MCAP_PREFIX_BYTES];
    struct plx_mcap_cursor cursor = {prefix, prefix + sizeof prefix, false}, profile = {0}, library = {0};
    const uint64_t at = reader->at, left = reader->footer_at - at;

    if (left >= sizeof prefix) {
        int result = mcap_read_at(reader, at, prefix, sizeof prefix, message);
        if (result < 0)
            return result;
        const bool is_header = plx_mcap_get(&cursor, 1) == PLX_MCAP_HEADER;
        const uint64_t length = plx_mcap_get(&cursor, 8);
        if (!is_header || (reader->whole && length > left - sizeof prefix))
            return mcap_damaged(reader, at, "no header, or one that is longer than the file", message);
        if (length <= left - sizeof prefix) { /* else it is cut off, as plx_mcap_next will see */
            if ((result = mcap_read_content(reader, at, length, message)) < 0)
                return result;
            cursor = (struct plx_mcap_cursor){reader->raw.data, reader->raw.data + length, false};
            profile = plx_mcap_get_part(&cursor, 4);
            library = plx_mcap_get_part(&cursor, 4);
            if (cursor.failed)
                return mcap_damaged(reader, at, "the header is shorter than its texts", message);
            reader->crc = (uint32_t)crc32_z(crc32_z(reader->crc, prefix, sizeof prefix), reader->raw.data, length);
            reader->at += sizeof prefix + length;
        }
    }
    reader->profile = mcap_new_text(&profile);
    reader->library = mcap_new_text(&library);
    return reader->profile && reader->library ? 0 : plx_fail(message, PLX_ERR_NOMEM, "%s: out of memory", reader->path);
}

int plx_mcap_reader_create(const char *path, enum plx_mcap_order order, struct plx_mcap_reader **ret_reader,
                           struct plx_error_message *message)
{
    struct plx_mcap_reader *reader = calloc(1, sizeof *reader);
    int result = 0;

    if (reader)
        reader->fd = -1;
    if (!reader || !(reader->path = strdup(path)))
        result = plx_fail(message, PLX_ERR_NOMEM, "%s: out of memory", path);
    if (result == 0)
        result = open_file(reader, message);
    if (result == 0)
        result = read_magic(reader, message);
    if (result == 0)
        result = mcap_read_footer(reader, message);
    if (result == 0)
        result = read_header(reader, message);
    if (result == 0 && order == PLX_MCAP_LOG_ORDER)
        result = mcap_begin_log_order(reader, message);
    if (result < 0) {
        plx_mcap_reader_destroy(reader);
        return result;
    }
    *ret_reader = reader;
    return 0;
}

void plx_mcap_reader_destroy(struct plx_mcap_reader *reader)
{
    if (!reader)
        return;
    mcap_end_log_order(reader);
    mcap_free_definitions(reader);
    ZSTD_freeDCtx(reader->zstd);
    LZ4F_freeDecompressionContext(reader->lz4);
    free(reader->chunk.plain.data);
    free(reader->raw.data);
    free(reader->profile);
    free(reader->library);
    if (reader->fd >= 0)
        close(reader->fd);
    free(reader->path);
    free(reader);
}

bool plx_mcap_is_cut(const struct plx_mcap_reader *reader)
{
    return !reader->whole;
}

enum plx_mcap_order plx_mcap_order(const struct plx_mcap_reader *reader)
{
    return reader->order;
}

const char *plx_mcap_profile(const struct plx_mcap_reader *reader)
{
    return reader->profile;
}

const char *plx_mcap_library(const struct plx_mcap_reader *reader)
{
    return reader->library;
}
