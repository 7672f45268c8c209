/* SPDX-License-Identifier: Apache-2.0 */
/* Points of the picture as sensor_msgs/PointCloud2: x, y, z in metres and the grey value, float32; with colour in its place
 * rgb, packed into a float32 as depth_image_proc does it. */
#include <math.h>
#include <string.h>

#include <parallax/error.h>

#include "bridge/frame_messages.h"
#include "bridge/frame_parts.h"
#include "core/geometry/stereo.h"

#define STRIDE 2 /* every second point, in both directions */

struct cloud {
    const struct plx_frame *frame;
    float *next;
};

static bool has_colour(const struct plx_frame *frame)
{
    return frame->plane[PLX_PLANE_COLOUR].width > 0;
}

/* Adds the point at column X, row Y if its depth is known. */
static void add(struct cloud *cloud, uint32_t x, uint32_t y, uint16_t disparity)
{
    const struct plx_frame *frame = cloud->frame;
    const double z = plx_message_depth_of(frame, disparity);
    double point[3];
    if (!isfinite(z))
        return;
    plx_point_of_pixel(&frame->calibration, x, y, z, point);
    for (int i = 0; i < 3; i++)
        *cloud->next++ = (float)point[i];
    if (has_colour(frame)) {
        const struct plx_rgb *rgb = (const struct plx_rgb *)plx_message_row(frame, PLX_PLANE_COLOUR, y) + x;
        const uint32_t word = (uint32_t)rgb->r << 16 | (uint32_t)rgb->g << 8 | rgb->b;
        memcpy(cloud->next++, &word, sizeof word);
        return;
    }
    *cloud->next++ = ((const uint8_t *)plx_message_row(frame, PLX_PLANE_LEFT, y))[x];
}

static void finish(const struct plx_frame_messages *messages, const struct cloud *cloud, struct ros_point_cloud2 *ret_cloud)
{
    static const struct ros_point_field fields[2][4] = {{{"x", 0, ROS_POINT_FLOAT32, 1},
                                                         {"y", 4, ROS_POINT_FLOAT32, 1},
                                                         {"z", 8, ROS_POINT_FLOAT32, 1},
                                                         {"intensity", 12, ROS_POINT_FLOAT32, 1}},
                                                        {{"x", 0, ROS_POINT_FLOAT32, 1},
                                                         {"y", 4, ROS_POINT_FLOAT32, 1},
                                                         {"z", 8, ROS_POINT_FLOAT32, 1},
                                                         {"rgb", 12, ROS_POINT_FLOAT32, 1}}};
    const uint32_t bytes = (uint32_t)((uint8_t *)cloud->next - (uint8_t *)messages->scratch);
    *ret_cloud = (struct ros_point_cloud2){
        .header = plx_message_header(messages, PLX_FRAME_OPTICAL),
        .height = 1,
        .width = bytes / PLX_POINT_BYTES,
        .fields = {.data = fields[has_colour(cloud->frame)], .count = sizeof fields[0] / sizeof fields[0][0]},
        .point_step = PLX_POINT_BYTES,
        .row_step = bytes,
        .data = {.data = messages->scratch, .count = bytes},
        .is_dense = true,
    };
}

int plx_message_points(const struct plx_frame_messages *messages, struct ros_point_cloud2 *ret_cloud)
{
    const struct plx_frame *frame = messages->frame;
    const struct plx_plane *plane = &frame->plane[PLX_PLANE_DISPARITY];
    struct cloud cloud = {frame, messages->scratch};
    if (plane->width == 0)
        return PLX_ERR_NOT_FOUND;
    for (uint32_t y = 0; y < plane->height; y += STRIDE) {
        const uint16_t *disparity = plx_message_row(frame, PLX_PLANE_DISPARITY, y);
        for (uint32_t x = 0; x < plane->width; x += STRIDE)
            add(&cloud, x, y, disparity[x]);
    }
    finish(messages, &cloud, ret_cloud);
    return 0;
}

int plx_message_obstacle_points(const struct plx_frame_messages *messages, struct ros_point_cloud2 *ret_cloud)
{
    const struct plx_frame *frame = messages->frame;
    const struct plx_plane *plane = &frame->plane[PLX_PLANE_LABELS];
    const enum plx_plane_id disparities = frame->plane[PLX_PLANE_DENSE].width > 0 ? PLX_PLANE_DENSE : PLX_PLANE_DISPARITY;
    bool listed[PLX_MAX_OBSTACLES + 1] = {false}; /* by label */
    struct cloud cloud = {frame, messages->scratch};
    if (frame->blind || plane->width == 0 || frame->plane[disparities].width == 0)
        return PLX_ERR_NOT_FOUND;
    for (uint32_t i = 0; i < frame->obstacle_count; i++)
        if (frame->obstacle[i].status != PLX_TRACK_LOST && frame->obstacle[i].label <= PLX_MAX_OBSTACLES)
            listed[frame->obstacle[i].label] = true;
    for (uint32_t y = 0; y < plane->height; y++) {
        const uint16_t *label = plx_message_row(frame, PLX_PLANE_LABELS, y);
        const uint16_t *disparity = plx_message_row(frame, disparities, y);
        for (uint32_t x = 0; x < plane->width; x++)
            if (label[x] > 0 && label[x] <= PLX_MAX_OBSTACLES && listed[label[x]])
                add(&cloud, x, y, disparity[x]);
    }
    finish(messages, &cloud, ret_cloud);
    return 0;
}
