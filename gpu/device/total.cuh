/* SPDX-License-Identifier: Apache-2.0 */
/* One number from a whole grid: blocks add to a total in device memory, the last of them writes it out and clears it. */
#ifndef PLX_GPU_DEVICE_TOTAL_CUH
#define PLX_GPU_DEVICE_TOTAL_CUH

#include "gpu/device/device.cuh"

/* True in all threads of the block that is the last of COUNT to come here; what the others wrote before can then be read.
 * *BLOCKS is 0 before and after. All threads must come. */
static __device__ __forceinline__ bool plx_last_block(unsigned *blocks, unsigned count)
{
    __shared__ bool last;

    __syncthreads();
    if (threadIdx.x == 0 && threadIdx.y == 0) {
        __threadfence(); /* what the block did comes before, and what the others did before what follows */
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
static __device__ __forceinline__ void plx_grid_sum(unsigned long long value, struct plx_gpu_totals *totals, T *ret_sum)
{
    value = plx_block_sum(value);
    const bool first = threadIdx.x == 0 && threadIdx.y == 0;
    if (first && value > 0)
        atomicAdd(&totals->value, value);
    if (plx_last_block(&totals->blocks, gridDim.x * gridDim.y) && first)
        *ret_sum = (T)atomicExch(&totals->value, 0);
}

#endif
