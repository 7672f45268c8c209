/* SPDX-License-Identifier: Apache-2.0 */
#include "app/evaluate/track_measures.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "app/view/json.h"
#include "core/motion/pose.h"

#define CONTINUES 0.3     /* a thing continues in the obstacle whose box shares this with its own, moved as if it stood, */
#define SAME_DISTANCE 0.1 /* if its distance is this near to the expected one */
#define MAX_SPEEDS (1 << 16)

struct plx_track_measures {
    int frames;
    int continued[2], changed[2]; /* of the nearest obstacle, and of all */
    uint32_t tracks, one_frame;   /* that ended or live; of those, seen in a single frame */
    uint64_t seen;                /* obstacles with a track: frames of all tracks together */
    int speeds, moving;
    double speed[MAX_SPEEDS]; /* over the ground, of TRACKED obstacles */
    int before_count;
    struct plx_obstacle before[PLX_MAX_OBSTACLES]; /* of the last frame, the visible ones */
};

int plx_track_measures_create(struct plx_track_measures **ret_measures)
{
    struct plx_track_measures *measures = calloc(1, sizeof *measures);

    if (!measures)
        return PLX_ERR_NOMEM;
    *ret_measures = measures;
    return 0;
}

void plx_track_measures_destroy(struct plx_track_measures *measures)
{
    free(measures);
}

/* Moves the box of OBSTACLE to where a standing thing would be now; returns its distance z then. */
static double stand(const struct plx_calibration_info *c, const struct plx_pose *now_from_then,
                    const struct plx_obstacle *obstacle, double ret_box[4])
{
    const double then[3] = {(double)obstacle->position_m[0], (double)obstacle->position_m[1], (double)obstacle->position_m[2]};
    double now[3];

    plx_pose_apply(now_from_then, then, now);
    const double scale = then[2] / now[2];
    const double u = then[0] / then[2] * c->fx + c->cx, v = then[1] / then[2] * c->fy + c->cy;
    ret_box[0] = now[0] / now[2] * c->fx + c->cx + (obstacle->x - u) * scale;
    ret_box[1] = now[1] / now[2] * c->fy + c->cy + (obstacle->y - v) * scale;
    ret_box[2] = obstacle->width * scale;
    ret_box[3] = obstacle->height * scale;
    return now[2];
}

/* Cuts BOX to the picture. */
static void clip(const struct plx_frame *frame, double box[4])
{
    const double limit[2] = {frame->width, frame->height};

    for (int i = 0; i < 2; i++) {
        const double end = fmin(limit[i], box[i] + box[i + 2]);
        box[i] = fmax(0, box[i]);
        box[i + 2] = fmax(0, end - box[i]);
    }
}

static double overlap(const double box[4], const struct plx_obstacle *o)
{
    const double wide = fmin(box[0] + box[2], o->x + o->width) - fmax(box[0], o->x);
    const double high = fmin(box[1] + box[3], o->y + o->height) - fmax(box[1], o->y);
    const double both = wide > 0 && high > 0 ? wide * high : 0;

    return both / (box[2] * box[3] + (double)o->width * o->height - both);
}

/* The obstacle of FRAME in which BEFORE continues; NULL if there is none. */
static const struct plx_obstacle *continuation(const struct plx_frame *frame, const struct plx_pose *now_from_then,
                                               const struct plx_obstacle *before)
{
    const struct plx_obstacle *best = NULL;
    double box[4], most = CONTINUES;
    const double z = stand(&frame->calibration, now_from_then, before, box);
    clip(frame, box);

    for (uint32_t i = 0; i < frame->obstacle_count && z > 0; i++) {
        const struct plx_obstacle *o = &frame->obstacle[i];
        if (o->status == PLX_TRACK_LOST || fabs((double)o->position_m[2] - z) > SAME_DISTANCE * z)
            continue;
        const double share = overlap(box, o);
        if (share >= most) {
            most = share;
            best = o;
        }
    }
    return best;
}

