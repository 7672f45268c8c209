/* SPDX-License-Identifier: Apache-2.0 */
#include "core/track.h"

#include <math.h>
#include <string.h>

#include "core/clock.h"
#include "core/motion/pose.h"

#define RELATIVE_SPEED_MPS 3.0 /* standard deviations before anything is known: while the camera's way is unknown, */
#define WALKING_SPEED_MPS 1.5  /* of small things over the ground, */
#define DRIVING_SPEED_MPS 3.0  /* and of things as large as a vehicle */
#define VEHICLE_M 1.2          /* narrower things walk */
#define WALL_M 6.0             /* wider or deeper things stand: what is seen of them slides along them */
#define DISPARITY_SIGMA_PX 0.1 /* of an obstacle's disparity from frame to frame */
#define POSITION_SIGMA_PX 0.7  /* of its image position */
#define WANDER_M 0.15
#define EXTENT_SHARE 0.3           /* of an extent: how far the centre of what is seen wanders */
#define CHANGE_SHARE 0.5           /* of a change of an extent: the centre moves by half if one end appears */
#define SIZE_FRAMES 8              /* over which the size is a mean */
#define SIZE_STEP 0.25             /* of the size: a larger change is an outlier and counts as this much */
#define JUMP_FACTOR 2.0            /* an extent that differs from the size by so much and so many metres is a jump: */
#define JUMP_M 0.1                 /* parts were joined or came apart */
#define JUMPS 3                    /* in a row: the size is another one now */
#define CLASS_MARGIN 1.15          /* a class stays while the size is that near to it */
#define HOLD_NS (PLX_NS_PER_S / 2) /* the camera goes on as before for so long */
#define HELD_MPS 1.0               /* standard deviations of that */
#define HELD_RAD_PER_S 0.1
#define STANDING_ODDS 9.0
#define MOVING_SIGMAS 3.0 /* it moves if it is that significant, */
#define MOVING_MPS 0.4    /* that fast, */
#define MOVING_FRAMES 3   /* in so many frames in a row; */
#define STILL_SIGMAS 2.0  /* it stands again below this */

bool plx_track_camera_update(struct plx_track_camera *camera, const struct plx_motion_info *motion, int64_t step_ns)
{
    const bool was_known = camera->known;
    const double seconds = (double)step_ns / PLX_NS_PER_S;

    camera->measured = motion->valid && motion->interval_ns > 0 && step_ns > 0;
    camera->held_ns = camera->measured ? 0 : camera->held_ns + step_ns;
    if (camera->measured) {
        /* A motion over several frames: this frame's share. */
        plx_pose_scale(&motion->motion, (double)step_ns / (double)motion->interval_ns, &camera->step);
        memcpy(camera->covariance, motion->covariance, sizeof camera->covariance);
        camera->known = true;
    } else if (camera->known && motion->source != PLX_MOTION_NONE && camera->held_ns <= HOLD_NS) {
        if (step_ns > 0)
            plx_pose_scale(&camera->step, seconds / camera->seconds, &camera->step);
        memset(camera->covariance, 0, sizeof camera->covariance);
        for (int i = 0; i < 6; i++)
            camera->covariance[7 * i] = pow((i < 3 ? HELD_MPS : HELD_RAD_PER_S) * seconds, 2);
    } else {
        camera->known = false;
        camera->step = PLX_POSE_IDENTITY;
    }
    if (step_ns > 0)
        camera->seconds = seconds;
    return camera->known != was_known;
}

/* Velocity relative to the camera of a thing at POSITION now whose velocity over the ground is VELOCITY. */
static void relative_velocity(const struct plx_track_camera *camera, const double position[3], const double velocity[3],
                              double ret[3])
{
    double then[3];

    for (int i = 0; i < 3; i++)
        then[i] = position[i] - velocity[i] * camera->seconds;
    plx_pose_apply(&camera->step, then, then);
    for (int i = 0; i < 3; i++)
        ret[i] = camera->known ? (position[i] - then[i]) / camera->seconds : velocity[i];
}

/* The size of OBSTACLE, in the order of plx_track's. */
static void size_of(const struct plx_obstacle *obstacle, double ret_size[3])
{
    for (int i = 0; i < 3; i++)
        ret_size[i] = fmax(0, (double)obstacle->extent_m[i]);
}

