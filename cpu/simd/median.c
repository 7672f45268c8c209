/* SPDX-License-Identifier: Apache-2.0 */
/* Medians of windows by sorting networks, a vector of pixels at once. */
#include "cpu/simd/local.h"

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

/* Writes the lanes of V that lie inside the row. */
INLINE void put(uint16_t *row, int x, int width, u16v v)
{
    if (x + LANES16 <= width)
        store16(row + x, v);
    else
        memcpy(row + x, &v, (size_t)(width - x) * sizeof *row);
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

/* Batcher's merge exchange (Knuth, The Art of Computer Programming, 5.2.2 M). */
INLINE void sort25(u16v *v)
{
    for (int p = 16; p > 0; p >>= 1) {
        for (int q = 16, r = 0, d = p;; d = q - p, q >>= 1, r = p) {
            for (int i = 0; i + d < 25; i++)
                if ((i & p) == r)
                    sort2(&v[i], &v[i + d]);
            if (q == p)
                break;
        }
    }
}

/* Invalid is the largest value, so the N valid ones of a sorted window come first. */
void PLX_KERNEL(median_valid_5x5)(const uint16_t *const *rows, int width, uint16_t *ret_row)
{
    const u16v invalid = all16(0xFFFF);

    for (int x = 0; x < width; x += LANES16) {
        u16v v[25], n = all16(25);
        for (int i = 0; i < 25; i++) {
            v[i] = load16(rows[i / 5 - 2] + x + i % 5 - 2);
            n += (u16v)(v[i] == invalid);
        }
        const u16v keep = (u16v)(v[12] != invalid) | (u16v)(n > 12);
        sort25(v);
        u16v median = invalid;
        for (int i = 0; i < 13; i++)
            median &= v[i] | ~(u16v)(n >> 1 == (uint16_t)i);
        put(ret_row, x, width, median | ~keep);
    }
}
