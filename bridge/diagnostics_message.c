/* SPDX-License-Identifier: Apache-2.0 */
#include "bridge/diagnostics_message.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include <parallax/frame.h>
#include <parallax/words.h>

#include "bridge/frame_messages.h"
#include "core/base/words.h"

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
    d->status = (struct ros_diagnostic_status){
        .level = (uint8_t)plx_diagnostic_level(d->state, d->any ? d->source : PLX_SOURCE_V4L2),
        .name = "parallax: service",
        .message = d->reason[0]  ? d->reason
                   : d->flags[0] ? d->flags
                   : *note       ? note
                                 : state,
        .hardware_id = "parallax",
        .values = {.data = d->value, .count = sizeof d->value / sizeof *d->value},
    };
    *ret_array = (struct ros_diagnostic_array){
        .header = {.stamp = plx_ros_time(realtime_ns), .frame_id = ""},
        .status = {.data = &d->status, .count = 1},
    };
}
