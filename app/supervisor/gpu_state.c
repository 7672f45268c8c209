/* SPDX-License-Identifier: Apache-2.0 */
#include "app/supervisor/gpu_state.h"

#include "app/log.h"

bool plx_gpu_state_is_expected(const struct plx_gpu_state *gpu, enum plx_backend_kind backend)
{
    return backend == PLX_BACKEND_GPU || (backend == PLX_BACKEND_AUTO && gpu->fallback.worked);
}

void plx_gpu_state_engine_started(struct plx_gpu_state *gpu)
{
    if (!gpu->fallback.active)
        gpu->reason = (struct plx_error_message){""};
}

void plx_gpu_state_note(struct plx_gpu_state *gpu, const struct plx_error_message *note)
{
    if (!gpu->fallback.active) /* a lost GPU is more important than a note of the engine */
        gpu->reason = *note;
}

void plx_gpu_state_frame(struct plx_gpu_state *gpu, int64_t now_ns, bool on_gpu, bool stable)
{
    const bool was_active = gpu->fallback.active;

    plx_gpu_fallback_frame(&gpu->fallback, now_ns, on_gpu, stable);
    if (gpu->fallback.active && !was_active)
        plx_log(LOG_ERR, "the GPU that worked before is gone; the CPU replaces it");
}

void plx_gpu_state_engine_ended(struct plx_gpu_state *gpu, int64_t now_ns, const struct plx_engine_end *end, const char *reason)
{
    struct plx_gpu_fallback *gpu_fallback = &gpu->fallback;

    if (gpu_fallback->active || !plx_gpu_fallback_is_loss(end))
        return;
    plx_gpu_fallback_lost(gpu_fallback, now_ns);
    if (!gpu_fallback->active)
        return;
    plx_log(LOG_ERR, "the GPU was lost %d times; the CPU replaces it, and the GPU is probed in %d s", gpu_fallback->losses,
            (int)(gpu_fallback->pause_ns / PLX_NS_PER_S));
    plx_say(&gpu->reason, "the GPU was lost %d times, and the CPU replaces it: %s", gpu_fallback->losses, reason);
}

void plx_gpu_state_probed(struct plx_gpu_state *gpu, int64_t now_ns, bool works, const char *reason)
{
    plx_gpu_fallback_probed(&gpu->fallback, now_ns, works);
    if (works) {
        plx_log(LOG_NOTICE, "the GPU works again; the engine restarts on it");
        return;
    }
    plx_log(LOG_WARNING, "the GPU is still lost, and is probed again in %d s: %s", (int)(gpu->fallback.pause_ns / PLX_NS_PER_S),
            reason);
    plx_say(&gpu->reason, "the GPU is lost, and the CPU replaces it: %s", reason);
}
