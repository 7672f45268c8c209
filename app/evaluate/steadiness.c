/* SPDX-License-Identifier: Apache-2.0 */
#include "app/evaluate/steadiness.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "app/view/json.h"
#include "core/motion/pose.h"
#include "core/tracks/confirmed.h"

#define CONTINUES 0.3     /* a thing continues in the obstacle whose box shares this with its own, moved as if it stood, */
#define SAME_DISTANCE 0.1 /* if its distance is this near to the expected one */
#define MAX_SPEEDS (1 << 16)
#define SHORT_FRAMES 2 /* a thing that a list shows for so few frames flickers */
#define MIN_CAPACITY 256

/* The life of one track so far. */
struct life {
    uint32_t track;
    int seen, shown;           /* frames */
    int last_seen, last_shown; /* frame */
};

struct speed {
    double mps;
    bool is_moving; /* as published */
};

struct plx_steadiness {
    int frames;
    uint32_t continued[2], changed[2]; /* the nearest obstacle, and all */
    struct life *life;                 /* [capacity], by track */
    uint32_t life_count, capacity;
    int speeds;
    struct speed speed[MAX_SPEEDS]; /* over the ground, of TRACKED obstacles */
    struct plx_confirmed confirmed; /* confirmed obstacles of the last frame */
    int before_count;
    struct plx_obstacle before[PLX_MAX_OBSTACLES]; /* the last frame's visible ones */
};

int plx_steadiness_create(struct plx_steadiness **ret_steadiness)
{
    struct plx_steadiness *steadiness = calloc(1, sizeof *steadiness);

    if (!steadiness)
        return PLX_ERR_NOMEM;
    *ret_steadiness = steadiness;
    return 0;
}

