/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of a pipeline: defaults, ranges, and the layout of its frames. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "core/pipeline/internal.h"

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
        .colour = {.matrix = {1, 0, 0, 0, 1, 0, 0, 0, 1}},
        .speckle = {.max_size = 0, .max_step = 16},
        .temporal = {.max_step = 0, .weight = 128},
        .ground = true,
        .stixels = true,
        .obstacles = true,
        .motion = PLX_MOTION_VISUAL,
        .correction = PLX_CORRECTION_ROWS,
        .ground_tolerance = 12,
        .obstacle = {.range_min_m = 0.3,
                     .range_max_m = 20,
                     .min_height_m = 0.25,
                     .max_height_m = 3,
                     .min_drop_m = 0.1,
                     .method = PLX_OBSTACLES_OF_STIXELS,
                     .open_size = 3,
                     .close_size = 3,
                     .max_step = 8,
                     .min_area = 100},
        .track = {.min_hits = 2, .max_missed = 5, .gate_m = 0.8, .accel_mps2 = 1},
        .map = {.enabled = true, .memory_s = 30},
        .verdict = {.stop_flags = PLX_HEALTH_CAMERA_LOST_LEFT | PLX_HEALTH_CAMERA_LOST_RIGHT | PLX_HEALTH_NO_FRAMES |
                                  PLX_HEALTH_DESYNC | PLX_HEALTH_TIMESTAMP | PLX_HEALTH_FROZEN | PLX_HEALTH_DARK |
                                  PLX_HEALTH_OVEREXPOSED | PLX_HEALTH_MISALIGNED | PLX_HEALTH_LATE | PLX_HEALTH_BUFFER_ERROR |
                                  PLX_HEALTH_NOT_CALIBRATED | PLX_HEALTH_CAMERA_MOVED,
                    .slow_flags =
                        PLX_HEALTH_BRIGHTNESS_MISMATCH | PLX_HEALTH_BLURRED | PLX_HEALTH_OVERLOAD | PLX_HEALTH_GROUND_LOST},
    };
    plx_match_default(&ret_params->match);
}

#define FIELD(field) #field, offsetof(struct plx_pipeline_params, field)
#define MIN_TEMPERATURE_K 1700 /* of the formula for black bodies */
#define MAX_ELEMENT 8          /* of the colour matrix */
#define DISPARITY_STEP 4095    /* 1/16 px: no two disparities differ by more */

static const struct plx_parameter list[] = {
    {FIELD(prefilter_width), PLX_ODD(1, PLX_MAX_WINDOW)},
    {FIELD(prefilter_height), PLX_ODD(1, PLX_MAX_WINDOW)},
    {FIELD(colour.red_gain), PLX_REAL(0, PLX_COLOUR_MAX_GAIN)},
    {FIELD(colour.blue_gain), PLX_REAL(0, PLX_COLOUR_MAX_GAIN)},
    {FIELD(colour.temperature_k), PLX_REAL(0, 20000)},
    {FIELD(colour.black_level), PLX_WHOLE(0, 65535)},
    {FIELD(speckle.max_size), PLX_WHOLE(0, 1000000)},
    {FIELD(speckle.max_step), PLX_WHOLE(0, DISPARITY_STEP)},
    {FIELD(temporal.max_step), PLX_WHOLE(0, DISPARITY_STEP)},
    {FIELD(temporal.weight), PLX_WHOLE(1, 256)},
    {FIELD(ground_tolerance), PLX_WHOLE(1, DISPARITY_STEP)},
    {FIELD(obstacle.range_min_m), PLX_REAL(0.01, 1000)},
    {FIELD(obstacle.range_max_m), PLX_REAL(0.01, 1000)},
    {FIELD(obstacle.min_height_m), PLX_REAL(0, 100)},
    {FIELD(obstacle.max_height_m), PLX_REAL(0, 100)},
    {FIELD(obstacle.min_drop_m), PLX_REAL(0, 10)},
    {FIELD(obstacle.open_size), PLX_ODD(1, PLX_MAX_WINDOW)},
    {FIELD(obstacle.close_size), PLX_ODD(1, PLX_MAX_WINDOW)},
    {FIELD(obstacle.max_step), PLX_WHOLE(0, DISPARITY_STEP)},
    {FIELD(obstacle.min_area), PLX_WHOLE(1, 1000000)},
    {FIELD(track.min_hits), PLX_WHOLE(1, 1000)},
    {FIELD(track.max_missed), PLX_WHOLE(0, 1000)},
    {FIELD(track.gate_m), PLX_REAL(0.01, 100)},
    {FIELD(track.accel_mps2), PLX_REAL(0.001, 1000)},
    {FIELD(mount.x_m), PLX_REAL(-10, 10)},
    {FIELD(mount.y_m), PLX_REAL(-10, 10)},
    {FIELD(mount.z_m), PLX_REAL(0, 10)},
    {FIELD(mount.roll_deg), PLX_REAL(-45, 45)},
    {FIELD(mount.pitch_deg), PLX_REAL(-45, 89)},
    {FIELD(mount.yaw_deg), PLX_REAL(-180, 180)},
    {FIELD(map.memory_s), PLX_REAL(0.5, 3600)},
    {FIELD(map.front_m), PLX_REAL(0, 3)},
    {FIELD(map.back_m), PLX_REAL(0, 3)},
    {FIELD(map.width_m), PLX_REAL(0, 3)},
    {FIELD(verdict.reaction_ms), PLX_REAL(0, 10000)},
};
const struct plx_parameters plx_pipeline_parameters = {list, sizeof list / sizeof list[0]};

