/* SPDX-License-Identifier: Apache-2.0 */
#include "app/evaluate/locate_measures.h"

#include <math.h>
#include <stdlib.h>

#include <parallax/client.h>

#include "app/evaluate/evaluate.h"
#include "app/view/export.h"
#include "core/geometry/stereo.h"

#define NEAR_M 3.0F
#define FAR_M 40.0F
#define LOW_M 0.3F /* above the road */
#define HIGH_M 2.5F
#define MIN_WIDTH_M 0.3
#define MAX_WIDTH_M 3.5
#define MIN_POINTS 60
#define GAP_PX 3 /* LiDAR has a point in every other row or so */
#define GAP_M 0.3F
#define GAP_SHARE 0.02F /* share of the distance */

/* One frame, and scratch memory. */
struct judge {
    const struct plx_frame *frame;
    const struct plx_lidar_truth *truth;
    bool *seen;    /* [height][width] */
    int *member;   /* pixels of a cluster */
    float *sorted; /* distances of a cluster, disparities of a box */
};

static int ascending(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static float quantile(float *value, int count, double part)
{
    if (count == 0)
        return NAN;
    qsort(value, (size_t)count, sizeof *value, ascending);
    return value[(int)(part * (count - 1) + 0.5)];
}

static bool stands(const struct plx_lidar_point *p)
{
    return p->depth_m >= NEAR_M && p->depth_m <= FAR_M && p->height_m >= LOW_M && p->height_m <= HIGH_M;
}

static bool is_joined(const struct plx_lidar_point *a, const struct plx_lidar_point *b)
{
    return fabsf(a->depth_m - b->depth_m) <= fmaxf(GAP_M, GAP_SHARE * a->depth_m);
}

/* Collects the pixels of the cluster that holds pixel FIRST. Returns their number. */
static int flood(struct judge *j, int first)
{
    const struct plx_lidar_truth *truth = j->truth;
    int count = 1;
    j->member[0] = first;
    j->seen[first] = true;
    for (int done = 0; done < count; done++) {
        const int x = j->member[done] % truth->width, y = j->member[done] / truth->width;
        for (int v = y > GAP_PX ? y - GAP_PX : 0; v <= y + GAP_PX && v < truth->height; v++)
            for (int u = x > GAP_PX ? x - GAP_PX : 0; u <= x + GAP_PX && u < truth->width; u++) {
                const int other = v * truth->width + u;
                if (j->seen[other] || !stands(&truth->point[other]) ||
                    !is_joined(&truth->point[j->member[done]], &truth->point[other]))
                    continue;
                j->seen[other] = true;
                j->member[count++] = other;
            }
    }
    return count;
}

static struct plx_box box_of(const struct judge *j, int count)
{
    int x0 = j->truth->width, y0 = j->truth->height, x1 = -1, y1 = -1;
    for (int i = 0; i < count; i++) {
        const int x = j->member[i] % j->truth->width, y = j->member[i] / j->truth->width;
        x0 = x < x0 ? x : x0;
        x1 = x > x1 ? x : x1;
        y0 = y < y0 ? y : y0;
        y1 = y > y1 ? y : y1;
    }
    return (struct plx_box){.x = x0, .y = y0, .width = x1 - x0 + 1, .height = y1 - y0 + 1};
}

/* Disparity above infinity, px, of the dense plane at (X, Y); NAN. */
static float dense_at(const struct plx_frame *frame, int x, int y)
{
    const struct plx_plane *plane = &frame->plane[PLX_PLANE_DENSE];
    const uint16_t value =
        ((const uint16_t *)(const void *)((const uint8_t *)frame + plane->offset + (size_t)y * plane->pitch))[x];
    return value == PLX_DISPARITY_INVALID ? NAN
                                          : (float)plx_disparity_of_plane(&frame->calibration, frame->min_disparity, value);
}

static float metres(const struct plx_frame *frame, float disparity)
{
    return disparity > 0 ? (float)plx_depth_of_disparity(&frame->calibration, (double)disparity) : NAN;
}

static float median_of_box(struct judge *j, const struct plx_box *box)
{
    int count = 0;
    for (int y = box->y; y < box->y + box->height; y++)
        for (int x = box->x; x < box->x + box->width; x++) {
            j->sorted[count] = dense_at(j->frame, x, y);
            count += isfinite(j->sorted[count]);
        }
    return metres(j->frame, quantile(j->sorted, count, 0.5));
}

static int append(struct plx_locate_boxes *boxes, const struct plx_locate_box *box)
{
    if (boxes->count == boxes->capacity) {
        const int capacity = boxes->capacity > 0 ? 2 * boxes->capacity : 64;
        struct plx_locate_box *larger = realloc(boxes->box, (size_t)capacity * sizeof *larger);
        if (!larger)
            return PLX_ERR_NOMEM;
        boxes->box = larger;
        boxes->capacity = capacity;
    }
    boxes->box[boxes->count++] = *box;
    return 0;
}

/* Adds the cluster of the first COUNT members, if its size is one that counts. */
static int add_cluster(struct judge *j, const struct plx_view *view, int count, struct plx_locate_boxes *boxes)
{
    const struct plx_box box = box_of(j, count);
    struct plx_location location;
    for (int i = 0; i < count; i++)
        j->sorted[i] = j->truth->point[j->member[i]].depth_m;
    const float truth = quantile(j->sorted, count, 0.5);
    const double width_m = box.width * plx_pixel_width(&j->frame->calibration, (double)truth);
    if (count < MIN_POINTS || width_m < MIN_WIDTH_M || width_m > MAX_WIDTH_M)
        return 0;
    const int result = plx_locate(view, &box, 1, &location);
    if (result < 0)
        return result;
    const float centre = dense_at(j->frame, box.x + box.width / 2, box.y + box.height / 2);
    const struct plx_locate_box added = {
        .truth_m = truth,
        .found_m = {metres(j->frame, centre), median_of_box(j, &box), location.distance_m},
        .sigma_m = location.sigma_m,
    };
    return append(boxes, &added);
}

int plx_locate_measures_add(const struct plx_frame *frame, const struct plx_lidar_truth *truth, struct plx_locate_boxes *boxes)
{
    const struct plx_plane *dense = &frame->plane[PLX_PLANE_DENSE];
    const size_t pixels = (size_t)truth->width * (size_t)truth->height;
    const struct plx_view view = plx_export_view(frame);
    if (dense->width != (uint32_t)truth->width || dense->height != (uint32_t)truth->height)
        return PLX_ERR_ARG;
    if (!truth->scored)
        return 0;
    struct judge judge = {frame, truth, calloc(pixels, sizeof *judge.seen), malloc(pixels * sizeof *judge.member),
                          malloc((pixels + 1) * sizeof *judge.sorted)};
    int result = judge.seen && judge.member && judge.sorted ? 0 : PLX_ERR_NOMEM;
    for (int i = 0; i < (int)pixels && result == 0; i++)
        if (!judge.seen[i] && stands(&truth->point[i]))
            result = add_cluster(&judge, &view, flood(&judge, i), boxes);
    free(judge.seen);
    free(judge.member);
    free(judge.sorted);
    return result;
}

/* Relative error of WAY; NAN: unknown. */
static float error_of(const struct plx_locate_box *box, enum plx_locate_way way)
{
    return fabsf(box->found_m[way] / box->truth_m - 1);
}

static void count_way(const struct plx_locate_boxes *boxes, enum plx_locate_way way, float *scratch,
                      struct plx_locate_figures *ret)
{
    uint64_t within_5 = 0, within_10 = 0, known = 0, known_within_5 = 0;
    int errors = 0;
    for (int i = 0; i < boxes->count; i++) {
        const struct plx_locate_box *box = &boxes->box[i];
        const float error = error_of(box, way);
        const bool is_known = !isnan(box->found_m[PLX_LOCATE_LOCATE]);
        within_5 += error <= 0.05F; /* false for NAN */
        within_10 += error <= 0.1F;
        known += is_known;
        known_within_5 += is_known && error <= 0.05F;
        if (!isnan(error))
            scratch[errors++] = error;
    }
    ret->within_5[way] = plx_percent(within_5, (uint64_t)boxes->count);
    ret->within_10[way] = plx_percent(within_10, (uint64_t)boxes->count);
    ret->p95[way] = 100 * (double)quantile(scratch, errors, 0.95);
    ret->known = plx_percent(known, (uint64_t)boxes->count);
    ret->known_within_5[way] = plx_percent(known_within_5, known);
}

int plx_locate_measures_figures(const struct plx_locate_boxes *boxes, struct plx_locate_figures *ret_figures)
{
    float *scratch = malloc(((size_t)boxes->count + 1) * sizeof *scratch);
    uint64_t known = 0, covered = 0;
    if (!scratch)
        return PLX_ERR_NOMEM;
    for (int way = 0; way < PLX_LOCATE_WAYS; way++)
        count_way(boxes, (enum plx_locate_way)way, scratch, ret_figures);
    for (int i = 0; i < boxes->count; i++) {
        const struct plx_locate_box *box = &boxes->box[i];
        known += !isnan(box->found_m[PLX_LOCATE_LOCATE]);
        covered += fabsf(box->found_m[PLX_LOCATE_LOCATE] - box->truth_m) <= box->sigma_m;
    }
    ret_figures->sigma_covers = plx_percent(covered, known);
    free(scratch);
    return 0;
}
