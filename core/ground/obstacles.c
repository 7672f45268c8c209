/* SPDX-License-Identifier: Apache-2.0 */
#include "core/ground/obstacles.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "core/base/median.h"
#include "core/geometry/stereo.h"
#include "core/ground/stixels.h"

#define MIN_WIDTH_M 0.08 /* width of an obstacle, with what matching adds */
#define MIN_HEIGHT_M 0.05
#define MIN_RISE_M 0.1          /* above min_height; a lower region is roughness of the ground */
#define STANDS_WITHIN_M 0.15    /* above min_height: an obstacle that ends there stands on the ground */
#define MAX_LOCKING 8.0         /* 1/16 px: half a pixel */
#define MIN_TEXTURE 16          /* mean square of left(x + 1) - left(x - 1) that refinement needs */
#define MIN_STRIPS 4            /* in widths of a strip: narrower regions have no separate sides */
#define FATTENING_PX 2.5        /* matching widens an obstacle by this much at each side, */
#define STIXEL_FATTENING_PX 3.3 /* and columns of 4 pixels by more */

/* What turns disparities, 1/16 px relative to min_disparity, into metres. */
struct geometry {
    const struct plx_calibration_info *calibration;
    int min_disparity, image_height;
    double infinity; /* disparity of a point at infinity */
};

static double depth_at(const struct geometry *geometry, double disparity)
{
    return plx_depth_scale_m(geometry->calibration) / (disparity - geometry->infinity);
}

static float pixels(const struct geometry *geometry, double disparity)
{
    return (float)(disparity / PLX_DISPARITY_ONE + geometry->min_disparity);
}

/* Height above ground of the point at pixel (u, v) and depth z. */
static double height_at(const struct geometry *geometry, const struct plx_ground_info *ground, double u, double v, double z)
{
    double p[3];
    plx_point_of_pixel(geometry->calibration, u, v, z, p);
    return (double)ground->camera_height_m -
           ((double)ground->normal[0] * p[0] + (double)ground->normal[1] * p[1] + (double)ground->normal[2] * p[2]);
}

/* The refined disparity of PART; OTHERWISE if the images have no texture there, or the result lies outside the region. */
static double refined(const struct plx_region *r, const struct plx_refined *part, double otherwise)
{
    if (part->weight == 0)
        return otherwise;
    const double disparity = (double)part->sum / (double)part->weight;
    return disparity > (double)r->p05 - PLX_INTERIOR_DEPTH && disparity < (double)r->p95 + PLX_INTERIOR_DEPTH ? disparity
                                                                                                              : otherwise;
}

static double interior_mean(const struct plx_region *r)
{
    return (double)r->interior_sum_d / r->interior_area;
}

/* Disparity of the interior: refined if there is enough texture, else the mean of matching. */
static double interior_disparity(const struct plx_region *r)
{
    const double mean = interior_mean(r);
    return r->interior.weight >= MIN_TEXTURE * (int64_t)r->interior_area ? refined(r, &r->interior, mean) : mean;
}

/* A percentile of the region's disparities, without what matching has drawn the whole surface towards a whole pixel (pixel
 * locking: M. Shimizu, M. Okutomi: Precise sub-pixel estimation on area-based matching, 2001). A surface that recedes is drawn
 * both ways, and its mean tells nothing. */
static double unlocked(const struct plx_region *r, double interior, uint32_t percentile)
{
    return percentile + fmax(-MAX_LOCKING, fmin(interior - interior_mean(r), MAX_LOCKING));
}

/* Disparity at one side of the region; that of the interior if the region is too narrow. */
static double side_disparity(const struct plx_region *r, const struct plx_refined *side, double interior)
{
    return r->inner_x1 - r->inner_x0 + 1 < MIN_STRIPS * PLX_REFINE_STRIP ? interior : refined(r, side, interior);
}

/* Row where GROUND is Z away in column U; that is where an obstacle that stands there touches it. */
static double contact_row(const struct geometry *geometry, const struct plx_ground_info *ground, double u, double z)
{
    const struct plx_calibration_info *c = geometry->calibration;
    const double across = (double)ground->normal[0] * (u - c->cx) / c->fx;
    return c->cy +
           ((double)ground->camera_height_m / z - across - (double)ground->normal[2]) / (double)ground->normal[1] * c->fy;
}

