/* SPDX-License-Identifier: Apache-2.0 */
/* What a pipeline may be asked for, and the shape of the frames that it then makes. */
#include <math.h>
#include <string.h>

#include <parallax/error.h>

#include "core/pipeline/pipeline.h"

#define PAGE 4096u
#define ROW_ALIGNMENT 64u /* bytes: a cache line, and enough for every vector unit */

void plx_pipeline_params_default(struct plx_pipeline_params *ret_params)
{
    *ret_params = (struct plx_pipeline_params){
        .prefilter_width = 1,
        .prefilter_height = 1,
        .prefilter_gaussian = true,
        .refine = true,
        .dense = true,
        .confidence = true,
        .speckle = {.max_size = 0, .max_step = 16},
        .temporal = {.max_step = 0, .weight = 128},
        .ground = true,
        .obstacles = true,
        .ground_tolerance = 12,
        .obstacle = {.range_min_m = 0.3,
                     .range_max_m = 20,
                     .min_height_m = 0.2,
                     .max_height_m = 3,
                     .open_size = 3,
                     .close_size = 3,
                     .max_step = 8,
                     .min_area = 200},
        .track = {.min_hits = 3, .max_missed = 5, .gate_m = 0.8, .accel_mps2 = 1},
    };
    plx_match_default(&ret_params->match);
}

/* One number of the parameters, its key in the configuration and the range that makes sense. */
struct bound {
    const char *key;
    double value, min, max;
    bool odd;
};

static int check_bounds(const struct plx_pipeline_params *params, struct plx_error_message *message)
{
    const struct bound bounds[] = {
        {"prefilter.width", params->prefilter_width, 1, 31, true},
        {"prefilter.height", params->prefilter_height, 1, 31, true},
        {"refine.speckle_size_px", params->speckle.max_size, 0, 1e6, false},
        {"refine.speckle_step_px16", params->speckle.max_step, 0, 4095, false},
        {"refine.temporal_step_px16", params->temporal.max_step, 0, 4095, false},
        {"refine.temporal_weight", params->temporal.weight, 1, 256, false},
        {"ground.tolerance_px16", params->ground_tolerance, 1, 4095, false},
        {"obstacles.range_min_m", params->obstacle.range_min_m, 0.01, 1000, false},
        {"obstacles.range_max_m", params->obstacle.range_max_m, 0.01, 1000, false},
        {"obstacles.min_height_m", params->obstacle.min_height_m, 0, 100, false},
        {"obstacles.max_height_m", params->obstacle.max_height_m, 0, 100, false},
        {"obstacles.open_size_px", params->obstacle.open_size, 1, 31, true},
        {"obstacles.close_size_px", params->obstacle.close_size, 1, 31, true},
        {"obstacles.max_step_px16", params->obstacle.max_step, 0, 4095, false},
        {"obstacles.min_area_px", params->obstacle.min_area, 1, 1e6, false},
        {"tracks.min_hits", params->track.min_hits, 1, 1000, false},
        {"tracks.max_missed", params->track.max_missed, 0, 1000, false},
        {"tracks.gate_m", params->track.gate_m, 0.01, 100, false},
        {"tracks.accel_mps2", params->track.accel_mps2, 0.001, 1000, false},
    };
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
        const struct bound *bound = &bounds[i];
        if (!(bound->value >= bound->min && bound->value <= bound->max)) /* also when it is NAN */
            return plx_fail(message, PLX_ERR_RANGE, "%s is %g; expected %g to %g", bound->key, bound->value, bound->min,
                            bound->max);
        if (bound->odd && (int)bound->value % 2 == 0)
            return plx_fail(message, PLX_ERR_RANGE, "%s is %g; expected an odd number, so that the window has a centre",
                            bound->key, bound->value);
    }
    return 0;
}

int plx_pipeline_params_check(const struct plx_pipeline_params *params, int width, int height,
                              struct plx_error_message *message)
{
    const struct plx_match *match = &params->match;
    const struct plx_obstacle_params *obstacle = &params->obstacle;

