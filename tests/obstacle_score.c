/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/obstacle_score.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIN_VISIBLE 0.5    /* share of the front face, for an object to count as in view */
#define WHOLE_VISIBLE 0.97 /* to be measured in width and velocity */
#define SETTLED_FRAMES 45  /* seen whole, before the velocity is judged */
#define JOINED_M 1.0       /* apart in depth, two objects are not one obstacle */
#define MIN_SPEED_MPS 0.1  /* slower ones have no relative error */

void score_begin(struct obstacle_score *score, double near_m, double far_m)
{
    memset(score, 0, sizeof *score);
    score->near_m = near_m;
    score->far_m = far_m;
}

static void errors_add(struct errors *errors, double value)
{
    if (errors->count < SCORE_MAX_FRAMES)
        errors->value[errors->count++] = value;
}

double errors_mean(const struct errors *errors)
{
    double sum = 0;
    for (int i = 0; i < errors->count; i++)
        sum += errors->value[i];
    return errors->count > 0 ? sum / errors->count : 0;
}

static int ascending(const void *a, const void *b)
{
    const double p = *(const double *)a, q = *(const double *)b;
    return (p > q) - (p < q);
}

double errors_percentile(struct errors *errors, int percent)
{
    if (errors->count == 0)
        return 0;
    qsort(errors->value, (size_t)errors->count, sizeof errors->value[0], ascending);
    return errors->value[(errors->count - 1) * percent / 100];
}

/* True if the obstacle is on the object: within its width and depth, give or take a tenth of the distance. */
static bool on_object(const struct plx_obstacle *obstacle, const struct scene_truth_object *object, double depth)
{
    const double slack = 0.1 * object->z;
    const double x = (double)obstacle->position_m[0], z = (double)obstacle->position_m[2];
    return fabs(x - object->x) <= object->width / 2 + slack && z >= object->z - slack && z <= object->z + depth + slack;
}

/* The largest obstacle on the object whose distance is that of its front. */
static const struct plx_obstacle *find(const struct scene_truth_object *object, const struct plx_obstacle *obstacle, int count)
{
    const struct plx_obstacle *best = NULL;
    for (int i = 0; i < count; i++)
        if (obstacle[i].status != PLX_TRACK_LOST && on_object(&obstacle[i], object, 0) &&
            (!best || obstacle[i].area_px > best->area_px))
            best = &obstacle[i];
    return best;
}

static bool in_image(const struct plx_scene *scene, const struct scene_truth_object *object)
{
    return object->full_x > 0 && object->full_x + object->full_width < scene->width;
}

static bool same(const double a[3], const double b[3])
{
    return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
}

static void judge_velocity(struct object_score *score, const struct scene_truth_object *object,
                           const struct plx_obstacle *obstacle)
{
    double error = 0, speed = 0;
    for (int i = 0; i < 3; i++) {
        const double difference = (double)obstacle->velocity_mps[i] - object->velocity[i];
        score->bias[i] += difference;
        error += difference * difference;
        speed += object->velocity[i] * object->velocity[i];
    }
    speed = sqrt(speed);
    errors_add(&score->velocity_error, sqrt(error) / (speed >= MIN_SPEED_MPS ? speed : 1));
}

static void score_object(struct obstacle_score *all, const struct plx_scene *scene, const struct scene_truth_object *object,
                         const struct plx_obstacle *obstacle, int count)
{
    struct object_score *score = &all->object[object->index];
    if (object->visible_ratio < MIN_VISIBLE || object->z < all->near_m || object->z > all->far_m || !in_image(scene, object)) {
        score->steady = 0;
        score->id = 0; /* out of view: it may come back as another */
        return;
    }
    const struct plx_obstacle *seen = find(object, obstacle, count);
    score->counted++;
    if (!seen)
        return;
    score->found++;
    score->ids += score->id != 0 && score->id != seen->track;
    score->id = seen->track;
    errors_add(&score->distance, fabs((double)seen->position_m[2] / object->z - 1));

    const bool steady = object->visible_ratio >= WHOLE_VISIBLE && same(score->velocity, object->velocity);
    memcpy(score->velocity, object->velocity, sizeof score->velocity);
    score->steady = steady ? score->steady + 1 : 0;
    if (object->visible_ratio >= WHOLE_VISIBLE) {
        errors_add(&score->width, fabs((double)seen->extent_m[0] / object->width - 1));
        errors_add(&score->height, fabs((double)seen->height_m / scene->object[object->index].height - 1));
    }
    if (score->steady >= SETTLED_FRAMES)
        judge_velocity(score, object, seen);
}

