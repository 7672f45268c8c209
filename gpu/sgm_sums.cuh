/* SPDX-License-Identifier: Apache-2.0 */
/* Where the winners get S from: their block row B is picture row row(B), and add(B, pixel, its column, G, ...) makes what
 * thread G of a pixel has of it. */
#ifndef PLX_GPU_SGM_SUMS_CUH
#define PLX_GPU_SGM_SUMS_CUH

#include "gpu/packed.cuh"
#include "gpu/sgm.cuh"

/* Of the lines. */
template <int D, int ORIENTATIONS> struct lines_sums {
    const uint4 *cost, *pairs[PLX_ORIENTATIONS];

    __device__ __forceinline__ int row(int b) const
    {
        return b;
    }

    __device__ __forceinline__ void add(int, int64_t pixel, int, int g, uint32_t sum[8]) const
    {
        const int64_t chunk = pixel * (D / 16) + g;
        uint4 volume[ORIENTATIONS];
        uint32_t l[8];

        const uint4 c = __ldcs(cost + chunk);
#pragma unroll
        for (int o = 0; o < ORIENTATIONS; o++)
            volume[o] = __ldcs(pairs[o] + chunk);
        plx_unpack(c, sum);
#pragma unroll
        for (int o = 0; o < ORIENTATIONS; o++) {
            plx_unpack(volume[o], l);
#pragma unroll
            for (int i = 0; i < 8; i++)
                sum[i] = o == 0 ? plx_mad(sum[i], 2 * ORIENTATIONS, l[i]) : sum[i] + l[i];
        }
    }
};

/* Of a band, in rows that both sweeps have visited. */
template <int D> struct band_sums {
    const uint4 *rows_of; /* pairs of the rows */
    plx_band_rows band;
    int width;

    __device__ __forceinline__ int row(int b) const
    {
        return b < band.count[0] ? band.first[0] + b : band.first[1] - (b - band.count[0]);
    }

    __device__ __forceinline__ void add(int b, int64_t pixel, int x, int g, uint32_t sum[8]) const
    {
        constexpr int CHUNKS = D / 16;
        const int line = b < band.count[0] ? b : band.longest + b - band.count[0];
        const uint4 *from = band.last + ((int64_t)line * width + x) * 2 * CHUNKS + g;
        const uint4 *other = band.sums + pixel * 2 * CHUNKS + g;
        const uint4 a = __ldcs(other), c = __ldcs(other + CHUNKS), pair = __ldcs(rows_of + pixel * CHUNKS + g);
        const uint4 e = __ldcs(from), f = __ldcs(from + CHUNKS);

        plx_unpack(pair, sum);
        sum[0] += a.x + e.x, sum[1] += a.y + e.y, sum[2] += a.z + e.z, sum[3] += a.w + e.w;
        sum[4] += c.x + f.x, sum[5] += c.y + f.y, sum[6] += c.z + f.z, sum[7] += c.w + f.w;
    }
};

#endif
