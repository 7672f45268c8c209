/* SPDX-License-Identifier: Apache-2.0 */
#include "core/ground/history.h"

#include "core/ground/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HEIGHT_LOW 0.75 /* share of the median height */
#define HEIGHT_HIGH 1.25
#define MOUNT_LOW 0.9 /* share of the height that the mount says */
#define MOUNT_HIGH 1.1

struct plx_ground plx_ground_of(const double normal[3], double height, const struct plx_calibration_info *calibration,
                                int infinity)
{
    const double one = 65536.0 * PLX_DISPARITY_ONE, scale = calibration->baseline_m / height;
    const double du = scale * normal[0], dv = scale * normal[1] * calibration->fx / calibration->fy;
    const double d0 = scale * normal[2] * calibration->fx - du * calibration->cx - dv * calibration->cy +
                      (double)infinity / PLX_DISPARITY_ONE;
    return (struct plx_ground){.a = llround(du * one),
                               .b = llround(dv * one),
                               .c = llround(d0 * one),
                               .camera_height_um = (int32_t)lround(1e6 * height),
                               .valid = PLX_GROUND_HELD};
}

static int by_value(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static int32_t median_height(const struct plx_ground_history *history)
{
    const int count = history->heights < PLX_GROUND_HEIGHTS ? history->heights : PLX_GROUND_HEIGHTS;
    int32_t sorted[PLX_GROUND_HEIGHTS];

    memcpy(sorted, history->height_um, sizeof sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, by_value);
    return sorted[count / 2];
}

/* Slope of a line at HEIGHT_UM whose camera is tilted as it was over the last plane. */
static int32_t slope_at(const struct plx_ground_history *history, const struct plx_ground_params *params, double height_um)
{
    const double slope = (double)history->last.b / plx_ground_bin_width(params->disparities);
    return (int32_t)lround(fmin(slope * history->last.camera_height_um / height_um, INT32_MAX));
}

/* The ground is what the robot stands on, however much more an image shows of what lies above or below; where it shows too
 * little of that, the mount says where it is. */
static void follow_mount(const struct plx_ground_params *params, struct plx_ground_prior *prior)
{
    const struct plx_ground *mount = &params->mount;
    const double slope = (double)mount->b / plx_ground_bin_width(params->disparities);
    prior->height_min_um = (int32_t)lround(mount->camera_height_um * MOUNT_LOW);
    prior->height_max_um = (int32_t)lround(mount->camera_height_um * MOUNT_HIGH);
    prior->slope_min = (int32_t)lround(fmin(slope / MOUNT_HIGH, INT32_MAX));
    prior->slope_max = (int32_t)lround(fmin(slope / MOUNT_LOW, INT32_MAX));
    if (!prior->held.valid)
        prior->held = *mount;
}

void plx_ground_history_prior(struct plx_ground_history *history, const struct plx_ground_params *params, int64_t capture_ns,
                              struct plx_ground_prior *ret_prior)
{
    if (capture_ns <= history->now_ns)
        *history = (struct plx_ground_history){.heights = 0};
    history->now_ns = capture_ns;
    *ret_prior = (struct plx_ground_prior){.slope_max = 0};
    if (history->last.valid && history->missed < PLX_GROUND_HOLD_FRAMES &&
        capture_ns - history->last_ns <= PLX_GROUND_HOLD_NS) {
        ret_prior->held = history->last;
        ret_prior->held.valid = PLX_GROUND_HELD;
    }
    if (params->mount.valid) {
        follow_mount(params, ret_prior);
    } else if (history->heights >= PLX_GROUND_HEIGHTS_MIN) {
        const double height = median_height(history);
        ret_prior->height_min_um = (int32_t)lround(height * HEIGHT_LOW);
        ret_prior->height_max_um = (int32_t)lround(height * HEIGHT_HIGH);
        ret_prior->slope_min = slope_at(history, params, height * HEIGHT_HIGH);
        ret_prior->slope_max = slope_at(history, params, height * HEIGHT_LOW);
    }
}

void plx_ground_history_add(struct plx_ground_history *history, const struct plx_ground *ground)
{
    if (ground->valid == PLX_GROUND_FOUND) {
        history->last = *ground;
        history->last_ns = history->now_ns;
        history->height_um[history->heights % PLX_GROUND_HEIGHTS] = ground->camera_height_um;
        history->heights++;
        history->missed = 0;
    } else if (++history->missed >= PLX_GROUND_FORGET_FRAMES) {
        *history = (struct plx_ground_history){.now_ns = history->now_ns};
    }
}
