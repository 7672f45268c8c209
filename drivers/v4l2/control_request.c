/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/v4l2/control_request.h"

#include <math.h>

#include <parallax/error.h>

#include "core/clock.h"

int plx_v4l2_control_request_init(struct plx_v4l2_control_request *request)
{
    return pthread_mutex_init(&request->lock, NULL) == 0 ? 0 : PLX_ERR_NOMEM;
}

void plx_v4l2_control_request_finish(struct plx_v4l2_control_request *request)
{
    pthread_mutex_destroy(&request->lock);
}

int plx_v4l2_control_request_submit(struct plx_v4l2_control_request *request, uint32_t exposure_us, float gain)
{
    const struct plx_control_range *range = &request->range;
    int result = PLX_ERR_UNSUPPORTED;

    if (!isfinite(gain))
        return PLX_ERR_ARG;
    pthread_mutex_lock(&request->lock);
    if (range->exposure_max_us > 0) {
        if (exposure_us < range->exposure_min_us)
            exposure_us = range->exposure_min_us;
        if (exposure_us > range->exposure_max_us)
            exposure_us = range->exposure_max_us;
        gain = fminf(fmaxf(gain, range->gain_min), range->gain_max);
        request->setting = (struct plx_v4l2_setting){exposure_us, gain, .pending = true, .asked_ns = plx_now_ns()};
        result = 0;
    }
    pthread_mutex_unlock(&request->lock);
    return result;
}

void plx_v4l2_control_request_range(struct plx_v4l2_control_request *request, struct plx_control_range *ret_range)
{
    pthread_mutex_lock(&request->lock);
    *ret_range = request->range;
    pthread_mutex_unlock(&request->lock);
}

void plx_v4l2_control_request_set_range(struct plx_v4l2_control_request *request, const struct plx_control_range *range)
{
    pthread_mutex_lock(&request->lock);
    request->range = *range;
    pthread_mutex_unlock(&request->lock);
}

struct plx_v4l2_setting plx_v4l2_control_request_read(struct plx_v4l2_control_request *request)
{
    pthread_mutex_lock(&request->lock);
    const struct plx_v4l2_setting setting = request->setting;
    pthread_mutex_unlock(&request->lock);
    return setting;
}

void plx_v4l2_control_request_done(struct plx_v4l2_control_request *request, const struct plx_v4l2_setting *setting)
{
    pthread_mutex_lock(&request->lock);
    if (request->setting.exposure_us == setting->exposure_us && request->setting.gain == setting->gain)
        request->setting.pending = false;
    pthread_mutex_unlock(&request->lock);
}

void plx_v4l2_control_request_repeat(struct plx_v4l2_control_request *request)
{
    pthread_mutex_lock(&request->lock);
    request->setting.pending = request->setting.exposure_us > 0;
    request->setting.asked_ns = plx_now_ns();
    pthread_mutex_unlock(&request->lock);
}
