/* SPDX-License-Identifier: Apache-2.0 */
#include "app/cli/obstacle_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define STILL_MPS 0.15 /* slower counts as standing */

static int describe_motion(const struct plx_obstacle *obstacle, char *text, size_t size)
{
    double ahead = (double)obstacle->velocity_mps[2], sideways = (double)obstacle->velocity_mps[0];
    if (obstacle->status == PLX_TRACK_NEW)
        return snprintf(text, size, "new");
    if (fabs(ahead) < STILL_MPS && fabs(sideways) < STILL_MPS)
        return snprintf(text, size, "still");
    if (fabs(ahead) >= fabs(sideways))
        return snprintf(text, size, "%s %.1f m/s", ahead < 0 ? "closing" : "leaving", fabs(ahead));
    return snprintf(text, size, "to the %s %.1f m/s", sideways < 0 ? "left" : "right", fabs(sideways));
}

void plx_obstacle_text(const struct plx_obstacle *obstacle, bool metric, char *ret_text, size_t size)
{
    if (!metric) {
        snprintf(ret_text, size, "#%-4u box %4d,%-4d %4dx%-4d  disparity %6.2f px", obstacle->track, obstacle->x, obstacle->y,
                 obstacle->width, obstacle->height, (double)obstacle->disparity_median);
        return;
    }
    char motion[48];
    describe_motion(obstacle, motion, sizeof motion);
    double sideways = (double)obstacle->position_m[0];
    const float high =
        obstacle->height_m > 0 ? obstacle->height_m : obstacle->extent_m[1]; /* above ground, where there is one */
    snprintf(ret_text, size, "#%-4u %6.2f m ahead  %5.2f m %-5s  %5.2f m wide  %5.2f m high  %s", obstacle->track,
             (double)obstacle->nearest_m, fabs(sideways), sideways < 0 ? "left" : "right", (double)obstacle->extent_m[0],
             (double)high, motion);
}

static int nearest_first(const void *a, const void *b)
{
    const struct plx_obstacle *const *left = a, *const *right = b;
    return ((*left)->disparity_near < (*right)->disparity_near) - ((*left)->disparity_near > (*right)->disparity_near);
}

int plx_obstacles_by_distance(const struct plx_frame *frame, const struct plx_obstacle *ret_sorted[PLX_MAX_OBSTACLES])
{
    size_t count = 0;
    for (uint32_t i = 0; i < frame->obstacle_count && i < PLX_MAX_OBSTACLES; i++)
        if (frame->obstacle[i].status != PLX_TRACK_LOST)
            ret_sorted[count++] = &frame->obstacle[i];
    qsort(ret_sorted, count, sizeof(void *), nearest_first);
    return (int)count;
}
