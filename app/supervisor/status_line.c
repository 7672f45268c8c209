/* SPDX-License-Identifier: Apache-2.0 */
#include "app/supervisor/status_line.h"

#include <stdio.h>

#include "core/base/clock.h"
#include "core/base/text.h"

#define PERIOD_NS PLX_NS_PER_S

void plx_status_line_frame(struct plx_status_line *line, const struct plx_report *report)
{
    line->frames++;
    line->obstacles = report->obstacles;
    line->blind = report->blind;
    line->fresh_until_ns = report->fresh_until_ns;
}

void plx_status_line_tick(struct plx_status_line *line, struct plx_notify *notify, const struct plx_status *status,
                          int64_t now_ns)
{
    char faults[512], sentence[1280], obstacles[32] = "obstacles unknown, ";
    const double seconds = (double)(now_ns - line->since_ns) / PLX_NS_PER_S;

    if (now_ns - line->since_ns < PERIOD_NS)
        return;
    plx_health_sentence(status->health, faults, sizeof faults);
    if (now_ns < line->fresh_until_ns && !line->blind)
        snprintf(obstacles, sizeof obstacles, "%u obstacles, ", line->obstacles);
    snprintf(sentence, sizeof sentence, "%s: %.0f pairs/s, %s%d clients, %s%s%s%s%s", plx_state_word(status->state),
             line->frames / seconds, obstacles, status->clients, faults, *status->source_note ? ", " : "", status->source_note,
             *status->reason ? "; " : "", status->reason);
    plx_notify_status(notify, sentence);
    line->since_ns = now_ns;
    line->frames = 0;
}
