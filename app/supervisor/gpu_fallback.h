/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which processor the engines work on when the GPU fails: after some losses one after the other the CPU, at its rate and
 * flagged, and the GPU again when a probe finds that it works. Plain data, like recovery.h. Times: CLOCK_MONOTONIC nanoseconds.
 */
#ifndef PLX_APP_SUPERVISOR_GPU_FALLBACK_H
#define PLX_APP_SUPERVISOR_GPU_FALLBACK_H

#include <stdbool.h>
#include <stdint.h>

#include "core/clock.h"

#define PLX_GPU_FALLBACK_LOSSES 3                         /* in a row; then the CPU works */
#define PLX_GPU_FALLBACK_PAUSE_MIN_NS (30 * PLX_NS_PER_S) /* before the GPU is tried again; doubled */
#define PLX_GPU_FALLBACK_PAUSE_MAX_NS (600 * PLX_NS_PER_S)

/* Zeroed = nothing is known of a GPU. */
struct plx_gpu_fallback {
    bool worked;      /* frames have come from the GPU: it is missed when they no longer do */
    bool active;      /* engines are to work on the CPU */
    int losses;       /* since an engine last ran stably on the GPU */
    int64_t retry_ns; /* active: when to try the GPU */
    int64_t pause_ns; /* that led to it; 0 = none yet */
};

/* How an engine that was to use the GPU ended. */
struct plx_engine_end {
    bool failed, gpu_lost; /* it said that it failed, and that the GPU was why */
    int signal;            /* that ended it; 0: none */
    bool hung;             /* the signal was the supervisor's, because it hung */
    int doing;             /* enum plx_watched: what it did at its end, or what hung */
};

/* Whether that end is the GPU's fault: the engine said so, or it crashed or hung while the GPU was at work. An engine that
 * waits for its source, publishes, starts or is killed from outside says nothing about the GPU. */
bool plx_gpu_fallback_is_loss(const struct plx_engine_end *end);

/* A frame was published by an engine on the GPU or not. STABLE: it has run for PLX_STABLE_NS. An engine that chose the CPU by
 * itself, where the GPU worked before, makes the fallback active too. */
void plx_gpu_fallback_frame(struct plx_gpu_fallback *gpu_fallback, int64_t now_ns, bool on_gpu, bool stable);

/* An engine lost the GPU, or died on it. */
void plx_gpu_fallback_lost(struct plx_gpu_fallback *gpu_fallback, int64_t now_ns);

/* True when the GPU should be tried now. */
bool plx_gpu_fallback_wants_probe(const struct plx_gpu_fallback *gpu_fallback, int64_t now_ns);

/* The probe's answer. If it WORKS the next engine is to use it, and one more loss takes it away again. */
void plx_gpu_fallback_probed(struct plx_gpu_fallback *gpu_fallback, int64_t now_ns, bool works);

#endif
