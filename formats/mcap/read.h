/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the messages of an MCAP file, also of other writers: uncompressed chunks, zstd, lz4, messages outside chunks. No number
 * in the file is trusted. A file that was cut off anywhere, even empty, gives the messages of all its whole chunks.
 *
 * All functions of a reader belong to one thread.
 */
#ifndef PLX_FORMATS_MCAP_READ_H
#define PLX_FORMATS_MCAP_READ_H

#include "core/base/text.h"
#include "formats/mcap/format.h"

struct plx_mcap_reader;

enum plx_mcap_order {
    PLX_MCAP_FILE_ORDER, /* as written */
    PLX_MCAP_LOG_ORDER,  /* by log time, then as written; needs the summary */
};

/* Texts are one clean line (plx_clean_text). They live as long as the reader. */
struct plx_mcap_schema {
    uint16_t id;
    const char *name, *encoding;
    const uint8_t *data;
    size_t bytes;
};

struct plx_mcap_channel {
    uint16_t id;
    const struct plx_mcap_schema *schema; /* NULL: none */
    const char *topic, *encoding;
    const uint8_t *metadata; /* pairs of texts, see plx_mcap_channel_has */
    size_t metadata_bytes;
};

/* True if KEY is among the CHANNEL's metadata. */
bool plx_mcap_channel_has(const struct plx_mcap_channel *channel, const char *key);

/* DATA is good until the next call for the reader, and not aligned. */
struct plx_mcap_message {
    struct plx_mcap_header header;
    const struct plx_mcap_channel *channel;
    const uint8_t *data;
    size_t bytes;
};

/* Opens the regular file at PATH. Without a complete summary that has an index of its chunks, LOG_ORDER becomes FILE_ORDER, see
 * plx_mcap_order. NOT_FOUND, PERMISSION, NOMEM, IO; FORMAT: no MCAP file, or a damaged one. */
int plx_mcap_reader_create(const char *path, enum plx_mcap_order order, struct plx_mcap_reader **ret_reader,
                           struct plx_error_message *message);
/* READER may be NULL. */
void plx_mcap_reader_destroy(struct plx_mcap_reader *reader);

/* The next message. END: there are no more. FORMAT: damaged (a CRC, size, offset or id is wrong); RANGE: larger than
 * PLX_MCAP_MAX_BYTES; UNSUPPORTED: a chunk with another compression. After these three the next call goes on behind the chunk
 * or record that the message names. NOMEM, IO. */
int plx_mcap_next(struct plx_mcap_reader *reader, struct plx_mcap_message *ret_message, struct plx_error_message *message);

/* True if the file lacks its end: its writer was killed, or the disk was full. */
bool plx_mcap_is_cut(const struct plx_mcap_reader *reader);
enum plx_mcap_order plx_mcap_order(const struct plx_mcap_reader *reader);
/* As the header says, "" if it is cut off. */
const char *plx_mcap_profile(const struct plx_mcap_reader *reader);
const char *plx_mcap_library(const struct plx_mcap_reader *reader);

#endif
