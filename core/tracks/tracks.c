/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each track is a Kalman filter in the world, seen from the camera now (state.h). Obstacles and predictions are matched
 * nearest pair first, within a gate.
 */
#include "core/tracks/tracks.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "core/base/clock.h"
#include "core/geometry/stereo.h"
#include "core/motion/pose.h"
#include "core/tracks/track.h"

#define MAX_TRACKS (2 * PLX_MAX_OBSTACLES)
#define GATE_SIGMAS 5.0
#define MIN_GATE_M 0.3                   /* nearer ones match however sure the prediction is, */
#define MIN_OVERLAP 0.4                  /* and so do those whose boxes share that much */
#define YOUNG_OVERLAP 0.3                /* a young track that was missed goes on only in a box that shares that much */
#define OVERLAP_COST 60                  /* boxes that share nothing, as so many squared standard deviations */
#define OTHER_COST 20                    /* a thing that was not called moving moves, or the reverse */
#define PART_COST 2                      /* each side that a track has never seen: one that knows the whole thing goes before */
#define HALF_EXTENT 0.5                  /* share of an extent: two centres that far apart may be the same thing */
#define ROUNDING_M 1e-6                  /* more than two sums of metres differ by rounding */
#define NO_MATCH FLT_MAX                 /* cost of a pair outside the gate; NO_MATCH + OTHER_COST is the same */
#define LOST_NS (PLX_NS_PER_S / 2)       /* a LOST track is extrapolated for this long at most, at any rate */
#define GAP_NS (2 * PLX_NS_PER_S)        /* after a longer gap between two frames all tracks end */
#define NEAREST_M 0.05                   /* smallest extrapolated distance to the camera */
#define PREDICTION_NS (PLX_NS_PER_S / 2) /* after a longer gap nothing is predicted for the stages */
#define PREDICTION_HITS 2                /* frames in which a track was matched before it is predicted: one may be noise */
#define BOX_MARGIN_PX 4                  /* the sides of a thing move by so much from frame to frame, as matching draws them, */
#define BOX_MARGIN_SHARE 0.03            /* its disparities by this share, */
#define BOX_MARGIN_STEP 4                /* and by 1/16 px: what a disparity is uncertain by */
#define BOX_LIMIT (double)(1 << 20)      /* pixels, and 1/16 px: beyond every image */

