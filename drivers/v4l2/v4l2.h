/* SPDX-License-Identifier: Apache-2.0 */
/* Real cameras as a frame source. This is the only header of the folder that the engine needs. Details: docs/cameras.md. */
#ifndef PLX_DRIVERS_V4L2_V4L2_H
#define PLX_DRIVERS_V4L2_V4L2_H

#include <stdbool.h>
#include <stdint.h>

#include <parallax/frame.h>

struct plx_error_message;
struct plx_source;
struct plx_stages;

/* The controls of a camera. */
struct plx_v4l2_control_options {
    const char *controls;         /* "name=value,...", set in this order after opening; "" = none */
    const char *exposure_control; /* name or number; "": the first known one that the camera has */
    const char *gain_control;
    double exposure_unit_us;        /* of one step of that control; 0: known for the control, else exposure is not set */
    double gain_step;               /* gain of one step, or dB; 0: known for the control, else 1 / minimum */
    bool gain_db;                   /* the control counts in dB */
    int exposure_delay, gain_delay; /* pictures from setting to effect */
    int flicker_hz;                 /* mains frequency of the lamps, for cameras with that control; 0: not set */
    bool restore;                   /* restore all controls at the end */
};

/* Two cameras, or one camera that gives both eyes side by side. */
struct plx_v4l2_options {
    const char *camera[PLX_EYES];                /* a path or a match, see struct plx_v4l2_rule; right "": left gives both */
    const char *format;                          /* fourcc; "": the best one offered */
    int width, height;                           /* of one eye */
    double rate_hz;                              /* 0: as the camera is set */
    int crop_x, crop_y, crop_width, crop_height; /* of the sensor; width 0: as the camera is set */
    bool msb_aligned;                            /* 10- and 12-bit samples lie in the high bits of their word */
    int64_t readout_ns;    /* from the end of the exposure to a stamp of the end of the frame; 0: not known */
    bool retries_refusals; /* retry a camera that refuses its configuration, like one that is missing */
    struct plx_v4l2_control_options control;
};

/* OPTIONS' texts must outlive the source. Create opens and checks the cameras; only start sets anything, so creating a source
 * disturbs no other user of the cameras. A camera that is missing, or that another process holds exclusively, is looked for
 * like a lost one; until it is found, `rate_hz` is the requested rate. After start, a camera that refuses is reported as lost
 * and tried again without end. Errors: RANGE, NOMEM; unless `retries_refusals` also UNSUPPORTED, PERMISSION, IO. */
int plx_v4l2_create(struct plx_stages *stages, const struct plx_v4l2_options *options, struct plx_source **ret_source,
                    struct plx_error_message *message);

#endif
