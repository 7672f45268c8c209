/* SPDX-License-Identifier: Apache-2.0 */
#include "app/view/status.h"

#include <math.h>
#include <stdio.h>

#include <parallax/error.h>

#include "app/tune.h"
#include "app/view/frame_text.h"
#include "app/view/json.h"
#include "app/view/verdict.h"
#include "client/schedule.h"
#include "core/base/clock.h"
#include "core/base/text.h"

int plx_status_read(struct plx_client *client, struct plx_status *status)
{
    const int state = plx_state(client);
    if (state < 0)
        return state;
    status->up = true;
    status->state = (uint32_t)state;
    status->health = plx_health(client);
    status->restarts = plx_restarts(client);
    status->schedule = plx_client_gpu_schedule(client);
    plx_reason(client, status->reason, sizeof status->reason);
    plx_verdict(client, &status->verdict);
    return 0;
}

void plx_status_faults(const struct plx_status *status, char ret_text[PLX_FAULTS_TEXT])
{
    const char *note = status->any ? plx_source_note(status->frame.source) : "";
    char faults[512];
    plx_health_sentence(status->health, faults, sizeof faults);
    snprintf(ret_text, PLX_FAULTS_TEXT, "%s%s%s", faults, *note ? "; " : "", note);
}

void plx_status_print_age(const struct plx_status *status)
{
    char age[PLX_DURATION_TEXT];
    const int64_t age_ns = plx_age_ns(&status->frame);
    plx_duration_text(age_ns, age, sizeof age);
    if (status->any && age_ns != INT64_MAX)
        printf("no frames, the last picture is %s old", age);
    else
        fputs("no frames", stdout);
}

/* --- as JSON ------------------------------------------------------------------------------------------------------------- */

/* NUMBER, or null if it is not KNOWN. */
static cJSON *number_if(bool known, double number)
{
    return known ? cJSON_CreateNumber(number) : cJSON_CreateNull();
}

static cJSON *calibration_json(const struct plx_frame *frame)
{
    const struct plx_calibration_info *calibration = &frame->calibration;
    if (plx_frame_is_raw(frame))
        return cJSON_CreateNull();
    cJSON *item = cJSON_CreateObject();
    cJSON_AddItemToObject(item, "fx", plx_json_number(calibration->fx, 6));
    cJSON_AddItemToObject(item, "fy", plx_json_number(calibration->fy, 6));
    cJSON_AddItemToObject(item, "cx", plx_json_number(calibration->cx, 6));
    cJSON_AddItemToObject(item, "cy", plx_json_number(calibration->cy, 6));
    cJSON_AddItemToObject(item, "cx_right", plx_json_number(calibration->cx_right, 6));
    cJSON_AddItemToObject(item, "baseline_m", plx_json_number(calibration->baseline_m, 6));
    return item;
}

static cJSON *capture_json(const struct plx_capture_info *capture)
{
    cJSON *item = cJSON_CreateObject();
    cJSON_AddNumberToObject(item, "exposure_us", capture->exposure_us);
    cJSON_AddItemToObject(item, "gain", plx_json_number((double)capture->gain, 4));
    cJSON_AddNumberToObject(item, "dropped", (double)capture->dropped);
    cJSON_AddStringToObject(item, "memory", plx_memory_word(capture->memory));
    cJSON_AddStringToObject(item, "clock", plx_clock_word(capture->clock));
    cJSON_AddItemToObject(item, "clock_offset_s", plx_json_number((double)capture->clock_offset_ns / PLX_NS_PER_S, 9));
    return item;
}

static cJSON *mount_json(const struct plx_mount_info *mount)
{
    const struct {
        const char *name;
        float value;
    } number[] = {{"x_m", mount->x_m},
                  {"y_m", mount->y_m},
                  {"z_m", mount->z_m},
                  {"roll_rad", mount->roll_rad},
                  {"pitch_rad", mount->pitch_rad},
                  {"yaw_rad", mount->yaw_rad}};
    if (!mount->known)
        return cJSON_CreateNull();
    cJSON *item = cJSON_CreateObject();
    for (size_t i = 0; i < sizeof number / sizeof *number; i++)
        cJSON_AddItemToObject(item, number[i].name, plx_json_number((double)number[i].value, 5));
    return item;
}

static cJSON *ground_json(const struct plx_ground_info *ground)
{
    if (!ground->valid)
        return cJSON_CreateNull();
    cJSON *item = cJSON_CreateObject();
    cJSON_AddItemToObject(item, "camera_height_m", plx_json_number((double)ground->camera_height_m, 4));
    cJSON_AddItemToObject(item, "pitch_rad", plx_json_number((double)ground->pitch_rad, 5));
    cJSON_AddItemToObject(item, "roll_rad", plx_json_number((double)ground->roll_rad, 5));
    return item;
}

