/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes an MCAP file of profile ros2: messages in chunks, compressed with zstd, with CRCs, indexes and a summary.
 *
 * A chunk is written when it is full, when its messages span more than a second, and when plx_mcap_flush is called. All memory
 * that messages need is reserved at creation. Only the index grows with the file: by about 100 bytes a chunk, at a few moments.
 *
 * When a write fails (a full disk), the file is cut behind its last whole chunk, so that it stays readable. The writer keeps
 * the error, and all later calls return it. A writer belongs to one thread. A process that limits file sizes ignores SIGXFSZ.
 */
#ifndef PLX_FORMATS_MCAP_WRITE_H
#define PLX_FORMATS_MCAP_WRITE_H

#include <sys/uio.h>

#include "core/base/text.h"
#include "formats/mcap/format.h"

#define PLX_MCAP_MAX_PIECES 16                 /* pieces of a message's data */
#define PLX_MCAP_CHUNK_NS UINT64_C(1000000000) /* the longest time between the log times of a chunk's messages */

struct plx_mcap_writer;

struct plx_mcap_writer_options {
    int fd;               /* an empty file, open for writing; the caller closes it after plx_mcap_writer_destroy */
    const char *name;     /* file name for error messages; copied */
    const char *library;  /* who writes: "parallax 0.1.0"; copied */
    size_t chunk_bytes;   /* size of a chunk's records before compression; 0: 1 MiB */
    size_t message_bytes; /* largest message that is compressed. A larger one becomes an uncompressed chunk of its own. */
};

/* A key and its value, NUL-terminated. */
struct plx_mcap_pair {
    const char *key, *value;
};

/* Writes the file's header. NOMEM, IO; ARG: sizes above PLX_MCAP_MAX_BYTES. */
int plx_mcap_writer_create(const struct plx_mcap_writer_options *options, struct plx_mcap_writer **ret_writer,
                           struct plx_error_message *message);

/* Writes no more to the file: without plx_mcap_finish it lacks its last chunk and its summary. WRITER may be NULL. */
void plx_mcap_writer_destroy(struct plx_mcap_writer *writer);

/* Schemas and channels are written at once, and may be added at any time. Their ids count from 1; SCHEMA 0: none. NOMEM, IO,
 * ARG (no such schema, or too long), RANGE (65535 exist). */
int plx_mcap_add_schema(struct plx_mcap_writer *writer, const char *name, const char *encoding, const void *data, size_t bytes,
                        uint16_t *ret_schema, struct plx_error_message *message);
int plx_mcap_add_channel(struct plx_mcap_writer *writer, uint16_t schema, const char *topic, const char *encoding,
                         const struct plx_mcap_pair *metadata, size_t count, uint16_t *ret_channel,
                         struct plx_error_message *message);

/* A metadata record, written at once. NOMEM, IO, ARG. */
int plx_mcap_add_metadata(struct plx_mcap_writer *writer, const char *name, const struct plx_mcap_pair *metadata, size_t count,
                          struct plx_error_message *message);

/* Adds a message whose data are the PIECES one behind the other, at most PLX_MCAP_MAX_PIECES. They are copied or written, and
 * may change after the call. ARG (no such channel, too many pieces or bytes), NOMEM (of the index), IO. */
int plx_mcap_write(struct plx_mcap_writer *writer, const struct plx_mcap_header *header, const struct iovec *piece, int pieces,
                   struct plx_error_message *message);

/* Writes the chunk that is being filled, if it has messages: for a caller who has had none to write for a while. NOMEM, IO. */
int plx_mcap_flush(struct plx_mcap_writer *writer, struct plx_error_message *message);

/* Writes the last chunk and the summary; nothing may be added afterwards. 0: the file is whole. After a failure it still tries
 * to write the summary of the chunks that are in the file, and returns the failure. */
int plx_mcap_finish(struct plx_mcap_writer *writer, struct plx_error_message *message);

#endif
