/* SPDX-License-Identifier: Apache-2.0 */
#include "app/supervisor/notify.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <systemd/sd-daemon.h>

#include "core/clock.h"
#include "core/text.h"

#define FEEDINGS 4 /* in one watchdog period, so that a late one costs nothing */

void plx_notify_init(struct plx_notify *notify)
{
    uint64_t watchdog_us = 0;

    *notify = (struct plx_notify){0};
    if (sd_watchdog_enabled(0, &watchdog_us) > 0)
        notify->interval_ns = (int64_t)watchdog_us * PLX_NS_PER_US / FEEDINGS;
}

void plx_notify_ready(struct plx_notify *notify)
{
    if (!notify->ready)
        sd_notify(0, "READY=1");
    notify->ready = true;
}

void plx_notify_alive(struct plx_notify *notify, int64_t now_ns)
{
    if (notify->interval_ns == 0 || now_ns - notify->fed_ns < notify->interval_ns)
        return;
    notify->fed_ns = now_ns;
    sd_notify(0, "WATCHDOG=1");
}

void plx_notify_status(struct plx_notify *notify, const char *sentence)
{
    char line[sizeof notify->status];

    snprintf(line, sizeof line, "%s", sentence);
    plx_clean_text(line); /* a newline would begin a variable of somebody else's choice: the last line of defence */
    if (strcmp(notify->status, line) == 0)
        return;
    memcpy(notify->status, line, sizeof line);
    sd_notifyf(0, "STATUS=%s", notify->status);
}

void plx_notify_reloading(struct plx_notify *notify)
{
    (void)notify;
    sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%" PRId64, plx_now_ns() / PLX_NS_PER_US);
}

void plx_notify_reloaded(struct plx_notify *notify)
{
    if (notify->ready) /* else the first frame will say so */
        sd_notify(0, "READY=1");
}

void plx_notify_stopping(struct plx_notify *notify)
{
    (void)notify;
    sd_notify(0, "STOPPING=1");
}
