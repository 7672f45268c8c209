/* SPDX-License-Identifier: Apache-2.0 */
#include "app/supervisor/recovery.h"

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

void plx_recovery_init(struct plx_recovery *recovery, int64_t now_ns)
{
    *recovery = (struct plx_recovery){
        .state = PLX_STATE_STARTING,
        .frame_ns = now_ns,
        .start_ns = now_ns,
        .backoff_ns = PLX_BACKOFF_MIN_NS,
    };
}

void plx_recovery_started(struct plx_recovery *recovery, int64_t now_ns)
{
    recovery->running = true;
    recovery->fresh = false;
    recovery->born_ns = now_ns;
    recovery->sign_ns = now_ns;
    recovery->silence_ns = PLX_START_BUDGET_NS;
}

void plx_recovery_frame(struct plx_recovery *recovery, int64_t now_ns, uint32_t health, int64_t period_ns, int64_t busy_ns)
{
    recovery->fresh = true;
    recovery->sign_ns = now_ns;
    recovery->frame_ns = now_ns;
    recovery->silence_ns = larger(PLX_SILENCE_MIN_NS, PLX_SILENCE_PERIODS * larger(period_ns, busy_ns));
    recovery->health = health;
    recovery->state = health ? PLX_STATE_DEGRADED : PLX_STATE_RUNNING;
    if (now_ns - recovery->born_ns >= PLX_STABLE_NS)
        recovery->backoff_ns = PLX_BACKOFF_MIN_NS;
}

void plx_recovery_waiting(struct plx_recovery *recovery, int64_t now_ns, uint32_t health)
{
    recovery->sign_ns = now_ns;
    recovery->health |= health;
}

static void lose(struct plx_recovery *recovery)
{
    if (recovery->state == PLX_STATE_RUNNING || recovery->state == PLX_STATE_DEGRADED)
        recovery->state = PLX_STATE_RECOVERING;
    recovery->health |= PLX_HEALTH_NO_FRAMES;
}

void plx_recovery_died(struct plx_recovery *recovery, int64_t now_ns, bool planned)
{
    lose(recovery);
    recovery->running = false;
    if (planned) {
        recovery->start_ns = now_ns;
        return;
    }
    recovery->deaths++;
    recovery->start_ns = now_ns + recovery->backoff_ns;
    recovery->backoff_ns *= 2;
    if (recovery->backoff_ns > PLX_BACKOFF_MAX_NS)
        recovery->backoff_ns = PLX_BACKOFF_MAX_NS;
}

bool plx_recovery_tick(struct plx_recovery *recovery, int64_t now_ns)
{
    const bool silent = recovery->running && now_ns - recovery->sign_ns > recovery->silence_ns;
    const int64_t last_pair_ns = larger(recovery->frame_ns, recovery->born_ns);
    const bool starved = recovery->running && now_ns - last_pair_ns > larger(PLX_SOURCE_BUDGET_NS, recovery->silence_ns);

    if (silent || (recovery->fresh && now_ns - recovery->frame_ns > recovery->silence_ns))
        lose(recovery);
    if (!plx_recovery_is_well(recovery, now_ns))
        recovery->state = PLX_STATE_FAILED;
    return silent || starved;
}

bool plx_recovery_wants_engine(const struct plx_recovery *recovery, int64_t now_ns)
{
    return !recovery->running && now_ns >= recovery->start_ns;
}

bool plx_recovery_is_well(const struct plx_recovery *recovery, int64_t now_ns)
{
    return now_ns - recovery->frame_ns <= PLX_RECOVERY_BUDGET_NS;
}
