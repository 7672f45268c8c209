/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/synthetic/scene.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include <parallax/error.h>

/* A scene without objects: a camera 1 m above the ground, tilted, that stands still. */
static void begin(int width, int height, uint64_t seed, struct plx_scene *ret_scene)
{
    memset(ret_scene, 0, sizeof *ret_scene);
    ret_scene->width = width;
    ret_scene->height = height;
    double focal = 0.8 * width, cx = 0.5 * (width - 1), cy = 0.5 * (height - 1);
    ret_scene->calibration = (struct plx_calibration_info){focal, focal, cx, cy, cx, 0.12};
    ret_scene->camera_height_m = 1.0;
    ret_scene->pitch_rad = 0.10;
    ret_scene->roll_rad = 0.015;
    ret_scene->noise = 1.5;
    ret_scene->light = 1.0;
    ret_scene->seed = seed;
}

void plx_scene_demo(int width, int height, uint64_t seed, struct plx_scene *ret_scene)
{
    static const struct plx_scene_object object[] = {
        /* x, z, width, height, depth, vx, vz, period */
        {-1.2, 3.2, 0.6, 0.8, 0.5, 0.25, 0.0, 20.0},  /* a low box that crosses in front */
        {1.5, 7.0, 1.0, 1.3, 0.8, 0.0, -0.30, 16.0},  /* a box that approaches and leaves */
        {-1.9, 4.8, 0.15, 1.8, 0.15, 0.0, 0.0, 0.0},  /* a pole */
        {4.5, 8.6, 0.2, 2.0, 0.2, 0.0, 0.0, 0.0},     /* a pole further off */
        {-4.0, 11.0, 1.6, 1.4, 1.0, 0.50, 0.0, 24.0}, /* a large box that crosses far away */
    };
    begin(width, height, seed, ret_scene);
    ret_scene->object_count = (int)(sizeof object / sizeof object[0]);
    memcpy(ret_scene->object, object, sizeof object);
}

void plx_scene_street(int width, int height, uint64_t seed, struct plx_scene *ret_scene)
{
    static const struct plx_scene_object object[] = {
        /* x, z, width, height, depth, vx, vz, period */
        {-4.15, -5.0, 0.3, 2.5, 70.0, 0.0, 0.0, 0.0}, /* a wall on the left */
        {4.9, -5.0, 0.8, 1.2, 41.0, 0.0, 0.0, 0.0},   /* a hedge on the right */
        {4.65, 36.0, 0.3, 3.0, 29.0, 0.0, 0.0, 0.0},  /* a wall behind it */
        {3.35, -5.0, 0.3, 0.13, 70.0, 0.0, 0.0, 0.0}, /* the kerb before both */
        {0.0, 65.0, 30.0, 8.0, 1.0, 0.0, 0.0, 0.0},   /* a facade at the end */
        {2.1, 9.0, 1.7, 1.5, 4.0, 0.0, 0.0, 0.0},     /* parked cars */
        {2.1, 22.0, 1.7, 1.4, 4.2, 0.0, 0.0, 0.0},    {2.1, 31.0, 1.8, 1.9, 4.8, 0.0, 0.0, 0.0},
        {-2.3, 6.0, 0.15, 2.2, 0.15, 0.0, 0.0, 0.0}, /* poles */
        {-2.3, 18.0, 0.15, 2.2, 0.15, 0.0, 0.0, 0.0}, {-2.3, 30.0, 0.2, 2.4, 0.2, 0.0, 0.0, 0.0},
        {-1.7, 13.0, 0.5, 1.7, 0.3, 0.0, 0.0, 0.0},  /* a person who stands */
        {-2.8, 27.0, 0.5, 1.7, 0.3, 0.8, 0.0, 12.0}, /* one who walks across, to and fro */
        {-2.6, 38.0, 0.6, 1.1, 0.6, 0.0, 0.0, 0.0},  /* a bin */
        {1.4, 50.0, 1.7, 1.5, 4.0, 0.0, -1.0, 20.0}, /* a car that comes and goes back */
    };
    begin(width, height, seed, ret_scene);
    ret_scene->pitch_rad = 0.06;
    ret_scene->roll_rad = 0.0;
    ret_scene->drive = (struct plx_scene_drive){30.0, 60.0, 0.4, 23.0, 0.15, 17.0};
    ret_scene->object_count = (int)(sizeof object / sizeof object[0]);
    memcpy(ret_scene->object, object, sizeof object);
}

void plx_scene_wall(int width, int height, uint64_t seed, struct plx_scene *ret_scene)
{
    static const struct plx_scene_object wall = {.z = PLX_SCENE_WALL_M, .width = 100.0, .height = 100.0, .depth = 1.0};

    begin(width, height, seed, ret_scene);
    ret_scene->camera_height_m = 0.5 * wall.height; /* no ground is in sight */
    ret_scene->roll_rad = 0.0;
    ret_scene->object_count = 1;
    ret_scene->object[0] = wall;
}

/* The phase of a motion to and fro, 0 at time 0; 0 if it has no period. */
static double phase(double time_s, double period_s)
{
    return period_s > 0.0 ? 2.0 * M_PI * time_s / period_s : 0.0;
}

