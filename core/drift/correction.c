/* SPDX-License-Identifier: Apache-2.0 */
#include "core/drift/correction.h"

#include <math.h>

#include "core/base/clock.h"
#include "core/geometry/calibration.h"

#define MIN_MATCHES 160
#define MIN_OF_QUARTER 8
#define SIGNIFICANT 4.0      /* standard deviations */
#define STEADY 5.0           /* standard deviations of the mean of four quarters */
#define BETTER_PX 0.05       /* a median of rows better by so much is significant whatever the deviations say */
#define MIN_ROWS_PX 0.1      /* somewhere in the image: less is not worth another map */
#define UNCERTAIN_PX 0.15    /* standard deviation at a corner of the image, */
#define UNCERTAIN_SHARE 0.25 /* or of what is corrected there */
#define NOISE_OF_MEDIAN 2.0  /* noise of the median of N matches: so many medians over the square root of N */
#define MIN_SPAN_NS (20 * PLX_NS_PER_S)
#define MAX_ANGLE_RAD 0.035 /* 2 degrees */
#define MAX_SCALE 0.01
#define MIN_OFFSET_PX 0.1
#define MAX_OFFSET_PX 4.0
#define REFINES 1.0 /* standard deviations: the memory of steps was not full when the correction in force was made */
#define PLACES 3    /* where disparities are judged, as shares of x^2 at the side of the image: */
#define NUMBERS PLX_ROW_NUMBERS

static const double places[PLACES] = {0, 0.4, 1};

static bool is_plausible_error(const struct plx_disparity_error *error)
{
    return fabs(error->offset) <= MAX_OFFSET_PX && fabs(error->curve) <= MAX_OFFSET_PX;
}

bool plx_correction_is_plausible(const struct plx_correction *correction)
{
    static const double largest[NUMBERS] = {MAX_ANGLE_RAD, MAX_ANGLE_RAD, MAX_ANGLE_RAD, MAX_SCALE};
    const struct plx_row_numbers numbers = plx_row_numbers_of_correction(correction);

    for (int i = 0; i < NUMBERS; i++)
        if (!(fabs(numbers.at[i]) <= largest[i]))
            return false;
    const struct plx_disparity_error error = plx_correction_disparity_error(correction);
    return is_plausible_error(&error);
}

static bool is_plausible(const struct plx_correction *in_force, const struct plx_correction *number)
{
    const struct plx_correction sum = plx_correction_add(in_force, number, 1);
    return plx_correction_is_plausible(&sum);
}

/* The largest number in its deviations. */
static double significance(const struct plx_row_numbers *number, const struct plx_row_numbers *deviation)
{
    double largest = 0;

    for (int i = 0; i < NUMBERS; i++)
        largest = fmax(largest, fabs(number->at[i]) / deviation->at[i]);
    return largest;
}

/* Standard deviation of the rows at a corner of the image, were the numbers independent, is small enough there. */
static bool is_certain(const struct plx_row_numbers *number, const struct plx_row_numbers *deviation,
                       const struct plx_calibration_info *c, int width, int height)
{
    for (int corner = 0; corner < 4; corner++) {
        const double x = ((corner & 1 ? width : 0) - c->cx_right) / c->fx, y = ((corner & 2 ? height : 0) - c->cy) / c->fy;
        const double along[NUMBERS] = {1 + y * y, -x, -x * y, y};
        double square = 0;
        for (int i = 0; i < NUMBERS; i++)
            square += along[i] * along[i] * deviation->at[i] * deviation->at[i];
        const double rows = fabs(plx_row_numbers_at(number, c->fy, x, y));
        if (c->fy * sqrt(square) > fmax(UNCERTAIN_PX, UNCERTAIN_SHARE * rows))
            return false;
    }
    return true;
}

/* Each quarter of the time says the same as all of it: matches of a quarter share no frame with others. What is significant is
 * so by the scatter of the quarters too, which shows errors that the matches of a second share. */
static bool is_steady(const struct plx_row_drift *drift, const struct plx_row_numbers *all,
                      const struct plx_row_numbers *of_all)
{
    const double *a = all->at, *of_a = of_all->at;
    double scatter[NUMBERS] = {0};

    const int times = plx_row_drift_times(drift);
    for (int time = 0; time < times; time++) {
        struct plx_row_numbers number, deviation;
        if (!plx_row_drift_fit(drift, PLX_ROWS_TIME + (enum plx_row_part)time, &number, &deviation))
            return false;
        const double *b = number.at, *of_b = deviation.at;
        for (int i = 0; i < NUMBERS; i++) {
            if (fabs(a[i] - b[i]) > SIGNIFICANT * hypot(of_a[i], of_b[i]))
                return false;
            scatter[i] += (a[i] - b[i]) * (a[i] - b[i]) / (times * (times - 1));
        }
    }
    for (int i = 0; i < NUMBERS && !drift->single; i++)
        if (fabs(a[i]) >= SIGNIFICANT * of_a[i] && fabs(a[i]) < STEADY * sqrt(scatter[i]))
            return false;
    return true;
}

/* Each half of the matches is corrected by what the other half says: in the whole image rows get better, and in no quarter
 * worse. */
