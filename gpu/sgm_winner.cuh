/* SPDX-License-Identifier: Apache-2.0 */
/* Winner-takes-all: keys that find S and d with one minimum, and what is written of a pixel's winner. */
#ifndef PLX_GPU_SGM_WINNER_CUH
#define PLX_GPU_SGM_WINNER_CUH

#include "gpu/packed.cuh"
#include "gpu/sgm.cuh"

/*
 * S and a part of d in 16 bits, so that one minimum finds both: S << PLX_KEY_BITS | d modulo 2^PLX_KEY_BITS. S is at most
 * 8 * 94 + 4 * 240 = 1712.
 */
#if PLX_PACKED_HALF2
#    define PLX_KEY_BITS 4
#else
#    define PLX_KEY_BITS 5
#endif
#define PLX_KEY_PART (1 << PLX_KEY_BITS)
#define PLX_KEY_MASK (PLX_KEY_PART - 1)

/* The least of the numbers of the THREADS of a pixel. */
template <int THREADS> static __device__ __forceinline__ uint32_t plx_least_number(uint32_t number)
{
#pragma unroll
    for (int step = 1; step < THREADS; step *= 2)
        number = min(number, __shfl_xor_sync(PLX_ALL_LANES, number, step));
    return number;
}

/* Where the left view's winners go, and how they are judged. */
struct plx_winner_views {
    plx_view<uint16_t> left, raw, s1, s2;
    int uniqueness; /* per mille; 0 = off */
    enum plx_subpixel subpixel;
};

static inline plx_winner_views plx_winner_views_of(const struct plx_sgm_job *job)
{
    return {plx_view_of<uint16_t>(&job->winners->left),
            plx_view_of<uint16_t>(&job->winners->raw),
            plx_view_of<uint16_t>(&job->winners->s1),
            plx_view_of<uint16_t>(&job->winners->s2),
            job->match->uniqueness,
            job->match->subpixel};
}

/* Shift of the winner, 1/16 px; see docs/matching.md. BELOW > LEAST, being earlier. */
static __device__ __forceinline__ int plx_parabola(int below, int least, int above)
{
    const int curve = below - 2 * least + above;
    return ((below - above) * 16 + curve) / (2 * curve);
}

/* The shift towards the lower neighbour is (lut[64 lo / hi] + 8) >> 4, where lut falls from 128 to 0: it is the number of
 * limits that 64 lo / hi stays below, so nothing is divided. */
static __device__ __forceinline__ int plx_blend(int below, int least, int above)
{
    const int limit[8] = {60, 49, 40, 31, 23, 16, 9, 3};
    const int down = below - least, up = above - least, lo = min(down, up), hi = max(down, up);
    int shift = 0;

#pragma unroll
    for (int i = 0; i < 8; i++)
        shift += 64 * lo < limit[i] * hi;
    return below > above ? shift : -shift;
}

/* The winner D of pixel (X, Y): S there, the least S apart from it, and S on its two sides. INNER: it has two sides. */
static __device__ __forceinline__ void plx_write_winner(const plx_winner_views &out, int x, int y, int d, int s1, int second,
                                                        bool inner, int below, int above)
{
    int value = PLX_DISPARITY_ONE * d;

    if (inner && out.subpixel != PLX_SUBPIXEL_NONE)
        value += out.subpixel == PLX_SUBPIXEL_BLEND ? plx_blend(below, s1, above) : plx_parabola(below, s1, above);
    if (out.uniqueness > 0 && second * out.uniqueness < s1 * 1000)
        value = PLX_DISPARITY_INVALID;
    out.left.row(y)[x] = (uint16_t)value;
    out.raw.row(y)[x] = (uint16_t)d;
    out.s1.row(y)[x] = (uint16_t)s1;
    out.s2.row(y)[x] = (uint16_t)second;
}

#endif
