/* SPDX-License-Identifier: Apache-2.0 */
#include "bridge/diagnostics_message.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include <parallax/frame.h>
#include <parallax/words.h>

#include "bridge/frame_messages.h"
#include "core/base/units.h"
#include "core/base/words.h"
#include "core/drift/offset.h"

/* Drift that is worth a calibration: rows at the worst place of the picture, and a certain offset of the disparities. */
#define MAX_EPIPOLAR_ERROR_PX 1
#define MAX_RESENT_PERCENT 1
#define OFFSET_PX 0.25F
#define OFFSET_DEVIATIONS 3

enum plx_diagnostic_level plx_diagnostic_level(uint32_t state, uint32_t source)
{
    switch (state) {
    case PLX_STATE_RUNNING:
        return source == PLX_SOURCE_V4L2 ? PLX_DIAGNOSTIC_OK : PLX_DIAGNOSTIC_WARN;
    case PLX_STATE_FAILED:
        return PLX_DIAGNOSTIC_ERROR;
    case PLX_STATE_STOPPED:
        return PLX_DIAGNOSTIC_STALE;
    default:
        return PLX_DIAGNOSTIC_WARN;
    }
}

void plx_diagnostic_flags(uint32_t flags, const char *(*name)(int bit), char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int bit = 0; bit < 32 && used < size; bit++)
        if (flags >> bit & 1)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? " " : "", name(bit));
}

/* --- calibration drift --------------------------------------------------------------------------------------------------- */

static bool rows_are_off(const struct plx_drift_info *drift)
{
    return drift->matches > 0 && drift->max_epipolar_error_px > MAX_EPIPOLAR_ERROR_PX;
}

/* An error of disparities, px, with its standard deviation, 0: not measured. */
static bool is_off(float error, float deviation)
{
    return deviation > 0 && fabsf(error) > OFFSET_PX && fabsf(error) > OFFSET_DEVIATIONS * deviation;
}

static bool distances_are_off(const struct plx_drift_info *drift)
{
    return is_off(drift->disparity_offset_px, drift->disparity_offset_deviation_px) ||
           is_off(drift->side_px, drift->side_deviation_px);
}

/* What is off, and what to do: a sentence. There is no calibration in a raw frame, nor without a frame. */
static const char *drift_sentence(struct plx_diagnostics *d)
{
    const struct plx_drift_info *drift = &d->drift;
    const bool middle = is_off(drift->disparity_offset_px, drift->disparity_offset_deviation_px);
    const double percent =
        plx_offset_percent(&d->calibration, (double)(middle ? drift->disparity_offset_px : drift->side_px), 10);
    char rows[64], distances[80];
    if (!(d->calibration.fx > 0))
        return "not measured: no calibrated frame yet";
    if (drift->matches == 0)
        snprintf(rows, sizeof rows, "rows are not measured: too few matches yet");
    else if (rows_are_off(drift))
        snprintf(rows, sizeof rows, "rows are up to %.1f px off", (double)drift->max_epipolar_error_px);
    else
        snprintf(rows, sizeof rows, "rows match");
    if (drift->disparity_offset_deviation_px <= 0)
        snprintf(distances, sizeof distances, "the offset is not measured: move the camera");
    else if (distances_are_off(drift))
        snprintf(distances, sizeof distances, "distances are %.1f %% too %s at 10 m%s", fabs(percent),
                 percent > 0 ? "long" : "short", middle ? "" : ", at the sides of the picture");
    else
        snprintf(distances, sizeof distances, "no offset is certain");
    snprintf(d->drift_message, sizeof d->drift_message, "%s; %s%s", rows, distances,
             rows_are_off(drift) || distances_are_off(drift) ? "; calibrate again" : "");
    return d->drift_message;
}

/* Rows and offset are measured independently of each other. */
struct drift_number {
    const char *key;
    bool is_known;
    int digits;
    double value;
};

