/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers that look random, the same ones on every machine. */
#ifndef PLX_CORE_BASE_RANDOM_H
#define PLX_CORE_BASE_RANDOM_H

#include <stdint.h>

/* The next number after STATE, which it becomes: xorshift (Marsaglia 2003). 0 is followed by 0. */
static inline uint32_t plx_random_next(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

#endif
