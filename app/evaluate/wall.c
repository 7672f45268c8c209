/* SPDX-License-Identifier: Apache-2.0 */
#include "app/evaluate/wall.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "app/evaluate/wall_plane.h"
#include "core/geometry/stereo.h"

/* Residuals are kept in bins. A disparity stands for an interval of 1/16 px: it is spread over STEP_BINS bins, so that medians
 * and quantiles do not stick to the steps. */
#define BINS_PER_PX 128
#define STEP_BINS (BINS_PER_PX / PLX_DISPARITY_ONE)
#define MAX_RESIDUAL_PX 8 /* larger ones count as this */
#define BINS (2 * MAX_RESIDUAL_PX * BINS_PER_PX + STEP_BINS)
#define ONE_SIGMA 0.6827 /* share of a normal distribution within its standard deviation */

struct pixel {
    uint32_t frames; /* that know it */
    uint64_t sum, squares;
};

/* Over all frames. */
struct tally {
    uint64_t pixels, known, judged, outliers;
    uint64_t stated, covered; /* judged pixels with a standard deviation; whose residual is within it */
    int64_t edge[BINS + 1];   /* residuals begin less residuals end: their running sum is the histogram */
};

struct plx_wall {
    int width, height, frames, fitted; /* fitted: frames with a plane */
    struct plx_box region;
    struct plx_calibration_info calibration;
    int min_disparity;
    double distance_m;
    struct plx_wall_plane mean; /* sum over the fitted frames, of both halves */
    struct tally tally[PLX_WALL_PARTS];
    struct wall_realsense_sums realsense;
    struct wall_fit fit;  /* scratch */
    struct pixel pixel[]; /* [region.height][region.width] */
};

struct plx_box plx_wall_default_region(const struct plx_image *disparity, const struct plx_calibration_info *calibration,
                                       int min_disparity)
{
    static uint32_t count[PLX_DISPARITY_INVALID + 1];
    uint32_t known = 0, above = 0;
    int value = PLX_DISPARITY_INVALID, hidden = 0;

    memset(count, 0, sizeof count);
    for (int y = 0; y < disparity->height; y++) {
        const uint16_t *row = plx_row(disparity, y);
        for (int x = 0; x < disparity->width; x++) {
            count[row[x]]++;
            known += row[x] != PLX_DISPARITY_INVALID;
        }
    }
    while (value > 0 && above <= known / 20) /* a twentieth may be wrong */
        above += count[--value];
    if (known > 0)
        hidden = (int)ceil(plx_disparity_of_plane(calibration, min_disparity, value) + plx_disparity_shift(calibration)) + 1;
    if (hidden < 0 || hidden > disparity->width / 2)
        hidden = 0;
    return (struct plx_box){.x = hidden, .width = disparity->width - hidden, .height = disparity->height};
}

int plx_wall_create(int width, int height, const struct plx_box *region, const struct plx_calibration_info *calibration,
                    int min_disparity, double distance_m, struct plx_wall **ret_wall)
{
    if (region->x < 0 || region->y < 0 || region->width < 1 || region->height < 1 || region->width > width - region->x ||
        region->height > height - region->y)
        return PLX_ERR_RANGE;
    const size_t pixels = (size_t)region->width * (size_t)region->height;
    struct plx_wall *wall = calloc(1, sizeof *wall + pixels * sizeof wall->pixel[0]);
    if (!wall)
        return PLX_ERR_NOMEM;
    wall->width = width;
    wall->height = height;
    wall->region = *region;
    wall->calibration = *calibration;
    wall->min_disparity = min_disparity;
    wall->distance_m = distance_m;
    *ret_wall = wall;
    return 0;
}

void plx_wall_destroy(struct plx_wall *wall)
{
    free(wall);
}

/* --- a frame ------------------------------------------------------------------------------------------------------ */

