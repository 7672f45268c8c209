/* SPDX-License-Identifier: Apache-2.0 */
/* Cost of a pixel at all disparities: a vector of partners at once, byte by byte of the census word. */
#include "cpu/simd/local.h"

INLINE void cost(const struct plx_cost_row *row, int x, int count, uint8_t *ret_cost, int planes, bool single, bool gradient)
{
    const u8v cap = all8((uint8_t)row->gradient_cap);

    for (int i = 0; i < count; i++) {
        const int first = row->width - 1 - (x + i);
        for (int d = 0; d < row->disparities; d += LANES8) {
            u8v sum = all8(0);
            for (int k = 0; k < planes; k++) {
                u8v differ = load8(row->right[k] + first + d) ^ all8(row->left[k][x + i]);
                sum += single && k == planes - 1 ? differ : popcount8(differ);
            }
            if (gradient) {
                u8v a = load8(row->right_gradient + first + d), b = all8(row->left_gradient[x + i]);
                sum += min8(max8(a, b) - min8(a, b), cap);
            }
            store8(ret_cost + d, sum);
        }
        ret_cost += row->disparities;
    }
}

/* Three bytes are 17 bits, the third a single one; four are 30 or 31, eight are 62. */
void PLX_KERNEL(cost)(const struct plx_cost_row *row, int x, int count, uint8_t *ret_cost)
{
    switch (row->planes * 2 + (row->gradient_cap > 0)) {
    case 6:
        cost(row, x, count, ret_cost, 3, true, false);
        break;
    case 7:
        cost(row, x, count, ret_cost, 3, true, true);
        break;
    case 8:
        cost(row, x, count, ret_cost, 4, false, false);
        break;
    case 9:
        cost(row, x, count, ret_cost, 4, false, true);
        break;
    case 16:
        cost(row, x, count, ret_cost, 8, false, false);
        break;
    case 17:
        cost(row, x, count, ret_cost, 8, false, true);
        break;
    }
}
