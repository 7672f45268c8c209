/* SPDX-License-Identifier: Apache-2.0 */
/* The controls of a camera that are whole numbers of 32 or 64 bits, by name or number. */
#ifndef PLX_V4L2_CONTROLS_H
#define PLX_V4L2_CONTROLS_H

#include "drivers/v4l2/node.h"

struct plx_v4l2_control {
    uint32_t id;
    bool wide, read_only; /* wide: 64 bits */
    int64_t minimum, maximum, step, standard;
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

/* One "name=value" of a list separated by commas. *TEXT moves behind it. */
struct plx_v4l2_assignment {
    char name[32];
    int64_t value;
};

/* 1: there is one; 0: the list is at its end; RANGE, with what is wrong. */
int plx_v4l2_assignment_next(const char **text, struct plx_v4l2_assignment *ret_assignment, struct plx_error_message *message);

/* A gain control's VALUE as a factor, and back; STEP is one step of it as a factor or, with DB, in decibels. */
double plx_v4l2_gain_of(int64_t value, double step, bool db);
int64_t plx_v4l2_gain_value(double gain, double step, bool db);

#endif
