/* SPDX-License-Identifier: Apache-2.0 */
#include "core/tracks/track.h"

#include <math.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/geometry/stereo.h"
#include "core/motion/pose.h"

#define RELATIVE_SPEED_MPS 3.0  /* standard deviations before anything is known: while the camera's motion is unknown, */
#define WALKING_SPEED_MPS 1.5   /* small things over the ground, */
#define DRIVING_SPEED_MPS 3.0   /* and of large things */
#define DISPARITY_SIGMA_PX 0.1  /* an obstacle's disparity from frame to frame, if its error is at most */
#define SURE_SIGMA_PX 0.4       /* this; it grows with the error, */
#define MAX_UNSURE 4.0          /* up to so many times */
#define POSITION_SIGMA_PX 0.7   /* image position of an obstacle from frame to frame */
#define WANDER_SHARE 0.15       /* share of an extent: standard deviation of the centre of what is seen, evenly in half of it */
#define WANDER_M 0.1            /* and at least this */
#define CHANGE_SHARE 0.5        /* share of a change in extent: the centre moves by half if one end appears */
#define PRIOR_WEIGHT 3.0        /* weight of that, beside what the innovations say: as one measurement */
#define FORGET 0.9              /* factor on earlier innovations */
#define STANDING_ODDS 9.0       /* to one, before its velocity is measured: most things stand */
#define MIN_PROBABILITY 0.01    /* it may have begun to move just now */
#define MOVING_PROBABILITY 0.95 /* it moves if it is that sure, */
#define MOVING_MPS 0.3          /* that fast, */
#define MOVING_FRAMES 2         /* in so many frames in a row; */
#define STILL_PROBABILITY 0.5   /* it stands again below this, */
#define STILL_MPS 0.15          /* or this */

static double wander_of(double extent)
{
    return fmax(WANDER_M, WANDER_SHARE * extent);
}

/* How much less sure the disparity of OBSTACLE is than that of a good surface; 1 where nothing is stated. */
static double unsure(const struct plx_calibration_info *calibration, const struct plx_obstacle *obstacle)
{
    const double metres_a_px = plx_depth_sigma(calibration, (double)obstacle->nearest_m, 1);
    const double sigma_px = metres_a_px > 0 ? (double)obstacle->nearest_sigma_m / metres_a_px : 0;
    return fmin(fmax(sigma_px / SURE_SIGMA_PX, 1), MAX_UNSURE);
}

void plx_track_noise(const struct plx_track_camera *camera, const struct plx_calibration_info *calibration,
                     const struct plx_obstacle *obstacle, const struct plx_track_size *size, double share, double ret_noise[9])
{
    const double z = (double)obstacle->position_m[2];
    const double along = plx_depth_sigma(calibration, z, DISPARITY_SIGMA_PX * unsure(calibration, obstacle));
    const double across = plx_pixel_width(calibration, z) * POSITION_SIGMA_PX;
    double ray[3], now[3];

    plx_track_size_of(obstacle, now);
    for (int i = 0; i < 3; i++)
        ray[i] = (double)obstacle->position_m[i] / z * along;
    for (int i = 0; i < 9; i++)
        ret_noise[i] = ray[i / 3] * ray[i % 3];
    for (int i = 0; i < 3; i++) {
        /* What is deep is no face: its centre wanders across as much. */
        const double across_m = i == 0 ? fmax(size->m[2], now[2]) : 0;
        const double wander = wander_of(fmax(fmax(size->m[i], now[i]), across_m)),
                     change = CHANGE_SHARE * (now[i] - size->m[i]);
        ret_noise[4 * i] += across * across + (camera->known ? share * (wander * wander + change * change) : 0);
    }
}

static double first_speed(const struct plx_track *track, const struct plx_track_camera *camera)
{
    if (!camera->known)
        return RELATIVE_SPEED_MPS;
    return plx_track_size_is_large(&track->size) ? DRIVING_SPEED_MPS : WALKING_SPEED_MPS;
}

static void position_of(const struct plx_obstacle *obstacle, double ret_position[3])
{
    for (int i = 0; i < 3; i++)
        ret_position[i] = (double)obstacle->position_m[i];
}

