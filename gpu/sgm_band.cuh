/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Aggregation in bands of rows. Two sweeps, downwards and upwards, visit each pixel once and make there the L of the three
 * paths that come from the row before: straight, from the left and from the right. A launch walks one band of each sweep; what
 * it hands to the next launch is L of its last row, a byte a disparity and path.
 *
 * A block has a strip of columns, and walks it without waiting for any other block: beside the strip it has warps for as many
 * columns as the band has rows, each of which makes only the one path that leads into the strip. What they lack themselves,
 * from beyond, makes one column more wrong in each row, and is not in the strip before the band ends.
 *
 * Within a block a path's L goes to the neighbouring column by registers, shuffles or, between warps, shared memory, with one
 * barrier a row.
 *
 * Of the two sweeps that come to a pixel the first one leaves its sums in a volume; the second one adds them to its own, and
 * the rows', and has S. It leaves keys in shared memory, of which other warps of the block find the winners while the next row
 * is walked.
 */
#ifndef PLX_GPU_SGM_BAND_CUH
#define PLX_GPU_SGM_BAND_CUH

#include "gpu/sgm.cuh"
#include "gpu/sgm_step.cuh"
#include "gpu/sgm_winner.cuh"

#define WARP 32
#define SWEEPS 2
#define SEEKERS 4    /* warps that find winners */
#define FEW_WARPS 12 /* of a block: so few leave registers for loads under way */
#define SEGMENT 32   /* columns of a strip whose winners a warp finds at once */

enum { STRAIGHT, FROM_LEFT, FROM_RIGHT, PATHS }; /* of a sweep */

struct band_args {
    const uint4 *cost, *rows_of;     /* [height][width]; C, and L - C of the rows, added up */
    const uint32_t *penalty[SWEEPS]; /* [height][width] */
    const uint4 *before[SWEEPS];     /* [PATHS][width] L of the row before the band, */
    uint4 *after[SWEEPS];            /* and of its last one */
    uint4 *sums;                     /* [height][width] of the sweep that comes first: 16 bits, two chunks a thread */
    int y[SWEEPS], rows[SWEEPS];     /* the first row, and how many */
    bool begins[SWEEPS];             /* there is no row before */
    int width;
    int own;                               /* warps of the strip */
    uint32_t p1_straight, p1_diagonal, p2; /* in both halves */
    plx_winner_views out;
    uint32_t *votes;
};

template <int DISPARITIES> struct band_shape {
    static constexpr int D = DISPARITIES, THREADS = D / 16, GROUPS = WARP / THREADS;
    static constexpr int COLS = 2;                                    /* neighbouring columns of a thread */
    static constexpr int COLUMNS = GROUPS * COLS;                     /* of a warp */
    static constexpr int ROWS = D == 256 ? 8 : 16;                    /* of a band */
    static constexpr int BESIDE = (ROWS - 1 + COLUMNS - 1) / COLUMNS; /* warps on each side of a strip, */
    static constexpr int FEW = FEW_WARPS - SEEKERS - 2 * BESIDE;      /* and of it, in a block of few */
    static constexpr int MOST = D == 256 ? FEW : 12 - 2 * BESIDE;     /* and at all: as registers suffice */
    static constexpr int AHEAD = 4;                                   /* rows that are fetched, a power of two */
    static constexpr int ROW_BYTES = COLS * WARP * 16, RING_BYTES = AHEAD * ROW_BYTES;
    static constexpr int OTHERS = 3; /* chunks: of a pixel, in the second half, the other sweep's sums, and the rows' */
    static constexpr int EDGE_BYTES = 2 * THREADS * 16; /* L of a column */
};

/* See sgm_winner.cuh. Gaps keep the banks apart of what threads store at once, 16 bytes each: chunks 4 g and 4 g + 4 of a
 * pixel, and pixels side by side. */
template <int DISPARITIES> struct band_keys {
    static constexpr int D = DISPARITIES, words = D / 2 + (D / 64 - 1) * 4, pitch = words + D / 16;

    static __device__ constexpr int word(unsigned d)
    {
        return (int)(d % (D / 2) + d % (D / 2) / 32 * 4);
    }

    template <int N> static __device__ __forceinline__ void load(const uint32_t *from, uint32_t (&ret_words)[N])
    {
#pragma unroll
        for (int i = 0; i < N; i += 4) {
            const uint4 v = *(const uint4 *)(from + i);
            ret_words[i] = v.x, ret_words[i + 1] = v.y, ret_words[i + 2] = v.z, ret_words[i + 3] = v.w;
        }
    }
    static __device__ __forceinline__ void load_chunk(const uint32_t *pixel, int g, uint32_t (&ret_words)[8])
    {
        load(pixel + word(8 * g), ret_words);
    }
};

/* A barrier of all warps of a block. Those that walk and those that find winners come to it in different places, so it is not
 * __syncthreads, which has to be one place for all. */
static __device__ __forceinline__ void band_barrier(void)
{
    asm volatile("barrier.sync 0, %0;" ::"r"(blockDim.x) : "memory");
}

/*
 * Shared memory: of each warp the ring of costs; then L that comes from the warps beside: [2 rows][from left, from
 * right][warp]. In the second half then the rings of what others have added up, of each warp of the strip, and keys:
 * [2 rows][segment][SEGMENT][pitch].
 */
template <class S> struct band_memory {
    int others, keys, bytes, keys_of_row;

    __host__ __device__ band_memory(int own, bool second)
    {
        const int segments = (own * S::COLUMNS + SEGMENT - 1) / SEGMENT;
        keys_of_row = segments * SEGMENT * band_keys<S::D>::pitch * (int)sizeof(uint32_t);
        others = (own + 2 * S::BESIDE) * (S::RING_BYTES + 4 * S::EDGE_BYTES);
        keys = others + own * S::OTHERS * S::RING_BYTES;
        bytes = second ? keys + 2 * keys_of_row : others;
    }
};

#endif