static void add_residual(struct tally *tally, double residual)
{
    const double limit = MAX_RESIDUAL_PX - 0.5 / BINS_PER_PX;
    const double kept = fmin(fmax(residual, -limit), limit);
    const long begin = lround((kept + MAX_RESIDUAL_PX) * BINS_PER_PX);

    tally->judged++;
    tally->outliers += fabs(residual) > PLX_WALL_OUTLIER_PX;
    tally->edge[begin]++;
    tally->edge[begin + STEP_BINS]--;
}

/* The part, 1 to 9, of pixel X, Y of the region. */
static int part_of(const struct plx_box *region, int x, int y)
{
    return 1 + 3 * (3 * y / region->height) + 3 * x / region->width;
}

static void add_coverage(struct tally *tally, double residual, double sigma_px)
{
    tally->stated += sigma_px > 0;
    tally->covered += sigma_px > 0 && fabs(residual) <= sigma_px;
}

/* One row of a frame. */
struct row {
    const uint16_t *disparity;
    const uint8_t *confidence; /* NULL: not known */
    const struct plx_error_info *errors;
};

/* PLANE: by the half that fitted it; NULL: there is none. */
static void add_row(struct plx_wall *wall, int y, const struct row *frame, const struct plx_wall_plane *plane)
{
    const uint16_t *row = frame->disparity;
    const struct plx_box *region = &wall->region;
    struct pixel *pixel = &wall->pixel[(size_t)y * (size_t)region->width];

    for (int x = 0; x < region->width; x++) {
        struct tally *const tally[2] = {&wall->tally[0], &wall->tally[part_of(region, x, y)]};
        const bool known = row[x] != PLX_DISPARITY_INVALID;
        if (known) {
            pixel[x].frames++;
            pixel[x].sum += row[x];
            pixel[x].squares += (uint64_t)row[x] * row[x];
        }
        for (int i = 0; i < 2; i++) {
            tally[i]->pixels++;
            tally[i]->known += known;
            if (known && plane) {
                const struct plx_wall_plane *other = &plane[!wall_half(region, x, y)];
                const double residual = (double)row[x] / PLX_DISPARITY_ONE - wall_plane_at(other, x, y);
                add_residual(tally[i], residual);
                if (frame->confidence)
                    add_coverage(tally[i], residual, (double)frame->errors->sigma_px[frame->confidence[x]]);
            }
        }
    }
}

int plx_wall_add(struct plx_wall *wall, const struct plx_image *disparity, const struct plx_image *confidence,
                 const struct plx_error_info *errors)
{
    const struct plx_box *region = &wall->region;
    struct plx_wall_plane plane[2];

    if (!plx_image_ok(disparity, PLX_U16) || disparity->width != wall->width || disparity->height != wall->height ||
        (confidence && (!plx_image_ok(confidence, PLX_U8) || !plx_same_size(confidence, disparity))))
        return PLX_ERR_ARG;
    const struct plx_image inside = {(uint16_t *)plx_row(disparity, region->y) + region->x, region->width, region->height,
                                     disparity->pitch, PLX_U16};
    const bool fits = wall_fit_half(&wall->fit, &inside, 0, &plane[0]) && wall_fit_half(&wall->fit, &inside, 1, &plane[1]);
    for (int y = 0; y < region->height; y++) {
        const uint8_t *sure = confidence ? (const uint8_t *)plx_row(confidence, region->y + y) + region->x : NULL;
        add_row(wall, y, &(struct row){plx_row(&inside, y), sure, errors}, fits ? plane : NULL);
    }
    wall->frames++;
    wall_realsense_add(&wall->realsense, &inside, region, &wall->calibration, wall->min_disparity, wall->distance_m);
    if (!fits)
        return 0;
    wall->fitted++;
    wall->mean.a += 0.5 * (plane[0].a + plane[1].a);
    wall->mean.b += 0.5 * (plane[0].b + plane[1].b);
    wall->mean.c += 0.5 * (plane[0].c + plane[1].c);
    return 0;
}

/* --- the report ---------------------------------------------------------------------------------------------------- */

