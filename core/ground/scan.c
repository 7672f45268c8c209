/* SPDX-License-Identifier: Apache-2.0 */
#include "core/ground/scan.h"

#include <math.h>

#include "core/geometry/stereo.h"
#include "core/ground/stixels.h"

#define MIN_GAP 5    /* columns, 20 px */
#define MIN_DROP 10  /* columns, 40 px: of 25,000 frames of slopes one had a chance drop of 8 */
#define MIN_RISE 4   /* columns, 16 px */
#define RISE_SLOPE 5 /* ground that rises by no more than a 5th of its way is a ramp: 11 degrees */
#define RISE_CELLS 3 /* that show it */
#define RISE_NOISE 5 /* standard deviations of a height */
#define DROP_SLOPE 7 /* and ground that falls by no more than a 7th: 8 degrees */
#define DROP_CELLS 1 /* a low floor far ahead shows hardly more below a slope of 8 degrees */
#define DROP_NOISE 3
#define FARTHEST_MM 1000000

void plx_scan_close(struct plx_scan *scan, int count)
{
    for (int begin = 0, end; begin < count; begin = end + 1) {
        end = begin;
        while (end < count && scan[end].free != PLX_SCAN_NOTHING_FREE)
            end++;
        for (int x = begin; x < end && end - begin < MIN_GAP; x++) {
            scan[x].free = PLX_SCAN_NOTHING_FREE;
            scan[x].known = 0; /* also no drop */
        }
    }
}

/* True if the drop that was found in a column may end its free ground. */
static bool may_drop(const struct plx_scan *scan)
{
    const int drop = scan->known >> PLX_SCAN_DROP_SHIFT;
    return drop > 0 && drop >= scan->nearest && scan->free != PLX_SCAN_NOTHING_FREE;
}

void plx_scan_confirm_drops(struct plx_scan *scan, int count)
{
    for (int begin = 0, end; begin < count; begin = end + 1) {
        end = begin;
        while (end < count && may_drop(&scan[end]))
            end++;
        for (int x = begin; x <= end && x < count; x++) {
            const uint16_t drop = scan[x].known >> PLX_SCAN_DROP_SHIFT;
            scan[x].known &= PLX_SCAN_KNOWN;
            if (x == end || end - begin < MIN_DROP)
                continue;
            scan[x].free = drop > scan[x].free ? drop : scan[x].free;
            scan[x].known |= PLX_SCAN_DROP;
        }
    }
}

/* What is looked for in a column: ground that bends up (SIGN 1) or down (-1) by MIN_MM, or NOISE standard deviations of a
 * height, away from a ramp of 1 in SLOPE, in CELLS. */
struct bend {
    int sign, slope, cells, noise, least_mm;
};

/* How far along the ground a point lies, from its depth and its height above the plane: the camera looks down on it. */
struct ground_view {
    int64_t depth;        /* mm, of disparity 1 */
    int32_t cosine, sine; /* cosine and sine in 1/65536 */
    int32_t camera_mm;    /* above the plane */
};

static struct ground_view view_ground(const struct plx_ground *ground, const struct plx_calibration_info *calibration)
{
    double normal[3];
    plx_ground_normal(ground, calibration, 0, normal);
    const double height = ground->camera_height_um / 1e6, cosine = fmin(normal[1] * height, 1);
    return (struct ground_view){
        .depth = plx_ground_round(plx_depth_scale_mm(calibration)),
        .cosine = (int32_t)fmax(cosine * 65536, 1),
        .sine = (int32_t)(sqrt(1 - cosine * cosine) * 65536),
        .camera_mm = ground->camera_height_um / 1000,
    };
}

/* Millimetres along the ground to a point with DISPARITY, ABOVE_MM over the plane. */
static int way_to(const struct ground_view *view, int disparity, int above_mm)
{
    const int64_t way = view->depth / disparity * 65536 - (int64_t)(view->camera_mm - above_mm) * view->sine;
    return plx_cell_clamp(way / view->cosine, FARTHEST_MM);
}

/* The search for a bend, up a column. */
struct bend_search {
    int base;          /* disparity of the last ground before it; 0: none yet */
    int level, way_mm; /* height, times the sign, and distance along the ground of that */
    int bent;          /* cells behind it that have left the ramp */
};

