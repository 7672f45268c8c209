/* SPDX-License-Identifier: Apache-2.0 */
/* Rate, latency and stage times of the frames in an interval. */
#ifndef PLX_APP_VIEW_FRAME_STATS_H
#define PLX_APP_VIEW_FRAME_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include <parallax/frame.h>

struct plx_frame_stats {
    uint64_t epoch, first_sequence, last_sequence;
    int64_t first_ns, last_ns;          /* publication times of these two frames */
    uint64_t frames;                    /* number of added frames; 0 = empty */
    int64_t latency_ns;                 /* sum over the added frames, from capture to publication */
    uint64_t stage_us[PLX_STAGE_COUNT]; /* sums over the added frames */
    uint64_t cpu_us, cpu_frames;        /* likewise over those whose processor time is known, and their number */
};

/* Adds FRAME, which follows the last one. A frame of another epoch restarts the interval. */
void plx_frame_stats_add(struct plx_frame_stats *stats, const struct plx_frame *frame);

/* Begins a new interval at the last frame of the old one. */
void plx_frame_stats_restart(struct plx_frame_stats *stats);

double plx_frame_stats_rate_hz(const struct plx_frame_stats *stats); /* frames a second; NAN before the second frame */
/* Mean; NAN without a frame, or if capture times are ahead of the clock, as in a replay without pauses. */
double plx_frame_stats_latency_ms(const struct plx_frame_stats *stats);

/* Mean time of STAGE, ms; NAN without a frame. */
double plx_frame_stats_stage_ms(const struct plx_frame_stats *stats, enum plx_stage stage);

/* Mean processor time of the engine for a frame, ms; NAN if it is not known. */
double plx_frame_stats_cpu_ms(const struct plx_frame_stats *stats);

/* Prints a part of a line: "30.1 pairs/s, latency 51.3 ms, CPU 31.2 ms a frame". A number that is not known is printed as
 * "unknown". */
void plx_frame_stats_print_rates(const struct plx_frame_stats *stats);

/* As plx_frame_stats_print_rates, in columns for lines below each other: " 30.1 pairs/s  latency  51.3 ms". */
void plx_frame_stats_print_rate_columns(const struct plx_frame_stats *stats);

/* Prints the rest of a line: " convert 0.22, histogram 0.42, ...", or " unknown". */
void plx_frame_stats_print_stage_times(const struct plx_frame_stats *stats);

#endif