static void write_drift_values(struct plx_diagnostics *d, const struct drift_number number[PLX_DRIFT_VALUES])
{
    for (int i = 0; i < PLX_DRIFT_VALUES; i++) {
        if (number[i].is_known)
            snprintf(d->drift_text[i], sizeof d->drift_text[i], "%.*f", number[i].digits, number[i].value);
        else
            snprintf(d->drift_text[i], sizeof d->drift_text[i], "unknown");
        d->drift_value[i] = (struct ros_key_value){number[i].key, d->drift_text[i]};
    }
}

static void fill_drift_values(struct plx_diagnostics *d)
{
    const struct plx_drift_info *drift = &d->drift;
    const struct plx_calibration_info *c = &d->calibration;
    const bool rows = drift->matches > 0, offset = drift->disparity_offset_deviation_px > 0;
    const double degrees = PLX_DEGREES_PER_RAD, px = (double)drift->disparity_offset_px, side = (double)drift->side_px;
    const struct drift_number number[PLX_DRIFT_VALUES] = {
        {"matches", true, 0, drift->matches},
        {"epipolar_error_px", rows, 3, (double)drift->epipolar_error_px},
        {"residual_px", rows, 3, (double)drift->residual_px},
        {"max_epipolar_error_px", rows, 3, (double)drift->max_epipolar_error_px},
        {"pitch_deg", rows, 4, (double)drift->pitch_rad * degrees},
        {"pitch_deviation_deg", rows, 4, (double)drift->pitch_deviation_rad * degrees},
        {"roll_deg", rows, 4, (double)drift->roll_rad * degrees},
        {"roll_deviation_deg", rows, 4, (double)drift->roll_deviation_rad * degrees},
        {"bend_deg", rows, 4, (double)drift->bend_rad * degrees},
        {"bend_deviation_deg", rows, 4, (double)drift->bend_deviation_rad * degrees},
        {"scale_percent", rows, 4, 100 * (double)drift->scale},
        {"scale_deviation_percent", rows, 4, 100 * (double)drift->scale_deviation},
        {"disparity_offset_px", offset, 3, px},
        {"disparity_offset_deviation_px", offset, 3, (double)drift->disparity_offset_deviation_px},
        {"distance_error_1m_percent", offset, 2, plx_offset_percent(c, px, 1)},
        {"distance_error_2m_percent", offset, 2, plx_offset_percent(c, px, 2)},
        {"distance_error_5m_percent", offset, 2, plx_offset_percent(c, px, 5)},
        {"distance_error_10m_percent", offset, 2, plx_offset_percent(c, px, 10)},
        {"curve_px", offset, 3, (double)drift->curve_px},
        {"curve_deviation_px", offset, 3, (double)drift->curve_deviation_px},
        {"side_px", offset, 3, side},
        {"side_deviation_px", offset, 3, (double)drift->side_deviation_px},
        {"side_distance_error_1m_percent", offset, 2, plx_offset_percent(c, side, 1)},
        {"side_distance_error_2m_percent", offset, 2, plx_offset_percent(c, side, 2)},
        {"side_distance_error_5m_percent", offset, 2, plx_offset_percent(c, side, 5)},
        {"side_distance_error_10m_percent", offset, 2, plx_offset_percent(c, side, 10)},
    };
    write_drift_values(d, number);
}

static struct ros_diagnostic_status drift_status(struct plx_diagnostics *d)
{
    const bool is_gone = d->state == PLX_STATE_STOPPED, is_off = rows_are_off(&d->drift) || distances_are_off(&d->drift);
    fill_drift_values(d);
    return (struct ros_diagnostic_status){
        .level = is_gone  ? PLX_DIAGNOSTIC_STALE
                 : is_off ? PLX_DIAGNOSTIC_WARN
                          : PLX_DIAGNOSTIC_OK,
        .name = "parallax: calibration drift",
        .message = is_gone ? plx_state_word(d->state) : drift_sentence(d),
        .hardware_id = "parallax",
        .values = {.data = d->drift_value, .count = PLX_DRIFT_VALUES},
    };
}