/* Checks combinations of parameters, also with an image of WIDTH columns. */
static int check_combinations(const struct plx_pipeline_params *params, int width, struct plx_parameter_error *ret_error)
{
    const struct plx_match *match = &params->match;
    const struct plx_obstacle_params *obstacle = &params->obstacle;
    const struct plx_colour_params *colour = &params->colour;

    if (match->disparities > width)
        return plx_parameter_refuse(ret_error, FIELD(match.disparities), match->disparities,
                                    "at most the image's width of %d pixels; choose fewer disparities or a wider picture",
                                    width);
    if (match->min_disparity >= width || match->min_disparity + match->disparities <= -width)
        return plx_parameter_refuse(ret_error, FIELD(match.min_disparity), match->min_disparity,
                                    "%d to %d, so that pixels of a row of %d have partners", 1 - width - match->disparities,
                                    width - 1, width);
    if (colour->temperature_k > 0 && colour->temperature_k < MIN_TEMPERATURE_K)
        return plx_parameter_refuse(ret_error, FIELD(colour.temperature_k), colour->temperature_k, "0, or %d to 20000",
                                    MIN_TEMPERATURE_K);
    if ((colour->red_gain > 0) != (colour->blue_gain > 0))
        return plx_parameter_refuse(ret_error, FIELD(colour.red_gain), colour->red_gain,
                                    "a gain above 0 where blue_gain has one (%g), or 0 for both", colour->blue_gain);
    for (int i = 0; i < PLX_CHANNELS * PLX_CHANNELS; i++)
        if (!(fabs(colour->matrix[i]) <= MAX_ELEMENT))
            return plx_parameter_refuse(ret_error, FIELD(colour.matrix), colour->matrix[i], "elements from -%d to %d",
                                        MAX_ELEMENT, MAX_ELEMENT);
    if (obstacle->range_min_m >= obstacle->range_max_m)
        return plx_parameter_refuse(ret_error, FIELD(obstacle.range_min_m), obstacle->range_min_m, "less than range_max_m (%g)",
                                    obstacle->range_max_m);
    if (obstacle->min_height_m >= obstacle->max_height_m)
        return plx_parameter_refuse(ret_error, FIELD(obstacle.min_height_m), obstacle->min_height_m,
                                    "less than max_height_m (%g)", obstacle->max_height_m);
    return 0;
}

