/* SPDX-License-Identifier: Apache-2.0 */
/* Creates pipelines: everything that is allocated and computed before the first frame. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "core/base/units.h"
#include "core/geometry/stereo.h"
#include "core/pipeline/confidence.h"
#include "core/pipeline/internal.h"

#define ROW_ALIGNMENT 64u
#define MAX_LOOK_DOWN 0.6 /* tangent of the camera's pitch, where the horizon is looked for */
#define MAX_LOOK_UP 0.3

/* Shared with the CPU, or local to the stages. */
enum reach { SHARED, LOCAL };

/* Local memory begins with CONTENT, or zeros if NULL. */
static int allocate(struct plx_pipeline *pipeline, enum reach reach, size_t bytes, const void *content, void **ret_data)
{
    struct plx_stages *stages = pipeline->stages;

    if (pipeline->buffers == PLX_PIPELINE_BUFFERS)
        return PLX_ERR_RANGE;
    const int result = reach == SHARED ? stages->ops->alloc(stages, bytes, ret_data)
                                       : stages->ops->alloc_local(stages, bytes, content, ret_data);
    if (result == 0)
        pipeline->buffer[pipeline->buffers++] = *ret_data;
    return result;
}

static size_t lay_out_image(int width, int height, enum plx_type type, struct plx_image *ret_image)
{
    *ret_image = (struct plx_image){.width = width, .height = height, .type = type};
    ret_image->pitch = ((size_t)width * (size_t)type + ROW_ALIGNMENT - 1) / ROW_ALIGNMENT * ROW_ALIGNMENT;
    return ret_image->pitch * (size_t)height;
}

/* The type of the image ID that is no plane, and in *RET_IMAGE its size if that is not the rectified one. 0: no such image. */
static unsigned image_type(const struct plx_pipeline *pipeline, const struct plx_stereo_calibration *calibration, int id,
                           struct plx_image *ret_size)
{
    const struct plx_match *match = &pipeline->params.match;

    switch (id) {
    case PLX_IMAGE_GREY_LEFT:
    case PLX_IMAGE_GREY_RIGHT:
        ret_size->width = calibration->camera[id - PLX_IMAGE_GREY_LEFT].width;
        ret_size->height = calibration->camera[id - PLX_IMAGE_GREY_LEFT].height;
        return PLX_U8;
    case PLX_IMAGE_COLOUR:
        ret_size->width = calibration->camera[PLX_LEFT].width;
        ret_size->height = calibration->camera[PLX_LEFT].height;
        return PLX_RGB;
    case PLX_IMAGE_COLOUR_SUMS:
        ret_size->width = plx_colour_sum_columns(calibration->camera[PLX_LEFT].height);
        ret_size->height = PLX_COLOUR_SUMS;
        return PLX_U64;
    case PLX_IMAGE_CHECKSUMS:
        ret_size->width = PLX_CHECKSUM_TILES;
        ret_size->height = PLX_EYES;
        return PLX_U64;
    case PLX_IMAGE_STEPS:
        ret_size->width = plx_sharpness_columns(pipeline->height);
        ret_size->height = 2 * PLX_EYES;
        return PLX_U32;
    case PLX_IMAGE_GROUND:
        ret_size->width = (int)sizeof(struct plx_ground);
        ret_size->height = 1;
        return PLX_U8;
    case PLX_IMAGE_PYRAMIDS:
        ret_size->height = 2 * plx_pyramid_rows(pipeline->width, pipeline->height);
        return PLX_U8;
    case PLX_IMAGE_CORNERS:
        ret_size->width = plx_corner_cells(pipeline->width);
        ret_size->height = plx_corner_cells(pipeline->height);
        return PLX_U128;
    case PLX_IMAGE_FLOW:
        ret_size->width = (int)(PLX_MAX_CORNERS * sizeof(struct plx_flow_found));
        ret_size->height = 1;
        return PLX_U8;
    case PLX_IMAGE_CENSUS_LEFT:
    case PLX_IMAGE_CENSUS_RIGHT:
        return match->census == PLX_CENSUS_FULL_9X7 ? PLX_U64 : PLX_U32;
    case PLX_IMAGE_GRADIENT_LEFT:
    case PLX_IMAGE_GRADIENT_RIGHT:
        return match->gradient_cap > 0 ? PLX_U16 : 0;
    case PLX_IMAGE_REGIONS:
        return PLX_U32;
    case PLX_IMAGE(RIGHT): /* where it is not published */
    case PLX_IMAGE_SMOOTH_LEFT:
    case PLX_IMAGE_SMOOTH_RIGHT:
    case PLX_IMAGE_KNOWN:
    case PLX_IMAGE_MASK:
    case PLX_IMAGE_OPENED:
    case PLX_IMAGE_CLOSED:
        return PLX_U8;
    default:
        return PLX_U16; /* disparities */
    }
}

