/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a new configuration, or a GPU that was lost, in a process of its own. */
#ifndef PLX_APP_SUPERVISOR_PROBE_H
#define PLX_APP_SUPERVISOR_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "app/engine/report.h"
#include "app/supervisor/child.h"
#include "config/config.h"

enum plx_probe_kind { PLX_PROBE_CONFIG, PLX_PROBE_GPU };

/* A process that opens what a configuration names, or the GPU, and says whether that works. */
struct plx_probe {
    struct plx_child child;
    enum plx_probe_kind kind;
    int64_t kill_ns;          /* when it is killed because it takes too long */
    struct plx_report answer; /* PLAN or FAILED; kind 0 = no answer yet, or already used */
    bool answered;
};

/* A probe opens and closes, and never starts a source: the running engine goes on. Opens all that CONFIG names; RING_BYTES as
 * plx_engine_probe. If no process can be started, the answer is FAILED. */
void plx_probe_start_config(struct plx_probe *probe, const struct plx_parent *parent, const struct plx_config *config,
                            uint32_t ring_bytes, int64_t now_ns);
/* The same for the GPU. */
void plx_probe_start_gpu(struct plx_probe *probe, const struct plx_parent *parent, int64_t now_ns);
/* True if there is a process. */
bool plx_probe_is_running(const struct plx_probe *probe);
/* True once for each probe: *ret_report is its answer, PLAN or FAILED. */
bool plx_probe_take_answer(struct plx_probe *probe, struct plx_report *ret_report);
/* The probe was reaped with STATUS. */
void plx_probe_reaped(struct plx_probe *probe, int64_t now_ns, int status);
/* True if there is no probe, or SIGKILL does not end it. */
bool plx_probe_has_ended(const struct plx_probe *probe, int64_t now_ns);
/* Kills a probe that takes too long. */
void plx_probe_tick(struct plx_probe *probe, int64_t now_ns);
/* Kills the probe now, because nobody needs its answer. */
void plx_probe_stop(struct plx_probe *probe, int64_t now_ns);

#endif
