/* SPDX-License-Identifier: Apache-2.0 */
/* Median, left-right check, the step of facing surfaces, fill and confidence, one pixel at a time. */
#include <math.h>
#include <stdlib.h>

#include "core/pipeline/confidence.h"
#include "core/pipeline/facing.h"
#include "oracle/oracle.h"

static int clamp(int value, int low, int high)
{
    return value < low ? low : value > high ? high : value;
}

static uint16_t at(const struct plx_image *image, int x, int y)
{
    const uint16_t *row = plx_row(image, clamp(y, 0, image->height - 1));
    return row[clamp(x, 0, image->width - 1)];
}

static void put(const struct plx_image *image, int x, int y, int value)
{
    ((uint16_t *)plx_row(image, y))[x] = (uint16_t)value;
}

static int ascending(const void *a, const void *b)
{
    return (int)*(const uint16_t *)a - (int)*(const uint16_t *)b;
}

/* Sorts the values of the window of RADIUS around (x, y); returns how many are valid. */
static int window(const struct plx_image *src, int x, int y, int radius, uint16_t *ret_sorted)
{
    int count = 0, valid = 0;
    for (int dy = -radius; dy <= radius; dy++) {
        for (int dx = -radius; dx <= radius; dx++) {
            ret_sorted[count] = at(src, x + dx, y + dy);
            valid += ret_sorted[count++] != PLX_DISPARITY_INVALID;
        }
    }
    qsort(ret_sorted, (size_t)count, sizeof *ret_sorted, ascending);
    return valid;
}

void oracle_median(const struct plx_image *src, enum plx_median kind, const struct plx_image *dst)
{
    uint16_t sorted[25];
    for (int y = 0; y < src->height; y++) {
        for (int x = 0; x < src->width; x++) {
            int value = at(src, x, y);
            if (kind == PLX_MEDIAN_3X3) {
                window(src, x, y, 1, sorted);
                value = sorted[4];
            } else if (kind == PLX_MEDIAN_VALID_5X5) {
                int valid = window(src, x, y, 2, sorted);
                value = value != PLX_DISPARITY_INVALID || valid >= 13 ? sorted[valid / 2] : (int)PLX_DISPARITY_INVALID;
            }
            put(dst, x, y, value);
        }
    }
}

void oracle_check(const struct plx_image *left, const struct plx_image *right, const struct plx_image *grey,
                  const struct plx_match *match, const struct plx_image *ret_disparity)
{
    for (int y = 0; y < left->height; y++) {
        const uint8_t *brightness = plx_row(grey, y);
        for (int x = 0; x < left->width; x++) {
            int value = at(left, x, y), d = (match->lr_round ? value + 8 : value) >> 4;
            bool keep = value != PLX_DISPARITY_INVALID && brightness[x] != 0;
            if (match->lr_max_diff >= 0 && x - d >= 0) {
                int other = match->invalid_border && x - d == 0
                                ? 0
                                : at(right, x - d, y); /* libSGM sets the border of its right disparity to 0 */
                if (abs(other - d) > match->lr_max_diff)
                    keep = false;
            }
            if (match->invalid_border && (x == 0 || y == 0 || x == left->width - 1 || y == left->height - 1))
                keep = false;
            put(ret_disparity, x, y, keep ? value : (int)PLX_DISPARITY_INVALID);
        }
    }
}

/* True where (x, y) of SRC lies on a surface that faces the camera. */
static bool is_facing(const struct plx_image *src, int x, int y)
{
    int same = 0;
    for (int dy = -PLX_FACING_FAR; dy <= PLX_FACING_FAR; dy += PLX_FACING_FAR) {
        for (int dx = -PLX_FACING_FAR; dx <= PLX_FACING_FAR; dx += PLX_FACING_FAR) {
            int other = at(src, x + dx, y + dy), e = abs(other - at(src, x, y));
            if ((dx == 0 && dy == 0) || other == PLX_DISPARITY_INVALID || e > PLX_FACING_OTHER)
                continue;
            if (e > PLX_FACING_SAME)
                return false;
            same++;
        }
    }
    return same >= PLX_FACING_LEAST;
}

/* The whole disparity that V is nearest to, and what V has beyond it. */
static int whole(int v)
{
    return (v + PLX_DISPARITY_ONE / 2) / PLX_DISPARITY_ONE;
}

static int beyond(int v)
{
    return v - PLX_DISPARITY_ONE * whole(v);
}

/* Difference E of a pixel and its partner, and the sum S of both slopes, each over two pixels. False without a partner. */
static bool difference_of(const struct plx_image *left, const struct plx_image *right, int x, int y, int q, int *ret_e,
                          int *ret_s)
{
    const uint8_t *l = plx_row(left, y), *r = plx_row(right, y);
    const int last = left->width - 2;
    if (x < 1 || x > last || q < 1 || q > last)
        return false;
    *ret_e = l[x] - r[q];
    *ret_s = l[x + 1] - l[x - 1] + r[q + 1] - r[q - 1];
    return abs(*ret_e) <= PLX_FACING_OUTLIER;
}

