/* SPDX-License-Identifier: Apache-2.0 */
/* What the lanes of a warp make of a number each, in all of them: by one instruction where there is one. All lanes must come.
 */
#ifndef PLX_GPU_DEVICE_WARP_CUH
#define PLX_GPU_DEVICE_WARP_CUH

#include "gpu/device/device.cuh"

#if PLX_ARCH >= 800

/* Signed numbers too: two's complement. */
static __device__ __forceinline__ uint32_t plx_warp_sum(uint32_t value)
{
    return __reduce_add_sync(PLX_ALL_LANES, value);
}

static __device__ __forceinline__ uint32_t plx_warp_least(uint32_t value)
{
    return __reduce_min_sync(PLX_ALL_LANES, value);
}

static __device__ __forceinline__ uint32_t plx_warp_most(uint32_t value)
{
    return __reduce_max_sync(PLX_ALL_LANES, value);
}

#else

static __device__ __forceinline__ uint32_t plx_warp_sum(uint32_t value)
{
    for (int step = 16; step > 0; step /= 2)
        value += __shfl_xor_sync(PLX_ALL_LANES, value, step);
    return value;
}

static __device__ __forceinline__ uint32_t plx_warp_most(uint32_t value)
{
    for (int step = 16; step > 0; step /= 2)
        value = max(value, __shfl_xor_sync(PLX_ALL_LANES, value, step));
    return value;
}

static __device__ __forceinline__ uint32_t plx_warp_least(uint32_t value)
{
    return ~plx_warp_most(~value);
}

#endif

/* The sum of the lanes up to this one. */
static __device__ __forceinline__ uint32_t plx_warp_sum_up_to(uint32_t value)
{
    for (uint32_t step = 1; step < 32; step *= 2) {
        const uint32_t earlier = __shfl_up_sync(PLX_ALL_LANES, value, step);
        value += threadIdx.x % 32 >= step ? earlier : 0;
    }
    return value;
}

#endif
