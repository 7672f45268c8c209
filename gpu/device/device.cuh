/* SPDX-License-Identifier: Apache-2.0 */
/* What all kernels share: views of images, vector accesses to their rows, and launches. */
#ifndef PLX_GPU_DEVICE_DEVICE_CUH
#define PLX_GPU_DEVICE_DEVICE_CUH

#include "gpu/internal.h"

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

enum { PLX_DEPENDENT = 1, PLX_COOPERATIVE = 2 }; /* how a kernel is launched */

/* Launches KERNEL on the backend's stream, each block with BYTES of dynamic shared memory. */
template <class... Parameters, class... Arguments>
static inline cudaError_t plx_launch(const struct plx_gpu *gpu, int how, void (*kernel)(Parameters...), dim3 grid, dim3 block,
                                     size_t bytes, const Arguments &...arguments)
{
    cudaLaunchAttribute attributes[2] = {};
    cudaLaunchConfig_t config = {};

    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = bytes;
    config.stream = gpu->stream;
    config.attrs = attributes;
    if (how & PLX_COOPERATIVE) {
        attributes[config.numAttrs].id = cudaLaunchAttributeCooperative;
        attributes[config.numAttrs++].val.cooperative = 1;
    }
    if (how & PLX_DEPENDENT && gpu->programmatic_launch) {
        attributes[config.numAttrs].id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attributes[config.numAttrs++].val.programmaticStreamSerializationAllowed = 1;
    }
    return cudaLaunchKernelEx(&config, kernel, arguments...);
}

/* Launches KERNEL with a GRID, a BLOCK and its arguments; returns a plx_error. How the kernel ended is seen at ops->finish. */
#define PLX_LAUNCH(gpu, kernel, grid, block, ...)                                                                              \
    plx_gpu_error(gpu, plx_launch(gpu, 0, kernel, grid, block, 0, __VA_ARGS__), #kernel)

/* The same for a dependent kernel. */
#define PLX_LAUNCH_DEPENDENT(gpu, kernel, grid, block, ...)                                                                    \
    plx_gpu_error(gpu, plx_launch(gpu, PLX_DEPENDENT, kernel, grid, block, 0, __VA_ARGS__), #kernel)

/* Launches KERNEL with BYTES of dynamic shared memory, which may be more than 48 KiB; returns a plx_error. */
template <class Args>
static inline int plx_launch_shared(struct plx_gpu *gpu, int how, void (*kernel)(Args), dim3 grid, dim3 block, size_t bytes,
                                    const Args &args)
{
    const int result = PLX_CUDA(gpu, cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
    return result < 0 ? result : PLX_CUDA(gpu, plx_launch(gpu, how, kernel, grid, block, bytes, args));
}

/* Launches KERNEL as a cooperative grid: as many blocks as run at once, at most MAX_BLOCKS, each with BYTES of dynamic shared
 * memory. HOW: PLX_DEPENDENT or 0. */
template <class Args>
static inline int plx_launch_cooperative(struct plx_gpu *gpu, int how, void (*kernel)(Args), int max_blocks, int threads,
                                         size_t bytes, const Args &args)
{
    int blocks = 0; /* of a multiprocessor */
    int result =
        bytes > 0 ? PLX_CUDA(gpu, cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes)) : 0;

    if (result == 0)
        result = PLX_CUDA(gpu, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, bytes));
    if (result < 0)
        return result;
    const dim3 grid((unsigned)min(gpu->multiprocessors * blocks, max_blocks)), block((unsigned)threads);
    return PLX_CUDA(gpu, plx_launch(gpu, how | PLX_COOPERATIVE, kernel, grid, block, bytes, args));
}

#endif
