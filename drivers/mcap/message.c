/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/mcap/message.h"

#include <string.h>

#include <parallax/error.h>

/* Names of sensor_msgs/image_encodings.hpp. */
static const struct encoding {
    const char *name;
    enum plx_format format;
    enum plx_bayer bayer;
    bool has_alpha; /* a fourth byte in each pixel */
} encodings[] = {
    {"mono8", PLX_FORMAT_GREY, 0, false},
    {"8UC1", PLX_FORMAT_GREY, 0, false},
    {"mono16", PLX_FORMAT_Y16, 0, false},
    {"16UC1", PLX_FORMAT_Y16, 0, false},
    {"rgb8", PLX_FORMAT_RGB24, 0, false},
    {"bgr8", PLX_FORMAT_BGR24, 0, false},
    {"8UC3", PLX_FORMAT_BGR24, 0, false}, /* as OpenCV has it, whose name this is */
    {"rgba8", PLX_FORMAT_RGB24, 0, true},
    {"bgra8", PLX_FORMAT_BGR24, 0, true},
    {"8UC4", PLX_FORMAT_BGR24, 0, true},
    {"bayer_rggb8", PLX_FORMAT_BAYER8, PLX_BAYER_RGGB, false},
    {"bayer_bggr8", PLX_FORMAT_BAYER8, PLX_BAYER_BGGR, false},
    {"bayer_gbrg8", PLX_FORMAT_BAYER8, PLX_BAYER_GBRG, false},
    {"bayer_grbg8", PLX_FORMAT_BAYER8, PLX_BAYER_GRBG, false},
    {"yuv422", PLX_FORMAT_UYVY, 0, false},
    {"uyvy", PLX_FORMAT_UYVY, 0, false},
    {"yuv422_yuy2", PLX_FORMAT_YUYV, 0, false},
    {"yuyv", PLX_FORMAT_YUYV, 0, false},
    {"nv12", PLX_FORMAT_NV12, 0, false},
    {"nv21", PLX_FORMAT_NV21, 0, false},
};
#define ENCODINGS                                                                                                              \
    "mono8, mono16, rgb8, bgr8, rgba8, bgra8, 8UC1, 8UC3, 8UC4, 16UC1, bayer_*8, yuv422, yuv422_yuy2, nv12 or nv21"

static const struct encoding *find_encoding(const char *name)
{
    for (size_t i = 0; i < sizeof encodings / sizeof *encodings; i++)
        if (strcmp(encodings[i].name, name) == 0)
            return &encodings[i];
    return NULL;
}

bool plx_message_is(const struct plx_mcap_message *message, const struct plx_cdr_type *type)
{
    const struct plx_mcap_schema *schema = message->channel->schema;
    return schema && strcmp(schema->name, type->name) == 0 && strcmp(message->channel->encoding, "cdr") == 0;
}

static struct plx_raw as_raw(const struct ros_image *image, const struct encoding *encoding)
{
    return (struct plx_raw){.data = image->data.data,
                            .bytes = image->data.count,
                            .width = (int)image->width,
                            .height = (int)image->height,
                            .pitch = image->step,
                            .format = encoding->format,
                            .bayer = encoding->bayer,
                            .eye_width = (int)image->width};
}

/* Whether the numbers of IMAGE fit each other and its bytes. */
static int check(const struct ros_image *image, const struct encoding *encoding, const char *path, const char *topic,
                 struct plx_error_message *error)
{
    if (image->width < 1 || image->height < 1 || image->width > PLX_MAX_SIDE || image->height > PLX_MAX_SIDE)
        return plx_fail(error, PLX_ERR_RANGE, "%s: %s has pictures of %u x %u pixels; expected 1 to %d", path, topic,
                        image->width, image->height, PLX_MAX_SIDE);
    const size_t row = encoding->has_alpha ? 4 * (size_t)image->width : plx_raw_row_bytes(encoding->format, (int)image->width);
    if (image->step < row || (uint64_t)image->step * image->height > image->data.count)
        return plx_fail(error, PLX_ERR_RANGE, "%s: %s has %u bytes in rows of %u; expected %u rows of at least %zu", path,
                        topic, image->data.count, image->step, image->height, row);
    if (encoding->has_alpha || encoding->format == PLX_FORMAT_Y16) /* whose words may lie anywhere */
        return 0;
    const struct plx_raw raw = as_raw(image, encoding);
    struct plx_error_message why;
    const int result = plx_raw_check(&raw, &why); /* chroma, and the smallest mosaic */
    return result < 0 ? plx_fail(error, PLX_ERR_RANGE, "%s: %s: %s", path, topic, why.text) : 0;
}

