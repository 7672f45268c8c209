/* SPDX-License-Identifier: Apache-2.0 */
#include "core/motion/motion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "core/geometry/stereo.h"
#include "core/motion/corners.h"
#include "core/motion/disparity_error.h"
#include "core/motion/doubt.h"
#include "core/motion/fit.h"
#include "core/motion/flow.h"

#define LEVELS_PREDICTED 3 /* pyramid levels around a predicted position */
#define KEEP_PERCENT 60    /* share of the key frame's corners that must be inliers, else the new frame becomes the key frame */
#define MIN_CORNERS 24     /* corners in a key frame */
#define MIN_DISPARITY_PX 0.5 /* above infinity: farther points have no depth */
#define LOST_FRAMES 2        /* without a motion: the key frame is out of sight */
#define GAP_NS 1000000000    /* the last motion, or a hint, says nothing about a longer interval */

/* Standard deviations of what a careful calibration leaves, as on KITTI's sequences, and of errors of flow that corners share.
 */
#define DISPARITIES_SHARE_PX 0.2
#define CURVE_SHARE_PX 0.5 /* at x = 1 */
#define AXES_RAD 0.004     /* error in the rectified camera's axes */
#define CORNERS_SHARE_PX 0.1

#define HINT_MIN_NS 1000000 /* what struct plx_motion_hint allows */
#define HINT_MAX_NS 1000000000
#define HINT_MAX_M 100.0
#define HINT_MIN_COSINE 0.0

struct plx_motion {
    int width, height;
    double infinity; /* disparity of an infinitely far point, as published, 1/16 px */
    struct plx_fit_camera camera;

    uint32_t key_pyramid;                           /* 0 or 1; the other one is that of the newest frame */
    struct plx_corners corners[2];                  /* the key frame's by the same number; the other ones are spare */
    struct plx_fit_point expected[PLX_MAX_CORNERS]; /* what is known before the search of the points of the job */
    struct plx_fit_point point[PLX_MAX_CORNERS];
    int points;                                         /* corners of the key frame that were found in this frame */
    enum place { BY_HINT, BY_VELOCITY, AT_REST } place; /* where they are expected */
    struct plx_pose prior;                              /* now_from_key there */

    bool has_key;
    struct plx_pose start_from_key, last_from_key; /* last: the last frame whose motion was known */
    struct plx_fit last;                           /* last_from_key; all zeros while it is the key frame */

    /* The error of disparities: what the images are corrected by, now and in the key frame, what all of it is taken to be
     * here, and the last estimate of it. */
    struct plx_disparity_error in_force, key_in_force, used, estimated;
    struct plx_motion_steps steps;
    bool took_step, took_key;        /* in the newest frame */
    bool key_gave_step, key_is_bent; /* by cameras that moved between the captures of the pair */

    int64_t last_ns;
    int failures; /* frames without a motion since the last one with a motion */
    uint32_t breaks;
    bool has_velocity;
    struct plx_pose step; /* now_from_last of the last frame, which took STEP_NS */
    int64_t step_ns;
    bool is_doubtful; /* the motion of the newest frame */
    bool has_hint;
    struct plx_motion_hint hint; /* the newest */
};

int plx_motion_create(int width, int height, const struct plx_calibration_info *calibration, int min_disparity,
                      struct plx_motion **ret_motion)
{
    if (width < 1 || width > PLX_MAX_SIDE || height < 1 || height > PLX_MAX_SIDE)
        return PLX_ERR_ARG;
    struct plx_motion *motion = calloc(1, sizeof *motion);
    if (!motion)
        return PLX_ERR_NOMEM;
    motion->width = width;
    motion->height = height;
    motion->infinity = plx_plane_infinity(calibration, min_disparity);
    motion->camera = (struct plx_fit_camera){calibration->fx, calibration->fy, calibration->cx, calibration->cy,
                                             plx_focal_baseline(calibration)};
    motion->steps.camera = motion->camera;
    motion->start_from_key = motion->last_from_key = PLX_POSE_IDENTITY;
    int result = 0;
    for (int i = 0; i < 2 && result == 0; i++)
        result = plx_corners_create(width, height, &motion->corners[i]);
    if (result < 0)
        plx_motion_destroy(motion);
    else
        *ret_motion = motion;
    return result;
}

