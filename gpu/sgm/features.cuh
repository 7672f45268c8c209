/* SPDX-License-Identifier: Apache-2.0 */
/* The features of a pixel in one word, and C(p, d) from two of them. */
#ifndef PLX_GPU_SGM_FEATURES_CUH
#define PLX_GPU_SGM_FEATURES_CUH

#include "gpu/device/device.cuh"

/*
 * The features of a pixel in one word, and C from two of them. Outside the image the right census word is 0 and the gradient
 * that of the row's first or last pixel.
 */
struct census_only {
    typedef uint32_t word;

    static __device__ word load(const plx_view<const void> &census, const plx_view<const uint8_t> &, int q, int y)
    {
        const uint32_t *row = (const uint32_t *)((const char *)census.data + (size_t)y * census.pitch);
        return (unsigned)q < (unsigned)census.width ? row[q] : 0;
    }
    static __device__ uint32_t cost(word l, word r, uint32_t)
    {
        return (uint32_t)__popc(l ^ r);
    }
};

/* Up to 24 bits of census below 8 bits of gradient. */
struct census_and_gradient {
    typedef uint32_t word;

    static __device__ word load(const plx_view<const void> &census, const plx_view<const uint8_t> &gradient, int q, int y)
    {
        return census_only::load(census, gradient, q, y) | (uint32_t)gradient.row(y)[plx_clamp(q, 0, census.width - 1)] << 24;
    }
    static __device__ uint32_t cost(word l, word r, uint32_t cap)
    {
        return (uint32_t)__popc((l ^ r) & 0xFFFFFF) + min(__usad(l >> 24, r >> 24, 0), cap);
    }
};

/* 30 and 31 bits of census, and a gradient. */
struct long_census_and_gradient {
    typedef uint64_t word;

    static __device__ word load(const plx_view<const void> &census, const plx_view<const uint8_t> &gradient, int q, int y)
    {
        return census_only::load(census, gradient, q, y) | (uint64_t)gradient.row(y)[plx_clamp(q, 0, census.width - 1)] << 32;
    }
    static __device__ uint32_t cost(word l, word r, uint32_t cap)
    {
        return (uint32_t)__popc((uint32_t)l ^ (uint32_t)r) + min(__usad((uint32_t)(l >> 32), (uint32_t)(r >> 32), 0), cap);
    }
};

/* 62 bits of census. */
struct wide_census {
    typedef uint64_t word;

    static __device__ word load(const plx_view<const void> &census, const plx_view<const uint8_t> &, int q, int y)
    {
        const uint64_t *row = (const uint64_t *)((const char *)census.data + (size_t)y * census.pitch);
        return (unsigned)q < (unsigned)census.width ? row[q] : 0;
    }
    static __device__ uint32_t cost(word l, word r, uint32_t)
    {
        return (uint32_t)__popcll(l ^ r);
    }
};

struct wide_census_and_gradient {
    struct word {
        uint64_t census;
        uint32_t gradient;
    };

    static __device__ word load(const plx_view<const void> &census, const plx_view<const uint8_t> &gradient, int q, int y)
    {
        return {wide_census::load(census, gradient, q, y), gradient.row(y)[plx_clamp(q, 0, census.width - 1)]};
    }
    static __device__ uint32_t cost(word l, word r, uint32_t cap)
    {
        return (uint32_t)__popcll(l.census ^ r.census) + min(__usad(l.gradient, r.gradient, 0), cap);
    }
};

#endif