/* The value, px, below which WANTED of the residuals lie, in bins of a histogram. */
static double quantile(const uint64_t histogram[BINS], double wanted)
{
    double below = 0;
    int i = 0;

    for (; i < BINS - 1 && below + (double)histogram[i] < wanted; i++)
        below += (double)histogram[i];
    const double inside = histogram[i] > 0 ? (wanted - below) / (double)histogram[i] : 0.5;
    return (i + inside - STEP_BINS * 0.5) / BINS_PER_PX - MAX_RESIDUAL_PX;
}

/* The distance, px, from MIDDLE within which WANTED of the residuals lie. */
static double half_width(const uint64_t histogram[BINS], double middle, double wanted)
{
    const double at = (middle + MAX_RESIDUAL_PX) * BINS_PER_PX + STEP_BINS * 0.5;
    double inside = 0;

    for (int reach = 0; reach < BINS; reach++) { /* bins whose middle is at most so far, each side's share by bin */
        double ring = 0;
        for (int side = -1; side <= 1; side += 2) {
            const int i = (int)floor(at) + (side < 0 ? -1 - reach : reach);
            if (i >= 0 && i < BINS)
                ring += (double)histogram[i];
        }
        if (ring > 0 && inside + ring >= wanted)
            return (reach + (wanted - inside) / ring) / BINS_PER_PX;
        inside += ring;
    }
    return NAN;
}

static void report_residuals(const struct tally *tally, struct plx_wall_part *part)
{
    const double step = 1.0 / PLX_DISPARITY_ONE, wanted = ONE_SIGMA * STEP_BINS * (double)tally->pixels;
    uint64_t histogram[BINS];
    int64_t height = 0;

    part->outliers = part->offset_px = part->noise_px = NAN;
    if (tally->judged == 0)
        return;
    for (int i = 0; i < BINS; i++) {
        height += tally->edge[i];
        histogram[i] = (uint64_t)height;
    }
    part->outliers = (double)tally->outliers / (double)tally->judged;
    part->offset_px = quantile(histogram, 0.5 * STEP_BINS * (double)tally->judged);
    if (wanted > STEP_BINS * (double)tally->judged)
        return;
    /* Rounding to a step widens residuals, and so does spreading them again: by the variance of an even distribution each. */
    const double width = half_width(histogram, part->offset_px, wanted);
    part->noise_px = sqrt(fmax(0.0, width * width - step * step / 6));
}

/* Standard deviation, px, of a pixel over the frames that know it, which are two or more. */
static double deviation(const struct pixel *pixel)
{
    const double n = pixel->frames, sum = (double)pixel->sum;
    const double variance = ((double)pixel->squares - sum * sum / n) / (n - 1);
    return sqrt(fmax(0.0, variance)) / PLX_DISPARITY_ONE;
}

/* The expected standard deviation of N normal numbers is this share of the true one, within 1 %. */
static double small_sample(int n)
{
    return 1 - 1 / (4.0 * n - 3.25);
}

static void report_time(const struct plx_wall *wall, struct plx_wall_report *report)
{
    double pixels[PLX_WALL_PARTS] = {0}, sometimes[PLX_WALL_PARTS] = {0}, never[PLX_WALL_PARTS] = {0};
    double sum[PLX_WALL_PARTS] = {0}, always[PLX_WALL_PARTS] = {0};
    const struct pixel *pixel = wall->pixel;

    for (int y = 0; y < wall->region.height; y++)
        for (int x = 0; x < wall->region.width; x++, pixel++)
            for (int i = 0, p = 0; i < 2; i++, p = part_of(&wall->region, x, y)) {
                const bool is_always = pixel->frames == (uint32_t)wall->frames;
                pixels[p]++;
                never[p] += pixel->frames == 0;
                sometimes[p] += pixel->frames > 0 && !is_always;
                always[p] += is_always;
                sum[p] += is_always && wall->frames > 1 ? deviation(pixel) : 0;
            }
    for (int p = 0; p < PLX_WALL_PARTS; p++) {
        struct plx_wall_part *part = &report->part[p];
        const bool is_known = wall->frames > 1 && always[p] > 0;
        part->temporal_px = is_known ? sum[p] / always[p] / small_sample(wall->frames) : (double)NAN;
        part->sometimes = wall->frames > 0 && pixels[p] > 0 ? sometimes[p] / pixels[p] : (double)NAN;
        part->never = wall->frames > 0 && pixels[p] > 0 ? never[p] / pixels[p] : (double)NAN;
    }
}