void plx_motion_destroy(struct plx_motion *motion)
{
    if (!motion)
        return;
    for (int i = 0; i < 2; i++)
        plx_corners_destroy(&motion->corners[i]);
    free(motion);
}

void plx_motion_continue(struct plx_motion *motion, const struct plx_motion_info *last)
{
    if (last->source == PLX_MOTION_NONE)
        return;
    motion->breaks = last->breaks + 1;
    if (plx_pose_is_rigid(&last->pose)) /* an engine that died may have written anything */
        motion->start_from_key = last->pose;
}

bool plx_motion_hint_is_valid(const struct plx_motion_hint *hint)
{
    const double *r = hint->motion.rotation;
    if (hint->from_ns < 0 || hint->to_ns <= hint->from_ns || !plx_pose_is_rigid(&hint->motion))
        return false;
    const int64_t interval_ns = hint->to_ns - hint->from_ns;
    return interval_ns >= HINT_MIN_NS && interval_ns <= HINT_MAX_NS && plx_pose_distance(&hint->motion) <= HINT_MAX_M &&
           (r[0] + r[4] + r[8] - 1) / 2 >= HINT_MIN_COSINE;
}

void plx_motion_set_prior(struct plx_motion *motion, const struct plx_motion_hint *hint)
{
    motion->hint = *hint;
    motion->has_hint = true;
}

/* Pixels above infinity of a disparity as published at column U, with what is known of its error. IN_FORCE: what it is
 * corrected by already. */
static double depth_disparity(const struct plx_motion *motion, double published, double u,
                              const struct plx_disparity_error *in_force)
{
    const double disparity = (published - motion->infinity) / PLX_DISPARITY_ONE;
    const struct plx_disparity_error left = {motion->used.offset - in_force->offset, motion->used.curve - in_force->curve};
    return disparity + plx_disparity_error_at(&left, plx_fit_right_square(&motion->camera, u, disparity));
}

static const struct plx_corners *key_corners(const struct plx_motion *motion)
{
    return &motion->corners[motion->key_pyramid];
}

/* Where the prior puts the key frame's corners. */
static void place_corners(struct plx_motion *motion, struct plx_flow_job *job)
{
    const struct plx_corners *corners = key_corners(motion);
    for (int i = 0; i < corners->count; i++) {
        const struct plx_corner *corner = &corners->corner[i];
        struct plx_flow_point *at = &job->point[job->count];
        struct plx_fit_point *point = &motion->expected[job->count];
        double moved[3];
        at->from[0] = 2 * corner->x + 0.5;
        at->from[1] = 2 * corner->y + 0.5;
        point->disparity = depth_disparity(motion, corner->disparity, at->from[0], &motion->key_in_force);
        if (point->disparity < MIN_DISPARITY_PX)
            continue;
        plx_fit_unproject(&motion->camera, at->from[0], at->from[1], point->disparity, point->at);
        plx_pose_apply(&motion->prior, point->at, moved);
        if (!plx_fit_project(&motion->camera, moved, point->seen))
            continue;
        at->to[0] = point->seen[0];
        at->to[1] = point->seen[1];
        job->count++;
    }
}

/* Keeps those of the expected points that were found, with their depths. */
static void take_found(struct plx_motion *motion, const struct plx_flow_found *found, uint32_t count)
{
    motion->points = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct plx_fit_point *point = &motion->point[motion->points];
        if (!found[i].is_found)
            continue;
        *point = motion->expected[i];
        point->seen[0] = found[i].at[0];
        point->seen[1] = found[i].at[1];
        point->seen[2] = depth_disparity(motion, found[i].disparity, point->seen[0], &motion->in_force);
        point->has_disparity = found[i].disparity >= 0;
        motion->points++;
    }
}

