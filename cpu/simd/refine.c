/* SPDX-License-Identifier: Apache-2.0 */
/* From disparity candidates to disparities: uniqueness and subpixel position, the right view, medians and confidence. */
#include <parallax/frame.h>

#include "cpu/simd/simd.h"

#define STRIP 256 /* columns of a row whose intermediate results stay in the first-level cache */

/*
 * Shift of the candidate, 1/16 px, from S below, at and above it. Here a float quotient, correctly rounded, is cut down to the
 * same integer as the exact one: it lies below 9, and an exact one that is no integer is at least 1 / 16320 away from the next.
 */
INLINE int parabola(int below, int least, int above)
{
    const int curve = below - 2 * least + above;
    return (int)((float)((below - above) * 16 + curve) / (float)(2 * curve));
}

/*
 * The shift towards the lower neighbour is (lut[64 lo / hi] + 8) >> 4, where lut falls from 128 to 0. So it is the number of
 * limits that 64 lo / hi stays below, and no division is needed: 64 lo / hi < limit exactly if 64 lo < limit hi.
 */
INLINE int blend(int below, int least, int above)
{
    static const int limit[8] = {60, 49, 40, 31, 23, 16, 9, 3};
    const int down = below - least, up = above - least, lo = down < up ? down : up, hi = down < up ? up : down;
    int shift = 0;
    for (int i = 0; i < 8; i++)
        shift += 64 * lo < limit[i] * hi;
    return below > above ? shift : -shift;
}

INLINE void left(const struct plx_match *match, const struct plx_sgm_row *row, enum plx_subpixel kind,
                 uint16_t *restrict ret_left)
{
    const uint16_t *restrict raw = row->raw, *restrict s1 = row->s1, *restrict s2 = row->s2;
    const uint16_t *restrict below = row->below, *restrict above = row->above;
    const int last = row->disparities - 1, uniqueness = match->uniqueness > 0 ? match->uniqueness : 65535;

    for (int x = 0; x < row->width; x++) {
        const int d = raw[x];
        int shift = 0;
        if (kind == PLX_SUBPIXEL_PARABOLA)
            shift = parabola(below[x], s1[x], above[x]);
        if (kind == PLX_SUBPIXEL_BLEND)
            shift = blend(below[x], s1[x], above[x]);
        const int value = PLX_DISPARITY_ONE * d + (d > 0 && d < last ? shift : 0);
        ret_left[x] = (uint16_t)(s2[x] * uniqueness < s1[x] * 1000 ? (int)PLX_DISPARITY_INVALID : value);
    }
}

/* Reads the lanes that lie inside the row; the others are 0. */
INLINE u16v get(const uint16_t *row, int x, int width)
{
    u16v v = all16(0);
    if (x + LANES16 <= width)
        return load16(row + x);
    memcpy(&v, row + x, (size_t)(width - x) * sizeof *row);
    return v;
}

/* The same of bytes, as words. */
INLINE u16v get_bytes(const uint8_t *row, int x, int width)
{
    u8v_half v = {0};
    if (x + LANES16 <= width)
        return widen(row + x);
    memcpy(&v, row + x, (size_t)(width - x));
    return __builtin_convertvector(v, u16v);
}

/* The disparity with the least S, the smaller among equals. A key holds its last 5 bits: S << 5 | d & 31. Keys lie in the order
 * of columns from the right. */
INLINE void right(const struct plx_sgm_row *row, uint16_t *ret_right)
{
    const int chunks = row->disparities / PLX_CHUNK, pitch = row->width + row->disparities, key_row = chunks * pitch;

    for (int i = 0; i < row->width; i += LANES16) {
        u16v least = all16(0xFFFF), best = all16(0);
        for (int chunk = 0; chunk < chunks; chunk++) {
            const uint16_t *key = row->key + chunk * pitch + i;
            u16v here = load16(key);
            for (int k = 1; k < PLX_KEY_ROWS; k++)
                here = min16(here, load16(key + k * key_row));
            const u16v is_less = (u16v)((s16v)(here >> 5) < (s16v)(least >> 5));
            best = (((here & (PLX_CHUNK - 1)) + (uint16_t)(chunk * PLX_CHUNK)) & is_less) | (best & ~is_less);
            least = (here & is_less) | (least & ~is_less);
        }
        put(ret_right, i, row->width, best);
    }
    for (int a = 0, b = row->width - 1; a < b; a++, b--) {
        const uint16_t other = ret_right[a];
        ret_right[a] = ret_right[b];
        ret_right[b] = other;
    }
}

