/* SPDX-License-Identifier: Apache-2.0 */
/* State, health and capture of a frame as a message. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include <parallax/words.h>

#include "bridge/diagnostics_message.h"
#include "bridge/frame_messages.h"
#include "bridge/frame_parts.h"

#define VALUES 21
#define VALUE_BYTES 64

/* In scratch. */
struct info {
    struct ros_diagnostic_status status;
    struct ros_key_value value[VALUES];
    char text[VALUES][VALUE_BYTES], flags[512], blind[64], reasons[128];
    uint32_t count;
};

_Static_assert(sizeof(struct info) <= PLX_OBSTACLE_SCRATCH, "it fits into the scratch of a frame");

static void __attribute__((format(printf, 3, 4))) add(struct info *info, const char *key, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    vsnprintf(info->text[info->count], VALUE_BYTES, format, values);
    va_end(values);
    info->value[info->count] = (struct ros_key_value){key, info->text[info->count]};
    info->count++;
}

static void add_eye(struct info *info, const struct plx_capture_info *eye, const char *const key[5])
{
    add(info, key[0], "%u", eye->sequence);
    add(info, key[1], "%" PRIu64, eye->dropped);
    add(info, key[2], "%u", eye->exposure_us);
    add(info, key[3], "%.4g", (double)eye->gain);
    add(info, key[4], "%" PRId64, eye->clock_offset_ns);
}

int plx_message_verdict(const struct plx_frame_messages *messages, struct ros_string *ret_verdict)
{
    const uint32_t verdict = messages->frame->verdict.verdict;
    ret_verdict->data = plx_verdict_word(verdict <= PLX_VERDICT_GO ? verdict : PLX_VERDICT_STOP);
    return 0;
}

int plx_message_frame_info(const struct plx_frame_messages *messages, struct ros_diagnostic_array *ret_info)
{
    static const char *const keys[PLX_EYES][5] = {
        {"left_sequence", "left_dropped", "left_exposure_us", "left_gain", "left_clock_offset_ns"},
        {"right_sequence", "right_dropped", "right_exposure_us", "right_gain", "right_clock_offset_ns"}};
    const struct plx_frame *frame = messages->frame;
    struct info *info = messages->scratch;
    struct ros_string verdict;
    info->count = 0;
    plx_diagnostic_flags(frame->health, plx_health_name, info->flags, sizeof info->flags);
    plx_diagnostic_flags(frame->blind, plx_blind_name, info->blind, sizeof info->blind);
    plx_diagnostic_flags(frame->verdict.reasons, plx_reason_name, info->reasons, sizeof info->reasons);
    add(info, "state", "%s", plx_state_word(frame->state));
    info->value[info->count++] = (struct ros_key_value){"health_flags", info->flags};
    info->value[info->count++] = (struct ros_key_value){"blind", info->blind};
    plx_message_verdict(messages, &verdict);
    info->value[info->count++] = (struct ros_key_value){"verdict", verdict.data};
    info->value[info->count++] = (struct ros_key_value){"reasons", info->reasons};
    add(info, "source", "%s", plx_source_word(frame->source));
    add(info, "sequence", "%" PRIu64, frame->sequence);
    add(info, "epoch", "%" PRIu64, frame->epoch);
    add(info, "pairs_skipped", "%" PRIu64, frame->pairs_skipped);
    add(info, "skew_ns", "%" PRId64, frame->skew_ns);
    add(info, "capture_to_publish_ns", "%" PRId64, frame->published_ns - frame->capture[PLX_LEFT].capture_ns);
    for (int eye = 0; eye < PLX_EYES; eye++)
        add_eye(info, &frame->capture[eye], keys[eye]);
    info->status = (struct ros_diagnostic_status){
        .level = (uint8_t)plx_diagnostic_level(frame->state, frame->source),
        .name = "parallax: frame",
        .message = info->flags[0] ? info->flags : plx_state_word(frame->state),
        .hardware_id = "parallax",
        .values = {.data = info->value, .count = info->count},
    };
    *ret_info = (struct ros_diagnostic_array){
        .header = {.stamp = plx_ros_time(messages->realtime_ns), .frame_id = ""},
        .status = {.data = &info->status, .count = 1},
    };
    return 0;
}
