/* SPDX-License-Identifier: Apache-2.0 */
#include "oracle/ground.h"

#include <math.h>
#include <stdlib.h>

#define ROWS 64
#define BINS 128
#define HORIZONS 128
#define SLOPES 96

struct line {
    int64_t horizon, slope; /* 1/16 row, 2^-16 bins a row */
};

struct search {
    const struct plx_image *disparity;
    const struct plx_ground_params *params;
    const struct plx_ground_prior *prior;
    int64_t infinity, bin_width; /* 1/16 px */
    int count[ROWS][BINS];       /* v-disparity */
};

struct plane {
    int64_t a, b, c;
};

/* Sums over the pixels that fit a plane. */
struct sums {
    int64_t pixels, n, u, v, d, uu, uv, vv, ud, vd;
};

static int64_t round_away(double value)
{
    return (int64_t)trunc(value + copysign(0.5, value));
}

static int64_t floor_divide(int64_t value, int64_t by)
{
    return value >= 0 ? value / by : -((-value + by - 1) / by);
}

static int value_at(const struct plx_image *disparity, int x, int y)
{
    return ((const uint16_t *)plx_row(disparity, y))[x];
}

static int image_row(const struct search *s, int i)
{
    return (2 * i + 1) * s->disparity->height / 128;
}

static void count_values(struct search *s)
{
    for (int i = 0; i < ROWS; i++)
        for (int x = 0; x < s->disparity->width; x++) {
            const int value = value_at(s->disparity, x, image_row(s, i));
            if (value != PLX_DISPARITY_INVALID && value / s->bin_width < BINS)
                s->count[i][value / s->bin_width]++;
        }
}

static int64_t score(const struct search *s, struct line line, int k)
{
    const int enough = s->disparity->width / 4 + 1;
    int64_t points = 0;

    for (int i = 0; i < ROWS; i++) {
        const int64_t r = 16 * image_row(s, i) + 8 - line.horizon;
        const int64_t bin = floor_divide(s->infinity * 65536 / s->bin_width + floor_divide(line.slope * r, 16), 65536);
        int on = 0, under = 0;
        if (r <= 0 || bin < 0)
            continue;
        if (bin >= BINS)
            break;
        for (int64_t b = 0; b < bin - k; b++)
            under += s->count[i][b];
        for (int64_t b = bin > k ? bin - k : 0; b <= bin + k && b < BINS; b++)
            on += s->count[i][b];
        points += 2 * (on < enough ? on : enough) - under;
    }
    return points;
}

static struct line grid_line(const struct search *s, int j, int i)
{
    const struct plx_ground_params *p = s->params;
    double height = 5.0;
    for (int n = 0; n < i; n++)
        height *= 0.95;
    const double slope = p->calibration.baseline_m / height * (65536.0 * 16.0 / (double)s->bin_width);
    return (struct line){16 * p->horizon_min + 16 * (int64_t)(p->horizon_max - p->horizon_min) * j / 127, round_away(slope)};
}

/* A line that the prior leaves out loses against all others. */
static int64_t grid_score(const struct search *s, struct line line)
{
    const struct plx_ground_prior *p = s->prior;
    if (p->slope_max != 0 && (line.slope < p->slope_min || line.slope > p->slope_max))
        return -536870912;
    return score(s, line, s->bin_width <= 16 ? 2 : 1);
}

static struct line best_line(const struct search *s)
{
    struct line best = grid_line(s, 0, 0), step;
    int64_t most = grid_score(s, best);

    for (int j = 0; j < HORIZONS; j++)
        for (int i = 0; i < SLOPES; i++) {
            const struct line line = grid_line(s, j, i);
            const int64_t points = grid_score(s, line);
            if (points > most) {
                most = points;
                best = line;
            }
        }
    step.horizon = 16 * (int64_t)(s->params->horizon_max - s->params->horizon_min) / 127;
    step.slope = round_away((1.0 - 0.95) * (double)best.slope);
    for (int n = 0; n < 3; n++) {
        const struct line centre = best;
        step = (struct line){(step.horizon + 1) / 2, (step.slope + 1) / 2};
        most = score(s, centre, 1);
        for (int dh = -1; dh <= 1; dh++)
            for (int ds = -1; ds <= 1; ds++) {
                const struct line line = {centre.horizon + dh * step.horizon, centre.slope + ds * step.slope};
                const int64_t points = score(s, line, 1);
                if (points > most) {
                    most = points;
                    best = line;
                }
            }
    }
    return best;
}

