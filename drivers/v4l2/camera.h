/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One camera: found, opened, agreed with, streaming, and brought back when it went away. All calls come from one thread at a
 * time, and none waits for pictures.
 */
#ifndef PLX_V4L2_CAMERA_H
#define PLX_V4L2_CAMERA_H

#include "core/source.h"
#include "drivers/v4l2/buffers.h"
#include "drivers/v4l2/clock.h"
#include "drivers/v4l2/find.h"
#include "drivers/v4l2/steer.h"

struct plx_v4l2_camera {
    struct plx_v4l2_rule rule;
    struct plx_v4l2_wish wish;
    bool msb_aligned;
    const struct plx_v4l2_control_options *control;
    int eye; /* enum plx_eye; PLX_EYES: both, side by side */

    struct plx_v4l2_node node; /* closed while the camera is away */
    struct plx_v4l2_deal deal;
    struct plx_v4l2_buffers *buffers;
    struct plx_v4l2_clock clock;
    struct plx_v4l2_steer steer;
    int64_t tegra_ns;
    bool streaming;
    bool seen; /* since the start of the stream: the newest picture's */
    uint32_t last_sequence;
    int64_t last_capture_ns;
    int64_t progress_ns; /* the last picture, or the last attempt to get one */
    int64_t retry_ns;    /* away: when to look for it again */
    int silences;        /* attempts in a row that brought no picture */
};

/* Finds the camera, agrees on RULE's and WISH's terms, and allocates its buffers from STAGES. NOTE says what differs from the
 * wish. LOST if it is not there, else the errors of plx_v4l2_find and plx_v4l2_negotiate, NOMEM. */
int plx_v4l2_camera_open(struct plx_v4l2_camera *camera, struct plx_stages *stages, struct plx_why *note, struct plx_why *why);
void plx_v4l2_camera_close(struct plx_v4l2_camera *camera); /* all zeros is fine */

int plx_v4l2_camera_start(struct plx_v4l2_camera *camera, struct plx_why *why);
void plx_v4l2_camera_stop(struct plx_v4l2_camera *camera);

/* The next picture that has come; its slot is ret_capture->buffer. TIMEOUT: none. FORMAT: a bad one came and is back with the
 * driver; ret_capture->health says what it was. Other errors: the camera no longer works, see plx_v4l2_camera_lost. */
int plx_v4l2_camera_take(struct plx_v4l2_camera *camera, struct plx_capture *ret_capture, struct plx_why *why);

int64_t plx_v4l2_camera_period_ns(const struct plx_v4l2_camera *camera);

/* Sets exposure and gain now, if a picture has come since the start: it says from when on they count. False if not. */
bool plx_v4l2_camera_set(struct plx_v4l2_camera *camera, uint32_t exposure_us, float gain);

/* Lets go of a camera that failed; plx_v4l2_camera_mend looks for it from then on. */
void plx_v4l2_camera_lost(struct plx_v4l2_camera *camera);

/* To be called now and then: looks for a camera that is away and starts it again; restarts the stream of one that has been
 * silent for too long, then opens it anew. True if it streams again after it did not; else WHY may say what hinders it. */
bool plx_v4l2_camera_mend(struct plx_v4l2_camera *camera, int64_t now_ns, struct plx_why *why);

#endif
