/* SPDX-License-Identifier: Apache-2.0 */
#include "app/supervisor/reload.h"

#include <parallax/error.h>

#include "app/log.h"

void plx_reload_init(struct plx_reload *reload, const struct plx_config *config)
{
    *reload = (struct plx_reload){.plan.config = *config, .candidate.config = *config};
}

bool plx_reload_has_plan(const struct plx_reload *reload)
{
    return reload->plan.frame_bytes != 0;
}

const struct plx_config *plx_reload_config(const struct plx_reload *reload)
{
    const bool is_taken = reload->phase == PLX_RELOAD_NONE || reload->phase == PLX_RELOAD_PROBING;

    return is_taken ? &reload->plan.config : &reload->before.config;
}

/* --- its end ------------------------------------------------------------------------------------------------------ */

void plx_reload_refuse(struct plx_reload *reload, const char *reason)
{
    plx_say(&reload->refusal, "configuration kept as it was: %s", reason);
    plx_log(LOG_ERR, "%s", reload->refusal.text);
    reload->phase = PLX_RELOAD_NONE;
}

void plx_reload_accept(struct plx_reload *reload, const char *consequence)
{
    reload->refusal = (struct plx_error_message){""};
    plx_log(LOG_NOTICE, "configuration reloaded%s", consequence);
    reload->phase = PLX_RELOAD_NONE;
}

bool plx_reload_roll_back(struct plx_reload *reload, const char *reason)
{
    struct plx_error_message message;

    if (reload->phase != PLX_RELOAD_STOPPING && reload->phase != PLX_RELOAD_STARTING)
        return false;
    reload->plan = reload->before;
    plx_say(&message, "the new one opened but gave no frame: %s", reason);
    plx_reload_refuse(reload, message.text);
    return true;
}

static enum plx_reload_event refuse(struct plx_reload *reload, const char *reason)
{
    plx_reload_refuse(reload, reason);
    return PLX_RELOAD_REFUSED;
}

/* Only a restart of the service changes KEY: clients keep socket and rights, and the black box keeps its file. */
static enum plx_reload_event refuse_key(struct plx_reload *reload, const struct plx_config_source *config_source,
                                        const char *key)
{
    struct plx_error_message message;

    plx_config_fail(config_source, key, &message, PLX_ERR_UNSUPPORTED,
                    "%s cannot change while the service runs; restart the service instead", key);
    return refuse(reload, message.text);
}

/* The candidate differs only in keys that a running engine can change. */
static enum plx_reload_event apply(struct plx_reload *reload)
{
    reload->plan.config = reload->candidate.config;
    plx_reload_accept(reload, "");
    return PLX_RELOAD_APPLIED;
}

/* --- its course --------------------------------------------------------------------------------------------------- */

void plx_reload_request(struct plx_reload *reload, bool is_probing)
{
    if (reload->phase != PLX_RELOAD_NONE || is_probing)
        plx_log(LOG_NOTICE, "the configuration is read again after the current probe or reload");
    reload->requested = true;
}

/* True if the plan depends on files besides the configuration, which may have changed. */
static bool reads_calibration(const struct plx_config *config)
{
    return config->calibration[0] != '\0' || config->source.type == PLX_SOURCE_REPLAY;
}

enum plx_reload_event plx_reload_begin(struct plx_reload *reload, const struct plx_config_source *config_source,
                                       bool has_started)
{
    const struct plx_config *config = &reload->plan.config, *candidate = &reload->candidate.config;
    struct plx_error_message message;
    const char *key;

    reload->requested = false;
    if (plx_config_read(config_source, &reload->candidate.config, &message) < 0)
        return refuse(reload, message.text);
    if (!has_started) { /* nothing runs yet: the first start still waits */
        reload->plan.frame_bytes = 0;
        plx_reload_accept(reload, "; it is tried now");
        return PLX_RELOAD_FIRST_START;
    }
    if ((key = plx_config_fixed_difference(config, candidate)) != NULL)
        return refuse_key(reload, config_source, key);
    if (plx_config_reloadable(config, candidate, &key) && !reads_calibration(candidate))
        return apply(reload);
    reload->phase = PLX_RELOAD_PROBING;
    return PLX_RELOAD_NEEDS_PROBE;
}

static bool needs_engine(const struct plx_plan *plan, const struct plx_plan *candidate)
{
    const char *key;

    return !plx_config_reloadable(&plan->config, &candidate->config, &key) ||
           !plx_calibration_equals(&plan->calibration, &candidate->calibration);
}

enum plx_reload_event plx_reload_probed(struct plx_reload *reload, const struct plx_report *report)
{
    struct plx_plan *candidate = &reload->candidate;
    const bool works = report->kind == PLX_REPORT_PLAN;

    if (works) {
        candidate->frame_bytes = report->frame_bytes;
        candidate->calibration = report->calibration;
    }
    if (!plx_reload_has_plan(reload)) {
        if (works)
            reload->plan = *candidate;
        return works ? PLX_RELOAD_FIRST_OPENS : PLX_RELOAD_FIRST_FAILED;
    }
    if (!works)
        return refuse(reload, report->message.text);
    return needs_engine(&reload->plan, candidate) ? PLX_RELOAD_OPENS : apply(reload);
}

void plx_reload_adopt(struct plx_reload *reload, bool frames_come)
{
    reload->must_publish = frames_come;
    reload->before = reload->plan;
    reload->plan = reload->candidate;
    reload->phase = PLX_RELOAD_STOPPING;
    plx_log(LOG_NOTICE, "the new configuration opens; the engine restarts with it");
}

void plx_reload_engine_started(struct plx_reload *reload)
{
    if (reload->phase == PLX_RELOAD_STOPPING)
        reload->phase = PLX_RELOAD_STARTING;
}

bool plx_reload_is_complete(const struct plx_reload *reload, bool is_camera_lost)
{
    return reload->phase == PLX_RELOAD_STARTING && !(is_camera_lost && reload->must_publish);
}
