/* SPDX-License-Identifier: Apache-2.0 */
/* First the integer controls of a camera, 32 or 64 bits, by name or number. Then the controls that the configuration names:
 * exposure in µs, gain as a factor, the frame rate, and the exposure and gain that are in force in each picture. */
#ifndef PLX_V4L2_CONTROLS_H
#define PLX_V4L2_CONTROLS_H

#include "drivers/v4l2/node.h"
#include "drivers/v4l2/v4l2.h"

struct plx_v4l2_control {
    uint32_t id;
    bool wide, read_only; /* wide: 64 bits */
    int64_t minimum, maximum, step, default_value;
    char name[32]; /* as v4l2-ctl prints it */
};

/* The first integer control after the number AFTER (0: the first of all). False: no more. */
bool plx_v4l2_control_next(const struct plx_v4l2_node *node, uint32_t after, struct plx_v4l2_control *ret_control);

/* The control NAME: "exposure", or a number such as "0x009a200a". UNSUPPORTED if there is none. */
int plx_v4l2_control_find(const struct plx_v4l2_node *node, const char *name, struct plx_v4l2_control *ret_control,
                          struct plx_error_message *message);
bool plx_v4l2_control_by_id(const struct plx_v4l2_node *node, uint32_t id, struct plx_v4l2_control *ret_control);

/* 0 or a negative errno. Set clamps VALUE to the control's range and steps. */
int plx_v4l2_control_get(const struct plx_v4l2_node *node, const struct plx_v4l2_control *control, int64_t *ret_value);
int plx_v4l2_control_set(const struct plx_v4l2_node *node, const struct plx_v4l2_control *control, int64_t value);

/* VALUE within CONTROL's range, on its steps. */
int64_t plx_v4l2_control_clamp(const struct plx_v4l2_control *control, int64_t value);

/* "Exposure Time, Absolute" -> "exposure_time_absolute". */
void plx_v4l2_control_name(const char *title, char ret_name[32]);

/* One "name=value" of a list separated by commas. */
struct plx_v4l2_assignment {
    char name[32];
    int64_t value;
};

/* Reads the assignment at *TEXT and moves *TEXT behind it. 1: there was one; 0: end of the list; RANGE, with what is wrong. */
int plx_v4l2_assignment_next(const char **text, struct plx_v4l2_assignment *ret_assignment, struct plx_error_message *message);

/* A gain control's VALUE as a factor, and back; STEP is one step of it as a factor or, with DB, in decibels. */
double plx_v4l2_gain_of(int64_t value, double step, bool db);
int64_t plx_v4l2_gain_value(double gain, double step, bool db);

/* --- camera_controls.c: the controls of one camera ---------------------------------------------------------------- */

struct plx_control_range;

#define PLX_V4L2_SAVED 16  /* controls whose first value is saved; further ones are not restored */
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
    const struct plx_v4l2_options *options;
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
                                  const struct plx_v4l2_options *options, bool *ret_controls_set,
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

/* Forgets which values are in force, at the start of a stream. */
void plx_v4l2_camera_controls_reset_history(struct plx_v4l2_camera_controls *controls);

/* Sets exposure and gain, clamped to their ranges, after picture SEQUENCE. 0 or a negative errno. */
int plx_v4l2_camera_controls_set_exposure(struct plx_v4l2_camera_controls *controls, const struct plx_v4l2_node *node,
                                          uint32_t sequence, uint32_t exposure_us, float gain);

/* Exposure and gain in force in picture SEQUENCE; 0: unknown. */
void plx_v4l2_camera_controls_in_force(const struct plx_v4l2_camera_controls *controls, uint32_t sequence,
                                       uint32_t *ret_exposure_us, float *ret_gain);

void plx_v4l2_camera_controls_range(const struct plx_v4l2_camera_controls *controls, struct plx_control_range *ret_range);

#endif
