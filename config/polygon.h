/* SPDX-License-Identifier: Apache-2.0 */
/* The shape of a polygon: what makes it no simple one, its area, and how much of it lies in a rectangle. */
#ifndef PLX_CONFIG_POLYGON_H
#define PLX_CONFIG_POLYGON_H

#include <stdbool.h>

#include "core/verdict/zones.h"

struct plx_polygon_fault {
    int first, second; /* edges, each named by the index of its first point; points where IS_POINTS */
    bool is_points;    /* two points are one */
    const char *what;  /* "cross", "touch", ... */
};

/* Whether two points or two edges of ZONE's polygon make it no simple polygon. */
bool plx_polygon_find_fault(const struct plx_zone *zone, struct plx_polygon_fault *ret_fault);

/* The area of a simple polygon, m2. */
double plx_polygon_area(const struct plx_zone *zone);

/* Share of a simple polygon, 0 .. 1, between LOW and HIGH on both axes. */
double plx_polygon_share_in(const struct plx_zone *zone, const double low[2], const double high[2]);

#endif
