/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For mcap.py.
 *
 *   mcap_probe write FILE        writes a file; prints each message
 *   mcap_probe read FILE ORDER   prints each message of the file; ORDER: file or log
 *
 * A line a message: topic, schema, sequence, log time, publish time, bytes, CRC-32 of the data. The last line of read is "cut"
 * or "whole", and the order.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <parallax/error.h>

#include "formats/mcap/read.h"
#include "formats/mcap/write.h"
#include "tests/scratch.h"

#define TOPICS 5
#define MESSAGES 400
#define LARGE (5u << 20)
#define BEGIN_NS UINT64_C(1700000000000000000)
#define PERIOD_NS UINT64_C(33333333)

static struct plx_error_message message;

static void must(int result)
{
    if (result < 0) {
        fprintf(stderr, "%s\n", message.text);
        exit(1);
    }
}

static void print(const char *topic, const char *schema, const struct plx_mcap_header *header, const uint8_t *data,
                  size_t bytes)
{
    printf("%s %s %" PRIu32 " %" PRIu64 " %" PRIu64 " %zu %08lx\n", topic, schema, header->sequence, header->log_ns,
           header->publish_ns, bytes, bytes > 0 ? crc32_z(0, data, bytes) : 0);
}

static uint16_t add_topic(struct plx_mcap_writer *writer, int number, char *ret_topic, size_t size)
{
    static const struct plx_mcap_pair qos[] = {{"offered_qos_profiles", "- history: 3"}, {"note", ""}};
    uint16_t schema = 0, channel;

    snprintf(ret_topic, size, "/topic_%d", number);
    if (number > 0) /* the first has none */
        must(plx_mcap_add_schema(writer, ret_topic + 1, "ros2msg", "uint8 x\n", 8, &schema, &message));
    must(plx_mcap_add_channel(writer, schema, ret_topic, "cdr", qos, (size_t)number % 3, &channel, &message));
    return channel;
}

static void write_file(const char *path)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    const struct plx_mcap_writer_options options = {fd, path, "parallax test", 1u << 16, 1u << 17};
    struct plx_mcap_writer *writer;
    uint8_t *data = malloc(LARGE);
    char topic[TOPICS][16];
    uint16_t channel[TOPICS];
    uint64_t random = 1;

    must(data ? plx_mcap_writer_create(&options, &writer, &message) : PLX_ERR_NOMEM);
    for (int i = 0; i < TOPICS; i++)
        channel[i] = add_topic(writer, i, topic[i], sizeof topic[i]);
    must(plx_mcap_add_metadata(writer, "parallax", &(struct plx_mcap_pair){"calibration", "none"}, 1, &message));
    for (uint32_t n = 0; n < MESSAGES; n++) {
        const int t = (int)(scratch_random(&random) % TOPICS);
        const size_t bytes = n == MESSAGES / 2 ? LARGE : scratch_random(&random) % (n % 10 == 0 ? 1u << 17 : 300);
        const struct plx_mcap_header header = {channel[t], n,
                                               BEGIN_NS + n * PERIOD_NS + scratch_random(&random) % (4 * PERIOD_NS), n};
        for (size_t i = 0; i < bytes; i++)
            data[i] = (uint8_t)(scratch_random(&random) & 0x33);
        const struct iovec piece[2] = {{data, bytes / 4}, {data + bytes / 4, bytes - bytes / 4}};
        must(plx_mcap_write(writer, &header, piece, 2, &message));
        print(topic[t], t > 0 ? topic[t] + 1 : "-", &header, data, bytes);
    }
    must(plx_mcap_add_metadata(writer, "end", NULL, 0, &message));
    must(plx_mcap_finish(writer, &message));
    plx_mcap_writer_destroy(writer);
    close(fd);
    free(data);
}

static void read_file(const char *path, const char *order)
{
    struct plx_mcap_reader *reader;
    struct plx_mcap_message got;
    int result;

    must(plx_mcap_reader_create(path, strcmp(order, "log") == 0 ? PLX_MCAP_LOG_ORDER : PLX_MCAP_FILE_ORDER, &reader, &message));
    while ((result = plx_mcap_next(reader, &got, &message)) == 0)
        print(got.channel->topic, got.channel->schema ? got.channel->schema->name : "-", &got.header, got.data, got.bytes);
    if (result != PLX_ERR_END)
        must(result);
    printf("%s %s\n", plx_mcap_is_cut(reader) ? "cut" : "whole", plx_mcap_order(reader) == PLX_MCAP_LOG_ORDER ? "log" : "file");
    plx_mcap_reader_destroy(reader);
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "write") == 0)
        write_file(argv[2]);
    else if (argc == 4 && strcmp(argv[1], "read") == 0)
        read_file(argv[2], argv[3]);
    else
        return 64;
    return 0;
}
