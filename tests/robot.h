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

/* A CPU backend, which the caller destroys, and a runner for SCENE, whose camera is mounted as it stands there, with ZONES
 * (NULL: none). MIN_HEIGHT_M: obstacles.min_height_m. */
void robot_create(const struct plx_scene *scene, double min_height_m, const struct plx_zone_list *zones,
                  struct plx_stages **ret_stages, struct runner *ret_runner);

/* A zone from NEAR_M to FAR_M ahead, 2 * ROBOT_ZONE_SIDE_M wide, which demands stop for what stands in it or falls away, where
 * more than MAX_UNKNOWN of it is unknown, and where less than MIN_DEPTH of it shows depth. */
#define ROBOT_ZONE_SIDE_M 0.6
#define ROBOT_FIRST 4 /* frames until the map knows free from occupied */
struct plx_zone_list robot_zone(double near_m, double far_m, double max_unknown, double min_depth);

/* How far ahead, over level ground, a point of that ground with DISPARITY lies (16 to a pixel, above infinity). */
double robot_ahead(const struct plx_scene *scene, int disparity);

/* Draws SCENE as the FRAMEth picture, 30 a second, and runs the pipeline. */
void robot_see(struct runner *runner, const struct plx_scene *scene, int frame);

/* Columns of the runner's scan with a drop. */
int robot_drops(const struct runner *runner);

/* Counts columns in one frame: those wholly on the thing, those of them that end free ground at it, and those touching it that
 * show it. */
struct robot_seen {
    int columns, ends, shows;
};
struct robot_seen robot_look(const struct runner *runner, const struct plx_scene *scene);

/* Equally distributed from LOW to HIGH, the same at every run. */
double robot_random(uint64_t *random, double low, double high);

/* Ground that is no drop. It falls or rises by at most 8 degrees, for ever or up to level ground again; over a crest it falls
 * by as much against where the robot stands as it rose, 8 degrees in all; or it is level, and the robot rocks. A robot that
 * stands on a slope sees level ground, and its end as the beginning of one. */
enum robot_ground {
    ROBOT_LEVEL,
    ROBOT_FALLS,
    ROBOT_RISES,
    ROBOT_FALLS_AND_ENDS,
    ROBOT_RISES_AND_ENDS,
    ROBOT_CREST,
    ROBOT_ROCKS,
    ROBOT_GROUNDS
};

/* The robot comes near to one slope after another, from 2.5 .. 5 m to 0.3 m: in how many of FRAMES it sees a drop. Adds the
 * columns with one to RET_COLUMNS. */
int robot_false_drops(enum robot_ground ground, int camera, uint64_t seed, int frames, int *ret_columns);

#endif
