/* SPDX-License-Identifier: Apache-2.0 */
#include "app/cli/offline/local_pipeline.h"

#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "app/backend.h"

struct plx_local_pipeline {
    struct plx_stages *stages;
    struct plx_pipeline *pipeline;
    struct plx_stereo_calibration calibration;
    struct plx_raw raw[PLX_EYES];
    void *pixels[PLX_EYES]; /* what raw points to; rows without padding */
    void *frame;
};

/* For pairs without a calibration, because the ground and obstacle stages need one. Its metres are never printed. */
static struct plx_calibration_info nominal_calibration(int width, int height)
{
    return (struct plx_calibration_info){
        .fx = 0.8 * width,
        .fy = 0.8 * width,
        .cx = 0.5 * (width - 1),
        .cy = 0.5 * (height - 1),
        .cx_right = 0.5 * (width - 1),
        .baseline_m = 0.12,
    };
}

static int allocate(struct plx_local_pipeline *local, int width, int height, const struct plx_pipeline_params *params)
{
    struct plx_stages *stages = local->stages;
    struct plx_plane plane[PLX_PLANE_COUNT];
    uint32_t bytes =
        plx_pipeline_layout(params, local->calibration.rectified_width, local->calibration.rectified_height, plane);
    int result = stages->ops->alloc(stages, bytes, &local->frame);
    for (int eye = 0; eye < PLX_EYES && result == 0; eye++) {
        size_t size = (size_t)width * (size_t)height;
        result = stages->ops->alloc(stages, size, &local->pixels[eye]);
        const struct plx_image grey = {local->pixels[eye], width, height, (size_t)width, PLX_U8};
        local->raw[eye] = plx_raw_of_grey(&grey);
    }
    return result;
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

int plx_local_pipeline_create(int width, int height, const struct plx_pipeline_params *params,
                              const struct plx_stereo_calibration *calibration, const struct plx_config *config,
                              struct plx_local_pipeline **ret_pipeline, struct plx_error_message *message)
{
    struct plx_local_pipeline *local = calloc(1, sizeof *local);
    if (!local)
        return plx_fail(message, PLX_ERR_NOMEM, "%s", plx_strerror(PLX_ERR_NOMEM));
    if (calibration) {
        local->calibration = *calibration;
    } else {
        struct plx_calibration_info nominal = nominal_calibration(width, height);
        plx_calibration_pinhole(width, height, &nominal, &local->calibration);
    }
    const struct plx_stereo_calibration *used = &local->calibration;
    struct plx_limits limits = {.width = larger(width, used->rectified_width),
                                .height = larger(height, used->rectified_height),
                                .disparities = params->match.disparities,
                                .threads = config->threads};

    int result = plx_config_check_pipeline(params, used->rectified_width, used->rectified_height, message);
    if (result < 0)
        goto fail;
    result = plx_backend_open(config->backend, config->gpu_memory, &limits, &local->stages, NULL, message);
    if (result < 0)
        goto fail;
    result = allocate(local, width, height, params);
    if (result < 0) {
        plx_fail(message, result, "pictures of %dx%d: %s", width, height, plx_strerror(result));
        goto fail;
    }
    result = plx_pipeline_create(local->stages, params, used, &local->pipeline, message);
    if (result < 0)
        goto fail;
    *ret_pipeline = local;
    return 0;

fail:
    plx_local_pipeline_destroy(local);
    return result;
}

void plx_local_pipeline_destroy(struct plx_local_pipeline *local)
{
    if (!local)
        return;
    plx_pipeline_destroy(local->pipeline);
    if (local->stages) {
        for (int eye = 0; eye < PLX_EYES; eye++)
            local->stages->ops->free(local->stages, local->pixels[eye]);
        local->stages->ops->free(local->stages, local->frame);
        local->stages->ops->destroy(local->stages);
    }
    free(local);
}

void plx_local_pipeline_save(struct plx_local_pipeline *local, struct plx_pipeline_state *ret_state)
{
    plx_pipeline_save(local->pipeline, ret_state);
}

int plx_local_pipeline_restore(struct plx_local_pipeline *local, const struct plx_pipeline_state *state)
{
    return plx_pipeline_restore(local->pipeline, state);
}

const struct plx_stereo_calibration *plx_local_pipeline_calibration(const struct plx_local_pipeline *local)
{
    return &local->calibration;
}

int plx_local_pipeline_process(struct plx_local_pipeline *local, const struct plx_image *left, const struct plx_image *right,
                               int64_t capture_ns, struct plx_frame **ret_frame)
{
    const struct plx_image *image[PLX_EYES] = {[PLX_LEFT] = left, [PLX_RIGHT] = right};
    for (int eye = 0; eye < PLX_EYES; eye++) {
        const struct plx_raw *raw = &local->raw[eye];
        if (!plx_image_ok(image[eye], PLX_U8) || image[eye]->width != raw->width || image[eye]->height != raw->height)
            return PLX_ERR_ARG;
        for (int y = 0; y < raw->height; y++)
            memcpy((uint8_t *)local->pixels[eye] + (size_t)y * raw->pitch, plx_row(image[eye], y), raw->pitch);
    }
    int result = plx_pipeline_process(local->pipeline, local->raw, capture_ns, local->frame);
    if (result < 0)
        return result;
    plx_pipeline_complete(local->pipeline, 0, 0, local->frame);
    *ret_frame = local->frame;
    return 0;
}
