/* SPDX-License-Identifier: Apache-2.0 */
/* Rate, latency and stage times of the frames of one stretch of time. */
#ifndef PLX_APP_CLI_LIVE_METER_H
#define PLX_APP_CLI_LIVE_METER_H

#include <stdbool.h>
#include <stdint.h>

#include <parallax/frame.h>

struct plx_meter {
    uint64_t epoch, first_sequence, last_sequence;
    int64_t first_ns, last_ns; /* published */
    uint64_t frames;           /* that were looked at; 0 = an empty meter */
    int64_t latency_ns;        /* sums over them, from capture to publication */
    uint64_t stage_us[PLX_STAGE_COUNT];
};

/* FRAME follows the last one; one of another epoch begins anew. */
void plx_meter_add(struct plx_meter *meter, const struct plx_frame *frame);

/* Begins a new stretch that starts with the last frame of the old one. */
void plx_meter_restart(struct plx_meter *meter);

double plx_meter_rate_hz(const struct plx_meter *meter); /* of publication; NAN before the second frame */
/* Mean; NAN without a frame, or where capture times are ahead of the clock, as in a replay as fast as it goes. */
double plx_meter_latency_ms(const struct plx_meter *meter);

/* What takes time in a frame: a stage, or all that a GPU does. */
struct plx_meter_part {
    const char *word;
    double ms; /* mean; NAN without a frame */
};

/* The stages; or, ON_GPU, which computes all but the tracks as a whole, "gpu" and "tracks". ret_part: [PLX_STAGE_COUNT].
 * Returns how many there are. */
int plx_meter_parts(const struct plx_meter *meter, bool on_gpu, struct plx_meter_part *ret_part);

/* To standard output, a part of a line: "latency 51.3 ms", the number at least WIDTH wide, or "latency unknown" */
void plx_meter_print_latency(const struct plx_meter *meter, int width);

/* The same: "30.1 pairs/s", or "rate unknown" */
void plx_meter_print_rate(const struct plx_meter *meter, int width);

/* The same: "30.1 pairs/s, latency 51.3 ms" */
void plx_meter_print_rates(const struct plx_meter *meter);

/* To standard output, the rest of a line: " convert 0.22, histogram 0.42, ...", or " unknown" */
void plx_meter_print_parts(const struct plx_meter *meter, bool on_gpu);

#endif
