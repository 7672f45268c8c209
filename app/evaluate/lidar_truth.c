/* SPDX-License-Identifier: Apache-2.0 */
#include "app/evaluate/lidar_truth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "core/base/random.h"
#include "core/geometry/matrix3.h"
#include "core/geometry/stereo.h"

/* The road is fitted to the points of a corridor ahead of the car. */
#define CORRIDOR_HALF_M 5.0
#define CORRIDOR_NEAR_M 4
#define CORRIDOR_FAR_M 20
#define ROAD_TOLERANCE_M 0.05
#define ROAD_TRIALS 400
#define MIN_ROAD_SHARE 0.3 /* share of the corridor's points */

#define GROUND_M 0.12
#define OBSTACLE_LOW_M 0.3
#define OBSTACLE_HIGH_M 2.5
#define STANDING_M 0.2 /* ground near a point of this height is not clear */

/* A map in cells, seen from above, of the points that stand on the road. */
#define CELL_M 0.05
#define CLEARANCE 10 /* cells, 0.5 m */
#define MAP_WIDTH 1200
#define MAP_DEPTH 430

enum { METRES = CORRIDOR_FAR_M - CORRIDOR_NEAR_M };

struct position {
    double x, y, z;
};

/* The points of the corridor, grouped by whole metres of distance. */
struct corridor {
    struct position *point;
    int count;
    int first[METRES + 1]; /* index of the first point of each metre; at the end, COUNT */
};

static bool position_of(const struct plx_calibration_info *c, double disparity, int u, int v, struct position *ret)
{
    const double z = plx_depth_of_disparity(c, disparity - plx_disparity_shift(c));
    double point[3];
    if (!isfinite(z))
        return false;
    plx_point_of_pixel(c, u, v, z, point);
    *ret = (struct position){point[0], point[1], point[2]};
    return true;
}

/* The metre of the corridor that holds P; -1 outside of the corridor. */
static int metre_of(const struct position *p)
{
    return fabs(p->x) <= CORRIDOR_HALF_M && p->z >= CORRIDOR_NEAR_M && p->z < CORRIDOR_FAR_M ? (int)p->z - CORRIDOR_NEAR_M : -1;
}

/* The position of pixel I of TRUTH; false if it has no measurement. */
static bool pixel_position(const struct plx_image *truth, double scale, const struct plx_calibration_info *c, int i,
                           struct position *ret)
{
    const int x = i % truth->width, y = i / truth->width;
    const uint16_t value = ((const uint16_t *)plx_row(truth, y))[x];
    return value > 0 && position_of(c, value / scale, x, y, ret);
}

static int collect_corridor(const struct plx_image *truth, double scale, const struct plx_calibration_info *c,
                            struct corridor *ret)
{
    const int pixels = truth->width * truth->height;
    struct position p;
    int next[METRES] = {0};
    for (int i = 0; i < pixels; i++)
        if (pixel_position(truth, scale, c, i, &p) && metre_of(&p) >= 0)
            ret->first[metre_of(&p) + 1]++;
    for (int m = 0; m < METRES; m++) {
        ret->first[m + 1] += ret->first[m];
        next[m] = ret->first[m];
    }
    ret->count = ret->first[METRES];
    ret->point = malloc(((size_t)ret->count + 1) * sizeof *ret->point);
    if (!ret->point)
        return PLX_ERR_NOMEM;
    for (int i = 0; i < pixels; i++)
        if (pixel_position(truth, scale, c, i, &p) && metre_of(&p) >= 0)
            ret->point[next[metre_of(&p)]++] = p;
    return 0;
}

static double above_road(const struct plx_lidar_truth *road, const struct position *p)
{
    return (road->slope_x * p->x + road->slope_z * p->z + road->intercept - p->y) /
           sqrt(1 + road->slope_x * road->slope_x + road->slope_z * road->slope_z);
}

static double det3(const double a[3], const double b[3], const double c[3])
{
    const double m[9] = {a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2]};
    return plx_mat3_determinant(m);
}

/* Solves the symmetric system with columns M and right side Y by Cramer's rule; false if it is singular. */
static bool solve(const double m[3][3], const double y[3], struct plx_lidar_truth *road)
{
    const double determinant = det3(m[0], m[1], m[2]);
    if (fabs(determinant) < 1e-9)
        return false;
    road->slope_x = det3(y, m[1], m[2]) / determinant;
    road->slope_z = det3(m[0], y, m[2]) / determinant;
    road->intercept = det3(m[0], m[1], y) / determinant;
    return true;
}

/* Least squares over the points near ROAD, each metre of distance with the same weight. */
static void refit(const struct corridor *corridor, struct plx_lidar_truth *road)
{
    double m[3][3] = {{0}}, y[3] = {0};
    for (int metre = 0; metre < METRES; metre++) {
        const int begin = corridor->first[metre], end = corridor->first[metre + 1];
        for (int i = begin; i < end; i++) {
            const struct position *p = &corridor->point[i];
            const double row[3] = {p->x, p->z, 1}, weight = 1.0 / (end - begin);
            if (fabs(above_road(road, p)) > ROAD_TOLERANCE_M)
                continue;
            for (int a = 0; a < 3; a++) {
                y[a] += weight * row[a] * p->y;
                for (int b = 0; b < 3; b++)
                    m[a][b] += weight * row[a] * row[b];
            }
        }
    }
    solve(m, y, road);
}

/* Share of the points near ROAD in each metre, summed over all metres, so that each metre counts the same. *ret_inliers: the
 * number of these points. */