int plx_pipeline_params_check(const struct plx_pipeline_params *params, int width, int height,
                              struct plx_parameter_error *ret_error)
{
    const struct {
        const char *name;
        int pixels;
    } side[] = {{"the image's width", width}, {"the image's height", height}};

    for (int i = 0; i < 2; i++)
        if (side[i].pixels < 1 || side[i].pixels > PLX_MAX_SIDE)
            return plx_parameter_refuse(ret_error, side[i].name, SIZE_MAX, side[i].pixels, "1 to %d pixels", PLX_MAX_SIDE);
    int result = plx_match_check(&params->match, ret_error);
    if (result < 0 && ret_error)
        ret_error->offset += offsetof(struct plx_pipeline_params, match);
    if (result == 0)
        result = plx_parameters_check(&plx_pipeline_parameters, params, ret_error);
    return result == 0 ? check_combinations(params, width, ret_error) : result;
}

/* --- planes --------------------------------------------------------------------------------------------------------------- */

enum shape { IMAGE, HISTOGRAMS, ONE_ROW_OF_COLUMNS, ONE_ROW_A_COLUMN, GRID };

/* The shape of each plane, IMAGE unless it is named. */
static const enum shape shape_of[PLX_PLANE_COUNT] = {
    [PLX_PLANE_HISTOGRAM] = HISTOGRAMS,
    [PLX_PLANE_SCAN] = ONE_ROW_OF_COLUMNS,
    [PLX_PLANE_STIXELS] = ONE_ROW_A_COLUMN,
    [PLX_PLANE_MAP] = GRID,
};

static uint32_t round_up(uint32_t value, uint32_t unit)
{
    return (value + unit - 1) / unit * unit;
}

/* Width and height of images of WIDTH x HEIGHT, elements. */
static void size_plane(enum shape shape, int width, int height, struct plx_plane *plane)
{
    const uint32_t columns = (uint32_t)plx_columns_of(width);
    const uint32_t size[][2] = {
        [IMAGE] = {(uint32_t)width, (uint32_t)height}, [HISTOGRAMS] = {PLX_HISTOGRAM_BINS, PLX_EYES * PLX_HISTOGRAM_EYE_ROWS},
        [ONE_ROW_OF_COLUMNS] = {columns, 1},           [ONE_ROW_A_COLUMN] = {PLX_COLUMN_STIXELS, columns},
        [GRID] = {PLX_MAP_CELLS, PLX_MAP_CELLS},
    };
    plane->width = size[shape][0];
    plane->height = size[shape][1];
}

/* Lays out the planes of frames of KIND; the others have width 0. */
static uint32_t lay_out(const struct plx_frame_kind *kind, int width, int height, struct plx_plane ret_plane[PLX_PLANE_COUNT])
{
    uint32_t offset = round_up(sizeof(struct plx_frame), PAGE);

    memset(ret_plane, 0, PLX_PLANE_COUNT * sizeof *ret_plane);
    for (int i = 0; i < PLX_PLANE_COUNT; i++) {
        if (!plx_plan_has_plane(kind, (enum plx_plane_id)i))
            continue;
        struct plx_plane *plane = &ret_plane[i];
        size_plane(shape_of[i], width, height, plane);
        plane->element = plx_plane_element((enum plx_plane_id)i);
        plane->pitch = round_up(plane->width * plane->element, ROW_ALIGNMENT);
        plane->offset = offset;
        offset += round_up(plane->pitch * plane->height, PAGE);
    }
    return offset;
}

uint32_t plx_pipeline_layout(const struct plx_pipeline_params *params, int width, int height,
                             struct plx_plane ret_plane[PLX_PLANE_COUNT])
{
    return lay_out(&(struct plx_frame_kind){.params = params}, width, height, ret_plane);
}

uint32_t plx_pipeline_layout_raw(int width, int height, struct plx_plane ret_plane[PLX_PLANE_COUNT])
{
    const struct plx_pipeline_params raw = {.right = true};
    return lay_out(&(struct plx_frame_kind){.params = &raw, .raw = true}, width, height, ret_plane);
}
