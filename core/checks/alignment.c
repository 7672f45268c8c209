/* SPDX-License-Identifier: Apache-2.0 */
#include "core/checks/alignment.h"

#include <math.h>
#include <stdlib.h>

/* --- the map ------------------------------------------------------------------------------------------------------------ */

/*
 * Random sample consensus (Fischler, Bolles 1981) with samples that are the same each time: a plain offset from each one, a
 * plane through each of some triples. The best is refined by least squares over its inliers.
 */
#define TRIPLES 96
#define REFINEMENTS 4
#define TOLERANCE 0.75      /* rows: offsets are whole rows where nothing finer is known */
#define KEYSTONE (1.0 / 24) /* and so much of the offset itself: that of a turned camera is not quite affine */
#define STEEPEST 0.1        /* rows a pixel: 6 degrees of roll, or a tenth of the size */
#define MIN_SPREAD 0.1      /* twice the area of a triple, in halves of the image */
#define TILT_GAIN 8         /* a tilted map needs an eighth of all offsets more than a level one */
/* Ridge regression: so many offsets at the borders that show no slope are added to a fit. */
#define TILTED_WEIGHT 0.1
#define LEVEL_WEIGHT 1.5 /* for a level fit: a few offsets that lie together show slopes that are not there */

double plx_row_fit_at(const struct plx_row_fit *fit, double x, double y)
{
    return fit->rows + fit->per_x * x + fit->per_y * y;
}

static bool agrees(const struct plx_row_fit *fit, const struct plx_row_offset *offset)
{
    return fabs(plx_row_fit_at(fit, offset->x, offset->y) - offset->rows) <= TOLERANCE + KEYSTONE * fabs(offset->rows);
}

/* The better of BEST and the map with these numbers. */
static void compare(const struct plx_row_offset *offset, int count, struct plx_row_fit fit, struct plx_row_fit *best)
{
    fit.inliers = 0;
    for (int i = 0; i < count; i++)
        fit.inliers += agrees(&fit, &offset[i]);
    if (fit.inliers > best->inliers)
        *best = fit;
}

/* The plane through three offsets; false if they lie too near to each other, or to one line, or the plane is too steep. */
static bool through(const struct plx_row_offset *p, const struct plx_row_offset *q, const struct plx_row_offset *r,
                    double min_area, struct plx_row_fit *ret_fit)
{
    const double qx = q->x - p->x, qy = q->y - p->y, rx = r->x - p->x, ry = r->y - p->y;
    const double area = qx * ry - rx * qy;

    if (fabs(area) < min_area)
        return false;
    const double per_x = ((q->rows - p->rows) * ry - (r->rows - p->rows) * qy) / area;
    const double per_y = (qx * (r->rows - p->rows) - rx * (q->rows - p->rows)) / area;
    if (fabs(per_x) > STEEPEST || fabs(per_y) > STEEPEST)
        return false;
    *ret_fit = (struct plx_row_fit){.rows = p->rows - per_x * p->x - per_y * p->y, .per_x = per_x, .per_y = per_y};
    return true;
}

/* Least squares over the offsets that agree with FIT. */
static struct plx_row_fit refine(const struct plx_row_offset *offset, int count, struct plx_row_fit fit, double weight,
                                 double half_width, double half_height)
{
    double n = 0, u = 0, v = 0, uu = weight, uv = 0, vv = weight, r = 0, ru = 0, rv = 0;

    for (int i = 0; i < count; i++) {
        if (!agrees(&fit, &offset[i]))
            continue;
        const double x = offset[i].x / half_width, y = offset[i].y / half_height, rows = offset[i].rows;
        n += 1, u += x, v += y, uu += x * x, uv += x * y, vv += y * y, r += rows, ru += rows * x, rv += rows * y;
    }
    /* centred: two equations for the slopes */
    const double sxx = uu - u * u / n, sxy = uv - u * v / n, syy = vv - v * v / n;
    const double sxr = ru - u * r / n, syr = rv - v * r / n, det = sxx * syy - sxy * sxy;
    const double along = (sxr * syy - syr * sxy) / det, down = (syr * sxx - sxr * sxy) / det;
    return (struct plx_row_fit){
        .rows = (r - along * u - down * v) / n, .per_x = along / half_width, .per_y = down / half_height};
}

/* The best plane through three of the offsets. */
static struct plx_row_fit best_tilted(const struct plx_row_offset *offset, int count, double min_area)
{
    struct plx_row_fit best = {0}, fit;
    uint32_t random = 1;

    for (int i = 0; i < TRIPLES && count >= 3; i++) {
        const struct plx_row_offset *corner[3];
        for (int k = 0; k < 3; k++) {
            random = random * 1664525u + 1013904223u; /* Numerical Recipes' generator */
            corner[k] = &offset[(uint64_t)random * (uint32_t)count >> 32];
        }
        if (through(corner[0], corner[1], corner[2], min_area, &fit))
            compare(offset, count, fit, &best);
    }
    return best;
}

struct plx_row_fit plx_row_fit(const struct plx_row_offset *offset, int count, double half_width, double half_height)
{
    struct plx_row_fit best = {0};

