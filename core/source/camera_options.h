/* SPDX-License-Identifier: Apache-2.0 */
/* What a user says about two real cameras: the configuration holds it, drivers/v4l2 follows it. docs/cameras.md explains each.
 */
#ifndef PLX_CORE_SOURCE_CAMERA_OPTIONS_H
#define PLX_CORE_SOURCE_CAMERA_OPTIONS_H

#include <stdbool.h>

#include <parallax/frame.h>

enum plx_gain_unit { PLX_GAIN_LINEAR, PLX_GAIN_DB };

/* The controls of a camera. */
struct plx_camera_control_options {
    char controls[1024];       /* "name=value,...", set in this order after opening; "" = none */
    char exposure_control[32]; /* name or number; "": the first known one that the camera has */
    char gain_control[32];
    double exposure_unit_us;        /* one step of that control; 0: known for the control, else exposure is not set */
    double gain_step;               /* gain of one step, or dB; 0: known for the control, else 1 / minimum */
    int gain_unit;                  /* enum plx_gain_unit */
    int exposure_delay, gain_delay; /* pictures from setting to effect */
    bool restore;                   /* restore all controls at the end */
};

/* Two cameras, or one camera that gives both eyes side by side. */
struct plx_camera_options {
    char camera[PLX_EYES][256];                  /* a path or a match, see struct plx_v4l2_rule; right "": left gives both */
    char format[8];                              /* fourcc; "": the best one offered */
    int crop_x, crop_y, crop_width, crop_height; /* part of the sensor; width 0: as the camera is set */
    bool msb_aligned;                            /* 10- and 12-bit samples lie in the high bits of their word */
    double readout_ms; /* from the end of the exposure to a stamp of the end of the frame; 0: not known */
    struct plx_camera_control_options control;
};

#endif
