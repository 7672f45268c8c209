/* SPDX-License-Identifier: Apache-2.0 */
/* Bands of rows: how one image is shared among the threads of the pool. */
#ifndef PLX_CPU_RUNTIME_BAND_H
#define PLX_CPU_RUNTIME_BAND_H

#include "cpu/internal.h"

struct plx_band {
    int first, last; /* rows first..last-1 */
};

/* Bands for an image of ROWS rows: a few per thread, so that a thread that was held up delays nobody. */
static inline int plx_band_count(const struct plx_cpu *cpu, int rows)
{
    int wanted = 4 * plx_pool_threads(cpu->pool);
    return rows < wanted ? rows : wanted;
}

static inline struct plx_band plx_band(int index, int count, int rows)
{
    return (struct plx_band){(int)((int64_t)rows * index / count), (int)((int64_t)rows * (index + 1) / count)};
}

#endif
