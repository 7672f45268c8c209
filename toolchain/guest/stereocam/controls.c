// SPDX-License-Identifier: GPL-2.0-only
/*
 * Controls, and when they act. With 64-bit controls the numbers and meanings are those that NVIDIA publishes for Jetson's
 * camera driver: gain in 1/16, exposure in µs, rate in 1/1000000 Hz; with bypass_mode 1 this node gets no pictures; without
 * override_enable a stream begins with the defaults, whatever was set before.
 */
#include "stereocam.h"

#define TEGRA_SENSOR_MODE 0x009a2008
#define TEGRA_GAIN 0x009a2009
#define TEGRA_EXPOSURE 0x009a200a
#define TEGRA_FRAME_RATE 0x009a200b
#define TEGRA_BYPASS_MODE 0x009a2064
#define TEGRA_OVERRIDE_ENABLE 0x009a2065

static int set(struct v4l2_ctrl *ctrl)
{
    struct capture_node *node = container_of(ctrl->handler, struct capture_node, controls);
    bool wide = ctrl->type == V4L2_CTRL_TYPE_INTEGER64;
    s64 value = wide ? *ctrl->p_new.p_s64 : ctrl->val;
    if (ctrl->id == TEGRA_SENSOR_MODE && value != node->sensor_mode && vb2_is_busy(&node->queue))
        return -EBUSY;
    mutex_lock(&node->eye->lock);
    switch (ctrl->id) {
    case TEGRA_SENSOR_MODE:
        format_set_mode(node, value);
        break;
    case TEGRA_GAIN:
    case V4L2_CID_GAIN:
        node->setting.gain = value;
        break;
    case TEGRA_EXPOSURE:
        node->setting.exposure_us = value;
        break;
    case V4L2_CID_EXPOSURE_AUTO: /* the cluster: this and exposure_absolute */
        node->automatic = value != V4L2_EXPOSURE_MANUAL;
        node->setting.exposure_us = node->automatic ? EXPOSURE_DEFAULT_US : 100 * ctrl->cluster[1]->val;
        break;
    case TEGRA_FRAME_RATE:
        WRITE_ONCE(stereocam.period_us, div64_s64(1000000000000LL, value));
        break;
    case TEGRA_BYPASS_MODE:
        node->bypass = value;
        break;
    case TEGRA_OVERRIDE_ENABLE:
        node->override = value;
        break;
    }
    mutex_unlock(&node->eye->lock);
    return 0;
}

static const struct v4l2_ctrl_ops ops = {.s_ctrl = set};

static int init_tegra(struct v4l2_ctrl_handler *handler)
{
    static const s64 off_on[] = {0, 1};
    const struct v4l2_ctrl_config config[] = {
        {.id = TEGRA_GAIN, .name = "Gain", .min = GAIN_ONE, .max = 16 * GAIN_ONE, .def = GAIN_ONE},
        {.id = TEGRA_EXPOSURE, .name = "Exposure", .min = 20, .max = 33000, .def = EXPOSURE_DEFAULT_US},
        {.id = TEGRA_FRAME_RATE, .name = "Frame Rate", .min = 1000000, .max = 120000000, .def = 30000000},
        {.id = TEGRA_SENSOR_MODE, .name = "Sensor Mode", .max = format_modes() - 1},
        {.id = TEGRA_BYPASS_MODE, .name = "Bypass Mode", .qmenu_int = off_on},
        {.id = TEGRA_OVERRIDE_ENABLE, .name = "Override Enable", .qmenu_int = off_on},
    };
    for (int i = 0; i < ARRAY_SIZE(config); i++) {
        struct v4l2_ctrl_config one = config[i];
        one.ops = &ops;
        one.type = one.qmenu_int ? V4L2_CTRL_TYPE_INTEGER_MENU : V4L2_CTRL_TYPE_INTEGER64;
        one.max = one.qmenu_int ? 1 : one.max;
        one.step = one.qmenu_int ? 0 : 1;
        v4l2_ctrl_new_custom(handler, &one, NULL);
    }
    return handler->error;
}

static int init_standard(struct v4l2_ctrl_handler *handler, struct v4l2_ctrl *exposure[2])
{
    exposure[0] =
        v4l2_ctrl_new_std_menu(handler, &ops, V4L2_CID_EXPOSURE_AUTO, V4L2_EXPOSURE_APERTURE_PRIORITY,
                               BIT(V4L2_EXPOSURE_AUTO) | BIT(V4L2_EXPOSURE_SHUTTER_PRIORITY), V4L2_EXPOSURE_APERTURE_PRIORITY);
    exposure[1] = v4l2_ctrl_new_std(handler, &ops, V4L2_CID_EXPOSURE_ABSOLUTE, 1, 330, 1, EXPOSURE_DEFAULT_US / 100);
    v4l2_ctrl_new_std(handler, &ops, V4L2_CID_GAIN, GAIN_ONE, 16 * GAIN_ONE, 1, GAIN_ONE);
    v4l2_ctrl_new_std_menu(handler, &ops, V4L2_CID_POWER_LINE_FREQUENCY, V4L2_CID_POWER_LINE_FREQUENCY_60HZ, 0,
                           V4L2_CID_POWER_LINE_FREQUENCY_DISABLED);
    if (!handler->error)
        v4l2_ctrl_auto_cluster(2, exposure, V4L2_EXPOSURE_MANUAL, false);
    return handler->error;
}

int controls_init(struct capture_node *node)
{
    node->setting = (struct setting){EXPOSURE_DEFAULT_US, GAIN_ONE};
    v4l2_ctrl_handler_init(&node->controls, 8);
    return standard_controls ? init_standard(&node->controls, node->exposure) : init_tegra(&node->controls);
}

void controls_start(struct eye *eye)
{
    struct capture_node *node = eye->node;
    struct setting begin = {EXPOSURE_DEFAULT_US, GAIN_ONE};
    if (!node)
        return;
    if (standard_controls || node->override)
        begin = node->setting;
    else
        node->setting = begin;
    for (int i = 0; i < SETTINGS; i++)
        eye->settings[i] = begin;
}

struct setting controls_in_force(struct eye *eye)
{
    u32 k = eye->sequence;
    eye->settings[k % SETTINGS] = eye->node->setting;
    return (struct setting){
        .exposure_us = eye->settings[(k - EXPOSURE_DELAY) % SETTINGS].exposure_us,
        .gain = eye->settings[(k - GAIN_DELAY) % SETTINGS].gain,
    };
}
