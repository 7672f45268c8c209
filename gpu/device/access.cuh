/* SPDX-License-Identifier: Apache-2.0 */
/* Memory accesses: tiles with their halo, asynchronous copies, and loads whose kind and place the compiler must not change. */
#ifndef PLX_GPU_DEVICE_ACCESS_CUH
#define PLX_GPU_DEVICE_ACCESS_CUH

#include <cuda_pipeline.h>

#include "gpu/device/device.cuh"

#define PLX_VECTOR_BYTES 16 /* bytes */
#define PLX_CACHE_LINE 128  /* bytes, of L2 */

/* 16 copies of an edge pixel, for the outside of the image. */
static __device__ __forceinline__ void plx_replicate_pixel(uint8_t pixel, uint8_t *ret_piece)
{
    const uint32_t four = pixel * 0x01010101u;
    *(uint4 *)ret_piece = make_uint4(four, four, four, four);
}

/* Reads PLX_VECTOR_BYTES pixels of ROW, which has WIDTH, from column X on, coordinates clamped; X is a multiple of
 * PLX_VECTOR_BYTES. Where rows are ALIGNED to that, the copy of a piece within the row is asynchronous: __pipeline_commit,
 * __pipeline_wait_prior. */
static __device__ __forceinline__ void plx_load_16_pixels(const uint8_t *row, int width, int x, bool aligned,
                                                          uint8_t *ret_piece)
{
    const int last = width - 1;

    if (aligned && x >= 0 && x + PLX_VECTOR_BYTES <= width) {
        __pipeline_memcpy_async(ret_piece, row + x, PLX_VECTOR_BYTES);
    } else if (x < 0 || x > last) {
        plx_replicate_pixel(row[x < 0 ? 0 : last], ret_piece);
    } else {
#pragma unroll
        for (int i = 0; i < PLX_VECTOR_BYTES; i++)
            ret_piece[i] = row[min(x + i, last)];
    }
}

/* The same of rows Y0 + i, clamped, for i = FIRST, FIRST + STEP, ... < ROWS, to RET_TILE[i * PITCH]; 0 <= FIRST < STEP. Reads
 * at the image's edges overlap only if a thread has many rows: for few the instructions would not pay. */
template <int ROWS, int STEP, int PITCH>
static __device__ __forceinline__ void plx_load_tile_strip(const plx_view<const uint8_t> &image, int x, int y0, bool aligned,
                                                           int first, uint8_t *ret_tile)
{
    constexpr int most = (ROWS + STEP - 1) / STEP, overlapping = most > 3 ? most : 1;
    const bool whole = aligned && x >= 0 && x + PLX_VECTOR_BYTES <= image.width;
    const int last = image.width - 1, bottom = image.height - 1;
    const auto exists = [first](int n) { return (n + 1) * STEP <= ROWS || first + n * STEP < ROWS; }; /* mostly constant */

    if (whole && y0 >= 0 && y0 + ROWS <= image.height) {
        const uint8_t *from = image.row(y0 + first) + x;
#pragma unroll
        for (int n = 0; n < most; n++, from += STEP * image.pitch)
            if (exists(n))
                __pipeline_memcpy_async(ret_tile + (first + n * STEP) * PITCH, from, PLX_VECTOR_BYTES);
    } else if (whole) {
#pragma unroll overlapping
        for (int n = 0; n < most; n++)
            if (exists(n))
                __pipeline_memcpy_async(ret_tile + (first + n * STEP) * PITCH,
                                        image.row(plx_clamp(y0 + first + n * STEP, 0, bottom)) + x, PLX_VECTOR_BYTES);
    } else if (x < 0 || x > last) {
#pragma unroll overlapping
        for (int n = 0; n < most; n++)
            if (exists(n))
                plx_replicate_pixel(image.row(plx_clamp(y0 + first + n * STEP, 0, bottom))[x < 0 ? 0 : last],
                                    ret_tile + (first + n * STEP) * PITCH);
    } else {
#pragma unroll 1
        for (int i = first; i < ROWS; i += STEP)
            plx_load_16_pixels(image.row(plx_clamp(y0 + i, 0, bottom)), image.width, x, false, ret_tile + i * PITCH);
    }
}

/* Loads columns X .. X + 3 of row Y of a U16 image, coordinates clamped, two pixels a word. X is a multiple of 4; ALIGNED: so
 * are the rows, to 8 bytes. */
