/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions over a warp, a block, and a grid, whose last block writes the result. All threads take part. */
#ifndef PLX_GPU_DEVICE_REDUCE_CUH
#define PLX_GPU_DEVICE_REDUCE_CUH

#include "gpu/device/device.cuh"

/* Signed numbers too: two's complement. */
static __device__ __forceinline__ uint32_t plx_warp_sum(uint32_t value)
{
#if PLX_ARCH >= 800
    return __reduce_add_sync(PLX_ALL_LANES, value);
#else
    for (int step = 16; step > 0; step /= 2)
        value += __shfl_xor_sync(PLX_ALL_LANES, value, step);
    return value;
#endif
}

static __device__ __forceinline__ uint32_t plx_warp_max(uint32_t value)
{
#if PLX_ARCH >= 800
    return __reduce_max_sync(PLX_ALL_LANES, value);
#else
    for (int step = 16; step > 0; step /= 2)
        value = max(value, __shfl_xor_sync(PLX_ALL_LANES, value, step));
    return value;
#endif
}

static __device__ __forceinline__ uint32_t plx_warp_min(uint32_t value)
{
#if PLX_ARCH >= 800
    return __reduce_min_sync(PLX_ALL_LANES, value);
#else
    return ~plx_warp_max(~value);
#endif
}

/* The sum of the warp's threads up to this one. */
static __device__ __forceinline__ uint32_t plx_warp_prefix_sum(uint32_t value)
{
    for (uint32_t step = 1; step < 32; step *= 2) {
        const uint32_t earlier = __shfl_up_sync(PLX_ALL_LANES, value, step);
        value += threadIdx.x % 32 >= step ? earlier : 0;
    }
    return value;
}

/* True in the last of COUNT blocks to arrive, which may read what the others wrote before. *BLOCKS is 0 before and after. */
static __device__ __forceinline__ bool plx_is_last_block(unsigned *blocks, unsigned count)
{
    __shared__ bool last;

    __syncthreads();
    if (threadIdx.x == 0 && threadIdx.y == 0) {
        __threadfence(); /* orders the block's writes before its count, and the reads behind the counts of others */
        last = atomicInc(blocks, count - 1) == count - 1;
        __threadfence();
    }
    __syncthreads();
    return last;
}

/* Sum of VALUE over the threads of a block of whole warps; in thread (0, 0). */
static __device__ __forceinline__ unsigned long long plx_block_sum(unsigned long long value)
{
    __shared__ unsigned long long sum;

    for (int offset = warpSize / 2; offset > 0; offset /= 2)
        value += __shfl_down_sync(0xFFFFFFFFu, value, offset);
    if (threadIdx.x == 0 && threadIdx.y == 0)
        sum = 0;
    __syncthreads();
    if ((threadIdx.y * blockDim.x + threadIdx.x) % warpSize == 0 && value > 0)
        atomicAdd(&sum, value);
    __syncthreads();
    return sum;
}

/* Adds VALUE of each thread of the grid up into *RET_SUM. */
template <class T>
static __device__ __forceinline__ void plx_grid_sum(unsigned long long value, struct plx_gpu_accumulators *totals, T *ret_sum)
{
    value = plx_block_sum(value);
    const bool first = threadIdx.x == 0 && threadIdx.y == 0;
    if (first && value > 0)
        atomicAdd(&totals->value, value);
    if (plx_is_last_block(&totals->blocks, gridDim.x * gridDim.y) && first)
        *ret_sum = (T)atomicExch(&totals->value, 0);
}

#endif
