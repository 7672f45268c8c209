/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Definitions: github.com/IntelRealSense/librealsense, tools/depth-quality (fill rate, Z accuracy, plane fit RMS error,
 * subpixel RMS error). Points of all known pixels make a plane by least squares; the nearest and farthest 0.5 % of them are
 * left out when the same points are judged by it.
 */
#include "app/evaluate/wall_realsense.h"

#include <math.h>
#include <string.h>

#include "core/base/median.h"
#include "core/geometry/cholesky.h"
#include "core/geometry/stereo.h"

#define CROPPED 200   /* 1 / 0.5 % */
#define MAX_SHARE 0.1 /* largest distance from the plane in the histogram, of the plane's distance */

struct view {
    const struct plx_image *disparity;
    const struct plx_box *region;
    const struct plx_calibration_info *calibration;
    int min_disparity;
    int lowest, highest; /* disparities that are left */
};

/* z = a x + b y + c, m */
struct surface {
    double a, b, c, length; /* length of the normal (a, b, -1) */
};

/* The point of pixel X, Y of the region; false if it is unknown or not in front of the camera. */
static bool point_of(const struct view *view, const uint16_t *row, int x, int y, double ret_point[3], double *ret_disparity)
{
    if (row[x] == PLX_DISPARITY_INVALID || row[x] < view->lowest || row[x] > view->highest)
        return false;
    *ret_disparity = plx_disparity_of_plane(view->calibration, view->min_disparity, row[x]);
    if (!(*ret_disparity > 0))
        return false;
    plx_point_of_pixel(view->calibration, view->region->x + x, view->region->y + y,
                       plx_depth_of_disparity(view->calibration, *ret_disparity), ret_point);
    return true;
}

static bool fit_surface(const struct view *view, struct surface *ret_surface)
{
    double a[9] = {0}, b[3] = {0}, point[3], d;

    for (int y = 0; y < view->region->height; y++) {
        const uint16_t *row = plx_row(view->disparity, y);
        for (int x = 0; x < view->region->width; x++) {
            if (!point_of(view, row, x, y, point, &d))
                continue;
            const double p[3] = {1, point[0], point[1]};
            for (int i = 0; i < 3; i++) {
                for (int j = 0; j <= i; j++)
                    a[3 * i + j] += p[i] * p[j];
                b[i] += p[i] * point[2];
            }
        }
    }
    if (!plx_cholesky_decompose(a, 3, PLX_CHOLESKY_ROUNDING, a))
        return false;
    plx_cholesky_solve(a, 3, b, b);
    *ret_surface = (struct surface){b[1], b[2], b[0], sqrt(b[1] * b[1] + b[2] * b[2] + 1)};
    return true;
}

/* Counts the disparities, and leaves out the ends. Returns the number of known pixels. */
static uint32_t crop(struct wall_realsense_sums *sums, struct view *view)
{
    uint32_t known = 0, below = 0, above = 0;

    memset(sums->value, 0, sizeof sums->value);
    for (int y = 0; y < view->region->height; y++) {
        const uint16_t *row = plx_row(view->disparity, y);
        for (int x = 0; x < view->region->width; x++)
            if (row[x] != PLX_DISPARITY_INVALID) {
                sums->value[row[x]]++;
                known++;
            }
    }
    view->lowest = 0;
    view->highest = PLX_DISPARITY_INVALID - 1;
    while (view->lowest < view->highest && below + sums->value[view->lowest] <= known / CROPPED)
        below += sums->value[view->lowest++];
    while (view->highest > view->lowest && above + sums->value[view->highest] <= known / CROPPED)
        above += sums->value[view->highest--];
    return known;
}

/* The median of the distances from the plane, of the plane's distance. */
static double median(const int bin[WALL_ACCURACY_BINS], int count)
{
    return ((plx_counted_median(bin, count) + 0.5) / WALL_ACCURACY_BINS * 2 - 1) * MAX_SHARE;
}

static void judge(struct wall_realsense_sums *sums, const struct view *view, const struct surface *surface, double distance_m)
{
    const double plane_m = surface->c / surface->length;
    double point[3], d, squares = 0, subpixel = 0;
    int count = 0;

    memset(sums->distance, 0, sizeof sums->distance);
    for (int y = 0; y < view->region->height; y++) {
        const uint16_t *row = plx_row(view->disparity, y);
        for (int x = 0; x < view->region->width; x++) {
            if (!point_of(view, row, x, y, point, &d))
                continue;
            const double off = (point[2] - surface->a * point[0] - surface->b * point[1] - surface->c) / surface->length;
            const double difference = d - plx_disparity_of_depth(view->calibration, point[2] - off / surface->length);
            const double bin = (off / plane_m / MAX_SHARE + 1) * 0.5 * WALL_ACCURACY_BINS;
            squares += off * off;
            subpixel += difference * difference;
            sums->distance[(int)fmin(fmax(bin, 0), WALL_ACCURACY_BINS - 1)]++;
            count++;
        }
    }
    if (count == 0)
        return;
    sums->fitted++;
    sums->plane_rms += 100 * sqrt(squares / count) / plane_m;
    sums->subpixel_rms += sqrt(subpixel / count);
    sums->accuracy += 100 * (plane_m * (1 + median(sums->distance, count)) / distance_m - 1);
}

void wall_realsense_add(struct wall_realsense_sums *sums, const struct plx_image *disparity, const struct plx_box *region,
                        const struct plx_calibration_info *calibration, int min_disparity, double distance_m)
{
    struct view view = {disparity, region, calibration, min_disparity, 0, PLX_DISPARITY_INVALID - 1};
    struct surface surface;
    const bool fits = fit_surface(&view, &surface);

    sums->frames++;
    sums->fill += 100.0 * crop(sums, &view) / ((double)region->width * region->height);
    if (fits && surface.c > 0)
        judge(sums, &view, &surface, distance_m);
}

void wall_realsense_report(const struct wall_realsense_sums *sums, struct plx_wall_realsense *ret_report)
{
    const double n = sums->fitted > 0 ? sums->fitted : (double)NAN;
    *ret_report = (struct plx_wall_realsense){
        .fill_percent = sums->frames > 0 ? sums->fill / sums->frames : (double)NAN,
        .z_accuracy_percent = sums->accuracy / n,
        .plane_rms_percent = sums->plane_rms / n,
        .subpixel_rms_px = sums->subpixel_rms / n,
        .temporal_percent = NAN,
    };
}
