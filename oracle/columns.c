/* SPDX-License-Identifier: Apache-2.0 */
#include "oracle/columns.h"

#include <stdlib.h>
#include <string.h>

#include "oracle/allocate.h"

#define UNKNOWN (-100000)
#define LIMIT 16383
#define GROUNDS 13
#define NOTHING 65535

/* One column; [rows] from the top row down. */
struct column {
    const struct plx_image *disparity;
    const struct plx_ground *ground;
    const struct plx_mask_params *mask;
    int x, rows, things, lift;
    int *value, *g, *state; /* state: that of the path; things + 6 + k for ground */
};

static int limited(int64_t value, int64_t limit)
{
    return (int)(value > limit ? limit : value < -limit ? -limit : value);
}

static int ascending(const void *a, const void *b)
{
    const int p = *(const int *)a, q = *(const int *)b;
    return (p > q) - (p < q);
}

static int64_t floor_divide(int64_t value, int64_t by)
{
    return value >= 0 ? value / by : -((-value + by - 1) / by);
}

/* Disparity of a pixel above infinity; UNKNOWN if it has none or lies on a veil. */
static int pixel_value(const struct column *c, int x, int y)
{
    if (x >= c->disparity->width || y >= c->disparity->height)
        return UNKNOWN;
    const uint16_t *row = plx_row(c->disparity, y);
    const int64_t d = row[x] - (int64_t)c->mask->infinity;
    if (row[x] == 0xFFFF)
        return UNKNOWN;
    if (x >= 3 && x + 3 < c->disparity->width && row[x - 3] != 0xFFFF && row[x + 3] != 0xFFFF &&
        llabs((int64_t)row[x - 3] - row[x + 3]) * c->mask->focal_px > 60 * d)
        return UNKNOWN;
    return (int)d;
}

static void fill_cells(struct column *c)
{
    for (int row = 0; row < c->rows; row++) {
        int valid[8] = {0}, n = 0;
        for (int i = 0; i < 8; i++) {
            const int value = pixel_value(c, 4 * c->x + i % 4, 2 * row + i / 4);
            if (value != UNKNOWN)
                valid[n++] = value;
        }
        qsort(valid, (size_t)n, sizeof valid[0], ascending);
        c->value[row] = n < 3 ? UNKNOWN : limited(valid[n / 2], LIMIT);
        const int64_t plane = c->ground->a * (4 * c->x + 2) + c->ground->b * (2 * row + 1) + c->ground->c;
        c->g[row] = limited(floor_divide(plane, 65536) - c->mask->infinity, LIMIT);
    }
}

static int raise_ground(int g, int k)
{
    return (int)floor_divide((int64_t)g * (2097152 / (32 - k)), 65536);
}

static int at(const struct column *c, int state)
{
    return 16 * state + c->lift;
}

static int half_beyond(int away, int tolerance)
{
    const int cost = away < tolerance ? 0 : (away - tolerance) / 2;
    return cost > 24 ? 24 : cost;
}

static int cost_of(const struct column *c, int row, int state)
{
    const int value = c->value[row], g = c->g[row];
    if (state < c->things)
        return value == UNKNOWN ? 1 : half_beyond(abs(value - at(c, state)), 4);
    if (!c->ground->valid || g < 16)
        return 48;
    const int here = raise_ground(g, state - c->things - 6);
    return value == UNKNOWN ? 0 : half_beyond(abs(value - here), 4 + here / 64);
}

