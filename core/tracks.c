/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Kalman filter of constant velocity for each axis of each track (Bar-Shalom, Li, Kirubarajan 2001, 6.3: piecewise constant
 * white acceleration). Obstacles and predictions are matched nearest pair first, within a gate.
 */
#include "core/tracks.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "core/clock.h"

#define MAX_TRACKS (2 * PLX_MAX_OBSTACLES)
#define INITIAL_SPEED_MPS 3.0      /* standard deviation before anything is known */
#define DISPARITY_SIGMA_PX 0.1     /* of an obstacle's disparity from frame to frame */
#define POSITION_SIGMA_PX 0.7      /* of its image position */
#define NO_MATCH FLT_MAX           /* cost of a pair outside the gate */
#define LOST_NS (PLX_NS_PER_S / 2) /* a LOST track is extrapolated for this long at most, at any rate */
#define GAP_NS (2 * PLX_NS_PER_S)  /* after a longer gap between two frames all tracks end */
#define NEAREST_M 0.05             /* smallest extrapolated distance to the camera */

/* State and covariance of one axis. */
struct axis {
    double position, velocity;
    double pp, pv, vv;
};

struct track {
    uint32_t id, age;
    int seen;        /* frames in which it was matched */
    int missed;      /* frames since then */
    int64_t lost_ns; /* time since then */
    struct axis axis[3];
    struct plx_obstacle last; /* its last match */
};

struct plx_tracks {
    struct plx_track_params params;
    uint32_t last_id;   /* the highest number given out */
    int64_t capture_ns; /* of the frame before; 0 = none */
    int count;
    struct track track[MAX_TRACKS];
    float cost[MAX_TRACKS][PLX_MAX_OBSTACLES];
    int obstacle_of[MAX_TRACKS]; /* -1 = none */
    int track_of[PLX_MAX_OBSTACLES];
};

int plx_tracks_create(const struct plx_track_params *params, struct plx_tracks **ret_tracks)
{
    struct plx_tracks *tracks = calloc(1, sizeof *tracks);
    if (!tracks)
        return PLX_ERR_NOMEM;
    tracks->params = *params;
    *ret_tracks = tracks;
    return 0;
}

void plx_tracks_destroy(struct plx_tracks *tracks)
{
    free(tracks);
}

uint32_t plx_tracks_last(const struct plx_tracks *tracks)
{
    return tracks->last_id;
}

void plx_tracks_continue(struct plx_tracks *tracks, uint32_t last)
{
    tracks->last_id = last;
}

/* Variance of a measured position: of z from the disparity, of x and y from the disparity and the image position. */
static void measurement_variance(const struct plx_calibration_info *calibration, const struct plx_obstacle *obstacle,
                                 double ret_variance[3])
{
    const double z = (double)obstacle->position_m[2];
    const double along = z * z / (calibration->fx * calibration->baseline_m) * DISPARITY_SIGMA_PX;
    const double across = z / calibration->fx * POSITION_SIGMA_PX;
    for (int i = 0; i < 2; i++) {
        const double ray = (double)obstacle->position_m[i] / z * along;
        ret_variance[i] = across * across + ray * ray;
    }
    ret_variance[2] = along * along;
}

static void predict(struct axis *a, double dt, double accel)
{
    const double q = accel * accel, dt2 = dt * dt;
    a->position += a->velocity * dt;
    a->pp += 2 * dt * a->pv + dt2 * a->vv + q * dt2 * dt2 / 4;
    a->pv += dt * a->vv + q * dt2 * dt / 2;
    a->vv += q * dt2;
}

static void correct(struct axis *a, double position, double variance)
{
    const double s = a->pp + variance, gain_p = a->pp / s, gain_v = a->pv / s;
    const double innovation = position - a->position;
    a->position += gain_p * innovation;
    a->velocity += gain_v * innovation;
    a->vv -= gain_v * a->pv;
    a->pv *= 1 - gain_p;
    a->pp *= 1 - gain_p;
}

/* Squared distance in standard deviations, or NO_MATCH beyond the gate. */
static float pair_cost(const struct track *track, const struct plx_obstacle *obstacle, const double variance[3], double gate)
{
    double metres = 0, sigmas = 0;
    for (int i = 0; i < 3; i++) {
        const double d = (double)obstacle->position_m[i] - track->axis[i].position;
        metres += d * d;
        sigmas += d * d / (track->axis[i].pp + variance[i]);
    }
    return metres > gate * gate ? NO_MATCH : (float)sigmas;
}

static void fill_costs(struct plx_tracks *tracks, const struct plx_calibration_info *calibration,
                       const struct plx_obstacle *obstacle, int count)
{
    for (int k = 0; k < count; k++) {
        double variance[3];
        measurement_variance(calibration, &obstacle[k], variance);
        for (int t = 0; t < tracks->count; t++)
            tracks->cost[t][k] = pair_cost(&tracks->track[t], &obstacle[k], variance, tracks->params.gate_m);
    }
}

static int nearest_obstacle(const struct plx_tracks *tracks, int t, int count)
{
    int best = -1;
    for (int k = 0; k < count; k++)
        if (tracks->track_of[k] < 0 && tracks->cost[t][k] < (best < 0 ? NO_MATCH : tracks->cost[t][best]))
            best = k;
    return best;
}

static int nearest_track(const struct plx_tracks *tracks, int k)
{
    int best = -1;
    for (int t = 0; t < tracks->count; t++)
        if (tracks->obstacle_of[t] < 0 && tracks->cost[t][k] < (best < 0 ? NO_MATCH : tracks->cost[best][k]))
            best = t;
    return best;
}

/* Nearest pair first. That order matches every pair whose members are each other's nearest, so each round matches all such
 * pairs. */
