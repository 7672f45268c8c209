/* SPDX-License-Identifier: Apache-2.0 */
#include "core/drift/rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/geometry/cholesky.h"

#define MIN_OF_PART 24
#define STEPS 4         /* reweighting from the last estimate on, */
#define SCALE_STEPS 2   /* with a new scale in the first ones */
#define FREEDOM 4.0     /* for Student's t, whose likelihood gives the weights */
#define MIN_SCALE 0.02  /* px */
#define INFLATION 1.0   /* factor on the covariance: matches of one surface share errors */
#define SHARED_PX 0.006 /* standard deviation of what all matches may share */

#define NUMBERS PLX_ROW_NUMBERS

void plx_row_drift_init(struct plx_row_drift *drift, double focal_length)
{
    memset(drift, 0, sizeof *drift);
    drift->focal_length = focal_length;
}

void plx_row_drift_add(struct plx_row_drift *drift, const struct plx_row_match *match)
{
    drift->match[drift->next] = *match;
    drift->next = (drift->next + 1) % PLX_ROW_MATCHES;
    drift->count += drift->count < PLX_ROW_MATCHES;
    drift->unsolved++;
}

/* Match number I, from the oldest on. */
static const struct plx_row_match *nth(const struct plx_row_drift *drift, int i)
{
    return &drift->match[(drift->next - drift->count + i + PLX_ROW_MATCHES) % PLX_ROW_MATCHES];
}

int64_t plx_row_drift_span(const struct plx_row_drift *drift)
{
    return drift->count > 0 ? nth(drift, drift->count - 1)->capture_ns - nth(drift, 0)->capture_ns : 0;
}

int plx_row_drift_times(const struct plx_row_drift *drift)
{
    return drift->single ? 2 : PLX_ROWS_PARTS - PLX_ROWS_TIME;
}

/* Which part of the time match number I lies in, from 0 on; where times say nothing, of the matches. */
static int time_of(const struct plx_row_drift *drift, int i)
{
    const int64_t span = plx_row_drift_span(drift), times = plx_row_drift_times(drift);
    if (drift->single || span <= 0)
        return (int)times * i / drift->count;
    const int64_t time = times * (nth(drift, i)->capture_ns - nth(drift, 0)->capture_ns) / span;
    return time < times ? (int)time : (int)times - 1;
}

static bool in_part(const struct plx_row_drift *drift, enum plx_row_part part, int i)
{
    switch (part) {
    case PLX_ROWS_EVEN:
    case PLX_ROWS_ODD:
        return nth(drift, i)->odd == (part == PLX_ROWS_ODD);
    case PLX_ROWS_ALL:
        return true;
    case PLX_ROWS_NEWEST:
        return i >= drift->count - PLX_ROWS_NEWEST_COUNT;
    default:
        return time_of(drift, i) == (int)part - PLX_ROWS_TIME;
    }
}

/* d rows / d numbers at (X, Y). */
static void basis(double f, double x, double y, double ret[NUMBERS])
{
    ret[PLX_ROW_PITCH] = f * (1 + y * y);
    ret[PLX_ROW_ROLL] = -f * x;
    ret[PLX_ROW_BEND] = -f * x * y;
    ret[PLX_ROW_SCALE] = f * y;
}

static double residual_px(const struct plx_row_drift *drift, const struct plx_row_match *match,
                          const struct plx_row_numbers *number)
{
    double along[NUMBERS], sum = 0;
    basis(drift->focal_length, (double)match->x, (double)match->y, along);
    for (int i = 0; i < NUMBERS; i++)
        sum += along[i] * number->at[i];
    return (double)match->rows - sum;
}

static int ascending(const void *a, const void *b)
{
    const float p = *(const float *)a, q = *(const float *)b;
    return (p > q) - (p < q);
}

/* Median of the COUNT numbers LEFT, which it sorts; INFINITY if there is none. */
static double median(float *left, int count)
{
    qsort(left, (size_t)count, sizeof *left, ascending);
    return count > 0 ? (double)left[count / 2] : (double)INFINITY;
}