/* The last row of the obstacle: of its inner box, or of its contact with GROUND if it comes near. */
static int last_row(const struct plx_region *r, const struct geometry *geometry, const struct plx_ground_info *ground,
                    const struct plx_obstacle_params *params, double u, double z)
{
    if (!ground->valid || height_at(geometry, ground, u, r->inner_y1, z) >= params->min_height_m + STANDS_WITHIN_M)
        return r->inner_y1;
    const double row = floor(contact_row(geometry, ground, u, z));
    return row <= r->inner_y1 ? r->inner_y1 : row < geometry->image_height ? (int)row : geometry->image_height - 1;
}

/* False if the region is no obstacle. */
static bool measure(const struct plx_region *r, const struct geometry *geometry, const struct plx_ground_info *ground,
                    const struct plx_obstacle_params *params, struct plx_obstacle *ret)
{
    const struct plx_calibration_info *c = geometry->calibration;
    if (r->area == 0 || r->interior_area == 0 || r->p05 <= geometry->infinity)
        return false;
    const double interior = interior_disparity(r);
    const double left = side_disparity(r, &r->left, interior), right = side_disparity(r, &r->right, interior);
    if (fmin(interior, fmin(left, right)) <= geometry->infinity)
        return false;
    const double near_disparity = unlocked(r, interior, r->p95), far_disparity = unlocked(r, interior, r->p05);
    if (far_disparity <= geometry->infinity)
        return false;
    const double z = depth_at(geometry, interior), near = depth_at(geometry, near_disparity),
                 far = depth_at(geometry, far_disparity);
    const int columns = r->inner_x1 - r->inner_x0 + 1;
    const double widened = params->method == PLX_OBSTACLES_OF_STIXELS ? STIXEL_FATTENING_PX : FATTENING_PX;
    const double fattening = fmin(widened, columns / 4.0); /* half of a narrow region is left */
    const double u0 = r->inner_x0 - 0.5 + fattening - c->cx, u1 = r->inner_x1 + 0.5 - fattening - c->cx;
    const double z0 = depth_at(geometry, left), z1 = depth_at(geometry, right);
    /* From side to side, each at its own depth: a wall along the way is as wide as it is long. */
    const double width = hypot((u1 * z1 - u0 * z0) / c->fx, z1 - z0);
    const double u = (double)r->interior_sum_x / r->interior_area, v = (double)r->interior_sum_y / r->interior_area;
    const int foot = last_row(r, geometry, ground, params, u, z), bottom = foot > r->y1 ? foot : r->y1;
    const double height = (foot - r->inner_y0 + 1) / c->fy * z;
    const double box = (double)(r->x1 - r->x0 + 1) * (bottom - r->y0 + 1);
    if (columns / c->fx * z < MIN_WIDTH_M || height < MIN_HEIGHT_M)
        return false;
    double centre[3];
    plx_point_of_pixel(c, u, v, z, centre);

    *ret = (struct plx_obstacle){
        .label = r->label,
        .area_px = r->area,
        .x = r->x0,
        .y = r->y0,
        .width = r->x1 - r->x0 + 1,
        .height = bottom - r->y0 + 1,
        .centroid_x = (float)((double)r->sum_x / r->area),
        .centroid_y = (float)((double)r->sum_y / r->area),
        .disparity_median = pixels(geometry, r->median),
        .disparity_near = pixels(geometry, near_disparity),
        .nearest_m = (float)near,
        .position_m = {(float)centre[0], (float)centre[1], (float)centre[2]},
        .extent_m = {(float)width, (float)height, (float)(far - near)},
        .height_m = ground->valid ? (float)height_at(geometry, ground, u, r->inner_y0, z) : 0,
        .valid_ratio = (float)(r->area / box),
        .confidence = (float)(r->interior_area / box),
    };
    return true;
}

int plx_obstacles_measure(const struct plx_region *region, int count, const struct plx_calibration_info *calibration,
                          int min_disparity, int image_height, const struct plx_ground_info *ground,
                          const struct plx_obstacle_params *params, struct plx_obstacle *ret_obstacle)
{
    const struct geometry geometry = {calibration, min_disparity, image_height,
                                      plx_disparity_at_infinity(calibration, min_disparity)};
    int kept = 0;
    for (int i = 0; i < count; i++)
        if (measure(&region[i], &geometry, ground, params, &ret_obstacle[kept]) &&
            (!ground->valid || (double)ret_obstacle[kept].height_m >= params->min_height_m + MIN_RISE_M))
            kept++;
    return kept;
}

