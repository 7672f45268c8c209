/* SPDX-License-Identifier: Apache-2.0 */
/* Names, numbers and little-endian fields of the MCAP container format (https://mcap.dev/spec), for its writer and its reader.
 */
#ifndef PLX_FORMATS_MCAP_FORMAT_H
#define PLX_FORMATS_MCAP_FORMAT_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define PLX_MCAP_MAGIC "\x89MCAP0\r\n"
#define PLX_MCAP_MAGIC_BYTES 8
#define PLX_MCAP_PREFIX_BYTES 9       /* before the content of every record: opcode and length of the content */
#define PLX_MCAP_MESSAGE_BYTES 22     /* message content before its data */
#define PLX_MCAP_FOOTER_BYTES 20      /* content of the footer */
#define PLX_MCAP_MAX_BYTES (1u << 28) /* largest record, and records of a chunk together: what Parallax writes and reads */

enum plx_mcap_opcode {
    PLX_MCAP_HEADER = 0x01,
    PLX_MCAP_FOOTER = 0x02,
    PLX_MCAP_SCHEMA = 0x03,
    PLX_MCAP_CHANNEL = 0x04,
    PLX_MCAP_MESSAGE = 0x05,
    PLX_MCAP_CHUNK = 0x06,
    PLX_MCAP_MESSAGE_INDEX = 0x07,
    PLX_MCAP_CHUNK_INDEX = 0x08,
    PLX_MCAP_STATISTICS = 0x0B,
    PLX_MCAP_METADATA = 0x0C,
    PLX_MCAP_METADATA_INDEX = 0x0D,
    PLX_MCAP_SUMMARY_OFFSET = 0x0E,
    PLX_MCAP_DATA_END = 0x0F,
};

/* What a message carries besides its data. Times in nanoseconds, of the clock that the writer chose. */
struct plx_mcap_header {
    uint16_t channel;
    uint32_t sequence;
    uint64_t log_ns;     /* when it was recorded */
    uint64_t publish_ns; /* when it was published */
};

/* Reads little-endian fields. Behind the end every field is 0 and FAILED is set, so that one look at the end is enough. */
struct plx_mcap_cursor {
    const uint8_t *at, *end;
    bool failed;
};

static inline size_t plx_mcap_left(const struct plx_mcap_cursor *cursor)
{
    return (size_t)(cursor->end - cursor->at);
}

/* The next BYTES; NULL if there are not as many. */
static inline const uint8_t *plx_mcap_take(struct plx_mcap_cursor *cursor, uint64_t bytes)
{
    const uint8_t *at = cursor->at;
    if (cursor->failed || bytes > plx_mcap_left(cursor)) {
        cursor->failed = true;
        return NULL;
    }
    cursor->at += bytes;
    return at;
}

/* The next field of BYTES, 1 to 8. */
static inline uint64_t plx_mcap_get(struct plx_mcap_cursor *cursor, size_t bytes)
{
    uint64_t value = 0;
    const uint8_t *at = plx_mcap_take(cursor, bytes);
    if (at)
        memcpy(&value, at, bytes);
    return le64toh(value);
}

/* Takes a field of a length, LENGTH_BYTES long, and so many bytes as a cursor of their own. */
static inline struct plx_mcap_cursor plx_mcap_get_part(struct plx_mcap_cursor *cursor, size_t length_bytes)
{
    const uint64_t length = plx_mcap_get(cursor, length_bytes);
    const uint8_t *at = plx_mcap_take(cursor, length);
    return (struct plx_mcap_cursor){at, at ? at + length : at, at == NULL};
}

#endif