static double support(const struct corridor *corridor, const struct plx_lidar_truth *road, int *ret_inliers)
{
    double share = 0;
    *ret_inliers = 0;
    for (int metre = 0; metre < METRES; metre++) {
        const int begin = corridor->first[metre], end = corridor->first[metre + 1];
        int inliers = 0;
        for (int i = begin; i < end; i++)
            inliers += fabs(above_road(road, &corridor->point[i])) <= ROAD_TOLERANCE_M;
        share += end > begin ? (double)inliers / (end - begin) : 0;
        *ret_inliers += inliers;
    }
    return share;
}

/* The plane through three random points of the corridor; false if it cannot be a road. */
static bool sample_plane(const struct corridor *corridor, uint32_t *random, struct plx_lidar_truth *ret_road)
{
    double m[3][3], y[3];
    for (int i = 0; i < 3; i++) {
        const uint32_t metre = plx_random_next(random) % METRES;
        const int begin = corridor->first[metre], size = corridor->first[metre + 1] - begin;
        if (size == 0)
            return false;
        const struct position *p = &corridor->point[begin + (int)(plx_random_next(random) % (uint32_t)size)];
        m[0][i] = p->x;
        m[1][i] = p->z;
        m[2][i] = 1;
        y[i] = p->y;
    }
    return solve(m, y, ret_road) && fabs(ret_road->slope_x) < 0.3 && fabs(ret_road->slope_z) < 0.3 && ret_road->intercept > 0.5;
}

/* RANSAC (Fischler and Bolles 1981), then two rounds of least squares. */
static void find_road(const struct corridor *corridor, struct plx_lidar_truth *road)
{
    uint32_t random = 1;
    int inliers = 0;
    double most = 0;
    for (int trial = 0; corridor->count > 0 && trial < ROAD_TRIALS; trial++) {
        struct plx_lidar_truth candidate = *road;
        if (!sample_plane(corridor, &random, &candidate))
            continue;
        const double share = support(corridor, &candidate, &inliers);
        if (share > most) {
            most = share;
            *road = candidate;
        }
    }
    if (most == 0)
        return;
    refit(corridor, road);
    refit(corridor, road);
    support(corridor, road, &inliers);
    road->scored = inliers >= MIN_ROAD_SHARE * corridor->count;
}

static uint8_t *map_cell(uint8_t *map, double x, double z)
{
    const int column = (int)floor(x / CELL_M) + MAP_WIDTH / 2, row = (int)floor(z / CELL_M);
    return column >= CLEARANCE && column < MAP_WIDTH - CLEARANCE && row >= CLEARANCE && row < MAP_DEPTH - CLEARANCE
               ? &map[row * MAP_WIDTH + column]
               : NULL;
}

/* Sets 2 in every cell of MAP within the clearance of one that holds 1. */
static void widen(uint8_t *map)
{
    for (int i = 0; i < MAP_WIDTH * MAP_DEPTH; i++) {
        if (!(map[i] & 1))
            continue;
        for (int dz = -CLEARANCE; dz <= CLEARANCE; dz++)
            for (int dx = -CLEARANCE; dx <= CLEARANCE; dx++)
                if (dx * dx + dz * dz <= CLEARANCE * CLEARANCE)
                    map[i + dz * MAP_WIDTH + dx] |= 2;
    }
}

static uint8_t class_of(const struct plx_lidar_point *point, const uint8_t *cell)
{
    if (point->depth_m > (float)PLX_LIDAR_RANGE_M)
        return PLX_LIDAR_UNKNOWN;
    if (point->height_m >= (float)OBSTACLE_LOW_M && point->height_m <= (float)OBSTACLE_HIGH_M)
        return PLX_LIDAR_OBSTACLE;
    if (fabsf(point->height_m) > (float)GROUND_M)
        return PLX_LIDAR_UNKNOWN;
    return cell && !(*cell & 2) ? PLX_LIDAR_CLEAR : PLX_LIDAR_GROUND;
}

static void classify(const struct plx_image *truth, double scale, const struct plx_calibration_info *c,
                     struct plx_lidar_truth *road, uint8_t *map)
{
    const int pixels = truth->width * truth->height;
    struct position p;
    for (int i = 0; i < pixels; i++) {
        if (!pixel_position(truth, scale, c, i, &p))
            continue;
        road->point[i].depth_m = (float)p.z;
        road->point[i].height_m = (float)above_road(road, &p);
        uint8_t *cell = map_cell(map, p.x, p.z);
        if (cell && road->point[i].height_m >= (float)STANDING_M)
            *cell |= 1;
    }
    widen(map);
    for (int i = 0; i < pixels; i++)
        if (pixel_position(truth, scale, c, i, &p))
            road->point[i].class = class_of(&road->point[i], map_cell(map, p.x, p.z));
}

int plx_lidar_truth_read(const struct plx_image *truth, double scale, const struct plx_calibration_info *calibration,
                         struct plx_lidar_truth *ret_truth)
{
    if (!plx_image_ok(truth, PLX_U16) || !(scale > 0))
        return PLX_ERR_ARG;
    struct plx_lidar_truth road = {.width = truth->width, .height = truth->height};
    struct corridor corridor = {.point = NULL};
    uint8_t *map = calloc(MAP_DEPTH, MAP_WIDTH);
    road.point = calloc((size_t)truth->width * (size_t)truth->height, sizeof *road.point);
    int result = map && road.point ? collect_corridor(truth, scale, calibration, &corridor) : PLX_ERR_NOMEM;
    if (result == 0) {
        find_road(&corridor, &road);
        if (road.scored)
            classify(truth, scale, calibration, &road, map);
        *ret_truth = road;
    } else {
        free(road.point);
    }
    free(corridor.point);
    free(map);
    return result;
}