/* The mean plane of all frames; pixels of the region. */
static struct plx_wall_plane mean_plane(const struct plx_wall *wall)
{
    const double n = wall->fitted;
    return (struct plx_wall_plane){wall->mean.a / n, wall->mean.b / n, wall->mean.c / n};
}

/* 1 = (a fx X + b fy Y + c Z) / (fx baseline) for the points of a plane with disparity c above infinity at the principal point:
 * that is its normal. */
static void report_plane(const struct plx_wall *wall, struct plx_wall_report *report)
{
    const struct plx_calibration_info *calibration = &wall->calibration;
    const struct plx_wall_plane plane = mean_plane(wall);
    const struct plx_box *region = &wall->region;
    const double value = PLX_DISPARITY_ONE * wall_plane_at(&plane, calibration->cx - region->x, calibration->cy - region->y);
    const double across = hypot(plane.a * calibration->fx, plane.b * calibration->fy);
    const double d = plx_disparity_of_plane(calibration, wall->min_disparity, value);

    report->disparity_px = d;
    report->distance_m = d > 0 ? plx_focal_baseline(calibration) / hypot(across, d) : (double)INFINITY;
    report->angle_deg = atan2(across, d) * 180 / M_PI;
    report->span_px = fabs(plane.a) * (region->width - 1) + fabs(plane.b) * (region->height - 1);
    if (!(wall->distance_m > 0) || !(d > 0))
        return;
    report->expected_px = plx_disparity_of_depth(calibration, wall->distance_m) * d / hypot(across, d);
    report->bias_px = d - report->expected_px;
    report->bias_percent = 100 * (report->expected_px / d - 1);
    report->tape_px = report->expected_px * PLX_WALL_TAPE_M / wall->distance_m;
}

void plx_wall_report(const struct plx_wall *wall, struct plx_wall_report *ret_report)
{
    struct plx_wall_report report = {.frames = wall->frames, .region = wall->region};

    report.disparity_px = report.distance_m = report.angle_deg = report.span_px = NAN;
    report.expected_px = report.bias_px = report.bias_percent = report.tape_px = NAN;
    if (wall->fitted > 0)
        report_plane(wall, &report);
    for (int p = 0; p < PLX_WALL_PARTS; p++) {
        const struct tally *tally = &wall->tally[p];
        report_residuals(tally, &report.part[p]);
        report.part[p].fill = tally->pixels > 0 ? (double)tally->known / (double)tally->pixels : (double)NAN;
        report.part[p].covered = tally->stated > 0 ? (double)tally->covered / (double)tally->stated : (double)NAN;
    }
    report_time(wall, &report);

    double relative = 0, pixels = 0;
    for (int i = 0; i < wall->region.width * wall->region.height; i++) {
        const struct pixel *pixel = &wall->pixel[i];
        const double mean = pixel->frames > 1 ? (double)pixel->sum / pixel->frames : 0;
        const double d = plx_disparity_of_plane(&wall->calibration, wall->min_disparity, mean);
        if (pixel->frames > 1 && d > 0) {
            relative += deviation(pixel) / d;
            pixels++;
        }
    }
    wall_realsense_report(&wall->realsense, &report.realsense);
    report.realsense.temporal_percent = pixels > 0 ? 100 * relative / pixels : (double)NAN;
    *ret_report = report;
}

double plx_wall_residual(const struct plx_wall *wall, int x, int y)
{
    const struct plx_box *region = &wall->region;
    const int column = x - region->x, row = y - region->y;

    if (column < 0 || row < 0 || column >= region->width || row >= region->height || wall->fitted == 0)
        return NAN;
    const struct pixel *pixel = &wall->pixel[(size_t)row * (size_t)region->width + (size_t)column];
    const struct plx_wall_plane plane = mean_plane(wall);
    if (pixel->frames == 0)
        return NAN;
    return (double)pixel->sum / pixel->frames / PLX_DISPARITY_ONE - wall_plane_at(&plane, column, row);
}

