/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/robot.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "core/base/clock.h"
#include "cpu/cpu.h"

#define NEAR_M 0.15 /* an end of free ground so far behind a face is at the face */
#define APPROACH 20 /* frames in which the robot comes near to a slope */

void robot_scene(int camera, uint64_t seed, struct plx_scene *ret_scene)
{
    plx_scene_demo(640, 480, seed, ret_scene);
    ret_scene->object_count = 0;
    ret_scene->camera_height_m = camera == 0 ? 0.5 : 1.2;
    ret_scene->pitch_rad = (camera == 0 ? 12 : 25) * ROBOT_DEGREE;
    ret_scene->roll_rad = 0;
    ret_scene->calibration = (struct plx_calibration_info){ROBOT_FOCAL, ROBOT_FOCAL, 319.5, 239.5, 319.5, ROBOT_BASELINE};
}

void robot_create(const struct plx_scene *scene, double min_height_m, const struct plx_zone_list *zones,
                  struct plx_stages **ret_stages, struct runner *ret_runner)
{
    const struct plx_limits limits = {.width = scene->width, .height = scene->height, .disparities = 128};
    struct plx_pipeline_params params;
    plx_pipeline_params_default(&params);
    params.correction = PLX_CORRECTION_OFF; /* a correction would begin with any frame */
    params.match.disparities = 128;
    params.obstacle.min_height_m = min_height_m;
    params.mount = (struct plx_mount){.z_m = scene->camera_height_m,
                                      .pitch_deg = scene->pitch_rad / ROBOT_DEGREE,
                                      .roll_deg = scene->roll_rad / ROBOT_DEGREE};
    if (zones)
        params.zones = *zones;
    if (plx_cpu_create(&limits, ret_stages) < 0)
        abort();
    runner_create(*ret_stages, &params, scene->width, scene->height, &scene->calibration, ret_runner);
}

struct plx_zone_list robot_zone(double near_m, double far_m, double max_unknown, double min_depth)
{
    const float near = (float)near_m, far = (float)far_m, side = (float)ROBOT_ZONE_SIDE_M;
    return (struct plx_zone_list){.count = 1,
                                  .zone = {{.name = "front",
                                            .points = 4,
                                            .polygon = {{near, -side}, {far, -side}, {far, side}, {near, side}},
                                            .frames = 2,
                                            .occupied = PLX_VERDICT_STOP,
                                            .unknown = PLX_VERDICT_STOP,
                                            .clear_s = 0.1,
                                            .min_height_m = 0.05,
                                            .max_height_m = 2,
                                            .max_speed_mps = 100,
                                            .max_unknown = (float)max_unknown,
                                            .min_depth = (float)min_depth}}};
}

double robot_ahead(const struct plx_scene *scene, int disparity)
{
    const double z = 16 * ROBOT_FOCAL * ROBOT_BASELINE / disparity;
    return (z - scene->camera_height_m * sin(scene->pitch_rad)) / cos(scene->pitch_rad);
}

int robot_drops(const struct runner *runner)
{
    const struct plx_image scan = plx_pipeline_plane(runner->frame, PLX_PLANE_SCAN);
    int columns = 0;
    for (int x = 0; x < scan.width; x++)
        columns += (((const struct plx_scan *)scan.data)[x].known & PLX_SCAN_DROP) != 0;
    return columns;
}

void robot_see(struct runner *runner, const struct plx_scene *scene, int frame)
{
    runner_draw(runner, scene, 0, (uint32_t)frame);
    if (runner_run(runner, PLX_NS_PER_S + frame * 33333333LL) < 0)
        abort();
}

/* The columns of the scan that lie wholly on the front of the thing, at its foot (a column more at either end touches it); and
 * its depth there and at its top. */
struct front {
    int begin, end;
    double foot_z, top_z;
};

static struct front front_of(const struct plx_scene *scene)
{
    const struct plx_scene_object *thing = &scene->object[0];
    const double c = cos(scene->pitch_rad), s = sin(scene->pitch_rad), h = scene->camera_height_m;
    const double foot = thing->z * c + h * s, top = foot - thing->height * s;
    const double left = 319.5 + ROBOT_FOCAL * (thing->x - 0.5 * thing->width) / foot;
    const double right = 319.5 + ROBOT_FOCAL * (thing->x + 0.5 * thing->width) / foot;
    return (struct front){(int)ceil((left + 0.5) / 4), (int)floor((right + 0.5) / 4), foot, top};
}