void PLX_KERNEL(disparities)(const struct plx_match *match, const struct plx_sgm_row *row, uint16_t *ret_left,
                             uint16_t *ret_right)
{
    switch (match->subpixel) {
    case PLX_SUBPIXEL_NONE:
        left(match, row, PLX_SUBPIXEL_NONE, ret_left);
        break;
    case PLX_SUBPIXEL_PARABOLA:
        left(match, row, PLX_SUBPIXEL_PARABOLA, ret_left);
        break;
    case PLX_SUBPIXEL_BLEND:
        left(match, row, PLX_SUBPIXEL_BLEND, ret_left);
        break;
    }
    right(row, ret_right);
}

INLINE void sort2(u16v *a, u16v *b)
{
    u16v least = min16(*a, *b);
    *b = max16(*a, *b);
    *a = least;
}

INLINE void sort3(u16v *a, u16v *b, u16v *c)
{
    sort2(a, b);
    sort2(b, c);
    sort2(a, b);
}

/* The median of nine is that of the largest of three minima, the median of medians and the smallest of three maxima. */
void PLX_KERNEL(median_3x3)(const uint16_t *const *rows, int width, uint16_t *ret_row)
{
    for (int x = 0; x < width; x += LANES16) {
        u16v v[3][3]; /* columns, sorted */
        for (int i = 0; i < 3; i++) {
            for (int k = 0; k < 3; k++)
                v[i][k] = load16(rows[k - 1] + x + i - 1);
            sort3(&v[i][0], &v[i][1], &v[i][2]);
        }
        u16v low = max16(max16(v[0][0], v[1][0]), v[2][0]), high = min16(min16(v[0][2], v[1][2]), v[2][2]);
        u16v middle = v[1][1];
        sort3(&v[0][1], &middle, &v[2][1]);
        sort3(&low, &middle, &high);
        put(ret_row, x, width, middle);
    }
}

/* One step of a merge: compares elements D apart whose first one has bit D. Its 32 rounds are a constant, which Clang needs to
 * unroll it. */
INLINE void exchange(u16v *v, int first, int end, int d)
{
    UNROLL
    for (int i = 0; i < 32; i++)
        if ((i & d) && i >= first && i < end - d)
            sort2(&v[i], &v[i + d]);
}

/* Merges the sorted V[FIRST] to V[MIDDLE - 1] and V[MIDDLE] to V[END - 1], MIDDLE being 8 or 16 and END at most twice that:
 * Batcher's odd-even merge (Knuth, The Art of Computer Programming, 5.3.4). What would lie before FIRST is the least, from END
 * on the largest: it never moves. */
INLINE void merge(u16v *v, int first, int middle, int end)
{
    UNROLL
    for (int i = first; i < end - middle; i++)
        sort2(&v[i], &v[i + middle]);
    if (middle > 8)
        exchange(v, first, end, 8);
    exchange(v, first, end, 4);
    exchange(v, first, end, 2);
    exchange(v, first, end, 1);
}

INLINE void sort5(u16v *v)
{
    sort2(&v[0], &v[1]);
    sort3(&v[2], &v[3], &v[4]);
    sort2(&v[1], &v[4]);
    sort2(&v[0], &v[3]);
    sort2(&v[0], &v[2]);
    sort2(&v[1], &v[3]);
    sort2(&v[1], &v[2]);
}

