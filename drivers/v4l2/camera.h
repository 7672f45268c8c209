/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One camera: found, opened, agreed with, streaming, and opened again when it went away. All calls come from one thread at a
 * time, and none waits for pictures.
 */
#ifndef PLX_V4L2_CAMERA_H
#define PLX_V4L2_CAMERA_H

#include "core/source.h"
#include "drivers/v4l2/buffers.h"
#include "drivers/v4l2/camera_controls.h"
#include "drivers/v4l2/clock.h"
#include "drivers/v4l2/find.h"

struct plx_v4l2_camera {
    /* Set by the owner, before it is opened. */
    struct plx_stages *stages; /* whose memory the pictures lie in */
    struct plx_v4l2_rule rule;
    struct plx_v4l2_requested_format requested;
    bool msb_aligned;
    int64_t readout_ns; /* of stamps of the end of the frame; 0: not known */
    const struct plx_v4l2_control_options *control_options;
    int eye; /* enum plx_eye; PLX_EYES: both, side by side */

    struct plx_v4l2_node node;            /* closed while the camera is away */
    struct plx_v4l2_stream_format actual; /* foreseen, until it was started */
    struct plx_error_message note;        /* how that differs from the requested */
    struct plx_v4l2_buffers *buffers;     /* NULL until it was started for the first time */
    struct plx_capture pending; /* compressed, not decoded yet: its file is in the buffers' memory. Buffer NULL: none */
    uint32_t skipped;           /* pictures that came since the last one taken and found no slot */
    struct plx_v4l2_clock clock;
    struct plx_v4l2_camera_controls controls;
    int64_t tegra_ns;
    bool has_worked; /* it gave a picture, ever: what was set is not put back unless the configuration says so */
    bool streaming;
    bool has_picture; /* since the start of the stream: the newest picture's */
    uint32_t last_sequence;
    int64_t last_capture_ns;
    int64_t progress_ns; /* the last picture, or the last attempt to get one */
    int64_t retry_ns;    /* away: when to look for it again */
    int restarts;        /* attempts in a row that brought no picture */
    int refusals;        /* errors in a row of a camera that is there */
};

/* Closed, and not to be found yet. */
static inline void plx_v4l2_camera_init(struct plx_v4l2_camera *camera)
{
    *camera = (struct plx_v4l2_camera){.node.fd = -1};
}

static inline bool plx_v4l2_camera_is_closed(const struct plx_v4l2_camera *camera)
{
    return camera->node.fd < 0;
}

/* Finds the camera and checks the requested and the controls against what it offers. Sets nothing: the camera may be at work
 * for another engine, and OPEN be all that comes (a configuration that is only tried). LOST if it is not there, else the errors
 * of plx_v4l2_find, plx_v4l2_camera_controls_open and plx_v4l2_negotiate_try; it is closed then. */
int plx_v4l2_camera_open(struct plx_v4l2_camera *camera, struct plx_error_message *message);
void plx_v4l2_camera_close(struct plx_v4l2_camera *camera);

/* Sets controls, format and rate, allocates the buffers the first time (later the camera must give what they were made for),
 * and lets it stream; streaming already is fine. Errors of plx_v4l2_camera_controls_configure and plx_v4l2_negotiate, NOMEM;
 * see plx_v4l2_camera_disconnect. */
int plx_v4l2_camera_start(struct plx_v4l2_camera *camera, struct plx_error_message *message);
void plx_v4l2_camera_stop(struct plx_v4l2_camera *camera);

/* The next picture that has come; its slot is ret_capture->buffer. A compressed one (*ret_compressed) is still to be decoded
 * there; `pending`, whose file it overwrote, is then the caller's to give up. TIMEOUT: none. FORMAT: a bad one came and is back
 * with the driver; ret_capture->health says what it was. Other errors: the camera no longer works, see
 * plx_v4l2_camera_disconnect. */
int plx_v4l2_camera_take(struct plx_v4l2_camera *camera, struct plx_capture *ret_capture, bool *ret_compressed,
                         struct plx_error_message *message);

int64_t plx_v4l2_camera_period_ns(const struct plx_v4l2_camera *camera);

/* Sets exposure and gain now, if a picture has come since the start: it says from when on they count. False if not. */
bool plx_v4l2_camera_set(struct plx_v4l2_camera *camera, uint32_t exposure_us, float gain);

/* Lets go of a camera that failed with ERROR; it may be opened again from retry_ns on: soon if it is LOST, else the later the
 * more often it was refused. */
void plx_v4l2_camera_disconnect(struct plx_v4l2_camera *camera, int error);

/* It streams, and has given nothing for too long. Reviving restarts the stream, and says so in MESSAGE; an error, LOST above
 * all, means that the camera should be opened anew. */
bool plx_v4l2_camera_is_stalled(const struct plx_v4l2_camera *camera, int64_t now_ns);
int plx_v4l2_camera_recover(struct plx_v4l2_camera *camera, struct plx_error_message *message);

#endif
