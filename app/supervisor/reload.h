/* SPDX-License-Identifier: Apache-2.0 */
/* The plans: the one in force, and the one that replaces it when the configuration is read again. Each function says what
 * happened; reload_events.c decides what follows. */
#ifndef PLX_APP_SUPERVISOR_RELOAD_H
#define PLX_APP_SUPERVISOR_RELOAD_H

#include <stdbool.h>

#include "app/engine/engine.h"
#include "app/engine/report.h"
#include "core/base/text.h"

enum plx_reload_phase {
    PLX_RELOAD_NONE,
    PLX_RELOAD_PROBING,  /* a probe opens what the candidate names */
    PLX_RELOAD_STOPPING, /* the candidate is accepted: the old engine ends */
    PLX_RELOAD_STARTING, /* the new engine has yet to publish */
};

enum plx_reload_event {
    PLX_RELOAD_REFUSED,      /* the reload is over; the plan in force stays */
    PLX_RELOAD_FIRST_START,  /* the reload is over, and the first start, which waited, is due at once */
    PLX_RELOAD_APPLIED,      /* the reload is over; the engine that runs must be told the parameters */
    PLX_RELOAD_NEEDS_PROBE,  /* a probe must open the candidate */
    PLX_RELOAD_OPENS,        /* the candidate opens, and needs an engine of its own */
    PLX_RELOAD_FIRST_OPENS,  /* the first plan is in force; its engine can start */
    PLX_RELOAD_FIRST_FAILED, /* there is still no plan to start an engine with */
};

struct plx_reload {
    enum plx_reload_phase phase;
    bool requested;                   /* SIGHUP came; carried out when nothing else is being probed */
    bool must_publish;                /* the old engine published frames: a new one that only looks for cameras is no success */
    struct plx_plan plan;             /* in force: what every engine is started with; frame_bytes 0 = none yet */
    struct plx_plan candidate;        /* what is being probed */
    struct plx_plan before;           /* STOPPING, STARTING: the plan to return to */
    struct plx_error_message refusal; /* why the file is not in force; "" = it is */
};

/* CONFIG is the first candidate. */
void plx_reload_init(struct plx_reload *reload, const struct plx_config *config);

/* True once a probe has completed a plan. */
bool plx_reload_has_plan(const struct plx_reload *reload);
/* The configuration of the published frames: the old one until the engine of a new one has published. */
const struct plx_config *plx_reload_config(const struct plx_reload *reload);

/* SIGHUP. A request during a reload, or while a probe is running, is carried out after it: the last state of the file counts.
 */
void plx_reload_request(struct plx_reload *reload, bool is_probing);
/* Reads the configuration again, as it was requested. HAS_STARTED: the first start succeeded. */
enum plx_reload_event plx_reload_begin(struct plx_reload *reload, const struct plx_config_source *config_source,
                                       bool has_started);
/* The probe's answer about the candidate: PLAN or FAILED. Also at the first start. */
enum plx_reload_event plx_reload_probed(struct plx_reload *reload, const struct plx_report *report);

/* The candidate, which opens, is in force from now on, for the next engine. FRAMES_COME: the old engine publishes. */
void plx_reload_adopt(struct plx_reload *reload, bool frames_come);
/* An engine with the plan in force was started. */
void plx_reload_engine_started(struct plx_reload *reload);
/* True if a new engine that has published, or looks for a camera if IS_CAMERA_LOST, completes the reload. */
bool plx_reload_is_complete(const struct plx_reload *reload, bool is_camera_lost);

/* The candidate is refused for REASON; the reload is over. */
void plx_reload_refuse(struct plx_reload *reload, const char *reason);
/* The candidate is in force, the reload is over; CONSEQUENCE ends the sentence that is logged. */
void plx_reload_accept(struct plx_reload *reload, const char *consequence);
/* The new engine could not start, or has ended, for REASON. True if the reload was rolled back: the next engine has the old
 * configuration and calibration. */
bool plx_reload_roll_back(struct plx_reload *reload, const char *reason);

#endif
