/* SPDX-License-Identifier: Apache-2.0 */
/* Where the things in boxes are. */
#include <parallax/client.h>

#include <math.h>
#include <string.h>

#include "client/cluster.h"
#include "client/fetch.h"
#include "core/base/median.h"

#define MIN_VALID_SHARE 0.05F /* least share of the samples that show a thing, */
#define MIN_VALID 4           /* and least number */
#define MIN_THING_SHARE 0.1F  /* if less of the weight with a disparity is no ground, there is only ground */
#define SIGMA_PX 0.3F         /* standard deviation of a disparity whose errors were not measured */

/* A thing is known if its cluster */
#define KNOWN_SHARE 0.5F       /* has so much of the weight, */
#define KNOWN_PIXEL_SHARE 0.6F /* so many of the pixels, */
#define KNOWN_SPREAD 0.05F     /* spreads less, in its own disparity, */
#define KNOWN_FILLED 0.35F     /* and is less of a guess */

/* Obstacle of each label; 0: none, else its index and one. */
struct by_label {
    uint16_t index[PLX_MAX_OBSTACLES + 1];
};

static void index_labels(const struct plx_view *view, struct by_label *ret)
{
    memset(ret, 0, sizeof *ret);
    for (uint32_t i = 0; i < view->obstacle_count && i < PLX_MAX_OBSTACLES; i++) {
        const uint32_t label = plx_fetch32(&view->frame->obstacle[i].label);
        if (label > 0 && label <= PLX_MAX_OBSTACLES)
            ret->index[label] = (uint16_t)(i + 1);
    }
}

static void init_location(struct plx_location *location, enum plx_location_state state)
{
    *location = (struct plx_location){.state = state, .obstacle = -1, .distance_m = NAN, .sigma_m = NAN};
    for (int i = 0; i < 3; i++)
        location->position_m[i] = location->base_m[i] = location->velocity_mps[i] = NAN;
    location->size_m[0] = location->size_m[1] = NAN;
}

/* The obstacle that most samples of CLUSTER belong to, if these are a third; -1. */
static int find_obstacle(const struct plx_sampler *sampler, const struct by_label *by_label, const struct plx_samples *samples,
                         const struct plx_cluster *cluster)
{
    uint16_t votes[PLX_MAX_OBSTACLES + 1] = {0};
    const struct plx_view *view = sampler->view;
    int best = 0;
    if (!sampler->has_labels)
        return -1;
    for (int i = 0; i < samples->count; i++) {
        const struct plx_sample *s = &samples->sample[i];
        if (!(s->disparity_px >= cluster->low && s->disparity_px < cluster->high))
            continue;
        const unsigned char *row = (const unsigned char *)view->plane[PLX_PLANE_LABELS] +
                                   (uint64_t)samples->y[s->row] * view->layout[PLX_PLANE_LABELS].pitch;
        const uint16_t label = plx_fetch16(row + (uint64_t)samples->x[s->column] * sizeof label);
        const int index = label <= PLX_MAX_OBSTACLES ? by_label->index[label] : 0;
        if (index > 0 && ++votes[index] > votes[best])
            best = index;
    }
    return best > 0 && 3 * votes[best] >= cluster->count ? best - 1 : -1;
}

static void set_obstacle(const struct plx_view *view, int index, struct plx_location *location)
{
    const struct plx_obstacle *obstacle = &view->frame->obstacle[index];
    location->obstacle = index;
    location->track = plx_fetch32(&obstacle->track);
    for (int i = 0; i < 3; i++) {
        const bool is_known = plx_fetch_float(&obstacle->world_velocity_variance[i]) > 0;
        location->velocity_mps[i] = is_known ? plx_fetch_float(&obstacle->world_velocity_mps[i]) : NAN;
    }
}

/* Position in the robot's base: all of the pose is 0 where neither mount nor ground are known. */
static void set_base(const struct plx_view *view, struct plx_location *location)
{
    const struct plx_pose *pose = &view->frame->mount.base_from_left;
    double r[9], any = 0;
    for (int i = 0; i < 9; i++) {
        r[i] = plx_fetch_double(&pose->rotation[i]);
        any += r[i] * r[i];
    }
    for (int i = 0; i < 3 && any > 0; i++) {
        double sum = plx_fetch_double(&pose->translation[i]);
        for (int k = 0; k < 3; k++)
            sum += r[3 * i + k] * (double)location->position_m[k];
        location->base_m[i] = (float)sum;
    }
}

/* Standard deviation of a disparity of CLUSTER: by the median confidence of its samples. */
static double disparity_sigma(const struct plx_sampler *sampler, const struct plx_samples *samples,
                              const struct plx_cluster *cluster)
{
    int count[PLX_CONFIDENCES] = {0}, all = 0;
    for (int i = 0; i < samples->count; i++) {
        const struct plx_sample *s = &samples->sample[i];
        const bool is_of_it = s->disparity_px >= cluster->low && s->disparity_px < cluster->high;
        count[s->confidence] += is_of_it;
        all += is_of_it;
    }
    const float sigma = sampler->sigma_px[plx_counted_median(count, all)];
    return (double)(sigma > 0 ? sigma : SIGMA_PX);
}