static void add_service(cJSON *item, const struct plx_status *status)
{
    const char *schedule = plx_tune_schedule_name(status->schedule);
    cJSON_AddStringToObject(item, "state", plx_state_word(status->state));
    cJSON_AddItemToObject(item, "health", plx_json_health(status->health));
    cJSON_AddStringToObject(item, "reason", status->reason);
    cJSON_AddItemToObject(item, "verdict", plx_verdict_json(&status->verdict));
    cJSON_AddNumberToObject(item, "engine_restarts", status->restarts);
    cJSON_AddItemToObject(item, "gpu_schedule", schedule ? cJSON_CreateString(schedule) : cJSON_CreateNull());
    cJSON_AddItemToObject(item, "rate_hz", plx_json_number(plx_frame_stats_rate_hz(&status->stats), 3));
    cJSON_AddItemToObject(item, "latency_ms", plx_json_number(plx_frame_stats_latency_ms(&status->stats), 3));
    cJSON_AddItemToObject(item, "cpu_ms", plx_json_number(plx_frame_stats_cpu_ms(&status->stats), 3));
    cJSON_AddBoolToObject(item, "fresh", status->fresh);
    const bool has_age = status->any && status->age_ns != INT64_MAX;
    cJSON_AddItemToObject(item, "age_ms",
                          has_age ? plx_json_number((double)status->age_ns / PLX_NS_PER_MS, 3) : cJSON_CreateNull());
}

static void add_frame(cJSON *item, const struct plx_frame *frame)
{
    cJSON_AddStringToObject(item, "source", plx_source_word(frame->source));
    cJSON_AddBoolToObject(item, "simulated", frame->source == PLX_SOURCE_SYNTHETIC);
    cJSON_AddNumberToObject(item, "epoch", (double)frame->epoch);
    cJSON_AddNumberToObject(item, "sequence", (double)frame->sequence);
    cJSON_AddNumberToObject(item, "pairs_skipped", (double)frame->pairs_skipped);
    cJSON_AddNumberToObject(item, "width", frame->width);
    cJSON_AddNumberToObject(item, "height", frame->height);
    cJSON_AddItemToObject(item, "min_disparity", number_if(!plx_frame_is_raw(frame), frame->min_disparity));
    cJSON_AddItemToObject(item, "disparities", number_if(!plx_frame_is_raw(frame), frame->disparities));
    cJSON_AddItemToObject(item, "blind_within_m",
                          plx_frame_is_raw(frame) ? cJSON_CreateNull() : plx_json_number((double)frame->blind_within_m, 4));
    cJSON_AddItemToObject(item, "calibration", calibration_json(frame));
    cJSON_AddItemToObject(item, "alignment", plx_json_alignment(&frame->alignment));
    cJSON_AddItemToObject(item, "drift", plx_json_drift(&frame->drift));
    cJSON_AddItemToObject(item, "correction", plx_json_corrections(&frame->correction));
    cJSON_AddItemToObject(item, "left", capture_json(&frame->capture[PLX_LEFT]));
    cJSON_AddItemToObject(item, "right", capture_json(&frame->capture[PLX_RIGHT]));
    cJSON_AddItemToObject(item, "white_balance", plx_json_white_balance(&frame->colour));
    cJSON_AddItemToObject(item, "skew_ms", plx_json_number((double)frame->skew_ns / PLX_NS_PER_MS, 6));
    cJSON_AddItemToObject(item, "stage_us", plx_json_stages(frame->stage_us));
}

cJSON *plx_status_json(const struct plx_status *status)
{
    cJSON *item = cJSON_CreateObject();
    add_service(item, status);
    if (status->any)
        add_frame(item, &status->frame);
    /* Ground, motion and obstacles of an old frame would mislead a robot. */
    cJSON_AddItemToObject(item, "map", status->fresh ? plx_map_json(&status->frame.map) : cJSON_CreateNull());
    cJSON_AddItemToObject(item, "zones", status->fresh ? plx_zones_json(&status->frame) : cJSON_CreateNull());
    cJSON_AddItemToObject(item, "mount", mount_json(&status->frame.mount));
    cJSON_AddItemToObject(item, "ground", status->fresh ? ground_json(&status->frame.ground) : cJSON_CreateNull());
    cJSON_AddItemToObject(item, "free_ahead_m", plx_json_number(status->fresh ? status->free_m : NAN, 2));
    cJSON_AddItemToObject(item, "drop", status->fresh ? plx_json_drop(&status->drop) : cJSON_CreateNull());
    cJSON_AddItemToObject(item, "motion", status->fresh ? plx_json_motion(&status->frame.motion) : cJSON_CreateNull());
    cJSON_AddItemToObject(item, "blind", status->fresh ? plx_json_blind(status->frame.blind) : cJSON_CreateNull());
    cJSON_AddItemToObject(item, "obstacles", status->fresh ? plx_json_obstacles(&status->frame, true) : cJSON_CreateNull());
    return item;
}
