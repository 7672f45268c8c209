/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/v4l2/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/clock.h"

#define OLDEST_NS (500 * PLX_NS_PER_MS) /* a picture that is older at its arrival is implausible ... */
#define OLDEST_PERIODS 8                /* ... unless it is younger than so many periods */
#define MAX_WAITING 32                  /* pictures in a driver: VIDEO_MAX_FRAME */
#define MAX_IMPLAUSIBLE 3               /* implausible timestamps in a row until the offset is measured again */
#define CREEP_SHIFT 10                  /* an estimated offset rises by 1/1024 of the difference to that of the arrival */

static int64_t minus(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

static int64_t plus(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

int64_t plx_v4l2_stamp_ns(int64_t seconds, int64_t microseconds)
{
    return (int64_t)((uint64_t)seconds * PLX_NS_PER_S + (uint64_t)microseconds * PLX_NS_PER_US);
}

int64_t plx_v4l2_tegra_offset(void)
{
    FILE *file = fopen("/sys/devices/system/clocksource/clocksource0/offset_ns", "re");
    int64_t offset = 0;
    if (!file)
        return 0;
    if (fscanf(file, "%" SCNd64, &offset) != 1)
        offset = 0;
    fclose(file);
    return offset;
}

void plx_v4l2_clock_init(struct plx_v4l2_clock *clock, int64_t period_ns)
{
    *clock = (struct plx_v4l2_clock){.period_ns = period_ns};
}

/* True if CAPTURE_NS lies shortly before REFERENCE_NS. Some drivers stamp the end of a frame ahead of time, by less than a
 * period. */
static bool is_recent(const struct plx_v4l2_clock *clock, int64_t capture_ns, int64_t reference_ns)
{
    const int64_t age = minus(reference_ns, capture_ns), periods = OLDEST_PERIODS * clock->period_ns;
    return age >= -clock->period_ns && age <= (periods > OLDEST_NS ? periods : OLDEST_NS);
}

/* True if the capture time is recent, or old because the capture thread was held up since the last recent one: then at most as
 * many pictures wait as there are buffers. */
static bool is_plausible(struct plx_v4l2_clock *clock, int64_t capture_ns, int64_t arrival_ns)
{
    if (is_recent(clock, capture_ns, arrival_ns)) {
        clock->recent_ns = arrival_ns;
        clock->old = 0;
        return true;
    }
    const int64_t since = minus(capture_ns, clock->recent_ns);
    return minus(arrival_ns, capture_ns) > 0 && (since > 0 || is_recent(clock, capture_ns, clock->recent_ns)) &&
           clock->old++ < MAX_WAITING;
}

static bool try_offset(struct plx_v4l2_clock *clock, const struct plx_v4l2_stamp *stamp, enum plx_clock kind, int64_t offset_ns)
{
    if (!is_recent(clock, plus(stamp->stamp_ns, offset_ns), stamp->arrival_ns))
        return false;
    clock->kind = kind;
    clock->offset_ns = offset_ns;
    clock->exact = true;
    return true;
}

/* Finds the camera's clock: the first that gives a time shortly before the arrival, else a clock of its own. */
static void identify(struct plx_v4l2_clock *clock, const struct plx_v4l2_stamp *stamp)
{
    clock->known = true;
    clock->implausible = 0;
    clock->recent_ns = stamp->arrival_ns;
    clock->old = 0;
    if (try_offset(clock, stamp, PLX_CLOCK_MONOTONIC, 0) ||
        try_offset(clock, stamp, PLX_CLOCK_REALTIME, minus(stamp->arrival_ns, stamp->realtime_ns)) ||
        (stamp->tegra_ns != 0 && try_offset(clock, stamp, PLX_CLOCK_DEVICE, minus(0, stamp->tegra_ns))))
        return;
    clock->kind = PLX_CLOCK_DEVICE;
    clock->offset_ns = minus(stamp->arrival_ns, stamp->stamp_ns);
    clock->exact = false;
}

/* Transfer only adds delay, so the smallest difference is the best estimate of the offset. The estimate creeps up to follow a
 * clock that is slower than ours. */
static void update_offset(struct plx_v4l2_clock *clock, const struct plx_v4l2_stamp *stamp)
{
    if (clock->exact)
        return;
    const int64_t late = minus(minus(stamp->arrival_ns, stamp->stamp_ns), clock->offset_ns);
    clock->offset_ns = plus(clock->offset_ns, late < 0 ? late : late >> CREEP_SHIFT);
}

int64_t plx_v4l2_clock_read(struct plx_v4l2_clock *clock, const struct plx_v4l2_stamp *stamp, bool *ret_implausible)
{
    if (!clock->known || clock->implausible >= MAX_IMPLAUSIBLE)
        identify(clock, stamp);
    if (clock->kind == PLX_CLOCK_REALTIME)
        clock->offset_ns = minus(stamp->arrival_ns, stamp->realtime_ns); /* CLOCK_REALTIME may have been set */
    if (is_plausible(clock, plus(stamp->stamp_ns, clock->offset_ns), stamp->arrival_ns)) {
        clock->implausible = 0;
        update_offset(clock, stamp);
        *ret_implausible = false;
    } else {
        clock->implausible++;
        *ret_implausible = true;
    }
    return plus(stamp->stamp_ns, clock->offset_ns);
}
