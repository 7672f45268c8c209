/* SPDX-License-Identifier: Apache-2.0 */
/* A street of textured planes with boxes in it, seen by a camera that moves: its left image, and the true disparity. */
#ifndef PLX_TESTS_MOTION_SCENE_H
#define PLX_TESTS_MOTION_SCENE_H

#include <stdint.h>

#include <parallax/frame.h>

#include "core/base/image.h"
#include "core/motion/pose.h"

#define MOTION_SCENE_BOXES 4
#define MOTION_SCENE_GROUND_M 1.5 /* below the camera of the start */
#define MOTION_SCENE_WALL_M 5.0   /* left and right of it */
#define MOTION_SCENE_END_M 60.0   /* ahead of it; the street ends there */

/* The front of a box that faces the street's beginning; X is its left side at time 0, axes of the camera of the start. */
struct motion_scene_box {
    double x, y, z, width, height; /* metres */
    double vx;                     /* m/s */
};

struct motion_scene {
    struct plx_calibration_info calibration;
    double light;           /* 1: well exposed; 0: black */
    double contrast;        /* contrast of the texture: 1; 0: blank */
    double noise;           /* grey levels, standard deviation */
    double disparity_noise; /* pixels, standard deviation */
    double holes;           /* share of the pixels without a disparity */
    int boxes;
    struct motion_scene_box box[MOTION_SCENE_BOXES];
};

/* A street for images of WIDTH x HEIGHT: focal length 0.8 WIDTH, baseline 0.12 m, noise of 1 grey level. */
void motion_scene_init(struct motion_scene *scene, int width, int height);

/* Draws LEFT U8 and DISPARITY U16 (0xFFFF beyond 128 px, and in holes), both of one size. STATE makes the noise. */
void motion_scene_render(const struct motion_scene *scene, const struct plx_pose *start_from_now, double time_s,
                         uint64_t *state, const struct plx_image *left, const struct plx_image *disparity);

#endif
