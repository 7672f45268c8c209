/* SPDX-License-Identifier: Apache-2.0 */
/* What nvcc gives to every CUDA file and clang does not. Included first by `./dev check cuda` where the compiler is clang. */
#ifndef PLX_TOOLCHAIN_CLANG_CUDA_H
#define PLX_TOOLCHAIN_CLANG_CUDA_H

#include <stdint.h>

#undef __grid_constant__
#define __grid_constant__ /* from clang 20 on; parameters are constant all the same */

static inline __host__ int min(int a, int b)
{
    return a < b ? a : b;
}

static inline __host__ int max(int a, int b)
{
    return a > b ? a : b;
}

static inline __device__ uint32_t __ldcg(const uint32_t *from)
{
    uint32_t value;
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
    return value;
}

static inline __device__ unsigned long long __ldcg(const unsigned long long *from)
{
    unsigned long long value;
    asm volatile("ld.global.cg.u64 %0, [%1];" : "=l"(value) : "l"(from) : "memory");
    return value;
}

static inline __device__ uint4 __ldcg(const uint4 *from)
{
    uint4 v;
    asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(from)
                 : "memory");
    return v;
}

static inline __device__ uint4 __ldcs(const uint4 *from)
{
    uint4 v;
    asm volatile("ld.global.cs.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(from));
    return v;
}

static inline __device__ uint32_t __ldcs(const uint32_t *from)
{
    uint32_t value;
    asm volatile("ld.global.cs.u32 %0, [%1];" : "=r"(value) : "l"(from));
    return value;
}

static inline __device__ void __stcs(uint16_t *to, uint16_t value)
{
    asm volatile("st.global.cs.u16 [%0], %1;" : : "l"(to), "h"(value) : "memory");
}

#endif
