/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/v4l2/controls.h"

#include <linux/videodev2.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <parallax/error.h>

#include "core/source/source.h"

/* Controls of NVIDIA's camera driver for Jetson, which no header of Linux has. */
#define TEGRA_GAIN 0x009a2009
#define TEGRA_EXPOSURE 0x009a200a
#define TEGRA_FRAME_RATE 0x009a200b
#define TEGRA_RATE_HZ 1e-6 /* one step of the control */

/* Controls whose meaning is known, in order of preference. STEP 0: the unit differs from sensor to sensor. */
static const struct known {
    uint32_t id;
    double step;
} exposures[] = {{V4L2_CID_EXPOSURE_ABSOLUTE, 100.0}, {TEGRA_EXPOSURE, 1.0}, {V4L2_CID_EXPOSURE, 0.0}},
  gains[] = {{TEGRA_GAIN, 1.0 / 16}, {V4L2_CID_ANALOGUE_GAIN, 0.0}, {V4L2_CID_GAIN, 0.0}};
#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Automatic modes that must be off before exposure and gain can be set. */
static const struct {
    uint32_t id;
    int64_t value;
} automatic[] = {
    {V4L2_CID_EXPOSURE_AUTO, V4L2_EXPOSURE_MANUAL},
    {V4L2_CID_EXPOSURE_AUTO_PRIORITY, 0}, /* it would lower the rate */
    {V4L2_CID_AUTOGAIN, 0},
};

/* Sets CONTROL, and saves its first value. */
static int set(struct plx_v4l2_camera_controls *controls, const struct plx_v4l2_node *node,
               const struct plx_v4l2_control *control, int64_t value)
{
    int64_t before;
    bool saved = controls->saved_count == PLX_V4L2_SAVED;

    for (int i = 0; i < controls->saved_count; i++)
        saved = saved || controls->saved[i].control.id == control->id;
    if (!saved && plx_v4l2_control_get(node, control, &before) == 0) {
        controls->saved[controls->saved_count].control = *control;
        controls->saved[controls->saved_count++].value = before;
    }
    return plx_v4l2_control_set(node, control, value);
}

/* The next control of the list TEXT, with its value: 1, 0 at the end, or an error. */
static int next_named(const struct plx_v4l2_node *node, const char **text, struct plx_v4l2_control *ret_control,
                      int64_t *ret_value, struct plx_error_message *message)
{
    struct plx_v4l2_assignment assignment;

    int result = plx_v4l2_assignment_next(text, &assignment, message);
    if (result <= 0)
        return result;
    result = plx_v4l2_control_find(node, assignment.name, ret_control, message);
    if (result < 0)
        return result;
    if (assignment.value != plx_v4l2_control_clamp(ret_control, assignment.value))
        return plx_fail(message, PLX_ERR_RANGE, "%s: control %s cannot be %lld; expected %lld to %lld in steps of %lld",
                        node->path, ret_control->name, (long long)assignment.value, (long long)ret_control->minimum,
                        (long long)ret_control->maximum, (long long)ret_control->step);
    *ret_value = assignment.value;
    return 1;
}

static int check_named(const struct plx_v4l2_camera_controls *controls, const struct plx_v4l2_node *node,
                       bool *ret_controls_set, struct plx_error_message *message)
{
    const char *text = controls->options->cameras.control.controls;
    struct plx_v4l2_control control;
    int64_t value, now;
    int result;

    *ret_controls_set = true;
    while ((result = next_named(node, &text, &control, &value, message)) > 0)
        if (plx_v4l2_control_get(node, &control, &now) < 0 || now != value)
            *ret_controls_set = false;
    return result;
}

static int set_named(struct plx_v4l2_camera_controls *controls, const struct plx_v4l2_node *node,
                     struct plx_error_message *message)
{
    const char *text = controls->options->cameras.control.controls;
    struct plx_v4l2_control control;
    int64_t value;
    int result;

    while ((result = next_named(node, &text, &control, &value, message)) > 0) {
        int64_t now = value;
        result = set(controls, node, &control, value);
        if (result < 0)
            return plx_v4l2_fail(message, node->path, result, control.name);
        if (plx_v4l2_control_get(node, &control, &now) == 0 && now != value)
            return plx_fail(message, PLX_ERR_UNSUPPORTED, "%s: control %s was set to %lld and is %lld", node->path,
                            control.name, (long long)value, (long long)now);
    }
    return result;
}

