/* SPDX-License-Identifier: Apache-2.0 */
/* What systemd is told, as by sd_notify(3), but never waited for. Without systemd all of this does nothing. */
#ifndef PLX_APP_SUPERVISOR_SYSTEMD_H
#define PLX_APP_SUPERVISOR_SYSTEMD_H

#include <stdbool.h>
#include <stdint.h>

struct plx_notify {
    int64_t interval_ns; /* between two WATCHDOG=1; 0 = systemd wants none */
    int64_t fed_ns;      /* the last one */
    bool ready;          /* plx_notify_ready was called */
    bool told_ready;     /* READY=1 was sent */
    char status[1280];   /* the last STATUS=, with this word */
};

/* Reads $WATCHDOG_USEC. */
void plx_notify_init(struct plx_notify *notify);

void plx_notify_ready(struct plx_notify *notify);                        /* the first time only */
void plx_notify_alive(struct plx_notify *notify);                        /* WATCHDOG=1, no oftener than needed */
void plx_notify_status(struct plx_notify *notify, const char *sentence); /* when it changed */
void plx_notify_reloading(struct plx_notify *notify);                    /* until plx_notify_reloaded */
void plx_notify_reloaded(struct plx_notify *notify);
void plx_notify_stopping(struct plx_notify *notify);

#endif