/* --- the verdict --------------------------------------------------------------------------------------------------- */

bool plx_wall_split(int count, const double *measured_px, const double *expected_px, double *ret_offset_px, double *ret_scale)
{
    double mean_x = 0, mean_y = 0, xx = 0, xy = 0;

    for (int i = 0; i < count; i++) {
        mean_x += expected_px[i] / count;
        mean_y += (measured_px[i] - expected_px[i]) / count;
    }
    for (int i = 0; i < count; i++) {
        const double x = expected_px[i] - mean_x;
        xx += x * x;
        xy += x * (measured_px[i] - expected_px[i] - mean_y);
    }
    if (count < 2 || !(xx > 1)) /* the disparities differ by a pixel or so */
        return false;
    *ret_scale = xy / xx;
    *ret_offset_px = mean_y - *ret_scale * mean_x;
    return true;
}

/* NAN is no fault. */
static bool has_bias(const struct plx_wall_report *report)
{
    if (fabs(report->bias_px) > fmax(PLX_WALL_MAX_BIAS_PX, report->tape_px))
        return true;
    for (int p = 1; p < PLX_WALL_PARTS; p++)
        if (fabs(report->part[p].offset_px) > PLX_WALL_MAX_OFFSET_PX)
            return true;
    return false;
}

struct plx_wall_light plx_wall_light(const struct plx_image *left, const struct plx_box *region)
{
    const double pixels = (double)region->width * region->height, pairs = fmax(1, region->width - 2) * region->height;
    double grey = 0, difference = 0;

    for (int y = region->y; y < region->y + region->height; y++) {
        const uint8_t *row = (const uint8_t *)plx_row(left, y) + region->x;
        for (int x = 0; x < region->width; x++) {
            grey += row[x];
            difference += x >= 2 ? abs(row[x] - row[x - 2]) : 0;
        }
    }
    return (struct plx_wall_light){grey / pixels, difference / pairs};
}

unsigned plx_wall_missing(const struct plx_wall_report *report, double rows_px)
{
    unsigned missing = (isnan(report->bias_px) ? PLX_WALL_NO_BIAS : 0U) | (isnan(rows_px) ? PLX_WALL_NO_ROWS : 0U);
    for (int p = 1; p < PLX_WALL_PARTS; p++)
        missing |= isnan(report->part[p].offset_px) ? PLX_WALL_NO_OFFSET : 0U;
    return missing;
}

enum plx_wall_verdict plx_wall_judge(const struct plx_wall_report *report, const struct plx_wall_light *light, double rows_px)
{
    const struct plx_wall_part *whole = &report->part[0];

    if (light->grey < PLX_WALL_MIN_GREY)
        return PLX_WALL_DARK;
    if (light->contrast < PLX_WALL_MIN_CONTRAST)
        return PLX_WALL_TEXTURE;
    if (fabs(rows_px) > PLX_WALL_MAX_ROWS_PX)
        return PLX_WALL_CALIBRATE;
    if (!(whole->fill >= PLX_WALL_MIN_FILL) || isnan(whole->noise_px) || !isfinite(report->distance_m))
        return PLX_WALL_TEXTURE;
    if (whole->outliers > PLX_WALL_MAX_OUTLIERS)
        return PLX_WALL_NOT_FLAT;
    if (has_bias(report))
        return PLX_WALL_CALIBRATE;
    return plx_wall_missing(report, rows_px) ? PLX_WALL_UNPROVEN : PLX_WALL_GOOD;
}

const char *plx_wall_verdict_words(enum plx_wall_verdict verdict)
{
    static const char *const words[] = {
        [PLX_WALL_GOOD] = "good",     [PLX_WALL_UNPROVEN] = "unproven",          [PLX_WALL_CALIBRATE] = "calibrate again",
        [PLX_WALL_DARK] = "too dark", [PLX_WALL_TEXTURE] = "too little texture", [PLX_WALL_NOT_FLAT] = "not flat",
    };
    return words[verdict];
}
