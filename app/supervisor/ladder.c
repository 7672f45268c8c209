/* SPDX-License-Identifier: Apache-2.0 */
#include "app/supervisor/ladder.h"

#include <signal.h>

#include "core/heartbeat.h"

bool plx_ladder_is_loss(const struct plx_engine_end *end)
{
    const bool at_work = end->doing == PLX_WATCHED_GPU || (end->doing < PLX_WATCHED_STAGES && end->doing != PLX_STAGE_TRACKS);

    if (end->failed)
        return end->gpu_lost;
    return at_work && end->signal != 0 && (end->hung || end->signal != SIGKILL);
}

/* Each pause is twice the one before. */
static void pause_longer(struct plx_ladder *ladder, int64_t now_ns)
{
    ladder->pause_ns = ladder->pause_ns == 0 ? PLX_LADDER_PAUSE_MIN_NS : 2 * ladder->pause_ns;
    if (ladder->pause_ns > PLX_LADDER_PAUSE_MAX_NS)
        ladder->pause_ns = PLX_LADDER_PAUSE_MAX_NS;
    ladder->retry_ns = now_ns + ladder->pause_ns;
}

static void fall(struct plx_ladder *ladder, int64_t now_ns)
{
    ladder->fallen = true;
    pause_longer(ladder, now_ns);
}

void plx_ladder_frame(struct plx_ladder *ladder, int64_t now_ns, bool on_gpu, bool stable)
{
    if (!on_gpu && ladder->worked && !ladder->fallen)
        fall(ladder, now_ns);
    if (!on_gpu)
        return;
    ladder->worked = true;
    if (stable) {
        ladder->losses = 0;
        ladder->pause_ns = 0;
    }
}

void plx_ladder_lost(struct plx_ladder *ladder, int64_t now_ns)
{
    if (++ladder->losses >= PLX_LADDER_LOSSES && !ladder->fallen)
        fall(ladder, now_ns);
}

bool plx_ladder_wants_trial(const struct plx_ladder *ladder, int64_t now_ns)
{
    return ladder->fallen && now_ns >= ladder->retry_ns;
}

void plx_ladder_tried(struct plx_ladder *ladder, int64_t now_ns, bool works)
{
    if (works)
        ladder->fallen = false;
    else
        pause_longer(ladder, now_ns);
}
