/* SPDX-License-Identifier: Apache-2.0 */
/* What all kernels share: views of images, vector accesses to their rows, and dependent launch. */
#ifndef PLX_GPU_DEVICE_DEVICE_CUH
#define PLX_GPU_DEVICE_DEVICE_CUH

#include "core/base/image.h"

#define PLX_ALL_LANES 0xFFFFFFFFu

/* For a loop of unknown length with shuffles, which clang does not unroll. */
#ifdef __clang__
#    define PLX_UNROLL(count) _Pragma("unroll 1")
#else
#    define PLX_PRAGMA(text) _Pragma(#    text)
#    define PLX_UNROLL(count) PLX_PRAGMA(unroll count)
#endif

/* The compute capability whose instructions a kernel uses, as __CUDA_ARCH__. The CMake option PLX_GPU_ARCH_MAX limits it, so
 * that a newer GPU tests the code of an older one. */
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

static inline unsigned plx_div_ceil(int count, int each)
{
    return (unsigned)((count + each - 1) / each);
}

/* Blocks of BLOCK threads, a thread a pixel, over WIDTH x HEIGHT pixels. */
static inline dim3 plx_grid(int width, int height, dim3 block)
{
    return dim3(plx_div_ceil(width, (int)block.x), plx_div_ceil(height, (int)block.y));
}

/* True if all images are of TYPE. */
template <class... Images> static inline bool plx_images_ok(enum plx_type type, const Images *...image)
{
    return (plx_image_ok(image, type) && ...);
}

/* True if all images have the size of FIRST. */
template <class... Images> static inline bool plx_same_sizes(const struct plx_image *first, const Images *...image)
{
    return (plx_same_size(first, image) && ...);
}

template <class T, int N> struct alignas(sizeof(T) * N) plx_vector {
    T at[N];
};

/* The first N of COUNT elements from FROM; what lies beyond COUNT is 0. ALIGNED: to the vector's size. */
template <int N, class T> static __device__ __forceinline__ plx_vector<T, N> plx_load(const T *from, int count, bool aligned)
{
    if (aligned && count >= N)
        return *(const plx_vector<T, N> *)from;
    plx_vector<T, N> vector;
#pragma unroll
    for (int i = 0; i < N; i++)
        vector.at[i] = i < count ? from[i] : T(0);
    return vector;
}

/* Writes the first min(N, COUNT) elements of VECTOR. */
template <int N, class T>
static __device__ __forceinline__ void plx_store(const plx_vector<T, N> &vector, T *to, int count, bool aligned)
{
    if (aligned && count >= N) {
        *(plx_vector<T, N> *)to = vector;
        return;
    }
#pragma unroll
    for (int i = 0; i < N; i++)
        if (i < count)
            to[i] = vector.at[i];
}

/* Writes the first min(4, COUNT) pixels of RGB in three vectors. ALIGNED: to 4 bytes. */
static __device__ __forceinline__ void plx_store_rgb(const uint8_t (&rgb)[4 * PLX_RGB], uint8_t *to, int count, bool aligned)
{
#pragma unroll
    for (int i = 0; i < PLX_RGB; i++) {
        plx_vector<uint8_t, 4> part;
#pragma unroll
        for (int k = 0; k < 4; k++)
            part.at[k] = rgb[4 * i + k];
        plx_store(part, to + 4 * i, PLX_RGB * count - 4 * i, aligned);
    }
}

/* True if each row of IMAGE begins at a multiple of BYTES, a power of two. */
static inline bool plx_rows_aligned(const struct plx_image *image, size_t bytes)
{
    return (((uintptr_t)image->data | image->pitch) & (bytes - 1)) == 0;
}

/*
 * Programmatic dependent launch, from compute capability 9.0 on: a dependent kernel may start while the previous kernel of the
 * stream still runs. On older GPUs, and behind a copy, it starts afterwards. Rules for such a kernel:
 *   - It calls plx_grid_wait before it writes anything that other kernels use.
 *   - Before that call it reads only what is older than the previous kernel. It may prefetch the rest into L2.
 *   - It triggers its dependents after plx_grid_wait. If it triggers earlier, as its comment says, early reads of its dependent
 *     must be older by one more kernel.
 *   - If its blocks all run at once, it does not trigger: blocks of the dependent would crowd some multiprocessors.
 */

/* The dependent kernel may start when all blocks have called this or have ended. */
static __device__ __forceinline__ void plx_trigger_dependents()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
#endif
}

/* Waits until all previous kernels of the stream are complete and their writes visible. For all threads. */
static __device__ __forceinline__ void plx_grid_wait()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
}

static __device__ __forceinline__ void plx_grid_wait_and_trigger()
{
    plx_grid_wait();
    plx_trigger_dependents();
}

#endif