/* The camera's rotation at pitch and roll, then turned by its drive. */
void plx_scene_camera(const struct plx_scene *scene, double time_s, struct plx_pose *ret_ground_from_camera)
{
    const struct plx_scene_drive *drive = &scene->drive;
    const double cp = cos(scene->pitch_rad), sp = sin(scene->pitch_rad), cr = cos(scene->roll_rad), sr = sin(scene->roll_rad);
    const double tilt[9] = {
        cr,       -sr,      0.0, /* columns: the camera's x, y and z axes in the ground frame */
        cp * sr,  cp * cr,  sp,  /* */
        -sp * sr, -sp * cr, cp,
    };
    const double turn = drive->turn_rad * sin(phase(time_s, drive->turn_period_s)), ct = cos(turn), st = sin(turn);
    double *rotation = ret_ground_from_camera->rotation, *position = ret_ground_from_camera->translation;

    memcpy(rotation, tilt, sizeof tilt);
    for (int axis = 0; axis < 3 && turn != 0.0; axis++) {
        rotation[axis] = ct * tilt[axis] + st * tilt[6 + axis];
        rotation[6 + axis] = ct * tilt[6 + axis] - st * tilt[axis];
    }
    position[0] = drive->sway_m * sin(phase(time_s, drive->sway_period_s));
    position[1] = -scene->camera_height_m;
    position[2] = 0.5 * drive->ahead_m * (1.0 - cos(phase(time_s, drive->period_s)));
}

static bool between(double value, double low, double high)
{
    return value >= low && value <= high; /* false for NAN */
}

static int check_object(const struct plx_scene_object *object, int index, struct plx_error_message *message)
{
    const double size[3] = {object->width, object->height, object->depth};
    for (int i = 0; i < 3; i++)
        if (!between(size[i], 1e-3, 100.0))
            return plx_fail(message, PLX_ERR_RANGE, "scene object %d: a size of %g m, expected 0.001..100", index, size[i]);
    if (!between(fabs(object->x), 0.0, 1e4) || !between(fabs(object->z), 0.0, 1e4))
        return plx_fail(message, PLX_ERR_RANGE, "scene object %d: its position is (%g, %g) m, expected within 10 km", index,
                        object->x, object->z);
    if (!between(fabs(object->vx), 0.0, 1e3) || !between(fabs(object->vz), 0.0, 1e3) || !between(object->period_s, 0.0, 1e6))
        return plx_fail(message, PLX_ERR_RANGE, "scene object %d: expected speeds up to 1000 m/s and periods of 0..1e6 s",
                        index);
    return 0;
}

int plx_scene_check(const struct plx_scene *scene, struct plx_error_message *message)
{
    const struct plx_calibration_info *info = &scene->calibration;
    if (scene->width < 1 || scene->width > PLX_MAX_SIDE || scene->height < 1 || scene->height > PLX_MAX_SIDE)
        return plx_fail(message, PLX_ERR_RANGE, "scene size %dx%d: expected 1..%d pixels a side", scene->width, scene->height,
                        PLX_MAX_SIDE);
    if (!between(info->fx, 0.1, 1e5) || !between(info->fy, 0.1, 1e5) || !between(fabs(info->cx), 0.0, 1e5) ||
        !between(fabs(info->cy), 0.0, 1e5) || !between(fabs(info->cx_right), 0.0, 1e5) ||
        !between(info->baseline_m, 1e-4, 10.0))
        return plx_fail(message, PLX_ERR_RANGE,
                        "scene calibration: focal lengths are within 0.1..1e5 px, baselines within 0.0001..10 m");
    if (!between(scene->camera_height_m, 0.01, 1000.0) || !between(fabs(scene->pitch_rad), 0.0, 1.5) ||
        !between(fabs(scene->roll_rad), 0.0, 3.2))
        return plx_fail(message, PLX_ERR_RANGE, "scene camera: height is within 0.01..1000 m, pitch within -1.5..1.5 rad");
    const struct plx_scene_drive *drive = &scene->drive;
    if (!between(drive->ahead_m, 0.0, 1e4) || !between(drive->sway_m, 0.0, 1e3) || !between(drive->turn_rad, 0.0, 1.0) ||
        !between(drive->period_s, 0.0, 1e6) || !between(drive->sway_period_s, 0.0, 1e6) ||
        !between(drive->turn_period_s, 0.0, 1e6))
        return plx_fail(
            message, PLX_ERR_RANGE,
            "scene drive: expected ways of 0..10 km ahead and 0..1 km sideways, turns of 0..1 rad, periods of 0..1e6 s");
    if (!between(scene->noise, 0.0, 255.0) || !between(scene->light, 0.0, 1e9))
        return plx_fail(message, PLX_ERR_RANGE, "scene: noise %g is not within 0..255 or light %g not within 0..1e9",
                        scene->noise, scene->light);
    if (scene->object_count < 0 || scene->object_count > PLX_SCENE_MAX_OBJECTS)
        return plx_fail(message, PLX_ERR_RANGE, "scene: %d objects, expected 0..%d", scene->object_count,
                        PLX_SCENE_MAX_OBJECTS);
    if (scene->step_count < 0 || scene->step_count > PLX_SCENE_MAX_STEPS)
        return plx_fail(message, PLX_ERR_RANGE, "scene: %d steps, expected 0..%d", scene->step_count, PLX_SCENE_MAX_STEPS);
    for (int i = 0; i < scene->step_count; i++)
        if (!between(scene->step[i].z, i > 0 ? scene->step[i - 1].z : 0.0, 1e3) ||
            !between(scene->step[i].depth, -scene->camera_height_m, 100.0) || !between(scene->step[i].slope, -1.0, 1.0))
            return plx_fail(
                message, PLX_ERR_RANGE,
                "scene step %d: expected places in order, 0..1000 m, depths below the camera, up to 100 m, and slopes of "
                "-1..1",
                i);
    for (int i = 0; i < scene->object_count; i++)
        if (check_object(&scene->object[i], i, message) < 0)
            return PLX_ERR_RANGE;
    return 0;
}
