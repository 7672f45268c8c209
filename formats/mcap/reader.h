/* SPDX-License-Identifier: Apache-2.0 */
/* The reader's state, for its parts: reader.c (file order), log_order.c (log-time order), summary_read.c,
 * chunk_read.c, records.c. */
#ifndef PLX_FORMATS_MCAP_READER_H
#define PLX_FORMATS_MCAP_READER_H

#include <lz4frame.h>
#include <zstd.h>

#include "formats/mcap/buffer.h"
#include "formats/mcap/read.h"

#define MCAP_IDS 65536 /* schemas, and channels */

struct mcap_definition;
struct mcap_log_order;

/* A chunk whose records were checked and decompressed into PLAIN. */
struct mcap_chunk {
    uint64_t at; /* place of its record in the file */
    uint64_t start_ns, end_ns;
    struct plx_mcap_buffer plain;
};

struct plx_mcap_reader {
    int fd;
    char *path;
    uint64_t size; /* file size when it was opened */
    enum plx_mcap_order order;
    struct mcap_log_order *log_order; /* NULL in FILE_ORDER */
    char *profile, *library;

    bool whole;         /* the file ends with a footer, else it is cut */
    uint64_t footer_at; /* if whole; else the end of the file */
    uint64_t summary_at, offsets_at;
    uint32_t summary_crc;

    uint64_t at;       /* place of the next record that FILE_ORDER reads */
    uint32_t crc;      /* checksum of all bytes before it */
    bool data_is_over; /* the data end has been read */
    struct mcap_chunk chunk;
    struct plx_mcap_cursor record; /* the records of CHUNK that are still to be read */

    ZSTD_DCtx *zstd; /* NULL until there is such a chunk */
    LZ4F_dctx *lz4;
    struct plx_mcap_buffer raw; /* the content of the last record that was read */
    struct plx_mcap_schema *schema[MCAP_IDS];
    struct plx_mcap_channel *channel[MCAP_IDS];
    struct mcap_definition *definitions; /* all of both */
    size_t definition_bytes;
};

/* FORMAT: the bytes AT are damaged, REASON says how. */
int mcap_damaged(const struct plx_mcap_reader *reader, uint64_t at, const char *reason, struct plx_error_message *message);
/* Reads exactly BYTES. IO; also if the file has become shorter. */
int mcap_read_at(const struct plx_mcap_reader *reader, uint64_t at, void *ret_data, size_t bytes,
                 struct plx_error_message *message);
/* Reads the content of a record, LENGTH long, into RAW. AT: of the record. RANGE, NOMEM, IO. */
int mcap_read_content(struct plx_mcap_reader *reader, uint64_t at, uint64_t length, struct plx_error_message *message);

/* Takes the next record of a chunk, or of other records in memory. AT: in the file, for messages. FORMAT. */
int mcap_next_record(const struct plx_mcap_reader *reader, uint64_t at, struct plx_mcap_cursor *records, uint8_t *ret_opcode,
                     struct plx_mcap_cursor *ret_content, struct plx_error_message *message);
/* Keeps the schema or channel; the same one again is good, another one of the same id is not. AT: as above. FORMAT, RANGE,
 * NOMEM. */
int mcap_define_schema(struct plx_mcap_reader *reader, uint64_t at, struct plx_mcap_cursor content,
                       struct plx_error_message *message);
int mcap_define_channel(struct plx_mcap_reader *reader, uint64_t at, struct plx_mcap_cursor content,
                        struct plx_error_message *message);
void mcap_free_definitions(struct plx_mcap_reader *reader);
/* FORMAT: no such channel. */
int mcap_parse_message(const struct plx_mcap_reader *reader, uint64_t at, struct plx_mcap_cursor content,
                       struct plx_mcap_message *ret_message, struct plx_error_message *message);
/* A new string of all bytes of TEXT, clean; NULL: out of memory. */
char *mcap_new_text(const struct plx_mcap_cursor *text);

/* Checks and decompresses the chunk whose record AT has its content in RAW. FORMAT, RANGE, UNSUPPORTED, NOMEM. */
int mcap_load_chunk(struct plx_mcap_reader *reader, uint64_t at, struct mcap_chunk *ret_chunk,
                    struct plx_error_message *message);
/* The message index in RAW belongs to CHUNK. FORMAT. */
int mcap_check_message_index(const struct plx_mcap_reader *reader, uint64_t at, const struct mcap_chunk *chunk,
                             struct plx_error_message *message);

/* Reads the footer of a file that has one. FORMAT, IO. */
int mcap_read_footer(struct plx_mcap_reader *reader, struct plx_error_message *message);
/* Goes over to LOG_ORDER if the summary allows that. FORMAT, RANGE, NOMEM, IO. */
int mcap_begin_log_order(struct plx_mcap_reader *reader, struct plx_error_message *message);
int mcap_next_in_log_order(struct plx_mcap_reader *reader, struct plx_mcap_message *ret_message,
                           struct plx_error_message *message);
void mcap_end_log_order(struct plx_mcap_reader *reader);

/* One chunk index of the summary. */
struct mcap_chunk_index {
    uint64_t start_ns, end_ns;
    uint64_t at, length; /* place and length of the chunk's record in the file */
    uint64_t plain_bytes;
};

struct mcap_summary {
    struct mcap_chunk_index *index; /* sorted by start, then by place; the caller frees it */
    size_t count;
    bool is_complete; /* every message can be found by the index */
    bool has_statistics;
    uint64_t messages; /* in the file, as the statistics say */
};
int mcap_read_summary(struct plx_mcap_reader *reader, struct mcap_summary *ret_summary, struct plx_error_message *message);

#endif