/* Median of what NUMBER[half of the match] leaves of the rows of the matches of PART. */
static double median_left(const struct plx_row_drift *drift, enum plx_row_part part,
                          const struct plx_row_numbers *const number[2])
{
    float left[PLX_ROW_MATCHES] = {0};
    int count = 0;
    for (int i = 0; i < drift->count; i++)
        if (in_part(drift, part, i))
            left[count++] = (float)fabs(residual_px(drift, nth(drift, i), number[nth(drift, i)->odd]));
    return median(left, count);
}

double plx_row_drift_median(const struct plx_row_drift *drift, enum plx_row_part part, int quarter,
                            const struct plx_row_numbers *number, int *ret_count)
{
    float left[PLX_ROW_MATCHES] = {0};
    int count = 0;

    for (int i = 0; i < drift->count; i++) {
        const struct plx_row_match *match = nth(drift, i);
        const int of = (match->x > 0 ? 1 : 0) + (match->y > 0 ? 2 : 0);
        if (in_part(drift, part, i) && (quarter < 0 || quarter == of))
            left[count++] = (float)fabs(residual_px(drift, match, number));
    }
    *ret_count = count;
    return median(left, count);
}

/* Sums over matches, as lower triangles. */
struct sums {
    double a[NUMBERS * NUMBERS], slope[NUMBERS * NUMBERS], spread[NUMBERS * NUMBERS], b[NUMBERS];
    int count;
};

/* Normal equations with the weights of Student's t at NUMBER: w = (n + 1) / (n + u^2), u the rows left over SCALE; SLOPE has
 * the derivative of w u instead of w, SPREAD its square. */
static void add_up(const struct plx_row_drift *drift, enum plx_row_part part, const struct plx_row_numbers *number,
                   double scale, struct sums *ret)
{
    memset(ret, 0, sizeof *ret);
    for (int i = 0; i < drift->count; i++) {
        const struct plx_row_match *match = nth(drift, i);
        if (!in_part(drift, part, i))
            continue;
        double along[NUMBERS];
        basis(drift->focal_length, (double)match->x, (double)match->y, along);
        const double left = residual_px(drift, match, number), uu = left * left / (scale * scale);
        const double w = (FREEDOM + 1) / (FREEDOM + uu), slope = w * (FREEDOM - uu) / (FREEDOM + uu);
        for (int k = 0; k < NUMBERS; k++) {
            ret->b[k] += w * left * along[k];
            for (int l = 0; l <= k; l++) {
                ret->a[NUMBERS * k + l] += w * along[k] * along[l];
                ret->slope[NUMBERS * k + l] += slope * along[k] * along[l];
                ret->spread[NUMBERS * k + l] += w * w * left * left * along[k] * along[l];
            }
        }
        ret->count++;
    }
}

/* Standard deviations of the numbers (Huber's sandwich, 1967), and of an error that all matches share, as it looks in each
 * number at the edge of an image as wide as its focal length. False if the matches do not determine them. */
static bool find_deviations(const struct plx_row_drift *drift, const struct sums *sums, struct plx_row_numbers *ret)
{
    static const double edge[NUMBERS] = {1, 0.5, 0.2, 0.4};
    double lower[NUMBERS * NUMBERS];
    if (!plx_cholesky_decompose(sums->slope, NUMBERS, PLX_CHOLESKY_ROUNDING, lower))
        return false;
    for (int k = 0; k < NUMBERS; k++) {
        double unit[NUMBERS] = {0}, row[NUMBERS], square = 0;
        unit[k] = 1;
        plx_cholesky_solve(lower, NUMBERS, unit, row); /* row of the inverse */
        for (int i = 0; i < NUMBERS; i++)
            for (int l = 0; l < NUMBERS; l++)
                square += row[i] * row[l] * sums->spread[l <= i ? NUMBERS * i + l : NUMBERS * l + i];
        const double shared = SHARED_PX / (drift->focal_length * edge[k]);
        ret->at[k] = sqrt(INFLATION * square + shared * shared);
    }
    return true;
}

/* Fits the numbers to the matches of PART. False if they do not determine them. */
static bool fit(const struct plx_row_drift *drift, enum plx_row_part part, struct plx_row_numbers *ret_number,
                struct plx_row_numbers *ret_deviation)
{
    struct plx_row_numbers number = plx_row_numbers_of_drift(&drift->info); /* the last estimate */
    const struct plx_row_numbers *numbers[2] = {&number, &number};
    double scale = 0;
    struct sums sums;

