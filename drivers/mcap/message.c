/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/mcap/message.h"

#include <math.h>
#include <string.h>

#include <parallax/error.h>

static const struct encoding {
    const char *name;
    int channels, red, blue; /* bytes of a pixel, and places of red and blue in it */
    enum plx_type type;
} encodings[] = {
    {"mono8", 1, 0, 0, PLX_U8}, {"8UC1", 1, 0, 0, PLX_U8}, {"mono16", 1, 0, 0, PLX_U16}, {"16UC1", 1, 0, 0, PLX_U16},
    {"rgb8", 3, 0, 2, PLX_U8},  {"bgr8", 3, 2, 0, PLX_U8}, {"rgba8", 4, 0, 2, PLX_U8},   {"bgra8", 4, 2, 0, PLX_U8},
};

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

int plx_image_decode(const struct plx_mcap_message *message, const char *path, struct ros_image *ret_image,
                     enum plx_type *ret_type, struct plx_error_message *error)
{
    const char *topic = message->channel->topic;
    struct plx_cdr_arena arena = {.memory = NULL}; /* strings and bytes stay where they are */
    struct ros_image image;
    if (!plx_message_is(message, &ros_image_type))
        return plx_fail(error, PLX_ERR_UNSUPPORTED, "%s: %s holds %s; expected sensor_msgs/msg/Image, not compressed", path,
                        topic, message->channel->schema ? message->channel->schema->name : "messages without a definition");
    int result = plx_cdr_decode(&ros_image_type, message->data, message->bytes, &arena, &image);
    if (result < 0)
        return plx_fail(error, PLX_ERR_FORMAT, "%s: a message of %s is damaged (%s)", path, topic, plx_strerror(result));
    const struct encoding *encoding = find_encoding(image.encoding);
    if (!encoding)
        return plx_fail(error, PLX_ERR_UNSUPPORTED,
                        "%s: %s has the encoding \"%.32s\"; expected mono8, mono16, rgb8, bgr8, rgba8, bgra8, 8UC1 or 16UC1",
                        path, topic, image.encoding);
    if (image.width < 1 || image.height < 1 || image.width > PLX_MAX_SIDE || image.height > PLX_MAX_SIDE)
        return plx_fail(error, PLX_ERR_RANGE, "%s: %s has pictures of %u x %u pixels; expected 1 to %d", path, topic,
                        image.width, image.height, PLX_MAX_SIDE);
    const uint64_t row = (uint64_t)image.width * (uint64_t)encoding->channels * encoding->type;
    if (image.step < row || (uint64_t)image.step * image.height > image.data.count)
        return plx_fail(error, PLX_ERR_RANGE, "%s: %s has %u bytes in rows of %u; expected %u rows of at least %u", path, topic,
                        image.data.count, image.step, image.height, (unsigned)row);
    *ret_image = image;
    *ret_type = encoding->type;
    return 0;
}

static uint16_t sample16(const struct ros_image *from, const uint8_t *pixel)
{
    return (uint16_t)(from->is_bigendian ? pixel[0] << 8 | pixel[1] : pixel[1] << 8 | pixel[0]);
}

static void copy_row(const struct ros_image *from, const struct encoding *encoding, const uint8_t *row,
                     const struct plx_image *image, int y)
{
    uint8_t *grey = plx_row(image, y);
    uint16_t *grey16 = plx_row(image, y);
    if (encoding->channels == 1 && encoding->type == PLX_U8) {
        memcpy(grey, row, from->width);
        return;
    }
    for (uint32_t x = 0; x < from->width; x++) {
        const uint8_t *pixel = row + (size_t)x * (size_t)encoding->channels * encoding->type;
        if (image->type == PLX_U16)
            grey16[x] = sample16(from, pixel);
        else if (encoding->type == PLX_U16)
            grey[x] = (uint8_t)(sample16(from, pixel) >> 8);
        else /* the luma of core/stages.h */
            grey[x] = (uint8_t)((77u * pixel[encoding->red] + 150u * pixel[1] + 29u * pixel[encoding->blue] + 128u) >> 8);
    }
}

void plx_image_copy(const struct ros_image *from, const struct plx_image *image)
{
    const struct encoding *encoding = find_encoding(from->encoding);
    for (int y = 0; y < image->height; y++)
        copy_row(from, encoding, from->data.data + (size_t)y * from->step, image, y);
}

static int read_camera(const struct ros_camera_info *info, struct plx_camera *ret_camera, struct plx_error_message *error)
{
    static const struct {
        const char *name;
        enum plx_distortion model;
    } models[] = {{"plumb_bob", PLX_DISTORTION_PLUMB_BOB},
                  {"rational_polynomial", PLX_DISTORTION_RATIONAL},
                  {"equidistant", PLX_DISTORTION_EQUIDISTANT}};
    const uint32_t most = sizeof ret_camera->k / sizeof *ret_camera->k;
    struct plx_camera camera = {.width = (int)info->width,
                                .height = (int)info->height,
                                .fx = info->k[0],
                                .fy = info->k[4],
                                .cx = info->k[2],
                                .cy = info->k[5]};
    bool distorted = false;
    for (uint32_t i = 0; i < info->d.count; i++)
        distorted = distorted || info->d.data[i] != 0;
    for (size_t i = 0; i < sizeof models / sizeof *models && distorted; i++)
        if (strcmp(models[i].name, info->distortion_model) == 0)
            camera.model = models[i].model;
    if (distorted && (camera.model == PLX_DISTORTION_NONE || info->d.count > most))
        return plx_fail(
            error, PLX_ERR_UNSUPPORTED,
            "camera_info: %u coefficients of distortion model \"%.32s\"; expected up to %u of plumb_bob, rational_polynomial "
            "or equidistant",
            info->d.count, info->distortion_model, most);
    for (uint32_t i = 0; i < info->d.count && distorted; i++)
        camera.k[i] = info->d.data[i];
    *ret_camera = camera;
    return 0;
}

int plx_info_calibration(const struct ros_camera_info info[PLX_EYES], bool rectified,
                         struct plx_stereo_calibration *ret_calibration, struct plx_error_message *error)
{
    struct plx_stereo_calibration result = {.rectified = true};
    const double *left = info[PLX_LEFT].p, *right = info[PLX_RIGHT].p;
    if (!(right[0] > 0) || !(right[3] < 0))
        return plx_fail(error, PLX_ERR_RANGE,
                        "camera_info: P[0] and P[3] of the right camera are %g and %g; expected fx above 0, and "
                        "-fx * baseline",
                        right[0], right[3]);
    if (rectified) {
        const struct plx_calibration_info numbers = {left[0], left[5], left[2], left[6], right[2], -right[3] / right[0]};
        plx_calibration_pinhole((int)info[PLX_LEFT].width, (int)info[PLX_LEFT].height, &numbers, &result);
    }
    for (int eye = 0; eye < PLX_EYES && !rectified; eye++) {
        const int failed = read_camera(&info[eye], &result.camera[eye], error);
        if (failed < 0)
            return failed;
        memcpy(result.rectification[eye], info[eye].r, sizeof info[eye].r);
        memcpy(result.projection[eye], info[eye].p, sizeof info[eye].p);
    }
    if (!rectified) {
        result.rectified_width = (int)info[PLX_LEFT].width;
        result.rectified_height = (int)info[PLX_LEFT].height;
        plx_calibration_recover_pose(&result);
    }
    const int failed = plx_calibration_check(&result, error);
    if (failed == 0)
        *ret_calibration = result;
    return failed;
}
