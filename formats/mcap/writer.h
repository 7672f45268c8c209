/* SPDX-License-Identifier: Apache-2.0 */
/* The writer's state, for its parts: writer.c (the file, what is added, its end) and chunk_writer.c (chunks). */
#ifndef PLX_FORMATS_MCAP_WRITER_H
#define PLX_FORMATS_MCAP_WRITER_H

#include <zstd.h>

#include "formats/mcap/buffer.h"
#include "formats/mcap/write.h"

#define MCAP_ENTRIES 4096 /* messages of a chunk */
#define MCAP_NONE (-1)

/* A message of the chunk that is being filled. */
struct mcap_entry {
    uint64_t log_ns;
    uint64_t offset; /* place of its record in the chunk */
    int next;        /* the next one of its channel, or MCAP_NONE */
};

struct mcap_channel {
    uint64_t messages; /* in the file */
    int first, last;   /* entries of this chunk; first MCAP_NONE: none */
};

struct plx_mcap_writer {
    int fd;
    char name[256];
    uint64_t end;      /* end of the last whole record or chunk: where the file is cut after a failure */
    uint32_t data_crc; /* checksum of all bytes up to END */
    bool finished;
    bool broken; /* a write failed, and the file could not be cut (a pipe) */
    int error;   /* first failure, with its message */
    struct plx_error_message message;

    ZSTD_CCtx *zstd;
    size_t chunk_bytes;
    struct plx_mcap_buffer chunk;      /* records of the chunk that is being filled */
    struct plx_mcap_buffer compressed; /* the same, compressed */
    struct plx_mcap_buffer index;      /* message indexes of a chunk; later the statistics and what follows them */
    uint64_t first_ns, last_ns;        /* times in the chunk, if it has messages */
    struct mcap_entry entry[MCAP_ENTRIES];
    int entries;
    uint16_t touched[MCAP_ENTRIES]; /* channels with entries, in the order of their first messages */
    int touched_count;

    struct mcap_channel *channel; /* by id - 1 */
    uint32_t channels, schemas, metadata_count, chunks;
    uint64_t messages, start_ns, end_ns;                                                     /* in the file */
    struct plx_mcap_buffer schema_records, channel_records, chunk_indexes, metadata_indexes; /* for the summary */
};

/* A chunk's content: its records as they are stored, in pieces. */
struct mcap_body {
    const char *compression;
    struct iovec piece[PLX_MCAP_MAX_PIECES + 1];
    int pieces;
    uint64_t stored_bytes, plain_bytes;
    uint32_t plain_crc;
};

/* Writes all PIECES at the end of the file, or cuts the file to where it was and keeps the error. PIECE is changed. */
int mcap_append(struct plx_mcap_writer *writer, struct iovec *piece, int pieces, struct plx_error_message *message);
/* The error that the writer keeps, or ARG after plx_mcap_finish; 0: goes on. */
int mcap_check_open(const struct plx_mcap_writer *writer, struct plx_error_message *message);
uint32_t mcap_crc(uint32_t crc, const struct iovec *piece, int pieces);
uint64_t mcap_total(const struct iovec *piece, int pieces);

/* Adds a message to the list of the chunk that is being filled; its record is at the chunk's end. */
void mcap_note(struct plx_mcap_writer *writer, const struct plx_mcap_header *header);
/* Writes a chunk with BODY and the list of its messages, and begins a new one. */
int mcap_write_chunk(struct plx_mcap_writer *writer, struct mcap_body *body, struct plx_error_message *message);
/* Compresses and writes the chunk that is being filled; a chunk without messages is not written. */
int mcap_close_chunk(struct plx_mcap_writer *writer, struct plx_error_message *message);
/* Room in the index for a chunk or the end of the file, with one channel more. */
int mcap_reserve_index(struct plx_mcap_writer *writer);

#endif
