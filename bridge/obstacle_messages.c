/* SPDX-License-Identifier: Apache-2.0 */
/* Obstacles as detections and as markers. */
#include <stdio.h>

#include <parallax/error.h>
#include <parallax/words.h>

#include "bridge/frame_messages.h"
#include "bridge/frame_parts.h"

#define ID_BYTES 12   /* a track's number as text */
#define TEXT_BYTES 32 /* a marker's text */
#define LIFETIME_NS 500000000
#define TEXT_HEIGHT_M 0.2
#define CUBE 1
#define TEXT 9 /* that faces the viewer */

struct detections {
    struct ros_detection_3d detection[PLX_MAX_OBSTACLES];
    struct ros_object_hypothesis_with_pose result[PLX_MAX_OBSTACLES];
    char id[PLX_MAX_OBSTACLES][ID_BYTES];
};

struct markers {
    struct ros_marker marker[2 * PLX_MAX_OBSTACLES];
    char text[PLX_MAX_OBSTACLES][TEXT_BYTES];
};

_Static_assert(sizeof(struct detections) <= PLX_OBSTACLE_SCRATCH && sizeof(struct markers) <= PLX_OBSTACLE_SCRATCH,
               "the obstacles of one frame fit into its scratch");

/* The box of an obstacle, from its nearest part on: what is behind that is not seen. */
static struct ros_bounding_box_3d box_of(const struct plx_obstacle *o)
{
    const double depth = (double)o->extent_m[2];
    return (struct ros_bounding_box_3d){
        .center = {{(double)o->position_m[0], (double)o->position_m[1], (double)o->nearest_m + depth / 2}, {.w = 1}},
        .size = {(double)o->extent_m[0], (double)o->extent_m[1], depth},
    };
}

/* How sure the middle of BOX is: an error of the disparity grows with the square of the distance. */
static void set_covariance(const struct plx_frame *frame, const struct plx_obstacle *o, const struct ros_bounding_box_3d *box,
                           double ret_covariance[36])
{
    const struct ros_point *at = &box->center.position;
    const double farther = at->z / (double)o->nearest_m;
    plx_position_covariance((const double[]){at->x, at->y, at->z}, (double)o->nearest_sigma_m * farther * farther,
                            frame->calibration.fx, ret_covariance);
}

static bool is_listed(const struct plx_frame_messages *messages, const struct plx_obstacle *o)
{
    return messages->confirmed ? plx_confirmed_shows(messages->confirmed, o) : o->status != PLX_TRACK_LOST;
}

int plx_message_obstacles(const struct plx_frame_messages *messages, struct ros_detection_3d_array *ret_obstacles)
{
    struct detections *all = messages->scratch;
    uint32_t count = 0;
    if (messages->frame->blind)
        return PLX_ERR_NOT_FOUND;
    for (uint32_t i = 0; i < messages->frame->obstacle_count; i++) {
        const struct plx_obstacle *o = &messages->frame->obstacle[i];
        if (!is_listed(messages, o))
            continue;
        const struct ros_bounding_box_3d box = box_of(o);
        snprintf(all->id[count], ID_BYTES, "%u", o->track);
        all->result[count] =
            (struct ros_object_hypothesis_with_pose){{"obstacle", (double)o->confidence}, {.pose = box.center}};
        set_covariance(messages->frame, o, &box, all->result[count].pose.covariance);
        all->detection[count] = (struct ros_detection_3d){
            .header = plx_message_header(messages, PLX_FRAME_OPTICAL),
            .results = {.data = &all->result[count], .count = 1},
            .bbox = box,
            .id = all->id[count],
        };
        count++;
    }
    *ret_obstacles = (struct ros_detection_3d_array){plx_message_header(messages, PLX_FRAME_OPTICAL),
                                                     {.data = all->detection, .count = count}};
    return 0;
}

/* Moving things are red, standing ones yellow. */
static struct ros_marker marker_of(const struct plx_frame_messages *messages, const struct plx_obstacle *o, int32_t type)
{
    const struct ros_bounding_box_3d box = box_of(o);
    return (struct ros_marker){
        .header = plx_message_header(messages, PLX_FRAME_OPTICAL),
        .ns = type == CUBE ? "obstacles" : "obstacle_labels",
        .id = (int32_t)o->track,
        .type = type,
        .pose = box.center,
        .scale = box.size,
        .color = {.r = 1, .g = o->moving ? 0.2F : 0.8F, .b = 0.1F, .a = 0.5F},
        .lifetime = {.nanosec = LIFETIME_NS},
    };
}

int plx_message_markers(const struct plx_frame_messages *messages, struct ros_marker_array *ret_markers)
{
    struct markers *all = messages->scratch;
    uint32_t count = 0;
    if (messages->frame->blind)
        return PLX_ERR_NOT_FOUND;
    for (uint32_t i = 0; i < messages->frame->obstacle_count; i++) {
        const struct plx_obstacle *o = &messages->frame->obstacle[i];
        if (!is_listed(messages, o))
            continue;
        char *text = all->text[count / 2];
        struct ros_marker *cube = &all->marker[count], *label = cube + 1;
        *cube = marker_of(messages, o, CUBE);
        *label = marker_of(messages, o, TEXT);
        snprintf(text, TEXT_BYTES, "%u  %.1f m", o->track, (double)o->nearest_m);
        label->text = text;
        label->pose.position.y -= (cube->scale.y + TEXT_HEIGHT_M) / 2; /* above it */
        label->scale = (struct ros_vector3){.z = TEXT_HEIGHT_M};
        label->color = (struct ros_color){1, 1, 1, 1};
        count += 2;
    }
    *ret_markers = (struct ros_marker_array){.markers = {.data = all->marker, .count = count}};
    return 0;
}
