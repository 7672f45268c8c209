/* SPDX-License-Identifier: Apache-2.0 */
/* Notifications for systemd, as by sd_notify(3), but without waiting. Without systemd they do nothing. */
#ifndef PLX_APP_SUPERVISOR_SYSTEMD_H
#define PLX_APP_SUPERVISOR_SYSTEMD_H

#include <stdbool.h>
#include <stdint.h>

struct plx_notify {
    int64_t interval_ns; /* between two WATCHDOG=1; 0 = no watchdog */
    int64_t fed_ns;      /* time of the last WATCHDOG=1 */
    bool ready;          /* plx_notify_ready was called */
    bool is_ready_sent;  /* READY=1 was sent */
    char status[1280];   /* the last STATUS= line */
};

/* Reads $WATCHDOG_USEC. */
void plx_notify_init(struct plx_notify *notify);

void plx_notify_ready(struct plx_notify *notify);                        /* sends READY=1 once */
void plx_notify_alive(struct plx_notify *notify);                        /* WATCHDOG=1, only as often as needed */
void plx_notify_status(struct plx_notify *notify, const char *sentence); /* if it changed */
void plx_notify_reloading(void);                                         /* until plx_notify_reloaded */
void plx_notify_reloaded(struct plx_notify *notify);
void plx_notify_stopping(void);

#endif
