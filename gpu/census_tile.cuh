/* SPDX-License-Identifier: Apache-2.0 */
/* Stage census: the tile of a block and the pixels around it, smoothed or not, two to a register. */
#ifndef PLX_GPU_CENSUS_TILE_CUH
#define PLX_GPU_CENSUS_TILE_CUH

#include "gpu/packed.cuh"
#include "gpu/tile.cuh"

/*
 * Two pixels, HALF columns apart, lie in the halves of a register as floating-point numbers of 16 bits, 1024 + brightness, in
 * which their difference is exact. Cut off below 0 and above 1 it is the bit wanted; ten bits are collected as 2 * bits + bit,
 * exact too, and then are the mantissa. So a bit of two pixels takes two instructions, at the full rate of the GPU.
 */
#define COLUMNS 4 /* of a thread, in each half of the tile */
#define HALF (32 * COLUMNS)
#define TILE_X (2 * HALF)
#define TILE_Y 16
#define RADIUS_X 4 /* of the largest window */
#define RADIUS_Y 3
#define BYTES_X (TILE_X + 2 * PLX_PIECE) /* of the tile and its surroundings, as read */
#define BYTES_Y (TILE_Y + 2 * RADIUS_Y + 2)
#define PAIRS_X (HALF + 2 * RADIUS_X)
#define PAIRS_Y (TILE_Y + 2 * RADIUS_Y)
#define BYTE_OF_PAIR (PLX_PIECE - RADIUS_X) /* column of the bytes at that of the pairs */
#define EMPTY 0x64006400u                   /* 1024 in both halves */

struct census_args {
    plx_view<const uint8_t> grey;
    plx_view<void> census;
    plx_view<uint8_t> gradient; /* data NULL: none */
    bool smooth, zero_border, grey_aligned, census_aligned, gradient_aligned;
};

typedef uint8_t byte_tile[BYTES_Y][BYTES_X];
typedef uint32_t pair_tile[PAIRS_Y][PAIRS_X];

/* The pixels around the tile at (X0, Y0); a row by a warp. */
template <int WARPS>
static __device__ __forceinline__ void load_bytes(const struct census_args &a, int x0, int y0, byte_tile &bytes)
{
    const int tx = threadIdx.x % 32 * PLX_PIECE, x = x0 + tx - PLX_PIECE;

    if (tx >= BYTES_X || x > a.grey.width + RADIUS_X)
        return;
    plx_load_pieces<BYTES_Y, WARPS, BYTES_X>(a.grey, x, y0 - RADIUS_Y - 1, a.grey_aligned, (int)threadIdx.x / 32,
                                             &bytes[0][tx]);
}

/* Byte I of both words, in the halves of a register. */
static __device__ __forceinline__ uint32_t pair_of(uint32_t first, uint32_t second, int i)
{
    return plx_even_bytes(__byte_perm(first, second, (unsigned)(i | (4 + i) << 8)));
}

/* Pairs of COLUMNS columns from FROM on, smoothed or not. */
static __device__ __forceinline__ uint4 make_pairs(const uint8_t *from, bool smooth)
{
    uint32_t c[COLUMNS + 2];

#pragma unroll
    for (int i = 0; i < COLUMNS; i++)
        c[1 + i] = pair_of(*(const uint32_t *)from, *(const uint32_t *)(from + HALF), i);
    if (!smooth)
        return make_uint4(c[1] | EMPTY, c[2] | EMPTY, c[3] | EMPTY, c[4] | EMPTY);

    uint32_t g[COLUMNS];
    const uint8_t *north = from - BYTES_X, *south = from + BYTES_X;
    c[0] = pair_of(*(const uint32_t *)(from - 4), *(const uint32_t *)(from + HALF - 4), 3);
    c[5] = pair_of(*(const uint32_t *)(from + 4), *(const uint32_t *)(from + HALF + 4), 0);
#pragma unroll
    for (int i = 0; i < COLUMNS; i++) {
        const uint32_t n = pair_of(*(const uint32_t *)north, *(const uint32_t *)(north + HALF), i);
        const uint32_t s = pair_of(*(const uint32_t *)south, *(const uint32_t *)(south + HALF), i);
        g[i] = plx_even_bytes((plx_mad(c[1 + i], 4, 0x00040004) + n + s + c[i] + c[i + 2]) >> 3) | EMPTY;
    }
    return make_uint4(g[0], g[1], g[2], g[3]);
}

/* Outside the image G is that of the nearest pixel inside, not a mean of clamped pixels: first along rows, then down columns.
 */
static __device__ void clamp_pairs(const struct census_args &a, int x0, int y0, pair_tile &pairs)
{
    const int width = a.grey.width, height = a.grey.height, top = y0 - RADIUS_Y; /* of the pairs */

    for (int i = threadIdx.x; i < PAIRS_Y * 4 * RADIUS_X; i += (int)blockDim.x) {
        const int ty = i / (4 * RADIUS_X), half = i / RADIUS_X % 2, left = x0 + half * HALF - RADIUS_X;
        const bool right = i / (2 * RADIUS_X) % 2;
        const int tx = (right ? width : -RADIUS_X) + i % RADIUS_X - left, inside = (right ? width - 1 : 0) - left;
        if (tx >= 0 && tx < PAIRS_X && inside >= 0 && inside < PAIRS_X)
            ((uint16_t *)&pairs[ty][tx])[half] = ((const uint16_t *)&pairs[ty][inside])[half];
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 2 * RADIUS_Y * PAIRS_X; i += (int)blockDim.x) {
        const int tx = i % PAIRS_X, row = i / PAIRS_X; /* of those above, then of those below */
        const bool below = row >= RADIUS_Y;
        const int ty = row - RADIUS_Y + (below ? height : 0) - top, inside = (below ? height - 1 : 0) - top;
        if (ty >= 0 && ty < PAIRS_Y && inside >= 0 && inside < PAIRS_Y)
            pairs[ty][tx] = pairs[inside][tx];
    }
}

/* Pairs of the tile at (X0, Y0) from its bytes. */
static __device__ __forceinline__ void make_tile(const struct census_args &a, int x0, int y0, bool border,
                                                 const byte_tile &bytes, pair_tile &pairs)
{
    const int pieces = PAIRS_X / COLUMNS;

    for (int i = threadIdx.x; i < pieces * PAIRS_Y; i += (int)blockDim.x) {
        const int ty = i / pieces, tx = i % pieces * COLUMNS;
        *(uint4 *)&pairs[ty][tx] = make_pairs(&bytes[ty + 1][tx + BYTE_OF_PAIR], a.smooth);
    }
    __syncthreads();
    if (a.smooth && border) {
        clamp_pairs(a, x0, y0, pairs);
        __syncthreads();
    }
}

#endif
