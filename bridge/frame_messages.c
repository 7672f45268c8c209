/* SPDX-License-Identifier: Apache-2.0 */
#include "bridge/frame_messages.h"

#include <string.h>

#include <parallax/error.h>

#include "bridge/frame_parts.h"
#include "core/base/clock.h"
#include "core/geometry/stereo.h"

const struct plx_frame_names plx_frame_names = {{
    [PLX_FRAME_LINK] = "parallax_link",
    [PLX_FRAME_OPTICAL] = "parallax_left_optical_frame",
    [PLX_FRAME_SCAN] = "parallax_scan",
    [PLX_FRAME_ODOM] = "odom",
}};

size_t plx_frame_messages_scratch(const struct plx_frame *frame)
{
    return PLX_OBSTACLE_SCRATCH + (size_t)frame->width * frame->height * PLX_POINT_BYTES;
}

struct ros_time plx_ros_time(int64_t realtime_ns)
{
    return (struct ros_time){(int32_t)(realtime_ns / PLX_NS_PER_S), (uint32_t)(realtime_ns % PLX_NS_PER_S)};
}

struct ros_header plx_message_header(const struct plx_frame_messages *messages, enum plx_frame_id id)
{
    return (struct ros_header){plx_ros_time(messages->realtime_ns), messages->names->name[id]};
}

/* The plane's rows one behind the other: in the frame itself, or copied. */
static const uint8_t *packed(const struct plx_frame_messages *messages, enum plx_plane_id id)
{
    const struct plx_plane *plane = &messages->frame->plane[id];
    const size_t row = (size_t)plane->width * plane->element;
    if (plane->pitch == row)
        return plx_message_row(messages->frame, id, 0);
    for (uint32_t y = 0; y < plane->height; y++)
        memcpy((uint8_t *)messages->scratch + y * row, plx_message_row(messages->frame, id, y), row);
    return messages->scratch;
}

static int fill_image(const struct plx_frame_messages *messages, enum plx_plane_id id, const char *encoding,
                      struct ros_image *ret_image)
{
    const struct plx_plane *plane = &messages->frame->plane[id];
    const uint32_t step = plane->width * plane->element;
    if (plane->width == 0)
        return PLX_ERR_NOT_FOUND;
    *ret_image = (struct ros_image){
        .header = plx_message_header(messages, PLX_FRAME_OPTICAL),
        .height = plane->height,
        .width = plane->width,
        .encoding = encoding,
        .step = step,
        .data = {.data = packed(messages, id), .count = step * plane->height},
    };
    return 0;
}

int plx_message_image(const struct plx_frame_messages *messages, enum plx_eye eye, struct ros_image *ret_image)
{
    return fill_image(messages, eye == PLX_LEFT ? PLX_PLANE_LEFT : PLX_PLANE_RIGHT, "mono8", ret_image);
}

int plx_message_colour(const struct plx_frame_messages *messages, struct ros_image *ret_image)
{
    return fill_image(messages, PLX_PLANE_COLOUR, "rgb8", ret_image);
}

int plx_message_camera_info(const struct plx_frame_messages *messages, enum plx_eye eye, struct ros_camera_info *ret_info)
{
    static const double no_distortion[5];
    const struct plx_calibration_info *c = &messages->frame->calibration;
    const double cx = eye == PLX_LEFT ? c->cx : c->cx_right, shift = eye == PLX_LEFT ? 0 : -plx_focal_baseline(c);
    if (messages->frame->health & PLX_HEALTH_NOT_CALIBRATED)
        return PLX_ERR_NOT_FOUND;
    *ret_info = (struct ros_camera_info){
        .header = plx_message_header(messages, PLX_FRAME_OPTICAL),
        .height = messages->frame->height,
        .width = messages->frame->width,
        .distortion_model = "plumb_bob",
        .d = {.data = no_distortion, .count = 5},
        .k = {c->fx, 0, cx, 0, c->fy, c->cy, 0, 0, 1},
        .r = {1, 0, 0, 0, 1, 0, 0, 0, 1},
        .p = {c->fx, 0, cx, shift, 0, c->fy, c->cy, 0, 0, 0, 1, 0},
    };
    return 0;
}

/* The floats in scratch, as large as PLANE. */
static struct ros_image float_image(const struct plx_frame_messages *messages, const struct plx_plane *plane)
{
    const uint32_t step = plane->width * (uint32_t)sizeof(float);
    return (struct ros_image){
        .header = plx_message_header(messages, PLX_FRAME_OPTICAL),
        .height = plane->height,
        .width = plane->width,
        .encoding = "32FC1",
        .step = step,
        .data = {.data = messages->scratch, .count = step * plane->height},
    };
}

int plx_message_disparity(const struct plx_frame_messages *messages, struct ros_disparity_image *ret_disparity)
{
    const struct plx_frame *frame = messages->frame;
    const struct plx_plane *plane = &frame->plane[PLX_PLANE_DISPARITY];
    const float least = (float)plx_disparity_of_plane(&frame->calibration, frame->min_disparity, 0);
    float *disparity = messages->scratch;
    if (plane->width == 0)
        return PLX_ERR_NOT_FOUND;
    for (uint32_t y = 0; y < plane->height; y++) {
        const uint16_t *row = plx_message_row(frame, PLX_PLANE_DISPARITY, y);
        for (uint32_t x = 0; x < plane->width; x++)
            *disparity++ = row[x] == PLX_DISPARITY_INVALID ? least - 1 : (float)row[x] / PLX_DISPARITY_ONE + least;
    }
    *ret_disparity = (struct ros_disparity_image){
        .header = plx_message_header(messages, PLX_FRAME_OPTICAL),
        .image = float_image(messages, plane),
        .f = (float)frame->calibration.fx,
        .t = (float)frame->calibration.baseline_m,
        .valid_window = {.height = plane->height, .width = plane->width},
        .min_disparity = least,
        .max_disparity = least + (float)frame->disparities - 1,
        .delta_d = 1.0F / PLX_DISPARITY_ONE,
    };
    return 0;
}

int plx_message_depth(const struct plx_frame_messages *messages, struct ros_image *ret_image)
{
    const struct plx_frame *frame = messages->frame;
    const struct plx_plane *plane = &frame->plane[PLX_PLANE_DISPARITY];
    float *depth = messages->scratch;
    if (plane->width == 0)
        return PLX_ERR_NOT_FOUND;
    for (uint32_t y = 0; y < plane->height; y++) {
        const uint16_t *row = plx_message_row(frame, PLX_PLANE_DISPARITY, y);
        for (uint32_t x = 0; x < plane->width; x++)
            *depth++ = (float)plx_message_depth_of(frame, row[x]);
    }
    *ret_image = float_image(messages, plane);
    return 0;
}
