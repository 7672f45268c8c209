/* SPDX-License-Identifier: Apache-2.0 */
#include "oracle/free_ground.h"

#include <math.h>
#include <stdlib.h>

#include "oracle/allocate.h"

#define NOTHING 65535
#define KNOWN 1
#define DROP 2
#define RISE 4

struct point {
    int64_t d, h, way;
};

struct scene {
    const struct plx_image *disparity;
    const struct plx_ground *ground;
    const struct plx_calibration_info *lens;
    int64_t infinity, height_um;
};

/* What a search looks for. */
struct wanted {
    int64_t sign, ramp, least, deviations, points;
};

static int64_t limited(int64_t value, int64_t limit)
{
    return value > limit ? limit : value < -limit ? -limit : value;
}

/* g of the cell in column X and row Y of cells. */
static int64_t ground_at(const struct scene *scene, int x, int y)
{
    const struct plx_ground *p = scene->ground;
    return limited(((p->a * (4 * x + 2) + p->b * (2 * y + 1) + p->c) >> 16) - scene->infinity, 16383);
}

static int64_t way_to(const struct scene *scene, int64_t d, int64_t h)
{
    const struct plx_calibration_info *lens = scene->lens;
    const double n_y = (double)scene->ground->b / 1048576 / lens->baseline_m * (lens->fy / lens->fx);
    double cosine = n_y * ((double)scene->height_um / 1e6);
    if (cosine > 1)
        cosine = 1;
    const double rest = 1 - cosine * cosine;
    const int64_t c = 65536 * cosine > 1 ? (int64_t)(65536 * cosine) : 1, s = rest > 0 ? (int64_t)(65536 * sqrt(rest)) : 0;
    const int64_t f = (int64_t)(16000 * lens->fx * lens->baseline_m + 0.5);
    return limited((65536 * (f / d) - (scene->height_um / 1000 - h) * s) / c, 1000000);
}

/* False if there is none. */
static int point_at(const struct scene *scene, int x, int y, struct point *ret)
{
    const int at = 4 * x + 2 < scene->disparity->width ? 4 * x + 2 : 4 * x;
    const uint16_t value = ((const uint16_t *)plx_row(scene->disparity, 2 * y))[at];
    const int64_t d = value - scene->infinity;
    if (value == 0xFFFF || d < 1)
        return 0;
    ret->d = d;
    ret->h = limited(scene->height_um * (d - ground_at(scene, x, y)) / (1000 * d), 32767);
    ret->way = way_to(scene, d, ret->h);
    return 1;
}

/* Disparity of the base before the bend in column X; 0 if there is none. */
static int64_t bend(const struct scene *scene, const struct wanted *wanted, int x)
{
    struct point base = {0}, point;
    int64_t bent = 0, without = 0;

    for (int y = scene->disparity->height / 2 - 1; y >= 0; y--) {
        const int found = point_at(scene, x, y, &point);
        if (base.d == 0) {
            if (found)
                base = point;
            continue;
        }
        int64_t step = 0, least = 0;
        if (found) {
            const int64_t way = point.way > base.way ? point.way - base.way : 0,
                          noise = 4 * wanted->deviations * scene->height_um / (1000 * point.d);
            step = wanted->sign * point.h - wanted->sign * base.h - way / wanted->ramp;
            least = noise > wanted->least ? noise : wanted->least;
        }
        if (found && step <= 0 && step > -least) {
            base = point;
            bent = without = 0;
            continue;
        }
        without = found && step > 0 ? 0 : without + 1;
        if (found && step >= least && ++bent == wanted->points)
            return base.d;
        if (without > 12)
            return 0;
    }
    return 0;
}

/* Clears what fewer than LEAST columns of VALUE [COUNT] side by side show. */
static void drop_narrow(int64_t *value, int count, int least)
{
    for (int x = 0; x < count;) {
        int end = x;
        while (end < count && value[end] != 0)
            end++;
        for (int i = x; i < end && end - x < least; i++)
            value[i] = 0;
        x = end + 1;
    }
}

static void apply(struct plx_scan *scan, int64_t is_free, int64_t drop, int64_t rise)
{
    const int was_free = scan->free < NOTHING;

    scan->known &= KNOWN;
    if (was_free && !is_free) {
        scan->free = NOTHING;
        scan->known = 0;
    }
    if (!is_free)
        return;
    if (drop > 0) {
        scan->free = (uint16_t)(drop > scan->free ? drop : scan->free);
        scan->known |= DROP;
    }
    if (rise > scan->free) {
        scan->free = (uint16_t)rise;
        scan->known = (uint16_t)((scan->known & KNOWN) | RISE);
    }
}

void oracle_free_ground(const struct plx_image *disparity, const struct plx_ground *ground,
                        const struct plx_columns_params *params, const struct plx_calibration_info *calibration,
                        const struct plx_image *scan)
{
    const struct scene scene = {disparity, ground, calibration, params->mask.infinity, ground->camera_height_um};
    const struct wanted rises = {1, 5, 3 * (params->mask.min_height_um / 1000 + 100) / 4, 5, 3},
                        drops = {-1, 7, params->min_drop_mm / 4, 3, 1};
    const int count = scan->width;
    struct plx_scan *column = scan->data;
    int64_t *is_free = oracle_allocate((size_t)count, sizeof *is_free), *drop = oracle_allocate((size_t)count, sizeof *drop),
            *rise = oracle_allocate((size_t)count, sizeof *rise);

    for (int x = 0; x < count; x++)
        is_free[x] = column[x].free < NOTHING;
    drop_narrow(is_free, count, 5);
    for (int x = 0; x < count; x++) {
        const int64_t edge = column[x].known >> 1;
        if (is_free[x] && edge > 0 && edge >= column[x].nearest && bend(&scene, &drops, x) > 0)
            drop[x] = edge;
        if (ground->valid && ground->b > 0)
            rise[x] = bend(&scene, &rises, x) & 0xFFFF;
    }
    drop_narrow(drop, count, 10);
    drop_narrow(rise, count, 4);
    for (int x = 0; x < count; x++)
        apply(&column[x], is_free[x], drop[x], rise[x]);
    free(is_free);
    free(drop);
    free(rise);
}
