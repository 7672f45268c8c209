/* SPDX-License-Identifier: Apache-2.0 */
/* The state of the service now, and its newest frame, which may be old. */
#ifndef PLX_APP_VIEW_STATUS_H
#define PLX_APP_VIEW_STATUS_H

#include <stdbool.h>

#include <cjson/cJSON.h>
#include <parallax/client.h>
#include <parallax/shm.h>

#include "app/view/frame_stats.h"
#include "app/view/frame_text.h"

struct plx_status {
    /* The service now. */
    bool up; /* it answers */
    uint32_t state, health, restarts, schedule;
    char reason[PLX_REASON_BYTES];
    struct plx_verdict_now verdict;
    /* Its newest frame. */
    bool any;   /* there is one */
    bool fresh; /* a robot may act on its obstacles and ground */
    int64_t age_ns;
    struct plx_frame frame;
    double free_m;                /* plx_free_ahead */
    struct plx_drop drop;         /* plx_drop_ahead */
    struct plx_frame_stats stats; /* frames of the last second; empty without a fresh frame */
};

/* Fills the first part of STATUS, the service now. The error of plx_state: FORMAT. */
int plx_status_read(struct plx_client *client, struct plx_status *status);

#define PLX_FAULTS_TEXT 640

/* The faults, and a note if the pictures do not come from cameras: "no faults; simulated pictures". */
void plx_status_faults(const struct plx_status *status, char ret_text[PLX_FAULTS_TEXT]);

/* Prints to standard output, for use without a frame: "no frames, the last picture is 7.3 s old" */
void plx_status_print_age(const struct plx_status *status);

/* A new object, which the caller owns. An old frame is marked as old, and has no ground and obstacles. */
cJSON *plx_status_json(const struct plx_status *status);

#endif