/* Sums without normalization, and the predecessor of each state. */
static void find_path(struct column *c)
{
    const int states = c->things + GROUNDS;
    int *sum = oracle_allocate((size_t)states, sizeof *sum), *next = oracle_allocate((size_t)states, sizeof *next);
    int *from = oracle_allocate((size_t)states * (size_t)c->rows, sizeof *from);

    for (int row = c->rows - 1; row >= 0; row--) {
        int least = 0;
        for (int s = 0; s < states; s++)
            least = sum[s] < sum[least] ? s : least;
        for (int s = 0; s < states; s++) {
            const int first = s < c->things ? 0 : c->things, end = s < c->things ? c->things : states;
            const int step = s < c->things ? 12 : 6;
            int best = s, total = sum[s];
            if (s - 1 >= first && sum[s - 1] + step < total)
                total = sum[best = s - 1] + step;
            if (s + 1 < end && sum[s + 1] + step < total)
                total = sum[best = s + 1] + step;
            if (sum[least] + 30 < total)
                total = sum[best = least] + 30;
            next[s] = total + cost_of(c, row, s);
            from[row * states + s] = best;
        }
        memcpy(sum, next, (size_t)states * sizeof *sum);
    }
    int state = 0;
    for (int s = 0; s < states; s++)
        state = sum[s] < sum[state] ? s : state;
    for (int row = 0; row < c->rows; row++) {
        c->state[row] = state;
        state = from[row * states + state];
    }
    free(sum);
    free(next);
    free(from);
}

static bool supports(const struct column *c, int row)
{
    const int middle = at(c, c->state[row]);
    return c->value[row] != UNKNOWN && abs(c->value[row] - middle) <= 24 + middle / 16;
}

/* The third of the N nearest, after up to 5 leading ones that are more than a tenth nearer than the one two places on. VALUE is
 * ascending. */
static int third_nearest(const int *value, int n)
{
    int skipped = 0;
    if (n > 8) {
        value += n - 8;
        n = 8;
    }
    while (n - skipped > 3 && value[n - skipped - 3] * 10 < value[n - skipped - 1] * 9)
        skipped++;
    return n - skipped >= 3 ? value[n - skipped - 3] : value[0];
}

static int height_mm(const struct column *c, int row, int d)
{
    return limited((int64_t)c->ground->camera_height_um * (d - c->g[row]) / (1000 * (int64_t)d), 32767);
}

/* Measures the cells TOP..FOOT over the ground raised by K; false if they are no stixel. */
static bool measure(const struct column *c, int top, int foot, int k, struct plx_stixel *ret)
{
    int *all = oracle_allocate((size_t)c->rows, sizeof *all), *low = oracle_allocate((size_t)c->rows, sizeof *low), n = 0,
        lows = 0;
    for (int row = top; row <= foot; row++)
        if (supports(c, row)) {
            const int64_t v = c->value[row];
            all[n++] = c->value[row];
            if (!c->ground->valid || c->ground->camera_height_um * (v - c->g[row]) <= 2000000 * v)
                low[lows++] = c->value[row];
        }
    qsort(all, (size_t)n, sizeof *all, ascending);
    qsort(low, (size_t)lows, sizeof *low, ascending);
    const int d = all[n / 2], near = lows > 0 ? third_nearest(low, lows) : d;
    const int far = c->mask->far_disparity - c->mask->infinity, close = c->mask->near_disparity - c->mask->infinity;
    free(all);
    free(low);
    if (n < 4 || 3 * n < foot - top + 1 || d <= 0 || near <= 0 || near < far || d > close)
        return false;
    const int top_mm = c->ground->valid ? height_mm(c, top, d) : 0, foot_mm = c->ground->valid ? height_mm(c, foot, d) : 0;
    const int own_mm = top_mm - (int)((int64_t)c->ground->camera_height_um * k / 32 / 1000);
    const bool slope = 2 * abs(c->state[top] - c->state[foot]) > foot - top;
    if (c->ground->valid &&
        (own_mm < c->mask->min_height_um / 1000 + 100 || foot_mm > c->mask->max_height_um / 1000 || (slope && own_mm < 400)))
        return false;
    const int last = 2 * foot + 1 < c->disparity->height ? 2 * foot + 1 : c->disparity->height - 1;
    *ret = (struct plx_stixel){(uint16_t)(2 * top), (uint16_t)last,   (uint16_t)d, (uint16_t)near,
                               (int16_t)top_mm,     (int16_t)foot_mm, (uint16_t)n, 0};
    return true;
}