    for (int i = 0; i < count; i++) {
        const double other = offset[(i + count / 2) % count].rows; /* while half of them is from before something changed */
        compare(offset, count, (struct plx_row_fit){.rows = offset[i].rows}, &best);
        compare(offset, count, (struct plx_row_fit){.rows = (offset[i].rows + other) / 2}, &best);
    }
    const struct plx_row_fit tilted = best_tilted(offset, count, MIN_SPREAD * half_width * half_height);
    const bool is_tilted = tilted.inliers > best.inliers + count / TILT_GAIN;
    if (is_tilted)
        best = tilted;
    for (int i = 0; i < REFINEMENTS && best.inliers > 0; i++) {
        const double weight = is_tilted ? TILTED_WEIGHT : LEVEL_WEIGHT;
        const struct plx_row_fit fit = refine(offset, count, best, weight, half_width, half_height);
        best.inliers = 0;
        compare(offset, count, fit, &best);
    }
    return best;
}

/* --- patches ------------------------------------------------------------------------------------------------------------ */

#define PATCH_WIDTH 32
#define PATCH_HEIGHT 16
#define MARGIN 8         /* an eighth of the image on each side is left out: lenses are worst there, and pixels masked */
#define GOOD_SCORE 29491 /* a correlation of 0.9, in 1/32768 */
#define CORNER 64        /* least squared gradient per pixel in the patch's weakest direction; noise of 4 levels makes 32 */
#define NEAR_ROWS 3      /* farther off, the expected row is another place and not the slope of the same match */
#define CLEAR_SCORE 983  /* that other place must be better by this: correlation of 0.03 */

/* Matches of a frame. */
enum { TALL, ABOVE, EXPECTED, BELOW };

/* Where a frame's patch is, and where it is searched for. */
struct place {
    int x, y;                                    /* upper left of the patch, left image */
    int strip_x, strip_end, strip_y, strip_last; /* bounds of the tall strip, right image; ends are not part of it */
    int expected;                                /* row in the right image where it should be found */
};

void plx_alignment_init(struct plx_alignment *alignment, int width, int height, double focal_length, int min_disparity,
                        int disparities)
{
    *alignment = (struct plx_alignment){.width = width,
                                        .height = height,
                                        .focal_length = focal_length,
                                        .min_disparity = min_disparity,
                                        .disparities = disparities};
}

static struct plx_image view(const struct plx_image *image, int x, int y, int width, int height)
{
    return (struct plx_image){(uint8_t *)plx_row(image, y) + x, width, height, image->pitch, image->type};
}

static int smallest(int a, int b)
{
    return a < b ? a : b;
}

static int largest(int a, int b)
{
    return a > b ? a : b;
}

/* A number in first..last, evenly spread over successive COUNTs (multiplicative hashing). */
static int spread(uint32_t count, uint32_t factor, int first, int last)
{
    return first + (int)((uint64_t)(count * factor) * (uint64_t)(last - first + 1) >> 32);
}

/* False where the image has no room for a patch. */
static bool choose_place(const struct plx_alignment *alignment, struct place *ret_place)
{
    const int width = alignment->width, height = alignment->height;
    const int nearest = alignment->min_disparity + alignment->disparities - 1;
    const int first_x = largest(width / MARGIN, alignment->min_disparity); /* so that the strip has room for the patch */
    const int last_x = smallest(width - width / MARGIN, width + nearest) - PATCH_WIDTH;
    const int first_y = largest(height / MARGIN, 1), last_y = height - first_y - PATCH_HEIGHT;

    if (last_x < first_x || last_y < first_y)
        return false;
    const int x = spread(alignment->frame, 0x9E3779B1u, first_x, last_x);
    const int y = spread(alignment->frame, 0x85EBCA6Bu, first_y, last_y);
    const double off = plx_row_fit_at(&alignment->fit, x + (PATCH_WIDTH - width) / 2.0, y + (PATCH_HEIGHT - height) / 2.0);
    *ret_place = (struct place){
        .x = x,
        .y = y,
        .strip_x = largest(x - nearest, 0),
        .strip_end = smallest(x - alignment->min_disparity + PATCH_WIDTH, width),
        .strip_y = largest(y - PLX_ALIGNMENT_REACH, 0),
        .strip_last = smallest(y + PATCH_HEIGHT + PLX_ALIGNMENT_REACH, height),
        .expected = largest(1, smallest((int)lround(y + off), height - PATCH_HEIGHT - 1)),
    };
    return true;
}

bool plx_alignment_patch(const struct plx_alignment *alignment, int index, const struct plx_image *left,
                         const struct plx_image *right, struct plx_image *ret_patch, struct plx_image *ret_strip)
{
    struct place place;

    if (!choose_place(alignment, &place))
        return false;
    const int width = place.strip_end - place.strip_x;
    *ret_patch = view(left, place.x, place.y, PATCH_WIDTH, PATCH_HEIGHT);
    *ret_strip = index == TALL ? view(right, place.strip_x, place.strip_y, width, place.strip_last - place.strip_y)
                               : view(right, place.strip_x, place.expected + index - EXPECTED, width, PATCH_HEIGHT);
    return true;
}

