/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts a camera's timestamps to CLOCK_MONOTONIC. The clock that the driver names is checked against the arrival time:
 * Tegra's sensors name the monotonic clock, but count from another zero. If the clock jumps, the jump is flagged and the
 * offset measured again.
 */
#ifndef PLX_V4L2_CLOCK_H
#define PLX_V4L2_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include <parallax/frame.h>

/* One timestamp, and when its picture was dequeued. */
struct plx_v4l2_stamp {
    int64_t stamp_ns;    /* the driver's */
    int64_t arrival_ns;  /* CLOCK_MONOTONIC when the picture was dequeued */
    int64_t realtime_ns; /* CLOCK_REALTIME at the same moment */
    int64_t tegra_ns;    /* Tegra's system counter minus CLOCK_MONOTONIC; 0: not a Tegra */
};

struct plx_v4l2_clock {
    int64_t period_ns; /* nominal */
    bool known;
    enum plx_clock kind;
    int64_t offset_ns; /* CLOCK_MONOTONIC minus the camera's clock */
    bool exact;        /* offset_ns is not estimated from arrivals */
    int64_t recent_ns; /* arrival of the last picture whose age was plausible */
    int old;           /* pictures in a row that were too old */
    int implausible;   /* implausible timestamps in a row */
};

void plx_v4l2_clock_init(struct plx_v4l2_clock *clock, int64_t period_ns);

/* Returns the capture time, CLOCK_MONOTONIC. *ret_implausible: the timestamp cannot be right, and the picture must not be used.
 * Differences wrap as 64-bit numbers, so a wrap of the timestamps is no jump. */
int64_t plx_v4l2_clock_read(struct plx_v4l2_clock *clock, const struct plx_v4l2_stamp *stamp, bool *ret_implausible);

/* The kernel's tv_sec and tv_usec as one number that wraps. */
int64_t plx_v4l2_stamp_ns(int64_t seconds, int64_t microseconds);

/* Tegra's system counter minus CLOCK_MONOTONIC, from /sys; 0 on other machines. */
int64_t plx_v4l2_tegra_offset(void);

#endif