/* One image between steps: in local memory, or in shared memory if the CPU reads it too. */
static int allocate_image(struct plx_pipeline *pipeline, const struct plx_stereo_calibration *calibration, int id)
{
    const bool for_cpu = pipeline->plan.image[id].for_cpu, copies = pipeline->stages->ops->copies_outputs;
    struct plx_image size = {.width = pipeline->width, .height = pipeline->height}, *image = &pipeline->image[id];
    const unsigned type = image_type(pipeline, calibration, id, &size);
    void *content = NULL;
    int result = 0;

    if (type == 0)
        return 0;
    const size_t bytes = lay_out_image(size.width, size.height, (enum plx_type)type, image);
    if (id == PLX_IMAGE_HISTORY) {
        content = malloc(bytes);
        if (!content)
            return PLX_ERR_NOMEM;
        memset(content, 0xFF, bytes); /* all invalid */
    }
    pipeline->seen[id] = *image;
    if (for_cpu)
        result = allocate(pipeline, SHARED, bytes, NULL, &pipeline->seen[id].data);
    image->data = pipeline->seen[id].data;
    if (result == 0 && (!for_cpu || copies))
        result = allocate(pipeline, LOCAL, bytes, content, &image->data);
    free(content);
    return result;
}

static void make_plan(struct plx_pipeline *pipeline)
{
    const struct plx_frame_kind kind = {
        &pipeline->params, pipeline->raw, {pipeline->identity[PLX_LEFT], pipeline->identity[PLX_RIGHT]}};
    plx_plan_make(&kind, &pipeline->plan);
}

/* What steps hand on, and what stages find. */
static int allocate_images(struct plx_pipeline *pipeline, const struct plx_stereo_calibration *calibration)
{
    void *results;
    int result = allocate(pipeline, SHARED, sizeof *pipeline->results, NULL, &results);

    if (result < 0)
        return result;
    pipeline->results = results;
    if (pipeline->stages->ops->copies_outputs)
        result = allocate(pipeline, LOCAL, pipeline->bytes, NULL, &pipeline->device_planes);
    for (int id = PLX_IMAGE_PLANES; id < PLX_IMAGES && result == 0; id++) {
        const bool is_plane = id < PLX_IMAGE_PLANES + PLX_PLANE_COUNT;
        if (is_plane && pipeline->plane[id - PLX_IMAGE_PLANES].width > 0)
            continue; /* in the frame */
        if (is_plane ? pipeline->plan.image[id].completed_by >= 0 : pipeline->plan.image[id].is_used)
            result = allocate_image(pipeline, calibration, id);
    }
    return result;
}

/* The rectification map, in local memory. */
static int fill_map(struct plx_pipeline *pipeline, const struct plx_stereo_calibration *calibration, enum plx_eye eye)
{
    struct plx_remap *map = &pipeline->map[eye];
    map->width = pipeline->width;
    map->height = pipeline->height;
    const size_t bytes = (size_t)map->width * (size_t)map->height * sizeof *map->entry;
    void *entry = NULL;

    map->entry = malloc(bytes);
    if (!map->entry)
        return PLX_ERR_NOMEM;
    int result = plx_remap_fill(calibration, eye, NULL, map);
    if (result == 0)
        result = allocate(pipeline, LOCAL, bytes, map->entry, &entry);
    free(map->entry);
    map->entry = entry;
    return result;
}

