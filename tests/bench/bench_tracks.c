/* SPDX-License-Identifier: Apache-2.0 */
/* plx_tracks_update with 256 obstacles from a camera that drives: spread over a street, and crowded, where every obstacle is in
 * reach of many tracks. Mean and longest processor time of a frame, in ms. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/base/clock.h"
#include "core/tracks/tracks.h"
#include "oracle/test_image.h"

#define FRAMES 200
#define STEP_M 0.4
#define PERIOD_NS (PLX_NS_PER_S / 30)

static const struct plx_calibration_info calibration = {700, 700, 600, 180, 600, 0.54};

/* Time that this thread used: other processes do not count. */
static double processor_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* Things in rows of 16, SPREAD metres apart; a row that is passed comes again far away. */
static void see(struct plx_obstacle *list, int frame, double spread, uint64_t *random)
{
    for (int k = 0; k < PLX_MAX_OBSTACLES; k++) {
        const int row = k / 16;
        const double way = frame * STEP_M - row * spread, lap = 16 * spread;
        const double z = 3 + lap - (way - lap * (int)(way / lap) + (way < 0 ? lap : 0));
        const double x = (k % 16 - 7.5) * spread;
        list[k] = (struct plx_obstacle){
            .label = (uint32_t)k + 1,
            .position_m = {(float)(x + 0.02 * random_normal(random)), 0.3f, (float)(z + 0.02 * random_normal(random))},
            .extent_m = {0.5f, 1.6f, 0.3f},
            .x = (int)(600 + (x - 0.25) / z * 700),
            .y = (int)(180 - 0.5 / z * 700),
            .width = (int)(0.5 / z * 700),
            .height = (int)(1.6 / z * 700)};
    }
}

static void measure(const char *name, double spread)
{
    static struct plx_obstacle list[PLX_MAX_OBSTACLES];
    const struct plx_track_params params = {.min_hits = 3, .max_missed = 5, .gate_m = 0.8, .accel_mps2 = 1};
    const struct plx_motion_info motion = {.valid = 1,
                                           .source = PLX_MOTION_VISUAL,
                                           .interval_ns = PERIOD_NS,
                                           .motion = {{1, 0, 0, 0, 1, 0, 0, 0, 1}, {0, 0, STEP_M}}};
    struct plx_tracks *tracks;
    uint64_t random = 1;
    double sum = 0, longest = 0;
    if (plx_tracks_create(&params, &tracks) < 0)
        exit(1);
    for (int i = 0; i < FRAMES; i++) {
        int count = PLX_MAX_OBSTACLES;
        see(list, i, spread, &random);
        const double begun = processor_ms();
        plx_tracks_update(tracks, (i + 1) * PERIOD_NS, &calibration, &motion, list, &count, PLX_MAX_OBSTACLES);
        const double taken = processor_ms() - begun;
        sum += taken;
        longest = taken > longest ? taken : longest;
    }
    printf("%-8s %3d obstacles  mean %5.2f  longest %5.2f ms   %u tracks\n", name, PLX_MAX_OBSTACLES, sum / FRAMES, longest,
           plx_tracks_last(tracks));
    plx_tracks_destroy(tracks);
}

int main(void)
{
    measure("street", 3);
    measure("crowd", 0.7);
    return 0;
}
