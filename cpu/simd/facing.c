/* SPDX-License-Identifier: Apache-2.0 */
/* The step of surfaces that face the camera: sums over a window, and what they give. Vectors made by the compiler, but where it
 * is decided whether there is a step. */
#include <parallax/frame.h>

#include "cpu/simd/simd.h"

void PLX_KERNEL(facing_sums)(const struct plx_facing_row *row, int count, struct plx_facing_sums *restrict oldest,
                             struct plx_facing_sums *restrict sums)
{
    int32_t at[PLX_FACING_COLUMNS], there[PLX_FACING_COLUMNS], rise[PLX_FACING_COLUMNS];
    const uint16_t *restrict disparity = row->disparity;
    const uint8_t *restrict left = row->left;

    if (row->width < 3) /* no pixel has neighbours at both sides */
        return;
    for (int i = 0; i < count; i++)
        at[i] = plx_facing_partner(row->width, row->x + i, disparity[i], row->min_disparity);
    for (int i = 0; i < count; i++) {
        const uint8_t *partner = row->right + (at[i] >= 0 ? at[i] : 1);
        there[i] = partner[0];
        rise[i] = partner[1] - partner[-1];
    }
    for (int i = 0; i < count; i++) {
        const struct plx_facing one =
            plx_facing_of(at[i], left[i] - there[i], left[i + 1] - left[i - 1] + rise[i], plx_facing_part(disparity[i]));
        sums->move[i] += one.move - oldest->move[i];
        sums->slope2[i] += one.slope2 - oldest->slope2[i];
        sums->slope[i] += one.slope - oldest->slope[i];
        sums->pairs[i] += one.pairs - oldest->pairs[i];
        oldest->move[i] = one.move;
        oldest->slope2[i] = one.slope2;
        oldest->slope[i] = one.slope;
        oldest->pairs[i] = one.pairs;
    }
}

INLINE int window(const int32_t *column)
{
    int sum = 0;
    UNROLL
    for (int i = 0; i < PLX_FACING_WINDOW; i++)
        sum += column[i];
    return sum;
}

/* All ones where pixels from X on, whose disparities are OWN, lie on a surface that faces the camera. */
INLINE u16v faces(const uint16_t *const *rows, int x, u16v own)
{
    u16v same = all16(0), differs = all16(0);

    UNROLL
    for (int i = 0; i < 9; i++) {
        if (i == 4) /* the pixel itself */
            continue;
        const u16v e = distance16(load16(rows[i / 3] + x + (i % 3 - 1) * PLX_FACING_FAR), own); /* invalid: more than all */
        const u16v is_same = (u16v)(e <= PLX_FACING_SAME);
        same -= is_same; /* true is all ones */
        differs |= (u16v)(e <= PLX_FACING_OTHER) & ~is_same;
    }
    return (u16v)(same >= PLX_FACING_LEAST) & ~differs & (u16v)(own != PLX_DISPARITY_INVALID);
}

INLINE bool is_any(u16v mask)
{
    uint64_t word[sizeof mask / sizeof(uint64_t)], any = 0;

    memcpy(word, &mask, sizeof mask);
    for (size_t i = 0; i < sizeof mask / sizeof(uint64_t); i++)
        any |= word[i];
    return any != 0;
}

void PLX_KERNEL(facing)(const uint16_t *const *rows, const struct plx_facing_sums *sums, int count, uint16_t *ret_row)
{
    for (int x = 0; x < count; x += LANES16) {
        const u16v own = load16(rows[1] + x), facing = faces(rows, x, own);
        uint16_t value[LANES16], stepped[LANES16];

        if (!is_any(facing)) {
            put(ret_row, x, count, own);
            continue;
        }
        store16(value, own);
        for (int i = 0; i < LANES16; i++) {
            const struct plx_facing sum = {window(sums->move + x + i), window(sums->slope2 + x + i),
                                           window(sums->slope + x + i), window(sums->pairs + x + i)};
            const int v = value[i] + plx_facing_step(sum, value[i]);
            stepped[i] = (uint16_t)(v > 0 ? v : 0);
        }
        put(ret_row, x, count, (load16(stepped) & facing) | (own & ~facing));
    }
}
