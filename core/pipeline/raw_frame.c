/* SPDX-License-Identifier: Apache-2.0 */
/* Raw frames: what is left of the data's way where there is no calibration. */
#include <stdlib.h>

#include <parallax/error.h>

#include "core/pipeline/internal.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static uint32_t judge(const struct plx_pass *pass)
{
    return plx_judge_pictures(pass) | PLX_HEALTH_NOT_CALIBRATED;
}

static const struct plx_step stages[] = {
    {PLX_STAGE_CONVERT, plx_step_convert, true},             /* raw -> 8-bit grey, into the planes that are published */
    {PLX_STAGE_HISTOGRAM, plx_step_histogram, false},        /* whole and by zones */
    {PLX_STAGE_HISTOGRAM, plx_step_publish_pictures, false}, /* where stages do not write the frame itself */
};
static const struct plx_step results[] = {{PLX_STAGE_OBSTACLES, plx_step_finish, false}}; /* waits for all that was begun */
static const struct plx_way way = {stages, COUNT(stages), results, COUNT(results), judge};

int plx_pipeline_create_raw(struct plx_stages *backend, int width, int height, struct plx_pipeline **ret_pipeline,
                            struct plx_error_message *message)
{
    if (width < 1 || height < 1 || width > PLX_MAX_SIDE || height > PLX_MAX_SIDE)
        return plx_fail(message, PLX_ERR_RANGE, "the image is %d x %d pixels; expected 1 to %d per side", width, height,
                        PLX_MAX_SIDE);
    const struct plx_track_params none = {.confirm = 1};
    struct plx_pipeline *pipeline = calloc(1, sizeof *pipeline);
    if (!pipeline)
        return plx_fail(message, PLX_ERR_NOMEM, "no memory for the pipeline");

    pipeline->way = &way;
    pipeline->stages = backend;
    pipeline->params.right = true;
    pipeline->width = width;
    pipeline->height = height;
    pipeline->identity[PLX_LEFT] = pipeline->identity[PLX_RIGHT] = true;
    pipeline->bytes = plx_pipeline_layout_raw(width, height, pipeline->plane);
    int result = plx_pipeline_allocate_frame(pipeline);
    if (result == 0)
        result = plx_tracks_create(&none, &pipeline->tracks);
    if (result < 0) {
        plx_pipeline_destroy(pipeline);
        return plx_fail(message, result, "the pipeline for %d x %d pixels: %s", width, height, plx_strerror(result));
    }
    *ret_pipeline = pipeline;
    return 0;
}
