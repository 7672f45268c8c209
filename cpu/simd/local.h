/* SPDX-License-Identifier: Apache-2.0 */
/* What every file of cpu/simd/ begins with, and the kernels that they export. */
#ifndef PLX_CPU_SIMD_LOCAL_H
#define PLX_CPU_SIMD_LOCAL_H

#include "cpu/simd/kernels.h"
#include "cpu/simd/simd.h"

void PLX_KERNEL(split)(const void *words, int width, bool wide, int planes, uint8_t *const *ret_planes);
void PLX_KERNEL(reverse)(const uint8_t *src, int count, uint8_t *ret_bytes);
void PLX_KERNEL(penalty)(const struct plx_match *match, const uint8_t *a, const uint8_t *b, int count, uint8_t *ret_p2);
void PLX_KERNEL(cost)(const struct plx_cost_row *row, int x, int count, uint8_t *ret_cost);
void PLX_KERNEL(aggregate)(const struct plx_sweep_row *row, int x, int count, const uint8_t *cost, uint8_t *ret_pairs);
void PLX_KERNEL(winner)(const struct plx_winner_row *row, int x, int count, const uint8_t *cost, const uint8_t *pairs_a,
                        const uint8_t *pairs_b);
void PLX_KERNEL(finish)(const struct plx_match *match, const struct plx_winner_row *row, uint16_t *ret_left,
                        uint16_t *ret_right);
void PLX_KERNEL(smooth)(const uint8_t *above, const uint8_t *row, const uint8_t *below, int width, uint8_t *ret_row);
void PLX_KERNEL(census)(const struct plx_census_sample *samples, int count, const uint8_t *const *rows, int width, bool wide,
                        void *ret_words);
void PLX_KERNEL(gradient)(const uint8_t *above, const uint8_t *row, const uint8_t *below, int width, uint8_t *ret_row);
void PLX_KERNEL(median_3x3)(const uint16_t *const *rows, int width, uint16_t *ret_row);
void PLX_KERNEL(median_valid_5x5)(const uint16_t *const *rows, int width, uint16_t *ret_row);
void PLX_KERNEL(confidence)(const uint16_t *const *rows, const uint16_t *checked, const uint16_t *s1, int s1_scale,
                            const uint16_t *s2, int width, uint8_t *ret_row);

#endif
