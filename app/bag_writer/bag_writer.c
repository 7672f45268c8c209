/* SPDX-License-Identifier: Apache-2.0 */
#include "app/bag_writer/bag_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <parallax/client.h>
#include <parallax/error.h>

#include "app/version.h"
#include "bridge/topics.h"
#include "core/geometry/calibration.h"
#include "formats/cdr/schema.h"

#define PLAIN_CHUNK_BYTES 32768 /* holds all but pictures and points */
#define FIELDS_BYTES 65536      /* obstacles: 256 of 200 bytes more than their structures */

struct plx_bag_writer {
    const char *path;
    int fd;
    struct plx_mcap_writer *mcap;
    uint16_t channel[PLX_TOPICS]; /* 0: not recorded */
    uint32_t sequence[PLX_TOPICS];
    uint8_t *encoded, *scratch;
    size_t capacity; /* bytes at ENCODED */
};

int plx_bag_topics(const char *names, uint32_t *ret_topics, struct plx_error_message *message)
{
    uint32_t selected = 0;
    for (const char *name = names ? names : PLX_BAG_DEFAULT_TOPICS; name;) {
        const size_t length = strcspn(name, ",");
        const uint32_t topics = plx_topics_named(name, length);
        if (topics == 0)
            return plx_fail(message, PLX_ERR_ARG, "--topics: there is no \"%.*s\"; expected some of %s", (int)length, name,
                            PLX_TOPIC_WORDS);
        selected |= topics;
        name = name[length] ? name + length + 1 : NULL;
    }
    *ret_topics = selected;
    return 0;
}

/* As rosbag2 writes it (numbers of rmw): reliable, the last one stays for those who come late. */
static const struct plx_mcap_pair latched = {"offered_qos_profiles", "- history: 1\n"
                                                                     "  depth: 1\n"
                                                                     "  reliability: 1\n"
                                                                     "  durability: 1\n"
                                                                     "  deadline:\n    sec: 9223372036\n    nsec: 854775807\n"
                                                                     "  lifespan:\n    sec: 9223372036\n    nsec: 854775807\n"
                                                                     "  liveliness: 1\n"
                                                                     "  liveliness_lease_duration:\n"
                                                                     "    sec: 9223372036\n    nsec: 854775807\n"
                                                                     "  avoid_ros_namespace_conventions: false\n"};

/* CORRECTED: what plx_corrected_text says of the first frame. */
static int add_channel(struct plx_bag_writer *writer, enum plx_topic_id topic, bool raw, const char *corrected,
                       struct plx_error_message *message)
{
    struct plx_mcap_pair metadata[2];
    size_t count = 0;
    const struct plx_cdr_type *type = plx_topics[topic].type;
    char text[PLX_SCHEMA_BYTES], name[PLX_TOPIC_NAME];
    uint16_t schema;
    const int length = plx_schema_text(type, text, sizeof text);
    if (length < 0)
        return length;
    if (topic == PLX_TOPIC_TF_STATIC)
        metadata[count++] = latched;
    if (!raw && (topic == PLX_TOPIC_LEFT_INFO || topic == PLX_TOPIC_RIGHT_INFO))
        metadata[count++] = (struct plx_mcap_pair){PLX_CORRECTED, corrected};
    plx_topic_name(topic, raw, name);
    int result = plx_mcap_add_schema(writer->mcap, type->name, "ros2msg", text, (size_t)length, &schema, message);
    if (result == 0)
        result = plx_mcap_add_channel(writer->mcap, schema, name, "cdr", metadata, count, &writer->channel[topic], message);
    return result;
}

/* Bytes of the largest encoded message: as what it is made of, and names, numbers and padding. */
static size_t largest_message(const struct plx_frame *frame)
{
    return plx_frame_messages_scratch(frame) + FIELDS_BYTES;
}

