/* SPDX-License-Identifier: Apache-2.0 */
/* The verdict as messages that Nav2's collision monitor and controller take. */
#include <parallax/error.h>

#include "bridge/frame_messages.h"
#include "bridge/frame_parts.h"
#include "core/motion/pose.h"

#define NEAR_M 0.25F /* half a side of the square around the robot's origin */
#define FAR_M 1000   /* no zone of a monitor is there */
#define TOKEN_M 0.05F

#define NEAR_POINTS 5 /* the square, closed */

/* In scratch. */
struct outline {
    struct ros_point32 point[NEAR_POINTS + PLX_ZONE_POINTS];
    uint32_t count;
};

_Static_assert(sizeof(struct outline) <= PLX_OBSTACLE_SCRATCH, "it fits into the scratch of a frame");

/* Moves points of the robot's base to parallax_link; the link itself is the base where the frame knows no mount. */
static struct plx_pose place_of_base(const struct plx_frame *frame)
{
    return plx_pose_is_rigid(&frame->mount.base_from_left) ? plx_link_from_base(frame) : PLX_POSE_IDENTITY;
}

static void add_point(struct outline *outline, const struct plx_pose *pose, float x, float y)
{
    double moved[3];
    plx_pose_apply(pose, (const double[3]){(double)x, (double)y, 0}, moved);
    outline->point[outline->count++] = (struct ros_point32){(float)moved[0], (float)moved[1], (float)moved[2]};
}

/* The square around the robot, by which every zone of a monitor with the robot in it is tripped, and the zone that decides. */
static void draw_tripped(const struct plx_frame *frame, struct outline *outline)
{
    static const float corner[NEAR_POINTS][2] = {
        {NEAR_M, NEAR_M}, {NEAR_M, -NEAR_M}, {-NEAR_M, -NEAR_M}, {-NEAR_M, NEAR_M}, {NEAR_M, NEAR_M}};
    const struct plx_pose pose = place_of_base(frame);
    const int number = frame->verdict.zone;
    for (int i = 0; i < NEAR_POINTS; i++)
        add_point(outline, &pose, corner[i][0], corner[i][1]);
    if (number < 0 || number >= PLX_MAX_ZONES)
        return;
    const struct plx_zone_info *zone = &frame->zone[number];
    for (uint32_t i = 0; i < zone->points && i < PLX_ZONE_POINTS; i++)
        add_point(outline, &pose, zone->polygon[i][0], zone->polygon[i][1]);
}

/* A sign of life, behind the robot. */
static void draw_token(struct outline *outline)
{
    const struct plx_pose pose = PLX_POSE_IDENTITY;
    add_point(outline, &pose, -FAR_M, 0);
    add_point(outline, &pose, -FAR_M, TOKEN_M);
    add_point(outline, &pose, -FAR_M - TOKEN_M, 0);
}

int plx_message_zone(const struct plx_frame_messages *messages, enum plx_verdict_kind limit,
                     struct ros_polygon_instance_stamped *ret_zone)
{
    const struct plx_frame *frame = messages->frame;
    const uint32_t verdict = frame->verdict.verdict <= PLX_VERDICT_GO ? frame->verdict.verdict : PLX_VERDICT_STOP;
    struct outline *outline = messages->scratch;
    outline->count = 0;
    if (verdict <= limit)
        draw_tripped(frame, outline);
    else
        draw_token(outline);
    *ret_zone = (struct ros_polygon_instance_stamped){
        .header = plx_message_header(messages, PLX_FRAME_LINK),
        .polygon = {.polygon = {.points = {.data = outline->point, .count = outline->count}}, .id = limit},
    };
    return 0;
}

int plx_message_speed_limit(const struct plx_frame_messages *messages, double slow_percent, struct ros_speed_limit *ret_limit)
{
    *ret_limit = (struct ros_speed_limit){
        .header = plx_message_header(messages, PLX_FRAME_LINK),
        .percentage = true,
        .speed_limit = messages->frame->verdict.verdict == PLX_VERDICT_GO ? 100 : slow_percent,
    };
    return 0;
}