/* True if OBSTACLE has the object in its box, half of its visible width or more, and in its depth. */
static bool holds(const struct plx_obstacle *obstacle, const struct scene_truth_object *object)
{
    const int x0 = obstacle->x > object->box_x ? obstacle->x : object->box_x;
    const int x1 = obstacle->x + obstacle->width, end = object->box_x + object->box_width;
    const double near = (double)obstacle->nearest_m, far = near + (double)obstacle->extent_m[2];
    return object->box_width > 0 && 2 * ((x1 < end ? x1 : end) - x0) >= object->box_width && object->z >= near * 0.95 &&
           object->z <= far * 1.05;
}

static bool joins(const struct plx_obstacle *obstacle, const struct scene_truth *truth)
{
    double near = INFINITY, far = 0;
    for (int k = 0; k < truth->object_count; k++)
        if (holds(obstacle, &truth->object[k])) {
            near = fmin(near, truth->object[k].z);
            far = fmax(far, truth->object[k].z);
        }
    return obstacle->status != PLX_TRACK_LOST && far - near > JOINED_M;
}

void score_add(struct obstacle_score *score, const struct plx_scene *scene, const struct scene_truth *truth,
               const struct plx_obstacle *obstacle, int count)
{
    int wrong = 0;
    bool joined = false;
    for (int i = 0; i < count; i++) {
        bool real = obstacle[i].status == PLX_TRACK_LOST;
        for (int k = 0; k < truth->object_count && !real; k++)
            real = on_object(&obstacle[i], &truth->object[k], scene->object[truth->object[k].index].depth);
        wrong += !real;
        joined |= joins(&obstacle[i], truth);
    }
    for (int k = 0; k < truth->object_count; k++)
        score_object(score, scene, &truth->object[k], obstacle, count);
    score->frames++;
    score->false_obstacles += wrong;
    score->false_frames += wrong > 0;
    score->joined_frames += joined;
}

void score_print(struct obstacle_score *score)
{
    printf("object  frames  found %%   distance %% (p95)   width %% (p95)  height %% (p95)  id changes   velocity %% (p95)\n");
    for (int i = 0; i < PLX_SCENE_MAX_OBJECTS; i++) {
        struct object_score *o = &score->object[i];
        if (o->counted == 0)
            continue;
        printf("%6d  %6d   %6.2f    %6.2f (%6.2f)  %6.2f (%6.2f)   %6.2f (%6.2f)  %10d    %6.2f (%6.2f) of %d\n", i, o->counted,
               100.0 * o->found / o->counted, 100 * errors_mean(&o->distance), 100 * errors_percentile(&o->distance, 95),
               100 * errors_mean(&o->width), 100 * errors_percentile(&o->width, 95), 100 * errors_mean(&o->height),
               100 * errors_percentile(&o->height, 95), o->ids, 100 * errors_mean(&o->velocity_error),
               100 * errors_percentile(&o->velocity_error, 95), o->velocity_error.count);
    }
    printf("false obstacles: %d, in %d of %d frames (%.2f %% without)\n", score->false_obstacles, score->false_frames,
           score->frames, 100.0 * (score->frames - score->false_frames) / score->frames);
    printf("frames with joined objects: %d\n", score->joined_frames);
}
