/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/robot.h"

#include <math.h>
#include <stdlib.h>

#include "cpu/cpu.h"

void robot_scene(int camera, uint64_t seed, struct plx_scene *ret_scene)
{
    plx_scene_demo(640, 480, seed, ret_scene);
    ret_scene->object_count = 0;
    ret_scene->camera_height_m = camera == 0 ? 0.5 : 1.2;
    ret_scene->pitch_rad = (camera == 0 ? 12 : 25) * ROBOT_DEGREE;
    ret_scene->roll_rad = 0;
    ret_scene->calibration = (struct plx_calibration_info){ROBOT_FOCAL, ROBOT_FOCAL, 319.5, 239.5, 319.5, ROBOT_BASELINE};
}

void robot_create(const struct plx_scene *scene, double min_height_m, struct plx_stages **ret_stages, struct runner *ret_runner)
{
    const struct plx_limits limits = {.width = scene->width, .height = scene->height, .disparities = 128};
    struct plx_pipeline_params params;
    plx_pipeline_params_default(&params);
    params.match.disparities = 128;
    params.obstacle.min_height_m = min_height_m;
    params.mount = (struct plx_mount){.z_m = scene->camera_height_m,
                                      .pitch_deg = scene->pitch_rad / ROBOT_DEGREE,
                                      .roll_deg = scene->roll_rad / ROBOT_DEGREE};
    if (plx_cpu_create(&limits, ret_stages) < 0)
        abort();
    runner_create(*ret_stages, &params, scene->width, scene->height, &scene->calibration, ret_runner);
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
