/* SPDX-License-Identifier: Apache-2.0 */
#include "app/supervisor/gpu_fallback.h"

#include <signal.h>

#include "core/heartbeat.h"

bool plx_gpu_fallback_is_loss(const struct plx_engine_end *end)
{
    const bool at_work = end->doing == PLX_WATCHED_GPU || (end->doing < PLX_WATCHED_STAGES && end->doing != PLX_STAGE_TRACKS);

    if (end->failed)
        return end->gpu_lost;
    return at_work && end->signal != 0 && (end->hung || end->signal != SIGKILL);
}

/* Each pause is twice the one before. */
static void pause_longer(struct plx_gpu_fallback *gpu_fallback, int64_t now_ns)
{
    gpu_fallback->pause_ns = gpu_fallback->pause_ns == 0 ? PLX_GPU_FALLBACK_PAUSE_MIN_NS : 2 * gpu_fallback->pause_ns;
    if (gpu_fallback->pause_ns > PLX_GPU_FALLBACK_PAUSE_MAX_NS)
        gpu_fallback->pause_ns = PLX_GPU_FALLBACK_PAUSE_MAX_NS;
    gpu_fallback->retry_ns = now_ns + gpu_fallback->pause_ns;
}

static void fall(struct plx_gpu_fallback *gpu_fallback, int64_t now_ns)
{
    gpu_fallback->active = true;
    pause_longer(gpu_fallback, now_ns);
}

void plx_gpu_fallback_frame(struct plx_gpu_fallback *gpu_fallback, int64_t now_ns, bool on_gpu, bool stable)
{
    if (!on_gpu && gpu_fallback->worked && !gpu_fallback->active)
        fall(gpu_fallback, now_ns);
    if (!on_gpu)
        return;
    gpu_fallback->worked = true;
    if (stable) {
        gpu_fallback->losses = 0;
        gpu_fallback->pause_ns = 0;
    }
}

void plx_gpu_fallback_lost(struct plx_gpu_fallback *gpu_fallback, int64_t now_ns)
{
    if (++gpu_fallback->losses >= PLX_GPU_FALLBACK_LOSSES && !gpu_fallback->active)
        fall(gpu_fallback, now_ns);
}

bool plx_gpu_fallback_wants_probe(const struct plx_gpu_fallback *gpu_fallback, int64_t now_ns)
{
    return gpu_fallback->active && now_ns >= gpu_fallback->retry_ns;
}

void plx_gpu_fallback_probed(struct plx_gpu_fallback *gpu_fallback, int64_t now_ns, bool works)
{
    if (works)
        gpu_fallback->active = false;
    else
        pause_longer(gpu_fallback, now_ns);
}
