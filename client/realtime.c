/* SPDX-License-Identifier: Apache-2.0 */
/* The capture time of a frame by the wall clock, for ROS and logs. Nothing else goes by that clock, which people and NTP set.
 */
#include <parallax/client.h>

#include <time.h>

#include "core/base/clock.h"

int plx_realtime_ns(const struct plx_frame *frame, int64_t *ret_ns)
{
    struct timespec now;
    const int64_t age = plx_age_ns(frame);
    if (age == INT64_MAX)
        return PLX_ERR_NOT_FOUND;
    if (!ret_ns)
        return PLX_ERR_ARG;
    clock_gettime(CLOCK_REALTIME, &now);
    *ret_ns = now.tv_sec * PLX_NS_PER_S + now.tv_nsec - age;
    return 0;
}