static __device__ __forceinline__ uint2 plx_load_4_pixels(const plx_view<const uint16_t> &image, int x, int y, bool aligned)
{
    const uint16_t *row = image.row(plx_clamp(y, 0, image.height - 1));
    const int last = image.width - 1;

    if (aligned && x >= 0 && x + 3 <= last)
        return *(const uint2 *)(row + x);
    const uint16_t *from[4];
#pragma unroll
    for (int i = 0; i < 4; i++)
        from[i] = row + plx_clamp(x + i, 0, last);
    return make_uint2(*from[0] | (uint32_t)*from[1] << 16, *from[2] | (uint32_t)*from[3] << 16);
}

/* Prefetches COLUMNS x ROWS pixels from (X, Y) on into L2, one cache line by each of the first threads. CUDA has no function
 * for it. */
template <int COLUMNS, int ROWS>
static __device__ __forceinline__ void plx_prefetch_tile(const plx_view<const uint8_t> &image, int x, int y, int thread)
{
    const int lines = COLUMNS / PLX_CACHE_LINE, at_x = x + thread % lines * PLX_CACHE_LINE, row = thread / lines;

    if (row < ROWS && at_x < image.width && y + row < image.height)
        asm volatile("prefetch.global.L2 [%0];" ::"l"(image.row(y + row) + at_x));
}

/* Asynchronous from compute capability 8.0 on; older GPUs copy at once. A thread reads only what it copied itself. */
static __device__ __forceinline__ void plx_copy_async_16(uint32_t shared, const uint4 *global)
{
#if PLX_ARCH >= 800
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared), "l"(global) : "memory");
#else
    const uint4 v = __ldcg(global);
    asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(shared), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
#endif
}

static __device__ __forceinline__ void plx_copy_async_4(uint32_t shared, const uint32_t *global)
{
#if PLX_ARCH >= 800
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared), "l"(global) : "memory");
#else
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(shared), "r"(__ldg(global)) : "memory");
#endif
}

/* Copies zeros unless EXISTS. Assembly: __pipeline_memcpy_async needs a constant number of zeros. */
static __device__ __forceinline__ void plx_copy_async_16_or_zero(uint32_t shared, const uint4 *global, bool exists)
{
#if PLX_ARCH >= 800
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared), "l"(global), "r"(exists ? 16 : 0) : "memory");
#else
    const uint4 v = exists ? __ldcg(global) : make_uint4(0, 0, 0, 0);
    asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(shared), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
#endif
}

static __device__ __forceinline__ void plx_commit_copies(void)
{
#if PLX_ARCH >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/* Waits until at most PENDING committed groups of copies are in flight. */
template <int PENDING> static __device__ __forceinline__ void plx_wait_copies(void)
{
#if PLX_ARCH >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
#endif
}

static __device__ __forceinline__ uint32_t plx_load_shared_1(uint32_t shared)
{
    uint32_t v;
    asm volatile("ld.shared.u8 %0, [%1];" : "=r"(v) : "r"(shared) : "memory");
    return v;
}

static __device__ __forceinline__ uint4 plx_load_shared_16(uint32_t shared)
{
    uint4 v;
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "r"(shared)
                 : "memory");
    return v;
}

static __device__ __forceinline__ void plx_store_shared_16(uint32_t shared, uint4 v)
{
    asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(shared), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
}

/* Stores at SHARED + OFFSET if CONDITION. Assembly, so that the compiler predicates the store instead of branching. */
template <int OFFSET = 0> static __device__ __forceinline__ void plx_store_shared_16_if(int condition, uint32_t shared, uint4 v)
{
    asm volatile(
        "{\n\t.reg .pred p;\n\tsetp.ne.s32 p, %5, 0;\n\t@p st.shared.v4.u32 [%0+%6], {%1, %2, %3, %4};\n\t}" ::"r"(shared),
        "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w), "r"(condition), "n"(OFFSET)
        : "memory");
}

/* Loads from L2, which has the stores of all multiprocessors. Volatile assembly keeps the place of the load in the loop. */
static __device__ __forceinline__ uint4 plx_load_16(const uint4 *global)
{
    uint4 v;
    asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(global)
                 : "memory");
    return v;
}

static __device__ __forceinline__ void plx_store_16(uint4 *global, uint4 v)
{
    asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(global), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
}

/* Keeps the compiler from computing VALUE again at each use. */
template <class T> static __device__ __forceinline__ void plx_hold_in_register(T &value)
{
    if constexpr (sizeof value == 8)
        asm volatile("" : "+l"(value));
    else
        asm volatile("" : "+r"(value));
}

#endif