/* The step that the hint expects in INTERVAL_NS, as if the robot kept its speed. False if it says nothing about that time. */
static bool step_of_hint(const struct plx_motion *motion, int64_t interval_ns, struct plx_pose *ret_step)
{
    const struct plx_motion_hint *hint = &motion->hint;
    if (!motion->has_hint || hint->to_ns <= motion->last_ns || hint->from_ns >= motion->last_ns + interval_ns)
        return false;
    plx_pose_scale(&hint->motion, (double)interval_ns / (double)(hint->to_ns - hint->from_ns), ret_step);
    plx_pose_invert(ret_step, ret_step);
    return true;
}

/* The step from the last frame that PLACE expects in INTERVAL_NS. False if it expects none. */
static bool expect(const struct plx_motion *motion, enum place place, int64_t interval_ns, struct plx_pose *ret_step)
{
    const bool near = interval_ns >= 0 && interval_ns < GAP_NS;
    if (place == BY_HINT)
        return near && step_of_hint(motion, interval_ns, ret_step);
    if (place == BY_VELOCITY && !(near && motion->has_velocity))
        return false;
    if (place == BY_VELOCITY)
        plx_pose_scale(&motion->step, (double)interval_ns / (double)motion->step_ns, ret_step);
    else
        *ret_step = PLX_POSE_IDENTITY;
    return true;
}

/* Expects the corners from PLACE on: where the hint puts them, else where constant velocity does, else, with a wide search,
 * where they were in the last frame. */
static void expect_corners(struct plx_motion *motion, enum place place, int64_t interval_ns, struct plx_flow_job *job)
{
    struct plx_pose step;
    while (!expect(motion, place, interval_ns, &step))
        place++;
    motion->place = place;
    plx_pose_compose(&step, &motion->last_from_key, &motion->prior);
    job->now = 1 - motion->key_pyramid;
    job->levels = place == AT_REST ? PLX_PYRAMID_LEVELS : LEVELS_PREDICTED;
    job->count = 0;
    place_corners(motion, job);
}

void plx_motion_expect(struct plx_motion *motion, int64_t capture_ns, struct plx_flow_job *ret_job)
{
    if (motion->has_key) {
        expect_corners(motion, BY_HINT, capture_ns - motion->last_ns, ret_job);
        return;
    }
    ret_job->now = 1 - motion->key_pyramid;
    ret_job->levels = ret_job->count = 0;
}

/* The motion that the corners show where they were expected, or else where they are expected next. RET_KNOWN: whether they show
 * one. The error of a search. */
static int find_motion(struct plx_motion *motion, const struct plx_motion_sight *sight, int64_t interval_ns,
                       struct plx_fit *ret_fit, bool *ret_known)
{
    const struct plx_flow_found *found = sight->found;
    for (;;) {
        take_found(motion, found, sight->job->count);
        *ret_known = plx_fit_motion(&motion->camera, motion->point, motion->points, &motion->prior, ret_fit);
        if (*ret_known || motion->place == AT_REST)
            return 0;
        expect_corners(motion, motion->place + 1, interval_ns, sight->job);
        const int result = sight->search(sight->context, &found);
        if (result < 0)
            return result;
    }
}

/* Adds the covariance of an error of 0 that moves by MOVE where it is one deviation. */
static void add_deviation(const double move[6], double covariance[36])
{
    for (int i = 0; i < 36; i++)
        covariance[i] += move[i / 6] * move[i % 6];
}

/* Adds to COVARIANCE that of FIT: random errors, and those that its corners share. */
static void add_covariance(const struct plx_fit *fit, double covariance[36])
{
    for (int i = 0; i < 36; i++)
        covariance[i] += fit->covariance[i];
    for (int kind = PLX_FIT_COLUMN; kind <= PLX_FIT_TURN; kind++) {
        double move[6];
        for (int i = 0; i < 6; i++)
            move[i] = CORNERS_SHARE_PX * fit->shared[kind][i];
        add_deviation(move, covariance);
    }
}

/* How much NOW_FROM_LAST moves if each disparity is ERROR too small, the same in both frames: it moves what lies between them
 * by the difference. */