struct plx_tracks {
    struct plx_track_params params;
    uint32_t last_id;   /* the highest number given out */
    bool any;           /* there was a frame before, */
    int64_t capture_ns; /* captured then */
    int count;
    struct plx_track_camera camera;
    struct plx_track track[MAX_TRACKS];
    float cost[MAX_TRACKS][PLX_MAX_OBSTACLES];
    int obstacle_of[MAX_TRACKS]; /* -1 = none */
    int track_of[PLX_MAX_OBSTACLES];
    struct plx_track_cover cover[PLX_MAX_OBSTACLES];
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

/* Not seen often enough yet to be TRACKED, or LOST. */
static bool is_young(const struct plx_tracks *tracks, const struct plx_track *track)
{
    return track->seen < tracks->params.min_hits;
}

/* How far apart they are along AXIS beyond what their extents explain: the centre of what is seen of a large thing is no fixed
 * point. */
static double gap_along(const struct plx_track *track, const struct plx_obstacle *obstacle, int axis)
{
    const double apart = fabs((double)obstacle->position_m[axis] - track->state.position[axis]);
    const double now = (double)obstacle->extent_m[axis], extent = now > track->size.m[axis] ? now : track->size.m[axis];
    const double gap = apart - HALF_EXTENT * extent;
    return gap > 0 ? gap : 0;
}

/* Squared distance in standard deviations, what the boxes do not share, and unknown sides; NO_MATCH beyond the gate. PREDICTED:
 * the track where it would be now. */
static float cost_at(const struct plx_tracks *tracks, const struct plx_track *predicted,
                     const struct plx_calibration_info *calibration, const struct plx_obstacle *obstacle,
                     const struct plx_track_cover *cover)
{
    const double gate = tracks->params.gate_m, ahead = gap_along(predicted, obstacle, 2);
    double noise[9], position[3];

    if (!(ahead <= gate))
        return NO_MATCH;
    const double sideways = gap_along(predicted, obstacle, 0), down = gap_along(predicted, obstacle, 1);
    const double gap = sqrt(sideways * sideways + down * down + ahead * ahead);
    if (!(gap <= gate))
        return NO_MATCH;
    plx_track_locate(predicted, calibration, obstacle, cover, position);
    plx_track_noise(&tracks->camera, calibration, obstacle, &predicted->size, 1, noise);
    const double sigmas = plx_track_state_distance(&predicted->state, position, noise);
    const double overlap = plx_track_overlap(predicted, calibration, obstacle, cover);
    if (is_young(tracks, predicted) && predicted->missed > 0 && overlap < YOUNG_OVERLAP)
        return NO_MATCH; /* nothing else says that noise at one place and noise near it are one thing */
    if (sigmas > GATE_SIGMAS * GATE_SIGMAS && gap > MIN_GATE_M && overlap < MIN_OVERLAP)
        return NO_MATCH;
    return (float)(sigmas + OVERLAP_COST * (1 - overlap) + PART_COST * plx_track_unknown_sides(predicted));
}

/* A track may stand or move, whatever its filter has made of a part of it that came or went: the better of both. */
static void fill_costs(struct plx_tracks *tracks, const struct plx_calibration_info *calibration,
                       const struct plx_obstacle *obstacle, int count)
{
    for (int t = 0; t < tracks->count; t++) {
        const struct plx_track *moves = &tracks->track[t];
        struct plx_track stands = *moves;
        for (int i = 0; i < 3; i++)
            stands.state.position[i] -= moves->state.velocity[i] * (double)moves->lost_ns / PLX_NS_PER_S;
        const struct plx_track *likely = moves->moving ? moves : &stands, *other = moves->moving ? &stands : moves;
        const double apart = fabs(moves->state.position[2] - stands.state.position[2]);
        const double reach =
            tracks->params.gate_m + apart + ROUNDING_M; /* what is farther ahead or behind is no match of either */
        for (int k = 0; k < count; k++) {
            tracks->cost[t][k] = NO_MATCH;
            if (!(gap_along(likely, &obstacle[k], 2) <= reach)) /* most pairs */
                continue;
            float cost = cost_at(tracks, likely, calibration, &obstacle[k], &tracks->cover[k]);
            if (cost > OTHER_COST) /* else the other way cannot cost less */
                cost = fminf(cost, cost_at(tracks, other, calibration, &obstacle[k], &tracks->cover[k]) + OTHER_COST);
            tracks->cost[t][k] = cost;
        }
    }
}

/* Matches each track and obstacle that are each other's nearest among those that are free; false if there are none. */
static bool match_mutual(struct plx_tracks *tracks, int count)
{
    int nearest_track[PLX_MAX_OBSTACLES], nearest_obstacle[MAX_TRACKS];
    bool any = false;

    for (int k = 0; k < count; k++)
        nearest_track[k] = -1;
    for (int t = 0; t < tracks->count; t++) {
        nearest_obstacle[t] = -1;
        for (int k = 0; k < count && tracks->obstacle_of[t] < 0; k++) {
            const float cost = tracks->cost[t][k];
            if (cost == NO_MATCH || tracks->track_of[k] >= 0)
                continue;
            if (nearest_obstacle[t] < 0 || cost < tracks->cost[t][nearest_obstacle[t]])
                nearest_obstacle[t] = k;
            if (nearest_track[k] < 0 || cost < tracks->cost[nearest_track[k]][k])
                nearest_track[k] = t;
        }
    }
    for (int t = 0; t < tracks->count; t++) {
        const int k = nearest_obstacle[t];
        if (k < 0 || nearest_track[k] != t)
            continue;
        tracks->obstacle_of[t] = k;
        tracks->track_of[k] = t;
        any = true;
    }
    return any;
}

/* Nearest pair first: that order matches every pair whose members are each other's nearest, so each round matches all such
 * pairs. */
static void match_pairs(struct plx_tracks *tracks, int count)
{
    for (int t = 0; t < tracks->count; t++)
        tracks->obstacle_of[t] = -1;
    for (int k = 0; k < count; k++)
        tracks->track_of[k] = -1;
    while (match_mutual(tracks, count))
        ;
}

static void publish(const struct plx_tracks *tracks, const struct plx_track *track, struct plx_obstacle *ret)
{
    ret->track = track->id;
    ret->age_frames = track->age;
    ret->status = track->missed > 0 ? PLX_TRACK_LOST : is_young(tracks, track) ? PLX_TRACK_NEW : PLX_TRACK_TRACKED;
    plx_track_publish(track, &tracks->camera, ret);
}

/* The frames in a row that TRACK may miss: one, then one less than it was seen in. A thing that is seen in every second frame
 * goes on, and noise that was seen for a short time is not lost for a long one. */
static int allowed_misses(const struct plx_track *track, const struct plx_track_params *params)
{
    const int earned = track->seen > 2 ? track->seen - 1 : 1;
    return earned < params->max_missed ? earned : params->max_missed;
}

static bool is_over(const struct plx_track *track, const struct plx_track_params *params)
{
    return track->missed > allowed_misses(track, params) ||
           (track->missed > 0 && (track->lost_ns > LOST_NS || track->state.position[2] < NEAREST_M));
}

/* Removes tracks that are lost for too long or too near. */
static void end_tracks(struct plx_tracks *tracks)
{
    int kept = 0;
    for (int t = 0; t < tracks->count; t++) {
        const struct plx_track *track = &tracks->track[t];
        if (is_over(track, &tracks->params))
            continue;
        if (kept != t)
            tracks->track[kept] = *track;
        kept++;
    }
    tracks->count = kept;
}

/* A free slot; if there is none, that of the track with the most misses. */
static struct plx_track *new_slot(struct plx_tracks *tracks)
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
                        struct plx_obstacle *obstacle, const struct plx_track_cover *cover)
{
    struct plx_track *track = new_slot(tracks);
    if (++tracks->last_id == 0) /* 0 is not a valid number */
        tracks->last_id = 1;
    plx_track_begin(track, tracks->last_id, &tracks->camera, calibration, obstacle, cover);
    publish(tracks, track, obstacle);
}

