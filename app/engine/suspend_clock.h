/* SPDX-License-Identifier: Apache-2.0 */
/* Which pictures were taken before the machine was last suspended. CLOCK_MONOTONIC, by which they are dated, stands still
 * meanwhile, and a driver hands out after the resume what it had before: hours old, and dated as if it were new. */
#ifndef PLX_APP_ENGINE_SUSPEND_CLOCK_H
#define PLX_APP_ENGINE_SUSPEND_CLOCK_H

#include <stdint.h>

/* CLOCK_MONOTONIC nanoseconds, but for suspended_ns: as plx_suspended_ns. */
struct plx_suspend_clock {
    int64_t suspended_ns; /* now */
    int64_t before_ns;    /* the same, before the last resume */
    int64_t resumed_ns;   /* when that was noticed; 0 = there was none */
};

/* Looks whether the machine was suspended since the last look; to be called at least as often as pictures are waited for. */
void plx_suspend_clock_update(struct plx_suspend_clock *clock, int64_t now_ns, int64_t suspended_ns);

/* How long the machine had been suspended when the picture of CAPTURE_NS was taken. One that came while nobody looked counts as
 * taken before the resume: too old rather than too young. */
int64_t plx_suspend_clock_at(const struct plx_suspend_clock *clock, int64_t capture_ns);

#endif