void plx_track_noise(const struct plx_track_camera *camera, const struct plx_calibration_info *calibration,
                     const struct plx_obstacle *obstacle, const double size[3], double ret_noise[9])
{
    const double z = (double)obstacle->position_m[2];
    const double along = z * z / (calibration->fx * calibration->baseline_m) * DISPARITY_SIGMA_PX;
    const double across = z / calibration->fx * POSITION_SIGMA_PX;
    double ray[3], now[3];

    size_of(obstacle, now);
    for (int i = 0; i < 3; i++)
        ray[i] = (double)obstacle->position_m[i] / z * along;
    for (int i = 0; i < 9; i++)
        ret_noise[i] = ray[i / 3] * ray[i % 3];
    for (int i = 0; i < 3; i++) {
        const double wander = fmax(WANDER_M, EXTENT_SHARE * fmax(size[i], now[i])), change = CHANGE_SHARE * (now[i] - size[i]);
        ret_noise[4 * i] += across * across + (camera->known ? wander * wander + change * change : 0);
    }
}

/* The most likely class of WIDTH x HEIGHT metres. */
static uint32_t class_of(double width, double height)
{
    if (width <= 0 || height <= 0)
        return PLX_SIZE_UNKNOWN;
    if (width > WALL_M)
        return PLX_SIZE_WALL;
    if (height < 0.8)
        return PLX_SIZE_LOW;
    if (width > VEHICLE_M)
        return PLX_SIZE_VEHICLE;
    return width < 0.35 && height > 1.2 ? PLX_SIZE_POLE : PLX_SIZE_PERSON;
}

/* The class of SIZE; it stays as it WAS if a size that differs by the margin has that class. */
static uint32_t keep_class(const double size[3], uint32_t was)
{
    static const double factor[] = {1 / CLASS_MARGIN, 1, CLASS_MARGIN};

    for (int i = 0; i < 9 && was != PLX_SIZE_UNKNOWN; i++)
        if (class_of(size[0] * factor[i / 3], size[1] * factor[i % 3]) == was)
            return was;
    return class_of(size[0], size[1]);
}

static double first_speed(const struct plx_track *track, const struct plx_track_camera *camera)
{
    if (!camera->known)
        return RELATIVE_SPEED_MPS;
    return fmax(track->size[0], track->size[2]) < VEHICLE_M ? WALKING_SPEED_MPS : DRIVING_SPEED_MPS;
}

static void position_of(const struct plx_obstacle *obstacle, double ret_position[3])
{
    for (int i = 0; i < 3; i++)
        ret_position[i] = (double)obstacle->position_m[i];
}

void plx_track_begin(struct plx_track *track, uint32_t id, const struct plx_track_camera *camera,
                     const struct plx_calibration_info *calibration, const struct plx_obstacle *obstacle)
{
    double noise[9], position[3];

    *track = (struct plx_track){.id = id, .age = 1, .seen = 1, .last = *obstacle};
    size_of(obstacle, track->size);
    track->size_class = class_of(track->size[0], track->size[1]);
    position_of(obstacle, position);
    plx_track_noise(camera, calibration, obstacle, track->size, noise);
    plx_track_state_begin(&track->state, position, noise, first_speed(track, camera));
}

void plx_track_predict(struct plx_track *track, const struct plx_track_camera *camera, bool changed, double dt, double accel)
{
    if (camera->known) {
        struct plx_pose now_from_then;
        plx_pose_invert(&camera->step, &now_from_then);
        plx_track_state_turn(&track->state, &now_from_then, camera->covariance);
    }
    if (changed) /* velocities mean something else now */
        plx_track_state_rest(&track->state, first_speed(track, camera));
    plx_track_state_predict(&track->state, dt, accel);
}

static void filter_size(struct plx_track *track, const struct plx_obstacle *obstacle)
{
    const double gain = 1.0 / (track->seen < SIZE_FRAMES ? track->seen : SIZE_FRAMES);
    double now[3];

    size_of(obstacle, now);
    for (int i = 0; i < 3; i++) {
        const double most = SIZE_STEP * track->size[i];
        const double change = now[i] - track->size[i];
        track->size[i] += gain * (most > 0 ? fmax(-most, fmin(most, change)) : change);
    }
    track->size_class = keep_class(track->size, track->size_class);
}