/* All stixels of a column, from the bottom up; returns their number. */
static int find_stixels(const struct column *c, struct plx_stixel *ret)
{
    int count = 0;
    for (int foot = c->rows - 1, top; foot >= 0; foot = top - 1) {
        int k = 0, last = foot;
        top = foot;
        if (c->state[foot] >= c->things)
            continue;
        while (top > 0 && c->state[top - 1] < c->things && abs(c->state[top - 1] - c->state[top]) <= 1 &&
               abs(c->state[top - 1] - c->state[foot]) <= c->state[foot] / 8 + 1)
            top--;
        if (foot + 1 < c->rows && c->state[foot + 1] >= c->things)
            k = c->state[foot + 1] - c->things - 6;
        while (c->ground->valid && last >= top && raise_ground(c->g[last], k) > at(c, c->state[last]))
            last--;
        if (last >= top && measure(c, top, last, k, &ret[count]))
            count++;
    }
    return count;
}

/* Disparity of the ground that is seen in a row, 0 if none is. */
static int seen_ground(const struct column *c, int row)
{
    const int here = c->state[row] < c->things ? 0 : raise_ground(c->g[row], c->state[row] - c->things - 6);
    return here <= 0 || c->value[row] == UNKNOWN || cost_of(c, row, c->state[row]) >= 24 ? 0 : here;
}

/* The top one of the lowest 24 rows from the first one on whose ground is not nearer than the largest disparity. */
static int top_of_near_rows(const struct column *c)
{
    int begin = c->rows - 1;
    while (begin >= 0 && c->g[begin] > 16 * (c->things - 1) + c->lift)
        begin--;
    return begin - 23;
}

/* The last of the rows where ground is seen, from the bottom up, until one is more than 12 rows above the one before. NOTHING
 * if it is seen in fewer than 6 of the near rows. */
static int farthest_ground(const struct column *c)
{
    int least = NOTHING, before = -1, near = 0;
    const int top = top_of_near_rows(c);

    for (int row = c->rows - 1; row >= 0; row--)
        near += row >= top && row <= top + 23 && seen_ground(c, row) > 0;
    for (int row = c->rows - 1; row >= 0 && near >= 6; row--) {
        const int here = seen_ground(c, row);
        if (here == 0)
            continue;
        if (before - row > 12)
            break;
        least = here < least ? here : least;
        before = row;
    }
    return least;
}

/* Height of the point in a row above the plane, mm. */
static int64_t height_of(const struct column *c, int row)
{
    const int64_t d = c->value[row], height = (int64_t)c->ground->camera_height_um * (d - c->g[row]) / (1000 * d);
    return height > 32767 ? 32767 : height < -32767 ? -32767 : height;
}

/* How far a slope of 140 per mille falls in the two rows of a cell: its distance is H f / r, with r rows to the horizon. */
static int64_t slope_of(const struct column *c, int row)
{
    const int64_t r = (int64_t)c->g[row] * 65536 / c->ground->b, h = c->ground->camera_height_um / 1000;
    const int64_t fall = r < 1 ? 32767 : 2 * 140 * h * c->mask->focal_px / (1000 * r * r);
    return fall < 32767 ? fall : 32767;
}

static bool is_sure(const struct column *c, int row, int64_t deeper, int min_drop_mm)
{
    return deeper * 4 >= min_drop_mm * 3LL && deeper * 1000 * c->value[row] >= 12LL * c->ground->camera_height_um;
}

/* The edge of a drop: the last ground in a row whose height goes on from that of the ground below, if 3 of the 12 rows above
 * show what lies deep below it before one shows a thing. 0: there is none. */
static int drop_edge(const struct column *c, int min_drop_mm)
{
    int64_t level = 0;
    int last = -1, deep = 0;
    for (int row = c->rows - 1; row >= 0 && min_drop_mm > 0 && c->ground->valid && c->ground->b > 0; row--) {
        if (last >= 0 && row < last - 12)
            break;
        if (c->value[row] == UNKNOWN || c->value[row] <= 0)
            continue;
        const int64_t height = height_of(c, row);
        if (last < 0) {
            if (seen_ground(c, row) > 0) {
                level = height;
                last = row;
            }
            continue;
        }
        const int64_t slope = slope_of(c, row) * (last - row);
        if (seen_ground(c, row) > 0 && 2 * (level - height - slope) <= min_drop_mm && height - level - slope <= min_drop_mm) {
            level += (height - level) / 4;
            last = row;
            deep = 0;
        } else if (is_sure(c, row, height - level - slope, min_drop_mm)) {
            break;
        } else if (is_sure(c, row, level - height - slope, min_drop_mm) && ++deep == 3) {
            return seen_ground(c, last);
        }
    }
    return 0;
}

