/* SPDX-License-Identifier: Apache-2.0 */
/* What is true of a moment of the synthetic scene: the disparity of each pixel, and where the objects are. */
#ifndef PLX_TESTS_SCENE_TRUTH_H
#define PLX_TESTS_SCENE_TRUTH_H

#include "drivers/synthetic/scene.h"

struct scene_truth {
    int object_count;
    struct scene_truth_object {
        int index;                                   /* into scene.object */
        double x, y, z;                              /* centre of the front face, camera axes, metres */
        double width, height;                        /* metres */
        double velocity[3];                          /* over the ground, camera axes, m/s */
        double visible_ratio;                        /* the part of its front face that the left image shows, 0..1 */
        int box_x, box_y, box_width, box_height;     /* visible pixels of its front face; width 0 if there are none */
        int full_x, full_y, full_width, full_height; /* the same for the whole box, with sides and top */
    } object[PLX_SCENE_MAX_OBJECTS];
};

/* True disparity of the left image in 1/16 px, relative to a min_disparity of 0 (U16, 0xFFFF = sky, or beyond the range of the
 * type), whether or not the right eye sees the point too; and the objects, all of them, in the scene's order. Either may be
 * NULL. ARG, RANGE. */
int scene_truth(const struct plx_scene *scene, double time_s, const struct plx_image *ret_disparity,
                struct scene_truth *ret_truth);

#endif