/* Adds STIXEL of column X to the parts of the outline that it stands in. */
static void add_to_outline(const struct plx_stixel *stixel, int x, struct plx_obstacle *obstacle)
{
    for (int part = 0; part < PLX_OUTLINE_PARTS; part++)
        if (obstacle->outline[part] < stixel->near_disparity &&
            plx_outline_meets(obstacle, part, (int64_t)PLX_COLUMN_WIDTH * x, PLX_COLUMN_WIDTH))
            obstacle->outline[part] = stixel->near_disparity;
}

void plx_obstacles_outline(const struct plx_image *stixels, int min_disparity, int infinity, struct plx_obstacle *ret_obstacle,
                           int count)
{
    struct plx_obstacle *labelled[PLX_MAX_OBSTACLES + 1] = {NULL};

    for (int i = 0; i < count; i++) {
        const double near = ((double)ret_obstacle[i].disparity_near - min_disparity) * PLX_DISPARITY_ONE - infinity;
        for (int part = 0; part < PLX_OUTLINE_PARTS; part++)
            ret_obstacle[i].outline[part] = stixels ? 0 : (uint16_t)fmin(fmax(round(near), 0), UINT16_MAX);
        labelled[ret_obstacle[i].label] = &ret_obstacle[i];
    }
    for (int x = 0; stixels && x < stixels->height; x++) {
        const struct plx_stixel *stixel = plx_row(stixels, x);
        for (int i = 0; i < PLX_COLUMN_STIXELS && stixel[i].disparity > 0; i++)
            if (stixel[i].label <= PLX_MAX_OBSTACLES && labelled[stixel[i].label] && plx_stixel_blocks(&stixel[i]))
                add_to_outline(&stixel[i], x, labelled[stixel[i].label]);
    }
}

#define SURE_LINES 24     /* most rows, and most columns, of a box that are looked at */
#define SURE_REACH_PX 1.0 /* from the nearest disparity */

/* The least confidence that half of the samples of OBSTACLE do not exceed; 0 if there are none. */
static int median_confidence(const struct plx_sure_images *images, const struct plx_obstacle *obstacle, int min_disparity)
{
    const int step_x = 1 + obstacle->width / SURE_LINES, step_y = 1 + obstacle->height / SURE_LINES;
    const int end_x = obstacle->x + obstacle->width, end_y = obstacle->y + obstacle->height;
    const double near = ((double)obstacle->disparity_near - min_disparity) * PLX_DISPARITY_ONE;
    int count[PLX_CONFIDENCES] = {0}, all = 0;

    for (int y = obstacle->y; y < end_y; y += step_y) {
        const uint16_t *label = plx_row(images->labels, y), *disparity = plx_row(images->disparity, y);
        const uint8_t *confidence = plx_row(images->confidence, y);
        for (int x = obstacle->x; x < end_x; x += step_x) {
            if (label[x] != obstacle->label || !(fabs(disparity[x] - near) <= SURE_REACH_PX * PLX_DISPARITY_ONE))
                continue;
            count[confidence[x]]++;
            all++;
        }
    }
    return plx_counted_median(count, all);
}

void plx_obstacles_sigma(const struct plx_sure_images *images, const struct plx_error_info *errors,
                         const struct plx_calibration_info *calibration, int min_disparity, struct plx_obstacle *ret_obstacle,
                         int count)
{
    if (!images->labels->data || !images->disparity->data || !images->confidence->data || !errors->known)
        return;
    for (int i = 0; i < count; i++) {
        struct plx_obstacle *obstacle = &ret_obstacle[i];
        const double sigma_px = (double)errors->sigma_px[median_confidence(images, obstacle, min_disparity)];
        obstacle->nearest_sigma_m = (float)plx_depth_sigma(calibration, (double)obstacle->nearest_m, sigma_px);
    }
}

void plx_ground_geometry(const struct plx_ground *ground, const struct plx_calibration_info *calibration, int min_disparity,
                         struct plx_ground_info *ret_info)
{
    double normal[3];

    memset(ret_info, 0, sizeof *ret_info);
    if (!ground->valid)
        return;
    plx_ground_normal(ground, calibration, plx_disparity_at_infinity(calibration, min_disparity), normal);
    const double length = sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
    *ret_info = (struct plx_ground_info){
        .valid = 1,
        .camera_height_m = (float)(1 / length),
        .pitch_rad = (float)asin(normal[2] / length),
        .roll_rad = (float)atan2(normal[0], normal[1]),
        .normal = {(float)(normal[0] / length), (float)(normal[1] / length), (float)(normal[2] / length)},
        .inlier_ratio = ground->valid == PLX_GROUND_FOUND ? (float)ground->inliers / (float)ground->pixels : 0,
    };
}
