/* SPDX-License-Identifier: Apache-2.0 */
#include "core/drift/skew.h"

#include <math.h>

#include "core/base/clock.h"
#include "core/geometry/matrix3.h"

#define UNKNOWN_RADPS 1.0 /* how fast a robot may turn whose motion is not known */
#define CORNER_X 0.5      /* a corner of the image, focal lengths */
#define CORNER_Y 0.4
#define NEAR_M 2.0

void plx_skew_update(struct plx_skew *skew, const struct plx_motion_info *motion, int64_t skew_ns)
{
    const double *t = motion->motion.translation;
    const double seconds = (double)motion->interval_ns / (double)PLX_NS_PER_S;
    const bool was_known = skew->is_known;

    skew->skew_s = fabs((double)skew_ns) / (double)PLX_NS_PER_S;
    skew->is_known = motion->valid && motion->interval_ns > 0;
    if (!skew->is_known)
        return;
    double turn[3];
    plx_mat3_sine_axis(motion->motion.rotation, turn);
    for (int i = 0; i < 6; i++) {
        const double now = (i < 3 ? t[i] : turn[i - 3]) / seconds;
        skew->change[i] = was_known ? now - skew->now[i] : now;
        skew->now[i] = now;
    }
}

/* px/s. The derivative of y = Y / Z for a point that stands still: Longuet-Higgins and Prazdny, The interpretation of a moving
 * retinal image, 1980. */
static double row_speed(const double speed[6], const struct plx_row_match *match, double focal_length)
{
    const double x = (double)match->x, y = (double)match->y, z = (double)match->z_m;
    const double way = z > 0 ? (y * speed[2] - speed[1]) / z : 0;
    return focal_length * (way + speed[3] * (1 + y * y) - speed[4] * x * y - speed[5] * x);
}

double plx_skew_rows(const struct plx_skew *skew, const struct plx_row_match *match, double focal_length)
{
    if (!skew->is_known)
        return focal_length * UNKNOWN_RADPS * skew->skew_s;
    return (fabs(row_speed(skew->now, match, focal_length)) + fabs(row_speed(skew->change, match, focal_length))) *
           skew->skew_s;
}

/* px/s, all parts of it with one sign: an offset that is wrong in parts of the image is wrong. */
static double column_speed(const double speed[6], double focal_length)
{
    const double way = (fabs(speed[0]) + CORNER_X * fabs(speed[2])) / NEAR_M;
    return focal_length * (way + CORNER_X * CORNER_Y * fabs(speed[3]) + (1 + CORNER_X * CORNER_X) * fabs(speed[4]) +
                           CORNER_Y * fabs(speed[5]));
}

double plx_skew_columns(const struct plx_skew *skew, double focal_length)
{
    if (!skew->is_known)
        return 0;
    return (column_speed(skew->now, focal_length) + column_speed(skew->change, focal_length)) * skew->skew_s;
}