/* The columns of a strip's 5 x 5 windows, from two before it on. Windows share what is sorted once. */
struct sorted {
    uint16_t column[5][STRIP + 2 * LANES16], valid[STRIP + 2 * LANES16]; /* values, and how many are valid */
    uint16_t pair[10][STRIP + 2 * LANES16];                              /* a column's and the next one's */
};

INLINE void sort_columns(const uint16_t *const *rows, int first, int count, struct sorted *ret_sorted)
{
    for (int i = 0; i < count + 4; i += LANES16) {
        u16v v[5], valid = all16(5);
        UNROLL
        for (int k = 0; k < 5; k++) {
            v[k] = load16(rows[k - 2] + first - 2 + i);
            valid += (u16v)(v[k] == PLX_DISPARITY_INVALID);
        }
        sort5(v);
        UNROLL
        for (int k = 0; k < 5; k++)
            store16(&ret_sorted->column[k][i], v[k]);
        store16(&ret_sorted->valid[i], valid);
    }
    for (int i = 0; i < count + 2; i += LANES16) {
        u16v v[13];
        UNROLL
        for (int k = 0; k < 5; k++) {
            v[3 + k] = load16(&ret_sorted->column[k][i]);
            v[8 + k] = load16(&ret_sorted->column[k][i + 1]);
        }
        merge(v, 3, 8, 13);
        UNROLL
        for (int k = 0; k < 10; k++)
            store16(&ret_sorted->pair[k][i], v[3 + k]);
    }
}

/* Medians of the windows from I on. Invalid is the largest value, so the N valid ones of a sorted window come first. */
INLINE u16v median_of_valid(const struct sorted *sorted, int i, u16v n)
{
    u16v four[26], all[21];

    UNROLL
    for (int k = 0; k < 10; k++) {
        four[6 + k] = load16(&sorted->pair[k][i]);
        four[16 + k] = load16(&sorted->pair[k][i + 2]);
    }
    merge(four, 6, 16, 26);
    UNROLL
    for (int k = 0; k < 5; k++)
        all[16 + k] = load16(&sorted->column[k][i + 4]);
    if (least16(n) == 25) { /* the 13th: at most K of the last column and 13 - K of the others lie below it */
        u16v median = four[6 + 12];
        UNROLL
        for (int k = 1; k <= 5; k++)
            median = min16(median, max16(four[6 + 12 - k], all[16 + k - 1]));
        return median;
    }
    memcpy(&all[3], &four[6], 13 * sizeof all[0]);
    merge(all, 3, 16, 21);
    u16v median = all16(PLX_DISPARITY_INVALID);
    UNROLL
    for (int k = 0; k < 13; k++)
        median &= all[3 + k] | ~(u16v)(n >> 1 == (uint16_t)k);
    return median;
}

void PLX_KERNEL(median_valid_5x5)(const uint16_t *const *rows, int width, uint16_t *ret_row)
{
    struct sorted sorted;

    for (int first = 0; first < width; first += STRIP) {
        const int count = width - first < STRIP ? width - first : STRIP;
        sort_columns(rows, first, count, &sorted);
        for (int i = 0; i < count; i += LANES16) {
            u16v n = all16(0);
            UNROLL
            for (int k = 0; k < 5; k++)
                n += load16(&sorted.valid[i + k]);
            const u16v keep = (u16v)(load16(rows[0] + first + i) != PLX_DISPARITY_INVALID) | (u16v)(n > 12);
            put(ret_row, first + i, width, median_of_valid(&sorted, i, n) | ~keep);
        }
    }
}

#define EVEN_BEYOND (2 * PLX_LOCAL_MEAN_STEP + 1)

/* The means of what was counted, rounded, less the pixel's own value, plus PLX_LOCAL_MEAN_STEP. The float quotient, correctly
 * rounded, is cut down to the same integer as the exact one: it is below 81, and an exact one that is no integer is at least 1
 * / 98 away from the next. */