/* A track without a match: its predicted position. */
static void publish_lost(const struct plx_tracks *tracks, const struct plx_track *track, struct plx_obstacle *ret)
{
    *ret = track->last;
    ret->label = 0;
    memset(ret->outline, 0, sizeof ret->outline);
    ret->confidence = ret->nearest_sigma_m = 0;
    for (int i = 0; i < 3; i++)
        ret->position_m[i] = (float)track->state.position[i];
    publish(tracks, track, ret);
}

/* Where the tracks are in the frame STEP_NS after the last. */
static void predict_all(struct plx_tracks *tracks, int64_t step_ns, const struct plx_motion_info *motion)
{
    const bool changed = plx_track_camera_update(&tracks->camera, motion, step_ns);

    for (int t = 0; t < tracks->count && step_ns > 0; t++)
        plx_track_predict(&tracks->track[t], &tracks->camera, changed, (double)step_ns / (double)PLX_NS_PER_S,
                          tracks->params.accel_mps2);
    for (int t = 0; t < tracks->count; t++) {
        tracks->track[t].age++;
        tracks->track[t].lost_ns += step_ns;
    }
}

void plx_tracks_update(struct plx_tracks *tracks, int64_t capture_ns, const struct plx_calibration_info *calibration,
                       const struct plx_motion_info *motion, struct plx_obstacle *obstacle, int *count, int capacity)
{
    const int seen = *count < PLX_MAX_OBSTACLES ? *count : PLX_MAX_OBSTACLES;
    const int64_t step_ns = tracks->any && capture_ns > tracks->capture_ns ? capture_ns - tracks->capture_ns : 0;
    tracks->any = true;
    tracks->capture_ns = capture_ns;

    if (step_ns > GAP_NS)
        tracks->count = 0;
    predict_all(tracks, step_ns, motion);
    plx_track_cover_find(calibration, obstacle, seen, tracks->cover);
    fill_costs(tracks, calibration, obstacle, seen);
    match_pairs(tracks, seen);
    for (int t = 0; t < tracks->count; t++) {
        const int k = tracks->obstacle_of[t];
        if (k < 0) {
            tracks->track[t].missed++;
            continue;
        }
        plx_track_correct(&tracks->track[t], &tracks->camera, calibration, &obstacle[k], &tracks->cover[k]);
        publish(tracks, &tracks->track[t], &obstacle[k]);
    }
    end_tracks(tracks);
    for (int t = 0; t < tracks->count && *count < capacity; t++)
        if (tracks->track[t].missed > 0 && !is_young(tracks, &tracks->track[t]))
            publish_lost(tracks, &tracks->track[t], &obstacle[(*count)++]);
    for (int k = 0; k < seen; k++)
        if (tracks->track_of[k] < 0)
            begin_track(tracks, calibration, &obstacle[k], &tracks->cover[k]);
}