static int open_file(struct plx_bag_writer *writer, enum plx_bag_packing packing, const struct plx_frame *frame,
                     struct plx_error_message *message)
{
    writer->fd = open(writer->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (writer->fd < 0)
        return plx_fail(message, PLX_ERR_IO, "%s: %s", writer->path,
                        errno == EEXIST ? "exists already; record into a new file" : strerror(errno));
    char library[64];
    snprintf(library, sizeof library, "parallax %s", plx_version);
    struct plx_mcap_writer_options options = {.fd = writer->fd, .name = writer->path, .library = library};
    if (packing == PLX_BAG_COMPRESSED)
        options.message_bytes = largest_message(frame);
    else /* a larger message becomes a chunk of its own, as it is */
        options.chunk_bytes = PLAIN_CHUNK_BYTES;
    return plx_mcap_writer_create(&options, &writer->mcap, message);
}

static void destroy(struct plx_bag_writer *writer)
{
    plx_mcap_writer_destroy(writer->mcap);
    if (writer->fd >= 0)
        close(writer->fd);
    free(writer->encoded);
    free(writer->scratch);
    free(writer);
}

int plx_bag_writer_create(const char *path, uint32_t selected, enum plx_bag_packing packing, const struct plx_frame *frame,
                          struct plx_bag_writer **ret_writer, struct plx_error_message *message)
{
    const bool raw = (frame->health & PLX_HEALTH_NOT_CALIBRATED) != 0;
    char corrected[PLX_CORRECTED_TEXT];
    int result = 0;
    struct plx_bag_writer *writer = calloc(1, sizeof *writer);
    if (!writer)
        return plx_fail(message, PLX_ERR_NOMEM, "%s: out of memory", path);
    plx_corrected_text(&frame->correction, corrected);
    writer->path = path;
    writer->capacity = largest_message(frame);
    writer->encoded = malloc(writer->capacity);
    writer->scratch = malloc(plx_frame_messages_scratch(frame));
    writer->fd = -1;
    if (!writer->encoded || !writer->scratch)
        result = plx_fail(message, PLX_ERR_NOMEM, "%s: out of memory", path);
    signal(SIGXFSZ, SIG_IGN); /* a limit on file sizes is an error of the write */
    if (result == 0)
        result = open_file(writer, packing, frame, message);
    for (int i = 0; i < PLX_TOPICS && result == 0; i++)
        if ((selected >> i & 1) && (!raw || plx_topics[i].raw_name))
            result = add_channel(writer, (enum plx_topic_id)i, raw, corrected, message);
    if (result < 0)
        destroy(writer);
    else
        *ret_writer = writer;
    return result;
}

static int too_large(const struct plx_bag_writer *writer, struct plx_error_message *message)
{
    return plx_fail(message, PLX_ERR_RANGE, "%s: the service's pictures have become larger", writer->path);
}

static int add_message(struct plx_bag_writer *writer, enum plx_topic_id topic, int64_t realtime_ns, const void *content,
                       struct plx_error_message *message)
{
    struct iovec data = {.iov_base = writer->encoded};
    if (plx_cdr_encode(plx_topics[topic].type, content, writer->encoded, writer->capacity, &data.iov_len) < 0)
        return too_large(writer, message);
    const struct plx_mcap_header header = {.channel = writer->channel[topic],
                                           .sequence = ++writer->sequence[topic],
                                           .log_ns = (uint64_t)realtime_ns,
                                           .publish_ns = (uint64_t)realtime_ns};
    return plx_mcap_write(writer->mcap, &header, &data, 1, message);
}

int plx_bag_writer_add(struct plx_bag_writer *writer, const struct plx_frame *frame, struct plx_diagnostics *diagnostics,
                       struct plx_error_message *message)
{
    union plx_topic_message content;
    struct plx_frame_messages messages = {.frame = frame, .names = &plx_frame_names, .scratch = writer->scratch};
    int result = 0;
    if (plx_realtime_ns(frame, &messages.realtime_ns) < 0)
        return plx_fail(message, PLX_ERR_FORMAT, "%s: a frame has no capture time", writer->path);
    if (largest_message(frame) > writer->capacity)
        return too_large(writer, message);
    for (int i = 0; i < PLX_TOPICS && result == 0; i++)
        if (writer->channel[i] > 0 && plx_topic_fill((enum plx_topic_id)i, &messages, &content) == 0)
            result = add_message(writer, (enum plx_topic_id)i, messages.realtime_ns, &content, message);
    if (result == 0 && diagnostics && writer->channel[PLX_TOPIC_DIAGNOSTICS] > 0) {
        plx_message_diagnostics(diagnostics, messages.realtime_ns, &content.frame_info);
        result = add_message(writer, PLX_TOPIC_DIAGNOSTICS, messages.realtime_ns, &content, message);
    }
    return result;
}

int plx_bag_writer_note(struct plx_bag_writer *writer, const char *name, const struct plx_mcap_pair *pair, size_t count,
                        struct plx_error_message *message)
{
    return plx_mcap_add_metadata(writer->mcap, name, pair, count, message);
}

int plx_bag_writer_finish(struct plx_bag_writer *writer, struct plx_error_message *message)
{
    int result = plx_mcap_finish(writer->mcap, message);
    if (close(writer->fd) < 0 && result == 0)
        result = plx_fail(message, PLX_ERR_IO, "%s: %s", writer->path, strerror(errno));
    writer->fd = -1;
    destroy(writer);
    return result;
}
