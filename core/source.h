/* SPDX-License-Identifier: Apache-2.0 */
/* Where pictures come from: one ops struct for cameras, replayed files and the synthetic scene. */
#ifndef PLX_CORE_SOURCE_H
#define PLX_CORE_SOURCE_H

#include <parallax/frame.h>

#include "core/calibration.h"
#include "core/heartbeat.h"
#include "core/image.h"
#include "core/text.h"

/* One picture of one eye (or of both: side by side), or none at all: then HEALTH alone says what happened. BUFFER is the
 * source's own; hand it back with ops->release. */
struct plx_capture {
    struct plx_raw raw[PLX_EYES]; /* raw[eye] for each eye that this capture holds; data NULL for the other */
    int64_t capture_ns;           /* CLOCK_MONOTONIC */
    int64_t clock_offset_ns;
    enum plx_clock clock;
    uint32_t sequence;    /* the camera's frame number */
    uint32_t skipped;     /* pictures since the last one of this eye that the source left out itself: no drops of the camera */
    uint32_t exposure_us; /* in force in this picture; 0 = unknown */
    float gain;
    enum plx_memory memory;
    uint32_t health; /* plx_health bits that the source itself saw (buffer error, ...) */
    void *buffer;
};

struct plx_control_range {
    uint32_t exposure_min_us, exposure_max_us; /* 0, 0: the source has no exposure control */
    float gain_min, gain_max;
    int exposure_delay, gain_delay; /* frames from setting to effect */
};

/* A reader may hold this many pairs of captures without starving any source. */
#define PLX_SOURCE_MIN_PAIRS 5

struct plx_source {
    const struct plx_source_ops *ops;
    int width, height; /* of one eye, raw */
    double rate_hz;    /* nominal; 0 = as fast as the reader. Next may change it, when a camera comes that was missing */
    struct plx_error_message
        note; /* after creation, and again after next: what is not quite as asked for, to be logged and emptied */
    struct plx_error_message message; /* after a failing next: the sentence to log. For the thread that calls next */
    int64_t
        due_ns; /* after a next that timed out: when the next picture is due by the source's own timetable; 0: it has none */
    struct plx_heartbeats *heartbeats; /* that its threads join; set before start by who watches them. NULL: nobody does */
};

/* One thread calls next, release, start and stop; control, range and calibration may be called from any. */
struct plx_source_ops {
    const char *name;                         /* "synthetic", "replay", "v4l2" */
    void (*destroy)(struct plx_source *self); /* NULL is fine */
    int (*start)(struct plx_source *self, struct plx_error_message *message);
    void (*stop)(struct plx_source *self);
    /* Waits until DEADLINE_NS (CLOCK_MONOTONIC) for the next picture of either eye, in capture order.
     * END after the last one; TIMEOUT; LOST after stop; FORMAT, IO, ... when a file is bad. A camera that went away is told by
     * a capture without a picture and looked for again. The buffer stays with the caller until release, over stop and start
     * as well. */
    int (*next)(struct plx_source *self, int64_t deadline_ns, struct plx_capture *ret_capture);
    void (*release)(struct plx_source *self, struct plx_capture *capture);
    /* Sets both eyes alike, in the same frame gap, cut to the range. UNSUPPORTED where there are no controls. Never blocks. */
    int (*control)(struct plx_source *self, uint32_t exposure_us, float gain);
    void (*range)(struct plx_source *self, struct plx_control_range *ret_range);
    /* The calibration that the source knows by itself. NOT_FOUND. */
    int (*calibration)(struct plx_source *self, struct plx_stereo_calibration *ret_calibration);
};

/* The calibration that a source knows by itself (synthetic: always; replay: from calib.txt in its directory). NOT_FOUND. */
static inline int plx_source_calibration(struct plx_source *source, struct plx_stereo_calibration *ret_calibration)
{
    return source->ops->calibration(source, ret_calibration);
}

#endif
