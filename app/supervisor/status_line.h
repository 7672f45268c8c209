/* SPDX-License-Identifier: Apache-2.0 */
/* The line that `systemctl status` shows: state, rate, obstacles, clients, faults and the reason. */
#ifndef PLX_APP_SUPERVISOR_STATUS_LINE_H
#define PLX_APP_SUPERVISOR_STATUS_LINE_H

#include <stdint.h>

#include "app/engine/report.h"
#include "app/supervisor/systemd.h"

/* What the line says of the frames. Zeroed = there was none. */
struct plx_status_line {
    int64_t since_ns;       /* when the last complete line was sent, CLOCK_MONOTONIC */
    uint32_t frames;        /* published since then */
    uint32_t obstacles;     /* in the newest */
    uint32_t blind;         /* why the newest cannot show any, enum plx_blind bits */
    int64_t fresh_until_ns; /* freshness of the newest frame ends, CLOCK_MONOTONIC */
};

/* What else the line says. */
struct plx_status {
    enum plx_state state;
    uint32_t health; /* enum plx_health */
    int clients;
    const char *source_note; /* text that plx_source_note made */
    const char *reason;      /* "" = none */
};

/* A frame was published. */
void plx_status_line_frame(struct plx_status_line *line, const struct plx_report *report);
/* Sends the line once a second. NOW_NS: CLOCK_MONOTONIC. */
void plx_status_line_tick(struct plx_status_line *line, struct plx_notify *notify, const struct plx_status *status,
                          int64_t now_ns);

#endif
