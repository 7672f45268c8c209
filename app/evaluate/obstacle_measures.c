/* SPDX-License-Identifier: Apache-2.0 */
#include "app/evaluate/obstacle_measures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "app/evaluate/column_lookup.h"
#include "core/geometry/stereo.h"

#define BEARING_COLUMNS 8  /* width of a bearing */
#define BEARING_POINTS 6   /* fewer points in a bearing are no obstacle */
#define BEARING_LOW_M 0.3F /* lowest and highest point that counts in a bearing */
#define BEARING_HIGH_M 2.0F
#define BEARING_RISE_M 0.25F /* least spread of their heights, within BEARING_DEPTH_M */
#define BEARING_DEPTH_M 0.5F
#define THING_PIXELS 50 /* fewer connected obstacle pixels are ignored */
#define THING_FOUND 0.3 /* share of its pixels */
#define CLUSTER_GAP_M 1.0F
#define CLUSTER_PIXELS 10
#define CLUSTER_SHARE 0.05 /* share of a record's pixels: a joined cluster that has more is large */

/* One frame, its truth, and what both are compared with. */
struct judge {
    const struct plx_frame *frame;
    const struct plx_lidar_truth *truth;
    const struct plx_obstacle *by_label[PLX_MAX_OBSTACLES + 1]; /* NULL: not published */
    int *pending;                                               /* scratch of flood, [width * height] */
};

static const void *plane_row(const struct plx_frame *frame, enum plx_plane_id id, int y)
{
    return (const uint8_t *)frame + frame->plane[id].offset + (size_t)y * frame->plane[id].pitch;
}

/* Both disparities in pixels; false for NAN. */
static bool fits(double disparity, double lidar)
{
    return fabs(disparity - lidar) <= 0.1 * lidar + 0.5;
}

static double disparity_at(const struct judge *j, double depth)
{
    const struct plx_calibration_info *c = &j->frame->calibration;
    return plx_disparity_of_depth(c, depth) + plx_disparity_shift(c);
}

/* The published obstacle at a pixel, NULL if there is none. */
static const struct plx_obstacle *labelled(const struct judge *j, int x, int y)
{
    const uint16_t label = ((const uint16_t *)plane_row(j->frame, PLX_PLANE_LABELS, y))[x];
    return label > 0 && label <= PLX_MAX_OBSTACLES ? j->by_label[label] : NULL;
}

/* Disparity between columns, px, of a record's DISPARITY. */
static double record_disparity(const struct judge *j, uint16_t disparity)
{
    return disparity / (double)PLX_DISPARITY_ONE + plx_disparity_shift(&j->frame->calibration);
}

/* Disparity that the labels claim at a pixel, NAN if none. */
static double label_disparity(const struct judge *j, int x, int y)
{
    if (!labelled(j, x, y))
        return NAN;
    const uint16_t d = ((const uint16_t *)plane_row(j->frame, PLX_PLANE_DENSE, y))[x];
    return d == PLX_DISPARITY_INVALID ? NAN : d / (double)PLX_DISPARITY_ONE + j->frame->min_disparity;
}

static bool label_fits(const struct judge *j, int x, int y, double lidar)
{
    return fits(label_disparity(j, x, y), lidar); /* false for NAN */
}

/* True if an obstacle's box holds the pixel, and the LiDAR disparity fits between its nearest and its farthest part. */
static bool list_fits(const struct judge *j, int x, int y, double lidar)
{
    for (uint32_t i = 0; i < j->frame->obstacle_count; i++) {
        const struct plx_obstacle *o = &j->frame->obstacle[i];
        if (o->label == 0 || x < o->x || y < o->y || x >= o->x + o->width || y >= o->y + o->height)
            continue;
        const double near = (double)o->disparity_near, far = disparity_at(j, (double)(o->nearest_m + o->extent_m[2]));
        if (fits(near, lidar) || fits(far, lidar) || (lidar < near && lidar > far))
            return true;
    }
    return false;
}

static bool stixel_fits(const struct judge *j, int x, int y, double lidar)
{
    const struct plx_stixel *stixel = plx_stixels_at(j->frame, x);
    for (int i = 0; i < PLX_COLUMN_STIXELS && stixel[i].disparity > 0; i++)
        if (y >= stixel[i].y0 && y <= stixel[i].y1 && fits(record_disparity(j, stixel[i].disparity), lidar))
            return true;
    return false;
}