bool plx_track_locate(const struct plx_track *track, const struct plx_calibration_info *calibration,
                      const struct plx_obstacle *obstacle, const struct plx_track_cover *cover, double ret_position[3])
{
    const double lost_s = (double)track->lost_ns / PLX_NS_PER_S;
    const double stands = track->state.position[0] - track->state.velocity[0] * lost_s, seen = (double)obstacle->position_m[0];

    position_of(obstacle, ret_position);
    const bool located = plx_track_sides_locate(&track->sides, calibration, obstacle, cover, &ret_position[0]);
    /* Sides may be those of other parts of the same hedge: most things stand, and this one too if its centroid says so. */
    if (!track->moving && located && fabs(seen - stands) < fabs(ret_position[0] - stands))
        ret_position[0] = seen;
    return located;
}

static void begin_shape(struct plx_track *track, const struct plx_calibration_info *calibration,
                        const struct plx_obstacle *obstacle, const struct plx_track_cover *cover)
{
    plx_track_size_begin(&track->size, obstacle);
    plx_track_sides_begin(&track->sides, calibration, obstacle, cover);
}

void plx_track_begin(struct plx_track *track, uint32_t id, const struct plx_track_camera *camera,
                     const struct plx_calibration_info *calibration, const struct plx_obstacle *obstacle,
                     const struct plx_track_cover *cover)
{
    double noise[9], position[3];

    *track = (struct plx_track){.id = id,
                                .age = 1,
                                .seen = 1,
                                .partial = plx_track_cover_hides(cover),
                                .last = *obstacle,
                                .last_x = (double)obstacle->position_m[0]};
    begin_shape(track, calibration, obstacle, cover);
    position_of(obstacle, position);
    plx_track_noise(camera, calibration, obstacle, &track->size, 1, noise);
    plx_track_state_begin(&track->state, position, noise, first_speed(track, camera));
    plx_track_displacement_begin(&track->displacement, position, noise);
}

static void rest(struct plx_track *track, const struct plx_track_camera *camera)
{
    plx_track_state_rest(&track->state, first_speed(track, camera));
    plx_track_displacement_begin(&track->displacement, track->state.position, track->state.pp);
}

void plx_track_predict(struct plx_track *track, const struct plx_track_camera *camera, bool changed, double dt, double accel)
{
    if (camera->known) {
        struct plx_pose now_from_then;
        plx_pose_invert(&camera->step, &now_from_then);
        plx_track_state_turn(&track->state, &now_from_then, camera->covariance);
        plx_track_displacement_turn(&track->displacement, &now_from_then, camera->covariance);
    }
    if (changed) /* velocities mean something else now */
        rest(track, camera);
    plx_track_state_predict(&track->state, dt, accel);
}

/* How much of the wandering that its size allows TRACK does, by the squared sum of its innovations: 1 is all (adaptive
 * measurement noise: Bar-Shalom, Li, Kirubarajan 2001, 5.4 and 11.2). */
static double wander_share(struct plx_track *track, double innovation)
{
    track->innovations = FORGET * track->innovations + innovation;
    track->innovation_weight = FORGET * track->innovation_weight + 3;
    return (PRIOR_WEIGHT + track->innovations) / (PRIOR_WEIGHT + track->innovation_weight);
}

static double moving_probability(const struct plx_track *track, const struct plx_track_camera *camera)
{
    const double standing =
        plx_track_displacement_standing(&track->displacement, &track->state, first_speed(track, camera), STANDING_ODDS);
    return fmax(MIN_PROBABILITY, 1 - standing);
}

static void judge_moving(struct plx_track *track, const struct plx_track_camera *camera)
{
    const double probability = moving_probability(track, camera), *v = track->state.velocity;
    const double squared_speed = v[0] * v[0] + v[2] * v[2];
    const bool fast = probability >= MOVING_PROBABILITY && squared_speed >= MOVING_MPS * MOVING_MPS;

    track->fast = fast ? track->fast + 1 : 0;
    if (track->fast >= MOVING_FRAMES)
        track->moving = true;
    else if (probability < STILL_PROBABILITY || squared_speed < STILL_MPS * STILL_MPS)
        track->moving = false;
}

/* Another shape is measured at POSITION: neither the velocity nor the displacement knows more than before. */
static void relocate(struct plx_track *track, const double position[3], const double noise[9])
{
    const double lost_s = (double)track->lost_ns / PLX_NS_PER_S;
    double shift[3];

    for (int i = 0; i < 3; i++)
        shift[i] = position[i] - track->state.position[i] + track->state.velocity[i] * lost_s;
    plx_track_displacement_shift(&track->displacement, shift);
    plx_track_state_relocate(&track->state, position, noise);
}

