/* SPDX-License-Identifier: Apache-2.0 */
#include "app/evaluate/sureness.h"

#include <math.h>
#include <stddef.h>

#include <parallax/error.h>

#include "core/pipeline/pipeline.h"

#define RIGHT_PX 1.0

struct row {
    const uint16_t *truth, *dense, *strict;
    const uint8_t *confidence, *mask; /* MASK may be NULL */
    double truth_scale;
    int width, min_disparity;
};

static double error_of(const struct row *row, uint16_t value, int x)
{
    return fabs(value / (double)PLX_DISPARITY_ONE + row->min_disparity - row->truth[x] / row->truth_scale);
}

static void add_row(const struct row *row, const struct plx_error_info *errors, struct plx_sureness *sum)
{
    for (int x = 0; x < row->width; x++) {
        const int p = row->confidence[x];
        if (row->truth[x] == 0 || (row->mask && row->mask[x] != 255))
            continue;
        sum->pixels[p]++;
        sum->right[p] += row->dense[x] != PLX_DISPARITY_INVALID && error_of(row, row->dense[x], x) <= RIGHT_PX;
        if (row->strict[x] == PLX_DISPARITY_INVALID || !(errors->sigma_px[p] > 0))
            continue;
        const double error = error_of(row, row->strict[x], x);
        sum->strict++;
        sum->in_sigma += error <= (double)errors->sigma_px[p];
        sum->in_bound += error <= (double)errors->bound_px[p];
    }
}

int plx_sureness_add(struct plx_frame *frame, const struct plx_image *truth, double truth_scale, const struct plx_image *mask,
                     struct plx_sureness *sum)
{
    const struct plx_image dense = plx_pipeline_plane(frame, PLX_PLANE_DENSE);
    const struct plx_image strict = plx_pipeline_plane(frame, PLX_PLANE_DISPARITY);
    const struct plx_image confidence = plx_pipeline_plane(frame, PLX_PLANE_CONFIDENCE);

    if (!dense.data || !confidence.data || !plx_image_ok(truth, PLX_U16) || !plx_same_size(truth, &dense) ||
        !(truth_scale > 0) || (mask && (!plx_image_ok(mask, PLX_U8) || !plx_same_size(mask, truth))))
        return PLX_ERR_ARG;
    for (int y = 0; y < truth->height; y++) {
        const struct row row = {.truth = plx_row(truth, y),
                                .dense = plx_row(&dense, y),
                                .strict = plx_row(&strict, y),
                                .confidence = plx_row(&confidence, y),
                                .mask = mask ? plx_row(mask, y) : NULL,
                                .truth_scale = truth_scale,
                                .width = truth->width,
                                .min_disparity = frame->min_disparity};
        add_row(&row, &frame->errors, sum);
    }
    return 0;
}

void plx_sureness_join(const struct plx_sureness *other, struct plx_sureness *sum)
{
    for (int p = 0; p < PLX_CONFIDENCES; p++) {
        sum->pixels[p] += other->pixels[p];
        sum->right[p] += other->right[p];
    }
    sum->strict += other->strict;
    sum->in_sigma += other->in_sigma;
    sum->in_bound += other->in_bound;
}

static double share(double part, double whole)
{
    return whole > 0 ? part / whole : (double)NAN;
}

const double plx_sureness_left_out[PLX_SURENESS_CURVE] = {0, 0.05, 0.1, 0.2, 0.3, 0.5};

/* Pixels of one confidence are left out evenly, for nothing says which of them is the less sure. */
static void set_curve(const struct plx_sureness *sum, double all, double wrong, struct plx_sureness_figures *ret)
{
    for (int i = 0; i < PLX_SURENESS_CURVE; i++) {
        double out = plx_sureness_left_out[i] * all, bad = wrong;
        const double kept = all - out;
        for (int p = 1; p < PLX_CONFIDENCES && out > 0; p++) {
            const double pixels = (double)sum->pixels[p], part = fmin(out, pixels);
            bad -= pixels > 0 ? (pixels - (double)sum->right[p]) * part / pixels : 0;
            out -= part;
        }
        ret->wrong[i] = bad / kept;
    }
}

/* By trapezoids between the values of the confidence. */
static void set_areas(const struct plx_sureness *sum, double all, double wrong, struct plx_sureness_figures *ret)
{
    const double rate = wrong / all;
    double kept = all, bad = wrong, area = 0;

    for (int p = 1; p < PLX_CONFIDENCES; p++) {
        const double pixels = (double)sum->pixels[p], after = kept - pixels;
        const double bad_after = bad - (pixels - (double)sum->right[p]);
        if (pixels > 0)
            area += (bad / kept + (after > 0 ? bad_after / after : bad / kept)) / 2 * pixels / all;
        kept = after;
        bad = bad_after;
    }
    ret->area = area;
    ret->least_area = rate < 1 ? rate + (1 - rate) * log(1 - rate) : 1; /* integral (rate - x) / (1 - x) from 0 to RATE */
}

void plx_sureness_figures(const struct plx_sureness *sum, struct plx_sureness_figures *ret_figures)
{
    struct plx_sureness_figures figures = {.area = (double)NAN, .least_area = (double)NAN};
    double said[PLX_SURENESS_CLASSES] = {0}, pixels[PLX_SURENESS_CLASSES] = {0}, right[PLX_SURENESS_CLASSES] = {0};
    double all = 0, wrong = 0;

    for (int p = 1; p < PLX_CONFIDENCES; p++) {
        const int k = p * PLX_SURENESS_CLASSES / PLX_CONFIDENCES;
        said[k] += (double)sum->pixels[p] * p / (PLX_CONFIDENCES - 1);
        pixels[k] += (double)sum->pixels[p];
        right[k] += (double)sum->right[p];
        all += (double)sum->pixels[p];
        wrong += (double)(sum->pixels[p] - sum->right[p]);
    }
    for (int k = 0; k < PLX_SURENESS_CLASSES; k++) {
        figures.class[k].said = share(said[k], pixels[k]);
        figures.class[k].right = share(right[k], pixels[k]);
        figures.class[k].share = share(pixels[k], all);
    }
    figures.unknown = share((double)sum->pixels[0], all + (double)sum->pixels[0]);
    figures.sigma = share((double)sum->in_sigma, (double)sum->strict);
    figures.bound = share((double)sum->in_bound, (double)sum->strict);
    for (int i = 0; i < PLX_SURENESS_CURVE; i++)
        figures.wrong[i] = (double)NAN;
    if (all > 0) {
        set_curve(sum, all, wrong, &figures);
        set_areas(sum, all, wrong, &figures);
    }
    *ret_figures = figures;
}
