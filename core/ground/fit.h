/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arithmetic of the ground stage, in a subset of C that every backend compiles, so that all give the same
 * bits: integers, whose sums do not depend on the order, and single IEEE double operations in the order written.
 *
 * 1. v-disparity (Labayrade, Aubert, Tarel 2002): a histogram of disparity for each of 64 rows.
 * 2. Every line (horizon, slope) of a grid is scored on it: pixels on the line count for it, pixels below it (nothing lies
 *    under the ground) against it. The best is refined by halving the grid three times around it.
 * 3. From that line, a plane by least squares on the pixels near it, five times with a narrowing tolerance: roll comes in.
 *
 * A prior leaves out the lines of cameras that stand much higher or lower than before, and has a plane for frames without.
 */
#ifndef PLX_CORE_GROUND_FIT_H
#define PLX_CORE_GROUND_FIT_H

#include <math.h>

#include "core/ground/ground.h"

#define PLX_GROUND_ROWS 64      /* rows of the histogram, spread evenly over the image */
#define PLX_GROUND_BINS 128     /* bins of a row, over the searched disparities */
#define PLX_GROUND_HORIZONS 128 /* horizons in the grid of lines */
#define PLX_GROUND_SLOPES 96    /* likewise: camera heights from 5 m down to 4 cm */
#define PLX_GROUND_HIGHEST_M 5.0
#define PLX_GROUND_HEIGHT_RATIO 0.95
#define PLX_GROUND_LINES (PLX_GROUND_HORIZONS * PLX_GROUND_SLOPES)
#define PLX_GROUND_REFINES 3
#define PLX_GROUND_FITS 5
#define PLX_GROUND_FIT_ROWS 240       /* about as many rows go into the least squares */
#define PLX_GROUND_SIDE_M 5.0         /* the plane is that of the ground so far to either side: verges slope otherwise */
#define PLX_GROUND_TURN 0.9962        /* cosine of 5 degrees: no camera tilts by more from one frame to the next */
#define PLX_GROUND_WORST (-(1 << 29)) /* less than any score */

/* Image row of row I of the histogram. */
PLX_BOTH int plx_ground_row(int i, int height)
{
    return (2 * i + 1) * height / (2 * PLX_GROUND_ROWS);
}

/* Its middle, in 1/16 rows. */
PLX_BOTH int plx_ground_row_16(int i, int height)
{
    return plx_ground_row(i, height) * 16 + 8;
}

/* Width of a bin, 1/16 px. */
PLX_BOTH int plx_ground_bin_width(int disparities)
{
    return (disparities * PLX_DISPARITY_ONE + PLX_GROUND_BINS - 1) / PLX_GROUND_BINS;
}

/* Bins to either side of a line of the grid that count as on it: 1.25 to 3 px. Wider, a steep line through road and hedge wins.
 */
PLX_BOTH int plx_ground_grid_reach(int disparities)
{
    return plx_ground_bin_width(disparities) <= 16 ? 2 : 1;
}

/* v-disparity: below[i][k] = pixels of row i whose disparity lies in bins 0 .. k - 1. */
struct plx_ground_histogram {
    uint32_t below[PLX_GROUND_ROWS][PLX_GROUND_BINS + 1];
};

/* A ground without roll: at infinity on row HORIZON, in 1/16 rows, and from there SLOPE, in 2^-16 bins a row. */
struct plx_ground_line {
    int32_t horizon, slope;
};

/* Slope of a level ground HEIGHT metres below the camera: baseline / height pixels a row. */
PLX_BOTH int32_t plx_ground_slope(const struct plx_ground_params *params, double height)
{
    const double bins = 65536.0 * PLX_DISPARITY_ONE / plx_ground_bin_width(params->disparities);
    return (int32_t)plx_ground_round(params->calibration.baseline_m / height * bins);
}

/* Line INDEX of the grid: horizons evenly over the range, camera heights in steps of a constant ratio. */
PLX_BOTH struct plx_ground_line plx_ground_grid_line(const struct plx_ground_params *params, int index)
{
    const int span = (params->horizon_max - params->horizon_min) * 16;
    double height = PLX_GROUND_HIGHEST_M;
    struct plx_ground_line line;
    for (int i = index % PLX_GROUND_SLOPES; i > 0; i--)
        height *= PLX_GROUND_HEIGHT_RATIO;
    line.horizon = params->horizon_min * 16 + (int)((int64_t)span * (index / PLX_GROUND_SLOPES) / (PLX_GROUND_HORIZONS - 1));
    line.slope = plx_ground_slope(params, height);
    return line;
}

