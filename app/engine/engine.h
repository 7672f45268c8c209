/* SPDX-License-Identifier: Apache-2.0 */
/* The engine: source -> pairing -> pipeline -> publish -> exposure. It runs in a process forked from the supervisor. */
#ifndef PLX_APP_ENGINE_ENGINE_H
#define PLX_APP_ENGINE_ENGINE_H

#include "config/config.h"

struct plx_heartbeats;
struct plx_shm;

/* What an engine is started with. A probe completes it once; each later engine uses it from memory and reads no file again. */
struct plx_plan {
    struct plx_config config;
    uint32_t frame_bytes;                      /* size of one frame; 0 = not probed yet, and the calibration is not known */
    struct plx_stereo_calibration calibration; /* with its rectification, for the size of the source's pictures; zeros: raw */
};

/* Opens everything that CONFIG names, without starting it: source, calibration, backend, memory. If frames will not have
 * RING_BYTES, the size in the present ring, it also allocates a new ring for a moment. Reports PLAN or FAILED. Returns the exit
 * code. */
int plx_engine_probe(const struct plx_config *config, uint32_t ring_bytes, int report_fd);

/* Opens the GPU backend while an engine on the CPU holds the source. Reports PLAN or FAILED. Returns the exit code. */
int plx_engine_probe_gpu(int report_fd);

/* PLAN was completed by a probe. GPU_EXPECTED: frames that are not computed on a GPU have the flag GPU_FALLBACK. Fills REGION
 * (inherited, of the size that the probe found) until SIGTERM, the end of the source or a failure. Sends reports, and its
 * threads mark their activity in HEARTBEATS (shared memory). Returns the exit code. */
int plx_engine_run(const struct plx_plan *plan, bool gpu_expected, struct plx_shm *shm, struct plx_heartbeats *heartbeats,
                   int report_fd);

#endif
