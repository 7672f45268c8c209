/* SPDX-License-Identifier: Apache-2.0 */
/* What every file of cpu/simd/ begins with, and the kernels that they export. */
#ifndef PLX_CPU_SIMD_LOCAL_H
#define PLX_CPU_SIMD_LOCAL_H

#include "cpu/simd/kernels.h"
#include "cpu/simd/simd.h"

void PLX_KERNEL(cost)(const struct plx_cost_row *row, int x, int count, uint8_t *ret_cost);
void PLX_KERNEL(aggregate)(const struct plx_sweep_row *row, int x, int count, const uint8_t *cost, uint8_t *ret_pairs);
void PLX_KERNEL(winner)(const struct plx_winner_row *row, int x, int count, const uint8_t *cost, const uint8_t *pairs_a,
                        const uint8_t *pairs_b);
void PLX_KERNEL(smooth)(const uint8_t *above, const uint8_t *row, const uint8_t *below, int width, uint8_t *ret_row);
void PLX_KERNEL(census)(const struct plx_census_sample *samples, int count, const uint8_t *const *rows, int width, bool wide,
                        void *ret_words);
void PLX_KERNEL(gradient)(const uint8_t *above, const uint8_t *row, const uint8_t *below, int width, uint8_t *ret_row);
void PLX_KERNEL(median_3x3)(const uint16_t *const *rows, int width, uint16_t *ret_row);
void PLX_KERNEL(median_valid_5x5)(const uint16_t *const *rows, int width, uint16_t *ret_row);

#endif