/* Size and sides of the next match, whose tracked point is at X. Returns true if they are those of another shape, which begins
 * at the centroid of OBSTACLE: regions were joined or came apart, or what was known was only a part of the thing. */
static bool update_shape(struct plx_track *track, const struct plx_calibration_info *calibration,
                         const struct plx_obstacle *obstacle, const struct plx_track_cover *cover, double x)
{
    const bool hides = plx_track_cover_hides(cover), was_partial = track->partial;
    const double tolerance = wander_of(track->size.m[0]) + plx_pixel_width(calibration, (double)obstacle->position_m[2]);

    track->partial = cover->any && (hides || was_partial);
    if (hides ? plx_track_size_is_outgrown(&track->size, obstacle)
              : was_partial && plx_track_sides_differ(&track->sides, calibration, obstacle, cover, tolerance)) {
        begin_shape(track, calibration, obstacle, cover);
        return true;
    }
    if (!hides && plx_track_size_update(&track->size, obstacle)) { /* a part says nothing about the size */
        plx_track_sides_begin(&track->sides, calibration, obstacle, cover);
        return true;
    }
    plx_track_sides_update(&track->sides, calibration, obstacle, cover, x);
    return false;
}

/* No side of OBSTACLE is its own: the thing reaches as far as its size allows, to either side. */
static void spread_across(const struct plx_track *track, const struct plx_obstacle *obstacle, double noise[9])
{
    const double half = 0.5 * fmax(track->size.m[0], (double)obstacle->extent_m[0]);
    noise[0] += half * half;
}

/* OBSTACLE as wide as TRACK if a side is hidden: the visible sides place all of it, so that its change of width is no noise. */
static struct plx_obstacle uncover(const struct plx_track *track, const struct plx_obstacle *obstacle,
                                   const struct plx_track_cover *cover)
{
    struct plx_obstacle whole = *obstacle;
    if (plx_track_cover_hides(cover))
        whole.extent_m[0] = (float)track->size.m[0];
    return whole;
}

/* The velocity over the ground, from the next position of the same shape. */
static void correct_in_world(struct plx_track *track, const struct plx_track_camera *camera,
                             const struct plx_calibration_info *calibration, const struct plx_obstacle *obstacle,
                             const struct plx_track_cover *cover)
{
    const struct plx_track_size before = track->size;
    const struct plx_obstacle whole = uncover(track, obstacle, cover);
    double noise[9], lower[9], position[3];
    const bool located = plx_track_locate(track, calibration, obstacle, cover, position);

    plx_track_noise(camera, calibration, &whole, &before, 1, noise);
    if (update_shape(track, calibration, obstacle, cover, position[0])) {
        position_of(obstacle, position);
        relocate(track, position, noise);
    } else {
        const double share = wander_share(track, plx_track_state_distance(&track->state, position, noise));
        plx_track_noise(camera, calibration, &whole, &before, share, lower);
        if (!located)
            spread_across(track, obstacle, lower);
        plx_track_state_correct(&track->state, position, lower);
        plx_track_displacement_add(&track->displacement, track->state.position, noise, share,
                                   (double)track->lost_ns / PLX_NS_PER_S);
    }
    if (plx_track_size_is_wide(&track->size)) /* the seen part of a wall slides along the wall */
        rest(track, camera);
    track->last_x = position[0];
    judge_moving(track, camera);
}

static void correct_from_camera(struct plx_track *track, const struct plx_track_camera *camera,
                                const struct plx_calibration_info *calibration, const struct plx_obstacle *obstacle,
                                const struct plx_track_cover *cover)
{
    double noise[9], position[3];
    const bool located = plx_track_locate(track, calibration, obstacle, cover, position);

    plx_track_noise(camera, calibration, obstacle, &track->size, 1, noise);
    if (!located)
        spread_across(track, obstacle, noise);
    if (update_shape(track, calibration, obstacle, cover, position[0])) {
        position_of(obstacle, position);
        plx_track_state_relocate(&track->state, position, noise);
    } else {
        plx_track_state_correct(&track->state, position, noise);
    }
    track->last_x = position[0];
    track->moving = false;
}

void plx_track_correct(struct plx_track *track, const struct plx_track_camera *camera,
                       const struct plx_calibration_info *calibration, const struct plx_obstacle *obstacle,
                       const struct plx_track_cover *cover)
{
    if (camera->known)
        correct_in_world(track, camera, calibration, obstacle, cover);
    else
        correct_from_camera(track, camera, calibration, obstacle, cover);
    track->seen++;
    track->missed = 0;
    track->lost_ns = 0;
    track->last = *obstacle;
}

