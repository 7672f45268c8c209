/* SPDX-License-Identifier: Apache-2.0 */
/* What a robot sees of the ground before it: 640 x 480, f 530, baseline 10 cm, a low and a high camera that look down, and the
 * keys mount.* set. */
#ifndef PLX_TESTS_ROBOT_H
#define PLX_TESTS_ROBOT_H

#include "tests/runner.h"

#define ROBOT_FOCAL 530.0
#define ROBOT_BASELINE 0.1
#define ROBOT_CAMERAS 2
#define ROBOT_DEGREE 0.017453292519943295

/* Level ground without things, seen by CAMERA: 0, 0.5 m high and 12 degrees down, or 1, 1.2 m high and 25 degrees down. */
void robot_scene(int camera, uint64_t seed, struct plx_scene *ret_scene);

/* A CPU backend, which the caller destroys, and a runner for SCENE, whose camera is mounted as it stands there. MIN_HEIGHT_M:
 * obstacles.min_height_m. */
void robot_create(const struct plx_scene *scene, double min_height_m, struct plx_stages **ret_stages,
                  struct runner *ret_runner);

/* How far ahead, over level ground, a point of that ground with DISPARITY lies (16 to a pixel, above infinity). */
double robot_ahead(const struct plx_scene *scene, int disparity);

/* Columns of the runner's scan with a drop. */
int robot_drops(const struct runner *runner);

#endif