/* --- the network ---------------------------------------------------------------------------------------------------------- */

static struct ros_diagnostic_status network_status(struct plx_diagnostics *d)
{
    const double percent = d->sent_bytes > 0 ? 100.0 * (double)d->resent_bytes / (double)d->sent_bytes : 0;
    const bool loses = percent > MAX_RESENT_PERCENT;
    const uint64_t number[] = {d->sent_bytes, d->resent_bytes};
    static const char *const key[] = {"sent_bytes_per_s", "resent_bytes_per_s"};
    for (int i = 0; i < 2; i++) {
        snprintf(d->network_text[i], sizeof d->network_text[i], "%" PRIu64, number[i]);
        d->network_value[i] = (struct ros_key_value){key[i], d->network_text[i]};
    }
    snprintf(d->network_message, sizeof d->network_message,
             "readers lose %.0f %% and ask for it again; where they run: sudo sysctl -w net.core.rmem_max=%d "
             "net.core.rmem_default=%d, then start them again",
             percent, PLX_RMEM_MAX, PLX_RMEM_DEFAULT);
    return (struct ros_diagnostic_status){
        .level = loses ? PLX_DIAGNOSTIC_WARN : PLX_DIAGNOSTIC_OK,
        .name = "parallax: network",
        .message = loses ? d->network_message : "readers ask for nothing again",
        .hardware_id = "parallax",
        .values = {.data = d->network_value, .count = 2},
    };
}

/* --- the service --------------------------------------------------------------------------------------------------------- */

void plx_message_diagnostics(struct plx_diagnostics *d, int64_t realtime_ns, struct ros_diagnostic_array *ret_array)
{
    plx_diagnostic_flags(d->health, plx_health_name, d->flags, sizeof d->flags);
    plx_diagnostic_flags(d->blind, plx_blind_name, d->blind_text, sizeof d->blind_text);
    snprintf(d->text[0], sizeof d->text[0], "%u", d->restarts);
    snprintf(d->text[1], sizeof d->text[1], "%.1f", d->frames_per_s);
    snprintf(d->text[2], sizeof d->text[2], isnan(d->age_ms) ? "unknown" : "%.1f", d->age_ms);
    snprintf(d->text[3], sizeof d->text[3], "%" PRIu64, d->dropped);
    const char *state = plx_state_word(d->state), *note = d->any ? plx_source_note(d->source) : "";
    d->value[0] = (struct ros_key_value){"state", state};
    d->value[1] = (struct ros_key_value){"health_flags", d->flags};
    d->value[2] = (struct ros_key_value){"engine_restarts", d->text[0]};
    d->value[3] = (struct ros_key_value){"rate_hz", d->text[1]};
    d->value[4] = (struct ros_key_value){"age_ms", d->text[2]};
    d->value[5] = (struct ros_key_value){"source", d->any ? plx_source_word(d->source) : "unknown"};
    d->value[6] = (struct ros_key_value){"blind", d->blind_text};
    d->value[7] = (struct ros_key_value){"messages_dropped", d->text[3]};
    d->status[0] = (struct ros_diagnostic_status){
        .level = (uint8_t)plx_diagnostic_level(d->state, d->any ? d->source : PLX_SOURCE_V4L2),
        .name = "parallax: service",
        .message = d->reason[0]  ? d->reason
                   : d->flags[0] ? d->flags
                   : *note       ? note
                                 : state,
        .hardware_id = "parallax",
        .values = {.data = d->value, .count = sizeof d->value / sizeof *d->value},
    };
    d->status[1] = drift_status(d);
    d->status[2] = network_status(d);
    *ret_array = (struct ros_diagnostic_array){
        .header = {.stamp = plx_ros_time(realtime_ns), .frame_id = ""},
        .status = {.data = d->status, .count = d->has_network ? 3 : 2},
    };
}
