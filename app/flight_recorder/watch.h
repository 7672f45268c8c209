/* SPDX-License-Identifier: Apache-2.0 */
/* What counts as a fault: decides from the service's state, restarts and health, as the client library reports them. */
#ifndef PLX_APP_FLIGHT_RECORDER_WATCH_H
#define PLX_APP_FLIGHT_RECORDER_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#define PLX_WATCH_REASON 64 /* bytes of a reason */

struct plx_watch_sample {
    bool there; /* the client is attached to the service */
    int state;  /* enum plx_state */
    uint32_t restarts, health;
};

struct plx_watch {
    uint32_t flags; /* health flags that are faults */
    struct plx_watch_sample last;
};

/* Compares NOW with what was seen last. True: a fault has begun; RET_REASON is its name, in letters, digits and hyphens. */
bool plx_watch_update(struct plx_watch *watch, const struct plx_watch_sample *now, char ret_reason[PLX_WATCH_REASON]);

#endif
