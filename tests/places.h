/* SPDX-License-Identifier: Apache-2.0 */
/* Things with known places before a camera that looks down and is turned about its view axis: what every outlet must say. */
#ifndef PLX_TESTS_PLACES_H
#define PLX_TESTS_PLACES_H

#include <math.h>
#include <string.h>

#include "core/base/clock.h"
#include "tests/runner.h"

#define PLACES_WIDTH 640
#define PLACES_HEIGHT 480
#define PLACES_FRAMES 3 /* so that the ground is held */
#define PLACES_THINGS 2

/* A pole and a box, whose faces stand across the way. */
static const struct plx_scene_object places_thing[PLACES_THINGS] = {
    {.x = -0.7, .z = 4.0, .width = 0.2, .height = 1.6, .depth = 0.2},
    {.x = 0.5, .z = 2.6, .width = 0.9, .height = 0.7, .depth = 0.6},
};

struct places {
    struct plx_stages *stages;
    struct runner runner; /* runner.frame: the last frame, with ground */
    struct plx_pose ground_from_camera;
};

static inline void places_close(struct places *places)
{
    runner_destroy(&places->runner);
    places->stages->ops->destroy(places->stages);
}

/* A negative plx_error if a frame cannot be computed. */
static inline int places_open(double pitch_degrees, double roll_degrees, struct places *ret_places)
{
    const double degree = 3.14159265358979 / 180;
    struct plx_scene scene;
    int result = 0;

    plx_scene_demo(PLACES_WIDTH, PLACES_HEIGHT, 1, &scene);
    scene.drive = (struct plx_scene_drive){0};
    scene.camera_height_m = 0.9;
    scene.pitch_rad = pitch_degrees * degree;
    scene.roll_rad = roll_degrees * degree;
    scene.object_count = PLACES_THINGS;
    memcpy(scene.object, places_thing, sizeof places_thing);
    runner_create_for_scene(&scene, PLX_OBSTACLES_OF_STIXELS, &ret_places->stages, &ret_places->runner);
    plx_scene_camera(&scene, 0, &ret_places->ground_from_camera);
    for (uint32_t i = 0; i < PLACES_FRAMES && result == 0; i++) {
        runner_draw(&ret_places->runner, &scene, 0, i);
        result = runner_run(&ret_places->runner, PLX_NS_PER_S + i * 100 * PLX_NS_PER_MS);
    }
    if (result < 0)
        places_close(ret_places);
    return result;
}

/* POINT, in axes of the camera, in those of the ground: x right, y down, z forward. */
static inline void places_on_ground(const struct places *places, const double point[3], double ret[3])
{
    const struct plx_pose *pose = &places->ground_from_camera;
    for (int i = 0; i < 3; i++)
        ret[i] = pose->rotation[3 * i] * point[0] + pose->rotation[3 * i + 1] * point[1] +
                 pose->rotation[3 * i + 2] * point[2] + pose->translation[i];
}

static inline void places_in_camera(const struct places *places, const double point[3], double ret[3])
{
    const struct plx_pose *pose = &places->ground_from_camera;
    for (int i = 0; i < 3; i++) {
        ret[i] = 0;
        for (int k = 0; k < 3; k++)
            ret[i] += pose->rotation[3 * k + i] * (point[k] - pose->translation[k]);
    }
}

/* The middle of the face of thing N, in axes of the camera, and the distance along the view of the nearest part that the left
 * picture shows: the pole's top is above it where the camera looks down. */
static inline void places_face(const struct places *places, int n, double ret_middle[3], double *ret_nearest)
{
    const struct plx_scene_object *thing = &places_thing[n];
    const struct plx_calibration_info *lens = &places->runner.frame->calibration;
    const int steps = 100; /* from the foot to the top */
    double point[3];

    places_in_camera(places, (const double[3]){thing->x, -thing->height / 2, thing->z}, ret_middle);
    *ret_nearest = INFINITY;
    for (int k = 0; k < 2 * (steps + 1); k++) {
        const double at[3] = {thing->x + (k % 2 - 0.5) * thing->width, -thing->height * (k / 2) / steps, thing->z};
        places_in_camera(places, at, point);
        const double row = lens->cy + lens->fy * point[1] / point[2];
        if (row >= 0 && row < PLACES_HEIGHT)
            *ret_nearest = fmin(*ret_nearest, point[2]);
    }
}

#endif
