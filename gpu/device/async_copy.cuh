/* SPDX-License-Identifier: Apache-2.0 */
/* Memory accesses whose kind and place the compiler must not change: asynchronous copies into shared memory, and 16 bytes at
 * once. */
#ifndef PLX_GPU_DEVICE_ASYNC_COPY_CUH
#define PLX_GPU_DEVICE_ASYNC_COPY_CUH

#include "gpu/device/device.cuh"

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
static __device__ __forceinline__ void plx_hold_in_register(uint32_t &value)
{
    asm volatile("" : "+r"(value));
}
static __device__ __forceinline__ void plx_hold_in_register(int &value)
{
    asm volatile("" : "+r"(value));
}
template <class T> static __device__ __forceinline__ void plx_hold_in_register(T *&value)
{
    asm volatile("" : "+l"(value));
}

#endif
