/* SPDX-License-Identifier: Apache-2.0 */
#include "app/web/packet.h"

#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>
#include <turbojpeg.h>
#include <zlib.h>

#include "core/base/clock.h"

#define JPEG_QUALITY 70
#define ALIGNED(BYTES) (((size_t)(BYTES) + 7) & ~(size_t)7)
#define INVALID_BYTE 255 /* value without disparity in 8 bits; 254 is the largest one */

const char *const plx_web_plane_names[PLX_WEB_PLANES] = {"left", "right", "disparity", "scan", "histogram", "map", "colour"};

/* A plane as it is sent. */
struct plane {
    const char *name, *form;
    uint32_t width, height;
    const uint8_t *row; /* rows of BYTES_PER_ROW, PITCH apart; or one piece of memory */
    size_t bytes_per_row, pitch, rows, bytes;
    uint8_t *owned; /* allocated by zlib */
    uint8_t *jpeg;  /* allocated by turbojpeg */
};

struct plx_web_encoder {
    tjhandle jpeg;
    uint8_t *packed; /* what zlib is to compress, without gaps */
    size_t packed_bytes;
};

int plx_web_encoder_create(struct plx_web_encoder **ret_encoder)
{
    struct plx_web_encoder *encoder = calloc(1, sizeof *encoder);
    if (encoder)
        encoder->jpeg = tjInitCompress();
    if (!encoder || !encoder->jpeg) {
        free(encoder);
        return PLX_ERR_NOMEM;
    }
    *ret_encoder = encoder;
    return 0;
}

void plx_web_encoder_destroy(struct plx_web_encoder *encoder)
{
    if (!encoder)
        return;
    tjDestroy(encoder->jpeg);
    free(encoder->packed);
    free(encoder);
}

static void as_piece(struct plane *plane, const char *form, const uint8_t *data, size_t bytes)
{
    plane->form = form;
    plane->row = data;
    plane->rows = 1;
    plane->bytes = plane->bytes_per_row = bytes;
}

static int compress_picture(const struct plx_web_encoder *encoder, bool is_colour, struct plane *plane)
{
    unsigned long bytes = 0;
    if (tjCompress2(encoder->jpeg, plane->row, (int)plane->width, (int)plane->pitch, (int)plane->height,
                    is_colour ? TJPF_RGB : TJPF_GRAY, &plane->jpeg, &bytes, is_colour ? TJSAMP_420 : TJSAMP_GRAY, JPEG_QUALITY,
                    TJFLAG_FASTDCT) < 0)
        return PLX_ERR_IO;
    as_piece(plane, "jpeg", plane->jpeg, bytes);
    return 0;
}

/* Every second pixel of every second row, as a share of RANGE. */
static void reduce(const struct plane *plane, uint32_t range, uint8_t *ret_pixel)
{
    for (uint32_t y = 0; y < plane->height; y += 2) {
        const uint16_t *row = (const uint16_t *)(plane->row + y * plane->pitch);
        for (uint32_t x = 0; x < plane->width; x += 2) {
            const uint32_t share = row[x] * (uint32_t)(INVALID_BYTE - 1) / range;
            *ret_pixel++ = row[x] == PLX_DISPARITY_INVALID || share >= INVALID_BYTE ? INVALID_BYTE : (uint8_t)share;
        }
    }
}

static int reserve(struct plx_web_encoder *encoder, size_t bytes)
{
    if (encoder->packed_bytes >= bytes)
        return 0;
    uint8_t *larger = realloc(encoder->packed, bytes);
    if (!larger)
        return PLX_ERR_NOMEM;
    encoder->packed = larger;
    encoder->packed_bytes = bytes;
    return 0;
}

