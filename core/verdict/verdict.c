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

/* What FLAGS, enum plx_health, demand. */
static uint32_t verdict_of(const struct plx_verdict_params *params, uint32_t flags)
{
    return flags & params->stop_flags ? PLX_VERDICT_STOP : flags & params->slow_flags ? PLX_VERDICT_SLOW : PLX_VERDICT_GO;
}

void plx_verdict_decide(const struct plx_verdict_params *params, uint32_t unchecked, int64_t period_ns, struct plx_frame *frame)
{
    struct plx_verdict_info *verdict = &frame->verdict;
    const int zone = deciding_zone(frame->zone);
    bool has_zone = false;

    *verdict = (struct plx_verdict_info){
        .verdict = PLX_VERDICT_GO,
        .faults = frame->health & (params->stop_flags | params->slow_flags),
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
    if (verdict->faults)
        verdict->reasons |= PLX_REASON_FAULT;
    if (verdict_of(params, unchecked) != PLX_VERDICT_GO)
        verdict->reasons |= PLX_REASON_SETTLING;
    verdict->verdict = plx_stricter_verdict(verdict->verdict, verdict_of(params, frame->health | unchecked));
    if (!frame->map.valid)
        verdict->reasons |= PLX_REASON_NO_MAP;
    if (!has_zone)
        verdict->reasons |= PLX_REASON_NO_ZONES;
    if (verdict->reasons & (PLX_REASON_NO_MAP | PLX_REASON_NO_ZONES))
        verdict->verdict = PLX_VERDICT_STOP;
}