/* True if a stixel reaches down into the near rows. */
static bool is_near(const struct column *c, const struct plx_stixel *found, int count)
{
    bool near = false;
    for (int i = 0; i < count; i++)
        near = near || !c->ground->valid || found[i].y1 / 2 >= top_of_near_rows(c);
    return near;
}

/* Takes out the stixels whose partner lies more than 4 px outside the right image; returns how many are left. *ret_free: at
 * least the nearest of all that blocks. */
static int drop_unconfirmed(const struct column *c, struct plx_stixel *found, int count, int *ret_free)
{
    int kept = 0;
    for (int i = 0; i < count; i++) {
        const int64_t x = 4 * c->x + 2 - (int64_t)c->mask->min_disparity;
        const int64_t partner = 16 * x - c->mask->infinity - found[i].disparity; /* its column there, 1/16 px */
        if (found[i].foot_mm <= 1900 && found[i].near_disparity > *ret_free)
            *ret_free = found[i].near_disparity;
        if (partner >= 16 * -4 && partner <= 16 * ((int64_t)c->disparity->width - 1 + 4))
            found[kept++] = found[i];
    }
    return kept;
}

/* Selection sort, which keeps the order of equals: the nearest 8, the lower one first. */
static void publish(struct plx_stixel *found, int count, int known, int free_to, struct plx_scan *ret_scan,
                    struct plx_stixel *ret_stixels)
{
    int n = 0, nearest = 0;
    for (int i = 0; i < count; i++)
        if (found[i].foot_mm <= 1900 && found[i].near_disparity > nearest)
            nearest = found[i].near_disparity;
    memset(ret_stixels, 0, 8 * sizeof *ret_stixels);
    for (; n < count && n < 8; n++) {
        int best = -1;
        for (int i = 0; i < count; i++)
            if (found[i].near_disparity > 0 && (best < 0 || found[i].near_disparity > found[best].near_disparity))
                best = i;
        ret_stixels[n] = found[best];
        found[best].near_disparity = 0;
    }
    *ret_scan = (struct plx_scan){(uint16_t)nearest, (uint16_t)free_to, (uint16_t)known, (uint16_t)n};
}

void oracle_columns(const struct plx_image *disparity, const struct plx_ground *ground, const struct plx_columns_params *params,
                    const struct plx_image *ret_scan, const struct plx_image *ret_stixels)
{
    struct column c = {.disparity = disparity, .ground = ground, .mask = &params->mask, .things = params->disparities};
    c.rows = (disparity->height + 1) / 2;
    c.lift = params->mask.infinity >= 0 ? 0 : params->mask.infinity < -12288 ? 12288 : -params->mask.infinity;
    c.value = oracle_allocate((size_t)c.rows, sizeof *c.value);
    c.g = oracle_allocate((size_t)c.rows, sizeof *c.g);
    c.state = oracle_allocate((size_t)c.rows, sizeof *c.state);
    struct plx_stixel *found = oracle_allocate((size_t)c.rows, sizeof *found);

    for (c.x = 0; c.x < ret_scan->width; c.x++) {
        int count = 0, free_to = NOTHING, known = 0, drop = 0;
        if (ground->valid || !params->mask.ground_needed) {
            fill_cells(&c);
            find_path(&c);
            count = find_stixels(&c, found);
            free_to = farthest_ground(&c);
            int blocked = 0;
            known = free_to < NOTHING;
            count = drop_unconfirmed(&c, found, count, &blocked);
            known |= is_near(&c, found, count);
            drop = drop_edge(&c, params->min_drop_mm);
            known += 2 * drop;
            free_to = blocked > free_to ? blocked : free_to;
        }
        publish(found, count, known, free_to, (struct plx_scan *)ret_scan->data + c.x, plx_row(ret_stixels, c.x));
    }
    free(c.value);
    free(c.g);
    free(c.state);
    free(found);
}
