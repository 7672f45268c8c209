/* SPDX-License-Identifier: Apache-2.0 */
#include "app/supervisor/supervisor.h"

#include "app/log.h"

static void finish(struct plx_supervisor *supervisor)
{
    supervisor->reload.phase = PLX_RELOAD_NONE;
    plx_notify_reloaded(&supervisor->notify);
}

void plx_reload_refuse(struct plx_supervisor *supervisor, const char *reason)
{
    struct plx_error_message *refusal = &supervisor->reload.refusal;

    plx_say(refusal, "configuration kept as it was: %s", reason);
    plx_log(LOG_ERR, "%s", refusal->text);
    finish(supervisor);
}

void plx_reload_accept(struct plx_supervisor *supervisor, const char *consequence)
{
    supervisor->reload.refusal = (struct plx_error_message){""};
    plx_log(LOG_NOTICE, "configuration reloaded%s", consequence);
    finish(supervisor);
}

const struct plx_config *plx_reload_config(const struct plx_supervisor *supervisor)
{
    const struct plx_reload *reload = &supervisor->reload;
    const bool is_taken = reload->phase == PLX_RELOAD_NONE || reload->phase == PLX_RELOAD_PROBING;

    return is_taken ? &supervisor->plan.config : &reload->before.config;
}

void plx_reload_started(struct plx_supervisor *supervisor)
{
    if (supervisor->reload.phase == PLX_RELOAD_STOPPING)
        supervisor->reload.phase = PLX_RELOAD_STARTING;
}

void plx_reload_confirm(struct plx_supervisor *supervisor, bool away)
{
    const struct plx_reload *reload = &supervisor->reload;

    /* An engine that failed may still publish between SIGTERM and its end. */
    if (reload->phase != PLX_RELOAD_STARTING || supervisor->engine.has_failed || (away && reload->must_publish))
        return;
    const bool resized = plx_publisher_promote(&supervisor->publisher);
    plx_shm_set_restarts(supervisor->publisher.shm, (uint32_t)supervisor->recovery.deaths);
    plx_reload_accept(supervisor, resized ? "; frames have another size, in a new shared memory" : "");
}

bool plx_reload_roll_back(struct plx_supervisor *supervisor, const char *reason)
{
    struct plx_reload *reload = &supervisor->reload;
    struct plx_error_message message;

    if (supervisor->stopping || (reload->phase != PLX_RELOAD_STOPPING && reload->phase != PLX_RELOAD_STARTING))
        return false;
    supervisor->plan = reload->before;
    plx_publisher_discard(&supervisor->publisher);
    plx_say(&message, "the new one opened but gave no frame: %s", reason);
    plx_reload_refuse(supervisor, message.text);
    return true;
}
