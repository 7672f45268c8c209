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
#include "drivers/v4l2/demand.h"
#include "drivers/v4l2/inbox.h"

struct plx_v4l2_rig {
    struct plx_v4l2_camera camera[PLX_EYES]; /* while the thread runs its own */
    int cameras;
    struct plx_v4l2_inbox inbox;
    struct plx_v4l2_demand demand;
    int wake_fd; /* eventfd: a buffer is back, something is asked for, or it is time to stop */

    pthread_t thread;
    struct plx_heartbeats *heartbeats; /* that it joins; NULL: nobody watches */
    bool running;                      /* the thread exists; for whoever starts and stops */
    atomic_bool stopping;
};

int plx_v4l2_rig_init(struct plx_v4l2_rig *rig); /* without cameras. NOMEM */
void plx_v4l2_rig_finish(struct plx_v4l2_rig *rig);

/* Opens the cameras, of which `rule`, `wish` and the like are set. One that is not there is looked for from the start on, as
 * one that goes away later. Errors of plx_v4l2_camera_open but LOST; UNSUPPORTED if they do not give pictures of one kind. */
int plx_v4l2_rig_open(struct plx_v4l2_rig *rig, struct plx_why *why);

int plx_v4l2_rig_start(struct plx_v4l2_rig *rig, struct plx_why *why); /* running already is fine */
void plx_v4l2_rig_stop(struct plx_v4l2_rig *rig);                      /* pictures that were read stay with the reader */

/* From any thread: something is to be done. */
void plx_v4l2_rig_wake(struct plx_v4l2_rig *rig);

#endif
