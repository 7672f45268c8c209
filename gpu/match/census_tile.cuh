/* SPDX-License-Identifier: Apache-2.0 */
/* Stage census: the tile of a block and the pixels around it, smoothed or not, two to a register. */
#ifndef PLX_GPU_MATCH_CENSUS_TILE_CUH
#define PLX_GPU_MATCH_CENSUS_TILE_CUH

#include "gpu/device/access.cuh"
#include "gpu/device/packed.cuh"

/* Two pixels, HALF columns apart, lie in the halves of a register as floating-point numbers of 16 bits, 1024 + brightness, in
 * which their difference is exact. Cut off below 0 and above 1 it is the bit wanted; up to ten are collected as 2 * bits + bit,
 * exact too, and then are the mantissa. So a bit of two pixels takes two instructions, at the full rate of the GPU. */
#define COLUMNS 4 /* columns of a thread, in each half of the tile */
#define HALF (32 * COLUMNS)
#define TILE_X (2 * HALF)
#define WARPS 4                                 /* warps of a block */
#define RADIUS_X 4                              /* half width of the largest window */
#define BYTES_X (TILE_X + 2 * PLX_VECTOR_BYTES) /* width of the tile and its surroundings, as read */
#define PAIRS_X (HALF + 2 * RADIUS_X)
#define BYTE_OF_PAIR (PLX_VECTOR_BYTES - RADIUS_X) /* column of the bytes at that of the pairs */
#define EMPTY 0x64006400u                          /* 1024 in both halves */

struct census_args {
    plx_view<const uint8_t> grey;
    plx_view<void> census;
    plx_view<uint16_t> gradient; /* data NULL: none */
    int ahead;                   /* rows of tiles to the block that will replace this one */
    bool smooth, zero_border, grey_aligned, census_aligned, gradient_aligned;
};

/* A tile of HEIGHT and RY rows around it: pairs, and the bytes that they are made of. All warps make as many rows. */
template <int RY, int HEIGHT> struct tile_of {
    static constexpr int rows = HEIGHT + 2 * RY, each = (rows + WARPS - 1) / WARPS;
    typedef uint8_t bytes[each * WARPS + 2][BYTES_X];
    typedef uint32_t pairs[each * WARPS][PAIRS_X];
};

/* The pixels around the tile at (X0, Y0); a row by a warp. */
template <int RY, int HEIGHT>
static __device__ __forceinline__ void load_bytes(const struct census_args &a, int x0, int y0,
                                                  typename tile_of<RY, HEIGHT>::bytes &bytes)
{
    const int tx = threadIdx.x % 32 * PLX_VECTOR_BYTES, x = x0 + tx - PLX_VECTOR_BYTES;

    if (tx >= BYTES_X || x > a.grey.width + RADIUS_X)
        return;
    plx_load_tile_strip<tile_of<RY, HEIGHT>::rows + 2, WARPS, BYTES_X>(a.grey, x, y0 - RY - 1, a.grey_aligned,
                                                                       (int)threadIdx.x / 32, &bytes[0][tx]);
}

/* The two lower bytes of a word as a pair, or the two upper ones. */
static __device__ __forceinline__ uint32_t low_pair(uint32_t word)
{
    return __byte_perm(word, EMPTY, 0x5150);
}

static __device__ __forceinline__ uint32_t high_pair(uint32_t word)
{
    return __byte_perm(word, EMPTY, 0x5352);
}

/* Pairs of COLUMNS columns from FROM on. */
static __device__ __forceinline__ void unpack(const uint8_t *from, uint32_t (&ret_pairs)[COLUMNS])
{
    const uint32_t first = *(const uint32_t *)from, second = *(const uint32_t *)(from + HALF);
    const uint32_t left = __byte_perm(first, second, 0x5140), right = __byte_perm(first, second, 0x7362);
    ret_pairs[0] = low_pair(left), ret_pairs[1] = high_pair(left);
    ret_pairs[2] = low_pair(right), ret_pairs[3] = high_pair(right);
}

/* The pair of byte I of the words at FROM. */
template <int I> static __device__ __forceinline__ uint32_t unpack_one(const uint8_t *from)
{
    return low_pair(__byte_perm(*(const uint32_t *)from, *(const uint32_t *)(from + HALF), I | (I + 4) << 4));
}

/* (4 centre + north + south + west + east + 4) >> 3: the upper bytes of 32 times as much. The pairs' upper bytes add up to a
 * constant. */
static __device__ __forceinline__ uint32_t smooth_pair(uint32_t centre, uint32_t north, uint32_t south, uint32_t west,
                                                       uint32_t east)
{
    const uint32_t times_32 =
        plx_mad(north + south + west + east, 32, plx_mad(centre, 128, plx_broadcast2(4 * 32) - 256 * EMPTY));
    return __byte_perm(times_32, EMPTY, 0x5351);
}