/* Finds the control NAME, or the first of KNOWN. STEP is its unit in the configuration; 0: not given. */
static int find_delayed(const struct plx_v4l2_node *node, const char *name, const struct known *known, size_t count,
                        double step, struct plx_v4l2_delayed_control *ret_delayed, struct plx_error_message *message)
{
    struct plx_v4l2_delayed_control delayed = {.present = false};

    if (name[0]) {
        int result = plx_v4l2_control_find(node, name, &delayed.control, message);
        if (result < 0)
            return result;
        delayed.present = true;
    }
    for (size_t i = 0; i < count && !delayed.present; i++)
        delayed.present = plx_v4l2_control_by_id(node, known[i].id, &delayed.control) && !delayed.control.read_only;
    for (size_t i = 0; i < count; i++)
        if (delayed.present && known[i].id == delayed.control.id)
            delayed.step = known[i].step;
    if (step > 0.0)
        delayed.step = step;
    *ret_delayed = delayed;
    return 0;
}

static int find_exposure_and_gain(struct plx_v4l2_camera_controls *controls, const struct plx_v4l2_node *node,
                                  struct plx_error_message *note, struct plx_error_message *message)
{
    const struct plx_camera_control_options *options = &controls->options->cameras.control;
    int result = find_delayed(node, options->exposure_control, exposures, COUNT(exposures), options->exposure_unit_us,
                              &controls->exposure, message);
    if (result == 0)
        result = find_delayed(node, options->gain_control, gains, COUNT(gains), options->gain_step, &controls->gain, message);
    if (result < 0)
        return result;
    controls->exposure.delay = options->exposure_delay;
    controls->gain.delay = options->gain_delay;
    if (controls->gain.present && !(controls->gain.step > 0.0) && controls->gain.control.minimum > 0)
        controls->gain.step = 1.0 / (double)controls->gain.control.minimum; /* a sensor's lowest gain is 1 */
    if (controls->exposure.present && !(controls->exposure.step > 0.0)) {
        plx_say(note, "%s: the unit of the control %s is unknown, so exposure is not controlled; set source.exposure_unit_us",
                node->path, controls->exposure.control.name);
        controls->exposure.present = false;
    }
    if (controls->gain.present && !(controls->gain.step > 0.0)) {
        if (controls->exposure.present)
            plx_v4l2_note(note, "%s: the unit of the control %s is unknown, so gain is not controlled; set source.gain_step",
                          node->path, controls->gain.control.name);
        controls->gain.present = false;
    }
    return 0;
}

int plx_v4l2_camera_controls_open(struct plx_v4l2_camera_controls *controls, const struct plx_v4l2_node *node,
                                  const struct plx_v4l2_options *options, bool *ret_controls_set,
                                  struct plx_error_message *message)
{
    struct plx_error_message note = {""};

    controls->options = options;
    controls->manual = false;
    plx_v4l2_camera_controls_reset_history(controls);
    int result = check_named(controls, node, ret_controls_set, message);
    return result == 0 ? find_exposure_and_gain(controls, node, &note, message) : result;
}

int plx_v4l2_camera_controls_configure(struct plx_v4l2_camera_controls *controls, const struct plx_v4l2_node *node,
                                       struct plx_error_message *note, struct plx_error_message *message)
{
    const int flicker_hz = controls->options->flicker_hz;
    struct plx_v4l2_control mains;

    controls->manual = false;
    if (flicker_hz && plx_v4l2_control_by_id(node, V4L2_CID_POWER_LINE_FREQUENCY, &mains))
        set(controls, node, &mains, flicker_hz == 50 ? V4L2_CID_POWER_LINE_FREQUENCY_50HZ : V4L2_CID_POWER_LINE_FREQUENCY_60HZ);
    int result = set_named(controls, node, message);
    return result == 0 ? find_exposure_and_gain(controls, node, note, message) : result;
}

double plx_v4l2_camera_controls_set_rate(struct plx_v4l2_camera_controls *controls, const struct plx_v4l2_node *node,
                                         double rate_hz)
{
    struct plx_v4l2_control control;
    int64_t value;

    if (!plx_v4l2_control_by_id(node, TEGRA_FRAME_RATE, &control))
        return 0.0;
    if (rate_hz > 0.0)
        set(controls, node, &control, llround(rate_hz / TEGRA_RATE_HZ)); /* the driver may choose another: read back next */
    return plx_v4l2_control_get(node, &control, &value) == 0 ? (double)value * TEGRA_RATE_HZ : 0.0;
}

void plx_v4l2_camera_controls_restore(struct plx_v4l2_camera_controls *controls, const struct plx_v4l2_node *node)
{
    while (controls->saved_count > 0) { /* backwards: automatic modes, switched off first, come back last */
        controls->saved_count--;
        plx_v4l2_control_set(node, &controls->saved[controls->saved_count].control,
                             controls->saved[controls->saved_count].value);
    }
}

