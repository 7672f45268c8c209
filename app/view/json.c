/* SPDX-License-Identifier: Apache-2.0 */
#include "app/view/json.h"

#include <math.h>
#include <stdio.h>

#include "core/base/text.h"
#include "core/geometry/stereo.h"

cJSON *plx_json_number(double number, int digits)
{
    if (!isfinite(number))
        return cJSON_CreateNull();
    double unit = pow(10, digits);
    return cJSON_CreateNumber(round(number * unit) / unit);
}

static cJSON *numbers(const float *number, int count)
{
    cJSON *array = cJSON_CreateArray();
    for (int i = 0; i < count; i++)
        cJSON_AddItemToArray(array, plx_json_number((double)number[i], 4));
    return array;
}

/* The distance of each part of the outline; null where nothing of it stands. */
static cJSON *outline_json(const struct plx_obstacle *obstacle, double depth_scale)
{
    cJSON *array = cJSON_CreateArray();
    for (int part = 0; part < PLX_OUTLINE_PARTS; part++)
        cJSON_AddItemToArray(array, obstacle->outline[part] > 0 ? plx_json_number(depth_scale / obstacle->outline[part], 4)
                                                                : cJSON_CreateNull());
    return array;
}

/* DEPTH_SCALE: distance times disparity above infinity, 1/16 px; 0: nothing in metres. */
static cJSON *obstacle_json(const struct plx_obstacle *obstacle, double depth_scale)
{
    const float box[] = {(float)obstacle->x, (float)obstacle->y, (float)obstacle->width, (float)obstacle->height};
    cJSON *item = cJSON_CreateObject();
    cJSON_AddNumberToObject(item, "track", obstacle->track);
    cJSON_AddStringToObject(item, "status", plx_track_word(obstacle->status));
    cJSON_AddNumberToObject(item, "age_frames", obstacle->age_frames);
    cJSON_AddItemToObject(item, "box_px", numbers(box, 4));
    cJSON_AddNumberToObject(item, "area_px", obstacle->area_px);
    cJSON_AddItemToObject(item, "disparity_px", plx_json_number((double)obstacle->disparity_median, 4));
    if (depth_scale <= 0)
        return item;
    cJSON_AddItemToObject(item, "nearest_m", plx_json_number((double)obstacle->nearest_m, 4));
    const double sigma_m = (double)obstacle->nearest_sigma_m;
    cJSON_AddItemToObject(item, "nearest_sigma_m", sigma_m > 0 ? plx_json_number(sigma_m, 4) : cJSON_CreateNull());
    cJSON_AddItemToObject(item, "outline_m", outline_json(obstacle, depth_scale));
    cJSON_AddItemToObject(item, "position_m", numbers(obstacle->position_m, 3));
    cJSON_AddItemToObject(item, "extent_m", numbers(obstacle->extent_m, 3));
    cJSON_AddItemToObject(item, "height_m", plx_json_number((double)obstacle->height_m, 4));
    cJSON_AddItemToObject(item, "velocity_mps", numbers(obstacle->velocity_mps, 3));
    const bool world = obstacle->world_velocity_variance[0] > 0; /* else nothing is known */
    cJSON_AddItemToObject(item, "world_velocity_mps", world ? numbers(obstacle->world_velocity_mps, 3) : cJSON_CreateNull());
    cJSON_AddItemToObject(item, "moving", world ? cJSON_CreateBool(obstacle->moving != 0) : cJSON_CreateNull());
    cJSON_AddItemToObject(item, "size_m", numbers(obstacle->size_m, 2));
    cJSON_AddStringToObject(item, "size_class", plx_size_word(obstacle->size_class));
    cJSON_AddItemToObject(item, "confidence", plx_json_number((double)obstacle->confidence, 4));
    return item;
}

cJSON *plx_json_obstacles(const struct plx_frame *frame, bool metric)
{
    const struct plx_obstacle *sorted[PLX_MAX_OBSTACLES];
    if (frame->blind) /* an empty list would mean that the way is free */
        return cJSON_CreateNull();
    const double depth_scale = plx_depth_scale_m(&frame->calibration);
    int count = plx_obstacles_by_distance(frame, sorted);
    cJSON *array = cJSON_CreateArray();
    for (int i = 0; i < count; i++)
        cJSON_AddItemToArray(array, obstacle_json(sorted[i], metric ? depth_scale : 0));
    return array;
}

cJSON *plx_json_drop(const struct plx_drop *drop)
{
    if (!drop->known)
        return cJSON_CreateNull();
    cJSON *item = cJSON_CreateObject();
    cJSON_AddItemToObject(item, "ahead_m", plx_json_number(drop->ahead_m, 2));
    cJSON_AddItemToObject(item, "x_px", drop->width > 0 ? cJSON_CreateNumber(drop->x) : cJSON_CreateNull());
    cJSON_AddNumberToObject(item, "width_px", drop->width);
    return item;
}