INLINE u16v means(u16v n, u16v near)
{
    uint16_t total[LANES16], count[LANES16], mean[LANES16];

    store16(total, 2 * near - n);
    store16(count, 2 * n);
    for (int i = 0; i < LANES16; i++)
        mean[i] = (uint16_t)(int)((float)total[i] / (float)count[i]);
    return load16(mean);
}

/*
 * What counts is 0..80 below the pixel's own value plus PLX_LOCAL_MEAN_STEP. Counted and added up is how much that lies below
 * EVEN_BEYOND, which is 0 for what does not count: no comparison. It is a byte, and three make less than 256. Sums of all are
 * words, those of odd bytes by themselves.
 */
void PLX_KERNEL(local_mean)(const uint16_t *const *rows, int width, uint16_t *ret_row)
{
    for (int x = 0; x < width; x += LANES8) {
        const u16v own = load16(rows[0] + x), own_next = load16(rows[0] + x + LANES16);
        u8v n = all8(0);
        u16v all = all16(0), odd = all16(0);

        for (int dy = -PLX_LOCAL_MEAN_REACH; dy <= PLX_LOCAL_MEAN_REACH; dy++) {
            const uint16_t *row = rows[dy] + x;
            u8v sum = all8(0);
            UNROLL
            for (int dx = -PLX_LOCAL_MEAN_REACH; dx <= PLX_LOCAL_MEAN_REACH; dx++) {
                const u8v below = narrow(own + PLX_LOCAL_MEAN_STEP - load16(row + dx),
                                         own_next + PLX_LOCAL_MEAN_STEP - load16(row + LANES16 + dx));
                const u8v near = subs8(all8(EVEN_BEYOND), below);
                n += min8(near, all8(1));
                sum += near;
                if (dx == -1 || dx == 2 || dx == PLX_LOCAL_MEAN_REACH) {
                    all += (u16v)sum;
                    odd += (u16v)sum >> 8;
                    sum = all8(0);
                }
            }
        }
        u16v mean, mean_next;
        const u16v n_odd = (u16v)n >> 8;
        spread((u8v)(means((u16v)n - (n_odd << 8), all - (odd << 8)) | means(n_odd, odd) << 8), &mean, &mean_next);
        put(ret_row, x, width, (own - PLX_LOCAL_MEAN_STEP + mean) | (u16v)(own == PLX_LOCAL_MEAN_BEYOND));
        if (x + LANES16 < width)
            put(ret_row, x + LANES16, width,
                (own_next - PLX_LOCAL_MEAN_STEP + mean_next) | (u16v)(own_next == PLX_LOCAL_MEAN_BEYOND));
    }
}

/* Partners are found for a strip at once, so that no vector is loaded just after its words were stored one by one. One that
 * would lie beside the image is taken as column 0 and not looked at. With an invalid outermost frame column 0 of the right view
 * counts as disparity 0, as in libSGM. */
void PLX_KERNEL(check)(const struct plx_match *match, const uint16_t *left, const uint16_t *right, const uint8_t *grey,
                       int width, uint16_t *ret_row)
{
    const u16v invalid = all16(PLX_DISPARITY_INVALID), allowed = all16((uint16_t)match->lr_max_diff); /* -1: any */
    const u16v up = all16(match->lr_round ? 1 : 0), frame = all16(match->invalid_border ? 0xFFFF : 0);
    uint16_t partner[STRIP], found[STRIP];

    for (int first = 0; first < width; first += STRIP) {
        const int count = width - first < STRIP ? width - first : STRIP;
        for (int i = 0; i < count; i += LANES16) {
            const u16v value = get(left, first + i, width), d = (value >> 4) + (value >> 3 & up);
            store16(partner + i, subs16(ramp() + (uint16_t)(first + i), d));
        }
        for (int i = 0; i < count; i++)
            found[i] = right[partner[i]];
        for (int i = 0; i < count; i += LANES16) {
            const u16v value = get(left, first + i, width), d = (value >> 4) + (value >> 3 & up);
            const u16v x = ramp() + (uint16_t)(first + i), there = load16(found + i) & ~((u16v)(x == d) & frame);
            const u16v same = (u16v)(distance16(there, d) <= allowed) | (u16v)(x < d);
            const u16v keep = same & (u16v)(value != invalid) & (u16v)(get_bytes(grey, first + i, width) != 0);
            put(ret_row, first + i, width, value | ~keep);
        }
    }
}

