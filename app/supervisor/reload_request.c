/* SPDX-License-Identifier: Apache-2.0 */
#include "app/supervisor/supervisor.h"

#include <string.h>

#include <parallax/error.h>

#include "app/log.h"

/* The candidate differs only in keys that a running engine can change. */
static void apply(struct plx_supervisor *supervisor)
{
    const struct plx_engine_command command = {.kind = PLX_COMMAND_EXPOSURE,
                                               .exposure = supervisor->reload.candidate.config.exposure};

    supervisor->plan.config = supervisor->reload.candidate.config;
    if (supervisor->engine.child.pid > 0)
        plx_engine_command_send(supervisor->engine.child.report_fd, &command);
    plx_reload_accept(supervisor, "");
}

/* The candidate opens. A ring of another size is made before anything that runs is changed. */
static void adopt(struct plx_supervisor *supervisor)
{
    struct plx_reload *reload = &supervisor->reload;
    const struct plx_plan *candidate = &supervisor->reload.candidate;
    const enum plx_state state = supervisor->recovery.state;
    struct plx_error_message message;

    if (plx_publisher_prepare(&supervisor->publisher, &candidate->config, candidate->frame_bytes, &message) < 0) {
        plx_reload_refuse(supervisor, message.text);
        return;
    }
    reload->must_publish = state == PLX_STATE_RUNNING || state == PLX_STATE_DEGRADED; /* frames come */
    reload->before = supervisor->plan;
    supervisor->plan = *candidate;
    reload->phase = PLX_RELOAD_STOPPING;
    plx_log(LOG_NOTICE, "the new configuration opens; the engine restarts with it");
    plx_engine_process_replace(supervisor);
}

/* True if the plan depends on files besides the configuration, which may have changed. */
static bool reads_calibration(const struct plx_config *config)
{
    return config->calibration[0] != '\0' || config->source.type == PLX_SOURCE_REPLAY;
}

static bool needs_engine(const struct plx_supervisor *supervisor)
{
    const struct plx_plan *plan = &supervisor->plan, *candidate = &supervisor->reload.candidate;
    const char *key;

    return !plx_config_reloadable(&plan->config, &candidate->config, &key) ||
           !plx_calibration_equals(&plan->calibration, &candidate->calibration);
}

/* Only a restart of the service changes KEY: clients keep socket and rights, and the black box keeps its file. */
static void refuse_key(struct plx_supervisor *supervisor, const char *key)
{
    struct plx_error_message message;

    plx_config_fail(supervisor->config_source, key, &message, PLX_ERR_UNSUPPORTED,
                    "%s cannot change while the service runs; restart the service instead", key);
    plx_reload_refuse(supervisor, message.text);
}

static void begin(struct plx_supervisor *supervisor)
{
    const struct plx_config *config = &supervisor->plan.config, *candidate = &supervisor->reload.candidate.config;
    struct plx_error_message message;
    const char *key;

    supervisor->reload.requested = false;
    plx_notify_reloading();
    if (plx_config_read(supervisor->config_source, &supervisor->reload.candidate.config, &message) < 0) {
        plx_reload_refuse(supervisor, message.text);
    } else if (!supervisor->publisher.shm) { /* nothing runs yet: the first start still waits */
        supervisor->plan.frame_bytes = 0;
        supervisor->recovery.start_ns = supervisor->now_ns;
        plx_reload_accept(supervisor, "; it is tried now");
    } else if ((key = plx_config_fixed_difference(config, candidate)) != NULL) {
        refuse_key(supervisor, key);
    } else if (plx_config_reloadable(config, candidate, &key) && !reads_calibration(candidate)) {
        apply(supervisor);
    } else {
        supervisor->reload.phase = PLX_RELOAD_PROBING;
        plx_probe_start(supervisor, PLX_PROBE_CONFIG);
    }
}

void plx_reload_request(struct plx_supervisor *supervisor)
{
    if (supervisor->reload.phase != PLX_RELOAD_NONE || supervisor->probe.child.pid > 0)
        plx_log(LOG_NOTICE, "the configuration is read again after the current probe or reload");
    supervisor->reload.requested = true;
}

void plx_reload_probed(struct plx_supervisor *supervisor, const struct plx_report *report)
{
    struct plx_plan *candidate = &supervisor->reload.candidate;
    const bool works = report->kind == PLX_REPORT_PLAN;

    if (works) {
        candidate->frame_bytes = report->frame_bytes;
        candidate->calibration = report->calibration;
    }
    if (supervisor->plan.frame_bytes == 0 && works)
        supervisor->plan = *candidate; /* the next tick starts the first engine */
    else if (supervisor->plan.frame_bytes == 0)
        plx_supervisor_start_failed(supervisor, report);
    else if (!works)
        plx_reload_refuse(supervisor, report->message.text);
    else if (needs_engine(supervisor))
        adopt(supervisor);
    else
        apply(supervisor);
}

void plx_reload_tick(struct plx_supervisor *supervisor)
{
    const struct plx_reload *reload = &supervisor->reload;
    const struct plx_recovery *recovery = &supervisor->recovery;

    if (supervisor->stopping)
        return;
    if (reload->requested && reload->phase == PLX_RELOAD_NONE && supervisor->probe.child.pid == 0)
        begin(supervisor);
    if (supervisor->plan.frame_bytes == 0 && supervisor->probe.child.pid == 0 &&
        plx_recovery_wants_engine(recovery, supervisor->now_ns))
        plx_probe_start(supervisor, PLX_PROBE_CONFIG);
    if (reload->phase == PLX_RELOAD_STARTING && recovery->running && !supervisor->engine.has_failed &&
        supervisor->now_ns - recovery->started_ns > plx_budget_fatal_ns(PLX_WATCHED_START, 0))
        plx_engine_process_give_up(supervisor, "the engine gives no first frame");
}