static void move_by_disparities(const struct plx_fit *last, const struct plx_fit *now, const struct plx_pose *now_from_last,
                                const struct plx_disparity_error *error, double ret_move[6])
{
    double before[6];

    for (int i = 0; i < 6; i++)
        before[i] = error->offset * last->shared[PLX_FIT_DISPARITY][i] + error->curve * last->shared[PLX_FIT_CURVE][i];
    plx_pose_move_axes(now_from_last, before, ret_move);
    for (int i = 0; i < 6; i++)
        ret_move[i] =
            error->offset * now->shared[PLX_FIT_DISPARITY][i] + error->curve * now->shared[PLX_FIT_CURVE][i] - ret_move[i];
}

/* The covariance of NOW_FROM_LAST, which follows from LAST and NOW, poses of both frames against the key frame. What the
 * calibration leaves is the same in both: errors of disparities, as they are usual and as they are estimated but not used, and
 * wrong axes, which turn the way. */
static void find_covariance(const struct plx_motion *motion, const struct plx_fit *now, const struct plx_pose *now_from_last,
                            double ret_covariance[36])
{
    const struct plx_disparity_error errors[] = {
        {DISPARITIES_SHARE_PX, 0},
        {0, CURVE_SHARE_PX},
        {motion->estimated.offset - motion->used.offset, motion->estimated.curve - motion->used.curve}};
    const struct plx_fit *last = &motion->last;
    const double *t = now_from_last->translation;
    double before[36] = {0}, axes[6] = {0};

    add_covariance(last, before);
    plx_pose_move_covariance(now_from_last, before, ret_covariance);
    add_covariance(now, ret_covariance);
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        double move[6];
        move_by_disparities(last, now, now_from_last, &errors[i], move);
        add_deviation(move, ret_covariance);
    }
    for (int i = 0; i < 3; i++) { /* turned about axis i */
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        axes[i] = 0;
        axes[j] = -AXES_RAD * t[k];
        axes[k] = AXES_RAD * t[j];
        add_deviation(axes, ret_covariance);
    }
}

bool plx_motion_is_doubtful(const struct plx_motion *motion)
{
    return motion->is_doubtful;
}

const struct plx_motion_steps *plx_motion_steps(const struct plx_motion *motion)
{
    return &motion->steps;
}

void plx_motion_forget_steps(struct plx_motion *motion)
{
    motion->steps.count = 0;
}

void plx_motion_distrust_disparities(struct plx_motion *motion)
{
    if (motion->took_step) {
        plx_motion_steps_drop_newest(&motion->steps);
        motion->took_step = motion->key_gave_step = false;
    }
    motion->key_is_bent |= motion->took_key;
}

void plx_motion_set_disparity_error(struct plx_motion *motion, const struct plx_disparity_error *in_force,
                                    const struct plx_disparity_error *used, const struct plx_disparity_error *estimated)
{
    motion->in_force = *in_force;
    motion->used = *used;
    motion->estimated = *estimated;
}

/* Whether FIT, whose motion from the last frame has COVARIANCE, is contradicted. */
static bool contradicts(const struct plx_motion *motion, const struct plx_fit *fit, int64_t interval_ns,
                        const double covariance[36])
{
    const struct plx_motion_claim claim = {
        .now_from_key = fit->pose,
        .last_from_key = motion->last_from_key,
        .covariance = covariance,
        .interval_ns = interval_ns,
        .point = motion->point,
        .count = motion->points,
        .inliers = fit->inliers,
    };
    struct plx_pose step;
    return plx_corners_contradict(&motion->camera, &claim) ||
           (expect(motion, BY_HINT, interval_ns, &step) && plx_odometry_contradicts(&step, &claim));
}

