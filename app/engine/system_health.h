/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel tells of the machine that the engine runs on: shortage of memory (pressure stall information), heat and
 * throttled clocks (thermal zones, cooling devices, throttle counters). Reading may block: not for the frame path.
 */
#ifndef PLX_APP_ENGINE_SYSTEM_HEALTH_H
#define PLX_APP_ENGINE_SYSTEM_HEALTH_H

#include <stdint.h>

#include "core/text.h"

#define PLX_SYSTEM_HEALTH_HOLD 10 /* readings without a cause until a flag is taken back */

/* Of one flag. */
struct plx_system_fault {
    int hold;                         /* readings for which it still stands; 0 = it does not */
    struct plx_error_message message; /* what was read when it began */
};

struct plx_system_health {
    char root[256];     /* "" = /; tests have one of their own */
    char pressure[512]; /* memory.pressure of the process's own control group, below root; "" = there is none */
    struct plx_system_fault memory, heat;
    uint64_t throttled; /* sum of all throttle counters at the last reading */
    int counters;       /* that the sum is of; -1 before the first reading */
};

/* ROOT is put before each path. */
void plx_system_health_init(struct plx_system_health *system, const char *root);

/* Reads everything once; to be called once a second. Returns the flags that stand: PLX_HEALTH_MEMORY_PRESSURE, PLX_HEALTH_HOT.
 * What this machine does not tell is no fault. */
uint32_t plx_system_health_read(struct plx_system_health *system);

#endif