static bool shows(const struct plx_scan *scan, const struct plx_stixel *stixel, const struct front *front)
{
    const double least = 16 * ROBOT_FOCAL * ROBOT_BASELINE / (1.1 * front->foot_z);
    const double most = 16 * ROBOT_FOCAL * ROBOT_BASELINE / (0.9 * front->top_z);
    bool shown = scan->nearest >= least && scan->nearest <= most;
    for (int i = 0; i < scan->stixels && i < PLX_COLUMN_STIXELS; i++)
        shown |= stixel[i].near_disparity >= least && stixel[i].near_disparity <= most;
    return shown;
}

struct robot_seen robot_look(const struct runner *runner, const struct plx_scene *scene)
{
    const struct plx_image scan = plx_pipeline_plane(runner->frame, PLX_PLANE_SCAN);
    const struct plx_image stixels = plx_pipeline_plane(runner->frame, PLX_PLANE_STIXELS);
    const struct front front = front_of(scene);
    struct robot_seen seen = {0};
    for (int x = front.begin - 1; x <= front.end; x++) {
        const struct plx_scan *column = (const struct plx_scan *)scan.data + x;
        const bool whole = x >= front.begin && x < front.end;
        seen.columns += whole;
        seen.ends += whole && robot_ahead(scene, column->free) <= scene->object[0].z + NEAR_M;
        seen.shows += shows(column, plx_row(&stixels, x), &front);
    }
    return seen;
}

double robot_random(uint64_t *random, double low, double high)
{
    *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return low + (high - low) * (double)(*random >> 40) / 16777216.0;
}

/* Ground that bends by SLOPE, Z ahead, and again LENGTH farther. */
static void bend_ground(enum robot_ground ground, double slope, double z, double length, struct plx_scene *scene)
{
    static const struct {
        int steps;
        double first, second; /* slopes */
    } bends[ROBOT_GROUNDS] = {[ROBOT_FALLS] = {1, 1, 0},
                              [ROBOT_RISES] = {1, -1, 0},
                              [ROBOT_FALLS_AND_ENDS] = {2, 1, 0},
                              [ROBOT_RISES_AND_ENDS] = {2, -1, 0},
                              [ROBOT_CREST] = {2, -0.5, 0.5}};
    const double first = bends[ground].first * slope;
    scene->step_count = bends[ground].steps;
    scene->step[0] = (struct plx_scene_step){z, 0, first};
    scene->step[1] = (struct plx_scene_step){z + length, first * length, bends[ground].second * slope};
}

int robot_false_drops(enum robot_ground ground, int camera, uint64_t seed, int frames, int *ret_columns)
{
    struct plx_stages *stages;
    struct plx_scene scene;
    struct runner runner;
    uint64_t random = seed;
    double slope = 0, length = 0, begin = 0;
    int bad = 0;
    robot_scene(camera, seed, &scene);
    const double pitch = scene.pitch_rad;
    robot_create(&scene, 0.25, NULL, &stages, &runner);
    for (int frame = 0; frame < frames; frame++) {
        const double part = (double)(frame % APPROACH) / APPROACH;
        if (frame % APPROACH == 0) {
            scene.seed = seed + (uint64_t)frame * 10;
            scene.noise = robot_random(&random, 0.5, 4);
            slope = tan(8 * ROBOT_DEGREE) * fmin(1, robot_random(&random, 0.3, 1.6)); /* nearly half are as steep as can be */
            length = robot_random(&random, 0.3, 3);
            begin = robot_random(&random, 2.5, 5);
        }
        bend_ground(ground, slope, begin - (begin - 0.3) * part, length, &scene);
        if (ground == ROBOT_ROCKS) {
            scene.pitch_rad = pitch + 3 * ROBOT_DEGREE * sin(2 * M_PI * part);
            scene.roll_rad = 3 * ROBOT_DEGREE * sin(4 * M_PI * part);
        }
        robot_see(&runner, &scene, frame);
        const int columns = robot_drops(&runner);
        *ret_columns += columns;
        bad += columns > 0;
    }
    runner_destroy(&runner);
    stages->ops->destroy(stages);
    return bad;
}