/* Whether the frame shows pictures of EYE as they are captured. */
static bool shows_as_captured(const struct plx_pipeline *pipeline, const struct plx_stereo_calibration *calibration,
                              enum plx_eye eye)
{
    const struct plx_camera *camera = &calibration->camera[eye];
    const bool stays = eye == PLX_LEFT || pipeline->params.correction == PLX_CORRECTION_OFF;

    return stays && plx_calibration_is_identity(calibration, eye) && camera->width == pipeline->width &&
           camera->height == pipeline->height;
}

/* The configured distances as disparities. */
static int prepare_ranges(struct plx_pipeline *pipeline, struct plx_error_message *message)
{
    const struct plx_pipeline_params *params = &pipeline->params;
    const struct plx_calibration_info *c = &pipeline->calibration;
    const double largest = params->match.disparities * PLX_DISPARITY_ONE - 1;
    const double near = plx_plane_of_depth(c, params->match.min_disparity, params->obstacle.range_min_m);
    const double far = plx_plane_of_depth(c, params->match.min_disparity, params->obstacle.range_max_m);

    if ((params->obstacles || params->stixels) && (near < 0 || far > largest))
        return plx_fail(message, PLX_ERR_RANGE,
                        "obstacles between %g m (disparity %.1f px) and %g m (%.1f px) lie outside the searched %d to %d px; "
                        "change these distances, the number of disparities or the smallest disparity",
                        params->obstacle.range_min_m, near / PLX_DISPARITY_ONE + params->match.min_disparity,
                        params->obstacle.range_max_m, far / PLX_DISPARITY_ONE + params->match.min_disparity,
                        params->match.min_disparity, params->match.min_disparity + params->match.disparities - 1);
    if (pipeline->plane[PLX_PLANE_CONFIDENCE].width > 0)
        plx_confidence_errors(&params->match, &pipeline->errors);
    pipeline->blind_within_m =
        (float)plx_depth_of_disparity(c, plx_disparity_of_plane(c, params->match.min_disparity, fmin(near, largest)));
    pipeline->columns_params.disparities = params->match.disparities;
    pipeline->columns_params.min_drop_mm = (int)lround(params->obstacle.min_drop_m * 1e3);
    pipeline->columns_params.mask = (struct plx_mask_params){
        .near_disparity = (int)floor(fmin(near, largest)),
        .far_disparity = (int)ceil(fmax(far, 0)),
        .infinity = plx_disparity_at_infinity(&pipeline->calibration, params->match.min_disparity),
        .min_disparity = params->match.min_disparity,
        .min_height_um = (int32_t)lround(params->obstacle.min_height_m * 1e6),
        .max_height_um = (int32_t)lround(params->obstacle.max_height_m * 1e6),
        .focal_px = (int32_t)fmin(fmax(round(pipeline->calibration.fx), 1), PLX_COLUMNS_MAX_FOCAL),
        .ground_needed = params->ground,
    };
    pipeline->segments_params = (struct plx_segments_params){
        .depth_scale = (int64_t)fmin(fmax(round(plx_depth_scale_mm(c)), 1), (double)PLX_SEGMENTS_MAX_SCALE),
        .infinity = pipeline->columns_params.mask.infinity,
        .min_height_um = pipeline->columns_params.mask.min_height_um,
        .max_height_um = pipeline->columns_params.mask.max_height_um,
        .min_area = params->obstacle.min_area,
    };
    return 0;
}

