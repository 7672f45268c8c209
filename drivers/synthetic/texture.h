/* SPDX-License-Identifier: Apache-2.0 */
/* The texture of all surfaces: one periodic tile of multi-scale noise. */
#ifndef PLX_DRIVERS_SYNTHETIC_TEXTURE_H
#define PLX_DRIVERS_SYNTHETIC_TEXTURE_H

#include <stdint.h>

#define PLX_TEXTURE_SIDE 512 /* texels; wider than any disparity range, so that no match repeats within it */
#define PLX_TEXTURE_STRIDE (PLX_TEXTURE_SIDE + 16)

/* The tile: [PLX_TEXTURE_SIDE + 1][PLX_TEXTURE_STRIDE], its first row and column repeated after the last, mean about 128, no
 * wavelength below about 4 texels. Made at the first call; the same on every machine. Thread-safe. */
const uint8_t *plx_texture_tile(void);

/* The same in pairs: each texel in the low byte, the one below it in the high byte. Two neighbours are all that a bilinear
 * sample needs. */
const uint16_t *plx_texture_pairs(void);

/* A well mixed 64-bit hash (the finalizer of splitmix64: Steele, Lea, Flood, OOPSLA 2014). */
static inline uint64_t plx_hash(uint64_t x)
{
    x += UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

#endif
