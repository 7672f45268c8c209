/* SPDX-License-Identifier: Apache-2.0 */
#include "config/polygon.h"

#include <math.h>
#include <string.h>

#define SAME_M 0.001                       /* nearer points are one: nobody measures finer */
#define MAX_CLIPPED (16 * PLX_ZONE_POINTS) /* each of four sides at most doubles the points */

struct point {
    double at[2];
};

static struct point point_of(const struct plx_zone *zone, int index)
{
    const float *at = zone->polygon[index % zone->points];
    return (struct point){{(double)at[0], (double)at[1]}};
}

/* --- edges ---------------------------------------------------------------------------------------------------------------- */

/* Twice the area of a triangle: its sign says on which side of AB the point P lies. */
static double side(struct point a, struct point b, struct point p)
{
    return (b.at[0] - a.at[0]) * (p.at[1] - a.at[1]) - (b.at[1] - a.at[1]) * (p.at[0] - a.at[0]);
}

static double distance(struct point p, struct point q)
{
    return hypot(p.at[0] - q.at[0], p.at[1] - q.at[1]);
}

/* Whether P lies on the edge from A to B. */
static bool is_on(struct point p, struct point a, struct point b)
{
    const double x = b.at[0] - a.at[0], y = b.at[1] - a.at[1];
    const double along = ((p.at[0] - a.at[0]) * x + (p.at[1] - a.at[1]) * y) / (x * x + y * y);
    const double t = fmin(fmax(along, 0), 1);
    return distance(p, (struct point){{a.at[0] + t * x, a.at[1] + t * y}}) < SAME_M;
}

/* What is wrong with two edges that follow each other, from BEFORE over SHARED to AFTER; NULL: nothing. */
static const char *compare_neighbours(struct point before, struct point shared, struct point after)
{
    return is_on(before, shared, after) || is_on(after, before, shared) ? "run back over each other" : NULL;
}

/* What is wrong with the edges AB and CD, which have no point in common; NULL: nothing. */
static const char *compare_edges(struct point a, struct point b, struct point c, struct point d)
{
    const int touches = is_on(a, c, d) + is_on(b, c, d) + is_on(c, a, b) + is_on(d, a, b);
    if (touches > 0)
        return touches > 1 ? "lie on each other" : "touch";
    return side(a, b, c) * side(a, b, d) < 0 && side(c, d, a) * side(c, d, b) < 0 ? "cross" : NULL;
}

static const char *compare(const struct plx_zone *zone, int first, int second)
{
    const struct point a = point_of(zone, first), b = point_of(zone, first + 1), c = point_of(zone, second),
                       d = point_of(zone, second + 1);
    if (second == first + 1)
        return compare_neighbours(a, b, d);
    if (first == 0 && second == zone->points - 1)
        return compare_neighbours(c, a, b);
    return compare_edges(a, b, c, d);
}

bool plx_polygon_find_fault(const struct plx_zone *zone, struct plx_polygon_fault *ret_fault)
{
    for (int second = 1; second < zone->points; second++)
        for (int first = 0; first < second; first++)
            if (distance(point_of(zone, first), point_of(zone, second)) < SAME_M) {
                *ret_fault = (struct plx_polygon_fault){first, second, true, "are the same"};
                return true;
            }
    for (int second = 1; second < zone->points; second++)
        for (int first = 0; first < second; first++) {
            const char *what = compare(zone, first, second);
            if (what) {
                *ret_fault = (struct plx_polygon_fault){first, second, false, what};
                return true;
            }
        }
    return false;
}

/* --- areas ---------------------------------------------------------------------------------------------------------------- */

static double area_of(const struct point *point, int points)
{
    double twice = 0;
    for (int i = 0, j = points - 1; i < points; j = i++)
        twice += point[j].at[0] * point[i].at[1] - point[i].at[0] * point[j].at[1];
    return fabs(twice) / 2;
}

/* Cuts off what is above LIMIT on AXIS, below it where SIGN is -1 (Sutherland and Hodgman: Reentrant polygon clipping, CACM
 * 1974). POINT has MAX_CLIPPED places. Returns the number of points that are left. */
static int clip(struct point *point, int points, int axis, double sign, double limit)
{
    struct point kept[MAX_CLIPPED] = {0};
    int count = 0;
    for (int i = 0, j = points - 1; i < points; j = i++) {
        const double here = sign * (limit - point[i].at[axis]), there = sign * (limit - point[j].at[axis]);
        if ((here > 0 && there < 0) || (here < 0 && there > 0)) {
            const double t = there / (there - here);
            for (int k = 0; k < 2; k++)
                kept[count].at[k] = point[j].at[k] + t * (point[i].at[k] - point[j].at[k]);
            count++;
        }
        if (here >= 0)
            kept[count++] = point[i];
    }
    memcpy(point, kept, (size_t)count * sizeof *point);
    return count;
}

double plx_polygon_area(const struct plx_zone *zone)
{
    struct point point[PLX_ZONE_POINTS];
    for (int i = 0; i < zone->points; i++)
        point[i] = point_of(zone, i);
    return area_of(point, zone->points);
}

double plx_polygon_share_in(const struct plx_zone *zone, const double low[2], const double high[2])
{
    struct point point[MAX_CLIPPED];
    int points = zone->points;
    for (int i = 0; i < points; i++)
        point[i] = point_of(zone, i);
    for (int axis = 0; axis < 2; axis++) {
        points = clip(point, points, axis, 1, high[axis]);
        points = clip(point, points, axis, -1, low[axis]);
    }
    return area_of(point, points) / plx_polygon_area(zone);
}