static struct plx_ground ground_of_mount(const struct plx_pipeline *pipeline)
{
    const struct plx_mount *mount = &pipeline->params.mount;
    const double pitch = mount->pitch_deg / PLX_DEGREES_PER_RAD, roll = mount->roll_deg / PLX_DEGREES_PER_RAD;
    const double normal[3] = {cos(pitch) * sin(roll), cos(pitch) * cos(roll), sin(pitch)};
    return mount->z_m > 0
               ? plx_ground_of(normal, mount->z_m, &pipeline->calibration,
                               plx_disparity_at_infinity(&pipeline->calibration, pipeline->params.match.min_disparity))
               : (struct plx_ground){.valid = 0};
}

static void prepare_ground(struct plx_pipeline *pipeline)
{
    const struct plx_calibration_info *c = &pipeline->calibration;

    pipeline->ground_params = (struct plx_ground_params){
        .enabled = pipeline->params.ground,
        .disparities = pipeline->params.match.disparities,
        .min_disparity = pipeline->params.match.min_disparity,
        .tolerance = pipeline->params.ground_tolerance,
        .horizon_min = (int)lround(c->cy - c->fy * MAX_LOOK_DOWN),
        .horizon_max = (int)lround(c->cy + c->fy * MAX_LOOK_UP),
        .calibration = *c,
        .mount = ground_of_mount(pipeline),
    };
}

/* How pictures are developed, but for the gains. */
static int prepare_colour(struct plx_pipeline *pipeline)
{
    const struct plx_colour_params *params = &pipeline->params.colour;
    uint8_t tone[PLX_COLOUR_FULL + 1];
    void *table;

    plx_white_balance_init(params, &pipeline->white_balance);
    pipeline->development.black = params->black_level;
    for (int i = 0; i < PLX_CHANNELS * PLX_CHANNELS; i++)
        pipeline->development.matrix[i] = (int32_t)lround(params->matrix[i] * PLX_COLOUR_ONE);
    plx_colour_tones(tone);
    const int result = allocate(pipeline, LOCAL, sizeof tone, tone, &table);
    if (result == 0)
        pipeline->development.tone = table;
    return result;
}

static int create_zones(struct plx_pipeline *pipeline)
{
    const struct plx_ground_info none = {.valid = 0};
    struct plx_mount_info mount;

    plx_mount_info(&pipeline->params.mount, &none, &mount);
    const struct plx_zone_view view = {mount.base_from_left, pipeline->calibration,    pipeline->width,
                                       pipeline->height,     pipeline->blind_within_m, pipeline->params.map};
    return plx_zones_create(&pipeline->params.zones, &view, &pipeline->zones);
}

const struct plx_zones *plx_pipeline_zones(const struct plx_pipeline *pipeline)
{
    return pipeline->zones;
}

/* A pipeline without memory of the backend; its frames are WIDTH x HEIGHT pixels. NULL if memory is exhausted. */
static struct plx_pipeline *create_empty(struct plx_stages *stages, int width, int height, struct plx_error_message *message)
{
    struct plx_pipeline *pipeline = calloc(1, sizeof *pipeline);
    if (!pipeline) {
        plx_fail(message, PLX_ERR_NOMEM, "no memory for the pipeline");
        return NULL;
    }
    *pipeline = (struct plx_pipeline){.stages = stages, .width = width, .height = height};
    return pipeline;
}

/* Gives PIPELINE to the caller, or destroys it if RESULT is an error. */
static int finish(struct plx_pipeline *pipeline, int result, struct plx_pipeline **ret_pipeline,
                  struct plx_error_message *message)
{
    if (result < 0) {
        plx_fail(message, result, "the pipeline for %d x %d pixels: %s", pipeline->width, pipeline->height,
                 plx_strerror(result));
        plx_pipeline_destroy(pipeline);
        return result;
    }
    *ret_pipeline = pipeline;
    return 0;
}

int plx_pipeline_create(struct plx_stages *stages, const struct plx_pipeline_params *params,
                        const struct plx_stereo_calibration *calibration, struct plx_pipeline **ret_pipeline,
                        struct plx_error_message *message)
{
    const int width = calibration->rectified_width, height = calibration->rectified_height;
    struct plx_parameter_error error;