/* Looks at a point with DISPARITY, at HEIGHT times the sign, WAY_MM ahead. False if it is no part of the ground nor of the
 * bend. */
static bool look_at(struct bend_search *search, const struct bend *bend, int disparity, int height, int way_mm, int least)
{
    const int way = search->base > 0 && way_mm > search->way_mm ? way_mm - search->way_mm : 0;
    const int step = height - search->level - way / bend->slope;
    if (search->base == 0 || (step <= 0 && -step < least)) {
        *search = (struct bend_search){disparity, height, way_mm, 0};
        return true;
    }
    search->bent += step >= least;
    return step > 0;
}

/* Disparity of the ground before a bend in column X, 0 if there is none. */
static int find_bend(const struct plx_image *disparity, const struct plx_ground *ground, const struct ground_view *view,
                     const struct plx_columns_params *params, const struct bend *bend, int x)
{
    const int column = PLX_CELL_WIDTH * x, infinity = params->mask.infinity;
    const int middle = column + PLX_CELL_WIDTH / 2 < disparity->width ? column + PLX_CELL_WIDTH / 2 : column;
    const int64_t height_um = ground->camera_height_um;
    struct bend_search search = {0};
    int gap = 0;
    for (int y = disparity->height / PLX_CELL_HEIGHT - 1; y >= 0 && gap <= PLX_FREE_GAP && search.bent < bend->cells; y--) {
        const uint16_t value = ((const uint16_t *)plx_row(disparity, PLX_CELL_HEIGHT * y))[middle];
        const int d = value == PLX_DISPARITY_INVALID ? 0 : value - infinity;
        gap += search.base > 0;
        if (d < 1)
            continue;
        const int noise = (int)(height_um * bend->noise * PLX_DROP_NOISE / ((int64_t)1000 * d));
        const int64_t above = height_um * (d - plx_cell_ground(params, ground, x, y)) / ((int64_t)1000 * d); /* mm */
        const int above_mm = plx_cell_clamp(above, PLX_MAX_HEIGHT_MM), way_mm = way_to(view, d, above_mm);
        if (look_at(&search, bend, d, bend->sign * above_mm, way_mm, noise > bend->least_mm ? noise : bend->least_mm))
            gap = 0;
    }
    return search.bent == bend->cells ? search.base : 0;
}

void plx_scan_refuse_slopes(const struct plx_image *disparity, const struct plx_ground *ground,
                            const struct plx_calibration_info *calibration, const struct plx_columns_params *params,
                            struct plx_scan *scan)
{
    const struct ground_view view = view_ground(ground, calibration);
    const struct bend bend = {-1, DROP_SLOPE, DROP_CELLS, DROP_NOISE, params->min_drop_mm / 4};
    for (int x = 0; x < plx_columns_of(disparity->width); x++)
        if (scan[x].known >> PLX_SCAN_DROP_SHIFT > 0 && find_bend(disparity, ground, &view, params, &bend, x) == 0)
            scan[x].known &= PLX_SCAN_KNOWN;
}

void plx_scan_end_at_rises(const struct plx_image *disparity, const struct plx_ground *ground,
                           const struct plx_calibration_info *calibration, const struct plx_columns_params *params,
                           struct plx_scan *scan)
{
    const int count = plx_columns_of(disparity->width);
    uint16_t rise[PLX_MAX_SIDE / PLX_COLUMN_WIDTH + 1];
    if (!ground->valid || ground->b <= 0)
        return;
    const struct ground_view view = view_ground(ground, calibration);
    const struct bend bend = {1, RISE_SLOPE, RISE_CELLS, RISE_NOISE,
                              3 * (params->mask.min_height_um / 1000 + PLX_ROUGHNESS_MM) / 4};
    for (int x = 0; x < count; x++)
        rise[x] = (uint16_t)find_bend(disparity, ground, &view, params, &bend, x);
    for (int begin = 0, end; begin < count; begin = end + 1) {
        end = begin;
        while (end < count && rise[end] > 0)
            end++;
        for (int x = begin; x < end && end - begin >= MIN_RISE; x++)
            if (rise[x] > scan[x].free) {
                scan[x].free = rise[x];
                scan[x].known =
                    (scan[x].known & PLX_SCAN_KNOWN) | PLX_SCAN_RISE; /* a drop behind it is none of the free ground */
            }
    }
}