/* True if OBSTACLE shows much more or less of the thing than its track knows. */
static bool jumps(const struct plx_track *track, const struct plx_obstacle *obstacle)
{
    double now[3];

    size_of(obstacle, now);
    for (int i = 0; i < 2; i++)
        if (fmax(now[i], track->size[i]) > JUMP_FACTOR * fmin(now[i], track->size[i]) + JUMP_M)
            return true;
    return false;
}

static void judge_moving(struct plx_track *track)
{
    const double sigmas = plx_track_state_speed_sigmas(&track->state);
    const bool fast = sigmas >= MOVING_SIGMAS && hypot(track->state.velocity[0], track->state.velocity[2]) >= MOVING_MPS;

    track->fast = fast ? track->fast + 1 : 0;
    if (track->fast >= MOVING_FRAMES)
        track->moving = true;
    else if (sigmas < STILL_SIGMAS)
        track->moving = false;
}

void plx_track_correct(struct plx_track *track, const struct plx_track_camera *camera,
                       const struct plx_calibration_info *calibration, const struct plx_obstacle *obstacle)
{
    double noise[9], position[3];

    position_of(obstacle, position);
    plx_track_noise(camera, calibration, obstacle, track->size, noise);
    track->jumps = camera->known && jumps(track, obstacle) ? track->jumps + 1 : 0;
    if (track->jumps > 0)
        plx_track_state_relocate(&track->state, position, noise);
    else
        plx_track_state_correct(&track->state, position, noise);
    track->seen++;
    track->missed = 0;
    track->lost_ns = 0;
    filter_size(track, obstacle);
    if (track->jumps >= JUMPS)
        size_of(obstacle, track->size);
    if (camera->known && fmax(track->size[0], track->size[2]) > WALL_M)
        plx_track_state_rest(&track->state, WALKING_SPEED_MPS);
    if (camera->known)
        judge_moving(track);
    else
        track->moving = false;
    track->last = *obstacle;
}

double plx_track_overlap(const struct plx_track *track, const struct plx_calibration_info *calibration,
                         const struct plx_obstacle *obstacle)
{
    const struct plx_obstacle *last = &track->last;
    const double *p = track->state.position, z = (double)last->position_m[2];
    if (p[2] <= 0 || z <= 0)
        return 0;
    const double scale = z / p[2];
    const double x = (p[0] / p[2] - (double)last->position_m[0] / z * scale) * calibration->fx + calibration->cx +
                     (last->x - calibration->cx) * scale;
    const double y = (p[1] / p[2] - (double)last->position_m[1] / z * scale) * calibration->fy + calibration->cy +
                     (last->y - calibration->cy) * scale;
    const double width = last->width * scale, height = last->height * scale;
    const double wide = fmin(x + width, obstacle->x + obstacle->width) - fmax(x, obstacle->x);
    const double high = fmin(y + height, obstacle->y + obstacle->height) - fmax(y, obstacle->y);
    const double both = wide > 0 && high > 0 ? wide * high : 0;
    const double all = width * height + (double)obstacle->width * obstacle->height - both;
    return all > 0 ? both / all : 0;
}

void plx_track_publish(const struct plx_track *track, const struct plx_track_camera *camera, struct plx_obstacle *ret)
{
    const struct plx_track_state *state = &track->state;
    const double p = camera->known ? 1 - plx_track_state_standing(state, first_speed(track, camera), STANDING_ODDS) : 1;
    double relative[3], velocity[3], variance[3];

    for (int i = 0; i < 3; i++) {
        velocity[i] = p * state->velocity[i];
        variance[i] = p * (state->vv[4 * i] + (1 - p) * state->velocity[i] * state->velocity[i]);
    }
    relative_velocity(camera, state->position, velocity, relative);
    for (int i = 0; i < 3; i++) {
        const double camera_variance = camera->known ? camera->covariance[7 * i] / (camera->seconds * camera->seconds) : 0;
        ret->velocity_mps[i] = (float)relative[i];
        ret->velocity_variance[i] = (float)(variance[i] + camera_variance);
        ret->world_velocity_mps[i] = camera->measured ? (float)velocity[i] : 0;
        ret->world_velocity_variance[i] = camera->measured ? (float)variance[i] : 0;
    }
    ret->moving_sigmas = camera->measured ? (float)plx_track_state_speed_sigmas(state) : 0;
    ret->moving = camera->measured && track->moving;
    ret->size_m[0] = (float)track->size[0];
    ret->size_m[1] = (float)track->size[1];
    ret->size_class = track->size_class;
}