int plx_image_decode(const struct plx_mcap_message *message, const char *path, struct ros_image *ret_image,
                     enum plx_type *ret_type, struct plx_error_message *error)
{
    const char *topic = message->channel->topic;
    struct plx_cdr_arena arena = {.memory = NULL}; /* strings and bytes stay where they are */
    struct ros_image image;
    if (!plx_message_is(message, &ros_image_type))
        return plx_fail(error, PLX_ERR_UNSUPPORTED, "%s: %s holds %s as %s; expected sensor_msgs/msg/Image as cdr", path, topic,
                        message->channel->schema ? message->channel->schema->name : "messages without a definition",
                        message->channel->encoding);
    int result = plx_cdr_decode(&ros_image_type, message->data, message->bytes, &arena, &image);
    if (result == PLX_ERR_UNSUPPORTED)
        return plx_fail(error, result,
                        "%s: the messages of %s begin with %02x %02x: no little-endian CDR, which is all that Parallax reads",
                        path, topic, message->data[0], message->data[1]);
    if (result < 0)
        return plx_fail(error, PLX_ERR_FORMAT, "%s: a message of %s is damaged (%s)", path, topic, plx_strerror(result));
    const struct encoding *encoding = find_encoding(image.encoding);
    if (!encoding)
        return plx_fail(error, PLX_ERR_UNSUPPORTED, "%s: %s has the encoding \"%.32s\"; expected " ENCODINGS, path, topic,
                        image.encoding);
    result = check(&image, encoding, path, topic, error);
    if (result < 0)
        return result;
    *ret_image = image;
    *ret_type = encoding->format == PLX_FORMAT_Y16 ? PLX_U16 : PLX_U8;
    return 0;
}

static void copy_words(const struct ros_image *from, const uint8_t *row, const struct plx_image *image, int y)
{
    uint8_t *grey = plx_row(image, y);
    uint16_t *grey16 = plx_row(image, y);
    const bool is_big = from->is_bigendian != 0; /* any byte in the message */
    for (uint32_t x = 0; x < from->width; x++) {
        const uint8_t *word = row + 2 * (size_t)x, high = word[!is_big], low = word[is_big];
        if (image->type == PLX_U16)
            grey16[x] = (uint16_t)(high << 8 | low);
        else
            grey[x] = high;
    }
}

static void copy_with_alpha(const struct ros_image *from, enum plx_format format, const uint8_t *row,
                            const struct plx_image *image, int y)
{
    const int red = format == PLX_FORMAT_RGB24 ? 0 : 2;
    uint8_t *grey = plx_row(image, y);
    for (uint32_t x = 0; x < from->width; x++, row += 4) /* the luma of core/pipeline/stages.h */
        grey[x] = (uint8_t)((77u * row[red] + 150u * row[1] + 29u * row[2 - red] + 128u) >> 8);
}

void plx_image_copy(const struct ros_image *from, const struct plx_image *image)
{
    const struct encoding *encoding = find_encoding(from->encoding);
    if (!encoding)
        return; /* cannot be: FROM was checked */
    const struct plx_raw raw = as_raw(from, encoding);
    for (int y = 0; y < image->height; y++) {
        const uint8_t *row = from->data.data + (size_t)y * from->step;
        if (encoding->format == PLX_FORMAT_Y16)
            copy_words(from, row, image, y);
        else if (encoding->has_alpha)
            copy_with_alpha(from, encoding->format, row, image, y);
        else
            plx_raw_grey_row(&raw, image, y);
    }
}

bool plx_image_has_colour(const struct ros_image *image)
{
    const struct encoding *encoding = find_encoding(image->encoding);
    return encoding && encoding->format != PLX_FORMAT_GREY && encoding->format != PLX_FORMAT_Y16;
}

int plx_image_copy_raw(const struct ros_image *from, void *data, size_t capacity, struct plx_raw *ret_raw)
{
    const struct encoding *encoding = find_encoding(from->encoding);
    if (!encoding)
        return PLX_ERR_UNSUPPORTED; /* cannot be: FROM was checked */
    const size_t row = plx_raw_row_bytes(encoding->format, (int)from->width),
                 rows = plx_raw_rows(encoding->format, (int)from->height);
    if (capacity / row < rows)
        return PLX_ERR_RANGE;
    struct plx_raw raw = as_raw(from, encoding);
    for (size_t y = 0; y < rows; y++) {
        const uint8_t *sent = from->data.data + y * from->step;
        uint8_t *kept = (uint8_t *)data + y * row;
        if (!encoding->has_alpha)
            memcpy(kept, sent, row);
        for (uint32_t x = 0; encoding->has_alpha && x < from->width; x++)
            memcpy(kept + 3 * (size_t)x, sent + 4 * (size_t)x, 3);
    }
    raw.data = data;
    raw.bytes = rows * row;
    raw.pitch = row;
    *ret_raw = raw;
    return 0;
}

int plx_image_copy_rgb(const struct ros_image *from, const struct plx_image *rgb)
{
    const struct encoding *encoding = find_encoding(from->encoding);
    if (!encoding || (encoding->format != PLX_FORMAT_RGB24 && encoding->format != PLX_FORMAT_BGR24))
        return PLX_ERR_UNSUPPORTED;
    const int red = encoding->format == PLX_FORMAT_RGB24 ? 0 : 2;
    const size_t step = encoding->has_alpha ? 4 : 3;
    for (int y = 0; y < rgb->height; y++) {
        const uint8_t *sent = from->data.data + (size_t)y * from->step;
        uint8_t *kept = plx_row(rgb, y);
        for (int x = 0; x < rgb->width; x++, sent += step, kept += 3) {
            kept[0] = sent[red];
            kept[1] = sent[1];
            kept[2] = sent[2 - red];
        }
    }
    return 0;
}
