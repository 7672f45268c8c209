/* SPDX-License-Identifier: Apache-2.0 */
/* Opening before taking: a configuration at start and on SIGHUP, and a GPU that was lost, in a process of its own. It opens and
 * closes, and never starts a source: what runs beside it goes on. */
#ifndef PLX_APP_SUPERVISOR_PROBE_H
#define PLX_APP_SUPERVISOR_PROBE_H

#include <stdbool.h>

struct plx_probe;
struct plx_report;
struct plx_supervisor;

/* Probes supervisor->candidate, or the GPU. If no process can be started, the answer is FAILED. */
void plx_probe_config(struct plx_supervisor *supervisor);
void plx_probe_gpu(struct plx_supervisor *supervisor);

/* True once for each probe: *ret_report is its answer, PLAN or FAILED. */
bool plx_probe_take_answer(struct plx_probe *probe, struct plx_report *ret_report);

/* The probe was reaped with STATUS. */
void plx_probe_reaped(struct plx_supervisor *supervisor, int status);

/* There is none any more, or none that anything could end. */
bool plx_probe_has_ended(const struct plx_supervisor *supervisor);

/* Kills a probe that takes too long. */
void plx_probe_tick(struct plx_supervisor *supervisor);

/* Kills the probe now: nobody waits for its answer. */
void plx_probe_stop(struct plx_supervisor *supervisor);

#endif
