/* SPDX-License-Identifier: Apache-2.0 */
/* Zones: polygons on the ground around the robot that must be known to be free. */
#ifndef PLX_CORE_VERDICT_ZONES_H
#define PLX_CORE_VERDICT_ZONES_H

#include <stdbool.h>

#include <parallax/frame.h>

#include "core/base/image.h"
#include "core/verdict/map.h"

#define PLX_ZONE_REACH_M 5.0 /* no point of a polygon is farther from the base's origin: the map always holds it */
#define PLX_ZONE_FRAMES 31   /* largest number of frames to trip */

/* Without padding, as everything of the configuration. */
struct plx_zone {
    char name[PLX_ZONE_NAME];
    int points;                          /* 3 .. PLX_ZONE_POINTS */
    float polygon[PLX_ZONE_POINTS][2];   /* x and y in the robot's base, metres; unused ones are 0 */
    int frames;                          /* it trips if that many of the last frames + 1 say so */
    enum plx_verdict_kind occupied;      /* what it demands where something stands in it, or the ground falls away */
    enum plx_verdict_kind unknown;       /* the same where too much is unknown, or too little depth is seen */
    double clear_s;                      /* it clears after so long without any frame that says so */
    double min_height_m, max_height_m;   /* what stands in between counts, by any part of it; drops always count */
    double min_speed_mps, max_speed_mps; /* at which the zone counts */
    double max_unknown, min_depth;       /* shares, 0 .. 1: of its visible cells, and of the columns towards it */
};

struct plx_zone_list {
    int64_t count;
    struct plx_zone zone[PLX_MAX_ZONES]; /* unused ones are 0 */
};

/* How the left camera sees the ground about the robot. */
struct plx_zone_view {
    struct plx_pose base_from_left; /* by the mount */
    struct plx_calibration_info calibration;
    int width, height;
    float blind_within_m;        /* as in struct plx_frame */
    struct plx_map_params robot; /* its rectangle: the map calls it free without looking at it */
};

struct plx_zones;

/* Errors: NOMEM. Destroy accepts NULL. */
int plx_zones_create(const struct plx_zone_list *list, const struct plx_zone_view *view, struct plx_zones **ret_zones);
void plx_zones_destroy(struct plx_zones *zones);

/* Bits of the zones at X, Y of the base, bit i for zone i; *ret_visible: the camera can see the ground there, which is
 * not under the robot itself. */
uint16_t plx_zones_at(const struct plx_zones *zones, double x, double y, bool *ret_visible);

/* Share of zone INDEX that the camera can see, 0 .. 1. */
double plx_zones_visible(const struct plx_zones *zones, int index);

/* Judges the zones by the map of FRAME, its cells struct plx_cell [PLX_MAP_CELLS][PLX_MAP_CELLS], and its scan. SPEED_MPS: of
 * the robot; NAN: not known, all zones count. Where no zone has that speed in its range, those with the nearest range count. */
void plx_zones_update(struct plx_zones *zones, const struct plx_map_info *map, const struct plx_image *cells,
                      const struct plx_image *scan, double speed_mps, int64_t capture_ns,
                      struct plx_zone_info ret_info[PLX_MAX_ZONES]);

#endif
