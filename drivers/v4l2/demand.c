/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/v4l2/demand.h"

#include <math.h>

#include <parallax/error.h>

#include "core/clock.h"

int plx_v4l2_demand_init(struct plx_v4l2_demand *demand)
{
    return pthread_mutex_init(&demand->lock, NULL) == 0 ? 0 : PLX_ERR_NOMEM;
}

void plx_v4l2_demand_finish(struct plx_v4l2_demand *demand)
{
    pthread_mutex_destroy(&demand->lock);
}

int plx_v4l2_demand_ask(struct plx_v4l2_demand *demand, uint32_t exposure_us, float gain)
{
    const struct plx_control_range *range = &demand->range;
    int result = PLX_ERR_UNSUPPORTED;

    if (!isfinite(gain))
        return PLX_ERR_ARG;
    pthread_mutex_lock(&demand->lock);
    if (range->exposure_max_us > 0) {
        if (exposure_us < range->exposure_min_us)
            exposure_us = range->exposure_min_us;
        if (exposure_us > range->exposure_max_us)
            exposure_us = range->exposure_max_us;
        gain = fminf(fmaxf(gain, range->gain_min), range->gain_max);
        demand->setting = (struct plx_v4l2_setting){exposure_us, gain, .pending = true, .asked_ns = plx_now_ns()};
        result = 0;
    }
    pthread_mutex_unlock(&demand->lock);
    return result;
}

void plx_v4l2_demand_range(struct plx_v4l2_demand *demand, struct plx_control_range *ret_range)
{
    pthread_mutex_lock(&demand->lock);
    *ret_range = demand->range;
    pthread_mutex_unlock(&demand->lock);
}

void plx_v4l2_demand_limit(struct plx_v4l2_demand *demand, const struct plx_control_range *range)
{
    pthread_mutex_lock(&demand->lock);
    demand->range = *range;
    pthread_mutex_unlock(&demand->lock);
}

struct plx_v4l2_setting plx_v4l2_demand_read(struct plx_v4l2_demand *demand)
{
    pthread_mutex_lock(&demand->lock);
    const struct plx_v4l2_setting setting = demand->setting;
    pthread_mutex_unlock(&demand->lock);
    return setting;
}

void plx_v4l2_demand_met(struct plx_v4l2_demand *demand, const struct plx_v4l2_setting *setting)
{
    pthread_mutex_lock(&demand->lock);
    if (demand->setting.exposure_us == setting->exposure_us && demand->setting.gain == setting->gain)
        demand->setting.pending = false;
    pthread_mutex_unlock(&demand->lock);
}

void plx_v4l2_demand_renew(struct plx_v4l2_demand *demand)
{
    pthread_mutex_lock(&demand->lock);
    demand->setting.pending = demand->setting.exposure_us > 0;
    demand->setting.asked_ns = plx_now_ns();
    pthread_mutex_unlock(&demand->lock);
}
