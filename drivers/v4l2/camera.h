/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One camera: opened, configured, streaming, and opened again after it was lost. All calls come from one thread at a time;
 * none waits for pictures.
 */
#ifndef PLX_V4L2_CAMERA_H
#define PLX_V4L2_CAMERA_H

#include "core/source/source.h"
#include "drivers/v4l2/buffers.h"
#include "drivers/v4l2/clock.h"
#include "drivers/v4l2/controls.h"
#include "drivers/v4l2/node.h"

struct plx_v4l2_camera {
    /* Set by the owner, before it is opened. */
    struct plx_stages *stages; /* whose memory the pictures lie in */
    struct plx_v4l2_rule rule;
    struct plx_v4l2_requested_format requested;
    bool msb_aligned;
    int64_t readout_ns; /* from the end of the exposure to a timestamp of the end of the frame; 0: not known */
    const struct plx_v4l2_options *options;
    int eye; /* enum plx_eye; PLX_EYES: both, side by side */

    char identity[PLX_V4L2_IDENTITY]; /* first camera that was opened; "": it is not known, or none was */
    bool was_opened;
    bool is_other; /* found by the rule, and not known to be the one that was opened first: it stays closed */

    struct plx_v4l2_node node;            /* closed while the camera is lost, and at first */
    struct plx_v4l2_stream_format actual; /* before the first start: what the driver would choose */
    struct plx_error_message note;        /* how `actual` differs from `requested` */
    struct plx_v4l2_buffers *buffers;     /* NULL until the first start */
    struct plx_capture pending; /* a compressed picture that waits for its decoder; its file is in the buffers. Buffer NULL:
                                 * none */
    uint32_t skipped;           /* pictures dropped since the last one taken, because no slot was free */
    struct plx_v4l2_clock clock;
    struct plx_v4l2_camera_controls controls;
    int64_t tegra_ns;
    bool has_worked; /* it has delivered a picture: its controls are then restored only if the configuration says so */
    bool streaming;
    bool has_picture; /* since the start of the stream; the next two are of the newest picture */
    uint32_t last_sequence;
    int64_t last_capture_ns;
    int64_t progress_ns; /* the last picture, or the last attempt to get one */
    int64_t retry_ns;    /* if closed: when to open it again */
    int restarts;        /* restarts in a row without a picture */
    int refusals;        /* errors in a row of a camera that is present */
};

static inline bool plx_v4l2_camera_is_closed(const struct plx_v4l2_camera *camera)
{
    return camera->node.fd < 0;
}

/* Finds the camera and checks the requested format and the controls against what it offers. Sets nothing, because another
 * engine may be using the camera. LOST if it is missing or is_other, else the errors of plx_v4l2_find,
 * plx_v4l2_camera_controls_open and plx_v4l2_negotiate_try; the camera is closed then. */
int plx_v4l2_camera_open(struct plx_v4l2_camera *camera, struct plx_error_message *message);
void plx_v4l2_camera_close(struct plx_v4l2_camera *camera);

/* Sets controls, format and rate, allocates the buffers at the first start, and starts the stream; streaming already is fine.
 * Later starts must give the same format. Errors of plx_v4l2_camera_controls_configure and plx_v4l2_negotiate, NOMEM; see
 * plx_v4l2_camera_disconnect. */
int plx_v4l2_camera_start(struct plx_v4l2_camera *camera, struct plx_error_message *message);
void plx_v4l2_camera_stop(struct plx_v4l2_camera *camera);

/* Dequeues the next picture; its slot is ret_capture->buffer. If it is compressed (*ret_compressed), it must still be decoded
 * into that slot; its file has overwritten that of `pending`, which the caller gives up. TIMEOUT: no picture. FORMAT: a
 * picture that was dropped (damaged, no free slot, or an implausible timestamp); ret_capture->health says which. On other
 * errors the camera no longer works: see plx_v4l2_camera_disconnect. */
int plx_v4l2_camera_take(struct plx_v4l2_camera *camera, struct plx_capture *ret_capture, bool *ret_compressed,
                         struct plx_error_message *message);

int64_t plx_v4l2_camera_period_ns(const struct plx_v4l2_camera *camera);

/* Sets exposure and gain. False if that fails, or if no picture has come since the start: the
 * sequence number of a picture is needed to know when exposure and gain act. */
bool plx_v4l2_camera_set(struct plx_v4l2_camera *camera, uint32_t exposure_us, float gain);

/* Closes a camera that failed with ERROR. It may be opened again from retry_ns on: soon after LOST, later with each refusal. */
void plx_v4l2_camera_disconnect(struct plx_v4l2_camera *camera, int error);

/* A camera is stalled if it streams, but delivers no picture for too long. Recover restarts the stream and says so in MESSAGE;
 * after an error the camera must be opened again. */
bool plx_v4l2_camera_is_stalled(const struct plx_v4l2_camera *camera, int64_t now_ns);
int plx_v4l2_camera_recover(struct plx_v4l2_camera *camera, struct plx_error_message *message);

#endif
