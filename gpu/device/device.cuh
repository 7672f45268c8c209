/* SPDX-License-Identifier: Apache-2.0 */
/* What kernels share: images as they see them, and small arithmetic. */
#ifndef PLX_GPU_DEVICE_DEVICE_CUH
#define PLX_GPU_DEVICE_DEVICE_CUH

#include "gpu/internal.h"

#define PLX_ALL_LANES 0xFFFFFFFFu

/* Before a loop that threads of a warp go through together, with exchanges, and whose length is known only then: clang unrolls
 * no such loop. */
#ifdef __clang__
#    define PLX_UNROLL(count) _Pragma("unroll 1")
#else
#    define PLX_PRAGMA(text) _Pragma(#    text)
#    define PLX_UNROLL(count) PLX_PRAGMA(unroll count)
#endif

/* The compute capability whose instructions a kernel uses, as __CUDA_ARCH__. PLX_ARCH_MAX is the CMake option PLX_GPU_ARCH_MAX:
 * a newer GPU takes an older one's way, so that its bits can be tested. */
#if !defined(__CUDA_ARCH__)
#    define PLX_ARCH 0
#elif defined(PLX_ARCH_MAX) && PLX_ARCH_MAX < __CUDA_ARCH__
#    define PLX_ARCH PLX_ARCH_MAX
#else
#    define PLX_ARCH __CUDA_ARCH__
#endif

/* A view of an image of element T; kernels take it by value. */
template <class T> struct plx_view {
    T *data;
    int width, height;
    size_t pitch; /* bytes */

    __device__ T *row(int y) const
    {
        return (T *)((char *)data + (size_t)y * pitch);
    }
};

/* All memory of the backend has one address for both processors (unified virtual addressing). */
template <class T> static inline plx_view<T> plx_view_of(const struct plx_image *image)
{
    return {(T *)image->data, image->width, image->height, image->pitch};
}

static __device__ __forceinline__ int plx_clamp(int value, int low, int high)
{
    return min(max(value, low), high);
}

static inline unsigned plx_blocks(int count, int each)
{
    return (unsigned)((count + each - 1) / each);
}

/* Blocks of BLOCK threads, a thread a pixel, over WIDTH x HEIGHT pixels. */
static inline dim3 plx_grid(int width, int height, dim3 block)
{
    return dim3(plx_blocks(width, (int)block.x), plx_blocks(height, (int)block.y));
}

#endif
