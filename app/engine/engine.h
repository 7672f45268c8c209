/* SPDX-License-Identifier: Apache-2.0 */
/* The worker: source -> pairing -> pipeline -> exposure -> publish. Runs in a process forked from the supervisor. */
#ifndef PLX_APP_ENGINE_ENGINE_H
#define PLX_APP_ENGINE_ENGINE_H

#include "app/engine/plan.h"
#include "app/region/region.h"
#include "core/heartbeat.h"

/* Tries everything that CONFIG asks for, without starting it: source, calibration, backend, memory; and, where frames will
 * not have RING_BYTES, the bytes of those in the ring that is there, a ring for them. Reports PLAN, or FAILED. Returns the exit
 * code. */
int plx_engine_probe(const struct plx_config *config, uint32_t ring_bytes, int report_fd);

/* Tries whether the GPU backend opens, beside an engine that works on the CPU and holds the source. Reports PLAN, or FAILED.
 * Returns the exit code. */
int plx_engine_probe_gpu(int report_fd);

/* PLAN was completed by a probe. GPU_EXPECTED: frames that are not made on a GPU bear the flag GPU_FALLBACK. Fills REGION
 * (inherited, of the size that the probe found) until SIGTERM, the end of the source or a failure. Reports as it goes, and
 * marks in HEARTBEATS (shared memory) what its threads are doing. Returns the exit code. */
int plx_engine_run(const struct plx_plan *plan, bool gpu_expected, struct plx_shared_region *region,
                   struct plx_heartbeats *heartbeats, int report_fd);

#endif
