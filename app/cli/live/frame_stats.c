/* SPDX-License-Identifier: Apache-2.0 */
#include "app/cli/live/frame_stats.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "core/words.h"

void plx_frame_stats_add(struct plx_frame_stats *meter, const struct plx_frame *frame)
{
    if (frame->epoch != meter->epoch || frame->sequence < meter->last_sequence) {
        memset(meter, 0, sizeof *meter);
        meter->epoch = frame->epoch;
        meter->first_sequence = frame->sequence;
        meter->first_ns = frame->published_ns;
    }
    meter->last_sequence = frame->sequence;
    meter->last_ns = frame->published_ns;
    meter->frames++;
    meter->latency_ns += frame->published_ns - frame->capture[PLX_LEFT].capture_ns;
    for (int i = 0; i < PLX_STAGE_COUNT; i++)
        meter->stage_us[i] += frame->stage_us[i];
}

void plx_frame_stats_restart(struct plx_frame_stats *meter)
{
    *meter = (struct plx_frame_stats){
        .epoch = meter->epoch,
        .first_sequence = meter->last_sequence,
        .last_sequence = meter->last_sequence,
        .first_ns = meter->last_ns,
        .last_ns = meter->last_ns,
    };
}

double plx_frame_stats_rate_hz(const struct plx_frame_stats *meter)
{
    int64_t span = meter->last_ns - meter->first_ns;
    return span > 0 ? (double)(meter->last_sequence - meter->first_sequence) * PLX_NS_PER_S / (double)span : NAN;
}

double plx_frame_stats_latency_ms(const struct plx_frame_stats *meter)
{
    const bool known = meter->frames > 0 && meter->latency_ns >= 0;
    return known ? (double)meter->latency_ns / PLX_NS_PER_MS / (double)meter->frames : NAN;
}

static double mean_ms(const struct plx_frame_stats *meter, uint64_t us)
{
    return meter->frames ? (double)us / 1e3 / (double)meter->frames : NAN;
}

int plx_frame_stats_stage_times(const struct plx_frame_stats *meter, bool on_gpu, struct plx_stage_time *ret_part)
{
    int parts = 0;
    uint64_t us = 0;

    for (int i = 0; i < PLX_STAGE_COUNT; i++) {
        const bool of_gpu = on_gpu && i != PLX_STAGE_TRACKS;
        us += meter->stage_us[i];
        if (of_gpu && i + 1 != PLX_STAGE_TRACKS)
            continue;
        ret_part[parts++] = (struct plx_stage_time){of_gpu ? "gpu" : plx_stage_word(i), mean_ms(meter, us)};
        us = 0;
    }
    return parts;
}

void plx_frame_stats_print_latency(const struct plx_frame_stats *meter, int width)
{
    const double latency_ms = plx_frame_stats_latency_ms(meter);

    if (isnan(latency_ms))
        fputs("latency unknown", stdout);
    else
        printf("latency %*.1f ms", width, latency_ms);
}

void plx_frame_stats_print_rate(const struct plx_frame_stats *meter, int width)
{
    const double rate_hz = plx_frame_stats_rate_hz(meter);

    if (isnan(rate_hz))
        fputs("rate unknown", stdout);
    else
        printf("%*.1f pairs/s", width, rate_hz);
}

void plx_frame_stats_print_rates(const struct plx_frame_stats *meter)
{
    plx_frame_stats_print_rate(meter, 0);
    fputs(", ", stdout);
    plx_frame_stats_print_latency(meter, 0);
}

void plx_frame_stats_print_stage_times(const struct plx_frame_stats *meter, bool on_gpu)
{
    struct plx_stage_time part[PLX_STAGE_COUNT];
    const int parts = plx_frame_stats_stage_times(meter, on_gpu, part);

    if (meter->frames == 0)
        puts(" unknown");
    else
        for (int i = 0; i < parts; i++)
            printf(" %s %.2f%s", part[i].word, part[i].ms, i + 1 < parts ? "," : "\n");
}