    for (int step = 0; step < STEPS; step++) {
        double lower[NUMBERS * NUMBERS], move[NUMBERS];
        if (step < SCALE_STEPS)
            scale = fmax(1.4826 * median_left(drift, part, numbers), MIN_SCALE);
        add_up(drift, part, &number, scale, &sums);
        if (sums.count < MIN_OF_PART || !plx_cholesky_decompose(sums.a, NUMBERS, PLX_CHOLESKY_ROUNDING, lower))
            return false;
        plx_cholesky_solve(lower, NUMBERS, sums.b, move);
        for (int i = 0; i < NUMBERS; i++)
            number.at[i] += move[i];
    }
    *ret_number = number;
    return find_deviations(drift, &sums, ret_deviation);
}

static void round_to_single(struct plx_row_numbers *numbers)
{
    for (int i = 0; i < NUMBERS; i++)
        numbers->at[i] = (double)(float)numbers->at[i];
}

bool plx_row_drift_fit(const struct plx_row_drift *drift, enum plx_row_part part, struct plx_row_numbers *ret_number,
                       struct plx_row_numbers *ret_deviation)
{
    if (!fit(drift, part, ret_number, ret_deviation))
        return false;
    round_to_single(ret_number);
    round_to_single(ret_deviation);
    return true;
}

/* The largest difference of rows that NUMBER makes at a match. */
static double max_epipolar_error_px(const struct plx_row_drift *drift, const struct plx_row_numbers *number)
{
    double worst = 0;
    for (int i = 0; i < drift->count; i++)
        worst = fmax(worst, fabs((double)nth(drift, i)->rows - residual_px(drift, nth(drift, i), number)));
    return worst;
}

void plx_row_drift_estimate(struct plx_row_drift *drift)
{
    static const struct plx_row_numbers none;
    struct plx_row_numbers number[3], deviation[3];
    const struct plx_row_numbers *const nothing[2] = {&none, &none};
    const struct plx_row_numbers *const other_half[2] = {&number[PLX_ROWS_ODD], &number[PLX_ROWS_EVEN]};

    drift->unsolved = 0;
    for (enum plx_row_part part = PLX_ROWS_EVEN; part <= PLX_ROWS_ALL; part++)
        if (!fit(drift, part, &number[part], &deviation[part])) {
            drift->info = (struct plx_drift_info){.matches = 0};
            return;
        }
    const double *const sure = deviation[PLX_ROWS_ALL].at;
    drift->info = (struct plx_drift_info){
        .matches = (uint32_t)drift->count,
        .pitch_deviation_rad = (float)sure[PLX_ROW_PITCH],
        .roll_deviation_rad = (float)sure[PLX_ROW_ROLL],
        .bend_deviation_rad = (float)sure[PLX_ROW_BEND],
        .scale_deviation = (float)sure[PLX_ROW_SCALE],
        .epipolar_error_px = (float)median_left(drift, PLX_ROWS_ALL, nothing),
        .residual_px = (float)median_left(drift, PLX_ROWS_ALL, other_half),
        .max_epipolar_error_px = (float)max_epipolar_error_px(drift, &number[PLX_ROWS_ALL]),
    };
    plx_row_numbers_to_drift(&number[PLX_ROWS_ALL], &drift->info);
}

void plx_row_drift_correct(struct plx_row_drift *drift, const struct plx_correction *correction)
{
    const struct plx_row_numbers change = plx_row_numbers_of_correction(correction);
    struct plx_row_numbers left = plx_row_numbers_of_drift(&drift->info);

    for (int i = 0; i < drift->count; i++) {
        struct plx_row_match *match = &drift->match[(drift->next - 1 - i + PLX_ROW_MATCHES) % PLX_ROW_MATCHES];
        match->rows -= (float)plx_row_numbers_at(&change, drift->focal_length, (double)match->x, (double)match->y);
    }
    for (int i = 0; i < NUMBERS; i++)
        left.at[i] -= change.at[i];
    plx_row_numbers_to_drift(&left, &drift->info);
    drift->info.epipolar_error_px = drift->info.residual_px; /* until the next estimate */
    drift->info.max_epipolar_error_px = 0;
}

void plx_row_drift_forget(struct plx_row_drift *drift, int count)
{
    drift->count = drift->count < count ? drift->count : count;
}
