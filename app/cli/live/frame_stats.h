/* SPDX-License-Identifier: Apache-2.0 */
/* Rate, latency and stage times of the frames of one stretch of time. */
#ifndef PLX_APP_CLI_LIVE_FRAME_STATS_H
#define PLX_APP_CLI_LIVE_FRAME_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include <parallax/frame.h>

struct plx_frame_stats {
    uint64_t epoch, first_sequence, last_sequence;
    int64_t first_ns, last_ns; /* published */
    uint64_t frames;           /* that were looked at; 0 = an empty stats */
    int64_t latency_ns;        /* sums over them, from capture to publication */
    uint64_t stage_us[PLX_STAGE_COUNT];
};

/* FRAME follows the last one; one of another epoch begins anew. */
void plx_frame_stats_add(struct plx_frame_stats *stats, const struct plx_frame *frame);

/* Begins a new stretch that starts with the last frame of the old one. */
void plx_frame_stats_restart(struct plx_frame_stats *stats);

double plx_frame_stats_rate_hz(const struct plx_frame_stats *stats); /* of publication; NAN before the second frame */
/* Mean; NAN without a frame, or where capture times are ahead of the clock, as in a replay as fast as it goes. */
double plx_frame_stats_latency_ms(const struct plx_frame_stats *stats);

/* What takes time in a frame: a stage, or all that a GPU does. */
struct plx_stage_time {
    const char *word;
    double ms; /* mean; NAN without a frame */
};

/* The stages; or, ON_GPU, which computes all but the tracks as a whole, "gpu" and "tracks". ret_part: [PLX_STAGE_COUNT].
 * Returns how many there are. */
int plx_frame_stats_stage_times(const struct plx_frame_stats *stats, bool on_gpu, struct plx_stage_time *ret_part);

/* To standard output, a part of a line: "latency 51.3 ms", the number at least WIDTH wide, or "latency unknown" */
void plx_frame_stats_print_latency(const struct plx_frame_stats *stats, int width);

/* The same: "30.1 pairs/s", or "rate unknown" */
void plx_frame_stats_print_rate(const struct plx_frame_stats *stats, int width);

/* The same: "30.1 pairs/s, latency 51.3 ms" */
void plx_frame_stats_print_rates(const struct plx_frame_stats *stats);

/* To standard output, the rest of a line: " convert 0.22, histogram 0.42, ...", or " unknown" */
void plx_frame_stats_print_stage_times(const struct plx_frame_stats *stats, bool on_gpu);

#endif
