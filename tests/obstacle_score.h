/* SPDX-License-Identifier: Apache-2.0 */
/* Compares lists of obstacles with the truth of the synthetic scene, over many frames. docs/obstacles-accuracy.md defines the
 * measures. */
#ifndef PLX_TESTS_OBSTACLE_SCORE_H
#define PLX_TESTS_OBSTACLE_SCORE_H

#include <stdbool.h>

#include <parallax/frame.h>

#include "tests/scene_truth.h"

#define SCORE_MAX_FRAMES 1000

/* Relative errors of one object, a value a frame. */
struct errors {
    double value[SCORE_MAX_FRAMES];
    int count;
};

struct object_score {
    int counted, found; /* frames */
    int ids;            /* track ids that it has had, beyond the first: changes of identity */
    uint32_t id;
    int steady; /* frames for which it has been seen whole, with one velocity */
    double velocity[3];
    double bias[3]; /* sum of the velocity's error, m/s */
    struct errors distance, width, height, velocity_error;
};

struct obstacle_score {
    double near_m, far_m; /* objects between count */
    int frames, false_frames, false_obstacles;
    int joined_frames; /* with an obstacle that holds two objects more than a metre apart in depth */
    struct object_score object[PLX_SCENE_MAX_OBJECTS];
};

void score_begin(struct obstacle_score *score, double near_m, double far_m);
/* One frame: its obstacles and what is there. */
void score_add(struct obstacle_score *score, const struct plx_scene *scene, const struct scene_truth *truth,
               const struct plx_obstacle *obstacle, int count);

double errors_mean(const struct errors *errors);
/* PERCENT 0..100; 0 if there are none */
double errors_percentile(struct errors *errors, int percent);

/* Prints a row for each object, and the false ones. */
void score_print(struct obstacle_score *score);

#endif