/* False if the numbers of the calibration make no sense, as in a damaged memory. */
static bool set_metres(const struct plx_sampler *sampler, const struct plx_samples *samples, const struct plx_cluster *cluster,
                       struct plx_location *location)
{
    const struct plx_calibration_info *c = &sampler->calibration;
    const double z = c->fx * c->baseline_m / (double)cluster->median;
    /* the spread of a surface holds the errors of its pixels that are not alike */
    const double pixel_px = disparity_sigma(sampler, samples, cluster), spread_px = (double)cluster->spread;
    const double sigma_px = pixel_px > spread_px ? pixel_px : spread_px;
    const double side = 3.4641; /* of a rectangle, in standard deviations of its points: the root of 12 */
    location->distance_m = (float)z;
    location->sigma_m = (float)(z * sigma_px / (double)cluster->median);
    location->position_m[0] = (float)(((double)cluster->x - c->cx) / c->fx * z);
    location->position_m[1] = (float)(((double)cluster->y - c->cy) / c->fy * z);
    location->position_m[2] = (float)z;
    location->size_m[0] = (float)(side * (double)cluster->deviation_x / c->fx * z);
    location->size_m[1] = (float)(side * (double)cluster->deviation_y / c->fy * z);
    const float sum =
        location->sigma_m + location->position_m[0] + location->position_m[1] + location->size_m[0] + location->size_m[1];
    return location->distance_m > 0 && isfinite(location->distance_m) && isfinite(sum);
}

/* Why nothing can be known of SAMPLES; KNOWN: there is something to look for. */
static enum plx_location_state judge_samples(const struct plx_samples *s)
{
    const int valid = s->count;
    if (s->valid_weight == 0)
        return PLX_LOCATION_NO_DISPARITY;
    if ((float)s->weight < MIN_THING_SHARE * (float)s->valid_weight)
        return PLX_LOCATION_ONLY_GROUND;
    if (2 * s->far_weight > s->weight)
        return PLX_LOCATION_BEYOND_REACH;
    return valid < MIN_VALID || (float)valid < MIN_VALID_SHARE * (float)s->asked ? PLX_LOCATION_NO_DISPARITY
                                                                                 : PLX_LOCATION_KNOWN;
}

static bool is_clear(const struct plx_samples *samples, const struct plx_cluster *cluster)
{
    return cluster->share >= KNOWN_SHARE && (float)cluster->count >= KNOWN_PIXEL_SHARE * (float)samples->count &&
           cluster->spread <= KNOWN_SPREAD * cluster->median && cluster->filled <= KNOWN_FILLED;
}

static void locate(const struct plx_sampler *sampler, const struct by_label *by_label, const struct plx_box *box,
                   struct plx_location *location)
{
    struct plx_samples samples;
    struct plx_cluster cluster;
    if (!plx_samples_take(sampler, box, &samples)) {
        init_location(location, PLX_LOCATION_OUTSIDE);
        return;
    }
    init_location(location, judge_samples(&samples));
    if (location->state != PLX_LOCATION_KNOWN)
        return;
    if (!plx_cluster_find(&samples, &cluster)) {
        location->state = PLX_LOCATION_NO_DISPARITY;
        return;
    }
    location->share = cluster.share;
    if (!is_clear(&samples, &cluster)) {
        location->state = PLX_LOCATION_AMBIGUOUS;
        return;
    }
    if (!set_metres(sampler, &samples, &cluster, location)) {
        init_location(location, PLX_LOCATION_RAW);
        return;
    }
    set_base(sampler->view, location);
    const int obstacle = find_obstacle(sampler, by_label, &samples, &cluster);
    if (obstacle >= 0)
        set_obstacle(sampler->view, obstacle, location);
}

/* Why no box of VIEW can be located; KNOWN: nothing stands against it. */
static enum plx_location_state judge_view(const struct plx_view *view, struct plx_sampler *ret_sampler)
{
    const uint32_t blind = plx_fetch32(&view->frame->blind);
    if (blind & PLX_BLIND_NOT_CALIBRATED || !plx_sampler_init(view, ret_sampler))
        return PLX_LOCATION_RAW;
    return blind & PLX_BLIND_NO_PICTURE ? PLX_LOCATION_BLIND : PLX_LOCATION_KNOWN;
}

int plx_locate(const struct plx_view *view, const struct plx_box *box, uint32_t count, struct plx_location *ret_location)
{
    struct plx_sampler sampler;
    struct by_label by_label;
    if (!view || !view->frame || (count > 0 && (!box || !ret_location)))
        return PLX_ERR_ARG;
    for (uint32_t i = 0; i < count; i++)
        if (box[i].mask && box[i].width > 0 && box[i].mask_pitch < (uint64_t)box[i].width)
            return PLX_ERR_ARG;
    const enum plx_location_state state = judge_view(view, &sampler);
    index_labels(view, &by_label);
    for (uint32_t i = 0; i < count; i++)
        if (state == PLX_LOCATION_KNOWN)
            locate(&sampler, &by_label, &box[i], &ret_location[i]);
        else
            init_location(&ret_location[i], state);
    return 0;
}