static void count_pixels(const struct judge *j, struct plx_obstacle_counts *counts)
{
    for (int y = 0; y < j->truth->height; y++)
        for (int x = 0; x < j->truth->width; x++) {
            const struct plx_lidar_point *p = &j->truth->point[y * j->truth->width + x];
            if (p->class == PLX_LIDAR_UNKNOWN)
                continue;
            const double lidar = disparity_at(j, (double)p->depth_m);
            const bool claimed[PLX_CLAIMS] = {label_fits(j, x, y, lidar), list_fits(j, x, y, lidar),
                                              stixel_fits(j, x, y, lidar), false};
            counts->obstacle_pixels += p->class == PLX_LIDAR_OBSTACLE;
            counts->ground_pixels += p->class != PLX_LIDAR_OBSTACLE;
            counts->clear_pixels += p->class == PLX_LIDAR_CLEAR;
            for (int c = 0; c < PLX_CLAIMS; c++) {
                counts->claim[c].recalled += claimed[c] && p->class == PLX_LIDAR_OBSTACLE;
                counts->claim[c].false_ground += claimed[c] && p->class != PLX_LIDAR_OBSTACLE;
                counts->claim[c].false_clear += claimed[c] && p->class == PLX_LIDAR_CLEAR;
            }
        }
}

struct sample {
    float depth, height;
    bool fits; /* the label's disparity is LiDAR's */
};

static int by_depth(const void *a, const void *b)
{
    const float x = ((const struct sample *)a)->depth, y = ((const struct sample *)b)->depth;
    return (x > y) - (x < y);
}

/* True if the heights of the samples from I on, within BEARING_DEPTH_M, spread enough for an upright obstacle. */
static bool stands(const struct sample *sample, int count, int i)
{
    float low = sample[i].height, high = low;
    for (int k = i; k < count && sample[k].depth <= sample[i].depth + BEARING_DEPTH_M; k++) {
        low = fminf(low, sample[k].height);
        high = fmaxf(high, sample[k].height);
    }
    return high - low >= BEARING_RISE_M;
}

/* Depth of the nearest group of samples, INFINITY if there is none. STANDING: the group must be upright. */
static float nearest(struct sample *sample, int count, bool standing)
{
    qsort(sample, (size_t)count, sizeof *sample, by_depth);
    for (int i = 0; i + BEARING_POINTS <= count; i++)
        if (sample[i + BEARING_POINTS - 1].depth <= 1.1F * sample[i].depth && (!standing || stands(sample, count, i)))
            return sample[i].depth;
    return INFINITY;
}

static float true_nearest(const struct judge *j, int x0, struct sample *sample)
{
    int count = 0;
    for (int y = 0; y < j->truth->height; y++)
        for (int x = x0; x < x0 + BEARING_COLUMNS; x++) {
            const struct plx_lidar_point *p = &j->truth->point[y * j->truth->width + x];
            if (p->depth_m > 0 && p->depth_m <= (float)PLX_LIDAR_RANGE_M && p->height_m >= BEARING_LOW_M &&
                p->height_m <= BEARING_HIGH_M)
                sample[count++] = (struct sample){.depth = p->depth_m, .height = p->height_m};
        }
    return nearest(sample, count, true);
}

/* The smallest median depth of the labels in this bearing, INFINITY without one. */
static float label_nearest(const struct judge *j, int x0, struct sample *sample)
{
    const struct plx_calibration_info *c = &j->frame->calibration;
    float least = INFINITY;
    for (uint32_t i = 0; i < j->frame->obstacle_count; i++) {
        const struct plx_obstacle *o = &j->frame->obstacle[i];
        const int begin = o->x > x0 ? o->x : x0,
                  end = o->x + o->width < x0 + BEARING_COLUMNS ? o->x + o->width : x0 + BEARING_COLUMNS;
        int count = 0;
        for (int y = o->y; o->label != 0 && y < o->y + o->height; y++)
            for (int x = begin; x < end; x++) {
                const double d = labelled(j, x, y) == o ? label_disparity(j, x, y) : NAN;
                const double above = d - plx_disparity_shift(c);
                if (above > 0)
                    sample[count++] = (struct sample){.depth = (float)plx_depth_of_disparity(c, above)};
            }
        qsort(sample, (size_t)count, sizeof *sample, by_depth);
        if (count >= BEARING_POINTS)
            least = fminf(least, sample[count / 2].depth);
    }
    return least;
}

static float list_nearest(const struct judge *j, int x0)
{
    float least = INFINITY;
    for (uint32_t i = 0; i < j->frame->obstacle_count; i++) {
        const struct plx_obstacle *o = &j->frame->obstacle[i];
        if (o->label != 0 && o->x < x0 + BEARING_COLUMNS && o->x + o->width > x0)
            least = fminf(least, o->nearest_m);
    }
    return least;
}

static float outline_nearest(const struct judge *j, int x0)
{
    uint16_t nearest = 0;
    for (uint32_t i = 0; i < j->frame->obstacle_count; i++) {
        const struct plx_obstacle *o = &j->frame->obstacle[i];
        const uint16_t here = o->label != 0 ? plx_outline_nearest(o, x0, BEARING_COLUMNS) : 0;
        nearest = here > nearest ? here : nearest;
    }
    return nearest > 0 ? (float)(plx_depth_scale_m(&j->frame->calibration) / nearest) : INFINITY;
}