/* The predicted columns of TRACK, whose last box would be LEFT to RIGHT now: as far as its sides reach if it was not seen whole
 * since, and without what COVER hides of OBSTACLE. */
static void predict_sides(const struct plx_track *track, const struct plx_calibration_info *calibration,
                          const struct plx_obstacle *obstacle, const struct plx_track_cover *cover, double *left, double *right)
{
    const struct plx_track_sides *sides = &track->sides;
    const double *p = track->state.position, scale = calibration->fx / p[2];

    if (track->partial && sides->known[PLX_TRACK_LEFT])
        *left = (p[0] - sides->reach_m[PLX_TRACK_LEFT]) * scale + calibration->cx;
    if (track->partial && sides->known[PLX_TRACK_RIGHT])
        *right = (p[0] + sides->reach_m[PLX_TRACK_RIGHT]) * scale + calibration->cx;
    if (cover->hidden[PLX_TRACK_LEFT])
        *left = fmax(*left, obstacle->x);
    if (cover->hidden[PLX_TRACK_RIGHT])
        *right = fmin(*right, obstacle->x + obstacle->width);
}

struct plx_track_box plx_track_box_at(const struct plx_track *track, const struct plx_calibration_info *calibration,
                                      const double position[3])
{
    const struct plx_obstacle *last = &track->last;
    const double *p = position, z = (double)last->position_m[2], scale = z / p[2];
    const double left =
        (p[0] / p[2] - track->last_x / z * scale) * calibration->fx + calibration->cx + (last->x - calibration->cx) * scale;
    const double top = (p[1] / p[2] - (double)last->position_m[1] / z * scale) * calibration->fy + calibration->cy +
                       (last->y - calibration->cy) * scale;

    return (struct plx_track_box){left, left + last->width * scale, top, top + last->height * scale};
}

double plx_track_overlap(const struct plx_track *track, const struct plx_calibration_info *calibration,
                         const struct plx_obstacle *obstacle, const struct plx_track_cover *cover)
{
    if (track->state.position[2] <= 0 || track->last.position_m[2] <= 0)
        return 0;
    struct plx_track_box box = plx_track_box_at(track, calibration, track->state.position);
    const double height = track->last.height * ((double)track->last.position_m[2] / track->state.position[2]);
    predict_sides(track, calibration, obstacle, cover, &box.left, &box.right);
    const double wide = fmin(box.right, obstacle->x + obstacle->width) - fmax(box.left, obstacle->x);
    const double high = fmin(box.bottom, obstacle->y + obstacle->height) - fmax(box.top, obstacle->y);
    const double both = wide > 0 && high > 0 ? wide * high : 0;
    const double all = fmax(0, box.right - box.left) * height + (double)obstacle->width * obstacle->height - both;
    return all > 0 ? both / all : 0;
}

int plx_track_unknown_sides(const struct plx_track *track)
{
    return !track->sides.known[PLX_TRACK_LEFT] + !track->sides.known[PLX_TRACK_RIGHT];
}

void plx_track_publish(const struct plx_track *track, const struct plx_track_camera *camera, struct plx_obstacle *ret)
{
    const struct plx_track_state *state = &track->state;
    const double p = camera->known ? moving_probability(track, camera) : 1;
    double relative[3], velocity[3];

    for (int i = 0; i < 3; i++)
        velocity[i] = p * state->velocity[i]; /* the mean over standing and moving */
    plx_track_camera_velocity(camera, state->position, velocity, relative);
    for (int i = 0; i < 3; i++) {
        const double variance = p * state->vv[4 * i] + p * (1 - p) * state->velocity[i] * state->velocity[i];
        const double camera_variance = camera->known ? camera->covariance[7 * i] / (camera->seconds * camera->seconds) : 0;
        ret->velocity_mps[i] = (float)relative[i];
        ret->velocity_variance[i] = (float)(variance + camera_variance);
        ret->world_velocity_mps[i] = camera->measured ? (float)velocity[i] : 0;
        ret->world_velocity_variance[i] = camera->measured ? (float)variance : 0;
    }
    ret->moving_sigmas = camera->measured ? (float)plx_track_displacement_sigmas(&track->displacement, state) : 0;
    ret->moving = camera->measured && track->moving;
    ret->size_m[0] = (float)track->size.m[0];
    ret->size_m[1] = (float)track->size.m[1];
    ret->size_class = track->size.size_class;
}
