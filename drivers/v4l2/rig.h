/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one or two cameras of a source and the thread that speaks with them: it takes pictures, gives buffers back, sets exposure
 * and gain, and looks for cameras that are not there, so that nothing of it ever holds up the reader. What comes is in the
 * inbox.
 */
#ifndef PLX_V4L2_RIG_H
#define PLX_V4L2_RIG_H

#include <stdatomic.h>

#include "drivers/v4l2/camera.h"
#include "drivers/v4l2/inbox.h"

struct plx_v4l2_rig {
    struct plx_v4l2_camera camera[PLX_EYES]; /* while the thread runs its own */
    int cameras;
    struct plx_v4l2_inbox inbox;
    int wake_fd; /* eventfd: a buffer is back, or it is time to stop */

    pthread_t thread;
    bool running; /* the thread exists; for whoever starts and stops */
    atomic_bool stopping;

    pthread_mutex_t lock; /* guards all below */
    struct plx_control_range range;
    struct plx_v4l2_setting {
        uint32_t exposure_us; /* 0: none was asked for */
        float gain;
        bool pending;     /* it is to be set */
        int64_t asked_ns; /* since when */
    } setting;
};

int plx_v4l2_rig_init(struct plx_v4l2_rig *rig); /* without cameras. NOMEM */
void plx_v4l2_rig_finish(struct plx_v4l2_rig *rig);

/* Opens the cameras, of which `rule`, `wish` and the like are set. One that is not there is looked for from the start on, as
 * one that goes away later. Errors of plx_v4l2_camera_open but LOST; UNSUPPORTED if they do not give pictures of one kind. */
int plx_v4l2_rig_open(struct plx_v4l2_rig *rig, struct plx_why *why);

int plx_v4l2_rig_start(struct plx_v4l2_rig *rig, struct plx_why *why); /* running already is fine */
void plx_v4l2_rig_stop(struct plx_v4l2_rig *rig);                      /* pictures that were read stay with the reader */

/* From any thread. */
void plx_v4l2_rig_wake(struct plx_v4l2_rig *rig);
void plx_v4l2_rig_range(struct plx_v4l2_rig *rig, struct plx_control_range *ret_range);
/* Cut to the range. ARG; UNSUPPORTED where there are no controls. */
int plx_v4l2_rig_set(struct plx_v4l2_rig *rig, uint32_t exposure_us, float gain);

#endif