/* The ray of column X meets a ground of disparity ABOVE over infinity, in 2^-20 px, at most 5 m to the side. */
static bool between_the_sides(const struct search *s, int x, int64_t above)
{
    const int64_t metre_column = round_away(s->params->calibration.baseline_m / 5.0 * 1048576);
    return llabs(x - round_away(s->params->calibration.cx)) * metre_column <= above;
}

static struct sums fitting(const struct search *s, struct plane plane, int tolerance)
{
    const int width = s->disparity->width, height = s->disparity->height;
    struct sums sums = {0};

    for (int y = 0; y<height; y += height / 240> 1 ? height / 240 : 1)
        for (int x = 0; x < width; x++) {
            const int64_t d = value_at(s->disparity, x, y), u = x - width / 2, v = y - height / 2;
            const int64_t ground = plane.a * x + plane.b * y + plane.c; /* 2^-16 of 1/16 px */
            const int64_t above = ground - s->infinity * 65536, excess = d * 65536 - ground;
            if (d == PLX_DISPARITY_INVALID || above < 16 * 65536 || !between_the_sides(s, x, above))
                continue;
            const int64_t uneven = above / 32, fixed = (int64_t)tolerance * 65536, reach = uneven > fixed ? uneven : fixed;
            if (excess > reach && 3 * excess > above)
                continue;
            sums.pixels++;
            if (llabs(excess) > reach)
                continue;
            sums.n++;
            sums.u += u;
            sums.v += v;
            sums.d += d;
            sums.uu += u * u;
            sums.uv += u * v;
            sums.vv += v * v;
            sums.ud += u * d;
            sums.vd += v * d;
        }
    return sums;
}

/* E[pq] - E[p] E[q] */
static double covariance(int64_t pq, double p, double q, double n)
{
    return (double)pq / n - p * q;
}

static bool least_squares(const struct search *s, const struct sums *sums, struct plane *plane)
{
    if (sums->n < 3)
        return false;
    const double n = (double)sums->n, u = (double)sums->u / n, v = (double)sums->v / n, d = (double)sums->d / n;
    const double uu = covariance(sums->uu, u, u, n), uv = covariance(sums->uv, u, v, n), vv = covariance(sums->vv, v, v, n);
    const double ud = covariance(sums->ud, u, d, n), vd = covariance(sums->vd, v, d, n);
    const double determinant = uu * vv - uv * uv;

    if (determinant <= 0.001)
        return false;
    const double a = (ud * vv - vd * uv) / determinant, b = (vd * uu - ud * uv) / determinant;
    const int middle_x = s->disparity->width / 2, middle_y = s->disparity->height / 2;
    if (fabs(a) >= 1e4 || fabs(b) >= 1e4)
        return false;
    plane->a = round_away(a * 65536);
    plane->b = round_away(b * 65536);
    plane->c = round_away((d - a * (u + middle_x) - b * (v + middle_y)) * 65536);
    return true;
}

/* Normal over the camera's height, and its length. */
struct normal {
    double x, y, z, length;
};

static struct normal normal_of(const struct search *s, int64_t a, int64_t b, int64_t at_0)
{
    const struct plx_calibration_info *c = &s->params->calibration;
    const double u = (double)a / 1048576, v = (double)b / 1048576;
    const double w = u * c->cx + v * c->cy + (double)at_0 / 1048576 - (double)s->infinity / 16;
    struct normal n = {u / c->baseline_m, v / c->baseline_m * (c->fy / c->fx), w / c->baseline_m / c->fx, 0};

    n.length = sqrt(n.x * n.x + n.y * n.y + n.z * n.z);
    return n;
}

/* The camera stands as high as before, and is tilted by at most 5 degrees more or less. */
static bool as_before(const struct search *s, struct normal now)
{
    const struct plx_ground_prior *p = s->prior;
    const double height_um = 1e6 / now.length;

    if (p->height_max_um == 0)
        return true;
    if (height_um < p->height_min_um || height_um > p->height_max_um)
        return false;
    if (p->held.valid == 0)
        return true;
    const struct normal before = normal_of(s, p->held.a, p->held.b, p->held.c);
    return before.x * now.x + before.y * now.y + before.z * now.z >= 0.9962 * (now.length * before.length);
}

