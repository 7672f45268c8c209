/* SPDX-License-Identifier: Apache-2.0 */
/* Starting what is not to be had yet: the very first start may end the service, every other one is tried again for ever. */
#include <parallax/error.h>

#include "app/exit.h"
#include "app/log.h"
#include "app/supervisor/supervisor_internal.h"

/* With --wait a start that waits is a start: systemd shall neither wait for more, nor give up. */
static void be_ready(struct plx_supervisor *supervisor)
{
    if (supervisor->wait)
        plx_notify_ready(&supervisor->notify);
}

bool plx_start_is_final(const struct plx_supervisor *supervisor, const struct plx_report *report)
{
    return !supervisor->notify.ready && !(supervisor->wait && report->transient);
}

void plx_start_failed(struct plx_supervisor *supervisor, const struct plx_report *report)
{
    const int64_t now = supervisor->now_ns;
    struct plx_recovery *recovery = &supervisor->recovery;

    if (plx_start_is_final(supervisor, report)) {
        plx_supervisor_fail(supervisor, report->exit_code, report->message.text);
        return;
    }
    plx_recovery_start_postponed(recovery, now);
    plx_log(LOG_ERR, "%s; trying again in %.1f s", report->message.text, (double)(recovery->start_ns - now) / PLX_NS_PER_S);
    supervisor->degraded_reason = report->message;
    be_ready(supervisor);
}

void plx_start_keep_waiting(struct plx_supervisor *supervisor)
{
    plx_recovery_lacks_resource(&supervisor->recovery, supervisor->now_ns);
    be_ready(supervisor);
}

void plx_start_tick(struct plx_supervisor *supervisor, int64_t now_ns)
{
    if (!supervisor->stopping && supervisor->plan.frame_bytes == 0 && supervisor->probe.pid == 0 &&
        plx_recovery_wants_engine(&supervisor->recovery, now_ns))
        plx_probe_start(supervisor, PLX_PROBE_CONFIG);
}
