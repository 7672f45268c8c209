/* SPDX-License-Identifier: Apache-2.0 */
#include "app/supervisor/zone_drawing.h"

#include <math.h>

#include <parallax/error.h>

#include "app/backend.h"
#include "core/verdict/zones.h"

#define CELL_X_M 0.2 /* a character is twice as high as wide */
#define CELL_Y_M 0.1
#define STEP_M 0.025 /* between points that are looked at for distances */
#define BEHIND_M 1.0 /* that the drawing shows at least */
#define LITTLE 0.5   /* a zone of which less is visible gets a warning */

/* What the drawing must hold: the zones, and the robot. */
struct extent {
    double x_min, x_max, y_max;
};

static struct extent extent_of(const struct plx_zone_list *list)
{
    struct extent extent = {-BEHIND_M, BEHIND_M, BEHIND_M};
    for (int i = 0; i < list->count; i++)
        for (int p = 0; p < list->zone[i].points; p++) {
            extent.x_min = fmin(extent.x_min, (double)list->zone[i].polygon[p][0]);
            extent.x_max = fmax(extent.x_max, (double)list->zone[i].polygon[p][0]);
            extent.y_max = fmax(extent.y_max, fabs((double)list->zone[i].polygon[p][1]));
        }
    return extent;
}

/* The first zone at a point as its letter, capital where the cameras see the ground there. */
static char letter_at(const struct plx_zones *zones, double x, double y)
{
    bool visible;
    const uint16_t mask = plx_zones_at(zones, x, y, &visible);
    if (hypot(x, y) < CELL_Y_M)
        return '+';
    return mask == 0 ? (visible ? '.' : ' ') : (char)((visible ? 'A' : 'a') + __builtin_ctz(mask));
}

static void draw(const struct plx_zone_list *list, const struct plx_zones *zones, FILE *out)
{
    const struct extent extent = extent_of(list);
    const int first = (int)ceil(extent.x_max / CELL_X_M), last = (int)floor(extent.x_min / CELL_X_M),
              side = (int)ceil(extent.y_max / CELL_Y_M);
    for (int row = first; row >= last; row--) {
        fprintf(out, "%6.1f ", row * CELL_X_M);
        for (int column = side; column >= -side; column--)
            fputc(letter_at(zones, row * CELL_X_M, column * CELL_Y_M), out);
        fputc('\n', out);
    }
    fputs("m ahead; capital letters and dots: ground that the cameras see; +: origin of the robot's base\n", out);
}

/* Distances from the origin of the robot's base, in the half plane ahead: of the nearest ground that the cameras see, and of
 * the nearest point of each zone; INFINITY: there is none. */
static void find_nearest(const struct plx_zone_list *list, const struct plx_zones *zones, double *ret_seen_m,
                         double ret_begins_m[PLX_MAX_ZONES])
{
    const struct extent extent = extent_of(list);
    bool visible;

    *ret_seen_m = INFINITY;
    for (int i = 0; i < PLX_MAX_ZONES; i++)
        ret_begins_m[i] = INFINITY;
    for (double x = 0; x <= extent.x_max; x += STEP_M)
        for (double y = -extent.y_max; y <= extent.y_max; y += STEP_M) {
            const unsigned mask = plx_zones_at(zones, x, y, &visible);
            *ret_seen_m = visible ? fmin(*ret_seen_m, hypot(x, y)) : *ret_seen_m;
            for (int i = 0; i < list->count; i++)
                ret_begins_m[i] = mask >> i & 1 ? fmin(ret_begins_m[i], hypot(x, y)) : ret_begins_m[i];
        }
}

static void list_zones(const struct plx_zone_list *list, const struct plx_zones *zones, FILE *out)
{
    double seen_m, begins_m[PLX_MAX_ZONES];

    find_nearest(list, zones, &seen_m, begins_m);
    for (int i = 0; i < list->count; i++) {
        const double visible = plx_zones_visible(zones, i);
        fprintf(out, "%c  zone %s: the cameras can see %.0f %% of it%s%s", 'A' + i, list->zone[i].name, 100 * visible,
                visible < LITTLE ? "; what they cannot see is never looked at before the robot has driven past it" : "",
                visible == 0 && list->zone[i].unknown == PLX_VERDICT_GO ? ", and `unknown: go` calls it free until then" : "");
        if (isfinite(seen_m) && begins_m[i] + STEP_M < seen_m)
            fprintf(out, "; it begins at %.1f m, and they see ground from %.1f m on", begins_m[i], seen_m);
        fputc('\n', out);
    }
}

int plx_zone_drawing_print(const struct plx_config *config, const struct plx_stereo_calibration *calibration, FILE *out,
                           struct plx_error_message *message)
{
    const struct plx_pipeline_params *params = &config->pipeline;
    const struct plx_limits limits = {.width = calibration->rectified_width,
                                      .height = calibration->rectified_height,
                                      .disparities = params->match.disparities,
                                      .threads = 1};
    struct plx_stages *stages;
    struct plx_pipeline *pipeline = NULL;

    if (config->pipeline.zones.count == 0)
        return 0;
    int result = plx_backend_open(PLX_BACKEND_CPU, PLX_GPU_MEMORY_AUTO, &limits, &stages, NULL, message);
    if (result < 0)
        return result;
    result = plx_pipeline_create(stages, params, calibration, &pipeline, message);
    if (result == 0) {
        const struct plx_zones *zones = plx_pipeline_zones(pipeline);
        draw(&config->pipeline.zones, zones, out);
        list_zones(&config->pipeline.zones, zones, out);
    }
    plx_pipeline_destroy(pipeline);
    stages->ops->destroy(stages);
    return result;
}
