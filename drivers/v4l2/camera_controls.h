/* SPDX-License-Identifier: Apache-2.0 */
/* Exposure and gain of one camera: by whichever controls it has, in µs and as a factor, and what is in force in which picture.
 */
#ifndef PLX_V4L2_CAMERA_CONTROLS_H
#define PLX_V4L2_CAMERA_CONTROLS_H

#include "drivers/v4l2/controls.h"
#include "drivers/v4l2/v4l2.h"

#define PLX_V4L2_SAVED 16
#define PLX_V4L2_HISTORY 8 /* settings on their method; more than any delay */

/* One of the two: its control, and the values that were set. */
struct plx_v4l2_delayed_control {
    bool present;
    struct plx_v4l2_control control;
    double step; /* µs, factor or dB of one step */
    int delay;
    struct {
        uint32_t from; /* the first picture in which it is in force */
        int64_t value;
    } history[PLX_V4L2_HISTORY]; /* oldest first */
    int history_count;
};

struct plx_v4l2_camera_controls {
    const struct plx_v4l2_control_options *options;
    struct plx_v4l2_delayed_control exposure, gain;
    bool manual; /* automatic modes are off */
    struct {
        struct plx_v4l2_control control;
        int64_t value;
    } saved[PLX_V4L2_SAVED]; /* as it was before, in the order of setting */
    int saved_count;
};

/* Finds the controls of NODE, which was just opened, and those of OPTIONS, which must outlive CONTROLS; sets nothing.
 * *ret_controls_set: those that OPTIONS names have their values already. RANGE or UNSUPPORTED if one is not there, or cannot
 * have its value. */
int plx_v4l2_camera_controls_open(struct plx_v4l2_camera_controls *controls, const struct plx_v4l2_node *node,
                                  const struct plx_v4l2_control_options *options, bool *ret_controls_set,
                                  struct plx_error_message *message);

/* Sets the controls that OPTIONS names, and finds the others again, whose ranges may have changed. NOTE says what cannot be
 * steered and why. Errors as above; those of plx_v4l2_fail. */
int plx_v4l2_camera_controls_configure(struct plx_v4l2_camera_controls *controls, const struct plx_v4l2_node *node,
                                       struct plx_error_message *note, struct plx_error_message *message);

/* Sets the rate by a control, for drivers that set it only so. Returns what is in force, Hz; 0 where there is no such control.
 */
double plx_v4l2_camera_controls_set_rate(struct plx_v4l2_camera_controls *controls, const struct plx_v4l2_node *node,
                                         double rate_hz);

/* Puts back what was set. */
void plx_v4l2_camera_controls_restore(struct plx_v4l2_camera_controls *controls, const struct plx_v4l2_node *node);

/* A stream begins: nothing is known to be in force. */
void plx_v4l2_camera_controls_reset_history(struct plx_v4l2_camera_controls *controls);

/* Sets both, cut to their ranges, after picture SEQUENCE has come. 0 or a negative errno. */
int plx_v4l2_camera_controls_set_exposure(struct plx_v4l2_camera_controls *controls, const struct plx_v4l2_node *node,
                                          uint32_t sequence, uint32_t exposure_us, float gain);

/* What is in force in picture SEQUENCE; 0 = unknown. */
void plx_v4l2_camera_controls_in_force(const struct plx_v4l2_camera_controls *controls, uint32_t sequence,
                                       uint32_t *ret_exposure_us, float *ret_gain);

void plx_v4l2_camera_controls_range(const struct plx_v4l2_camera_controls *controls, struct plx_control_range *ret_range);

#endif
