/* SPDX-License-Identifier: Apache-2.0 */
#include "app/supervisor/supervisor.h"

#include <stdio.h>

#include "app/exit.h"
#include "app/log.h"

const char *plx_supervisor_reason(const struct plx_supervisor *supervisor)
{
    if (supervisor->degraded_reason.text[0])
        return supervisor->degraded_reason.text;
    return supervisor->reload.refusal.text[0] ? supervisor->reload.refusal.text : supervisor->gpu.reason.text;
}

void plx_supervisor_publish_state(struct plx_supervisor *supervisor)
{
    const struct plx_recovery *recovery = &supervisor->recovery;
    const enum plx_state before = supervisor->publisher.state;

    plx_publisher_set_reason(&supervisor->publisher, plx_supervisor_reason(supervisor));
    plx_blackbox_state(&supervisor->blackbox, recovery->state, recovery->health, plx_supervisor_reason(supervisor));
    if (plx_publisher_set_state(&supervisor->publisher, recovery->state, recovery->health) &&
        recovery->state == PLX_STATE_FAILED && before != PLX_STATE_FAILED) {
        plx_blackbox_save(&supervisor->blackbox, "failed");
        plx_log(LOG_ERR, "no fresh frame for %d s; still trying", (int)(PLX_RECOVERY_BUDGET_NS / PLX_NS_PER_S));
    }
}

void plx_supervisor_stop(struct plx_supervisor *supervisor, int exit_code)
{
    const char *reason = supervisor->degraded_reason.text;
    char sentence[640];

    if (supervisor->stopping)
        return;
    supervisor->stopping = true;
    supervisor->exit_code = exit_code;
    plx_notify_stopping();
    snprintf(sentence, sizeof sentence, "stopping%s%s", reason[0] ? ": " : "", reason);
    plx_notify_status(&supervisor->notify, sentence);
}

void plx_supervisor_fail(struct plx_supervisor *supervisor, int exit_code, const char *sentence)
{
    if (!supervisor->stopping) {
        plx_log(LOG_ERR, "%s", sentence);
        plx_say(&supervisor->degraded_reason, "%s", sentence);
    }
    plx_publisher_set_reason(&supervisor->publisher, plx_supervisor_reason(supervisor));
    plx_publisher_set_state(&supervisor->publisher, PLX_STATE_FAILED, supervisor->recovery.health);
    plx_blackbox_state(&supervisor->blackbox, PLX_STATE_FAILED, supervisor->recovery.health, plx_supervisor_reason(supervisor));
    plx_blackbox_save(&supervisor->blackbox, "failed");
    plx_supervisor_stop(supervisor, exit_code);
}

/* With --wait the service is ready while it waits: systemd must neither delay other units nor report a timeout. */
static void be_ready(struct plx_notify *notify, bool wait)
{
    if (wait)
        plx_notify_ready(notify);
}

bool plx_supervisor_is_final(const struct plx_supervisor *supervisor, const struct plx_report *report)
{
    return !supervisor->notify.ready && !(supervisor->wait && report->transient);
}

void plx_supervisor_start_failed(struct plx_supervisor *supervisor, const struct plx_report *report)
{
    const int64_t now = supervisor->now_ns;
    struct plx_recovery *recovery = &supervisor->recovery;

    if (plx_supervisor_is_final(supervisor, report)) {
        plx_supervisor_fail(supervisor, report->exit_code, report->message.text);
        return;
    }
    plx_recovery_start_postponed(recovery, now);
    plx_log(LOG_ERR, "%s; trying again in %.1f s", report->message.text, (double)(recovery->start_ns - now) / PLX_NS_PER_S);
    supervisor->degraded_reason = report->message;
    be_ready(&supervisor->notify, supervisor->wait);
}

void plx_supervisor_keep_waiting(struct plx_supervisor *supervisor)
{
    plx_recovery_lacks_resource(&supervisor->recovery, supervisor->now_ns);
    be_ready(&supervisor->notify, supervisor->wait);
}
