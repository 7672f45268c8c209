/* SPDX-License-Identifier: Apache-2.0 */
/* Disparity candidates by winner-takes-all: keys that give S and d by one minimum, and the candidate of a pixel. */
#ifndef PLX_GPU_SGM_WINNER_CUH
#define PLX_GPU_SGM_WINNER_CUH

#include <parallax/frame.h>

extern "C" {
#include "core/pipeline/match.h"
}
#include "gpu/device/packed.cuh"

/* S and a part of d in 16 bits, so that one minimum finds both: S << PLX_KEY_BITS | d modulo 2^PLX_KEY_BITS. S is at most 8 *
 * 110 + 4 * 240 = 1840. */
#if PLX_PACKED_HALF2
#    define PLX_KEY_BITS 4
#else
#    define PLX_KEY_BITS 5
#endif
#define PLX_KEY_RANGE (1 << PLX_KEY_BITS)
#define PLX_KEY_MASK (PLX_KEY_RANGE - 1)

/* Minimum over the THREADS of a pixel. */
template <int THREADS> static __device__ __forceinline__ uint32_t plx_min_of_lanes(uint32_t number)
{
#pragma unroll
    for (int step = 1; step < THREADS; step *= 2)
        number = min(number, __shfl_xor_sync(PLX_ALL_LANES, number, step));
    return number;
}

/* A 32-bit product is enough for every pitch. */
template <class T> static __device__ __forceinline__ T *plx_pixel_at(const plx_view<T> &view, int x, int y)
{
    return (T *)((char *)view.data + (uint64_t)(uint32_t)y * (uint32_t)view.pitch) + x;
}

/* Outputs of the left view, and the checks of a candidate. */
struct plx_candidate_views {
    plx_view<uint16_t> left, raw, s1, s2;
    int uniqueness; /* per mille; 0 = off */
    enum plx_subpixel subpixel;
};

plx_candidate_views plx_candidate_views_of(const struct plx_sgm_job *job); /* winner.cu */

/* Shift of the candidate, 1/16 px; see docs/matching.md. BELOW > LEAST, being earlier. */
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

/* Writes the candidate D of pixel (X, Y). S1: its sum, SECOND: the smallest sum over |d' - d| > 1, BELOW and ABOVE: sums of the
 * adjacent disparities. INNER: both exist. */
static __device__ __forceinline__ void plx_write_candidate(const plx_candidate_views &out, int x, int y, int d, int s1,
                                                           int second, bool inner, int below, int above)
{
    int value = PLX_DISPARITY_ONE * d;

    if (inner && out.subpixel != PLX_SUBPIXEL_NONE)
        value += out.subpixel == PLX_SUBPIXEL_BLEND ? plx_blend(below, s1, above) : plx_parabola(below, s1, above);
    if (out.uniqueness > 0 && second * out.uniqueness < s1 * 1000)
        value = PLX_DISPARITY_INVALID;
    *plx_pixel_at(out.left, x, y) = (uint16_t)value;
    *plx_pixel_at(out.raw, x, y) = (uint16_t)d;
    *plx_pixel_at(out.s1, x, y) = (uint16_t)s1;
    *plx_pixel_at(out.s2, x, y) = (uint16_t)second;
}

/* How the keys of a pixel lie in shared memory: a struct with D; word(d), of which the lower half is the key of disparity d and
 * the upper half that of d + D / 2; WORDS, behind which there is, for each chunk, the least of its eight words; and what loads
 * the eight words of a chunk. */

/* Turns eight sums of chunk G into keys. */
static __device__ __forceinline__ void plx_sums_to_keys(uint32_t sum[8], int g)
{
    const uint32_t range = plx_broadcast2((uint32_t)(g * 8 & PLX_KEY_MASK));
#pragma unroll
    for (int i = 0; i < 8; i++)
        sum[i] = plx_mad(sum[i], PLX_KEY_RANGE, range + plx_broadcast2(i));
}

/* S << 16 | d from the lower and the upper half of KEY. RANGE: first disparity of the lower half's range. */
static __device__ __forceinline__ uint32_t plx_low_argmin(uint32_t key, int range)
{
    return (key & 0xFFFF) >> PLX_KEY_BITS << 16 | (key & PLX_KEY_MASK) | range;
}
template <int D> static __device__ __forceinline__ uint32_t plx_high_argmin(uint32_t key, int range)
{
    return plx_low_argmin(key >> 16, range + D / 2);
}

