/* SPDX-License-Identifier: Apache-2.0 */
/* MCAP files for tests: messages whose bytes follow from their number. */
#ifndef PLX_TESTS_MCAP_FILES_H
#define PLX_TESTS_MCAP_FILES_H

#include <fcntl.h>

#include <parallax/error.h>

#include "formats/mcap/read.h"
#include "formats/mcap/write.h"
#include "tests/cmocka.h"
#include "tests/scratch.h"
#include "tests/unit/files.h"

static struct plx_error_message message;

/* Bytes of message NUMBER, partly compressible. */
static inline void mcap_fill(uint8_t *data, size_t bytes, uint64_t number)
{
    uint64_t random = number + 1;
    for (size_t i = 0; i < bytes; i++)
        data[i] = (uint8_t)(i % 3 == 0 ? scratch_random(&random) : i / 64);
}

struct mcap_file {
    int fd;
    struct plx_mcap_writer *writer;
    uint16_t channel;
};

/* A file with one schema and one channel. */
static inline struct mcap_file mcap_begin(const char *name, size_t chunk_bytes, size_t message_bytes)
{
    struct mcap_file file = {.fd = open(files_path(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)};
    const struct plx_mcap_writer_options options = {file.fd, name, "parallax test", chunk_bytes, message_bytes};
    uint16_t schema;

    assert_true(file.fd >= 0);
    assert_int_equal(plx_mcap_writer_create(&options, &file.writer, &message), 0);
    assert_int_equal(plx_mcap_add_schema(file.writer, "std_msgs/msg/String", "ros2msg", "string data\n", 12, &schema, &message),
                     0);
    assert_int_equal(plx_mcap_add_channel(file.writer, schema, "/a", "cdr", NULL, 0, &file.channel, &message), 0);
    return file;
}

/* Writes message NUMBER in three pieces, and returns the result. */
static inline int mcap_put(const struct mcap_file *file, uint16_t channel, uint64_t number, uint64_t log_ns, size_t bytes)
{
    uint8_t *data = malloc(bytes + 1);
    const size_t third = bytes / 3;
    const struct iovec piece[3] = {{data, third}, {data + third, 0}, {data + third, bytes - third}};
    const struct plx_mcap_header header = {channel, (uint32_t)number, log_ns, log_ns + 5};

    mcap_fill(data, bytes, number);
    const int result = plx_mcap_write(file->writer, &header, piece, 3, &message);
    free(data);
    return result;
}

static inline void mcap_close(struct mcap_file *file, int expected)
{
    assert_int_equal(plx_mcap_finish(file->writer, &message), expected);
    plx_mcap_writer_destroy(file->writer);
    close(file->fd);
}

/* The message is NUMBER as mcap_put wrote it. */
static inline void mcap_assert(const struct plx_mcap_message *got, uint64_t number, uint64_t log_ns, size_t bytes)
{
    uint8_t *data = malloc(bytes + 1);

    mcap_fill(data, bytes, number);
    assert_int_equal(got->header.sequence, number);
    assert_int_equal(got->header.log_ns, log_ns);
    assert_int_equal(got->header.publish_ns, log_ns + 5);
    assert_int_equal(got->bytes, bytes);
    assert_memory_equal(got->data, data, bytes);
    free(data);
}

static inline struct plx_mcap_reader *mcap_open(const char *name, enum plx_mcap_order order)
{
    struct plx_mcap_reader *reader = NULL;
    if (plx_mcap_reader_create(files_path(name), order, &reader, &message) != 0)
        fail_msg("%s", message.text);
    return reader;
}

#endif
