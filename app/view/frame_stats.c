/* SPDX-License-Identifier: Apache-2.0 */
#include "app/view/frame_stats.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/text.h"

void plx_frame_stats_add(struct plx_frame_stats *stats, const struct plx_frame *frame)
{
    if (frame->epoch != stats->epoch || frame->sequence < stats->last_sequence) {
        memset(stats, 0, sizeof *stats);
        stats->epoch = frame->epoch;
        stats->first_sequence = frame->sequence;
        stats->first_ns = frame->published_ns;
    }
    stats->last_sequence = frame->sequence;
    stats->last_ns = frame->published_ns;
    stats->frames++;
    stats->latency_ns += frame->published_ns - frame->capture[PLX_LEFT].capture_ns;
    for (int i = 0; i < PLX_STAGE_COUNT; i++)
        stats->stage_us[i] += frame->stage_us[i];
    stats->cpu_us += frame->cpu_us;
    stats->cpu_frames += frame->cpu_us > 0;
}

void plx_frame_stats_restart(struct plx_frame_stats *stats)
{
    *stats = (struct plx_frame_stats){
        .epoch = stats->epoch,
        .first_sequence = stats->last_sequence,
        .last_sequence = stats->last_sequence,
        .first_ns = stats->last_ns,
        .last_ns = stats->last_ns,
    };
}

double plx_frame_stats_rate_hz(const struct plx_frame_stats *stats)
{
    int64_t span = stats->last_ns - stats->first_ns;
    return span > 0 ? (double)(stats->last_sequence - stats->first_sequence) * PLX_NS_PER_S / (double)span : NAN;
}

double plx_frame_stats_latency_ms(const struct plx_frame_stats *stats)
{
    const bool known = stats->frames > 0 && stats->latency_ns >= 0;
    return known ? (double)stats->latency_ns / PLX_NS_PER_MS / (double)stats->frames : NAN;
}

double plx_frame_stats_stage_ms(const struct plx_frame_stats *stats, enum plx_stage stage)
{
    return stats->frames ? (double)stats->stage_us[stage] / 1e3 / (double)stats->frames : NAN;
}

double plx_frame_stats_cpu_ms(const struct plx_frame_stats *stats)
{
    return stats->cpu_frames ? (double)stats->cpu_us / 1e3 / (double)stats->cpu_frames : NAN;
}

static void print_rates(const struct plx_frame_stats *stats, int width, const char *between)
{
    const double rate_hz = plx_frame_stats_rate_hz(stats), latency_ms = plx_frame_stats_latency_ms(stats);

    if (isnan(rate_hz))
        printf("rate unknown%s", between);
    else
        printf("%*.1f pairs/s%s", width, rate_hz, between);
    if (isnan(latency_ms))
        fputs("latency unknown", stdout);
    else
        printf("latency %*.1f ms", width, latency_ms);
}

void plx_frame_stats_print_rates(const struct plx_frame_stats *stats)
{
    const double cpu_ms = plx_frame_stats_cpu_ms(stats);

    print_rates(stats, 0, ", ");
    if (isnan(cpu_ms))
        fputs(", CPU unknown", stdout);
    else
        printf(", CPU %.1f ms a frame", cpu_ms);
}

void plx_frame_stats_print_rate_columns(const struct plx_frame_stats *stats)
{
    print_rates(stats, 5, "  ");
}

void plx_frame_stats_print_stage_times(const struct plx_frame_stats *stats)
{
    if (stats->frames == 0)
        puts(" unknown");
    else
        for (int i = 0; i < PLX_STAGE_COUNT; i++)
            printf(" %s %.2f%s", plx_stage_word(i), plx_frame_stats_stage_ms(stats, i), i + 1 < PLX_STAGE_COUNT ? "," : "\n");
}