/* Address of the key of disparity D. */
template <class KEYS> static __device__ __forceinline__ uint16_t *plx_key_at(uint32_t *pixel, unsigned d)
{
    return (uint16_t *)(pixel + KEYS::word(d)) + (d >= KEYS::D / 2);
}

template <class KEYS> static __device__ __forceinline__ int plx_sum_at(uint32_t *pixel, unsigned d)
{
    return *plx_key_at<KEYS>(pixel, d) >> PLX_KEY_BITS;
}

/* Minimum key of the eight disparities from OCTET on, without D and its neighbours. */
template <class KEYS> static __device__ __forceinline__ uint32_t plx_min_apart(const uint32_t *pixel, int octet, int d)
{
    const uint32_t half = octet >= KEYS::D / 2 ? 0x4432 : 0x4410;
    uint32_t keys[8], least = 0xFFFF;

    KEYS::load_chunk(pixel, octet / 8 % (KEYS::D / 16), keys);
#pragma unroll
    for (int i = 0; i < 8; i++)
        if ((unsigned)(octet + i - d + 1) > 2)
            least = min(least, __byte_perm(keys[i], 0, half));
    return least;
}

/* Finds and writes the candidate of a left pixel; one thread for each pixel. */
template <class KEYS>
static __device__ __forceinline__ void plx_find_left_candidate(const plx_candidate_views &out, uint32_t *pixel, int x, int y)
{
    constexpr int D = KEYS::D, CHUNKS = D / 16, SAME_RANGE = PLX_KEY_RANGE / 8; /* chunks of one range of keys */
    uint32_t least[CHUNKS], best = 0xFFFFFFFF;

    KEYS::load(pixel + KEYS::words, least);
#pragma unroll
    for (int g = 0; g < CHUNKS; g += SAME_RANGE) {
        uint32_t m = least[g];
#pragma unroll
        for (int i = 1; i < SAME_RANGE; i++)
            m = plx_min2(m, least[g + i]);
        best = min(best, min(plx_low_argmin(m, g * 8), plx_high_argmin<D>(m, g * 8)));
    }
    const int d = best & 0xFFFF, below = max(d - 1, 0), above = min(d + 1, D - 1);

    uint32_t second = min(plx_min_apart<KEYS>(pixel, below & ~7, d), plx_min_apart<KEYS>(pixel, above & ~7, d));
    uint16_t *const octets = (uint16_t *)(pixel + KEYS::words); /* both octets are done */
    octets[2 * (below / 8 % CHUNKS) + (below >= D / 2)] = octets[2 * (above / 8 % CHUNKS) + (above >= D / 2)] =
        (uint16_t)PLX_PACKED_MAX;
    KEYS::load(pixel + KEYS::words, least);
    uint32_t m = least[0];
#pragma unroll
    for (int g = 1; g < CHUNKS; g++)
        m = plx_min2(m, least[g]);
    second = min(second, min(m & 0xFFFF, m >> 16)) >> PLX_KEY_BITS;
    plx_write_candidate(out, x, y, d, (int)(best >> 16), (int)second, below < d && d < above, plx_sum_at<KEYS>(pixel, below),
                        plx_sum_at<KEYS>(pixel, above));
}

/* Minima S << 16 | d for a right pixel (low) and for the one D / 2 to its left (high). */
template <int D> struct plx_right_minimum {
    uint32_t low = 0xFFFFFFFF, high = 0xFFFFFFFF;

    __device__ __forceinline__ void add(uint32_t key, int range)
    {
        low = min(low, plx_low_argmin(key, range));
        high = min(high, plx_high_argmin<D>(key, range));
    }

    /* LOW belongs to pixel P of a row. */
    __device__ __forceinline__ void store_min(uint32_t *right_argmin, int p) const
    {
        if (p >= 0)
            atomicMin(right_argmin + p, low);
        if (p >= D / 2)
            atomicMin(right_argmin + p - D / 2, high);
    }
};

#endif