/* The bin at infinity, in 2^-16 bins. */
PLX_BOTH int64_t plx_ground_infinity(const struct plx_ground_params *params)
{
    return (int64_t)plx_disparity_at_infinity(&params->calibration, params->min_disparity) * 65536 /
           plx_ground_bin_width(params->disparities);
}

/* Score of BIN, in range, in row I of the histogram, with a tolerance of REACH bins. A quarter of a row gives the full score,
 * so that obstacles may hide the rest. */
PLX_BOTH int32_t plx_ground_bin_score(const struct plx_ground_histogram *histogram, int width, int reach, int i, int bin)
{
    const uint32_t enough = (uint32_t)width / 4 + 1;
    const int low = bin > reach ? bin - reach : 0;
    const int high = bin + reach + 1 < PLX_GROUND_BINS ? bin + reach + 1 : PLX_GROUND_BINS;
    const uint32_t under = histogram->below[i][low];
    const uint32_t on = histogram->below[i][high] - under;
    return 2 * (int32_t)(on < enough ? on : enough) - (int32_t)under;
}

/* Score of LINE in row I of the histogram. False, with score 0, in rows where the ground is nearer than the searched
 * disparities. */
PLX_BOTH bool plx_ground_score_row(const struct plx_ground_histogram *histogram, const struct plx_ground_params *params,
                                   int width, int height, struct plx_ground_line line, int reach, int i, int64_t *ret_score)
{
    const int64_t rows = plx_ground_row_16(i, height) - line.horizon; /* below the horizon */
    const int64_t bin = (plx_ground_infinity(params) + (line.slope * rows >> 4)) >> 16;

    *ret_score = 0;
    if (rows <= 0 || bin < 0)
        return true;
    if (bin >= PLX_GROUND_BINS)
        return false;
    *ret_score = plx_ground_bin_score(histogram, width, reach, i, (int)bin);
    return true;
}

/* Whether PRIOR allows LINE. */
PLX_BOTH bool plx_ground_allows(const struct plx_ground_prior *prior, struct plx_ground_line line)
{
    return prior->slope_max == 0 || (line.slope >= prior->slope_min && line.slope <= prior->slope_max);
}

/* SCORE, of LINE, where PRIOR allows the line. */
PLX_BOTH int64_t plx_ground_allowed_score(const struct plx_ground_prior *prior, struct plx_ground_line line, int64_t score)
{
    return plx_ground_allows(prior, line) ? score : PLX_GROUND_WORST;
}

/* Score of LINE: the sum over the rows. */
PLX_BOTH int64_t plx_ground_score(const struct plx_ground_histogram *histogram, const struct plx_ground_params *params,
                                  int width, int height, struct plx_ground_line line, int reach)
{
    int64_t score = 0, more;
    for (int i = 0; i < PLX_GROUND_ROWS; i++) {
        if (!plx_ground_score_row(histogram, params, width, height, line, reach, i, &more))
            break;
        score += more;
    }
    return score;
}

/* Neighbour 0..8 of LINE at distance STEP, row by row; 4 is LINE itself. */
PLX_BOTH struct plx_ground_line plx_ground_neighbour(struct plx_ground_line line, struct plx_ground_line step, int i)
{
    line.horizon += (i / 3 - 1) * step.horizon;
    line.slope += (i % 3 - 1) * step.slope;
    return line;
}

/* The better of LINE and its eight neighbours at distance STEP; the first of equals. */
PLX_BOTH struct plx_ground_line plx_ground_refine(const struct plx_ground_histogram *histogram,
                                                  const struct plx_ground_params *params, int width, int height,
                                                  struct plx_ground_line line, struct plx_ground_line step)
{
    struct plx_ground_line best = line;
    int64_t best_score = plx_ground_score(histogram, params, width, height, line, 1);
    for (int i = 0; i < 9; i++) {
        const struct plx_ground_line other = plx_ground_neighbour(line, step, i);
        const int64_t score = plx_ground_score(histogram, params, width, height, other, 1);
        if (score > best_score) {
            best_score = score;
            best = other;
        }
    }
    return best;
}

