/* SPDX-License-Identifier: Apache-2.0 */
/* The sums of the ground stage's least squares (core/ground/fit.h), tile by tile: in tiles where they fit, in 32 bits. */
#include "cpu/simd/simd.h"

#include "core/ground/fit.h"

#define TILE 256                 /* columns: sums of products of one and of disparities fit into 32 bits */
#define SMALL ((int64_t)1 << 28) /* bound of planes and distances from them, 2^-20 px */
#define BEYOND 8192              /* 1/16 px: above every small plane by more than a voter may be */

_Static_assert(BEYOND * 65536 == 2 * SMALL, "a voter lies at most SMALL above a plane below SMALL");
_Static_assert((TILE - 1) * (TILE - 1) * (int64_t)BEYOND * 2 < INT32_MAX, "sums of products of columns and disparities");

/* Columns X .. X + COUNT - 1 of a row; PLANE in the first and in the last of them. */
struct tile {
    int x, count;
    int64_t plane, last;
};

INLINE bool is_small(int64_t value)
{
    return value > -SMALL && value < SMALL;
}

/* True if no number of the tile's pixels needs more than 32 bits. */
static bool fits(const struct plx_ground_gate *gate, const struct tile *tile)
{
    const int64_t first = (int64_t)tile->x - gate->centre, last = first + tile->count - 1;
    return is_small(tile->plane) && is_small(tile->last) && is_small(gate->infinity) && is_small(gate->tolerance) &&
           is_small(gate->side) && is_small(gate->side * first) && is_small(gate->side * last);
}

/* What plx_ground_add_pixel adds for the COUNT pixels of a tile; u from its first column. */
struct tile_sums {
    int32_t pixels, n, u, d, uu, ud;
};

/* Without a branch, so that it is vectorized. A disparity that is cut down to BEYOND, as the invalid one is, does not vote. */
INLINE struct tile_sums add_tile(const struct plx_ground_gate *gate, const uint16_t *restrict row, const struct tile *tile,
                                 int32_t slope)
{
    const int32_t tolerance = (int32_t)gate->tolerance, infinity = (int32_t)gate->infinity, side = (int32_t)gate->side;
    int32_t plane = (int32_t)tile->plane, across = (int32_t)(gate->side * (tile->x - (int64_t)gate->centre));
    struct tile_sums sums = {0};

    for (int i = 0; i < tile->count; i++) {
        const int32_t d = row[i] < BEYOND ? row[i] : BEYOND;
        const int32_t residual = d * 65536 - plane, depth = plane - infinity, unevenness = depth >> 5;
        const int32_t reach = tolerance > unevenness ? tolerance : unevenness;
        const int32_t distance = across < 0 ? -across : across;
        const int32_t stands = -(residual > reach) & -(2 * residual > depth - residual);
        const int32_t votes = -(depth >= PLX_GROUND_MIN * 65536) & -(distance <= depth) & ~stands;
        const int32_t holds = votes & -(residual <= reach) & -(residual >= -reach);
        sums.pixels -= votes;
        sums.n -= holds;
        sums.u += i & holds;
        sums.d += d & holds;
        sums.uu += (i * i) & holds;
        sums.ud += (i * d) & holds;
        plane += slope;
        across += side;
    }
    return sums;
}

/* Adds TILE, whose first column is U and whose row is V, from the middle. */
static void add_sums(struct plx_ground_sums *sums, const struct tile_sums *tile, int64_t u, int64_t v)
{
    const int64_t n = tile->n, sum_u = n * u + tile->u;
    sums->pixels += tile->pixels;
    sums->n += n;
    sums->u += sum_u;
    sums->v += n * v;
    sums->d += tile->d;
    sums->uu += n * u * u + 2 * u * tile->u + tile->uu;
    sums->uv += sum_u * v;
    sums->vv += n * v * v;
    sums->ud += u * tile->d + tile->ud;
    sums->vd += v * tile->d;
}

void PLX_KERNEL(ground_sums)(const struct plx_ground_gate *gate, const struct plx_ground *ground,
                             const struct plx_image *disparity, int y, struct plx_ground_sums *sums)
{
    const uint16_t *row = plx_row(disparity, y);
    const int width = disparity->width, u = -(width / 2), v = y - disparity->height / 2;
    const int64_t nearest = gate->infinity + PLX_GROUND_MIN * 65536; /* a plane that is less has no voters */

    for (int x = 0; x < width; x += TILE) {
        struct tile tile = {.x = x, .count = width - x < TILE ? width - x : TILE};
        tile.plane = ground->a * x + ground->b * y + ground->c;
        tile.last = tile.plane + ground->a * (tile.count - 1);
        if (tile.plane < nearest && tile.last < nearest)
            continue;
        if (fits(gate, &tile)) {
            const struct tile_sums more = add_tile(gate, row + x, &tile, (int32_t)ground->a);
            add_sums(sums, &more, u + x, v);
            continue;
        }
        for (int i = x; i < x + tile.count; i++)
            plx_ground_add_pixel(sums, gate, i, u + i, v, row[i], tile.plane + ground->a * (i - x));
    }
}
