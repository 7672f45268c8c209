/* SPDX-License-Identifier: Apache-2.0 */
/* Sources of pictures: one ops struct for cameras, replayed files and the synthetic scene. */
#ifndef PLX_CORE_SOURCE_SOURCE_H
#define PLX_CORE_SOURCE_SOURCE_H

#include <parallax/frame.h>

#include "core/base/image.h"
#include "core/base/text.h"
#include "core/geometry/calibration.h"

struct plx_heartbeats;

/* One picture of one eye (or of both: side by side), or none: then only HEALTH counts. BUFFER belongs to the source; return it
 * with ops->release. */
struct plx_capture {
    struct plx_raw raw[PLX_EYES]; /* raw[eye] for each eye that this capture holds; data NULL for the other */
    int64_t capture_ns;           /* CLOCK_MONOTONIC */
    int64_t clock_offset_ns;
    enum plx_clock clock;
    uint32_t sequence;    /* the camera's frame number */
    uint32_t skipped;     /* pictures of this eye that the source skipped since the last one: no drops of the camera */
    uint32_t exposure_us; /* in force in this picture; 0 = unknown */
    float gain;
    enum plx_memory memory;
    uint32_t health; /* flags of the source (enum plx_health): a buffer error, ... */
    void *buffer;
};

struct plx_control_range {
    uint32_t exposure_min_us, exposure_max_us; /* 0, 0: the source has no exposure control */
    float gain_min, gain_max;
    int exposure_delay, gain_delay; /* frames from setting to effect */
};

/* A reader may hold this many pairs of captures while any source still captures. */
#define PLX_SOURCE_MIN_PAIRS 5

#define PLX_SOURCE_MIN_RATE_HZ 0.1
#define PLX_SOURCE_MAX_RATE_HZ 1000

struct plx_source {
    const struct plx_source_ops *ops;
    int width, height;             /* raw size of one eye */
    double rate_hz;                /* nominal; 0 = as fast as the reader. Next changes it when a missing camera appears */
    double recorded_hz;            /* with RATE_HZ 0: what a recording was made at; 0 = unknown */
    struct plx_error_message note; /* after creation or next: a difference from the options; the reader logs and empties it */
    struct plx_error_message message; /* after a failed next: the sentence to log; for the thread that calls next */
    int64_t due_ns;                   /* after a next that timed out: when a recording's next picture is due; 0: no recording */
    struct plx_heartbeats *heartbeats; /* that its threads join; set before start. NULL: nobody watches */
};

/* The rate of SOURCE's capture times; 0 = unknown. */
static inline double plx_source_capture_hz(const struct plx_source *source)
{
    return source->rate_hz > 0.0 ? source->rate_hz : source->recorded_hz;
}

/* One thread calls next, release, start and stop; control, range and calibration may be called from any. */
struct plx_source_ops {
    const char *name;                         /* "synthetic", "replay", "v4l2" */
    void (*destroy)(struct plx_source *self); /* NULL is fine */
    int (*start)(struct plx_source *self, struct plx_error_message *message);
    void (*stop)(struct plx_source *self);
    /* Waits until DEADLINE_NS (CLOCK_MONOTONIC) for the next picture of either eye, in capture order.
     * END after the last one; TIMEOUT; LOST after stop; FORMAT, IO, ... when a file is bad. A lost camera
     * gives a capture without a picture, and the source looks for it. The buffer stays with the caller until release, also
     * across stop and start. */
    int (*next)(struct plx_source *self, int64_t deadline_ns, struct plx_capture *ret_capture);
    void (*release)(struct plx_source *self, struct plx_capture *capture);
    /* Sets both eyes between the same two frames, clamped to the range. UNSUPPORTED without controls. Never blocks. */
    int (*control)(struct plx_source *self, uint32_t exposure_us, float gain);
    void (*range)(struct plx_source *self, struct plx_control_range *ret_range);
    /* The calibration of the source itself (synthetic: always; replay: what lies beside the pictures), judged only when it is
     * asked for. NOT_FOUND: there is none. Others, with a sentence: it cannot be used. NULL: no source of this kind has one. */
    int (*calibration)(struct plx_source *self, struct plx_stereo_calibration *ret_calibration,
                       struct plx_error_message *message);
    /* What tells its cameras from others of their kind, such as serial numbers: after the first pair, and for all later ones,
     * as `next` gives LOST instead of pictures of others. "" if they do not say. NULL: they never do. */
    void (*identify)(struct plx_source *self, char *ret_text, size_t bytes);
};

#endif
