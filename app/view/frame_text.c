/* SPDX-License-Identifier: Apache-2.0 */
#include "app/view/frame_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <parallax/words.h>

#include "core/base/clock.h"
#include "core/base/text.h"
#include "core/drift/offset.h"
#include "core/geometry/stereo.h"
#include "core/motion/pose.h"

#define MIN_LEVEL 0.2  /* a camera that looks straight down has no ahead */
#define MAX_UNKNOWN 30 /* the thirtieth part of the columns, a tenth of those ahead */
#define EDGE_COLUMNS 3 /* the column whose edge counts, from the nearest: two may be wrong, at the side of the view */
#define STILL_MPS 0.15 /* slower obstacles are printed as still */

static int describe_motion(const struct plx_obstacle *obstacle, char *text, size_t size)
{
    double ahead = (double)obstacle->velocity_mps[2], sideways = (double)obstacle->velocity_mps[0];
    if (obstacle->status == PLX_TRACK_NEW || obstacle->status == PLX_TRACK_LOST)
        return snprintf(text, size, "%s", plx_track_word(obstacle->status));
    if (fabs(ahead) < STILL_MPS && fabs(sideways) < STILL_MPS)
        return snprintf(text, size, "still");
    if (fabs(ahead) >= fabs(sideways))
        return snprintf(text, size, "%s %.1f m/s", ahead < 0 ? "closing" : "leaving", fabs(ahead));
    return snprintf(text, size, "to the %s %.1f m/s", sideways < 0 ? "left" : "right", fabs(sideways));
}

/* The distance along the ground of a point on it with this DISPARITY above infinity, from below the camera. The part of such a
 * point along the normal is the camera's height. */
static double along_ground(const struct plx_frame *frame, uint16_t disparity)
{
    const double z = plx_depth_scale_m(&frame->calibration) / disparity, down = (double)frame->ground.normal[2];
    const double level = sqrt(fmax(1 - down * down, 0));
    return level > MIN_LEVEL ? (z - down * (double)frame->ground.camera_height_m) / level : z;
}

double plx_free_ahead(const struct plx_view *view)
{
    const struct plx_scan *scan = view->plane[PLX_PLANE_SCAN];
    const uint32_t columns = scan ? view->layout[PLX_PLANE_SCAN].width : 0;
    uint16_t nearest = 0;
    uint32_t unknown = 0;
    for (uint32_t i = columns / 3; i < columns - columns / 3; i++) {
        nearest = (scan[i].known & PLX_SCAN_KNOWN) && scan[i].free > nearest ? scan[i].free : nearest;
        unknown += !(scan[i].known & PLX_SCAN_KNOWN);
    }
    if (nearest == 0 || unknown > columns / MAX_UNKNOWN)
        return (double)NAN;
    if (nearest == PLX_SCAN_NOTHING_FREE)
        return 0;
    return along_ground(view->frame, nearest);
}

void plx_free_text(double free_m, char *ret_text, size_t size)
{
    if (isnan(free_m))
        snprintf(ret_text, size, "unknown");
    else
        snprintf(ret_text, size, "%.1f m", free_m);
}

/* The nearest edge of the columns from BEGIN to before END, all of a drop, but for EDGE_COLUMNS - 1 of them. */
static uint16_t edge_of(const struct plx_scan *scan, int begin, int end)
{
    uint16_t nearest[EDGE_COLUMNS] = {0};
    for (int x = begin; x < end; x++) {
        uint16_t edge = scan[x].free;
        for (int i = 0; i < EDGE_COLUMNS; i++)
            if (edge > nearest[i]) {
                const uint16_t farther = nearest[i];
                nearest[i] = edge;
                edge = farther;
            }
    }
    return nearest[EDGE_COLUMNS - 1];
}

struct plx_drop plx_drop_ahead(const struct plx_view *view)
{
    const uint32_t cannot = PLX_BLIND_NOT_CALIBRATED | PLX_BLIND_NO_GROUND | PLX_BLIND_NO_PICTURE;
    const struct plx_scan *scan = view->plane[PLX_PLANE_SCAN];
    const int columns = scan ? (int)view->layout[PLX_PLANE_SCAN].width : 0;
    struct plx_drop drop = {.known = columns > 0 && !(view->frame->blind & cannot), .ahead_m = (double)NAN};
    uint16_t nearest = 0;
    for (int begin = 0, end; drop.known && begin < columns; begin = end + 1) {
        end = begin;
        while (end < columns && (scan[end].known & PLX_SCAN_DROP))
            end++;
        const uint16_t edge = edge_of(scan, begin, end);
        if (edge <= nearest)
            continue;
        nearest = edge;
        drop.x = PLX_COLUMN_WIDTH * begin;
        drop.width = (end < columns ? PLX_COLUMN_WIDTH * end : (int)view->frame->width) - drop.x;
        drop.ahead_m = along_ground(view->frame, nearest);
    }
    return drop;
}