/* The plane without roll that LINE is. */
PLX_BOTH struct plx_ground plx_ground_from_line(const struct plx_ground_params *params, struct plx_ground_line line)
{
    const int infinity = plx_disparity_at_infinity(&params->calibration, params->min_disparity);
    struct plx_ground ground = {0};
    ground.b = (int64_t)line.slope * plx_ground_bin_width(params->disparities);
    ground.c = (int64_t)infinity * 65536 + ground.b * (8 - line.horizon) / 16;
    return ground;
}

/* Distance of the grid's lines around LINE. */
PLX_BOTH struct plx_ground_line plx_ground_grid_step(const struct plx_ground_params *params, struct plx_ground_line line)
{
    struct plx_ground_line step;
    step.horizon = (params->horizon_max - params->horizon_min) * 16 / (PLX_GROUND_HORIZONS - 1);
    step.slope = (int32_t)plx_ground_round(line.slope * (1.0 - PLX_GROUND_HEIGHT_RATIO));
    return step;
}

PLX_BOTH struct plx_ground_line plx_ground_half_step(struct plx_ground_line step)
{
    step.horizon = (step.horizon + 1) / 2;
    step.slope = (step.slope + 1) / 2;
    return step;
}

/* From the best line of the grid to the plane that the least squares start with. */
PLX_BOTH struct plx_ground plx_ground_start(const struct plx_ground_histogram *histogram,
                                            const struct plx_ground_params *params, int width, int height, int best)
{
    struct plx_ground_line line = plx_ground_grid_line(params, best), step = plx_ground_grid_step(params, line);
    for (int i = 0; i < PLX_GROUND_REFINES; i++) {
        step = plx_ground_half_step(step);
        line = plx_ground_refine(histogram, params, width, height, line, step);
    }
    return plx_ground_from_line(params, line);
}

/* Sums over the pixels within the tolerance of a plane. u from the middle column, v from the middle row; d in 1/16 px. */
struct plx_ground_sums {
    int64_t pixels, n;
    int64_t u, v, d, uu, uv, vv, ud, vd;
};

/* Rows 0, step, 2 step, ... are summed. */
PLX_BOTH int plx_ground_fit_step(int height)
{
    const int step = height / PLX_GROUND_FIT_ROWS;
    return step > 1 ? step : 1;
}

/* Which pixels a fit takes; disparities in 2^-20 px. */
struct plx_ground_gate {
    int64_t infinity, tolerance;
    int64_t side; /* disparity of the ground's edge above infinity, for each column from the centre */
    int32_t centre;
};

/* Gate of fit I. */
PLX_BOTH struct plx_ground_gate plx_ground_gate(const struct plx_ground_params *params, int i)
{
    const int wide = 48 >> i;
    struct plx_ground_gate gate;
    gate.infinity = (int64_t)plx_disparity_at_infinity(&params->calibration, params->min_disparity) * 65536;
    gate.tolerance = (int64_t)(wide > params->tolerance ? wide : params->tolerance) * 65536;
    gate.side = plx_ground_round(params->calibration.baseline_m / PLX_GROUND_SIDE_M * (65536.0 * PLX_DISPARITY_ONE));
    gate.centre = (int32_t)plx_ground_round(params->calibration.cx);
    return gate;
}

/* Adds a pixel of column X with disparity D, where the plane has value PLANE = a x + b y + c, to SUMS. It votes if its ray
 * meets the plane within the sides, and if what it shows is lower than a quarter of the camera's height: obstacles only
 * hide the ground. */
PLX_BOTH void plx_ground_add_pixel(struct plx_ground_sums *sums, const struct plx_ground_gate *gate, int x, int u, int v, int d,
                                   int64_t plane)
{
    const int64_t residual = ((int64_t)d << 16) - plane, depth = plane - gate->infinity, unevenness = depth >> 5;
    const int64_t reach = gate->tolerance > unevenness ? gate->tolerance : unevenness;
    const int64_t across = gate->side * (x > gate->centre ? x - gate->centre : gate->centre - x);
    if (d == PLX_DISPARITY_INVALID || depth < PLX_GROUND_MIN * 65536 || across > depth)
        return;
    if (residual > reach && residual * 3 > depth)
        return;
    sums->pixels++;
    if (residual > reach || residual < -reach)
        return;
    sums->n++;
    sums->u += u;
    sums->v += v;
    sums->d += d;
    sums->uu += (int64_t)u * u;
    sums->uv += (int64_t)u * v;
    sums->vv += (int64_t)v * v;
    sums->ud += (int64_t)u * d;
    sums->vd += (int64_t)v * d;
}

