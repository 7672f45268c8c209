/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/motion_camera.h"

#include <stdlib.h>

#include <parallax/error.h>

#include "core/motion/corners.h"
#include "cpu/cpu.h"

struct motion_camera {
    struct plx_motion *motion;
    struct plx_stages *stages;
    struct plx_flow_job job;
    struct plx_flow_found found[PLX_MAX_CORNERS];
    struct plx_pyramid pyramids[2];
    struct plx_image corners;
    const struct plx_image *disparity; /* the newest frame's */
    void *memory[3];                   /* both pyramids, and the corners */
};

int motion_camera_create(int width, int height, const struct plx_calibration_info *calibration, struct motion_camera **ret)
{
    const struct plx_limits limits = {width, height, 64, 1};
    struct motion_camera *camera = calloc(1, sizeof *camera);
    int result = camera ? plx_motion_create(width, height, calibration, 0, &camera->motion) : PLX_ERR_NOMEM;

    if (result == 0)
        result = plx_cpu_create(&limits, &camera->stages);
    if (result == 0) {
        const int columns = plx_corner_cells(width), rows = plx_corner_cells(height);
        camera->memory[2] = calloc((size_t)columns * (size_t)rows, sizeof(struct plx_corner_cell));
        camera->corners =
            (struct plx_image){camera->memory[2], columns, rows, (size_t)columns * sizeof(struct plx_corner_cell), PLX_U128};
        for (int i = 0; i < 2; i++) {
            camera->memory[i] = calloc(1, plx_pyramid_bytes(width, height));
            plx_pyramid_lay_out(camera->memory[i], width, height, &camera->pyramids[i]);
        }
        result = camera->memory[0] && camera->memory[1] && camera->memory[2] ? 0 : PLX_ERR_NOMEM;
    }
    if (result < 0)
        motion_camera_destroy(camera);
    else
        *ret = camera;
    return result;
}

void motion_camera_destroy(struct motion_camera *camera)
{
    if (!camera)
        return;
    plx_motion_destroy(camera->motion);
    if (camera->stages)
        camera->stages->ops->destroy(camera->stages);
    for (int i = 0; i < 3; i++)
        free(camera->memory[i]);
    free(camera);
}

struct plx_motion *motion_camera_motion(const struct motion_camera *camera)
{
    return camera->motion;
}

static int look_for_corners(struct motion_camera *camera)
{
    const struct plx_stages_ops *ops = camera->stages->ops;
    const int result = ops->flow(camera->stages, camera->pyramids, &camera->job, camera->found);

    return result < 0
               ? result
               : ops->corner_disparities(camera->stages, camera->disparity, &camera->job, &camera->corners, camera->found);
}

static int search(void *context, const struct plx_flow_found **ret_found)
{
    struct motion_camera *camera = context;

    *ret_found = camera->found;
    return look_for_corners(camera);
}

int motion_camera_see(struct motion_camera *camera, const struct plx_image *left, const struct plx_image *disparity,
                      int64_t capture_ns, struct plx_motion_info *ret_info)
{
    const struct plx_stages_ops *ops = camera->stages->ops;
    const struct plx_motion_sight sight = {&camera->corners, camera->found, &camera->job, search, camera};

    camera->disparity = disparity;
    plx_motion_expect(camera->motion, capture_ns, &camera->job);
    int result = ops->pyramid(camera->stages, left, &camera->job, camera->pyramids);
    if (result == 0)
        result = ops->corners(camera->stages, left, &camera->corners);
    if (result == 0)
        result = look_for_corners(camera);
    return result < 0 ? result : plx_motion_update(camera->motion, &sight, capture_ns, ret_info);
}
