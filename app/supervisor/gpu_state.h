/* SPDX-License-Identifier: Apache-2.0 */
/* The GPU that is lost, and the CPU that replaces it: what is logged and published of plx_gpu_fallback. */
#ifndef PLX_APP_SUPERVISOR_GPU_STATE_H
#define PLX_APP_SUPERVISOR_GPU_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "app/engine/report.h"
#include "app/supervisor/recovery.h"
#include "config/config.h"
#include "core/base/text.h"

/* Zeroed = nothing is known of a GPU. */
struct plx_gpu_state {
    struct plx_gpu_fallback fallback;
    struct plx_error_message reason; /* "" = the CPU does not replace it */
};

/* True if frames should come from the GPU, by BACKEND of the configuration, so that frames of the CPU get a flag. */
bool plx_gpu_state_is_expected(const struct plx_gpu_state *gpu, enum plx_backend_kind backend);

/* A new engine starts. */
void plx_gpu_state_engine_started(struct plx_gpu_state *gpu);
/* The engine's NOTE: it uses the CPU instead of a GPU. */
void plx_gpu_state_note(struct plx_gpu_state *gpu, const struct plx_error_message *note);
/* The engine published a frame. STABLE: it has run for PLX_STABLE_NS. */
void plx_gpu_state_frame(struct plx_gpu_state *gpu, int64_t now_ns, bool on_gpu, bool stable);
/* An engine that should use the GPU ended unasked, for REASON: counts a loss if the GPU is the cause. */
void plx_gpu_state_engine_ended(struct plx_gpu_state *gpu, int64_t now_ns, const struct plx_engine_end *end,
                                const char *reason);
/* The probe's answer about the GPU that was lost; REASON: why it does not work. */
void plx_gpu_state_probed(struct plx_gpu_state *gpu, int64_t now_ns, bool works, const char *reason);

#endif
