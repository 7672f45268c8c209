/* SPDX-License-Identifier: Apache-2.0 */
/* Rendered surfaces that face the camera, at any distance and in any light, and how far disparities lie from them. */
#ifndef PLX_TESTS_FACING_SCENE_H
#define PLX_TESTS_FACING_SCENE_H

#include <stdbool.h>

#include "oracle/matching.h"

#define FACING_DISPARITIES 64

enum facing_surface { FACING_BOX, FACING_POLE, FACING_WALL, FACING_SURFACES };
extern const char *const facing_surface_name[FACING_SURFACES];
enum facing_output { FACING_STRICT, FACING_DENSE, FACING_STIXELS, FACING_OUTPUTS };
extern const char *const facing_output_name[FACING_OUTPUTS];

/* The right picture is GAIN times as bright. */
struct facing_look {
    double contrast, noise, gain;
};

/* Mean of the errors below 1.5 px, px. */
struct facing_bias {
    double px;
    int count; /* pixels, or stixels */
};

struct facing_scene;

/* Memory for scenes, and a backend for them. Exits without memory. */
struct facing_scene *facing_scene_create(void);
void facing_scene_destroy(struct facing_scene *scene);

/* Renders a wall, else a box and a pole, DISTANCE_M away. SEED: of textures and noise. */
void facing_scene_render(struct facing_scene *scene, bool wall, double distance_m, const struct facing_look *look, int seed);

/* Matches the pictures with MATCH, whose disparities are FACING_DISPARITIES. Count 0: an output that a surface has not. */
void facing_scene_measure(struct facing_scene *scene, const struct plx_match *match,
                          struct facing_bias ret_bias[FACING_SURFACES][FACING_OUTPUTS]);

#endif
