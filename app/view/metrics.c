/* SPDX-License-Identifier: Apache-2.0 */
#include "app/view/metrics.h"

#include <string.h>

#include "app/view/frame_text.h"
#include "app/view/json.h"
#include "core/base/text.h"

/* Where metrics go: Prometheus text, or JSON. */
struct writer {
    FILE *text;     /* NULL: JSON */
    cJSON *json;    /* {name: {help, type, samples}} */
    cJSON *samples; /* array of the metric that was begun last */
    const char *name;
};

/* Prometheus wants the ending _total for counters; all other metrics are gauges. */
static void print_head(struct writer *out, const char *name, const char *help)
{
    const size_t length = strlen(name), ending = sizeof "_total" - 1;
    const bool counter = length > ending && strcmp(name + length - ending, "_total") == 0;
    const char *type = counter ? "counter" : "gauge";
    out->name = name;
    if (out->text) {
        fprintf(out->text, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
        return;
    }
    cJSON *metric = cJSON_AddObjectToObject(out->json, name);
    cJSON_AddStringToObject(metric, "help", help);
    cJSON_AddStringToObject(metric, "type", type);
    out->samples = cJSON_AddArrayToObject(metric, "samples");
}

/* A label's value with its quotes and backslashes escaped. It has no other character that needs it. */
static void print_escaped(FILE *text, const char *value)
{
    for (; *value; value++) {
        if (*value == '"' || *value == '\\')
            fputc('\\', text);
        fputc(*value, text);
    }
}

/* A sample of the metric that was begun last; LABEL NULL: it has none. */
static void print_sample(struct writer *out, const char *label, const char *word, double value)
{
    if (out->text) {
        fputs(out->name, out->text);
        if (label && word) {
            fprintf(out->text, "{%s=\"", label);
            print_escaped(out->text, word);
            fputs("\"}", out->text);
        }
        fprintf(out->text, " %.12g\n", value);
        return;
    }
    cJSON *sample = cJSON_CreateObject(), *labels = cJSON_AddObjectToObject(sample, "labels");
    if (label)
        cJSON_AddStringToObject(labels, label, word);
    cJSON_AddNumberToObject(sample, "value", value);
    cJSON_AddItemToArray(out->samples, sample);
}

static void print_metric(struct writer *out, const char *name, const char *help, double value)
{
    print_head(out, name, help);
    print_sample(out, NULL, NULL, value);
}

static void print_service(struct writer *out, const struct plx_status *status)
{
    print_metric(out, "parallax_up", "1 if the service answers.", status->up);
    print_head(out, "parallax_state", "1 for the state that the service is in.");
    for (uint32_t state = 0; state <= PLX_STATE_STOPPED; state++)
        print_sample(out, "state", plx_state_word(state), state == status->state);
    print_head(out, "parallax_fault", "1 while the health flag is set.");
    for (int bit = 0; bit < PLX_HEALTH_FLAGS; bit++)
        print_sample(out, "fault", plx_health_name(bit), status->health >> bit & 1u);
    print_head(out, "parallax_reason_info", "Always 1; the label says why the service is in its state.");
    print_sample(out, "reason", status->reason, 1);
    print_metric(out, "parallax_engine_restarts_total", "Engines that died or hung and were replaced.", status->restarts);
}

static void print_eyes(struct writer *out, const char *name, const char *help, double left, double right)
{
    print_head(out, name, help);
    print_sample(out, "eye", "left", left);
    print_sample(out, "eye", "right", right);
}

static void print_cameras(struct writer *out, const struct plx_capture_info *left, const struct plx_capture_info *right)
{
    print_eyes(out, "parallax_camera_dropped_total", "Frames missing from the camera's own numbering.", (double)left->dropped,
               (double)right->dropped);
    print_eyes(out, "parallax_camera_exposure_seconds", "Exposure time of the newest picture; 0 = unknown.",
               left->exposure_us / 1e6, right->exposure_us / 1e6);
    print_eyes(out, "parallax_camera_gain", "Linear gain of the newest picture; 0 = unknown.", (double)left->gain,
               (double)right->gain);
}

/* For an alert on a robot that gets simulated or recorded pictures. */
static void print_source(struct writer *out, const struct plx_frame *frame)
{
    print_head(out, "parallax_source_info", "Always 1; the label says where the pictures come from.");
    print_sample(out, "source", plx_source_word(frame->source), 1);
    print_metric(out, "parallax_simulated", "1 if the service draws the pictures itself.",
                 frame->source == PLX_SOURCE_SYNTHETIC);
}

/* No samples while the alignment is not measured. */
static void print_alignment(struct writer *out, const struct plx_alignment_info *alignment)
{
    if (alignment->patches == 0)
        return;
    print_metric(out, "parallax_alignment_epipolar_error_pixels",
                 "Epipolar error at the centre of the image; positive: a point lies lower in the right image.",
                 (double)alignment->epipolar_error_px);
    print_metric(out, "parallax_alignment_max_epipolar_error_pixels",
                 "Largest absolute epipolar error in the image; from 2 on the cameras are misaligned.",
                 (double)alignment->max_epipolar_error_px);
    print_metric(out, "parallax_alignment_pitch_radians", "Rotation of the right camera that explains the offset of rows.",
                 (double)alignment->pitch_rad);
    print_metric(out, "parallax_alignment_roll_radians", "Rotation of the right camera about its view axis.",
                 (double)alignment->roll_rad);
    print_metric(out, "parallax_alignment_scale_ratio", "Size of the right image relative to the left one.",
                 (double)alignment->scale);
}

/* No samples of what is not measured. */
static void print_drift(struct writer *out, const struct plx_drift_info *drift)
{
    if (drift->matches > 0) {
        print_metric(out, "parallax_drift_epipolar_error_pixels", "Median epipolar error of the newest matches.",
                     (double)drift->epipolar_error_px);
        print_metric(out, "parallax_drift_residual_pixels", "Likewise, without pitch, roll, bend and scale.",
                     (double)drift->residual_px);
        print_metric(out, "parallax_drift_pitch_radians", "Rotation of the right camera, by the rows of matches.",
                     (double)drift->pitch_rad);
        print_metric(out, "parallax_drift_roll_radians", "Rotation of the right camera about its view axis.",
                     (double)drift->roll_rad);
        print_metric(out, "parallax_drift_bend_radians", "What looks like a yaw of the right camera, or distortion.",
                     (double)drift->bend_rad);
        print_metric(out, "parallax_drift_scale_ratio", "Size of the right image relative to the left one, less 1.",
                     (double)drift->scale);
    }
    if (drift->disparity_offset_deviation_px > 0) {
        print_metric(out, "parallax_drift_disparity_offset_pixels",
                     "Error of disparities in the middle of the picture, by the motion.", (double)drift->disparity_offset_px);
        print_metric(out, "parallax_drift_disparity_offset_deviation_pixels", "Standard deviation of that offset.",
                     (double)drift->disparity_offset_deviation_px);
        print_metric(out, "parallax_drift_side_pixels", "Error of disparities at the sides of the picture, by the motion.",
                     (double)drift->side_px);
        print_metric(out, "parallax_drift_side_deviation_pixels", "Standard deviation of that error at the sides.",
                     (double)drift->side_deviation_px);
    }
}

/* No samples if it is switched off. Speed and rate of rotation have none while motion is unknown. */
static void print_motion(struct writer *out, const struct plx_motion_info *motion)
{
    double speed_mps, turn_radps;

    if (motion->source == PLX_MOTION_NONE)
        return;
    print_metric(out, "parallax_motion_valid", "1 if the motion of the camera is known.", motion->valid != 0);
    print_metric(out, "parallax_motion_inliers", "Corners that the motion explains.", motion->inliers);
    print_metric(out, "parallax_motion_breaks_total", "How often motion was lost for good.", motion->breaks);
    if (!plx_motion_rates(motion, &speed_mps, &turn_radps))
        return;
    print_metric(out, "parallax_motion_speed_meters_per_second", "Speed of the left camera.", speed_mps);
    print_metric(out, "parallax_motion_turn_radians_per_second", "Rate of rotation of the left camera.", turn_radps);
}

/* Only of a fresh frame: old numbers would mislead a robot. */
static void print_world(struct writer *out, const struct plx_frame *frame)
{
    const struct plx_obstacle *seen[PLX_MAX_OBSTACLES];

    print_metric(out, "parallax_blind", "1 if the newest frame cannot show obstacles; no sample without a fresh frame.",
                 frame->blind != 0);
    if (!frame->blind)
        print_metric(out, "parallax_obstacles",
                     "Obstacles seen in the newest frame; no sample without a fresh frame, or if it is blind.",
                     plx_obstacles_by_distance(frame, seen));
    if (plx_frame_is_raw(frame))
        return;
    print_metric(out, "parallax_ground_found", "1 if the newest frame has a ground plane; no sample without a fresh frame.",
                 frame->ground.valid != 0);
    print_motion(out, &frame->motion);
}

static void print_frame(struct writer *out, const struct plx_frame *frame)
{
    const int64_t age_ns = plx_age_ns(frame);
    print_metric(out, "parallax_frames_total", "Frames published since the service started.", (double)frame->sequence);
    print_metric(out, "parallax_pairs_skipped_total", "Pairs not processed because a newer pair had arrived.",
                 (double)frame->pairs_skipped);
    if (age_ns != INT64_MAX)
        print_metric(out, "parallax_frame_age_seconds", "Time since the newest frame's left picture was taken.",
                     (double)age_ns / 1e9);
    print_metric(out, "parallax_latency_seconds", "From the middle of the exposure to publication, newest frame.",
                 (double)(frame->published_ns - frame->capture[PLX_LEFT].capture_ns) / 1e9);
    print_metric(out, "parallax_skew_seconds", "Capture time of the right picture minus that of the left.",
                 (double)frame->skew_ns / 1e9);
    if (frame->cpu_us > 0)
        print_metric(out, "parallax_frame_cpu_seconds", "Processor time of the engine's threads for the newest frame.",
                     frame->cpu_us / 1e6);
    print_head(out, "parallax_stage_seconds",
               "Time of each stage for the newest frame; on a GPU obstacles includes launch, copies and waiting.");
    for (int stage = 0; stage < PLX_STAGE_COUNT; stage++)
        print_sample(out, "stage", plx_stage_word(stage), frame->stage_us[stage] / 1e6);
    print_alignment(out, &frame->alignment);
    print_drift(out, &frame->drift);
    print_metric(out, "parallax_correction_number", "Number of the calibration's correction in force, or 0.",
                 frame->correction.number);
    print_metric(out, "parallax_correction_proposed_number", "Number of the correction that waits to be accepted, or 0.",
                 frame->correction.proposed_number);
    print_cameras(out, &frame->capture[PLX_LEFT], &frame->capture[PLX_RIGHT]);
}

static void print_all(struct writer *out, const struct plx_status *status)
{
    print_service(out, status);
    print_metric(out, "parallax_fresh", "1 if the newest frame is fresh.", status->fresh);
    if (status->any) {
        print_source(out, &status->frame);
        print_frame(out, &status->frame);
    }
    if (status->fresh)
        print_world(out, &status->frame);
}

void plx_metrics_print(FILE *out, const struct plx_status *status)
{
    print_all(&(struct writer){.text = out}, status);
}

cJSON *plx_metrics_json(const struct plx_status *status)
{
    struct writer out = {.json = cJSON_CreateObject()};
    print_all(&out, status);
    return out.json;
}