static void match_pairs(struct plx_tracks *tracks, int count)
{
    for (int t = 0; t < tracks->count; t++)
        tracks->obstacle_of[t] = -1;
    for (int k = 0; k < count; k++)
        tracks->track_of[k] = -1;
    for (bool more = true; more;) {
        more = false;
        for (int t = 0; t < tracks->count; t++) {
            const int k = tracks->obstacle_of[t] < 0 ? nearest_obstacle(tracks, t, count) : -1;
            if (k < 0 || nearest_track(tracks, k) != t)
                continue;
            tracks->obstacle_of[t] = k;
            tracks->track_of[k] = t;
            more = true;
        }
    }
}

static void publish(const struct track *track, const struct plx_track_params *params, struct plx_obstacle *ret)
{
    ret->track = track->id;
    ret->age = track->age;
    ret->status = track->missed > 0 ? PLX_TRACK_LOST : track->seen < params->min_hits ? PLX_TRACK_NEW : PLX_TRACK_TRACKED;
    for (int i = 0; i < 3; i++) {
        ret->velocity_mps[i] = (float)track->axis[i].velocity;
        ret->velocity_variance[i] = (float)track->axis[i].vv;
    }
}

static void update_matched(struct plx_tracks *tracks, int t, const struct plx_calibration_info *calibration,
                           struct plx_obstacle *obstacle)
{
    struct track *track = &tracks->track[t];
    double variance[3];
    measurement_variance(calibration, obstacle, variance);
    for (int i = 0; i < 3; i++)
        correct(&track->axis[i], (double)obstacle->position_m[i], variance[i]);
    track->seen++;
    track->missed = 0;
    track->lost_ns = 0;
    publish(track, &tracks->params, obstacle);
    track->last = *obstacle;
}

static bool is_over(const struct track *track, const struct plx_track_params *params)
{
    const bool was_tracked = track->seen >= params->min_hits;

    return track->missed > 0 && (!was_tracked || track->missed > params->max_missed || track->lost_ns > LOST_NS ||
                                 track->axis[2].position < NEAREST_M);
}

/* Removes tracks that are lost for too long or too near, and new tracks at their first miss. */
static void end_tracks(struct plx_tracks *tracks)
{
    int kept = 0;
    for (int t = 0; t < tracks->count; t++) {
        const struct track *track = &tracks->track[t];
        if (is_over(track, &tracks->params))
            continue;
        if (kept != t)
            tracks->track[kept] = *track;
        kept++;
    }
    tracks->count = kept;
}

/* A free slot; if there is none, that of the track with the most misses. */
static struct track *new_slot(struct plx_tracks *tracks)
{
    if (tracks->count < MAX_TRACKS)
        return &tracks->track[tracks->count++];
    int oldest = 0;
    for (int t = 1; t < MAX_TRACKS; t++)
        if (tracks->track[t].missed > tracks->track[oldest].missed)
            oldest = t;
    return &tracks->track[oldest];
}

static void begin_track(struct plx_tracks *tracks, const struct plx_calibration_info *calibration,
                        struct plx_obstacle *obstacle)
{
    struct track *track = new_slot(tracks);
    double variance[3];
    measurement_variance(calibration, obstacle, variance);
    if (++tracks->last_id == 0) /* 0 is not a valid number */
        tracks->last_id = 1;
    *track = (struct track){.id = tracks->last_id, .age = 1, .seen = 1};
    for (int i = 0; i < 3; i++)
        track->axis[i] = (struct axis){
            .position = (double)obstacle->position_m[i], .pp = variance[i], .vv = INITIAL_SPEED_MPS * INITIAL_SPEED_MPS};
    publish(track, &tracks->params, obstacle);
    track->last = *obstacle;
}

/* A track without a match: its predicted position. */
static void publish_lost(const struct plx_tracks *tracks, const struct track *track, struct plx_obstacle *ret)
{
    *ret = track->last;
    ret->label = 0;
    ret->confidence = 0;
    for (int i = 0; i < 3; i++)
        ret->position_m[i] = (float)track->axis[i].position;
    publish(track, &tracks->params, ret);
}

void plx_tracks_update(struct plx_tracks *tracks, int64_t capture_ns, const struct plx_calibration_info *calibration,
                       struct plx_obstacle *obstacle, int *count, int capacity)
{
    const int seen = *count < PLX_MAX_OBSTACLES ? *count : PLX_MAX_OBSTACLES;
    const int64_t step_ns = tracks->capture_ns != 0 && capture_ns > tracks->capture_ns ? capture_ns - tracks->capture_ns : 0;
    const double dt = (double)step_ns / (double)PLX_NS_PER_S;
    tracks->capture_ns = capture_ns;

    if (step_ns > GAP_NS)
        tracks->count = 0;
    for (int t = 0; t < tracks->count; t++) {
        tracks->track[t].age++;
        tracks->track[t].lost_ns += step_ns;
        for (int i = 0; i < 3; i++)
            predict(&tracks->track[t].axis[i], dt, tracks->params.accel_mps2);
    }
    fill_costs(tracks, calibration, obstacle, seen);
    match_pairs(tracks, seen);
    for (int t = 0; t < tracks->count; t++) {
        if (tracks->obstacle_of[t] >= 0)
            update_matched(tracks, t, calibration, &obstacle[tracks->obstacle_of[t]]);
        else
            tracks->track[t].missed++;
    }
    end_tracks(tracks);
    for (int t = 0; t < tracks->count && *count < capacity; t++)
        if (tracks->track[t].missed > 0)
            publish_lost(tracks, &tracks->track[t], &obstacle[(*count)++]);
    for (int k = 0; k < seen; k++)
        if (tracks->track_of[k] < 0)
            begin_track(tracks, calibration, &obstacle[k]);
}
