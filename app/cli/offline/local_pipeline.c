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
    void *pixels[PLX_EYES]; /* packed, behind raw */
    void *frame;
};

/* A stand-in for pairs without calibration: the ground and obstacle stages need one. Its metres are not to be shown. */
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

static int allocate(struct plx_local_pipeline *offline, int width, int height, const struct plx_pipeline_params *params)
{
    struct plx_stages *stages = offline->stages;
    struct plx_plane plane[PLX_PLANE_COUNT];
    uint32_t bytes =
        plx_pipeline_layout(params, offline->calibration.rectified_width, offline->calibration.rectified_height, plane);
    int result = stages->ops->alloc(stages, bytes, &offline->frame);
    for (int eye = 0; eye < PLX_EYES && result == 0; eye++) {
        size_t size = (size_t)width * (size_t)height;
        result = stages->ops->alloc(stages, size, &offline->pixels[eye]);
        offline->raw[eye] = (struct plx_raw){.data = offline->pixels[eye],
                                             .bytes = size,
                                             .width = width,
                                             .height = height,
                                             .pitch = (size_t)width,
                                             .format = PLX_FORMAT_GREY,
                                             .eye_width = width};
    }
    return result;
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

int plx_local_pipeline_create(int width, int height, const struct plx_pipeline_params *params,
                              const struct plx_stereo_calibration *calibration, const struct plx_config *config,
                              struct plx_local_pipeline **ret_offline, struct plx_why *why)
{
    struct plx_local_pipeline *offline = calloc(1, sizeof *offline);
    if (!offline)
        return plx_fail(why, PLX_ERR_NOMEM, "%s", plx_strerror(PLX_ERR_NOMEM));
    if (calibration) {
        offline->calibration = *calibration;
    } else {
        struct plx_calibration_info nominal = nominal_calibration(width, height);
        plx_calibration_pinhole(width, height, &nominal, &offline->calibration);
    }
    const struct plx_stereo_calibration *used = &offline->calibration;
    struct plx_limits limits = {.width = larger(width, used->rectified_width),
                                .height = larger(height, used->rectified_height),
                                .disparities = params->match.disparities,
                                .threads = config->threads};

    int result = plx_pipeline_params_check(params, used->rectified_width, used->rectified_height, why);
    if (result < 0)
        goto fail;
    result = plx_backend_open(config->backend, config->gpu_memory, &limits, &offline->stages, NULL, why);
    if (result < 0)
        goto fail;
    result = allocate(offline, width, height, params);
    if (result < 0) {
        plx_fail(why, result, "pictures of %dx%d: %s", width, height, plx_strerror(result));
        goto fail;
    }
    result = plx_pipeline_create(offline->stages, params, used, &offline->pipeline, why);
    if (result < 0)
        goto fail;
    *ret_offline = offline;
    return 0;

fail:
    plx_local_pipeline_destroy(offline);
    return result;
}

void plx_local_pipeline_destroy(struct plx_local_pipeline *offline)
{
    if (!offline)
        return;
    plx_pipeline_destroy(offline->pipeline);
    if (offline->stages) {
        for (int eye = 0; eye < PLX_EYES; eye++)
            offline->stages->ops->free(offline->stages, offline->pixels[eye]);
        offline->stages->ops->free(offline->stages, offline->frame);
        offline->stages->ops->destroy(offline->stages);
    }
    free(offline);
}

int plx_local_pipeline_process(struct plx_local_pipeline *offline, const struct plx_image *left, const struct plx_image *right,
                               int64_t capture_ns, struct plx_frame **ret_frame)
{
    const struct plx_image *image[PLX_EYES] = {[PLX_LEFT] = left, [PLX_RIGHT] = right};
    for (int eye = 0; eye < PLX_EYES; eye++) {
        const struct plx_raw *raw = &offline->raw[eye];
        if (!plx_image_ok(image[eye], PLX_U8) || image[eye]->width != raw->width || image[eye]->height != raw->height)
            return PLX_ERR_ARG;
        for (int y = 0; y < raw->height; y++)
            memcpy((uint8_t *)offline->pixels[eye] + (size_t)y * raw->pitch, plx_row(image[eye], y), raw->pitch);
    }
    int result = plx_pipeline_process(offline->pipeline, offline->raw, capture_ns, offline->frame);
    if (result == 0)
        *ret_frame = offline->frame;
    return result;
}
