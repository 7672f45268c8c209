/* SPDX-License-Identifier: Apache-2.0 */
/* The scene's texture: one periodic tile of multi-scale noise, sampled at a scale that suits the distance. */
#ifndef PLX_DRIVERS_SYNTHETIC_TEXTURE_H
#define PLX_DRIVERS_SYNTHETIC_TEXTURE_H

#include <stdint.h>

#define PLX_TEXTURE_SIDE 512 /* texels; wider than any disparity range, so that no match repeats within it */
#define PLX_TEXTURE_STRIDE (PLX_TEXTURE_SIDE + 16)

/* The tile: [PLX_TEXTURE_SIDE + 1][PLX_TEXTURE_STRIDE], its first row and column repeated after the last, mean about 128, no
 * wavelength below about 4 texels. Made at the first call; the same on every machine. Thread-safe. */
const uint8_t *plx_texture_tile(void);

/* A well mixed 64-bit hash (the finalizer of splitmix64: Steele, Lea, Flood, OOPSLA 2014). */
static inline uint64_t plx_hash(uint64_t x)
{
    x += UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

/* Bilinear value at texel position (S, Q), |S|, |Q| < 2^50, in 1/65536 of a grey level. */
static inline int32_t plx_texture_sample(const uint8_t *tile, float s, float q)
{
    int64_t fixed_s = (int64_t)(s * 256.0f), fixed_q = (int64_t)(q * 256.0f);
    int32_t column = (int32_t)(fixed_s >> 8) & (PLX_TEXTURE_SIDE - 1), row = (int32_t)(fixed_q >> 8) & (PLX_TEXTURE_SIDE - 1);
    int32_t part_s = (int32_t)fixed_s & 255, part_q = (int32_t)fixed_q & 255;
    const uint8_t *upper = tile + row * PLX_TEXTURE_STRIDE + column, *lower = upper + PLX_TEXTURE_STRIDE;
    int32_t above = upper[0] * 256 + (upper[1] - upper[0]) * part_s;
    int32_t below = lower[0] * 256 + (lower[1] - lower[0]) * part_s;
    return above * 256 + (below - above) * part_q;
}

#endif
