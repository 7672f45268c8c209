/* SPDX-License-Identifier: Apache-2.0 */
/* Chunks: sizes, compression, CRC. */
#include <zlib.h>

#include <parallax/error.h>

#include "formats/mcap/reader.h"

#define WRONG_SIZE "the chunk cannot be decompressed to the size that it states"

static bool is_word(const struct plx_mcap_cursor *text, const char *word)
{
    return plx_mcap_left(text) == strlen(word) && memcmp(text->at, word, strlen(word)) == 0;
}

static int unsupported(const struct plx_mcap_reader *reader, uint64_t at, const struct plx_mcap_cursor *compression,
                       struct plx_error_message *message)
{
    const size_t most = 16, letters = plx_mcap_left(compression);
    char word[17] = "";

    memcpy(word, compression->at, letters < most ? letters : most);
    plx_clean_text(word);
    return plx_fail(message, PLX_ERR_UNSUPPORTED,
                    "%s: chunk at byte %llu is compressed with %s; Parallax reads zstd, lz4 and none. Convert it with: "
                    "mcap compress --compression zstd",
                    reader->path, (unsigned long long)at, word);
}

static int decompress_zstd(struct plx_mcap_reader *reader, uint64_t at, const struct plx_mcap_cursor *records, void *ret_plain,
                           size_t bytes, struct plx_error_message *message)
{
    if (!reader->zstd && !(reader->zstd = ZSTD_createDCtx()))
        return plx_fail(message, PLX_ERR_NOMEM, "%s: out of memory for zstd", reader->path);
    if (ZSTD_decompressDCtx(reader->zstd, ret_plain, bytes, records->at, plx_mcap_left(records)) != bytes)
        return mcap_damaged(reader, at, WRONG_SIZE, message);
    return 0;
}

static int decompress_lz4(struct plx_mcap_reader *reader, uint64_t at, const struct plx_mcap_cursor *records,
                          uint8_t *ret_plain, size_t bytes, struct plx_error_message *message)
{
    const uint8_t *from = records->at;
    size_t left = plx_mcap_left(records), room = bytes, more = 1;

    if (!reader->lz4 && LZ4F_isError(LZ4F_createDecompressionContext(&reader->lz4, LZ4F_VERSION)))
        return plx_fail(message, PLX_ERR_NOMEM, "%s: out of memory for lz4", reader->path);
    LZ4F_resetDecompressionContext(reader->lz4);
    while (more > 0 && left > 0) { /* a frame has blocks, and each call may stop between two */
        size_t taken = left, made = room;
        more = LZ4F_decompress(reader->lz4, ret_plain, &made, from, &taken, NULL);
        if (LZ4F_isError(more) || (taken == 0 && made == 0))
            break;
        from += taken;
        left -= taken;
        ret_plain += made;
        room -= made;
    }
    return more == 0 && left == 0 && room == 0 ? 0 : mcap_damaged(reader, at, WRONG_SIZE, message);
}

/* Fills PLAIN, which has room for BYTES, with exactly as many. */
static int decompress(struct plx_mcap_reader *reader, uint64_t at, const struct plx_mcap_cursor *compression,
                      const struct plx_mcap_cursor *records, struct plx_mcap_buffer *plain, size_t bytes,
                      struct plx_error_message *message)
{
    int result = 0;

    if (is_word(compression, "zstd"))
        result = decompress_zstd(reader, at, records, plain->data, bytes, message);
    else if (is_word(compression, "lz4"))
        result = decompress_lz4(reader, at, records, plain->data, bytes, message);
    else if (plx_mcap_left(records) != bytes)
        result = mcap_damaged(reader, at, "the chunk is uncompressed, and its two sizes differ", message);
    else if (bytes > 0)
        memcpy(plain->data, records->at, bytes);
    plain->used = result == 0 ? bytes : 0;
    return result;
}

int mcap_load_chunk(struct plx_mcap_reader *reader, uint64_t at, struct mcap_chunk *ret_chunk,
                    struct plx_error_message *message)
{
    struct plx_mcap_cursor content = {reader->raw.data, reader->raw.data + reader->raw.used, false};
    const uint64_t start_ns = plx_mcap_get(&content, 8), end_ns = plx_mcap_get(&content, 8);
    const uint64_t bytes = plx_mcap_get(&content, 8);
    const uint32_t crc = (uint32_t)plx_mcap_get(&content, 4);
    const struct plx_mcap_cursor compression = plx_mcap_get_part(&content, 4), records = plx_mcap_get_part(&content, 8);
    struct plx_mcap_buffer *plain = &ret_chunk->plain;

    plain->used = 0;
    if (content.failed)
        return mcap_damaged(reader, at, "the chunk is shorter than its fields", message);
    if (!is_word(&compression, "zstd") && !is_word(&compression, "lz4") && !is_word(&compression, ""))
        return unsupported(reader, at, &compression, message);
    if (start_ns > end_ns)
        return mcap_damaged(reader, at, "the chunk ends before it starts", message);
    if (bytes > PLX_MCAP_MAX_BYTES)
        return plx_fail(message, PLX_ERR_RANGE, "%s: chunk at byte %llu states %llu bytes; Parallax reads at most %u",
                        reader->path, (unsigned long long)at, (unsigned long long)bytes, PLX_MCAP_MAX_BYTES);
    if (plx_mcap_reserve(plain, bytes + 1) < 0) /* never NULL */
        return plx_fail(message, PLX_ERR_NOMEM, "%s: out of memory for a chunk of %llu bytes", reader->path,
                        (unsigned long long)bytes);
    const int result = decompress(reader, at, &compression, &records, plain, bytes, message);
    if (result < 0)
        return result;
    if (crc != 0 && (uint32_t)crc32_z(0, plain->data, plain->used) != crc) {
        plain->used = 0;
        return mcap_damaged(reader, at, "the chunk's CRC is wrong", message);
    }
    ret_chunk->at = at;
    ret_chunk->start_ns = start_ns;
    ret_chunk->end_ns = end_ns;
    return 0;
}

int mcap_check_message_index(const struct plx_mcap_reader *reader, uint64_t at, const struct mcap_chunk *chunk,
                             struct plx_error_message *message)
{
    struct plx_mcap_cursor content = {reader->raw.data, reader->raw.data + reader->raw.used, false};

    plx_mcap_get(&content, 2); /* the channel */
    struct plx_mcap_cursor entries = plx_mcap_get_part(&content, 4);
    while (!entries.failed && plx_mcap_left(&entries) > 0) {
        plx_mcap_get(&entries, 8); /* the time */
        if (plx_mcap_get(&entries, 8) >= chunk->plain.used)
            entries.failed = true;
    }
    return entries.failed ? mcap_damaged(reader, at, "the message index does not fit the chunk before it", message) : 0;
}