void plx_drop_text(const struct plx_drop *drop, char *ret_text, size_t size)
{
    if (!drop->known)
        snprintf(ret_text, size, "unknown");
    else if (drop->width == 0)
        snprintf(ret_text, size, "none seen");
    else
        snprintf(ret_text, size, "%.1f m ahead, columns %d to %d of the picture", drop->ahead_m, drop->x,
                 drop->x + drop->width - 1);
}

/* Its class of size, and whether it moves or stands, if that is certain; nothing while the camera's motion is not known. */
static void describe_over_ground(const struct plx_obstacle *obstacle, char *text, size_t size)
{
    const double speed = hypot((double)obstacle->world_velocity_mps[0], (double)obstacle->world_velocity_mps[2]);

    text[0] = '\0';
    if (obstacle->status == PLX_TRACK_NEW || obstacle->world_velocity_variance[0] <= 0)
        return;
    if (obstacle->moving)
        snprintf(text, size, ", %s, moves %.1f m/s", plx_size_word(obstacle->size_class), speed);
    else
        snprintf(text, size, ", %s%s", plx_size_word(obstacle->size_class), speed < STILL_MPS ? ", stands" : "");
}

void plx_obstacle_text(const struct plx_obstacle *obstacle, bool metric, char *ret_text, size_t size)
{
    if (!metric) {
        snprintf(ret_text, size, "#%-4u box %4d,%-4d %4dx%-4d  disparity %6.2f px", obstacle->track, obstacle->x, obstacle->y,
                 obstacle->width, obstacle->height, (double)obstacle->disparity_median);
        return;
    }
    char motion[48], ground[48];
    describe_motion(obstacle, motion, sizeof motion);
    describe_over_ground(obstacle, ground, sizeof ground);
    double sideways = (double)obstacle->position_m[0];
    /* Without a ground plane height_m is 0. */
    const float high = obstacle->height_m > 0 ? obstacle->height_m : obstacle->extent_m[1];
    snprintf(ret_text, size, "#%-4u %6.2f m ahead  %5.2f m %-5s  %5.2f m wide  %5.2f m high  %s%s", obstacle->track,
             (double)obstacle->nearest_m, fabs(sideways), sideways < 0 ? "left" : "right", (double)obstacle->extent_m[0],
             (double)high, motion, ground);
}