static bool is_better(const struct plx_row_drift *drift)
{
    static const struct plx_row_numbers none;
    double before = 0, after = 0;

    for (int half = 0; half < 2; half++) {
        const enum plx_row_part fitted = half == 0 ? PLX_ROWS_EVEN : PLX_ROWS_ODD,
                                judged = half == 0 ? PLX_ROWS_ODD : PLX_ROWS_EVEN;
        struct plx_row_numbers number, deviation;
        int count;
        if (!plx_row_drift_fit(drift, fitted, &number, &deviation))
            return false;
        for (int quarter = 0; quarter < 4; quarter++) {
            const double with = plx_row_drift_median(drift, judged, quarter, &number, &count);
            const double noise = NOISE_OF_MEDIAN * (double)drift->info.residual_px / sqrt(fmax(count, 1));
            if (count >= MIN_OF_QUARTER && with > plx_row_drift_median(drift, judged, quarter, &none, &count) + noise)
                return false;
        }
        before += plx_row_drift_median(drift, judged, -1, &none, &count);
        after += plx_row_drift_median(drift, judged, -1, &number, &count);
    }
    return after < before;
}

enum plx_correction_verdict plx_correction_of_rows(const struct plx_row_drift *drift, const struct plx_correction *in_force,
                                                   const struct plx_calibration_info *calibration, int width, int height,
                                                   struct plx_correction *ret_number)
{
    const struct plx_drift_info *info = &drift->info;
    struct plx_row_numbers number, deviation;

    if (info->matches < MIN_MATCHES || !plx_row_drift_fit(drift, PLX_ROWS_ALL, &number, &deviation))
        return PLX_CORRECTION_UNKNOWN;
    const bool significant = significance(&number, &deviation) >= SIGNIFICANT;
    const bool better = (double)info->epipolar_error_px - (double)info->residual_px >= BETTER_PX;
    if ((double)info->max_epipolar_error_px < MIN_ROWS_PX || (!significant && !better))
        return PLX_CORRECTION_INSIGNIFICANT;
    const struct plx_correction correction = plx_row_numbers_to_correction(&number);
    if (!is_plausible(in_force, &correction))
        return PLX_CORRECTION_IMPLAUSIBLE;
    if (!drift->single && plx_row_drift_span(drift) < MIN_SPAN_NS)
        return PLX_CORRECTION_BRIEF;
    if (!is_steady(drift, &number, &deviation))
        return PLX_CORRECTION_UNSTEADY;
    if (!is_certain(&number, &deviation, calibration, width, height))
        return PLX_CORRECTION_UNCERTAIN;
    if (!is_better(drift))
        return PLX_CORRECTION_NO_BETTER;
    *ret_number = correction;
    return PLX_CORRECTION_HOLDS;
}

void plx_disparity_drift_measure(const struct plx_motion_steps *steps, struct plx_disparity_drift *ret)
{
    *ret = (struct plx_disparity_drift){.is_full = steps->count == PLX_STEPS};
    for (int part = 0; part < PLX_STEPS_PARTS; part++)
        plx_disparity_error_estimate(steps, (enum plx_motion_steps_part)part, &ret->part[part]);
}

/* What ERROR leaves of an estimate at X2. */
static double left_at(const struct plx_disparity_estimate *estimate, const struct plx_disparity_error *error, double x2)
{
    return plx_disparity_error_at(&estimate->error, x2) - plx_disparity_error_at(error, x2);
}

enum plx_correction_verdict plx_correction_of_disparities(const struct plx_disparity_drift *drift,
                                                          const struct plx_disparity_error *in_force, bool refines, double side,
                                                          struct plx_disparity_error *ret_change)
{
    const struct plx_disparity_estimate *all = &drift->part[PLX_STEPS_ALL], *older = &drift->part[PLX_STEPS_OLDER],
                                        *newer = &drift->part[PLX_STEPS_NEWER];
    const double deviations = refines && drift->is_full ? REFINES : SIGNIFICANT;
    bool is_significant = false;

    if (all->steps == 0 || older->steps == 0 || newer->steps == 0)
        return PLX_CORRECTION_UNKNOWN;
    for (int i = 0; i < PLACES; i++) {
        const double x2 = places[i] * side, deviation = sqrt(plx_disparity_variance_at(all, x2));
        is_significant |= fabs(left_at(all, in_force, x2)) >= fmax(MIN_OFFSET_PX, deviations * deviation);
    }
    if (!is_significant)
        return PLX_CORRECTION_INSIGNIFICANT;
    for (int i = 0; i < PLACES; i++) {
        const double x2 = places[i] * side, difference = left_at(older, &newer->error, x2);
        const double variance = plx_disparity_variance_at(older, x2) + plx_disparity_variance_at(newer, x2);
        if (fabs(difference) > SIGNIFICANT * sqrt(variance))
            return PLX_CORRECTION_UNSTEADY;
    }
    if (!is_plausible_error(&all->error))
        return PLX_CORRECTION_IMPLAUSIBLE;
    *ret_change = (struct plx_disparity_error){left_at(all, in_force, 0), all->error.curve - in_force->curve};
    return PLX_CORRECTION_HOLDS;
}