static int deflate_packed(const struct plx_web_encoder *encoder, size_t packed_bytes, struct plane *plane)
{
    uLongf bytes = compressBound(packed_bytes);
    plane->owned = malloc(bytes);
    if (!plane->owned || compress2(plane->owned, &bytes, encoder->packed, packed_bytes, Z_BEST_SPEED) != Z_OK)
        return PLX_ERR_NOMEM;
    as_piece(plane, "deflate", plane->owned, bytes);
    return 0;
}

static int compress_disparity(struct plx_web_encoder *encoder, uint32_t range, struct plane *plane)
{
    const uint32_t width = (plane->width + 1) / 2, height = (plane->height + 1) / 2;
    const size_t pixels = (size_t)width * height;
    if (reserve(encoder, pixels) < 0)
        return PLX_ERR_NOMEM;
    reduce(plane, range, encoder->packed);
    plane->width = width;
    plane->height = height;
    return deflate_packed(encoder, pixels, plane);
}

static int compress_map(struct plx_web_encoder *encoder, struct plane *plane)
{
    const size_t bytes = plane->bytes_per_row * plane->rows;
    if (reserve(encoder, bytes) < 0)
        return PLX_ERR_NOMEM;
    for (size_t row = 0; row < plane->rows; row++)
        memcpy(encoder->packed + row * plane->bytes_per_row, plane->row + row * plane->pitch, plane->bytes_per_row);
    return deflate_packed(encoder, bytes, plane);
}

/* The whole picture of both eyes: of the rows of PLX_PLANE_HISTOGRAM the first of each. */
static void pick_histograms(struct plane *plane, const struct plx_plane *layout)
{
    plane->width = layout->width;
    plane->height = plane->rows = PLX_EYES;
    plane->pitch = layout->pitch * (size_t)(layout->height / PLX_EYES);
}

/* 1, 0 (FRAME has no such plane), or an error. */
static int fill_plane(struct plx_web_encoder *encoder, const struct plx_frame *frame, enum plx_web_plane id, bool compact,
                      struct plane *ret_plane)
{
    static const struct {
        enum plx_plane_id id;
        const char *form;
    } source[PLX_WEB_PLANES] = {{PLX_PLANE_LEFT, "u8"},    {PLX_PLANE_RIGHT, "u8"},      {PLX_PLANE_DISPARITY, "u16"},
                                {PLX_PLANE_SCAN, "u16"},   {PLX_PLANE_HISTOGRAM, "u32"}, {PLX_PLANE_MAP, "u8"},
                                {PLX_PLANE_COLOUR, "rgb8"}};
    const struct plx_plane *layout = &frame->plane[source[id].id];
    struct plane *plane = ret_plane;
    if (layout->width == 0)
        return 0;
    *plane = (struct plane){.name = plx_web_plane_names[id],
                            .form = source[id].form,
                            .width = layout->width,
                            .height = layout->height,
                            .row = (const uint8_t *)frame + layout->offset,
                            .bytes_per_row = (size_t)layout->width * layout->element,
                            .pitch = layout->pitch,
                            .rows = layout->height};
    int result = 0;
    if (id == PLX_WEB_HISTOGRAM)
        pick_histograms(plane, layout);
    if (compact && (id <= PLX_WEB_RIGHT || id == PLX_WEB_COLOUR))
        result = compress_picture(encoder, id == PLX_WEB_COLOUR, plane);
    else if (compact && id == PLX_WEB_DISPARITY)
        result = compress_disparity(encoder, frame->disparities * PLX_DISPARITY_ONE, plane);
    else if (compact && id == PLX_WEB_MAP)
        result = compress_map(encoder, plane);
    else
        plane->bytes = plane->bytes_per_row * plane->rows;
    return result < 0 ? result : 1;
}