/* Least-squares plane of SUMS; false, and *ground as it was, if they determine none. */
PLX_BOTH bool plx_ground_solve(const struct plx_ground_sums *sums, int width, int height, struct plx_ground *ground)
{
    if (sums->n < 3)
        return false;
    const double n = (double)sums->n;
    const double u = (double)sums->u / n, v = (double)sums->v / n, d = (double)sums->d / n;
    const double uu = (double)sums->uu / n - u * u, uv = (double)sums->uv / n - u * v, vv = (double)sums->vv / n - v * v;
    const double ud = (double)sums->ud / n - u * d, vd = (double)sums->vd / n - v * d;
    const double determinant = uu * vv - uv * uv;
    if (!(determinant > 1e-3))
        return false;
    const double a = (ud * vv - vd * uv) / determinant;
    const double b = (vd * uu - ud * uv) / determinant;
    const double c = d - a * (u + (double)(width / 2)) - b * (v + (double)(height / 2));
    if (!(a > -1e4 && a < 1e4 && b > -1e4 && b < 1e4))
        return false;
    ground->a = plx_ground_round(a * 65536.0);
    ground->b = plx_ground_round(b * 65536.0);
    ground->c = plx_ground_round(c * 65536.0);
    return true;
}

/* False if PRIOR says that no camera moves like that: NORMAL is n / h, LENGTH 1 / h. */
PLX_BOTH bool plx_ground_follows(const struct plx_ground_prior *prior, const struct plx_ground_params *params,
                                 const double normal[3], double length)
{
    const int infinity = plx_disparity_at_infinity(&params->calibration, params->min_disparity);
    const double height = 1e6 / length;
    double before[3];
    if (prior->height_max_um == 0)
        return true;
    if (height < (double)prior->height_min_um || height > (double)prior->height_max_um)
        return false;
    if (!prior->held.valid)
        return true;
    plx_ground_normal(&prior->held, &params->calibration, infinity, before);
    const double xx = before[0] * before[0], yy = before[1] * before[1], zz = before[2] * before[2];
    const double x = before[0] * normal[0], y = before[1] * normal[1], z = before[2] * normal[2];
    const double both = length * sqrt(xx + yy + zz);
    return x + y + z >= PLX_GROUND_TURN * both;
}

/* Decides whether GROUND, with the SUMS of its last fit, is one: a quarter of the pixels that voted agree, and a 64th of all,
 * over at least a twentieth of the image's height as standard deviation of their rows (a wall would match in a few rows only),
 * and the camera stands 2 cm to 6 m above it, turned by less than 60 degrees, and as PRIOR allows. Otherwise the plane is the
 * one that PRIOR holds. */
PLX_BOTH void plx_ground_accept(const struct plx_ground_sums *sums, const struct plx_ground_params *params,
                                const struct plx_ground_prior *prior, int width, int height, bool solved,
                                struct plx_ground *ground)
{
    const int infinity = plx_disparity_at_infinity(&params->calibration, params->min_disparity);
    double normal[3];
    plx_ground_normal(ground, &params->calibration, infinity, normal);
    const double xx = normal[0] * normal[0], yy = normal[1] * normal[1], zz = normal[2] * normal[2];
    const double length = sqrt(xx + yy + zz);
    const double n = sums->n > 0 ? (double)sums->n : 1.0;
    const double mean = (double)sums->v / n, spread = (double)sums->vv / n - mean * mean;
    const double least = (double)height / 20.0;
    const int64_t rows = height / plx_ground_fit_step(height);
    const bool good = solved && sums->n >= 32 && sums->n * 4 >= sums->pixels && sums->n * 64 >= rows * width &&
                      spread >= least * least && length >= 1.0 / 6.0 && length <= 50.0 && normal[1] >= 0.5 * length &&
                      plx_ground_follows(prior, params, normal, length);

    if (good) {
        ground->valid = PLX_GROUND_FOUND;
        ground->camera_height_um = (int32_t)(1e6 / length + 0.5);
    } else {
        *ground = prior->held;
    }
    ground->pixels = (int32_t)sums->pixels;
    ground->inliers = (int32_t)sums->n;
}

#endif