/* LiDAR shows clear ground in this bearing near the depth CLAIMED, so nothing stands there. */
static bool clear_at(const struct judge *j, int x0, float claimed)
{
    for (int y = 0; y < j->truth->height; y++)
        for (int x = x0; x < x0 + BEARING_COLUMNS; x++) {
            const struct plx_lidar_point *p = &j->truth->point[y * j->truth->width + x];
            if (p->class == PLX_LIDAR_CLEAR && fabsf(p->depth_m - claimed) <= BEARING_DEPTH_M)
                return true;
        }
    return false;
}

/* Counts the clear ground of a bearing before TRUTH, the depth of its nearest thing, and what of it the scan calls free. */
static void count_free(const struct judge *j, int x0, float truth, struct plx_obstacle_counts *counts)
{
    bool beyond = false;
    for (int x = x0; x < x0 + BEARING_COLUMNS; x++) {
        const float free = plx_scan_free(j->frame, x);
        beyond = beyond || free > truth + fmaxf(0.5F, 0.1F * truth);
        for (int y = 0; y < j->truth->height; y++) {
            const struct plx_lidar_point *p = &j->truth->point[y * j->truth->width + x];
            const bool before = p->class == PLX_LIDAR_CLEAR && p->depth_m < truth;
            counts->before_pixels += before;
            counts->free_pixels += before && p->depth_m <= free + fmaxf(0.5F, 0.1F * p->depth_m);
        }
    }
    counts->blocked += isfinite(truth) != 0;
    counts->free_beyond += beyond;
}

static void count_bearings(const struct judge *j, struct sample *sample, struct plx_obstacle_counts *counts)
{
    for (int x0 = 0; x0 + BEARING_COLUMNS <= j->truth->width; x0 += BEARING_COLUMNS) {
        const float truth = true_nearest(j, x0, sample);
        count_free(j, x0, truth, counts);
        if (isinf(truth))
            continue;
        const float claimed[PLX_CLAIMS] = {label_nearest(j, x0, sample), list_nearest(j, x0),
                                           plx_scan_nearest(j->frame, x0, BEARING_COLUMNS), outline_nearest(j, x0)};
        const float tolerance = fmaxf(0.5F, 0.1F * truth);
        for (int c = 0; c < PLX_CLAIMS; c++) {
            counts->claim[c].bearings++;
            counts->claim[c].correct += fabsf(claimed[c] - truth) <= tolerance;
            counts->claim[c].missed += claimed[c] > truth + tolerance;
            counts->claim[c].phantom += claimed[c] < truth - tolerance && clear_at(j, x0, claimed[c]);
        }
    }
}

/* The number of connected obstacle pixels around pixel FIRST, whose classes become UNKNOWN in CLASS. *ret_seen: the number of
 * those that a fitting label covers. */
static int flood(const struct judge *j, uint8_t *class, int first, int *ret_seen)
{
    const int width = j->truth->width, height = j->truth->height;
    int count = 0, pixels = 0, seen = 0;
    j->pending[count++] = first;
    class[first] = PLX_LIDAR_UNKNOWN;
    while (count > 0) {
        const int i = j->pending[--count], x = i % width, y = i / width;
        const float depth = j->truth->point[i].depth_m;
        pixels++;
        seen += label_fits(j, x, y, disparity_at(j, (double)depth));
        /* LiDAR leaves rows out: a neighbour is up to 6 rows and 2 columns away. */
        for (int v = y > 6 ? y - 6 : 0; v <= y + 6 && v < height; v++)
            for (int u = x > 2 ? x - 2 : 0; u <= x + 2 && u < width; u++)
                if (class[v * width + u] == PLX_LIDAR_OBSTACLE &&
                    fabsf(j->truth->point[v * width + u].depth_m - depth) <= BEARING_DEPTH_M) {
                    class[v * width + u] = PLX_LIDAR_UNKNOWN;
                    j->pending[count++] = v * width + u;
                }
    }
    *ret_seen = seen;
    return pixels;
}

static void count_things(const struct judge *j, uint8_t *class, struct plx_obstacle_counts *counts)
{
    const int pixels = j->truth->width * j->truth->height;
    for (int i = 0; i < pixels; i++)
        class[i] = j->truth->point[i].class;
    for (int i = 0; i < pixels; i++) {
        int seen;
        if (class[i] != PLX_LIDAR_OBSTACLE)
            continue;
        const int size = flood(j, class, i, &seen);
        counts->things += size >= THING_PIXELS;
        counts->found += size >= THING_PIXELS && seen >= THING_FOUND * size;
    }
}

