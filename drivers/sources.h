/* SPDX-License-Identifier: Apache-2.0 */
/* The frame sources. Each create gives a struct plx_source to be destroyed with its ops->destroy. */
#ifndef PLX_DRIVERS_SOURCES_H
#define PLX_DRIVERS_SOURCES_H

#include "core/calibration.h"
#include "core/source.h"
#include "drivers/synthetic/scene.h"

struct plx_stages;

enum plx_pace { PLX_PACE_RECORDED, PLX_PACE_FIXED, PLX_PACE_MAXIMUM };

struct plx_replay_options {
    const char *path; /* KITTI-style (image_0, image_1, times.txt), or left/ and right/; PNG, JPEG, PGM */
    enum plx_pace pace;
    double rate_hz; /* for FIXED */
    bool loop;
    bool calibrated; /* a calibration is known: calib.txt is not read */
};

#define PLX_SYNTHETIC_RATE_HZ 30.0 /* whose times are used at rate 0 */
#define PLX_SYNTHETIC_MAX_DELAY 15

/* Picture n, counted by its sequence from 0 at each start, shows the scene at n / rate seconds, both eyes at once. A reader
 * that is too slow misses pictures, as with a camera. At rate 0 a pair is made when the reader asks for it, and none is missed.
 */
struct plx_synthetic_options {
    struct plx_scene scene;
    double rate_hz;                 /* 0.1..1000; 0: as fast as the reader, with the times of PLX_SYNTHETIC_RATE_HZ */
    int exposure_delay, gain_delay; /* frames from setting to effect, 0..PLX_SYNTHETIC_MAX_DELAY */
};

/* How cameras are set. */
struct plx_v4l2_control_options {
    const char *controls;         /* "name=value,...", set in this order after opening; "" = none */
    const char *exposure_control; /* name or number; "": the one that is known */
    const char *gain_control;
    double exposure_unit_us;        /* of one step of that control; 0: as is known of it */
    double gain_step;               /* gain of one step, or dB; 0: as is known of it, else 1 / minimum */
    bool gain_db;                   /* the control counts in dB */
    int exposure_delay, gain_delay; /* pictures from setting to effect */
    int flicker_hz;                 /* of the lamps, told to cameras that ask; 0: not touched */
    bool restore;                   /* put all that was set back at the end */
};

/* Two cameras, or one that gives both eyes side by side. Details: docs/cameras.md. */
struct plx_v4l2_options {
    const char *camera[PLX_EYES]; /* a path or what to match, see drivers/v4l2/find.h; right "": left gives both */
    const char *format;           /* fourcc; "": the best that the camera offers */
    int width, height;            /* of one eye */
    double rate_hz;               /* 0: as the camera is set */
    int crop_x, crop_y, crop_width, crop_height; /* of the sensor; width 0: as the camera is set */
    bool msb_aligned;                            /* 10- and 12-bit samples lie in the high bits of their word */
    int64_t readout_ns; /* from the end of the exposure to a stamp of the end of the frame; 0: not known */
    bool patient;       /* a camera that refuses what is asked of it is tried again, as one that is not there is looked for */
    struct plx_v4l2_control_options control;
};

/* A reader may hold this many pairs of captures without starving any source. */
#define PLX_SOURCE_MIN_PAIRS 5

/* Buffers come from STAGES' alloc, so that a backend reads them in place; STAGES must outlive the source. Errors, each with a
 * sentence in MESSAGE: NOMEM, RANGE; for replay also NOT_FOUND, FORMAT, IO, PERMISSION, UNSUPPORTED. */
int plx_replay_create(struct plx_stages *stages, const struct plx_replay_options *options, struct plx_source **ret_source,
                      struct plx_error_message *message);
int plx_synthetic_create(struct plx_stages *stages, const struct plx_synthetic_options *options, struct plx_source **ret_source,
                         struct plx_error_message *message);

/* OPTIONS' texts must outlive the source. Cameras are opened and asked, and only a start sets anything, so that making a source
 * disturbs no other one of the same cameras. A camera that is not there, or that another process has to itself, is looked for,
 * as one that went away; `rate_hz` is the wished-for one until then. From the start on whatever a camera refuses is told as if
 * it had gone, and tried again for ever. Errors: RANGE, NOMEM; unless PATIENT also UNSUPPORTED, PERMISSION, IO. */
int plx_v4l2_create(struct plx_stages *stages, const struct plx_v4l2_options *options, struct plx_source **ret_source,
                    struct plx_error_message *message);

/* The calibration that a source knows by itself (synthetic: always; replay: from calib.txt in its directory). NOT_FOUND. */
static inline int plx_source_calibration(struct plx_source *source, struct plx_stereo_calibration *ret_calibration)
{
    return source->ops->calibration(source, ret_calibration);
}

#endif