static int facing_step(const struct plx_image *src, const struct plx_image *left, const struct plx_image *right,
                       const struct plx_match *match, int x, int y)
{
    const int part = beyond(at(src, x, y));
    double n = 0, e_sum = 0, s_sum = 0, s2_sum = 0, es_sum = 0, part_sum = 0;
    for (int v = y - PLX_FACING_REACH; v <= y + PLX_FACING_REACH; v++) {
        for (int u = x - PLX_FACING_REACH; u <= x + PLX_FACING_REACH; u++) {
            int e, s;
            if (u < 0 || v < 0 || u >= src->width || v >= src->height || at(src, u, v) == PLX_DISPARITY_INVALID)
                continue;
            if (!difference_of(left, right, u, v, u - whole(at(src, u, v)) - match->min_disparity, &e, &s))
                continue;
            n++;
            e_sum += e;
            s_sum += s;
            s2_sum += s * s;
            es_sum += e * s;
            part_sum += beyond(at(src, u, v)) * s * s;
        }
    }
    if (s2_sum < PLX_FACING_CONTRAST * 49) /* of the whole window */
        return 0;
    const double brightness = floor((32 * e_sum + n) / (2 * n)) / 16; /* to 1/16 grey level */
    const double wanted = (64 * (brightness * s_sum - es_sum) - part_sum) / s2_sum;
    const double most = PLX_FACING_STEP, step = fmin(fmax(floor(wanted + 0.5), -most), most);
    return step * part < 0 ? 0 : (int)step;
}

void oracle_facing(const struct plx_image *src, const struct plx_image *left, const struct plx_image *right,
                   const struct plx_match *match, const struct plx_image *dst)
{
    for (int y = 0; y < src->height; y++) {
        for (int x = 0; x < src->width; x++) {
            int value = at(src, x, y);
            if (value != PLX_DISPARITY_INVALID && is_facing(src, x, y))
                value = clamp(value + facing_step(src, left, right, match, x, y), 0, value + PLX_FACING_STEP);
            put(dst, x, y, value);
        }
    }
}

void oracle_local_mean(const struct plx_image *src, const struct plx_image *dst)
{
    for (int y = 0; y < src->height; y++) {
        for (int x = 0; x < src->width; x++) {
            int value = at(src, x, y), n = 0, sum = 0;
            for (int dy = -3; dy <= 3; dy++) {
                for (int dx = -3; dx <= 3; dx++) {
                    int other = at(src, x + dx, y + dy), e = other - value;
                    if (other == PLX_DISPARITY_INVALID || abs(e) > PLX_LOCAL_MEAN_STEP)
                        continue;
                    n++;
                    sum += e;
                }
            }
            if (value != PLX_DISPARITY_INVALID)
                value += (int)floor((2.0 * sum + n) / (2.0 * n));
            put(dst, x, y, value);
        }
    }
}

void oracle_cross_validate(const struct plx_image *strict, const struct plx_image *dense, const struct plx_image *raw,
                           const struct plx_image *grey, const struct plx_image *dst)
{
    for (int y = 0; y < strict->height; y++) {
        const uint8_t *brightness = plx_row(grey, y);
        for (int x = 0; x < strict->width; x++) {
            const int s = at(strict, x, y), d = at(dense, x, y), candidate = 16 * at(raw, x, y);
            int value = PLX_DISPARITY_INVALID;
            if (d != PLX_DISPARITY_INVALID && brightness[x] != 0) {
                if (s != PLX_DISPARITY_INVALID && abs(s - d) <= PLX_CROSS_VALIDATE_STEP)
                    value = s;
                if (s == PLX_DISPARITY_INVALID && abs(candidate - d) <= PLX_CROSS_VALIDATE_RAW_STEP)
                    value = d;
            }
            put(dst, x, y, value);
        }
    }
}

void oracle_fill(const struct plx_image *src, const struct plx_image *dst, const struct plx_image *ret_filled)
{
    for (int y = 0; y < src->height; y++) {
        for (int x = 0; x < src->width; x++) {
            int left = x, right = x;
            while (left > 0 && at(src, left, y) == PLX_DISPARITY_INVALID)
                left--;
            while (right < src->width - 1 && at(src, right, y) == PLX_DISPARITY_INVALID)
                right++;
            int a = at(src, left, y), b = at(src, right, y), value = a < b ? a : b; /* invalid is the largest */
            put(dst, x, y, value);
            ((uint8_t *)plx_row(ret_filled, y))[x] = at(src, x, y) != value;
        }
    }
}

void oracle_confidence_score(const struct plx_candidates *candidates, const struct plx_image *checked,
                             const struct plx_match *match, const struct plx_image *ret_score)
{
    for (int y = 0; y < checked->height; y++) {
        for (int x = 0; x < checked->width; x++) {
            const int d = at(&candidates->raw, x, y), s1 = at(&candidates->s1, x, y), s2 = at(&candidates->s2, x, y);
            int agree = 0;
            for (int dy = -4; dy <= 4; dy += 2)
                for (int dx = -4; dx <= 4; dx += 2)
                    agree += abs(at(&candidates->raw, x + dx, y + dy) - d) <= 1;
            int peak = s2 > 0 ? (s2 - s1) * 256 / s2 : 0, holds = at(checked, x, y) != PLX_DISPARITY_INVALID;
            int value = (4 * agree + peak / 4 + 16 * holds) * 256 / (s1 * (match->paths == 4 ? 2 : 1) + 128);
            ((uint8_t *)plx_row(ret_score, y))[x] = (uint8_t)(value < 255 ? value : 255);
        }
    }
}

void oracle_confidence(const struct plx_candidates *candidates, const struct plx_image *checked,
                       const struct plx_image *disparity, const struct plx_image *grey, const struct plx_match *match,
                       const struct plx_image *ret_confidence)
{
    const uint8_t *probability = plx_confidence_probability(match);

    oracle_confidence_score(candidates, checked, match, ret_confidence);
    for (int y = 0; y < checked->height; y++)
        for (int x = 0; x < checked->width; x++) {
            uint8_t *value = (uint8_t *)plx_row(ret_confidence, y) + x;
            const bool known = at(disparity, x, y) != PLX_DISPARITY_INVALID && ((const uint8_t *)plx_row(grey, y))[x] != 0 &&
                               at(&candidates->s2, x, y) > at(&candidates->s1, x, y);
            *value = known ? probability[*value] : 0;
        }
}
