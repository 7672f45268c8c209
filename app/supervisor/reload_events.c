/* SPDX-License-Identifier: Apache-2.0 */
#include "app/supervisor/supervisor.h"

/* The candidate opens. A ring of another size is made before anything that runs is changed; false: the ring cannot be made. */
static bool adopt(struct plx_reload *reload, struct plx_publisher *publisher, enum plx_state state)
{
    const struct plx_plan *candidate = &reload->candidate;
    struct plx_error_message message;

    if (plx_publisher_prepare(publisher, &candidate->config, candidate->frame_bytes, &message) < 0) {
        plx_reload_refuse(reload, message.text);
        return false;
    }
    plx_reload_adopt(reload, state == PLX_STATE_RUNNING || state == PLX_STATE_DEGRADED);
    return true;
}

static void send_exposure(struct plx_engine_process *engine, const struct plx_config *config)
{
    const struct plx_engine_command command = {.kind = PLX_COMMAND_EXPOSURE, .exposure = config->exposure};
    plx_engine_process_command(engine, &command);
}

void plx_supervisor_follow_reload(struct plx_supervisor *supervisor, enum plx_reload_event event)
{
    struct plx_reload *reload = &supervisor->reload;

    switch (event) {
    case PLX_RELOAD_NEEDS_PROBE:
        plx_probe_start_config(&supervisor->probe, &supervisor->parent, &reload->candidate.config,
                               supervisor->publisher.frame_bytes, supervisor->now_ns);
        break;
    case PLX_RELOAD_OPENS:
        if (adopt(reload, &supervisor->publisher, supervisor->recovery.state))
            plx_engine_process_replace(&supervisor->engine, &supervisor->recovery, supervisor->now_ns);
        else
            plx_notify_reloaded(&supervisor->notify);
        break;
    case PLX_RELOAD_FIRST_START:
        supervisor->recovery.start_ns = supervisor->now_ns;
        plx_notify_reloaded(&supervisor->notify);
        break;
    case PLX_RELOAD_APPLIED:
        send_exposure(&supervisor->engine, &reload->plan.config);
        plx_notify_reloaded(&supervisor->notify);
        break;
    case PLX_RELOAD_REFUSED:
        plx_notify_reloaded(&supervisor->notify);
        break;
    case PLX_RELOAD_FIRST_OPENS: /* the next tick starts the first engine */
    case PLX_RELOAD_FIRST_FAILED:
        break;
    }
}

void plx_supervisor_confirm_reload(struct plx_supervisor *supervisor, bool is_camera_lost)
{
    /* An engine that failed may still publish between SIGTERM and its end. */
    if (!plx_reload_is_complete(&supervisor->reload, is_camera_lost) || supervisor->engine.has_failed)
        return;
    const bool resized = plx_publisher_promote(&supervisor->publisher);
    plx_shm_set_restarts(supervisor->publisher.shm, (uint32_t)supervisor->recovery.deaths);
    plx_reload_accept(&supervisor->reload, resized ? "; frames have another size, in a new shared memory" : "");
    plx_notify_reloaded(&supervisor->notify);
}

bool plx_supervisor_roll_back(struct plx_supervisor *supervisor, const char *reason)
{
    if (supervisor->stopping || !plx_reload_roll_back(&supervisor->reload, reason))
        return false;
    plx_publisher_discard(&supervisor->publisher);
    plx_notify_reloaded(&supervisor->notify);
    return true;
}

void plx_supervisor_tick_reload(struct plx_supervisor *supervisor)
{
    struct plx_reload *reload = &supervisor->reload;

    if (supervisor->stopping)
        return;
    if (reload->requested && reload->phase == PLX_RELOAD_NONE && !plx_probe_is_running(&supervisor->probe)) {
        plx_notify_reloading();
        plx_supervisor_follow_reload(supervisor,
                                     plx_reload_begin(reload, supervisor->config_source, supervisor->publisher.shm != NULL));
    }
    if (!plx_reload_has_plan(reload) && !plx_probe_is_running(&supervisor->probe) &&
        plx_recovery_wants_engine(&supervisor->recovery, supervisor->now_ns))
        plx_supervisor_follow_reload(supervisor, PLX_RELOAD_NEEDS_PROBE);
}