static char *header_text(const struct plx_status *status, const struct plane *plane, int count)
{
    int64_t realtime_ns = 0;
    size_t offset = 0;
    cJSON *item = cJSON_CreateObject(), *planes = cJSON_AddArrayToObject(item, "planes");
    cJSON_AddItemToObject(item, "status", plx_status_json(status));
    if (plx_realtime_ns(&status->frame, &realtime_ns) == 0)
        cJSON_AddNumberToObject(item, "stamp_ms", (double)realtime_ns / 1e6);
    const int64_t delay_ns = status->frame.published_ns - status->frame.capture[PLX_LEFT].capture_ns;
    cJSON_AddNumberToObject(item, "delay_ms", (double)delay_ns / 1e6);
    for (int i = 0; i < count; i++) {
        cJSON *each = cJSON_CreateObject();
        cJSON_AddStringToObject(each, "name", plane[i].name);
        cJSON_AddNumberToObject(each, "width", plane[i].width);
        cJSON_AddNumberToObject(each, "height", plane[i].height);
        cJSON_AddStringToObject(each, "form", plane[i].form);
        cJSON_AddNumberToObject(each, "offset", (double)offset);
        cJSON_AddNumberToObject(each, "bytes", (double)plane[i].bytes);
        cJSON_AddItemToArray(planes, each);
        offset += ALIGNED(plane[i].bytes);
    }
    char *text = cJSON_PrintUnformatted(item);
    cJSON_Delete(item);
    return text;
}

static struct plx_web_buffer *assemble(const char *text, const struct plane *plane, int count)
{
    const size_t length = strlen(text), head = ALIGNED(4 + length);
    size_t bytes = head;
    for (int i = 0; i < count; i++)
        bytes += ALIGNED(plane[i].bytes);
    struct plx_web_buffer *buffer = plx_web_buffer_create(bytes);
    if (!buffer)
        return NULL;
    const uint32_t length_word = (uint32_t)length;
    memcpy(buffer->data, &length_word, 4);
    memcpy(buffer->data + 4, text, length);
    memset(buffer->data + 4 + length, 0, head - 4 - length);
    uint8_t *to = buffer->data + head;
    for (int i = 0; i < count; i++) {
        for (size_t row = 0; row < plane[i].rows; row++)
            memcpy(to + row * plane[i].bytes_per_row, plane[i].row + row * plane[i].pitch, plane[i].bytes_per_row);
        memset(to + plane[i].bytes, 0, ALIGNED(plane[i].bytes) - plane[i].bytes);
        to += ALIGNED(plane[i].bytes);
    }
    return buffer;
}

/* The planes of WANT, with the grey picture in place of a coloured one that FRAME lacks. */
static uint32_t choose_planes(const struct plx_web_want *want, const struct plx_frame *frame)
{
    const bool lacks_colour = want->planes >> PLX_WEB_COLOUR & 1u && frame->plane[PLX_PLANE_COLOUR].width == 0;
    return lacks_colour ? want->planes | 1u << PLX_WEB_LEFT : want->planes;
}

int plx_web_packet(struct plx_web_encoder *encoder, const struct plx_status *status, const struct plx_frame *frame,
                   const struct plx_web_want *want, struct plx_web_buffer **ret_buffer)
{
    struct plane plane[PLX_WEB_PLANES] = {{.name = NULL}};
    struct plx_web_buffer *buffer = NULL;
    const uint32_t planes = choose_planes(want, frame);
    int count = 0, result = 0;
    for (int id = 0; id < PLX_WEB_PLANES && result >= 0; id++) {
        result = planes >> id & 1u ? fill_plane(encoder, frame, (enum plx_web_plane)id, want->compact, &plane[count]) : 0;
        count += result != 0; /* after an error too: what it owns is freed */
    }
    if (result >= 0) {
        char *text = header_text(status, plane, count);
        buffer = text ? assemble(text, plane, count) : NULL;
        cJSON_free(text);
        result = buffer ? 0 : PLX_ERR_NOMEM;
    }
    for (int i = 0; i < count; i++) {
        free(plane[i].owned);
        tjFree(plane[i].jpeg);
    }
    if (result == 0)
        *ret_buffer = buffer;
    return result;
}
