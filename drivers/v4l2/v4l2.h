/* SPDX-License-Identifier: Apache-2.0 */
/* Real cameras as a frame source. This is the only header of the folder that the engine needs. Details: docs/cameras.md. */
#ifndef PLX_DRIVERS_V4L2_V4L2_H
#define PLX_DRIVERS_V4L2_V4L2_H

#include "core/source.h"

struct plx_stages;

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

/* Two cameras, or one that gives both eyes side by side. */
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

/* OPTIONS' texts must outlive the source. Cameras are opened and asked, and only a start sets anything, so that making a source
 * disturbs no other one of the same cameras. A camera that is not there, or that another process has to itself, is looked for,
 * as one that went away; `rate_hz` is the wished-for one until then. From the start on whatever a camera refuses is told as if
 * it had gone, and tried again for ever. Errors: RANGE, NOMEM; unless PATIENT also UNSUPPORTED, PERMISSION, IO. */
int plx_v4l2_create(struct plx_stages *stages, const struct plx_v4l2_options *options, struct plx_source **ret_source,
                    struct plx_error_message *message);

#endif
