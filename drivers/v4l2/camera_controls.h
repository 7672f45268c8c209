/* SPDX-License-Identifier: Apache-2.0 */
/* The controls of one camera: those that the configuration names, exposure in µs and gain as a factor, the frame rate. Knows
 * which exposure and gain are in force in each picture. */
#ifndef PLX_V4L2_CAMERA_CONTROLS_H
#define PLX_V4L2_CAMERA_CONTROLS_H

#include "drivers/v4l2/controls.h"
#include "drivers/v4l2/v4l2.h"

struct plx_control_range;

#define PLX_V4L2_SAVED 16
#define PLX_V4L2_HISTORY 8 /* settings that do not act yet; more than any delay */

/* A control that acts some pictures after it was set, with the values that were set. */
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
    } saved[PLX_V4L2_SAVED]; /* values before we set them, in the order of setting */
    int saved_count;
};

/* Finds the controls of NODE, which was just opened, and those that OPTIONS names; sets nothing. OPTIONS must outlive
 * CONTROLS. *ret_controls_set: the named controls have their values already. RANGE or UNSUPPORTED if a control is missing or
 * cannot have its value. */
int plx_v4l2_camera_controls_open(struct plx_v4l2_camera_controls *controls, const struct plx_v4l2_node *node,
                                  const struct plx_v4l2_control_options *options, bool *ret_controls_set,
                                  struct plx_error_message *message);

/* Sets the controls that OPTIONS names, and reads all ranges again, which may have changed. NOTE says what cannot be
 * controlled and why. Errors as above; those of plx_v4l2_fail. */
int plx_v4l2_camera_controls_configure(struct plx_v4l2_camera_controls *controls, const struct plx_v4l2_node *node,
                                       struct plx_error_message *note, struct plx_error_message *message);

/* Sets the frame rate through a control, for drivers without S_PARM. Returns the rate in force, Hz; 0: no such control. */
double plx_v4l2_camera_controls_set_rate(struct plx_v4l2_camera_controls *controls, const struct plx_v4l2_node *node,
                                         double rate_hz);

/* Restores the values before we set any. */
void plx_v4l2_camera_controls_restore(struct plx_v4l2_camera_controls *controls, const struct plx_v4l2_node *node);

/* At the start of a stream: no value is known to be in force. */
void plx_v4l2_camera_controls_reset_history(struct plx_v4l2_camera_controls *controls);

/* Sets exposure and gain, clamped to their ranges, after picture SEQUENCE. 0 or a negative errno. */
int plx_v4l2_camera_controls_set_exposure(struct plx_v4l2_camera_controls *controls, const struct plx_v4l2_node *node,
                                          uint32_t sequence, uint32_t exposure_us, float gain);

/* What is in force in picture SEQUENCE; 0 = unknown. */
void plx_v4l2_camera_controls_in_force(const struct plx_v4l2_camera_controls *controls, uint32_t sequence,
                                       uint32_t *ret_exposure_us, float *ret_gain);

void plx_v4l2_camera_controls_range(const struct plx_v4l2_camera_controls *controls, struct plx_control_range *ret_range);

#endif