/* A camera can be like that over a ground. */
static bool plausible(const struct search *s, struct normal n)
{
    return n.length >= 1.0 / 6.0 && n.length <= 50.0 && n.y >= 0.5 * n.length && as_before(s, n);
}

static bool spread_out(const struct search *s, const struct sums *sums)
{
    const double n = (double)sums->n, mean = (double)sums->v / n, least = (double)s->disparity->height / 20.0;
    return (double)sums->vv / n - mean * mean >= least * least;
}

static bool enough_pixels(const struct search *s, const struct sums *sums)
{
    const int height = s->disparity->height, rows = height / (height / 240 > 1 ? height / 240 : 1);
    return sums->n >= 32 && sums->n * 4 >= sums->pixels && sums->n * 64 >= (int64_t)s->disparity->width * rows;
}

void oracle_ground(const struct plx_image *disparity, const struct plx_ground_params *params,
                   const struct plx_ground_prior *prior, struct plx_ground *ret_ground)
{
    const struct plx_calibration_info *c = &params->calibration;
    struct search s = {.disparity = disparity,
                       .params = params,
                       .prior = prior,
                       .infinity = round_away(16 * (c->cx - c->cx_right - (double)params->min_disparity)),
                       .bin_width = (16 * params->disparities + 127) / 128};
    struct sums sums = {0};
    bool solved = true;

    *ret_ground = params->enabled ? prior->held : (struct plx_ground){0};
    if (!params->enabled)
        return;
    count_values(&s);
    const struct line line = best_line(&s);
    struct plane plane = {0, line.slope * s.bin_width, 0};
    plane.c = 65536 * s.infinity + plane.b * (8 - line.horizon) / 16;
    for (int fit = 0, wide = 48; fit < 5 && solved; fit++, wide /= 2) {
        sums = fitting(&s, plane, wide > params->tolerance ? wide : params->tolerance);
        solved = least_squares(&s, &sums, &plane);
    }
    ret_ground->pixels = (int32_t)sums.pixels;
    ret_ground->inliers = (int32_t)sums.n;
    const struct normal normal = normal_of(&s, plane.a, plane.b, plane.c);
    if (!solved || !enough_pixels(&s, &sums) || !spread_out(&s, &sums) || !plausible(&s, normal))
        return;
    ret_ground->a = plane.a;
    ret_ground->b = plane.b;
    ret_ground->c = plane.c;
    ret_ground->valid = 1;
    ret_ground->camera_height_um = (int32_t)round_away(1e6 / normal.length);
}

/* In range and, where there is ground, at the height of an obstacle. */
static bool is_in_range(const struct plx_ground *ground, const struct plx_mask_params *params, int x, int y, int64_t d)
{
    if (d == PLX_DISPARITY_INVALID || d < params->far_disparity || d > params->near_disparity || d <= params->infinity)
        return false;
    if (!ground->valid)
        return !params->ground_needed;
    const double above = (double)(65536 * d - (ground->a * x + ground->b * y + ground->c));
    const double depth = (double)(65536 * (d - params->infinity));
    const double height = above * ground->camera_height_um;
    return depth * params->min_height_um <= height && height <= depth * params->max_height_um;
}

/* A veil is the ramp of disparity between a near object and what lies behind it: the disparities 3 pixels to either side differ
 * by more than 60 (d - infinity) / focal length. */
static bool on_a_veil(const struct plx_image *disparity, const struct plx_mask_params *params, int x, int y)
{
    if (x < 3 || x >= disparity->width - 3)
        return false;
    const int64_t a = value_at(disparity, x - 3, y), b = value_at(disparity, x + 3, y), d = value_at(disparity, x, y);
    return a != PLX_DISPARITY_INVALID && b != PLX_DISPARITY_INVALID &&
           llabs(a - b) * params->focal_px > 60 * (d - params->infinity);
}

void oracle_mask(const struct plx_image *disparity, const struct plx_ground *ground, const struct plx_mask_params *params,
                 const struct plx_image *ret_mask)
{
    for (int y = 0; y < disparity->height; y++)
        for (int x = 0; x < disparity->width; x++)
            ((uint8_t *)plx_row(ret_mask, y))[x] =
                is_in_range(ground, params, x, y, value_at(disparity, x, y)) && !on_a_veil(disparity, params, x, y) ? 255 : 0;
}
