/* SPDX-License-Identifier: Apache-2.0 */
/* Real cameras as a frame source. This is the only header of the folder that the engine needs. Details: docs/cameras.md. */
#ifndef PLX_DRIVERS_V4L2_V4L2_H
#define PLX_DRIVERS_V4L2_V4L2_H

#include "core/source/camera_options.h"

struct plx_error_message;
struct plx_source;
struct plx_stages;

struct plx_v4l2_options {
    struct plx_camera_options cameras;
    int width, height;     /* size of one eye */
    double rate_hz;        /* 0: as the camera is set */
    int flicker_hz;        /* mains frequency of the lamps, for cameras with that control; 0: not set */
    bool colour;           /* pictures of the left eye must have colour */
    bool retries_refusals; /* retry a camera that refuses its configuration, like one that is missing */
};

/* Create opens and checks the cameras; only start sets anything, so creating a source
 * disturbs no other user of the cameras. A camera that is missing, or that another process holds exclusively, is looked for
 * like a lost one; until it is found, `rate_hz` is the requested rate. After start, a camera that refuses is reported as lost
 * and tried again without end. Errors: RANGE, NOMEM; unless `retries_refusals` also UNSUPPORTED, PERMISSION, IO. */
int plx_v4l2_create(struct plx_stages *stages, const struct plx_v4l2_options *options, struct plx_source **ret_source,
                    struct plx_error_message *message);

/* What a camera would give. */
struct plx_v4l2_inspection {
    char driver[16], card[32], node[256];
    char format[5];    /* "": only setting it can show the format */
    int width, height; /* the whole buffer's */
    double rate_hz;    /* 0: the camera does not say */
};

/* Opens camera CAMERA of OPTIONS (PLX_LEFT, also for one that gives both eyes; PLX_RIGHT), checks format, rate and controls as
 * plx_v4l2_create does, sets nothing and closes it. Errors: RANGE, LOST (missing), PERMISSION (also: it may be one that
 * cannot be opened), BUSY, UNSUPPORTED, NOMEM, IO. */
int plx_v4l2_inspect(const struct plx_v4l2_options *options, int camera, struct plx_v4l2_inspection *ret_inspection,
                     struct plx_error_message *message);

/* Checks OPTIONS without opening a camera: their names, the format, and that both eyes are not one camera. RANGE, with the key
 * of the configuration that is wrong in *ret_key and a sentence in MESSAGE. */
int plx_v4l2_check(const struct plx_camera_options *options, const char **ret_key, struct plx_error_message *message);

#endif