    int result = plx_pipeline_params_check(params, width, height, &error);
    if (result < 0)
        return plx_parameter_fail(message, &error);
    struct plx_pipeline *pipeline = create_empty(stages, width, height, message);
    if (!pipeline)
        return PLX_ERR_NOMEM;
    pipeline->params = *params;
    if (calibration->corrected)
        pipeline->params.correction = PLX_CORRECTION_OFF;
    pipeline->bytes = plx_pipeline_layout(params, width, height, pipeline->plane);
    plx_calibration_info(calibration, &pipeline->calibration);
    prepare_ground(pipeline);
    plx_alignment_init(&pipeline->alignment, width, height, pipeline->calibration.fy, params->match.min_disparity,
                       params->match.disparities);
    result = prepare_ranges(pipeline, message);
    if (result < 0) {
        plx_pipeline_destroy(pipeline);
        return result;
    }
    result = plx_filter_make(params->prefilter_gaussian, params->prefilter_width, params->prefilter_height, &pipeline->filter);
    for (int eye = 0; eye < PLX_EYES; eye++)
        pipeline->identity[eye] = shows_as_captured(pipeline, calibration, (enum plx_eye)eye);
    make_plan(pipeline);
    if (result == 0)
        result = allocate_images(pipeline, calibration);
    if (result == 0 && params->colour.enabled)
        result = prepare_colour(pipeline);
    if (result == 0)
        result = plx_learner_create(pipeline->params.correction, calibration, &pipeline->learner);
    for (int eye = 0; eye < PLX_EYES && result == 0; eye++)
        if (!pipeline->identity[eye])
            result = fill_map(pipeline, calibration, (enum plx_eye)eye);
    if (result == 0 && params->motion == PLX_MOTION_VISUAL)
        result = plx_motion_create(width, height, &pipeline->calibration, params->match.min_disparity, &pipeline->motion);
    if (result == 0)
        result = plx_tracks_create(&params->track, &pipeline->tracks);
    if (result == 0 && pipeline->plane[PLX_PLANE_MAP].width > 0)
        result = plx_local_map_create(&params->map, &pipeline->local_map);
    if (result == 0 && pipeline->local_map && params->zones.count > 0)
        result = create_zones(pipeline);
    return finish(pipeline, result, ret_pipeline, message);
}

int plx_pipeline_create_raw(struct plx_stages *stages, int width, int height, struct plx_pipeline **ret_pipeline,
                            struct plx_error_message *message)
{
    if (width < 1 || height < 1 || width > PLX_MAX_SIDE || height > PLX_MAX_SIDE)
        return plx_fail(message, PLX_ERR_RANGE, "the image is %d x %d pixels; expected 1 to %d per side", width, height,
                        PLX_MAX_SIDE);
    struct plx_pipeline *pipeline = create_empty(stages, width, height, message);
    if (!pipeline)
        return PLX_ERR_NOMEM;
    pipeline->raw = true;
    pipeline->params.right = true;
    pipeline->identity[PLX_LEFT] = pipeline->identity[PLX_RIGHT] = true;
    pipeline->bytes = plx_pipeline_layout_raw(width, height, pipeline->plane);
    make_plan(pipeline);
    const int result = allocate_images(pipeline, NULL);
    return finish(pipeline, result, ret_pipeline, message);
}

void plx_pipeline_destroy(struct plx_pipeline *pipeline)
{
    if (!pipeline)
        return;
    plx_learner_destroy(pipeline->learner);
    plx_motion_destroy(pipeline->motion);
    plx_tracks_destroy(pipeline->tracks);
    plx_local_map_destroy(pipeline->local_map);
    plx_zones_destroy(pipeline->zones);
    for (int i = 0; i < pipeline->buffers; i++)
        pipeline->stages->ops->free(pipeline->stages, pipeline->buffer[i]);
    free(pipeline);
}
