/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the controls of a camera beside the program that uses it. The camera is named as in the configuration. */
#ifndef PLX_TESTS_VM_CONTROLS_H
#define PLX_TESTS_VM_CONTROLS_H

#include "tests/vm/camera.h"

#include "drivers/v4l2/controls.h"
#include "drivers/v4l2/node.h"
#include "tests/cmocka.h"

#define DESCRIPTION 256

static inline int64_t read_control(const char *card, const char *name)
{
    struct plx_v4l2_rule rule;
    struct plx_v4l2_node node;
    struct plx_v4l2_control control;
    int64_t value = -1;
    assert_int_equal(plx_v4l2_rule_parse(card, &rule, NULL), 0);
    assert_int_equal(plx_v4l2_find(&rule, &node, NULL), 0);
    assert_int_equal(plx_v4l2_control_find(&node, name, &control, NULL), 0);
    assert_int_equal(plx_v4l2_control_get(&node, &control, &value), 0);
    plx_v4l2_close(&node);
    return value;
}

/* All that S_EXT_CTRLS, S_FMT and S_PARM could change of stereocam, as a text. CARD: "card=stereocam left". */
static inline void describe_camera(const char *card, char text[DESCRIPTION])
{
    static const char *const names[] = {"exposure", "gain", "frame_rate", "sensor_mode", "override_enable", "bypass_mode"};
    int used = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        used +=
            snprintf(text + used, DESCRIPTION - (size_t)used, "%s=%lld ", names[i], (long long)read_control(card, names[i]));
    const int fd = camera_open(strchr(card, '=') + 1);
    struct v4l2_format format = {.type = V4L2_BUF_TYPE_VIDEO_CAPTURE};
    assert_int_equal(ioctl(fd, VIDIOC_G_FMT, &format), 0);
    snprintf(text + used, DESCRIPTION - (size_t)used, "%ux%u %x", format.fmt.pix.width, format.fmt.pix.height,
             format.fmt.pix.pixelformat);
    close(fd);
}

#endif
