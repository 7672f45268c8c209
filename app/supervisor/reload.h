/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the configuration again: reload.c accepts or refuses it, and rolls back; reload_request.c begins, also at the first
 * start. */
#ifndef PLX_APP_SUPERVISOR_RELOAD_H
#define PLX_APP_SUPERVISOR_RELOAD_H

#include <stdbool.h>

#include "app/engine/engine.h"
#include "app/engine/report.h"
#include "core/base/text.h"

struct plx_supervisor;

enum plx_reload_phase {
    PLX_RELOAD_NONE,
    PLX_RELOAD_PROBING,  /* a probe opens what the candidate names */
    PLX_RELOAD_STOPPING, /* the candidate is accepted: the old engine ends */
    PLX_RELOAD_STARTING, /* the new engine has yet to publish */
};

struct plx_reload {
    enum plx_reload_phase phase;
    bool requested;                   /* SIGHUP came; carried out when nothing else is being probed */
    bool must_publish;                /* the old engine published frames: a new one that only looks for cameras is no success */
    struct plx_plan candidate;        /* what is being probed */
    struct plx_plan before;           /* STOPPING, STARTING: the plan to return to */
    struct plx_error_message refusal; /* why the file is not in force; "" = it is */
};

/* The candidate is refused for REASON. */
void plx_reload_refuse(struct plx_supervisor *supervisor, const char *reason);
/* The candidate is in force; CONSEQUENCE ends the sentence that is logged. */
void plx_reload_accept(struct plx_supervisor *supervisor, const char *consequence);
/* The configuration of the published frames: the old one until the engine of a new one has published. */
const struct plx_config *plx_reload_config(const struct plx_supervisor *supervisor);
/* An engine with the plan in force was started. */
void plx_reload_started(struct plx_supervisor *supervisor);
/* The new engine has published a frame, or looks for a camera that is AWAY. */
void plx_reload_confirm(struct plx_supervisor *supervisor, bool away);
/* The new engine could not start, or has ended, for REASON. True if the reload was rolled back: the next engine has the old
 * configuration, calibration and ring. */
bool plx_reload_roll_back(struct plx_supervisor *supervisor, const char *reason);

/* SIGHUP. A request during a reload is carried out after it: the last state of the file counts. */
void plx_reload_request(struct plx_supervisor *supervisor);
/* The probe's answer about the candidate: PLAN or FAILED. Also at the first start. */
void plx_reload_probed(struct plx_supervisor *supervisor, const struct plx_report *report);
/* Begins a requested reload, and the first start when it is due; ends a new engine that gives no frame. */
void plx_reload_tick(struct plx_supervisor *supervisor);

#endif
