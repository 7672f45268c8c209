/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/mcap/compressed.h"

#include <png.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "drivers/files/exif.h"
#include "drivers/files/picture.h"

struct plx_compressed {
    struct plx_jpeg *jpeg;
    uint8_t *pixels;
    size_t capacity;
};

/* A message, its picture, and what messages for people begin with. */
struct work {
    struct ros_compressed_image sent;
    const char *path, *topic;
    struct plx_error_message *error;
    struct ros_image image;
    enum plx_type type;
};

int plx_compressed_create(struct plx_compressed **ret_compressed)
{
    struct plx_compressed *compressed = calloc(1, sizeof *compressed);
    if (!compressed || plx_jpeg_create(&compressed->jpeg) < 0) {
        free(compressed);
        return PLX_ERR_NOMEM;
    }
    *ret_compressed = compressed;
    return 0;
}

void plx_compressed_destroy(struct plx_compressed *compressed)
{
    if (!compressed)
        return;
    plx_jpeg_destroy(compressed->jpeg);
    free(compressed->pixels);
    free(compressed);
}

/* Describes the picture, and makes room for its pixels if WHOLE. */
static int begin(struct plx_compressed *compressed, struct work *work, uint32_t width, uint32_t height, bool is_colour,
                 bool whole)
{
    const uint32_t bytes = is_colour ? 3 : (uint32_t)work->type;
    if (width > PLX_MAX_SIDE || height > PLX_MAX_SIDE)
        return plx_fail(work->error, PLX_ERR_RANGE, "%s: %s has pictures of %u x %u pixels; expected 1 to %d", work->path,
                        work->topic, width, height, PLX_MAX_SIDE);
    work->image = (struct ros_image){.header = work->sent.header,
                                     .width = width,
                                     .height = height,
                                     .encoding = is_colour               ? "rgb8"
                                                 : work->type == PLX_U16 ? "mono16"
                                                                         : "mono8",
                                     .is_bigendian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__,
                                     .step = width * bytes};
    const size_t size = (size_t)work->image.step * height;
    if (!whole)
        return 0;
    if (size > compressed->capacity) {
        free(compressed->pixels);
        compressed->pixels = malloc(size);
        compressed->capacity = compressed->pixels ? size : 0;
    }
    if (!compressed->pixels)
        return plx_fail(work->error, PLX_ERR_NOMEM, "%s: out of memory", work->path);
    work->image.data.data = compressed->pixels;
    work->image.data.count = (uint32_t)size;
    return 0;
}

static int damaged(const struct work *work, const char *kind, const char *why)
{
    return plx_fail(work->error, PLX_ERR_FORMAT, "%s: a message of %s holds a damaged %s (%s)", work->path, work->topic, kind,
                    why);
}

static int decode_jpeg(struct plx_compressed *compressed, struct work *work, bool whole)
{
    const void *data = work->sent.data.data;
    const size_t bytes = work->sent.data.count;
    struct plx_error_message why;
    struct plx_picture_info info;
    int result = plx_jpeg_header(compressed->jpeg, data, bytes, &info, &why);
    if (result == PLX_ERR_UNSUPPORTED)
        return plx_fail(work->error, result, "%s: %s holds %s", work->path, work->topic, why.text);
    if (result < 0)
        return damaged(work, "JPEG", why.text);
    const int orientation = plx_exif_orientation(data, bytes);
    if (orientation != 1)
        return plx_fail(
            work->error, PLX_ERR_UNSUPPORTED,
            "%s: %s holds pictures that are stored turned or mirrored (EXIF orientation %d), expected 1; let the camera "
            "driver leave out that tag",
            work->path, work->topic, orientation);
    work->type = PLX_U8;
    result = begin(compressed, work, (uint32_t)info.width, (uint32_t)info.height, info.colour, whole);
    if (result < 0 || !whole)
        return result;
    const struct plx_image image = {compressed->pixels, info.width, info.height, work->image.step,
                                    info.colour ? PLX_RGB : PLX_U8};
    result = plx_jpeg_decode(compressed->jpeg, data, bytes, info.colour ? NULL : &image, info.colour ? &image : NULL, &why);
    return result < 0 ? damaged(work, "JPEG", why.text) : 0;
}

static int decode_png(struct plx_compressed *compressed, struct work *work, bool whole)
{
    png_image png = {.version = PNG_IMAGE_VERSION};
    if (!png_image_begin_read_from_memory(&png, work->sent.data.data, work->sent.data.count))
        return damaged(work, "PNG", png.message);
    const bool is_colour = png.format & PNG_FORMAT_FLAG_COLOR, is_deep = png.format & PNG_FORMAT_FLAG_LINEAR;
    work->type = is_deep && !is_colour ? PLX_U16 : PLX_U8;
    png.format = is_colour ? PNG_FORMAT_RGB : is_deep ? PNG_FORMAT_LINEAR_Y : PNG_FORMAT_GRAY;
    int result = begin(compressed, work, png.width, png.height, is_colour, whole);
    const png_color black = {0};
    if (result == 0 && whole && !png_image_finish_read(&png, &black, compressed->pixels, 0, NULL))
        result = damaged(work, "PNG", png.message);
    png_image_free(&png);
    return result;
}

int plx_compressed_decode(struct plx_compressed *compressed, const struct plx_mcap_message *message, const char *path,
                          bool whole, struct ros_image *ret_image, enum plx_type *ret_type, struct plx_error_message *error)
{
    struct plx_cdr_arena arena = {.memory = NULL}; /* strings and bytes stay where they are */
    struct work work = {.path = path, .topic = message->channel->topic, .error = error};
    int result = plx_cdr_decode(&ros_compressed_image_type, message->data, message->bytes, &arena, &work.sent);
    if (result < 0)
        return plx_fail(error, result == PLX_ERR_UNSUPPORTED ? result : PLX_ERR_FORMAT,
                        "%s: a message of %s is damaged, or no little-endian CDR (%s)", path, work.topic, plx_strerror(result));
    const uint8_t *data = work.sent.data.data;
    if (work.sent.data.count > 3 && memcmp(data, "\xFF\xD8\xFF", 3) == 0)
        result = decode_jpeg(compressed, &work, whole);
    else if (work.sent.data.count > 4 && memcmp(data, "\x89PNG", 4) == 0)
        result = decode_png(compressed, &work, whole);
    else
        result = plx_fail(error, PLX_ERR_UNSUPPORTED, "%s: %s has the format \"%.48s\"; expected JPEG or PNG pictures", path,
                          work.topic, work.sent.format);
    if (result < 0)
        return result;
    *ret_image = work.image;
    *ret_type = work.type;
    return 0;
}