void plx_obstacles_print(const struct plx_obstacle *const *sorted, int count, bool metric, const char *before,
                         const char *after)
{
    char text[PLX_OBSTACLE_TEXT];

    for (int i = 0; i < count; i++) {
        plx_obstacle_text(sorted[i], metric, text, sizeof text);
        printf("%s%s%s", before, text, after);
    }
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

int plx_obstacles_confirmed(const struct plx_frame *frame, const struct plx_confirmed *before,
                            const struct plx_obstacle *ret_sorted[PLX_MAX_OBSTACLES])
{
    size_t count = 0;
    for (uint32_t i = 0; i < frame->obstacle_count && i < PLX_MAX_OBSTACLES; i++)
        if (plx_confirmed_shows(before, &frame->obstacle[i]))
            ret_sorted[count++] = &frame->obstacle[i];
    qsort(ret_sorted, count, sizeof(void *), nearest_first);
    return (int)count;
}

/* The words for a row offset of at least ROWS pixels, largest first. */
static const struct {
    float rows;
    const char *words;
} verdicts[] = {
    {4, "px off, no depth can be trusted: calibrate again"},
    {2, "px off, depth is wrong or missing in places: calibrate again"},
    {1, "px off, more than a calibration should leave"},
    {0, "px off at most"},
};

void plx_alignment_text(const struct plx_alignment_info *alignment, char *ret_text, size_t size)
{
    size_t i = 0;

    if (alignment->patches == 0) {
        snprintf(ret_text, size, "not measured: too little texture, or rows too far off");
        return;
    }
    while (alignment->max_epipolar_error_px < verdicts[i].rows)
        i++;
    snprintf(ret_text, size, "%.1f %s (pitch %.2f deg, roll %.2f deg, scale %.4f)", (double)alignment->max_epipolar_error_px,
             verdicts[i].words, (double)alignment->pitch_rad * PLX_DEGREES_PER_RAD,
             (double)alignment->roll_rad * PLX_DEGREES_PER_RAD, (double)alignment->scale);
}

void plx_drift_text(const struct plx_drift_info *drift, char *ret_text, size_t size)
{
    const double degrees = PLX_DEGREES_PER_RAD;

    if (drift->matches == 0)
        snprintf(ret_text, size, "not measured: too few matches yet");
    else
        snprintf(
            ret_text, size,
            "%.2f px of rows, %.2f without pitch %.3f +- %.3f, roll %.3f +- %.3f, bend %.3f +- %.3f deg, scale %.4f +- %.4f",
            (double)drift->epipolar_error_px, (double)drift->residual_px, (double)drift->pitch_rad * degrees,
            (double)drift->pitch_deviation_rad * degrees, (double)drift->roll_rad * degrees,
            (double)drift->roll_deviation_rad * degrees, (double)drift->bend_rad * degrees,
            (double)drift->bend_deviation_rad * degrees, (double)drift->scale, (double)drift->scale_deviation);
}

void plx_correction_text(const struct plx_correction_info *corrections, char *ret_text, size_t size)
{
    const struct plx_correction *c = &corrections->applied;
    const double degrees = PLX_DEGREES_PER_RAD;
    size_t used = 0;

    if (corrections->number == 0)
        used = (size_t)snprintf(ret_text, size, "none");
    else
        used = (size_t)snprintf(
            ret_text, size, "%u in force: pitch %.3f, roll %.3f, bend %.3f deg, scale %.4f, disparities %+.2f %+.2f x^2 px",
            corrections->number, (double)c->pitch_rad * degrees, (double)c->roll_rad * degrees, (double)c->bend_rad * degrees,
            (double)c->scale, (double)c->disparity_offset_px, (double)c->curve_px);
    if (corrections->proposed_number > 0 && used < size)
        snprintf(ret_text + used, size - used, "; %u is proposed (parallax calibration show)", corrections->proposed_number);
}

/* "0.30 +- 0.08 px, so distances are 0.6, 1.2, 3.0 and 6.0 % too long at 1, 2, 5 and 10 m" */
static size_t offset_text(const struct plx_calibration_info *c, float offset, float deviation, char *ret_text, size_t size)
{
    const double percent_m = plx_offset_percent(c, (double)offset, 1);
    return (size_t)snprintf(ret_text, size,
                            "%.2f +- %.2f px: distances %.1f, %.1f, %.1f and %.1f %% too long at 1, 2, 5 and 10 m",
                            (double)offset, (double)deviation, percent_m, 2 * percent_m, 5 * percent_m, 10 * percent_m);
}

void plx_offset_text(const struct plx_frame *frame, char *ret_text, size_t size)
{
    const struct plx_drift_info *drift = &frame->drift;

    if (drift->disparity_offset_deviation_px <= 0) {
        snprintf(ret_text, size, "not measured: the camera has hardly moved yet");
        return;
    }
    size_t used =
        offset_text(&frame->calibration, drift->disparity_offset_px, drift->disparity_offset_deviation_px, ret_text, size);
    if (used < size)
        used += (size_t)snprintf(ret_text + used, size - used, "; at the sides ");
    if (used < size)
        offset_text(&frame->calibration, drift->side_px, drift->side_deviation_px, ret_text + used, size - used);
}

bool plx_motion_rates(const struct plx_motion_info *motion, double *ret_speed_mps, double *ret_turn_radps)
{
    const double seconds = (double)motion->interval_ns / PLX_NS_PER_S;

    if (!motion->valid || !(seconds > 0))
        return false;
    *ret_speed_mps = plx_pose_distance(&motion->motion) / seconds;
    *ret_turn_radps = 2 * asin(fmin(1, plx_pose_half_sine(&motion->motion))) / seconds;
    return true;
}

void plx_speed_text(const struct plx_motion_info *motion, char *ret_text, size_t size)
{
    double speed_mps, turn_radps;

    if (plx_motion_rates(motion, &speed_mps, &turn_radps))
        snprintf(ret_text, size, "%.2f m/s", speed_mps);
    else
        snprintf(ret_text, size, "%s", motion->source == PLX_MOTION_NONE ? "" : "motion unknown");
}

void plx_motion_text(const struct plx_motion_info *motion, char *ret_text, size_t size)
{
    double speed_mps, turn_radps;

    if (motion->source == PLX_MOTION_NONE)
        snprintf(ret_text, size, "not measured: motion.source is none");
    else if (!plx_motion_rates(motion, &speed_mps, &turn_radps))
        snprintf(ret_text, size, "unknown");
    else
        snprintf(ret_text, size, "%.2f m/s, turns %.1f deg/s, %.2f m from the start, %u of %u corners", speed_mps,
                 turn_radps * PLX_DEGREES_PER_RAD, plx_pose_distance(&motion->pose), motion->inliers, motion->corners);
}

void plx_duration_text(int64_t duration_ns, char *ret_text, size_t size)
{
    const int64_t seconds = duration_ns / PLX_NS_PER_S, minutes = seconds / 60, hours = minutes / 60;

    if (duration_ns == INT64_MAX)
        snprintf(ret_text, size, "unknown time");
    else if (seconds < 1)
        snprintf(ret_text, size, "%" PRId64 " ms", duration_ns / PLX_NS_PER_MS);
    else if (minutes < 1)
        snprintf(ret_text, size, "%.1f s", (double)duration_ns / PLX_NS_PER_S);
    else if (hours < 1)
        snprintf(ret_text, size, "%" PRId64 " min %" PRId64 " s", minutes, seconds % 60);
    else if (hours < 24)
        snprintf(ret_text, size, "%" PRId64 " h %" PRId64 " min", hours, minutes % 60);
    else
        snprintf(ret_text, size, "%" PRId64 " d %" PRId64 " h", hours / 24, hours % 24);
}