/* Rounded to millimetres; null where the first one is not known. */
static cJSON *known_numbers(const float *number, int count)
{
    if (isnan(number[0]))
        return cJSON_CreateNull();
    cJSON *array = cJSON_CreateArray();
    for (int i = 0; i < count; i++)
        cJSON_AddItemToArray(array, plx_json_number((double)number[i], 3));
    return array;
}

cJSON *plx_json_location(const struct plx_box *box, const struct plx_location *l)
{
    cJSON *object = cJSON_CreateObject(), *pixels = cJSON_AddArrayToObject(object, "box_px");
    const int32_t number[] = {box->x, box->y, box->width, box->height};
    for (size_t i = 0; i < sizeof number / sizeof *number; i++)
        cJSON_AddItemToArray(pixels, cJSON_CreateNumber(number[i]));
    cJSON_AddStringToObject(object, "state", plx_location_word(l->state));
    cJSON_AddItemToObject(object, "distance_m", plx_json_number((double)l->distance_m, 3));
    cJSON_AddItemToObject(object, "sigma_m", plx_json_number((double)l->sigma_m, 3));
    cJSON_AddItemToObject(object, "position_m", known_numbers(l->position_m, 3));
    cJSON_AddItemToObject(object, "base_m", known_numbers(l->base_m, 3));
    cJSON_AddItemToObject(object, "size_m", known_numbers(l->size_m, 2));
    cJSON_AddItemToObject(object, "share", plx_json_number((double)l->share, 3));
    cJSON_AddItemToObject(object, "track", l->track > 0 ? cJSON_CreateNumber(l->track) : cJSON_CreateNull());
    cJSON_AddItemToObject(object, "velocity_mps", known_numbers(l->velocity_mps, 3));
    return object;
}

cJSON *plx_json_names(uint32_t bits, const char *(*name)(int bit))
{
    cJSON *array = cJSON_CreateArray();
    for (int bit = 0; bit < 32; bit++)
        if (bits >> bit & 1u)
            cJSON_AddItemToArray(array, cJSON_CreateString(name(bit)));
    return array;
}

cJSON *plx_json_health(uint32_t health)
{
    return plx_json_names(health, plx_health_name);
}

cJSON *plx_json_blind(uint32_t blind)
{
    return plx_json_names(blind, plx_blind_name);
}

cJSON *plx_json_stages(const uint32_t stage_us[PLX_STAGE_COUNT])
{
    cJSON *item = cJSON_CreateObject();
    for (int i = 0; i < PLX_STAGE_COUNT; i++)
        cJSON_AddNumberToObject(item, plx_stage_word(i), stage_us[i]);
    return item;
}

cJSON *plx_json_alignment(const struct plx_alignment_info *alignment)
{
    if (alignment->patches == 0)
        return cJSON_CreateNull();
    cJSON *item = cJSON_CreateObject();
    cJSON_AddNumberToObject(item, "patches", alignment->patches);
    cJSON_AddItemToObject(item, "epipolar_error_px", plx_json_number((double)alignment->epipolar_error_px, 3));
    cJSON_AddItemToObject(item, "max_epipolar_error_px", plx_json_number((double)alignment->max_epipolar_error_px, 3));
    cJSON_AddItemToObject(item, "pitch_rad", plx_json_number((double)alignment->pitch_rad, 6));
    cJSON_AddItemToObject(item, "roll_rad", plx_json_number((double)alignment->roll_rad, 6));
    cJSON_AddItemToObject(item, "scale", plx_json_number((double)alignment->scale, 6));
    return item;
}

cJSON *plx_json_correction(const struct plx_correction *correction)
{
    cJSON *item = cJSON_CreateObject();
    cJSON_AddItemToObject(item, "pitch_rad", plx_json_number((double)correction->pitch_rad, 7));
    cJSON_AddItemToObject(item, "roll_rad", plx_json_number((double)correction->roll_rad, 7));
    cJSON_AddItemToObject(item, "bend_rad", plx_json_number((double)correction->bend_rad, 7));
    cJSON_AddItemToObject(item, "scale", plx_json_number((double)correction->scale, 7));
    cJSON_AddItemToObject(item, "disparity_offset_px", plx_json_number((double)correction->disparity_offset_px, 3));
    cJSON_AddItemToObject(item, "curve_px", plx_json_number((double)correction->curve_px, 3));
    return item;
}

