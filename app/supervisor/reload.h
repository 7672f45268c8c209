/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SIGHUP: the configuration is read again, tried whole in a process of its own, and taken; a new engine that does not publish
 * with it is replaced by one of the configuration, calibration and ring that ran before.
 */
#ifndef PLX_APP_SUPERVISOR_RELOAD_H
#define PLX_APP_SUPERVISOR_RELOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "app/engine/plan.h"
#include "app/engine/report.h"

struct plx_supervisor;

enum plx_reload_phase {
    PLX_RELOAD_NONE,
    PLX_RELOAD_TRYING,   /* a probe opens what the candidate names */
    PLX_RELOAD_STOPPING, /* it was taken: the old engine ends */
    PLX_RELOAD_STARTING, /* the new engine has yet to publish */
};

struct plx_reload {
    enum plx_reload_phase phase;
    bool asked;                       /* SIGHUP came; carried out when nothing else is being tried */
    bool must_publish;                /* frames came before, so that a new engine that only looks for cameras is no success */
    struct plx_plan before;           /* STOPPING, STARTING: to return to */
    struct plx_error_message refusal; /* why the file is not what is in force; "" = it is */
};

/* SIGHUP. One that comes while a reload is under way is carried out after it: the last file counts. */
void plx_reload_request(struct plx_supervisor *supervisor);

/* The probe's answer about supervisor->candidate: PLAN or FAILED. Also at the first start. */
void plx_reload_probed(struct plx_supervisor *supervisor, const struct plx_report *report);

/* What the frames of now were made with: the configuration before, until the engine of a new one has published. */
const struct plx_config *plx_reload_config(const struct plx_supervisor *supervisor);

/* Begins what was asked for; kills a new engine that is late. */
void plx_reload_tick(struct plx_supervisor *supervisor, int64_t now_ns);

/* An engine of the plan in force was started. */
void plx_reload_started(struct plx_supervisor *supervisor);
/* It has published a frame, or looks for a camera that is AWAY. */
void plx_reload_confirm(struct plx_supervisor *supervisor, bool away);
/* It could not be started, or has ended, for the reason SENTENCE. True if a reload was taken back for it: the next engine is
 * one of the plan before. */
bool plx_reload_roll_back(struct plx_supervisor *supervisor, const char *sentence);

#endif
