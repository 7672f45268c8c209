/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a new configuration, or a GPU that was lost, in a process of its own. */
#ifndef PLX_APP_SUPERVISOR_PROBE_H
#define PLX_APP_SUPERVISOR_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "app/engine/report.h"
#include "app/supervisor/child.h"

struct plx_supervisor;

enum plx_probe_kind { PLX_PROBE_CONFIG, PLX_PROBE_GPU };

/* A process that opens what a configuration names, or the GPU, and says whether that works. */
struct plx_probe {
    struct plx_child child;
    enum plx_probe_kind kind;
    int64_t kill_ns;          /* when it is killed because it takes too long */
    struct plx_report answer; /* PLAN or FAILED; kind 0 = no answer yet, or already used */
    bool answered;
};

/* A probe opens and closes, and never starts a source: the running engine goes on. PLX_PROBE_CONFIG opens
 * supervisor->reload.candidate. If no process can be started, the answer is FAILED. */
void plx_probe_start(struct plx_supervisor *supervisor, enum plx_probe_kind kind);
/* True once for each probe: *ret_report is its answer, PLAN or FAILED. */
bool plx_probe_take_answer(struct plx_probe *probe, struct plx_report *ret_report);
/* The probe was reaped with STATUS. */
void plx_probe_reaped(struct plx_supervisor *supervisor, int status);
/* True if there is no probe, or SIGKILL does not end it. */
bool plx_probe_has_ended(const struct plx_supervisor *supervisor);
/* Kills a probe that takes too long. */
void plx_probe_tick(struct plx_supervisor *supervisor);
/* Kills the probe now, because nobody needs its answer. */
void plx_probe_stop(struct plx_supervisor *supervisor);

#endif