    if (width < 1 || height < 1 || width > PLX_MAX_SIDE || height > PLX_MAX_SIDE)
        return plx_fail(message, PLX_ERR_RANGE, "the rectified image is %d x %d pixels; expected 1 to %d per side", width,
                        height, PLX_MAX_SIDE);
    int result = plx_match_check(match, message);
    if (result < 0)
        return result;
    if (match->disparities > width)
        return plx_fail(
            message, PLX_ERR_RANGE,
            "match.disparities is %d, more than the image's width of %d pixels; choose fewer disparities or a wider "
            "picture",
            match->disparities, width);
    if (match->min_disparity >= width || match->min_disparity + match->disparities <= -width)
        return plx_fail(message, PLX_ERR_RANGE,
                        "match.min_disparity is %d: no pixel of a row of %d has a partner there; expected %d to %d",
                        match->min_disparity, width, 1 - width - match->disparities, width - 1);
    result = check_bounds(params, message);
    if (result < 0)
        return result;
    if (obstacle->range_min_m >= obstacle->range_max_m)
        return plx_fail(message, PLX_ERR_RANGE, "obstacles.range_min_m (%g) must be less than obstacles.range_max_m (%g)",
                        obstacle->range_min_m, obstacle->range_max_m);
    if (obstacle->min_height_m >= obstacle->max_height_m)
        return plx_fail(message, PLX_ERR_RANGE, "obstacles.min_height_m (%g) must be less than obstacles.max_height_m (%g)",
                        obstacle->min_height_m, obstacle->max_height_m);
    return 0;
}

static uint32_t round_up(uint32_t value, uint32_t unit)
{
    return (value + unit - 1) / unit * unit;
}

/* Lays out the planes that are ON; the others have width 0. */
static uint32_t lay_out(const bool on[PLX_PLANE_COUNT], int width, int height, struct plx_plane ret_plane[PLX_PLANE_COUNT])
{
    static const uint32_t element[PLX_PLANE_COUNT] = {
        [PLX_PLANE_LEFT] = 1,       [PLX_PLANE_DISPARITY] = 2, [PLX_PLANE_DENSE] = 2,     [PLX_PLANE_FILLED] = 1,
        [PLX_PLANE_CONFIDENCE] = 1, [PLX_PLANE_LABELS] = 2,    [PLX_PLANE_HISTOGRAM] = 4, [PLX_PLANE_RIGHT] = 1,
    };
    uint32_t offset = round_up(sizeof(struct plx_frame), PAGE);

    memset(ret_plane, 0, PLX_PLANE_COUNT * sizeof *ret_plane);
    for (int i = 0; i < PLX_PLANE_COUNT; i++) {
        if (!on[i])
            continue;
        struct plx_plane *plane = &ret_plane[i];
        bool bins = i == PLX_PLANE_HISTOGRAM;
        plane->width = bins ? PLX_HISTOGRAM_BINS : (uint32_t)width;
        plane->height = bins ? PLX_EYES * (1 + PLX_ZONES * PLX_ZONES) : (uint32_t)height;
        plane->element = element[i];
        plane->pitch = round_up(plane->width * plane->element, ROW_ALIGNMENT);
        plane->offset = offset;
        offset += round_up(plane->pitch * plane->height, PAGE);
    }
    return offset;
}

uint32_t plx_pipeline_layout(const struct plx_pipeline_params *params, int width, int height,
                             struct plx_plane ret_plane[PLX_PLANE_COUNT])
{
    const bool on[PLX_PLANE_COUNT] = {
        [PLX_PLANE_LEFT] = true,
        [PLX_PLANE_DISPARITY] = true,
        [PLX_PLANE_DENSE] = params->refine && params->dense,
        [PLX_PLANE_FILLED] = params->refine && params->dense,
        [PLX_PLANE_CONFIDENCE] = params->refine && params->confidence,
        [PLX_PLANE_LABELS] = params->obstacles,
        [PLX_PLANE_HISTOGRAM] = true,
        [PLX_PLANE_RIGHT] = params->right,
    };
    return lay_out(on, width, height, ret_plane);
}

uint32_t plx_pipeline_layout_raw(int width, int height, struct plx_plane ret_plane[PLX_PLANE_COUNT])
{
    static const bool on[PLX_PLANE_COUNT] = {[PLX_PLANE_LEFT] = true, [PLX_PLANE_HISTOGRAM] = true, [PLX_PLANE_RIGHT] = true};
    return lay_out(on, width, height, ret_plane);
}

struct plx_image plx_pipeline_plane(struct plx_frame *frame, enum plx_plane_id id)
{
    const struct plx_plane *plane = &frame->plane[id];

    if (plane->width == 0)
        return (struct plx_image){.data = NULL};
    return (struct plx_image){.data = (uint8_t *)frame + plane->offset,
                              .width = (int)plane->width,
                              .height = (int)plane->height,
                              .pitch = plane->pitch,
                              .type = (enum plx_type)plane->element};
}
