/* SPDX-License-Identifier: Apache-2.0 */
/* The exposure and gain that the exposure control requests, until the cameras have them. Thread-safe. */
#ifndef PLX_V4L2_CONTROL_REQUEST_H
#define PLX_V4L2_CONTROL_REQUEST_H

#include <pthread.h>

#include "core/source.h"

struct plx_v4l2_setting {
    uint32_t exposure_us; /* 0: none was requested */
    float gain;
    bool pending;     /* not set yet */
    int64_t asked_ns; /* when it was requested */
};

struct plx_v4l2_control_request {
    pthread_mutex_t lock; /* guards all below */
    struct plx_control_range range;
    struct plx_v4l2_setting setting;
};

int plx_v4l2_control_request_init(struct plx_v4l2_control_request *request); /* NOMEM */
void plx_v4l2_control_request_finish(struct plx_v4l2_control_request *request);

/* For the exposure control: requests values, clamped to the range. ARG; UNSUPPORTED without controls. */
int plx_v4l2_control_request_submit(struct plx_v4l2_control_request *request, uint32_t exposure_us, float gain);
void plx_v4l2_control_request_range(struct plx_v4l2_control_request *request, struct plx_control_range *ret_range);

/* For the capture thread. Done: the cameras have SETTING, unless another was requested since. Repeat: a camera was started
 * with settings of its own, so the request is pending again. */
void plx_v4l2_control_request_set_range(struct plx_v4l2_control_request *request, const struct plx_control_range *range);
struct plx_v4l2_setting plx_v4l2_control_request_read(struct plx_v4l2_control_request *request);
void plx_v4l2_control_request_done(struct plx_v4l2_control_request *request, const struct plx_v4l2_setting *setting);
void plx_v4l2_control_request_repeat(struct plx_v4l2_control_request *request);

#endif
