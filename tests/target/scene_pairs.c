/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/target/scene_pairs.h"

#include <string.h>

#include <parallax/error.h>

#include "drivers/scene.h"

static int render(struct scene_pairs *pairs, const struct plx_scene *scene)
{
    for (int i = 0; i < SCENE_PAIRS * PLX_EYES; i++) {
        const int pair = i / PLX_EYES, eye = i % PLX_EYES;
        const size_t bytes = (size_t)scene->width * (size_t)scene->height;
        void *data;
        int result = pairs->stages->ops->alloc(pairs->stages, bytes, &data);
        if (result < 0)
            return result;
        const struct plx_image image = {data, scene->width, scene->height, (size_t)scene->width, PLX_U8};
        pairs->raw[pair][eye] = (struct plx_raw){.data = data,
                                                 .bytes = bytes,
                                                 .width = scene->width,
                                                 .height = scene->height,
                                                 .pitch = image.pitch,
                                                 .format = PLX_FORMAT_GREY,
                                                 .eye_width = scene->width};
        result = plx_scene_render(scene, (double)pair * (double)SCENE_PERIOD_NS / 1e9, (uint32_t)pair, (enum plx_eye)eye, 10000,
                                  1, &image);
        if (result < 0)
            return result;
    }
    return 0;
}

bool scene_pairs_open(enum plx_backend_kind kind, int width, int height, const struct plx_pipeline_params *params,
                      struct scene_pairs *ret, struct check_outcome *outcome)
{
    const struct plx_limits limits = {width, height, params->match.disparities, 0};
    struct plx_stereo_calibration calibration;
    struct plx_plane plane[PLX_PLANE_COUNT];
    struct plx_why why = {""};
    struct plx_scene scene;
    void *frame = NULL;

    memset(ret, 0, sizeof *ret);
    if (!check_backend(kind, &limits, &ret->stages, outcome))
        return false;
    plx_scene_demo(width, height, 1, &scene);
    plx_calibration_pinhole(width, height, &scene.calibration, &calibration);
    int result = render(ret, &scene);
    if (result == 0)
        result = plx_pipeline_create(ret->stages, params, &calibration, &ret->pipeline, &why);
    ret->frame_bytes = plx_pipeline_layout(params, width, height, plane);
    if (result == 0)
        result = ret->stages->ops->alloc(ret->stages, ret->frame_bytes, &frame);
    ret->frame = frame;
    if (result == 0)
        return true;
    check_fail(outcome, "no pipeline: %s", why.text[0] ? why.text : plx_strerror(result));
    scene_pairs_close(ret);
    return false;
}

void scene_pairs_close(struct scene_pairs *pairs)
{
    plx_pipeline_destroy(pairs->pipeline);
    for (int i = 0; i < SCENE_PAIRS * PLX_EYES; i++)
        pairs->stages->ops->free(pairs->stages, (void *)(uintptr_t)pairs->raw[i / PLX_EYES][i % PLX_EYES].data);
    pairs->stages->ops->free(pairs->stages, pairs->frame);
    pairs->stages->ops->destroy(pairs->stages);
}

bool scene_pairs_run(struct scene_pairs *pairs, int number, struct check_outcome *outcome)
{
    const int result =
        plx_pipeline_process(pairs->pipeline, pairs->raw[number % SCENE_PAIRS], number * SCENE_PERIOD_NS, pairs->frame);
    if (result < 0)
        check_fail(outcome, "frame %d: %s. %s", number, plx_strerror(result), pairs->stages->why.text);
    return result == 0;
}