void PLX_KERNEL(cross_validate)(const uint16_t *strict, const uint16_t *dense, const uint16_t *raw, const uint8_t *grey,
                                int width, uint16_t *ret_row)
{
    const u16v invalid = all16(PLX_DISPARITY_INVALID);

    for (int x = 0; x < width; x += LANES16) {
        const u16v s = get(strict, x, width), d = get(dense, x, width), candidate = get(raw, x, width) * PLX_DISPARITY_ONE;
        const u16v lost = (u16v)(s == invalid), value = (s & ~lost) | (d & lost);
        const u16v same = (u16v)(distance16(s, d) <= PLX_CROSS_VALIDATE_STEP),
                   near = (u16v)(distance16(candidate, d) <= PLX_CROSS_VALIDATE_RAW_STEP);
        const u16v keep = ((same & ~lost) | (near & lost)) & (u16v)(d != invalid) & (u16v)(get_bytes(grey, x, width) != 0);
        put(ret_row, x, width, value | ~keep);
    }
}

/*
 * Both float quotients, correctly rounded, are cut down to the same integers as the exact ones: numerators are below 2^24, and
 * quotients below 512 are rounded by less than the 1 / denominator that an exact one keeps from the next integer.
 */
INLINE uint16_t value(int agree, int s1, int s2, int scale, int holds)
{
    const int peak = (int)((float)((s2 - s1) * 256) / (float)(s2 | (s2 == 0))) & -(s2 > 0); /* without a branch: vectors */
    const int sum = 4 * agree + peak / 4 + 16 * holds;
    const int all = (int)((float)(sum * 256) / (float)(s1 * scale + 128));
    return (uint16_t)(all < 255 ? all : 255);
}

/* Confidence of LANES16 pixels, of whose neighbours AGREE agree. */
INLINE u8v_half confidence(u16v agree, u16v checked, u16v s1, int s1_scale, u16v s2)
{
    uint16_t count[LANES16], strict[LANES16], least[LANES16], second[LANES16], all[LANES16];

    store16(count, agree);
    store16(strict, checked);
    store16(least, s1);
    store16(second, s2);
    for (int i = 0; i < LANES16; i++)
        all[i] = value(count[i], least[i], second[i], s1_scale, strict[i] != PLX_DISPARITY_INVALID);
    return __builtin_convertvector(load16(all), u8v_half);
}

void PLX_KERNEL(confidence)(const uint8_t *const *rows, const uint16_t *checked, const uint16_t *s1, int s1_scale,
                            const uint16_t *s2, int width, uint8_t *ret_row)
{
    for (int first = 0; first < width; first += LANES8) {
        const u8v own = load8(rows[0] + first), least = subs8(own, all8(1)), most = adds8(own, all8(1)); /* that agree */
        uint8_t agree[LANES8];
        u8v sum = all8(0);

        UNROLL
        for (int dy = -2; dy <= 2; dy++)
            UNROLL
        for (int dx = -4; dx <= 4; dx += 2) {
            const u8v d = load8(rows[dy] + first + dx);
            sum -= (u8v)(min8(max8(d, least), most) == d); /* true is all ones */
        }
        store8(agree, sum);
        for (int i = 0; i < LANES8 && first + i < width; i += LANES16) {
            const int x = first + i;
            const u8v_half bytes =
                confidence(widen(agree + i), get(checked, x, width), get(s1, x, width), s1_scale, get(s2, x, width));
            memcpy(ret_row + x, &bytes, (size_t)(x + LANES16 <= width ? LANES16 : width - x));
        }
    }
}
