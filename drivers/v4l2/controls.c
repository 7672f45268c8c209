/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/v4l2/controls.h"

#include <ctype.h>
#include <errno.h>
#include <linux/videodev2.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

void plx_v4l2_control_name(const char *title, char ret_name[32])
{
    size_t length = 0;

    for (; *title && length < 31; title++)
        if (isalnum((unsigned char)*title))
            ret_name[length++] = (char)tolower((unsigned char)*title);
        else if (length > 0 && ret_name[length - 1] != '_')
            ret_name[length++] = '_';
    while (length > 0 && ret_name[length - 1] == '_')
        length--;
    ret_name[length] = '\0';
}

/* Fills CONTROL from QUERY; false unless it is a single number that can be read. */
static bool describe(const struct v4l2_query_ext_ctrl *query, struct plx_v4l2_control *ret_control)
{
    const bool number = query->type == V4L2_CTRL_TYPE_INTEGER || query->type == V4L2_CTRL_TYPE_INTEGER64 ||
                        query->type == V4L2_CTRL_TYPE_BOOLEAN || query->type == V4L2_CTRL_TYPE_MENU ||
                        query->type == V4L2_CTRL_TYPE_INTEGER_MENU;

    if (!number || query->nr_of_dims > 0 || query->flags & (V4L2_CTRL_FLAG_DISABLED | V4L2_CTRL_FLAG_WRITE_ONLY))
        return false;
    *ret_control = (struct plx_v4l2_control){
        .id = query->id,
        .wide = query->type == V4L2_CTRL_TYPE_INTEGER64,
        .read_only = query->flags & V4L2_CTRL_FLAG_READ_ONLY,
        .minimum = query->minimum,
        .maximum = query->maximum,
        .step = query->step > 0 && query->step < INT64_MAX ? (int64_t)query->step : 1,
        .default_value = query->default_value,
    };
    plx_v4l2_control_name(query->name, ret_control->name);
    return true;
}

bool plx_v4l2_control_next(const struct plx_v4l2_node *node, uint32_t after, struct plx_v4l2_control *ret_control)
{
    struct v4l2_query_ext_ctrl query = {.id = after | V4L2_CTRL_FLAG_NEXT_CTRL};

    for (; plx_v4l2_call(node, VIDIOC_QUERY_EXT_CTRL, &query) == 0; query.id |= V4L2_CTRL_FLAG_NEXT_CTRL)
        if (describe(&query, ret_control))
            return true;
    return false;
}

bool plx_v4l2_control_by_id(const struct plx_v4l2_node *node, uint32_t id, struct plx_v4l2_control *ret_control)
{
    struct v4l2_query_ext_ctrl query = {.id = id};
    return plx_v4l2_call(node, VIDIOC_QUERY_EXT_CTRL, &query) == 0 && describe(&query, ret_control);
}

int plx_v4l2_control_find(const struct plx_v4l2_node *node, const char *name, struct plx_v4l2_control *ret_control,
                          struct plx_error_message *message)
{
    struct plx_v4l2_control control = {.id = 0};
    char *end;
    const unsigned long id = strtoul(name, &end, 0);

    if (end != name && *end == '\0') {
        if (plx_v4l2_control_by_id(node, (uint32_t)id, ret_control))
            return 0;
    } else {
        while (plx_v4l2_control_next(node, control.id, &control)) {
            if (strcmp(control.name, name) != 0)
                continue;
            *ret_control = control;
            return 0;
        }
    }
    return plx_fail(message, PLX_ERR_UNSUPPORTED, "%s: the camera has no control \"%s\"; `parallax cameras` lists them",
                    node->path, name);
}

int64_t plx_v4l2_control_clamp(const struct plx_v4l2_control *control, int64_t value)
{
    if (value >= control->maximum)
        return control->maximum;
    if (value <= control->minimum)
        return control->minimum;
    const uint64_t above = (uint64_t)value - (uint64_t)control->minimum; /* a 64-bit range may be wider than int64_t */
    return (int64_t)((uint64_t)value - above % (uint64_t)control->step);
}

/* G_EXT_CTRLS or S_EXT_CTRLS of one control: some drivers accept only one class of controls at a time. */
static int transfer(const struct plx_v4l2_node *node, unsigned long call, const struct plx_v4l2_control *control,
                    int64_t *value)
{
    struct v4l2_ext_control one = {.id = control->id};
    struct v4l2_ext_controls list = {.which = V4L2_CTRL_WHICH_CUR_VAL, .count = 1, .controls = &one};

    if (control->wide)
        one.value64 = *value;
    else
        one.value = (int32_t)*value;
    int result = plx_v4l2_call(node, call, &list);
    if (result == 0)
        *value = control->wide ? one.value64 : one.value;
    return result;
}

int plx_v4l2_control_get(const struct plx_v4l2_node *node, const struct plx_v4l2_control *control, int64_t *ret_value)
{
    int64_t value = 0;
    int result = transfer(node, VIDIOC_G_EXT_CTRLS, control, &value);
    if (result == 0)
        *ret_value = value;
    return result;
}

int plx_v4l2_control_set(const struct plx_v4l2_node *node, const struct plx_v4l2_control *control, int64_t value)
{
    value = plx_v4l2_control_clamp(control, value);
    return transfer(node, VIDIOC_S_EXT_CTRLS, control, &value);
}

int plx_v4l2_assignment_next(const char **text, struct plx_v4l2_assignment *ret_assignment, struct plx_error_message *message)
{
    const char *start = *text + strspn(*text, " ,");
    const size_t length = strcspn(start, ",");
    const size_t name = strcspn(start, "=");
    struct plx_v4l2_assignment assignment;
    char *end;

    if (length == 0)
        return 0;
    if (name == 0 || name >= length || name >= sizeof assignment.name)
        return plx_fail(message, PLX_ERR_RANGE, "\"%.*s\" is no assignment; expected name=value", (int)length, start);
    memcpy(assignment.name, start, name);
    assignment.name[name] = '\0';
    errno = 0;
    assignment.value = strtoll(start + name + 1, &end, 0);
    if (errno != 0 || end == start + name + 1 || end + strspn(end, " ") != start + length)
        return plx_fail(message, PLX_ERR_RANGE, "\"%.*s\" gives no whole number; expected name=value", (int)length, start);
    *ret_assignment = assignment;
    *text = start + length;
    return 1;
}

double plx_v4l2_gain_of(int64_t value, double step, bool db)
{
    return db ? pow(10.0, (double)value * step / 20.0) : (double)value * step;
}

int64_t plx_v4l2_gain_value(double gain, double step, bool db)
{
    return llround(db ? 20.0 * log10(gain) / step : gain / step);
}