void plx_v4l2_camera_controls_reset_history(struct plx_v4l2_camera_controls *controls)
{
    controls->exposure.history_count = controls->gain.history_count = 0;
}

static void switch_off_automatic(struct plx_v4l2_camera_controls *controls, const struct plx_v4l2_node *node)
{
    struct plx_v4l2_control control;

    for (size_t i = 0; i < COUNT(automatic); i++)
        if (plx_v4l2_control_by_id(node, automatic[i].id, &control))
            set(controls, node, &control, automatic[i].value); /* if this fails, so does the setting that follows */
    controls->manual = true;
}

/* Sets DELAYED to VALUE, and records from which picture on VALUE acts. */
static int set_delayed(struct plx_v4l2_camera_controls *controls, struct plx_v4l2_delayed_control *delayed,
                       const struct plx_v4l2_node *node, uint32_t sequence, int64_t value)
{
    if (!delayed->present)
        return 0;
    int result = set(controls, node, &delayed->control, value);
    if (result < 0)
        return result;
    value = plx_v4l2_control_clamp(&delayed->control, value);
    plx_v4l2_control_get(node, &delayed->control, &value); /* read back; if that fails, VALUE is assumed */
    if (delayed->history_count == PLX_V4L2_HISTORY) {
        delayed->history_count--;
        memmove(delayed->history, delayed->history + 1, (size_t)delayed->history_count * sizeof delayed->history[0]);
    }
    delayed->history[delayed->history_count].from = sequence + 1 + (uint32_t)delayed->delay;
    delayed->history[delayed->history_count++].value = value;
    return 0;
}

int plx_v4l2_camera_controls_set_exposure(struct plx_v4l2_camera_controls *controls, const struct plx_v4l2_node *node,
                                          uint32_t sequence, uint32_t exposure_us, float gain)
{
    if (!controls->manual)
        switch_off_automatic(controls, node);
    int result =
        set_delayed(controls, &controls->exposure, node, sequence, llround(exposure_us / fmax(controls->exposure.step, 1e-6)));
    if (result == 0 && controls->gain.present)
        result = set_delayed(controls, &controls->gain, node, sequence,
                             plx_v4l2_gain_value((double)gain, controls->gain.step,
                                                 controls->options->cameras.control.gain_unit == PLX_GAIN_DB));
    return result;
}

/* The newest value that acts in picture SEQUENCE; false if none is known. */
static bool in_force(const struct plx_v4l2_delayed_control *delayed, uint32_t sequence, int64_t *ret_value)
{
    for (int i = delayed->history_count - 1; i >= 0; i--)
        if ((int32_t)(sequence - delayed->history[i].from) >= 0) { /* numbers wrap */
            *ret_value = delayed->history[i].value;
            return true;
        }
    return false;
}

void plx_v4l2_camera_controls_in_force(const struct plx_v4l2_camera_controls *controls, uint32_t sequence,
                                       uint32_t *ret_exposure_us, float *ret_gain)
{
    int64_t value;

    *ret_exposure_us =
        in_force(&controls->exposure, sequence, &value) ? (uint32_t)lround((double)value * controls->exposure.step) : 0;
    *ret_gain =
        in_force(&controls->gain, sequence, &value)
            ? (float)plx_v4l2_gain_of(value, controls->gain.step, controls->options->cameras.control.gain_unit == PLX_GAIN_DB)
            : 0.0f;
    if (!controls->gain.present && *ret_exposure_us > 0)
        *ret_gain = 1.0f; /* a fixed gain counts as 1 */
}

void plx_v4l2_camera_controls_range(const struct plx_v4l2_camera_controls *controls, struct plx_control_range *ret_range)
{
    const struct plx_v4l2_delayed_control *exposure = &controls->exposure, *gain = &controls->gain;
    const bool db = controls->options && controls->options->cameras.control.gain_unit == PLX_GAIN_DB;

    *ret_range = (struct plx_control_range){.gain_min = 1.0f, .gain_max = 1.0f};
    if (!exposure->present)
        return;
    ret_range->exposure_min_us = (uint32_t)ceil(fmax((double)exposure->control.minimum * exposure->step, 1.0));
    ret_range->exposure_max_us = (uint32_t)fmin((double)exposure->control.maximum * exposure->step, 1e9);
    ret_range->exposure_delay = exposure->delay;
    ret_range->gain_delay = exposure->delay;
    if (!gain->present)
        return;
    ret_range->gain_min = (float)fmax(plx_v4l2_gain_of(gain->control.minimum, gain->step, db), 0.001);
    ret_range->gain_max = (float)plx_v4l2_gain_of(gain->control.maximum, gain->step, db);
    ret_range->gain_delay = gain->delay;
}