void plx_steadiness_destroy(struct plx_steadiness *steadiness)
{
    if (steadiness)
        free(steadiness->life);
    free(steadiness);
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

/* In the order of the frame before: the nearest counts twice, in [0] too. */
static void compare_identities(struct plx_steadiness *steadiness, const struct plx_frame *frame,
                               const struct plx_pose *then_from_now)
{
    struct plx_pose now_from_then;
    int nearest = 0;

    plx_pose_invert(then_from_now, &now_from_then);
    for (int i = 1; i < steadiness->before_count; i++)
        if (steadiness->before[i].nearest_m < steadiness->before[nearest].nearest_m)
            nearest = i;
    for (int i = 0; i < steadiness->before_count; i++) {
        const struct plx_obstacle *now = continuation(frame, &now_from_then, &steadiness->before[i]);
        for (int all = i == nearest ? 0 : 1; now && all < 2; all++) {
            steadiness->continued[all]++;
            steadiness->changed[all] += now->track != steadiness->before[i].track;
        }
    }
}

/* The place of TRACK in steadiness->life, or where it belongs. Its neighbours are near the end: numbers grow. */
static uint32_t place_of(const struct plx_steadiness *steadiness, uint32_t track)
{
    uint32_t begin = 0, end = steadiness->life_count;
    while (begin < end) {
        const uint32_t middle = begin + (end - begin) / 2;
        if (steadiness->life[middle].track < track)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

/* NULL: out of memory. */
static struct life *life_of(struct plx_steadiness *steadiness, uint32_t track)
{
    const uint32_t place = place_of(steadiness, track);
    if (place < steadiness->life_count && steadiness->life[place].track == track)
        return &steadiness->life[place];
    if (steadiness->life_count == steadiness->capacity) {
        const uint32_t capacity = steadiness->capacity ? 2 * steadiness->capacity : MIN_CAPACITY;
        struct life *larger = realloc(steadiness->life, capacity * sizeof *larger);
        if (!larger)
            return NULL;
        steadiness->life = larger;
        steadiness->capacity = capacity;
    }
    struct life *life = &steadiness->life[place];
    memmove(life + 1, life, (steadiness->life_count++ - place) * sizeof *life);
    *life = (struct life){.track = track};
    return life;
}

static void add_speed(struct plx_steadiness *steadiness, const struct plx_obstacle *o)
{
    if (o->status != PLX_TRACK_TRACKED || o->world_velocity_variance[0] <= 0 || steadiness->speeds == MAX_SPEEDS)
        return;
    steadiness->speed[steadiness->speeds++] = (struct speed){
        .mps = hypot((double)o->world_velocity_mps[0], (double)o->world_velocity_mps[2]), .is_moving = o->moving != 0};
}

static int add_obstacle(struct plx_steadiness *steadiness, const struct plx_obstacle *o)
{
    struct life *life = life_of(steadiness, o->track);
    if (!life)
        return PLX_ERR_NOMEM;
    if (plx_confirmed_shows(&steadiness->confirmed, o)) {
        life->shown++;
        life->last_shown = steadiness->frames;
    }
    if (o->status == PLX_TRACK_LOST)
        return 0;
    life->seen++;
    life->last_seen = steadiness->frames;
    add_speed(steadiness, o);
    steadiness->before[steadiness->before_count++] = *o;
    return 0;
}

int plx_steadiness_add(struct plx_steadiness *steadiness, const struct plx_frame *frame, const struct plx_pose *then_from_now)
{
    int result = 0;

    if (then_from_now)
        compare_identities(steadiness, frame, then_from_now);
    steadiness->before_count = 0;
    steadiness->frames++;
    for (uint32_t i = 0; i < frame->obstacle_count && result == 0; i++)
        result = add_obstacle(steadiness, &frame->obstacle[i]);
    plx_confirmed_keep(&steadiness->confirmed, frame->obstacle, frame->obstacle_count);
    return result;
}

static int by_speed(const void *a, const void *b)
{
    const double left = ((const struct speed *)a)->mps, right = ((const struct speed *)b)->mps;
    return (left > right) - (left < right);
}

/* Sorted speeds, ALL or those of what is not called moving: the one that SHARE of them do not exceed; NAN if there are none. */
static double quantile(const struct plx_steadiness *steadiness, bool all, double share)
{
    int count = 0, rank;

    for (int i = 0; i < steadiness->speeds; i++)
        count += all || !steadiness->speed[i].is_moving;
    rank = (int)(share * (count - 1));
    for (int i = 0; i < steadiness->speeds && count > 0; i++)
        if ((all || !steadiness->speed[i].is_moving) && rank-- == 0)
            return steadiness->speed[i].mps;
    return NAN;
}

static double percent(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : NAN;
}

/* What ends with the last frame may go on: it is not short. */
static void count_lives(const struct plx_steadiness *steadiness, struct plx_steadiness_figures *f)
{
    uint64_t seen = 0;

    for (uint32_t i = 0; i < steadiness->life_count; i++) {
        const struct life *life = &steadiness->life[i];
        seen += (uint64_t)life->seen;
        f->tracks += life->seen > 0;
        f->one_frame += life->seen == 1 && life->last_seen < steadiness->frames;
        f->shown += life->shown > 0;
        f->shown_short += life->shown > 0 && life->shown <= SHORT_FRAMES && life->last_shown < steadiness->frames;
    }
    f->life_frames = f->tracks > 0 ? (double)seen / f->tracks : NAN;
}

void plx_steadiness_figures(struct plx_steadiness *steadiness, struct plx_steadiness_figures *ret_figures)
{
    struct plx_steadiness_figures f = {.frames = steadiness->frames, .speeds = (uint32_t)steadiness->speeds};

    count_lives(steadiness, &f);
    f.continued_nearest = steadiness->continued[0];
    f.continued = steadiness->continued[1];
    f.changed_nearest_percent = percent(steadiness->changed[0], steadiness->continued[0]);
    f.changed_percent = percent(steadiness->changed[1], steadiness->continued[1]);
    qsort(steadiness->speed, (size_t)steadiness->speeds, sizeof steadiness->speed[0], by_speed);
    for (int i = 0; i < steadiness->speeds; i++)
        f.moving += steadiness->speed[i].is_moving;
    f.speed_median_mps = quantile(steadiness, true, 0.5);
    f.speed_p95_mps = quantile(steadiness, true, 0.95);
    f.standing_p95_mps = quantile(steadiness, false, 0.95);
    *ret_figures = f;
}

void plx_steadiness_print(struct plx_steadiness *steadiness)
{
    struct plx_steadiness_figures f;

    plx_steadiness_figures(steadiness, &f);
    printf("id changes         nearest %.1f %% of %u, all %.1f %% of %u (things that continue as if they stood)\n",
           f.changed_nearest_percent, f.continued_nearest, f.changed_percent, f.continued);
    printf("tracks             %u, %u of one frame; %.1f frames (mean)\n", f.tracks, f.one_frame, f.life_frames);
    printf("shown in a list    %u, %u of them for at most %d frames (confirmed things, a lost one for one frame more)\n",
           f.shown, f.shown_short, SHORT_FRAMES);
    printf(
        "world velocity     median %.2f, p95 %.2f m/s of %u tracked obstacles; %u of them moving; p95 %.2f m/s of the others\n",
        f.speed_median_mps, f.speed_p95_mps, f.speeds, f.moving, f.standing_p95_mps);
}

cJSON *plx_steadiness_json(struct plx_steadiness *steadiness)
{
    struct plx_steadiness_figures f;
    cJSON *item = cJSON_CreateObject();

    plx_steadiness_figures(steadiness, &f);
    cJSON_AddItemToObject(item, "id_changes_nearest_percent", plx_json_number(f.changed_nearest_percent, 2));
    cJSON_AddItemToObject(item, "id_changes_percent", plx_json_number(f.changed_percent, 2));
    cJSON_AddNumberToObject(item, "tracks", f.tracks);
    cJSON_AddNumberToObject(item, "one_frame", f.one_frame);
    cJSON_AddItemToObject(item, "life_frames", plx_json_number(f.life_frames, 2));
    cJSON_AddNumberToObject(item, "shown", f.shown);
    cJSON_AddNumberToObject(item, "shown_short", f.shown_short);
    cJSON_AddItemToObject(item, "world_velocity_median_mps", plx_json_number(f.speed_median_mps, 3));
    cJSON_AddItemToObject(item, "world_velocity_p95_mps", plx_json_number(f.speed_p95_mps, 3));
    cJSON_AddItemToObject(item, "world_velocity_standing_p95_mps", plx_json_number(f.standing_p95_mps, 3));
    cJSON_AddNumberToObject(item, "tracked", f.speeds);
    cJSON_AddNumberToObject(item, "moving", f.moving);
    return item;
}
