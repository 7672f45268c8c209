/* SPDX-License-Identifier: Apache-2.0 */
/* An engine's end: why it came, what it means for the next one, and whether the GPU bears the blame. */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include <parallax/error.h>

#include "app/log.h"
#include "app/supervisor/supervisor_internal.h"

/* Until the next engine is started. */
static double pause_s(const struct plx_supervisor *supervisor)
{
    return (double)(supervisor->recovery.start_ns - supervisor->now_ns) / PLX_NS_PER_S;
}

bool plx_death_is_permanent(const struct plx_supervisor *supervisor)
{
    const struct plx_report *words = &supervisor->last_words;
    const int error = words->error;

    return words->kind == PLX_REPORT_FAILED && !words->gpu_lost && plx_start_is_final(supervisor, words) &&
           (error == PLX_ERR_FORMAT || error == PLX_ERR_RANGE || error == PLX_ERR_NOT_FOUND || error == PLX_ERR_UNSUPPORTED ||
            error == PLX_ERR_PERMISSION);
}

struct plx_error_message plx_death_describe(const struct plx_supervisor *supervisor, int status)
{
    struct plx_error_message sentence;

    if (supervisor->last_words.kind == PLX_REPORT_FAILED)
        plx_fail(&sentence, 0, "engine failed: %s", supervisor->last_words.message.text);
    else if (WIFSIGNALED(status))
        plx_fail(&sentence, 0, "engine died of signal %d (%s%s)", WTERMSIG(status), strsignal(WTERMSIG(status)),
                 WTERMSIG(status) == SIGKILL && !supervisor->engine_killed ? ": by somebody, or for lack of memory" : "");
    else
        plx_fail(&sentence, 0, "engine ended with status %d", WEXITSTATUS(status));
    return sentence;
}

void plx_death_meet(struct plx_supervisor *supervisor, int status, const struct plx_error_message *sentence)
{
    const struct plx_report *words = &supervisor->last_words;
    const bool for_memory = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && !supervisor->engine_killed;

    plx_log(LOG_WARNING, "%s; restarting in %.1f s%s", sentence->text, pause_s(supervisor),
            supervisor->plan.config.source.kind == PLX_SOURCE_REPLAY ? ", and the recording begins again at its first pair"
                                                                     : "");
    plx_blackbox_save(&supervisor->blackbox, "engine-died");
    if (!supervisor->engine_killed) /* else why it was killed says more */
        supervisor->trouble = *sentence;
    if (for_memory || (words->kind == PLX_REPORT_FAILED && !words->gpu_lost))
        plx_start_waits(supervisor);
}

void plx_death_count_loss(struct plx_supervisor *supervisor, int status)
{
    const struct plx_report *words = &supervisor->last_words;
    struct plx_ladder *ladder = &supervisor->ladder;
    int64_t since_ns;
    const struct plx_engine_end end = {
        .failed = words->kind == PLX_REPORT_FAILED,
        .gpu_lost = words->gpu_lost,
        .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
        .hung = supervisor->engine_killed,
        .doing = supervisor->engine_killed ? plx_recovery_activity(&supervisor->recovery)->doing
                                           : plx_heartbeat_read(&supervisor->heartbeats->thread[PLX_THREAD_WORK], &since_ns),
    };

    if (ladder->fallen || !plx_worker_expects_gpu(supervisor) || !plx_ladder_is_loss(&end))
        return;
    plx_ladder_lost(ladder, supervisor->now_ns);
    if (!ladder->fallen)
        return;
    plx_log(LOG_ERR, "the GPU was lost %d times; the CPU works, and the GPU is tried again in %d s", ladder->losses,
            (int)(ladder->pause_ns / PLX_NS_PER_S));
    plx_fail(&supervisor->handicap, 0, "the GPU was lost %d times, and the CPU works: %s", ladder->losses,
             supervisor->trouble.text);
}