/* --- predictions for the stages ------------------------------------------------------------------------------------------- */

static int32_t whole(double value)
{
    return (int32_t)floor(fmin(fmax(value, -BOX_LIMIT), BOX_LIMIT));
}

static void predict_position(const struct plx_track *track, const struct plx_track_camera *camera, double dt,
                             double ret_position[3])
{
    struct plx_pose now_from_then;

    for (int i = 0; i < 3; i++)
        ret_position[i] = track->state.position[i] + (track->moving ? track->state.velocity[i] * dt : 0);
    if (!camera->known || !(camera->seconds > 0))
        return;
    plx_pose_scale(&camera->step, dt / camera->seconds, &now_from_then);
    plx_pose_invert(&now_from_then, &now_from_then);
    plx_pose_apply(&now_from_then, ret_position, ret_position);
}

/* The box of TRACK, which was matched in the last frame, DT seconds after that frame: a camera that goes on as in its last step
 * sees a thing that stands, or that moves on if it is moving. False if the thing would be too near to be seen. */
static bool predict_box(const struct plx_track *track, const struct plx_track_camera *camera,
                        const struct plx_calibration_info *calibration, double dt, struct plx_predicted_box *ret_box)
{
    const struct plx_obstacle *last = &track->last;
    const double one_m = plx_depth_scale_m(calibration); /* the disparity of a metre */
    double position[3];

    predict_position(track, camera, dt, position);
    const double nearest = (double)last->nearest_m + position[2] - (double)last->position_m[2];
    const double farthest = nearest + fmax(0, (double)last->extent_m[2]);
    if (!((double)last->position_m[2] > 0 && position[2] > NEAREST_M && nearest > NEAREST_M))
        return false;
    const struct plx_track_box box = plx_track_box_at(track, calibration, position);
    *ret_box = (struct plx_predicted_box){.left = whole(box.left - BOX_MARGIN_PX),
                                          .right = whole(box.right + BOX_MARGIN_PX),
                                          .top = whole(box.top - BOX_MARGIN_PX),
                                          .bottom = whole(box.bottom + BOX_MARGIN_PX),
                                          .far_disparity = whole(one_m / farthest * (1 - BOX_MARGIN_SHARE) - BOX_MARGIN_STEP),
                                          .near_disparity = whole(one_m / nearest * (1 + BOX_MARGIN_SHARE) + BOX_MARGIN_STEP)};
    return true;
}

void plx_tracks_predict(const struct plx_tracks *tracks, int64_t capture_ns, const struct plx_calibration_info *calibration,
                        struct plx_predictions *ret_predictions)
{
    const int64_t step_ns = tracks->any ? capture_ns - tracks->capture_ns : 0;
    const double seconds = (double)step_ns / (double)PLX_NS_PER_S;
    int count = 0;

    for (int t = 0; t < tracks->count && step_ns > 0 && step_ns <= PREDICTION_NS && count < PLX_MAX_OBSTACLES; t++) {
        const struct plx_track *track = &tracks->track[t];
        if (track->missed == 0 && track->seen >= PREDICTION_HITS)
            count += predict_box(track, &tracks->camera, calibration, seconds, &ret_predictions->box[count]);
    }
    ret_predictions->count = count;
}
