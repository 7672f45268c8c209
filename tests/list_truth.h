/* SPDX-License-Identifier: Apache-2.0 */
/* Which object of a synthetic scene each obstacle of a list is on, by the pixels of its label: for measures of the list. */
#ifndef PLX_TESTS_LIST_TRUTH_H
#define PLX_TESTS_LIST_TRUTH_H

#include <stdbool.h>
#include <stdint.h>

#include <parallax/frame.h>

#include "drivers/synthetic/scene.h"

#define LIST_TRUTH_NONE (-1)

/* What the left image shows at one moment. */
struct list_truth {
    int width, height;
    float *depth_m;                          /* [height][width], along the optical axis */
    int16_t *object;                         /* likewise: index into scene.object, or LIST_TRUTH_NONE for ground and sky */
    int pixels[PLX_SCENE_MAX_OBJECTS];       /* that show the object */
    double nearest_m[PLX_SCENE_MAX_OBJECTS]; /* distance of these pixels; INFINITY without any */
};

/* What one obstacle is on. */
struct list_owner {
    int object;     /* LIST_TRUTH_NONE: nothing, or the obstacle has no label */
    bool is_joined; /* its pixels show two objects with a gap in depth between them */
};

/* Exits without memory. */
void list_truth_create(int width, int height, struct list_truth *ret_truth);
void list_truth_destroy(struct list_truth *truth);

/* Fills TRUTH, of the scene's size. */
void list_truth_see(struct list_truth *truth, const struct plx_scene *scene, double time_s);

/* The owner of each obstacle of FRAME, which has labels and the disparities of the scene that TRUTH shows. */
void list_truth_find_owners(const struct list_truth *truth, struct plx_frame *frame,
                            struct list_owner ret_owner[PLX_MAX_OBSTACLES]);

#endif
