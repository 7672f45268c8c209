/* SPDX-License-Identifier: Apache-2.0 */
#include "core/verdict/verdict.h"

#include <math.h>
#include <stdbool.h>

#include "core/base/clock.h"

#define REACTION_PERIODS 2
#define REACTION_MORE_NS (100 * PLX_NS_PER_MS)

/* The strictest of the zones that count; of several, that with the nearest thing. -1: all are free, or none counts. */
static int deciding_zone(const struct plx_zone_info zone[PLX_MAX_ZONES])
{
    int found = -1;
    for (int i = 0; i < PLX_MAX_ZONES; i++) {
        if (!zone[i].active || zone[i].verdict == PLX_VERDICT_GO)
            continue;
        if (found < 0 || zone[i].verdict < zone[found].verdict ||
            (zone[i].verdict == zone[found].verdict && zone[i].nearest_m < zone[found].nearest_m))
            found = i;
    }
    return found;
}

void plx_verdict_decide(const struct plx_verdict_params *params, int64_t period_ns, struct plx_frame *frame)
{
    struct plx_verdict_info *verdict = &frame->verdict;
    const uint32_t stops = frame->health & params->stop_flags, slows = frame->health & params->slow_flags;
    const int zone = deciding_zone(frame->zone);
    bool has_zone = false;

    *verdict = (struct plx_verdict_info){
        .verdict = PLX_VERDICT_GO,
        .faults = stops | slows,
        .zone = zone,
        .distance_m = zone >= 0 ? frame->zone[zone].nearest_m : INFINITY,
        .speed_mps = verdict->speed_mps,
        .valid_ns = params->reaction_ms > 0 ? (int64_t)(params->reaction_ms * PLX_NS_PER_MS)
                                            : REACTION_PERIODS * period_ns + REACTION_MORE_NS,
    };
    for (int i = 0; i < PLX_MAX_ZONES; i++) {
        if (!frame->zone[i].active)
            continue;
        has_zone = true;
        verdict->verdict = plx_stricter_verdict(verdict->verdict, frame->zone[i].verdict);
        verdict->reasons |= frame->zone[i].reasons;
    }
    if (stops | slows) {
        verdict->reasons |= PLX_REASON_FAULT;
        verdict->verdict = plx_stricter_verdict(verdict->verdict, stops ? PLX_VERDICT_STOP : PLX_VERDICT_SLOW);
    }
    if (!frame->map.valid)
        verdict->reasons |= PLX_REASON_NO_MAP;
    if (!has_zone)
        verdict->reasons |= PLX_REASON_NO_ZONES;
    if (verdict->reasons & (PLX_REASON_NO_MAP | PLX_REASON_NO_ZONES))
        verdict->verdict = PLX_VERDICT_STOP;
}
