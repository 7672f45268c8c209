/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An emulated stereo camera: two sensors on one frame clock, for tests of programs that capture. Faults of its pictures are set
 * through debugfs (README.md). Locks, in the order in which they nest: plug, node.lock, eye.lock; clock and
 * feed are taken last and alone.
 */
#ifndef STEREOCAM_H
#define STEREOCAM_H

#include <linux/mutex.h>
#include <media/v4l2-ctrls.h>
#include <media/v4l2-device.h>
#include <media/videobuf2-v4l2.h>

#define EYES 2
#define EXPOSURE_DELAY 2 /* frames from setting to effect */
#define GAIN_DELAY 1
#define SETTINGS 4 /* remembered: more than the delays */
#define RECORDS 256

#define GAIN_ONE 16 /* gain is in 1/16 */
#define EXPOSURE_DEFAULT_US 10000

struct setting {
    u32 exposure_us, gain;
};

/* What became of one tick of the frame clock. */
struct record {
    u32 sequence;
    u64 timestamp_ns;
    struct setting in_force;
    const char *fate;
};

/* One capture node; a new one each time that the camera is plugged in. Freed when its last file is closed. */
struct capture_node {
    struct eye *eye;
    struct video_device vdev;
    struct vb2_queue queue;
    struct mutex lock; /* protects its ioctls and its queue */
    struct v4l2_ctrl_handler controls;
    struct v4l2_ctrl *exposure[2]; /* controls in standard_controls: automatic or not, and the value */
    struct v4l2_pix_format format;
    int sensor_mode;
    bool bypass, override, automatic; /* as its controls say */
    struct setting setting;
};

struct eye {
    const char *name;
    struct mutex lock;         /* all below */
    struct capture_node *node; /* NULL while unplugged; changed under `plug` too */
    bool streaming;
    struct list_head buffers; /* those that wait for a picture */
    u32 sequence;             /* number of the next picture */
    struct setting settings[SETTINGS];
    u8 *held; /* the picture that is frozen; vmalloc */
    struct record records[RECORDS];
    u32 record_count;

    /* Fault settings: plain words, written through debugfs, read once a picture. */
    u64 skew_ns, timestamp_offset_ns, timestamp_modulus_ns;
    u32 sequence_offset, error_count, short_count, drop_percent, stall, frozen, frozen_rows, fail_streamon, refuse_format;
};

struct stereocam {
    struct platform_device *parent;
    struct v4l2_device v4l2;
    struct eye eye[EYES];
    struct mutex plug;
    struct task_struct *clock;
    u32 period_us; /* one word: read by the clock at each tick */
    u32 wait;      /* fault setting: pictures only of what was fed, and only when both eyes can take it */
    u32 scale;     /* fault setting: pictures are as bright as exposure and gain make them, times this */
};

extern struct stereocam stereocam;
extern int userptr, standard_controls, timestamp_kind, stride_align, width, height;

/* --- node.c: plugging in and out; under `plug` --- */
int node_plug(struct eye *eye);
void node_unplug(struct eye *eye);

/* --- format.c --- */
extern const struct v4l2_ioctl_ops node_ioctls;
void format_init(struct capture_node *node);
void format_set_mode(struct capture_node *node, int mode);
int format_bits(u32 fourcc);
int format_modes(void);

/* --- queue.c --- */
struct buffer {
    struct vb2_v4l2_buffer vb; /* first, as videobuf2 wants it */
    struct list_head list;
};
int queue_init(struct capture_node *node);

/* --- controls.c --- */
int controls_init(struct capture_node *node);
/* What is in force in the picture that is made now; called once for each tick of a streaming eye. */
struct setting controls_in_force(struct eye *eye);
void controls_start(struct eye *eye);

/* --- picture.c: makes the picture of EYE at TIME_NS, and hands it out. FED: tight rows, or NULL --- */
void picture_deliver(struct eye *eye, u64 time_ns, const u8 *fed, size_t fed_bytes);
/* There was none, for want of time. */
void picture_miss(struct eye *eye, u64 time_ns);

/* --- feed.c --- */
int feed_init(void);
void feed_exit(void);
/* Takes the next pair; pointers are valid until the next call. False: nothing new was fed, the last pair again if any. */
bool feed_next(const u8 *ret_picture[EYES], size_t ret_bytes[EYES]);
bool feed_ready(void);

/* --- inject.c --- */
void inject_init(void);
void inject_exit(void);

#endif
