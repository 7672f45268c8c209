/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer: any bytes as a picture of a ROS 2 bag (first byte even), or as the camera_info of both eyes (odd). What is taken
 * is copied whole, as 8 and as 16 bits and in colour, and a calibration has passed its check. */
#include <stdlib.h>

#include "drivers/mcap/camera_info.h"
#include "drivers/mcap/message.h"

#define MAX_BYTES (1 << 22) /* bytes of a picture */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void copy(const struct ros_image *image, enum plx_type type)
{
    static uint8_t pixels[MAX_BYTES];
    const struct plx_image into = {pixels, (int)image->width, (int)image->height, (size_t)image->width * type, type};
    if (into.pitch * image->height <= MAX_BYTES)
        plx_image_copy(image, &into);
}

static void copy_rgb(const struct ros_image *image)
{
    static uint8_t pixels[MAX_BYTES];
    const struct plx_image into = {pixels, (int)image->width, (int)image->height, 3 * (size_t)image->width, PLX_RGB};
    if (into.pitch * image->height <= MAX_BYTES)
        plx_image_copy_rgb(image, &into);
}

static void picture(const uint8_t *data, size_t size)
{
    const struct plx_mcap_schema schema = {.name = "sensor_msgs/msg/Image", .encoding = "ros2msg"};
    const struct plx_mcap_channel channel = {.schema = &schema, .topic = "/left", .encoding = "cdr"};
    const struct plx_mcap_message message = {.channel = &channel, .data = data, .bytes = size};
    struct plx_error_message error;
    struct ros_image image;
    enum plx_type type;
    if (plx_image_decode(&message, "bag", &image, &type, &error) < 0)
        return;
    copy(&image, PLX_U8);
    copy_rgb(&image);
    if (type == PLX_U16)
        copy(&image, PLX_U16);
}

static void calibration(const uint8_t *data, size_t size)
{
    static _Alignas(8) uint8_t memory[PLX_EYES][512];
    struct ros_camera_info info[PLX_EYES];
    struct plx_error_message error;
    for (int eye = 0; eye < PLX_EYES; eye++) {
        struct plx_cdr_arena arena = {.memory = memory[eye], .capacity = sizeof memory[eye]};
        const size_t half = size / 2;
        if (plx_cdr_decode(&ros_camera_info_type, data + (eye ? half : 0), half, &arena, &info[eye]) < 0)
            return;
    }
    for (int rectified = 0; rectified < 2; rectified++) {
        struct plx_stereo_calibration result;
        if (plx_info_calibration(info, 640, 480, rectified, &result, &error) == 0 && plx_calibration_check(&result, &error) < 0)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    (data[0] % 2 == 0 ? picture : calibration)(data + 1, size - 1);
    return 0;
}
