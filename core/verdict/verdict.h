/* SPDX-License-Identifier: Apache-2.0 */
/* What the robot may do: the strictest of what its zones demand and of what the faults of a frame allow. */
#ifndef PLX_CORE_VERDICT_VERDICT_H
#define PLX_CORE_VERDICT_VERDICT_H

#include <stdint.h>

#include <parallax/frame.h>

/* The stricter of two enum plx_verdict_kind. */
static inline uint32_t plx_stricter_verdict(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

struct plx_verdict_params {
    uint32_t stop_flags, slow_flags; /* enum plx_health */
    double reaction_ms;              /* how long after its capture a frame's verdict holds; 0: two periods and 100 ms */
};

/* Fills frame->verdict, whose speed is known already, from its zones, map, health and blind. UNCHECKED: flags, enum plx_health,
 * of which nobody knows yet whether they should be set: they count, as settling. PERIOD_NS: from pair to pair; 0 = not known.
 */
void plx_verdict_decide(const struct plx_verdict_params *params, uint32_t unchecked, int64_t period_ns,
                        struct plx_frame *frame);

#endif
