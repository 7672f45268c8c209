// SPDX-License-Identifier: GPL-2.0-only
/* The module: its parameters, its parts, and the one frame clock of both sensors. */
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/platform_device.h>

#include "stereocam.h"

int userptr = 1;
module_param(userptr, int, 0444);
MODULE_PARM_DESC(userptr, "1: buffers may be the program's own memory (default); 0: MMAP and DMABUF only");
int standard_controls;
module_param(standard_controls, int, 0444);
MODULE_PARM_DESC(standard_controls,
                 "0: 64-bit controls as on Tegra (default); 1: exposure_absolute and gain as of USB cameras");
int timestamp_kind;
module_param(timestamp_kind, int, 0444);
MODULE_PARM_DESC(timestamp_kind, "0: monotonic, end of frame (default); 1: monotonic, start of exposure; 2: unknown clock");
int stride_align = 1;
module_param(stride_align, int, 0444);
MODULE_PARM_DESC(stride_align, "bytes that rows are rounded up to (default 1)");
int width = 640;
module_param(width, int, 0444);
MODULE_PARM_DESC(width, "of the first sensor mode (default 640)");
int height = 360;
module_param(height, int, 0444);
MODULE_PARM_DESC(height, "of the first sensor mode (default 360)");

struct stereocam stereocam = {
    .plug = __MUTEX_INITIALIZER(stereocam.plug),
    .period_us = 1000000 / 30,
    .eye = {{.name = "left"}, {.name = "right"}},
};

static void sleep_until(u64 time_ns)
{
    ktime_t expires = ns_to_ktime(time_ns);
    set_current_state(TASK_INTERRUPTIBLE);
    if (kthread_should_stop())
        __set_current_state(TASK_RUNNING);
    else
        schedule_hrtimeout(&expires, HRTIMER_MODE_ABS);
}

/* Whether nothing would be lost if there were a picture now. */
static bool all_can_take(void)
{
    bool any = false, all = true;
    for (int i = 0; i < EYES; i++) {
        struct eye *eye = &stereocam.eye[i];
        mutex_lock(&eye->lock);
        if (eye->node) {
            any = true;
            all &= eye->streaming && !list_empty(&eye->buffers);
        }
        mutex_unlock(&eye->lock);
    }
    return any && all;
}

static int run_clock(void *unused)
{
    u64 tick_ns = ktime_get_ns();
    while (!kthread_should_stop()) {
        const u8 *fed[EYES];
        size_t bytes[EYES];
        u64 period_ns = 1000ULL * READ_ONCE(stereocam.period_us), now_ns;
        tick_ns += period_ns;
        now_ns = ktime_get_ns();
        /* If the machine was too slow, whole pictures are lost, and the sensors counted them. */
        for (; now_ns > tick_ns + period_ns; tick_ns += period_ns)
            for (int i = 0; i < EYES && !READ_ONCE(stereocam.wait); i++)
                picture_miss(&stereocam.eye[i], tick_ns + READ_ONCE(stereocam.eye[i].skew_ns));
        sleep_until(tick_ns);
        if (READ_ONCE(stereocam.wait) && (!feed_ready() || !all_can_take()))
            continue;
        feed_next(fed, bytes);
        bool right_first = READ_ONCE(stereocam.eye[1].skew_ns) < READ_ONCE(stereocam.eye[0].skew_ns);
        for (int i = 0; i < EYES; i++) {
            int e = i ^ right_first;
            u64 eye_ns = tick_ns + READ_ONCE(stereocam.eye[e].skew_ns);
            sleep_until(eye_ns);
            picture_deliver(&stereocam.eye[e], eye_ns, fed[e], bytes[e]);
        }
    }
    return 0;
}

static void unplug_all(void)
{
    mutex_lock(&stereocam.plug);
    for (int i = 0; i < EYES; i++)
        node_unplug(&stereocam.eye[i]);
    mutex_unlock(&stereocam.plug);
}

static int __init stereocam_init(void)
{
    int result = 0;
    stereocam.parent = platform_device_register_simple("stereocam", 0, NULL, 0);
    if (IS_ERR(stereocam.parent))
        return PTR_ERR(stereocam.parent);
    strscpy(stereocam.v4l2.name, "stereocam", sizeof stereocam.v4l2.name);
    result = v4l2_device_register(&stereocam.parent->dev, &stereocam.v4l2);
    if (result)
        goto no_device;
    for (int i = 0; i < EYES; i++) {
        mutex_init(&stereocam.eye[i].lock);
        INIT_LIST_HEAD(&stereocam.eye[i].buffers);
    }
    result = feed_init();
    if (result)
        goto no_feed;
    mutex_lock(&stereocam.plug);
    for (int i = 0; i < EYES && !result; i++)
        result = node_plug(&stereocam.eye[i]);
    mutex_unlock(&stereocam.plug);
    if (result)
        goto no_nodes;
    stereocam.clock = kthread_run(run_clock, NULL, "stereocam");
    if (IS_ERR(stereocam.clock)) {
        result = PTR_ERR(stereocam.clock);
        goto no_nodes;
    }
    inject_init();
    return 0;

no_nodes:
    unplug_all();
    feed_exit();
no_feed:
    v4l2_device_unregister(&stereocam.v4l2);
no_device:
    platform_device_unregister(stereocam.parent);
    return result;
}

static void __exit stereocam_exit(void)
{
    inject_exit();
    kthread_stop(stereocam.clock);
    unplug_all();
    feed_exit();
    v4l2_device_unregister(&stereocam.v4l2);
    platform_device_unregister(stereocam.parent);
    for (int i = 0; i < EYES; i++)
        vfree(stereocam.eye[i].held);
}

module_init(stereocam_init);
module_exit(stereocam_exit);
MODULE_DESCRIPTION("Stereo camera for tests");
MODULE_LICENSE("GPL");