/* Writes the motion from the last known frame to this one into RET_INFO, and makes this one the last. */
static void accept(struct plx_motion *motion, const struct plx_fit *fit, int64_t capture_ns, struct plx_motion_info *ret_info)
{
    struct plx_pose key_from_now, now_from_last;
    plx_pose_invert(&fit->pose, &key_from_now);
    plx_pose_compose(&motion->last_from_key, &key_from_now, &ret_info->motion);
    plx_pose_compose(&motion->start_from_key, &key_from_now, &ret_info->pose);
    plx_pose_invert(&ret_info->motion, &now_from_last);
    find_covariance(motion, fit, &now_from_last, ret_info->covariance);
    motion->last = *fit;
    if (!motion->key_gave_step && !motion->key_is_bent && fit->offset_weight >= PLX_STEP_MIN_WEIGHT) {
        plx_motion_steps_add(&motion->steps, motion->point, motion->points, &motion->used, &fit->pose);
        motion->took_step = motion->key_gave_step = true;
    }
    ret_info->valid = true;
    ret_info->inliers = fit->inliers;
    ret_info->interval_ns = capture_ns - motion->last_ns;
    motion->is_doubtful = contradicts(motion, fit, ret_info->interval_ns, ret_info->covariance);
    motion->last_from_key = fit->pose;
    motion->last_ns = capture_ns;
    motion->failures = 0;
    motion->step_ns = ret_info->interval_ns;
    motion->has_velocity = motion->step_ns > 0;
    plx_pose_invert(&ret_info->motion, &motion->step);
}

/* Makes this frame, whose pose is POSE, the key frame. False if it has too few corners: then the old one stays. */
static bool take_key(struct plx_motion *motion, const struct plx_image *cells, int64_t capture_ns, const struct plx_pose *pose)
{
    struct plx_corners *corners = &motion->corners[1 - motion->key_pyramid];
    plx_corners_take(corners, cells);
    if (corners->count < MIN_CORNERS)
        return false;
    motion->key_pyramid = 1 - motion->key_pyramid;
    motion->start_from_key = *pose;
    plx_pose_normalize(&motion->start_from_key);
    motion->last_from_key = PLX_POSE_IDENTITY;
    memset(&motion->last, 0, sizeof motion->last);
    motion->last_ns = capture_ns;
    motion->failures = 0;
    motion->has_key = motion->took_key = true;
    motion->key_in_force = motion->in_force;
    motion->key_gave_step = motion->key_is_bent = false;
    return true;
}

/* Where the camera was in the last frame whose motion was known. */
static void last_pose(const struct plx_motion *motion, struct plx_pose *ret_pose)
{
    plx_pose_invert(&motion->last_from_key, ret_pose);
    plx_pose_compose(&motion->start_from_key, ret_pose, ret_pose);
}

/* Whether the next frames need a newer key frame than that with which INFO was found. */
static bool needs_key(const struct plx_motion *motion, const struct plx_motion_info *info)
{
    if (!motion->has_key || motion->failures >= LOST_FRAMES)
        return true;
    return info->valid &&
           (info->inliers * 100 < info->corners * KEEP_PERCENT || motion->last.offset_weight >= PLX_STEP_FULL_WEIGHT);
}

int plx_motion_update(struct plx_motion *motion, const struct plx_motion_sight *sight, int64_t capture_ns,
                      struct plx_motion_info *ret_info)
{
    if (!plx_corner_cells_ok(motion->width, motion->height, sight->corners))
        return PLX_ERR_ARG;
    motion->is_doubtful = motion->took_step = motion->took_key = false;
    struct plx_motion_info info = {.source = PLX_MOTION_VISUAL, .motion = PLX_POSE_IDENTITY};
    last_pose(motion, &info.pose);
    if (motion->has_key) {
        struct plx_fit fit;
        bool known;
        const int result = find_motion(motion, sight, capture_ns - motion->last_ns, &fit, &known);
        if (result < 0)
            return result;
        info.corners = key_corners(motion)->count;
        if (known)
            accept(motion, &fit, capture_ns, &info);
        else
            motion->failures++;
        info.tracked = motion->points;
    }
    const bool lost = motion->failures >= LOST_FRAMES;
    if (needs_key(motion, &info) && take_key(motion, sight->corners, capture_ns, &info.pose) && lost) {
        motion->breaks++;
        motion->has_velocity = false;
    }
    info.breaks = motion->breaks;
    *ret_info = info;
    return 0;
}
