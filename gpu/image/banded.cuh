/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products of bytes with banded matrices: each row holds the weights of a filter one column further right. */
#ifndef PLX_GPU_IMAGE_BANDED_CUH
#define PLX_GPU_IMAGE_BANDED_CUH

#include "gpu/device/device.cuh"

#define DEPTH 32   /* depth of one matrix product */
#define BEFORE 20  /* zeros before the weights: whole words, as many as a band reads */
#define WEIGHTS 96 /* with the zeros before and after */
#define SHIFTS 4   /* copies of the weights, so that four weights from any place on are one word */

/* Each weight in two bytes, low + high * factor; copy i begins with weight i. */
struct alignas(sizeof(uint4)) axis {
    uint8_t low[SHIFTS][WEIGHTS], high[SHIFTS][WEIGHTS];
};

/* Splits weights into two bytes; returns the factor of the high one: 256, or 512 where one weight is 65,536 and all others are
 * 0. */
static inline int split(const uint32_t *weight, int size, struct axis *ret_axis)
{
    uint32_t factor = 256;

    for (int i = 0; i < size; i++)
        factor = weight[i] == 65536 ? 512 : factor;
    for (int shift = 0; shift < SHIFTS; shift++) {
        for (int i = 0; i < size; i++) {
            ret_axis->low[shift][BEFORE + i - shift] = (uint8_t)(weight[i] % factor);
            ret_axis->high[shift][BEFORE + i - shift] = (uint8_t)(weight[i] / factor);
        }
    }
    return (int)factor;
}

/* A matrix of 16 x 32 bytes as the 32 threads of a warp hold it; in thread l, with g = l / 4 and t = l % 4, word 0 is row g,
 * columns 4t to 4t + 3; word 1 row g + 8; words 2 and 3 the same with columns 16 higher. */
struct matrix {
    uint32_t word[4];
};

/* SUM [16][8] += A [16][32] B [32][8]. Thread l holds rows 4t to 4t + 3 (B0) and 4t + 16 to 4t + 19 (B1) of column g of B, and
 * columns 2t and 2t + 1 of row g, then of row g + 8, of SUM. In PTX, because nvcuda::wmma does not tell which thread holds
 * what. */
static __device__ __forceinline__ void multiply_add(const struct matrix &a, uint32_t b0, uint32_t b1, int (&sum)[4])
{
#if PLX_ARCH >= 800
    asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
        : "r"(a.word[0]), "r"(a.word[1]), "r"(a.word[2]), "r"(a.word[3]), "r"(b0), "r"(b1));
#else
    const int row = threadIdx.x / 4 * 4, columns = threadIdx.x % 4 * 8; /* threads that hold the row, and the two columns */
#    pragma unroll
    for (int half = 0; half < 2; half++) {
        const uint32_t b = half ? b1 : b0;
#    pragma unroll 1
        for (int i = 0; i < 4; i++) { /* unrolled, it would take more registers than there are */
            const uint32_t upper = __shfl_sync(PLX_ALL_LANES, a.word[2 * half], row + i);
            const uint32_t lower = __shfl_sync(PLX_ALL_LANES, a.word[2 * half + 1], row + i);
            const uint32_t left = __shfl_sync(PLX_ALL_LANES, b, columns + i);
            const uint32_t right = __shfl_sync(PLX_ALL_LANES, b, columns + 4 + i);
            sum[0] = (int)__dp4a(upper, left, (uint32_t)sum[0]);
            sum[1] = (int)__dp4a(upper, right, (uint32_t)sum[1]);
            sum[2] = (int)__dp4a(lower, left, (uint32_t)sum[2]);
            sum[3] = (int)__dp4a(lower, right, (uint32_t)sum[3]);
        }
    }
#endif
}

/* Four weights from number FIRST on; 0 outside. */
static __device__ __forceinline__ uint32_t four_weights(const uint8_t (&weights)[SHIFTS][WEIGHTS], int first)
{
    const unsigned at = (unsigned)(BEFORE + first);
    return *(const uint32_t *)&weights[at % SHIFTS][at / SHIFTS * SHIFTS];
}

/* The part of a band from column DEPTH on: column k of a row holds weight k - p. P is ROW for the thread's row g, ROW_8 for row
 * g + 8. */
static __device__ __forceinline__ struct matrix make_band(const uint8_t (&weights)[SHIFTS][WEIGHTS], int depth, int row,
                                                          int row_8)
{
    const int k = depth + threadIdx.x % 4 * 4;
    return {four_weights(weights, k - row), four_weights(weights, k - row_8), four_weights(weights, k + 16 - row),
            four_weights(weights, k + 16 - row_8)};
}

/* The K parts of the bands of both bytes of an axis; ROW and ROW_8 as above. */
template <int K> struct bands {
    struct matrix low[K], high[K];

    __device__ __forceinline__ bands(const struct axis &axis, int row, int row_8)
    {
#pragma unroll
        for (int k = 0; k < K; k++) {
            low[k] = make_band(axis.low, k * DEPTH, row, row_8);
            high[k] = make_band(axis.high, k * DEPTH, row, row_8);
        }
    }
};

#endif
