/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads of memory that another process may be writing. Relaxed atomic loads: each happens exactly once, so that the checked
 * value is the used value, and none is torn. The sequence lock around them orders them.
 */
#ifndef PLX_CLIENT_FETCH_H
#define PLX_CLIENT_FETCH_H

#include <stdint.h>

static inline uint8_t plx_fetch8(const void *at)
{
    return __atomic_load_n((const uint8_t *)at, __ATOMIC_RELAXED);
}

static inline uint16_t plx_fetch16(const void *at)
{
    return __atomic_load_n((const uint16_t *)at, __ATOMIC_RELAXED);
}

static inline uint32_t plx_fetch32(const void *at)
{
    return __atomic_load_n((const uint32_t *)at, __ATOMIC_RELAXED);
}

static inline uint64_t plx_fetch64(const void *at)
{
    return __atomic_load_n((const uint64_t *)at, __ATOMIC_RELAXED);
}

static inline double plx_fetch_double(const double *at)
{
    double value;
    __atomic_load(at, &value, __ATOMIC_RELAXED);
    return value;
}

static inline float plx_fetch_float(const float *at)
{
    float value;
    __atomic_load(at, &value, __ATOMIC_RELAXED);
    return value;
}

#endif