static void compare_identities(struct plx_track_measures *measures, const struct plx_frame *frame,
                               const struct plx_pose *true_step)
{
    struct plx_pose now_from_then;
    int nearest = 0;

    plx_pose_invert(true_step, &now_from_then);
    for (int i = 1; i < measures->before_count; i++)
        if (measures->before[i].nearest_m < measures->before[nearest].nearest_m)
            nearest = i;
    for (int i = 0; i < measures->before_count; i++) {
        const struct plx_obstacle *now = continuation(frame, &now_from_then, &measures->before[i]);
        for (int all = i == nearest ? 0 : 1; now && all < 2; all++) {
            measures->continued[all]++;
            measures->changed[all] += now->track != measures->before[i].track;
        }
    }
}

static void count_obstacle(struct plx_track_measures *measures, const struct plx_obstacle *o)
{
    measures->seen++;
    measures->tracks += o->age_frames == 1;
    measures->one_frame += o->age_frames == 1;
    measures->one_frame -= o->age_frames == 2; /* a new track ends at its first miss: this one was seen in frame one */
    if (o->status != PLX_TRACK_TRACKED || o->world_velocity_variance[0] <= 0 || measures->speeds == MAX_SPEEDS)
        return;
    measures->moving += o->moving != 0;
    measures->speed[measures->speeds++] = hypot((double)o->world_velocity_mps[0], (double)o->world_velocity_mps[2]);
}

void plx_track_measures_add(struct plx_track_measures *measures, const struct plx_frame *frame,
                            const struct plx_pose *true_step)
{
    compare_identities(measures, frame, true_step);
    measures->before_count = 0;
    for (uint32_t i = 0; i < frame->obstacle_count; i++) {
        if (frame->obstacle[i].status == PLX_TRACK_LOST)
            continue;
        count_obstacle(measures, &frame->obstacle[i]);
        measures->before[measures->before_count++] = frame->obstacle[i];
    }
    measures->frames++;
}

static int compare(const void *a, const void *b)
{
    const double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* Sorted speeds: the one that SHARE of them do not exceed; NAN if there are none. */
static double quantile(const struct plx_track_measures *measures, double share)
{
    return measures->speeds > 0 ? measures->speed[(int)(share * (measures->speeds - 1))] : NAN;
}

static double percent(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : NAN;
}

void plx_track_measures_print(struct plx_track_measures *measures)
{
    const struct plx_track_measures *m = measures;

    qsort(measures->speed, (size_t)measures->speeds, sizeof measures->speed[0], compare);
    printf("id changes         nearest %.1f %% of %d, all %.1f %% of %d (things that continue as if they stood)\n",
           percent(m->changed[0], m->continued[0]), m->continued[0], percent(m->changed[1], m->continued[1]), m->continued[1]);
    printf("tracks             %u, %u of one frame; %.1f frames (mean)\n", m->tracks, m->one_frame,
           m->tracks > 0 ? (double)m->seen / m->tracks : NAN);
    printf("world velocity     median %.2f, p95 %.2f m/s of %d tracked obstacles; %d of them moving\n", quantile(m, 0.5),
           quantile(m, 0.95), m->speeds, m->moving);
}

cJSON *plx_track_measures_json(struct plx_track_measures *measures)
{
    const struct plx_track_measures *m = measures;
    cJSON *item = cJSON_CreateObject();

    qsort(measures->speed, (size_t)measures->speeds, sizeof measures->speed[0], compare);
    cJSON_AddItemToObject(item, "id_changes_nearest_percent", plx_json_number(percent(m->changed[0], m->continued[0]), 2));
    cJSON_AddItemToObject(item, "id_changes_percent", plx_json_number(percent(m->changed[1], m->continued[1]), 2));
    cJSON_AddNumberToObject(item, "tracks", m->tracks);
    cJSON_AddNumberToObject(item, "one_frame", m->one_frame);
    cJSON_AddItemToObject(item, "life_frames", plx_json_number(m->tracks > 0 ? (double)m->seen / m->tracks : NAN, 2));
    cJSON_AddItemToObject(item, "world_velocity_median_mps", plx_json_number(quantile(m, 0.5), 3));
    cJSON_AddItemToObject(item, "world_velocity_p95_mps", plx_json_number(quantile(m, 0.95), 3));
    cJSON_AddNumberToObject(item, "tracked", m->speeds);
    cJSON_AddNumberToObject(item, "moving", m->moving);
    return item;
}
