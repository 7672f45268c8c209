/* SPDX-License-Identifier: Apache-2.0 */
/* Fixture of the tests of bags: one file that a test writes message by message, opens and reads. */
#ifndef PLX_TESTS_BAG_WRITE_H
#define PLX_TESTS_BAG_WRITE_H

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zstd.h>

#include <parallax/error.h>

#include "core/base/clock.h"
#include "drivers/mcap/bag.h"
#include "formats/cdr/ros_types.h"
#include "formats/mcap/write.h"
#include "tests/cmocka.h"

#define WIDTH 3
#define HEIGHT 2
#define MS 1000000

static char bag_path[] = "/tmp/plx-bag-XXXXXX";

#define BAG_COLOUR 4 /* the channel behind those of each eye's pictures and camera_info */
#define BAG_CHANNELS 5

/* A bag that is being written. */
static struct {
    struct plx_mcap_writer *writer;
    int fd;
    uint16_t channel[BAG_CHANNELS];
} bag;

static const struct plx_cdr_type *bag_picture_type = &ros_image_type; /* what the next bag's left and right pictures are */

/* Begins the bag anew, with pictures on the topics LEFT and RIGHT. */
static inline void bag_begin(const char *left, const char *right)
{
    const struct plx_cdr_type *const type[BAG_CHANNELS] = {bag_picture_type, bag_picture_type, &ros_camera_info_type,
                                                           &ros_camera_info_type, &ros_image_type};
    const char *const topic[BAG_CHANNELS] = {left, right, "/cam/left/camera_info", "/cam/right/camera_info",
                                             "/cam/left/image_rect_color"};
    struct plx_error_message message;
    bag.fd = open(bag_path, O_WRONLY | O_TRUNC);
    const struct plx_mcap_writer_options options = {.fd = bag.fd, .name = bag_path, .library = "test", .message_bytes = 4096};
    assert_int_equal(plx_mcap_writer_create(&options, &bag.writer, &message), 0);
    for (int i = 0; i < BAG_CHANNELS; i++) {
        uint16_t schema;
        assert_int_equal(plx_mcap_add_schema(bag.writer, type[i]->name, "ros2msg", "", 0, &schema, &message), 0);
        assert_int_equal(plx_mcap_add_channel(bag.writer, schema, topic[i], "cdr", NULL, 0, &bag.channel[i], &message), 0);
    }
}

static int64_t bag_log_ns;     /* time of the next messages */
static bool bag_is_compressed; /* each message by itself, as rosbag2 does by compression_mode: message */

/* CONTENT is encoded as a message of CHANNEL. */
static inline void bag_put(int channel, const struct plx_cdr_type *type, const void *content)
{
    uint8_t data[4096];
    struct iovec part = {.iov_base = data};
    struct plx_error_message message;
    static uint32_t sequence;
    uint8_t packed[ZSTD_COMPRESSBOUND(sizeof data)];
    assert_int_equal(plx_cdr_encode(type, content, data, sizeof data, &part.iov_len), 0);
    if (bag_is_compressed) {
        part = (struct iovec){packed, ZSTD_compress(packed, sizeof packed, data, part.iov_len, 1)};
        assert_false(ZSTD_isError(part.iov_len));
    }
    const struct plx_mcap_header header = {
        .channel = bag.channel[channel], .sequence = sequence++, .log_ns = (uint64_t)bag_log_ns};
    assert_int_equal(plx_mcap_write(bag.writer, &header, &part, 1, &message), 0);
}

/* A picture of WIDTH x HEIGHT pixels with BYTES bytes each. */
static inline struct ros_image bag_image(const char *encoding, uint32_t bytes, const uint8_t *data)
{
    return (struct ros_image){.header = {.frame_id = "cam"},
                              .height = HEIGHT,
                              .width = WIDTH,
                              .encoding = encoding,
                              .step = WIDTH * bytes,
                              .data = {.data = data, .count = WIDTH * HEIGHT * bytes}};
}

/* A grey picture whose pixels are VALUE, at STAMP_NS. */
static inline void bag_put_grey_at(int eye, int64_t stamp_ns, uint8_t value)
{
    uint8_t data[WIDTH * HEIGHT];
    memset(data, value, sizeof data);
    struct ros_image grey = bag_image("mono8", 1, data);
    grey.header.stamp.sec = (int32_t)(stamp_ns / PLX_NS_PER_S);
    grey.header.stamp.nanosec = (uint32_t)(stamp_ns % PLX_NS_PER_S);
    bag_put(eye, &ros_image_type, &grey);
}

static inline void bag_put_grey(int eye, int64_t stamp_ms, uint8_t value)
{
    bag_put_grey_at(eye, stamp_ms * MS, value);
}

static inline void bag_finish(void)
{
    struct plx_error_message message;
    assert_int_equal(plx_mcap_finish(bag.writer, &message), 0);
    plx_mcap_writer_destroy(bag.writer);
    close(bag.fd);
}

/* The bag, whose pictures are on the topics LEFT and RIGHT; "": those of `parallax record`. */
static inline struct plx_bag *bag_open(const char *left, const char *right)
{
    const struct plx_bag_options options = {.path = bag_path, .topic = {left, right}};
    struct plx_error_message message;
    struct plx_bag *result;
    if (plx_bag_open(&options, &result, &message) < 0)
        fail_msg("%s", message.text);
    return result;
}

/* The bag cannot be opened: ERROR, and a message that names the file and has SAID. */
static inline void bag_assert_refused(const char *left, const char *right, int error, const char *said)
{
    const struct plx_bag_options options = {.path = bag_path, .topic = {left, right}};
    struct plx_error_message message = {""};
    struct plx_bag *result;
    const int got = plx_bag_open(&options, &result, &message);
    if (got != error || !strstr(message.text, said) || strncmp(message.text, bag_path, strlen(bag_path)) != 0)
        fail_msg("%d: %s", got, message.text);
}

/* Reads pair K as 8 bits. */
static inline void bag_read_pair(struct plx_bag *from, int k, uint8_t ret_left[WIDTH * HEIGHT],
                                 uint8_t ret_right[WIDTH * HEIGHT])
{
    struct plx_error_message message;
    const struct plx_image both[PLX_EYES] = {{ret_left, WIDTH, HEIGHT, WIDTH, PLX_U8},
                                             {ret_right, WIDTH, HEIGHT, WIDTH, PLX_U8}};
    if (plx_bag_read(from, k, both, &message) < 0)
        fail_msg("%s", message.text);
}

/* Group set-up and tear-down: the file of all bags of a program. */
static inline int bag_make_file(void **state)
{
    (void)state;
    return close(mkstemp(bag_path));
}

static inline int bag_remove_file(void **state)
{
    (void)state;
    return unlink(bag_path);
}

#endif
