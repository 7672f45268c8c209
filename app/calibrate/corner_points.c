/* SPDX-License-Identifier: Apache-2.0 */
#include "app/calibrate/corner_points.h"

#include <math.h>
#include <stdlib.h>

#include <parallax/error.h>

#include "app/calibrate/sample.h"

#define RING 16
#define RADIUS 5
#define APART 4         /* px between two points, along rows and columns */
#define MIN_SHARE 8     /* a point is at least as strong as this part, an eighth, of the strongest one, and as ... */
#define MIN_STRENGTH 60 /* ... this, sums of 16 grey levels */
#define REFINEMENTS 30
#define MIN_MOVE 1e-4

static const int ring[RING][2] = {{0, -5}, {2, -5}, {4, -4}, {5, -2}, {5, 0},  {5, 2},   {4, 4},   {2, 5},
                                  {0, 5},  {-2, 5}, {-4, 4}, {-5, 2}, {-5, 0}, {-5, -2}, {-4, -4}, {-2, -5}};

/* Opposite pixels are alike and those a quarter turn on are not, at a corner; along an edge, opposite ones differ. The centre
 * is about as bright as the ring. */
static int response(const struct plx_image *grey, int x, int y)
{
    int value[RING], sum = 0, quarters = 0, opposites = 0;
    for (int i = 0; i < RING; i++) {
        value[i] = ((const uint8_t *)plx_row(grey, y + ring[i][1]))[x + ring[i][0]];
        sum += value[i];
    }
    for (int i = 0; i < RING / 4; i++)
        quarters += abs(value[i] + value[i + 8] - value[i + 4] - value[i + 12]);
    for (int i = 0; i < RING / 2; i++)
        opposites += abs(value[i] - value[i + 8]);
    const uint8_t *row = plx_row(grey, y), *above = plx_row(grey, y - 1), *below = plx_row(grey, y + 1);
    const int centre = row[x - 1] + row[x] + row[x + 1] + above[x] + below[x];
    return quarters - opposites - abs(sum - centre * RING / 5);
}

static int by_strength(const void *a, const void *b)
{
    const struct plx_corner_point *one = a, *other = b;
    if (one->strength != other->strength)
        return one->strength < other->strength ? 1 : -1;
    return one->y != other->y ? (one->y < other->y ? -1 : 1) : (one->x < other->x ? -1 : one->x > other->x);
}

/* True if no pixel within APART is stronger than that at X, Y; of equals the first counts. */
static bool is_peak(const int *strength, int width, int x, int y)
{
    const int own = strength[y * width + x];
    for (int dy = -APART; dy <= APART; dy++)
        for (int dx = -APART; dx <= APART; dx++) {
            const int other = strength[(y + dy) * width + x + dx];
            if (other > own || (other == own && (dy < 0 || (dy == 0 && dx < 0))))
                return false;
        }
    return true;
}

int plx_corner_points_find(const struct plx_image *grey, struct plx_corner_point ret[PLX_CORNER_POINTS])
{
    const int width = grey->width, height = grey->height, margin = RADIUS + APART;
    int most = 0, count = 0;
    if (width <= 2 * margin || height <= 2 * margin)
        return 0;
    int *strength = calloc((size_t)width * (size_t)height, sizeof *strength);
    if (!strength)
        return PLX_ERR_NOMEM;
    for (int y = RADIUS; y < height - RADIUS; y++)
        for (int x = RADIUS; x < width - RADIUS; x++) {
            const int value = response(grey, x, y);
            strength[y * width + x] = value;
            most = value > most ? value : most;
        }
    const int least = most / MIN_SHARE > MIN_STRENGTH ? most / MIN_SHARE : MIN_STRENGTH;
    for (int y = margin; y < height - margin; y++)
        for (int x = margin; x < width - margin && count < PLX_CORNER_POINTS; x++)
            if (strength[y * width + x] >= least && is_peak(strength, width, x, y))
                ret[count++] = (struct plx_corner_point){x, y, strength[y * width + x]};
    free(strength);
    qsort(ret, (size_t)count, sizeof *ret, by_strength);
    return count;
}

void plx_corner_point_refine(const struct plx_image *grey, int radius, double point[2])
{
    double x = point[0], y = point[1];
    for (int step = 0; step < REFINEMENTS; step++) {
        double xx = 0, xy = 0, yy = 0, bx = 0, by = 0;
        if (x < radius + 2 || y < radius + 2 || x > grey->width - radius - 3 || y > grey->height - radius - 3)
            return;
        for (int v = -radius; v <= radius; v++)
            for (int u = -radius; u <= radius; u++) {
                const double gx = plx_sample(grey, x + u + 1, y + v) - plx_sample(grey, x + u - 1, y + v);
                const double gy = plx_sample(grey, x + u, y + v + 1) - plx_sample(grey, x + u, y + v - 1);
                const double weight = exp(-2.0 * (u * u + v * v) / (radius * radius));
                xx += weight * gx * gx;
                xy += weight * gx * gy;
                yy += weight * gy * gy;
                bx += weight * gx * (gx * u + gy * v);
                by += weight * gy * (gx * u + gy * v);
            }
        const double determinant = xx * yy - xy * xy;
        if (!(determinant > 1e-3 * (xx + yy) * (xx + yy)))
            return; /* one edge */
        const double dx = (yy * bx - xy * by) / determinant, dy = (xx * by - xy * bx) / determinant;
        x += dx;
        y += dy;
        if (hypot(x - point[0], y - point[1]) > radius)
            return;
        if (hypot(dx, dy) < MIN_MOVE)
            break;
    }
    point[0] = x;
    point[1] = y;
}
