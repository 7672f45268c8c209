/* SPDX-License-Identifier: Apache-2.0 */
/* What `parallax status` says: of the service as it is now, and of its newest frame, which may be old. */
#ifndef PLX_APP_CLI_LIVE_STATUS_H
#define PLX_APP_CLI_LIVE_STATUS_H

#include <stdbool.h>

#include <parallax/region.h>

#include "app/cli/live/frame_stats.h"

struct plx_status {
    /* The service's own word, now. */
    uint32_t state, health, restarts, launch;
    char reason[PLX_REASON_BYTES];
    /* The newest frame. */
    bool any;   /* there is one */
    bool fresh; /* it is news: what it says of obstacles and ground is so now */
    int64_t age_ns;
    struct plx_frame frame;
    struct plx_frame_stats stats; /* of the frames of a second; empty where no fresh one came */
};

/* The name of how the GPU computes, from plx_launch; NULL on the CPU. */
const char *plx_launch_name(uint32_t launch);

/* To standard output. An old frame is marked as old, and nothing that it says of the world is printed. */
void plx_status_print_text(const struct plx_status *status);
void plx_status_print_json(const struct plx_status *status);

#endif
