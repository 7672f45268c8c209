/* SPDX-License-Identifier: Apache-2.0 */
/* Rate, latency and stage times of the frames in an interval. */
#ifndef PLX_APP_CLI_LIVE_FRAME_STATS_H
#define PLX_APP_CLI_LIVE_FRAME_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include <parallax/frame.h>

struct plx_frame_stats {
    uint64_t epoch, first_sequence, last_sequence;
    int64_t first_ns, last_ns; /* published */
    uint64_t frames;           /* that were added; 0 = empty */
    int64_t latency_ns;        /* sum over these frames, from capture to publication */
    uint64_t stage_us[PLX_STAGE_COUNT];
};

/* Adds FRAME, which follows the last one. A frame of another epoch restarts the interval. */
void plx_frame_stats_add(struct plx_frame_stats *stats, const struct plx_frame *frame);

/* Begins a new interval at the last frame of the old one. */
void plx_frame_stats_restart(struct plx_frame_stats *stats);

double plx_frame_stats_rate_hz(const struct plx_frame_stats *stats); /* of publication; NAN before the second frame */
/* Mean; NAN without a frame, or if capture times are ahead of the clock, as in a replay without pauses. */
double plx_frame_stats_latency_ms(const struct plx_frame_stats *stats);

/* The time of one stage, or of all stages on a GPU. */
struct plx_stage_time {
    const char *word;
    double ms; /* mean; NAN without a frame */
};

/* The times of all stages; ON_GPU: "gpu" for all stages of the GPU, then "motion" and "tracks". Returns the number of times. */
int plx_frame_stats_stage_times(const struct plx_frame_stats *stats, bool on_gpu, struct plx_stage_time *ret_part);

/* Print a part of a line: "30.1 pairs/s, latency 51.3 ms", or "rate unknown", or "latency unknown"; */
void plx_frame_stats_print_rates(const struct plx_frame_stats *stats);

/* the same for lines below each other: " 30.1 pairs/s  latency  51.3 ms"; */
void plx_frame_stats_print_rate_columns(const struct plx_frame_stats *stats);

/* and the rest of a line: " convert 0.22, histogram 0.42, ...", or " unknown". */
void plx_frame_stats_print_stage_times(const struct plx_frame_stats *stats, bool on_gpu);

#endif