/* The number of clusters of MIN_SAMPLES samples in SAMPLE, sorted by depth; clusters are more than CLUSTER_GAP_M apart. */
static int clusters(const struct sample *sample, int count, int min_samples)
{
    int found = 0;
    for (int begin = 0, i = 1; i <= count; i++)
        if (i == count || sample[i].depth - sample[i - 1].depth > CLUSTER_GAP_M) {
            found += i - begin >= min_samples;
            begin = i;
        }
    return found;
}

/* Keeps the samples that fit, in their order; returns how many. */
static int keep_fitting(struct sample *sample, int count)
{
    int kept = 0;
    for (int i = 0; i < count; i++)
        if (sample[i].fits)
            sample[kept++] = sample[i];
    return kept;
}

static void count_records(const struct judge *j, struct sample *sample, struct plx_obstacle_counts *counts)
{
    for (uint32_t i = 0; i < j->frame->obstacle_count; i++) {
        const struct plx_obstacle *o = &j->frame->obstacle[i];
        int count = 0;
        for (int y = o->y; o->label != 0 && y < o->y + o->height; y++)
            for (int x = o->x; x < o->x + o->width; x++) {
                const struct plx_lidar_point *p = &j->truth->point[y * j->truth->width + x];
                if (p->class == PLX_LIDAR_OBSTACLE && labelled(j, x, y) == o)
                    sample[count++] =
                        (struct sample){p->depth_m, p->height_m, label_fits(j, x, y, disparity_at(j, (double)p->depth_m))};
            }
        qsort(sample, (size_t)count, sizeof *sample, by_depth);
        const int parts = clusters(sample, count, CLUSTER_PIXELS), large = (int)ceil(CLUSTER_SHARE * count);
        counts->records += parts > 0;
        counts->joined += parts > 1;
        counts->joined_large += clusters(sample, count, large > CLUSTER_PIXELS ? large : CLUSTER_PIXELS) > 1;
        counts->joined_fitting += clusters(sample, keep_fitting(sample, count), CLUSTER_PIXELS) > 1;
    }
}

static struct plx_ground_error ground_error(const struct plx_ground_info *ground, const struct plx_lidar_truth *road)
{
    if (!ground->valid)
        return (struct plx_ground_error){NAN, NAN, NAN};
    const double normal_length = sqrt(1 + road->slope_x * road->slope_x + road->slope_z * road->slope_z);
    /* At x = 0: normal . (0, y, z) = camera height. */
    const double y10 = ((double)ground->camera_height_m - (double)ground->normal[2] * 10) / (double)ground->normal[1];
    return (struct plx_ground_error){fabs((double)ground->camera_height_m - road->intercept / normal_length),
                                     fabs(atan2((double)ground->normal[2], (double)ground->normal[1]) + atan(road->slope_z)),
                                     fabs(y10 - (road->slope_z * 10 + road->intercept))};
}

static bool has_plane(const struct plx_frame *frame, enum plx_plane_id id, const struct plx_lidar_truth *truth)
{
    return frame->plane[id].width == (uint32_t)truth->width && frame->plane[id].height == (uint32_t)truth->height;
}

int plx_obstacle_measures_add(const struct plx_frame *frame, const struct plx_lidar_truth *truth,
                              struct plx_obstacle_counts *counts, struct plx_ground_error *ret_ground)
{
    if (!has_plane(frame, PLX_PLANE_LABELS, truth) || !has_plane(frame, PLX_PLANE_DENSE, truth) ||
        frame->width != (uint32_t)truth->width || !plx_has_columns(frame))
        return PLX_ERR_ARG;
    struct judge j = {.frame = frame, .truth = truth};
    const size_t pixels = (size_t)truth->width * (size_t)truth->height;
    struct sample *sample = malloc(pixels * sizeof *sample);
    uint8_t *class = malloc(pixels);
    j.pending = malloc(pixels * sizeof *j.pending);
    int result = sample && class && j.pending ? 0 : PLX_ERR_NOMEM;
    counts->frames++;
    if (result == 0 && truth->scored) {
        for (uint32_t i = 0; i < frame->obstacle_count; i++)
            if (frame->obstacle[i].label <= PLX_MAX_OBSTACLES)
                j.by_label[frame->obstacle[i].label] = &frame->obstacle[i];
        j.by_label[0] = NULL;
        counts->scored++;
        counts->ground_found += frame->ground.valid != 0;
        count_pixels(&j, counts);
        count_bearings(&j, sample, counts);
        count_things(&j, class, counts);
        count_records(&j, sample, counts);
    }
    *ret_ground = truth->scored ? ground_error(&frame->ground, truth) : (struct plx_ground_error){NAN, NAN, NAN};
    free(sample);
    free(class);
    free(j.pending);
    return result;
}