/* Whether PATCH can be found at one place only: it has gradients in every direction (Shi and Tomasi, Good Features to Track,
 * 1994: the smaller eigenvalue of the structure tensor, here as det >= t * trace), and no pixel outside the raw image. */
static bool is_distinct(const struct plx_image *patch)
{
    int64_t xx = 0, yy = 0, xy = 0;
    const int64_t least = CORNER * (PATCH_WIDTH - 2) * (PATCH_HEIGHT - 2);

    for (int y = 1; y < PATCH_HEIGHT - 1; y++) {
        const uint8_t *above = plx_row(patch, y - 1), *row = plx_row(patch, y), *below = plx_row(patch, y + 1);
        for (int x = 1; x < PATCH_WIDTH - 1; x++) {
            const int dx = row[x + 1] - row[x - 1], dy = below[x] - above[x];
            if (row[x] == 0)
                return false;
            xx += dx * dx;
            yy += dy * dy;
            xy += dx * dy;
        }
    }
    return xx > least && yy > least && xx * yy - xy * xy >= least * (xx + yy);
}

/* The row in the right image where a patch was found, to a part of a row if it is next to the expected one (vertex of the
 * parabola through the scores there, above and below). False if it was found nowhere, or as well on the expected row as far
 * from it: texture repeats. */
static bool find_row(const struct place *place, const struct plx_template_match *found, double *ret_row)
{
    const int row = place->strip_y + found[TALL].y, off = row - place->expected;
    const int score = found[EXPECTED].score, around = largest(score, largest(found[ABOVE].score, found[BELOW].score));

    if (found[TALL].score < GOOD_SCORE || (abs(off) > NEAR_ROWS && around > found[TALL].score - CLEAR_SCORE))
        return false;
    const int bend = 2 * score - found[ABOVE].score - found[BELOW].score;
    *ret_row = row;
    if (abs(off) <= 1 && bend > 0) {
        const double vertex = 0.5 * (found[BELOW].score - found[ABOVE].score) / bend; /* within half a row of the best one, */
        const double first = off > 0 ? 0.5 : off < 0 ? -1 : -0.5, last = off < 0 ? -0.5 : off > 0 ? 1 : 0.5; /* where known */
        *ret_row = place->expected + fmin(fmax(vertex, first), last);
    }
    return true;
}

static struct plx_alignment_info describe(const struct plx_alignment *alignment)
{
    const struct plx_row_fit *fit = &alignment->fit;
    const double along = fabs(fit->per_x) * alignment->width / 2.0, down = fabs(fit->per_y) * alignment->height / 2.0;

    if (fit->inliers == 0)
        return (struct plx_alignment_info){.patches = 0};
    return (struct plx_alignment_info){
        .patches = (uint32_t)fit->inliers,
        .epipolar_error_px = (float)fit->rows,
        .max_epipolar_error_px = (float)(fabs(fit->rows) + along + down), /* in one of the corners */
        .pitch_rad = (float)atan(fit->rows / alignment->focal_length),
        .roll_rad = (float)-atan(fit->per_x),
        .scale = (float)(1 + fit->per_y),
    };
}

static void add_offset(struct plx_alignment *alignment, struct plx_row_offset offset)
{
    alignment->offset[alignment->next] = offset;
    alignment->next = (alignment->next + 1) % PLX_ALIGNMENT_OFFSETS;
    alignment->offsets = smallest(alignment->offsets + 1, PLX_ALIGNMENT_OFFSETS);
    alignment->fit = plx_row_fit(alignment->offset, alignment->offsets, alignment->width / 2.0, alignment->height / 2.0);
    if (2 * alignment->fit.inliers < PLX_ALIGNMENT_OFFSETS)
        alignment->fit = (struct plx_row_fit){.inliers = 0};
    const bool is_off = describe(alignment).max_epipolar_error_px >= PLX_ALIGNMENT_ROWS;
    alignment->off = !is_off ? 0 : smallest(alignment->off + 1, PLX_ALIGNMENT_SURE);
    alignment->is_known =
        alignment->is_known || (alignment->fit.inliers > 0 && !is_off) || alignment->off >= PLX_ALIGNMENT_SURE;
}

bool plx_alignment_update(struct plx_alignment *alignment, const struct plx_image *left, const struct plx_template_match *found,
                          struct plx_alignment_info *ret_info)
{
    struct place place;

    if (choose_place(alignment, &place)) {
        const struct plx_image patch = view(left, place.x, place.y, PATCH_WIDTH, PATCH_HEIGHT);
        double row;
        if (find_row(&place, found, &row) && is_distinct(&patch))
            add_offset(alignment, (struct plx_row_offset){
                                      .x = place.strip_x + found[TALL].x + (PATCH_WIDTH - alignment->width) / 2.0,
                                      .y = place.y + (PATCH_HEIGHT - alignment->height) / 2.0,
                                      .rows = row - place.y,
                                  });
    } else {
        alignment->is_known = true;
    }
    alignment->frame++;
    *ret_info = describe(alignment);
    return alignment->off >= PLX_ALIGNMENT_SURE;
}