/* Pairs of COLUMNS columns, smoothed or not, in ROWS rows; FROM: the first pixels of the first. */
template <int ROWS> static __device__ __forceinline__ void make_strip(const uint8_t *from, bool smooth, uint32_t *ret_pairs)
{
    uint32_t c[ROWS + 2][COLUMNS]; /* from the row before on */

    if (!smooth) {
#pragma unroll
        for (int y = 0; y < ROWS; y++) {
            unpack(from + y * BYTES_X, c[y]);
            *(uint4 *)(ret_pairs + y * PAIRS_X) = make_uint4(c[y][0], c[y][1], c[y][2], c[y][3]);
        }
        return;
    }
    unpack(from - BYTES_X, c[0]);
    unpack(from, c[1]);
#pragma unroll
    for (int y = 0; y < ROWS; y++, from += BYTES_X) {
        const uint32_t west = unpack_one<3>(from - 4), east = unpack_one<0>(from + 4);
        uint32_t g[COLUMNS];
        unpack(from + BYTES_X, c[y + 2]);
#pragma unroll
        for (int i = 0; i < COLUMNS; i++)
            g[i] = smooth_pair(c[y + 1][i], c[y][i], c[y + 2][i], i > 0 ? c[y + 1][i - 1] : west,
                               i < COLUMNS - 1 ? c[y + 1][i + 1] : east);
        *(uint4 *)(ret_pairs + y * PAIRS_X) = make_uint4(g[0], g[1], g[2], g[3]);
    }
}

/* Outside the image a smoothed pixel is that of the nearest pixel inside: first along rows, then down columns. */
template <int RY, int HEIGHT>
static __device__ void clamp_pairs(const struct census_args &a, int x0, int y0, typename tile_of<RY, HEIGHT>::pairs &pairs)
{
    const int width = a.grey.width, height = a.grey.height, rows = tile_of<RY, HEIGHT>::rows, top = y0 - RY;

    for (int i = threadIdx.x; i < rows * 4 * RADIUS_X; i += (int)blockDim.x) {
        const int ty = i / (4 * RADIUS_X), half = i / RADIUS_X % 2, left = x0 + half * HALF - RADIUS_X;
        const bool right = i / (2 * RADIUS_X) % 2;
        const int tx = (right ? width : -RADIUS_X) + i % RADIUS_X - left, inside = (right ? width - 1 : 0) - left;
        if (tx >= 0 && tx < PAIRS_X && inside >= 0 && inside < PAIRS_X)
            ((uint16_t *)&pairs[ty][tx])[half] = ((const uint16_t *)&pairs[ty][inside])[half];
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 2 * RY * PAIRS_X; i += (int)blockDim.x) {
        const int tx = i % PAIRS_X, row = i / PAIRS_X; /* rows above the tile, then those below */
        const bool below = row >= RY;
        const int ty = row - RY + (below ? height : 0) - top, inside = (below ? height - 1 : 0) - top;
        if (ty >= 0 && ty < rows && inside >= 0 && inside < rows)
            pairs[ty][tx] = pairs[inside][tx];
    }
}

/* Pairs of the tile at (X0, Y0) from its bytes: a warp makes rows without the last columns, which all threads share. */
template <int RY, int HEIGHT>
static __device__ __forceinline__ void make_tile(const struct census_args &a, int x0, int y0, bool border,
                                                 const typename tile_of<RY, HEIGHT>::bytes &bytes,
                                                 typename tile_of<RY, HEIGHT>::pairs &pairs)
{
    constexpr int rows = tile_of<RY, HEIGHT>::each, beside = (PAIRS_X - HALF) / COLUMNS;
    const int tx = threadIdx.x % 32 * COLUMNS, ty = threadIdx.x / 32 * rows;
    const int rest = WARPS * 32 - 1 - (int)threadIdx.x, rest_x = HALF + rest % beside * COLUMNS, rest_y = rest / beside;

    make_strip<rows>(&bytes[ty + 1][tx + BYTE_OF_PAIR], a.smooth, &pairs[ty][tx]);
    if (rest_y < tile_of<RY, HEIGHT>::rows)
        make_strip<1>(&bytes[rest_y + 1][rest_x + BYTE_OF_PAIR], a.smooth, &pairs[rest_y][rest_x]);
    __syncthreads();
    if (a.smooth && border) {
        clamp_pairs<RY, HEIGHT>(a, x0, y0, pairs);
        __syncthreads();
    }
}

#endif