cJSON *plx_json_corrections(const struct plx_correction_info *corrections)
{
    const struct {
        const char *number, *name;
        uint32_t value;
        const struct plx_correction *correction;
    } list[] = {{"number", "applied", corrections->number, &corrections->applied},
                {"proposed_number", "proposed", corrections->proposed_number, &corrections->proposed}};
    cJSON *item = cJSON_CreateObject();

    for (int i = 0; i < 2; i++) {
        cJSON_AddItemToObject(item, list[i].number, plx_json_number(list[i].value, 0));
        cJSON_AddItemToObject(item, list[i].name,
                              list[i].value > 0 ? plx_json_correction(list[i].correction) : cJSON_CreateNull());
    }
    return item;
}

cJSON *plx_json_white_balance(const struct plx_colour_info *colour)
{
    if (!colour->known)
        return cJSON_CreateNull();
    return numbers(colour->gain, 3);
}

cJSON *plx_json_drift(const struct plx_drift_info *drift)
{
    const struct {
        const char *name;
        float value;
        int digits;
    } number[] = {
        {"pitch_rad", drift->pitch_rad, 7},
        {"roll_rad", drift->roll_rad, 7},
        {"bend_rad", drift->bend_rad, 7},
        {"scale", drift->scale, 7},
        {"pitch_deviation_rad", drift->pitch_deviation_rad, 7},
        {"roll_deviation_rad", drift->roll_deviation_rad, 7},
        {"bend_deviation_rad", drift->bend_deviation_rad, 7},
        {"scale_deviation", drift->scale_deviation, 7},
        {"epipolar_error_px", drift->epipolar_error_px, 3},
        {"residual_px", drift->residual_px, 3},
        {"max_epipolar_error_px", drift->max_epipolar_error_px, 3},
        {"disparity_offset_px", drift->disparity_offset_px, 3},
        {"disparity_offset_deviation_px", drift->disparity_offset_deviation_px, 3},
        {"curve_px", drift->curve_px, 3},
        {"curve_deviation_px", drift->curve_deviation_px, 3},
        {"side_px", drift->side_px, 3},
        {"side_deviation_px", drift->side_deviation_px, 3},
    };
    if (drift->matches == 0 && drift->disparity_offset_deviation_px <= 0)
        return cJSON_CreateNull();
    cJSON *item = cJSON_CreateObject();
    cJSON_AddNumberToObject(item, "matches", drift->matches);
    for (size_t i = 0; i < sizeof number / sizeof number[0]; i++)
        cJSON_AddItemToObject(item, number[i].name, plx_json_number((double)number[i].value, number[i].digits));
    return item;
}

static cJSON *doubles(const double *number, int count, int digits)
{
    cJSON *array = cJSON_CreateArray();
    for (int i = 0; i < count; i++)
        cJSON_AddItemToArray(array, plx_json_number(number[i], digits));
    return array;
}

static cJSON *pose_json(const struct plx_pose *pose)
{
    cJSON *item = cJSON_CreateObject();
    cJSON_AddItemToObject(item, "rotation", doubles(pose->rotation, 9, 9));
    cJSON_AddItemToObject(item, "translation_m", doubles(pose->translation, 3, 6));
    return item;
}

cJSON *plx_json_motion(const struct plx_motion_info *motion)
{
    double speed_mps = NAN, turn_radps = NAN;
    if (motion->source == PLX_MOTION_NONE)
        return cJSON_CreateNull();
    plx_motion_rates(motion, &speed_mps, &turn_radps);
    cJSON *item = cJSON_CreateObject();
    cJSON_AddBoolToObject(item, "valid", motion->valid != 0);
    cJSON_AddItemToObject(item, "speed_mps", plx_json_number(speed_mps, 4));
    cJSON_AddItemToObject(item, "turn_radps", plx_json_number(turn_radps, 5));
    cJSON_AddItemToObject(item, "interval_ms", plx_json_number(motion->valid ? (double)motion->interval_ns / 1e6 : NAN, 6));
    cJSON_AddItemToObject(item, "motion", motion->valid ? pose_json(&motion->motion) : cJSON_CreateNull());
    cJSON_AddItemToObject(item, "pose", pose_json(&motion->pose));
    cJSON_AddNumberToObject(item, "corners", motion->corners);
    cJSON_AddNumberToObject(item, "tracked", motion->tracked);
    cJSON_AddNumberToObject(item, "inliers", motion->inliers);
    cJSON_AddNumberToObject(item, "breaks", motion->breaks);
    return item;
}

static void print_and_delete(cJSON *item, char *text)
{
    if (text)
        puts(text);
    cJSON_free(text);
    cJSON_Delete(item);
}

void plx_json_print(cJSON *item)
{
    print_and_delete(item, cJSON_Print(item));
}

void plx_json_print_line(cJSON *item)
{
    print_and_delete(item, cJSON_PrintUnformatted(item));
}
